"""``rankgauge qrels validate``."""

from __future__ import annotations

from dataclasses import replace

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.validating import QUERIES, STRICT, ValidationOutput, output_options, validate_files
from rankgauge.core.settings import Section
from rankgauge.io.formats import registry as formats
from rankgauge.io.queries import read_query_ids
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import ValidationOptions
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.validate import read_retrieved, validate_qrels

QRELS_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("qrels"))


def make_options(
    min_judged: int | None, by_subtopic: bool, qrels_format: str | None, strict: bool
) -> ValidationOptions:
    """Build the options of a validation of judgments."""
    return ValidationOptions(min_judged=min_judged, by_subtopic=by_subtopic, format=qrels_format, strict=strict)


@documented(
    "validate",
    """
    # Find faults in judgments
    rankgauge qrels validate qrels.txt
    # Check them with runs and queries
    rankgauge qrels validate qrels.txt --runs my.run --queries queries.jsonl
    """,
)
@click.argument("qrels", type=click.Path(), nargs=-1, required=True, metavar="QRELS [QRELS …]")
@option(
    "--runs",
    section=Section.INPUT,
    type=click.Path(),
    multiple=True,
    metavar="RUN",
    help="Check that a run shares queries and ids with the judgments; repeatable.",
)
@QUERIES
@option_group(
    "options",
    make_options,
    option(
        "--min-judged",
        section=Section.CHECKS,
        type=click.IntRange(min=1),
        metavar="N",
        help="Require at least N judged documents per query.  [default: any number]",
    ),
    option(
        "--by-subtopic",
        section=Section.CHECKS,
        is_flag=True,
        help="Read the second column as a subtopic, each with its own judgments.",
    ),
    option(
        "--qrels-format",
        section=Section.FILES,
        metavar="FORMAT",
        help=f"Set the format of the judgments: {QRELS_FORMATS}.  [default: detected from the content]",
    ),
    STRICT,
)
@output_options
def command(
    qrels: tuple[str, ...],
    runs: tuple[str, ...],
    queries: str | None,
    options: ValidationOptions,
    output: ValidationOutput,
) -> int:
    """Find faults in judgments, line by line.

    Exit codes: 0 no errors, 1 an error was found, 2 a file cannot be read.
    """
    retrieved = read_retrieved(runs) if runs else ()
    query_ids = None if queries is None else list(read_query_ids(queries))
    options = replace(options, max_places=output.max_places)

    def validate(path: str) -> Validation:
        return validate_qrels(path, retrieved, query_ids, options)

    def repair(data: bytes, validation: Validation) -> Repair:
        return repair_text(data, "qrels", validation, by_subtopic=options.by_subtopic)

    return validate_files(qrels, validate, repair, output, [*runs, queries])
