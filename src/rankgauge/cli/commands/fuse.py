"""``rankgauge fuse``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, out_option
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError, printable, shown
from rankgauge.io.read import read_run
from rankgauge.io.trec_writer import write_run
from rankgauge.io.writing import check_writable
from rankgauge.retrieval.fusion.fusion import DEFAULT_METHOD, DEFAULT_NORMALIZATION, DEFAULT_RRF_K, fuse
from rankgauge.retrieval.fusion.methods import FUSION_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS


@documented(
    "fuse",
    """
    # Combine two runs by reciprocal rank fusion
    rankgauge fuse old.run my.run -o fused.run
    # Weight the second run more
    rankgauge fuse old.run my.run -o fused.run --method rrf --weights 0.3,0.7
    """,
)
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN RUN [RUN …]")
@out_option("Write the TREC run to FILE.")
@option(
    "--method",
    section=Section.FUSION,
    type=click.Choice(list(FUSION_METHODS)),
    default=DEFAULT_METHOD,
    show_default=True,
    metavar="METHOD",
    help=f"Choose how the runs are combined: {', '.join(FUSION_METHODS)}.",
)
@option(
    "--weights", section=Section.FUSION, metavar="W,W,…", help="Weight the runs: 0.7,0.3.  [default: equal weights]"
)
@option(
    "--normalization",
    section=Section.FUSION,
    type=click.Choice(list(NORMALIZATIONS)),
    default=DEFAULT_NORMALIZATION,
    show_default=True,
    help="Choose how scores are made comparable, for methods that add scores.",
)
@option(
    "--rrf-k",
    section=Section.FUSION,
    type=float,
    default=DEFAULT_RRF_K,
    show_default=True,
    metavar="K",
    help="Set the constant of rrf.",
)
@option(
    "--k",
    "depth",
    section=Section.OUTPUT,
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep at most N documents per query.  [default: all]",
)
@option("--tag", section=Section.OUTPUT, metavar="NAME", help="Name the run.  [default: the method]")
def command(
    runs: tuple[str, ...],
    out: str,
    method: str,
    weights: str | None,
    normalization: str,
    rrf_k: float,
    depth: int | None,
    tag: str | None,
) -> None:
    """Combine runs into one.

    The runs may be in any format. The output is a TREC run whose queries are in the order of the first run. Scores have
    six digits, or more if it takes more to keep their order.
    """
    if len(runs) < 2:
        raise UsageError("fusion needs at least two runs, found one")
    check_writable(out, inputs=runs)
    weight_values = None if weights is None else parse_weights(weights)
    with collected_notes() as notes:
        rankings = [read_run(path) for path in runs]
        fused = fuse(
            rankings, method, k=depth, weights=weight_values, normalization=normalization, rrf_k=rrf_k, name=tag
        )
    write_run(fused, out, inputs=runs)
    print_warnings(notes)
    results, queries = plural(len(fused), "result"), plural(len(fused.queries), "query")
    print_message(f"wrote {results} of {queries} to {printable(out, None)}")


def parse_weights(text: str) -> list[float]:
    """Parse ``0.7,0.3`` into numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"expected numbers separated by commas, found {shown(text)}") from None
