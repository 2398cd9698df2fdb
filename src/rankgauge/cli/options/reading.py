"""The options of every command that reads judgments and runs, as one ``Reading``."""

from __future__ import annotations

import re
from dataclasses import replace

import click

from rankgauge.cli.options.groups import Option, Section, option, option_group
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS
from rankgauge.io.options import DEFAULT_MEMORY, Reading

SIZE = re.compile(r"([0-9]+)\s*([BKMGT]?)(?:(?<=[KMGT])i?B)?", re.IGNORECASE)


def parse_size(context: click.Context, option: click.Parameter, value: str) -> int:
    """Parse ``512M`` or ``2G`` into a number of bytes; units are powers of 1024."""
    match = SIZE.fullmatch(value.strip())
    if match is None:
        raise UsageError(
            f"--memory takes a size, found {shown(value)}", hint="a number of bytes, or with a unit: 512M, 2G"
        )
    power: int = "BKMGT".index((match[2] or "B").upper())
    return int(match[1]) << (10 * power)


def parse_columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Parse ``query=qid`` into the names of columns by their role."""
    names: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or not role or not name:
            raise UsageError(f"--column takes ROLE=NAME, found {shown(text)}", hint="--column query=question_no")
        names[role] = name
    return names


def make_reading(
    qrels_format: str | None,
    run_format: str | None,
    columns: tuple[str, ...],
    max_bytes: int | None,
    max_line: int | None,
    strict: bool,
    memory: int = DEFAULT_MEMORY,
) -> Reading:
    """Build a ``Reading`` from the values of its options."""
    limits = replace(
        DEFAULT_LIMITS,
        total=max_bytes or DEFAULT_LIMITS.total,
        line=max_line or DEFAULT_LIMITS.line,
        strict=strict,
    )
    return Reading(
        qrels_format=qrels_format,
        run_format=run_format,
        columns=parse_columns(columns) or None,
        limits=limits,
        memory=memory,
    )


READING_OPTIONS: tuple[Option, ...] = (
    option(
        "--qrels-format",
        section=Section.FILES,
        metavar="NAME",
        help="Set the format of the judgments, if detection is wrong; qrels_prefs, qrels_jg and ndeval must be named.",
    ),
    option(
        "--run-format", section=Section.FILES, metavar="NAME", help="Set the format of the runs, if detection is wrong."
    ),
    option(
        "--column",
        "columns",
        section=Section.FILES,
        multiple=True,
        metavar="ROLE=NAME",
        help="Read a column of the runs as query, doc, score, rank or tag, if its name does not say so; repeatable.",
    ),
    option(
        "--max-bytes",
        section=Section.FILES,
        type=click.IntRange(min=1),
        metavar="N",
        help="Set the maximum decompressed size of a file.",
    ),
    option(
        "--max-line",
        section=Section.FILES,
        type=click.IntRange(min=1),
        metavar="N",
        help="Set the maximum length of a line, in bytes.",
    ),
    option("--strict", section=Section.FILES, is_flag=True, help="Treat input warnings as errors."),
)
MEMORY = option(
    "--memory",
    section=Section.FILES,
    callback=parse_size,
    metavar="SIZE",
    default="512M",
    show_default=True,
    help="Use about this much memory for a run whose queries are scattered, and temporary files beyond it.",
)
reading_options = option_group("reading", make_reading, *READING_OPTIONS)
large_reading_options = option_group("reading", make_reading, *READING_OPTIONS, MEMORY)


def configured_reading(reading: Reading, settings: Settings) -> Reading:
    """How files are read, with what the settings decide of it."""
    return replace(reading, on_duplicate=settings.on_duplicate, parallel=settings.parallel)


def check_one_stdin(*files: str) -> None:
    """Raise if more than one file is standard input."""
    if files.count("-") > 1:
        raise UsageError("only one of the files can be standard input")
