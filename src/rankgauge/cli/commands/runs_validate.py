"""``rankgauge runs validate``."""

from __future__ import annotations

import click

from rankgauge.cli.options import validating
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.io.formats import registry as formats
from rankgauge.io.queries import read_query_ids
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import TIE_CUTOFFS, ValidationOptions
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.validate import read_qrels_to_check_against, validate_run

FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("run"))


@click.command("validate")
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN [RUN …]")
@click.option("--qrels", type=click.Path(), metavar="QRELS", help="Judgments whose queries and ids the run must share.")
@click.option(
    "--queries",
    type=click.Path(),
    metavar="TOPICS",
    help="The queries that were asked, all of which must be answered: JSON Lines, TREC topics, or 'id text' lines.",
)
@click.option(
    "--max-depth", type=click.IntRange(min=1), metavar="N", help="At most so many results a query.  [default: any]"
)
@click.option(
    "--min-depth", type=click.IntRange(min=1), metavar="N", help="At least so many results a query.  [default: any]"
)
@click.option(
    "--cutoff",
    "cutoffs",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="K",
    help=f"A rank at which no tie may stand; again for more.  [default: {', '.join(map(str, TIE_CUTOFFS))}]",
)
@click.option(
    "--run-format", "given", metavar="FORMAT", help="The run's format: " + FORMATS + ".  [default: by its content]"
)
@validating.shared_options
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    queries: str | None,
    max_depth: int | None,
    min_depth: int | None,
    cutoffs: tuple[int, ...],
    given: str | None,
    strict: bool,
    form: str,
    fix: str | None,
) -> int:
    """Find faults in runs, line by line.

    Exits 1 where an error was found, 2 where a file cannot be read at all, else 0.
    """
    with collected_notes() as notes:
        judged = None if qrels is None else read_qrels_to_check_against(qrels)
    topics = None if queries is None else list(read_query_ids(queries))

    def validate(path: str) -> Validation:
        return validate_run(
            path,
            judged,
            topics,
            ValidationOptions(
                max_depth=max_depth,
                min_depth=min_depth,
                cutoffs=tuple(sorted(set(cutoffs))) or TIE_CUTOFFS,
                format=given,
                strict=strict,
                max_places=validating.places(form),
            ),
        )

    def repair(data: bytes, found: Validation) -> Repair:
        return repair_text(data, "run", found, max_depth=max_depth)

    print_warnings(notes)
    return validating.run(runs, validate, repair, form=form, fix=fix, others=[qrels, queries])
