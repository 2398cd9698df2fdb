"""The options of every command that reads judgments and runs, as one ``Reading``."""

from __future__ import annotations

from dataclasses import replace

import click

from rankgauge.cli.options.groups import Option, option_group
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError
from rankgauge.io.options import Reading
from rankgauge.io.sources import DEFAULT_LIMITS


def make_reading(
    qrels_format: str | None, run_format: str | None, max_bytes: int | None, max_line: int | None, strict: bool
) -> Reading:
    """Build a ``Reading`` from the values of its options."""
    limits = replace(
        DEFAULT_LIMITS,
        total=max_bytes or DEFAULT_LIMITS.total,
        line=max_line or DEFAULT_LIMITS.line,
        strict=strict,
    )
    return Reading(qrels_format=qrels_format, run_format=run_format, limits=limits)


READING_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--qrels-format",
        metavar="NAME",
        help="Set the format of the judgments, if detection is wrong; qrels_prefs, qrels_jg and ndeval must be named.",
    ),
    click.option("--run-format", metavar="NAME", help="Set the format of the runs, if detection is wrong."),
    click.option(
        "--max-bytes", type=click.IntRange(min=1), metavar="N", help="Set the maximum decompressed size of a file."
    ),
    click.option(
        "--max-line", type=click.IntRange(min=1), metavar="N", help="Set the maximum length of a line, in bytes."
    ),
    click.option("--strict", is_flag=True, help="Treat input warnings as errors."),
)
reading_options = option_group("reading", make_reading, *READING_OPTIONS)


def configured_reading(reading: Reading, settings: Settings) -> Reading:
    """How files are read, with what the settings decide of it."""
    return replace(reading, on_duplicate=settings.on_duplicate, parallel=settings.parallel)


def check_one_stdin(*files: str) -> None:
    """Raise if more than one file is standard input."""
    if files.count("-") > 1:
        raise UsageError("only one of the files can be standard input")
