"""The options of every command that reads judgments and runs, as one ``Reading``."""

from __future__ import annotations

from functools import wraps
from typing import Any

from rankgauge.cli.options.declared import (
    RARE_SET,
    Command,
    Option,
    configuration,
    declared_options,
    is_given,
    option,
    option_names,
    with_options,
)
from rankgauge.config.settings import make_reading, reading_values
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError, shown
from rankgauge.io.byte_streams import Limits
from rankgauge.io.options import Reading


def parse_columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Parse ``query=qid`` into the names of columns by their role."""
    names: dict[str, str] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or not role or not name:
            raise UsageError(f"--column takes ROLE=NAME, found {shown(text)}", hint="--column query=question_no")
        names[role] = name
    return names


READING_OPTIONS: tuple[Option, ...] = (
    *declared_options(Reading, "qrels_format", "run_format"),
    option(
        "--column",
        "columns",
        section=Section.FILES,
        rare=True,
        multiple=True,
        metavar="ROLE=NAME",
        help="Read a column of the runs as query, doc, score, rank or tag, if its name does not say so; repeatable.",
    ),
    *declared_options(Reading, "on_duplicate"),
    *declared_options(Limits, "strict"),
)
READING_NAMES = option_names(*READING_OPTIONS)


def reading_options(command: Command) -> Command:
    """Add the options to a command, which receives them and its configuration's ``reading`` as one ``Reading``."""

    @wraps(command)
    def wrapped(*args: Any, **values: Any) -> Any:
        own = {name: values.pop(name) for name in READING_NAMES}
        return command(*args, **values, reading=_reading(own))

    return with_options(wrapped, *READING_OPTIONS)


def reading_options_and_set(command: Command) -> Command:
    """``reading_options`` for a command that has no ``--config``: the rest of section ``reading`` by ``--set``."""

    @wraps(command)
    def wrapped(*args: Any, sets: tuple[str, ...], **values: Any) -> Any:
        return command(*args, **values)  # ``configuration`` reads them from the context

    return with_options(reading_options(wrapped), RARE_SET)


def _reading(options: dict[str, Any]) -> Reading:
    """Build a ``Reading``: given options, then the configuration, then the defaults."""
    values = {**options, "columns": parse_columns(options["columns"]) or None}
    config = configuration()
    if config is not None:
        values |= {name: value for name, value in reading_values(config).items() if not is_given(name)}
    return make_reading(values)


def check_one_stdin(*files: str) -> None:
    """Raise if more than one file is standard input."""
    if files.count("-") > 1:
        raise UsageError("only one of the files can be standard input")
