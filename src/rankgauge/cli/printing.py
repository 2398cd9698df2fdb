"""What a command prints: data on standard output, messages on standard error; width and color of the terminal.

Imports nothing that may be missing or slow: a failure is printed whatever cannot be loaded.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from rankgauge.errors import InputError, Note, RankgaugeWarning, printable
from rankgauge.render.document import ResultDocument, Sentences
from rankgauge.render.formats import rendered
from rankgauge.render.formats.terminal import Layout, wrapped

if TYPE_CHECKING:
    from rankgauge.evaluation.scores import Scores

UNKNOWN_WIDTH = 80  # of a terminal that does not tell
LABELS = ("error", "warning", "note", "hint")


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal, or those that COLUMNS asks for; None if nothing has to fit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    if not stream.isatty():
        return None
    try:  # without shutil, which imports every compression there is
        return os.get_terminal_size(stream.fileno()).columns or UNKNOWN_WIDTH
    except OSError:
        return UNKNOWN_WIDTH


def print_message(text: str) -> None:
    """Print lines on standard error; on a terminal, each wrapped below the text after its label."""
    if sys.stderr.isatty():
        text = "\n".join(wrapped_message(line, width_of(sys.stderr)) for line in text.split("\n"))
    click.echo(text, err=True)


def wrapped_message(line: str, width: int | None) -> str:
    """A line of a message, wrapped below the text after ``error:``, ``warning:``, ``note:`` or ``hint:``."""
    label, separator, _ = line.partition(": ")
    hanging = len(label + separator) if separator and label in LABELS else 2
    return "\n".join(wrapped(line, Layout(width), hanging=hanging)) or line


# Readers do not know which command reads, so the options in their hints may be those of others.

OTHER_COMMAND = re.compile(r"`[^`]*`|\brankgauge [a-z][^;]*")  # what a hint says of another command, with its options
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def with_owners_of_options(text: str, context: click.Context) -> str:
    """A hint that says of each option that the command lacks which command has it."""
    known = flags_of(context.command)
    flags = dict.fromkeys(flag for flag in FLAG.findall(OTHER_COMMAND.sub("", text)) if flag not in known)
    owners = [(flag, _owner(flag, context.find_root())) for flag in flags]
    return "; ".join([text, *(f"{flag} is an option of `rankgauge {name}`" for flag, name in owners if name)])


def flags_of(command: click.Command) -> set[str]:
    """The options of a command."""
    return {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}


def _owner(flag: str, context: click.Context) -> str | None:
    """The first command, in the order of ``--help``, that has an option; None if none does."""
    found: list[tuple[str, click.Command]] = [("", context.command)]
    while found:
        path, command = found.pop(0)
        if isinstance(command, click.Group):
            names = command.list_commands(context)
            commands = [(f"{path} {name}".strip(), command.get_command(context, name)) for name in names]
            found = [*((name, one) for name, one in commands if one is not None), *found]
        elif flag in flags_of(command):
            return path
    return None


# Standard output for data, standard error for everything else; width and color of the terminal.

RUNNER_COMMAND = re.compile(r"(?m)^[^\S\n]*(?=::|##\[)")  # of GitHub Actions and Azure Pipelines
PRINTED_WARNINGS = "rankgauge.printed_warnings"  # the lines, in the context of the command


def layout() -> Layout:
    """How text on standard output is laid out: to fit a terminal or COLUMNS; a pipe or a file has no width."""
    return Layout(width_of(output()), color=use_color(), ascii=ascii_only())


def use_color() -> bool:
    """Whether to use bold: on a terminal that does not ask for plain text."""
    return use_color_on(output())


def use_color_on(stream: TextIO) -> bool:
    """Whether to use bold on standard output or standard error."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def ascii_only() -> bool:
    """Whether standard output cannot encode more than ASCII."""
    return codecs.lookup(output().encoding or "ascii").name != "utf-8"


