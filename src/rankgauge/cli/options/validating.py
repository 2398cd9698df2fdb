"""What both validating commands share: their options, their output, the repaired copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from rankgauge.cli.options.terminal import use_color, width, write
from rankgauge.errors import InputError, UsageError
from rankgauge.io.sources import read_bytes
from rankgauge.io.writing import check_not_an_input, write_atomically
from rankgauge.render.text import validation as render
from rankgauge.validation.findings import Validation, unreadable
from rankgauge.validation.repair import Repair

UNREADABLE, FAULTY = 2, 1
Function = Callable[..., Any]
Validate = Callable[[str], Validation]
Mend = Callable[[bytes, Validation], Repair]


def shared_options(function: Function) -> Function:
    """``--strict``, ``--format`` and ``--fix``."""
    for option in (
        click.option(
            "--fix",
            type=click.Path(),
            metavar="OUT",
            help="Write a copy of the one file given, with everything repaired that has a safe repair.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["table", "json"]),
            default="table",
            show_default=True,
            help="json lists every place.",
        ),
        click.option("--strict", is_flag=True, help="Warnings are errors."),
    ):
        function = option(function)
    return function


def places(form: str) -> int | None:
    """How many places to keep of each fault: all for programs, a few for people."""
    return None if form == "json" else render.PLACES_SHOWN


def run(
    files: Sequence[str],
    validate: Validate,
    repair: Mend,
    *,
    form: str,
    fix: str | None,
    others: Sequence[str | None] = (),
) -> int:
    """Validate files, print what was found, write the repaired copy; the exit code speaks of the files given."""
    if fix is not None and (len(files) > 1 or files[0] == "-"):
        raise UsageError("--fix takes one file, and not standard input", hint="validate them one at a time")
    if fix is not None:
        check_not_an_input(fix, [*files, *(other for other in others if other)])
    found = [_validated(file, validate) for file in files]
    write(render.as_json(found) if form == "json" else render.as_text(found, color=use_color(), width=width()))
    if fix is not None:
        _fix(found[0], fix, validate, repair)
    if not all(file.readable for file in found):
        return UNREADABLE
    return FAULTY if any(file.errors for file in found) else 0


def _validated(file: str, validate: Validate) -> Validation:
    try:
        return validate(file)
    except InputError as error:
        return unreadable(file, error)


def _fix(before: Validation, out: str, validate: Validate, repair: Mend) -> None:
    if before.format not in (None, "trec"):
        raise UsageError(
            f"--fix repairs TREC files, and {before.file} is {before.format}",
            hint="rankgauge convert writes it as one, then repair that",
        )
    data, digest = read_bytes(before.file, hashed=True) if before.readable else (b"", None)
    if digest != before.sha256:
        raise InputError.at(before.file, None, "is not what it was a moment ago: it changed, or can be read only once")
    done = repair(data, before)
    after = None
    if done.text is not None:
        with write_atomically(out, inputs=[before.file]) as file:
            file.write(done.text)
        after = validate(out)
    click.echo(render.fixed_text(out, done, after), err=True, nl=False)
