"""The formats that commands which score runs share, and the pictures."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from rankgauge.render.text.grid import Grid
    from rankgauge.render.text.records import Record

ROWS = ("csv", "jsonl")  # a row a value, with every digit
PAGES = ("markdown", "latex")  # tables and sentences to be read

Command = TypeVar("Command", bound=Callable[..., Any])


def plot_option(command: Command) -> Command:
    """The option of commands that draw below their tables."""
    text = "Below the table, bars of the means with their intervals, of plain characters."
    return click.option("--plot", is_flag=True, help=text)(command)


def check_plot(plot: bool, form: str) -> None:
    """Raise where there is no place for a picture."""
    if plot and form != "table":
        raise UsageError(f"--format {form} has no pictures", hint="leave out --plot, or use --format table")


def ascii_only() -> bool:
    """Whether standard output takes no more than ASCII for granted."""
    return codecs.lookup(sys.stdout.encoding or "ascii").name != "utf-8"


def rows(form: str, fields: Sequence[str], records: Iterable[Record]) -> str:
    """Records as CSV or JSON Lines."""
    from rankgauge.render.text.records import as_csv, as_jsonl

    return as_csv(fields, records) if form == "csv" else as_jsonl(fields, records)


def page(form: str, parts: Sequence[str | Grid]) -> str:
    """Sentences and tables as Markdown or LaTeX."""
    if form == "markdown":
        from rankgauge.render.text.markdown import as_markdown

        return as_markdown(parts)
    from rankgauge.render.text.latex import as_latex

    return as_latex(parts)
