"""``rankgauge runs validate`` and ``rankgauge qrels validate``: options, output and the repaired copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, is_given, option, option_group
from rankgauge.cli.options.inputs import COLUMN, parse_columns
from rankgauge.cli.options.outputs import View
from rankgauge.cli.printing import collected_notes, print_message, print_warnings, write_document
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import CheckOutcome, exit_code
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.io.atomic_files import check_writable, write_atomically
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.formats import registry as formats
from rankgauge.io.queries import read_query_ids
from rankgauge.io.reading_options import Reading
from rankgauge.render.documents.validation import PLACES_SHOWN, fixed_text, validation_document
from rankgauge.validation.findings import Validation, unreadable
from rankgauge.validation.qrels_validation import read_retrieved, validate_qrels
from rankgauge.validation.repair import Repair, repair_text
from rankgauge.validation.run_validation import read_qrels_to_check_against, validate_run
from rankgauge.validation.validated_file import DEFAULT_OPTIONS, PRESETS, ValidationOptions

ValidateFunction = Callable[[str], Validation]
RepairFunction = Callable[[bytes, Validation], Repair]


@dataclass(frozen=True)
class ValidationOutput:
    """How findings are printed, and where a repaired copy is written."""

    format: str
    fix: str | None

    @property
    def max_places(self) -> int | None:
        """The number of places to keep of each fault: all for programs, a few for people."""
        return None if self.format == "json" else PLACES_SHOWN

    @property
    def needs_hash(self) -> bool:
        """Whether the hash of a file is printed, or compared before it is repaired."""
        return self.format == "json" or self.fix is not None


QUERIES = option(
    "--queries",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read the ids of all queries: from JSON Lines, TREC topics, or lines of an id and a text.",
)
output_options = option_group(
    "output",
    ValidationOutput,
    *declared_options(
        View, "format", choices=("table", "json"), help="Print a few places of each fault, or all of them as JSON."
    ),
    option(
        "--fix",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write a copy of the one file given to FILE, with everything repaired that is safe to repair.",
    ),
)


def validate_files(
    files: Sequence[str],
    validate: ValidateFunction,
    repair: RepairFunction,
    output: ValidationOutput,
    inputs: Sequence[str | None] = (),
) -> int:
    """Validate files, print the findings, write the repaired copy, and return the exit code for the files given.

    ``inputs`` are further files that the copy must not overwrite.
    """
    if output.fix is not None:
        if len(files) > 1 or files[0] == "-":
            raise UsageError(
                "--fix takes one file, which cannot be standard input", hint="validate the files one at a time"
            )
        check_writable(output.fix, inputs=[*files, *(path for path in inputs if path)])
    validations = [_validated(file, validate) for file in files]
    write_document(validation_document(validations), output.format)
    if output.fix is not None:
        _write_repaired(validations[0], output.fix, validate, repair)
    return exit_code(*map(_outcome, validations))


def _outcome(file: Validation) -> CheckOutcome:
    """A file that cannot be read to its end cannot be decided, whatever was found in its beginning."""
    return "undecidable" if not file.readable else "fail" if file.errors else "pass"


def _validated(file: str, validate: ValidateFunction) -> Validation:
    try:
        return validate(file)
    except InputError as error:
        return unreadable(file, error)


def _write_repaired(before: Validation, path: str, validate: ValidateFunction, repair: RepairFunction) -> None:
    """Write a repaired copy, if anything can be repaired, and print what was done."""
    if before.format not in (None, "trec"):
        raise UsageError(
            f"--fix repairs TREC files, but the format of {printable(before.file, None)} is {before.format}",
            hint="write it in the TREC format with `rankgauge convert`, then repair that file",
        )
    data, digest = read_bytes(before.file, hashed=True) if before.readable else (b"", None)
    if digest != before.sha256:
        raise InputError.at(before.file, None, "has changed since it was validated, or can be read only once")
    repaired = repair(data, before)
    after = None
    if repaired.text is not None:
        with write_atomically(path, inputs=[before.file]) as file:
            file.write(repaired.text)
        after = validate(path)
    print_message(fixed_text(path, repaired, after).removesuffix("\n"))


RUN_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("run"))


def make_run_checks(preset: str | None, **checks: Any) -> ValidationOptions:
    """Build the options of a validation of runs: those that are given, then those of the preset."""
    base = DEFAULT_OPTIONS if preset is None else PRESETS[preset]
    run_format = checks.pop("run_format") or base.format
    columns = parse_columns(checks.pop("columns")) or None
    return replace(
        base, format=run_format, columns=columns, **{name: value for name, value in checks.items() if is_given(name)}
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
    make_run_checks,
    option(
        "--preset",
        section=Section.CHECKS,
        type=click.Choice(list(PRESETS)),
        help="Check what a workflow demands. trec-2025: the TREC format, at most 100 results per query, and every "
        "query answered, so it needs --queries or --qrels.",
    ),
    *declared_options(ValidationOptions, "max_depth", "min_depth", "cutoffs"),
    *declared_options(
        Reading,
        "run_format",
        common=["run_format"],
        help=f"Set the format of the runs: {RUN_FORMATS}.  [default: detected from the content]",
    ),
    COLUMN,
    *declared_options(ValidationOptions, "strict"),
)
@output_options
def runs_validate_command(
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


QRELS_FORMATS = ", ".join(format.name for format in formats.FORMATS if format.supports("qrels"))


def make_qrels_checks(qrels_format: str | None, columns: tuple[str, ...], **checks: Any) -> ValidationOptions:
    """Build the options of a validation of judgments."""
    return ValidationOptions(format=qrels_format, columns=parse_columns(columns) or None, **checks)


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
    make_qrels_checks,
    *declared_options(ValidationOptions, "min_judged", "by_subtopic"),
    *declared_options(
        Reading,
        "qrels_format",
        common=["qrels_format"],
        help=f"Set the format of the judgments: {QRELS_FORMATS}.  [default: detected from the content]",
    ),
    COLUMN,
    *declared_options(ValidationOptions, "strict"),
)
@output_options
def qrels_validate_command(
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
