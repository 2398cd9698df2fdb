"""The options, the output and the repaired copy of ``qrels validate`` and ``runs validate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.terminal import write_document
from rankgauge.core.settings import Section
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.writing import check_writable, write_atomically
from rankgauge.render.documents.validation import PLACES_SHOWN, fixed_text, validation_document
from rankgauge.validation.findings import Validation, unreadable
from rankgauge.validation.repair import Repair

EXIT_ERRORS, EXIT_UNREADABLE = 1, 2
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
STRICT = option("--strict", section=Section.CHECKS, is_flag=True, help="Treat warnings as errors.")
output_options = option_group(
    "output",
    ValidationOutput,
    option(
        "--format",
        "format",
        section=Section.OUTPUT,
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="Print a few places of each fault, or all of them as JSON.",
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
    if not all(file.readable for file in validations):
        return EXIT_UNREADABLE
    return EXIT_ERRORS if any(file.errors for file in validations) else 0


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