@contextmanager
def collected_notes(*, shows_noted: bool = False) -> Iterator[list[Note]]:
    """Warnings of the readers, collected instead of shown; those that are notes of results only if these are not."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankgaugeWarning)
        yield notes
    own = [item.message for item in caught if isinstance(item.message, RankgaugeWarning)]
    messages = [str(message) for message in own if shows_noted or not message.is_noted]
    notes += [Note("input", message) for message in dict.fromkeys(messages)]


def print_warnings(notes: Sequence[Note], *, about: str | None = None) -> None:
    """Print warnings on standard error, each once in a command."""
    printed: set[str] = click.get_current_context().find_root().meta.setdefault(PRINTED_WARNINGS, set())
    for note in notes:
        prefix = f"{printable(about)}: " if about else ""
        message = with_owners_of_options(note.message, click.get_current_context())
        line = f"warning: {prefix}{printable(message, None)} [{note.code}]"
        if line not in printed:
            printed.add(line)
            print_message(line)


def print_run_warnings(scores: Sequence[Scores]) -> None:
    """Print the warnings about runs, each once; one that holds for all of them names none."""
    from rankgauge.evaluation.caveats import merge_notes  # which imports NumPy; messages must not depend on it

    for note, runs in merge_notes([(run.run, run.notes) for run in scores]):
        print_warnings([note], about=", ".join(runs) or None)


def write_document(document: ResultDocument, format: str = "table") -> None:
    """Write a document to standard output, in a format; a table fits the terminal."""
    write(rendered(document, format, layout()), is_data=format in ("csv", "jsonl"))


def write_lines(text: str) -> None:
    """Write lines of text to standard output, so that they fit a terminal."""
    write_document(ResultDocument("", lambda: [Sentences(text.removesuffix("\n").split("\n"))]))


def write(text: str, *, is_data: bool = False) -> None:
    """Write data to standard output as UTF-8; ids that are not valid UTF-8 come out as they went in.

    On a terminal, control characters in rows of data are escaped; what is laid out for it has none. No line of text
    begins like a command of a CI server, whose runner would execute it.
    """
    out, text = output(), text if is_data else RUNNER_COMMAND.sub(r"\g<0>\\", text)
    shown = "\n".join(map(escaped_for_terminal, text.split("\n"))) if is_data and out.isatty() else text
    out.flush()
    out.buffer.write(shown.encode("utf-8", "surrogateescape"))
    out.buffer.flush()


def escaped_for_terminal(line: str) -> str:
    """A line of data without characters that a terminal acts upon."""
    return "\t".join(printable(part, None) for part in line.split("\t"))


# What the code of a user prints must not get into the output of a command.


def output() -> TextIO:
    """Where a command writes its output, whatever ``sys.stdout`` is while user code runs."""
    return _outputs[-1] if _outputs else sys.stdout


_outputs: list[TextIO] = []


@contextmanager
def own_output() -> Iterator[None]:
    """Let standard output, also file descriptor 1, be standard error for user code; ``output`` is the real one."""
    real, copy = sys.stdout, None
    real.flush()
    try:
        if real.fileno() == 1:
            copy = os.dup(1)
    except (OSError, ValueError):
        copy = None
    stream = real if copy is None else open(copy, "w", encoding=real.encoding, errors=real.errors)  # noqa: SIM115, PTH123 - a descriptor, closed below
    if copy is not None:
        os.dup2(2, 1)
    errors = sys.stderr if copy is None else open(os.dup(2), "w", encoding="utf-8", errors="replace", buffering=1)  # noqa: SIM115, PTH123 - which user code may close
    _outputs.append(stream)
    sys.stdout = errors
    try:
        yield
    finally:
        _outputs.pop()
        sys.stdout = real
        if copy is not None:
            stream.flush()
            os.dup2(copy, 1)
            stream.close()
            errors.close()
        if real.closed:
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the descriptor stays
    if real.closed:
        raise InputError("the code of a retriever closed standard output", hint="remove its call of close()")
