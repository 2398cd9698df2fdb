"""``rankgauge fuse``."""

from __future__ import annotations

import click

from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.errors import UsageError, shown
from rankgauge.io.reading import read_run
from rankgauge.io.trec_writer import write_run
from rankgauge.io.writing import check_not_an_input
from rankgauge.retrieval.fusion.fusion import DEFAULT_RRF_K, fuse
from rankgauge.retrieval.fusion.methods import FUSION_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS


@click.command("fuse")
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN RUN [RUN …]")
@click.option("-o", "--out", required=True, type=click.Path(), metavar="OUT", help="The TREC run to write.")
@click.option(
    "--method",
    type=click.Choice(list(FUSION_METHODS)),
    default="rrf",
    show_default=True,
    help="How the runs are combined.",
)
@click.option("--weights", metavar="W,W,…", help="A weight for each run, such as 0.7,0.3.  [default: all the same]")
@click.option(
    "--normalization",
    type=click.Choice(list(NORMALIZATIONS)),
    default="min-max",
    show_default=True,
    help="How scores are made comparable, where scores are added.",
)
@click.option("--rrf-k", type=float, default=DEFAULT_RRF_K, show_default=True, metavar="K", help="The constant of rrf.")
@click.option(
    "--k", "depth", type=click.IntRange(min=1), metavar="K", help="At most so many documents a query.  [default: all]"
)
@click.option("--tag", metavar="TAG", help="The run's name.  [default: the method]")
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

    The runs may be in any format; OUT is a TREC run, with scores of six digits, in the first run's order of queries.
    """
    if len(runs) < 2:
        raise UsageError("fusing takes two runs or more, found one")
    check_not_an_input(out, runs)
    given = None if weights is None else numbers(weights)
    with collected_notes() as notes:
        read = [read_run(path) for path in runs]
    made = fuse(read, method, k=depth, weights=given, normalization=normalization, rrf_k=rrf_k, name=tag)
    write_run(made, out, inputs=runs)
    print_warnings(notes)
    click.echo(f"wrote {len(made)} results of {len(made.queries)} queries to {out}", err=True)


def numbers(text: str) -> list[float]:
    """``0.7,0.3`` as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"expected numbers with commas between them, found {shown(text)}") from None
