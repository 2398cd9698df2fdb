"""``rankgauge qrels validate``."""

from __future__ import annotations

import click

from rankgauge.cli.options import validating
from rankgauge.io.formats import registry as formats
from rankgauge.io.queries import read_query_ids
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.validate import read_retrieved, validate_qrels

FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("qrels"))


@click.command("validate")
@click.argument("qrels", type=click.Path(), nargs=-1, required=True, metavar="QRELS [QRELS …]")
@click.option(
    "--runs",
    type=click.Path(),
    multiple=True,
    metavar="RUN",
    help="A run that must share queries and ids with the judgments; again for more.",
)
@click.option(
    "--queries",
    type=click.Path(),
    metavar="TOPICS",
    help="The queries that there are: JSON Lines, TREC topics, or 'id text' lines.",
)
@click.option(
    "--min-judged",
    type=click.IntRange(min=1),
    metavar="N",
    help="At least so many judged documents a query.  [default: any]",
)
@click.option("--by-subtopic", is_flag=True, help="The second column is a subtopic: one judgment for each of them.")
@click.option(
    "--qrels-format",
    "given",
    metavar="FORMAT",
    help="The judgments' format: " + FORMATS + ".  [default: by its content]",
)
@validating.shared_options
def command(
    qrels: tuple[str, ...],
    runs: tuple[str, ...],
    queries: str | None,
    min_judged: int | None,
    by_subtopic: bool,
    given: str | None,
    strict: bool,
    form: str,
    fix: str | None,
) -> int:
    """Find faults in judgments, line by line.

    Exits 1 where an error was found, 2 where a file cannot be read at all, else 0.
    """
    results = read_retrieved(runs) if runs else ()
    topics = None if queries is None else list(read_query_ids(queries))

    def validate(path: str) -> Validation:
        return validate_qrels(
            path,
            results,
            topics,
            ValidationOptions(
                min_judged=min_judged,
                by_subtopic=by_subtopic,
                format=given,
                strict=strict,
                max_places=validating.places(form),
            ),
        )

    def repair(data: bytes, found: Validation) -> Repair:
        return repair_text(data, "qrels", found, by_subtopic=by_subtopic)

    return validating.run(qrels, validate, repair, form=form, fix=fix, others=[*runs, queries])
