"""``rankgauge runs validate``."""

from __future__ import annotations

from dataclasses import replace

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import is_given, option, option_group
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.cli.options.validating import QUERIES, STRICT, ValidationOutput, output_options, validate_files
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.io.formats import registry as formats
from rankgauge.io.queries import read_query_ids
from rankgauge.validation.findings import Validation
from rankgauge.validation.options import DEFAULT_OPTIONS, PRESETS, TIE_CUTOFFS, ValidationOptions
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.validate import read_qrels_to_check_against, validate_run

RUN_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("run"))


def make_options(
    preset: str | None,
    max_depth: int | None,
    min_depth: int | None,
    cutoffs: tuple[int, ...],
    run_format: str | None,
    strict: bool,
) -> ValidationOptions:
    """Build the options of a validation of runs: those that are given, then those of the preset."""
    base = DEFAULT_OPTIONS if preset is None else PRESETS[preset]
    return replace(
        base,
        max_depth=max_depth or base.max_depth,
        min_depth=min_depth or base.min_depth,
        cutoffs=tuple(sorted(set(cutoffs))) or base.cutoffs,
        format=run_format or base.format,
        strict=strict,
    )


@documented(
    "validate",
    """
    # Find faults in a run
    rankgauge runs validate my.run
    # Check it with the judgments, and write a repaired copy
    rankgauge runs validate my.run --qrels qrels.txt --fix fixed.run
    """,
)
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN [RUN …]")
@option(
    "--qrels",
    section=Section.INPUT,
    type=click.Path(),
    metavar="QRELS",
    help="Check that the run shares queries and ids with judgments.",
)
@QUERIES
@option_group(
    "options",
    make_options,
    option(
        "--preset",
        section=Section.CHECKS,
        type=click.Choice(list(PRESETS)),
        help="Check what a workflow demands. trec-2025: the TREC format, at most 100 results per query, and every "
        "query answered, so it needs --queries or --qrels.",
    ),
    option(
        "--max-depth",
        section=Section.CHECKS,
        type=click.IntRange(min=1),
        metavar="N",
        help="Allow at most N results per query.  [default: any number]",
    ),
    option(
        "--min-depth",
        section=Section.CHECKS,
        type=click.IntRange(min=1),
        metavar="N",
        help="Require at least N results per query.  [default: any number]",
    ),
    option(
        "--cutoff",
        "cutoffs",
        section=Section.CHECKS,
        type=click.IntRange(min=1),
        multiple=True,
        metavar="K",
        help=f"Report ties across rank K; repeatable.  [default: {', '.join(str(cutoff) for cutoff in TIE_CUTOFFS)}]",
    ),
    option(
        "--run-format",
        section=Section.FILES,
        metavar="FORMAT",
        help=f"Set the format of the runs: {RUN_FORMATS}.  [default: detected from the content]",
    ),
    STRICT,
)
@output_options
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    queries: str | None,
    options: ValidationOptions,
    output: ValidationOutput,
) -> int:
    """Find faults in runs, line by line.

    With --queries, every one of them must be answered. Exit codes: 0 no errors, 1 an error was found, 2 a file cannot
    be read.
    """
    if is_given("preset") and qrels is None and queries is None:
        raise UsageError(
            "--preset checks that every query is answered, and needs to know the queries",
            hint="add --queries or --qrels",
        )
    with collected_notes() as notes:
        judgments = None if qrels is None else read_qrels_to_check_against(qrels)
    query_ids = None if queries is None else list(read_query_ids(queries))
    options = replace(options, max_places=output.max_places, hashed=output.needs_hash)

    def validate(path: str) -> Validation:
        return validate_run(path, judgments, query_ids, options)

    def repair(data: bytes, validation: Validation) -> Repair:
        return repair_text(data, "run", validation, max_depth=options.max_depth)

    print_warnings(notes)
    return validate_files(runs, validate, repair, output, [qrels, queries])
