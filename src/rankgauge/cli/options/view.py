"""What a user wants to see of scores and comparisons, and in which format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from rankgauge.cli.options.declared import Option, option, option_group
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from rankgauge.evaluation.scores import Scores
    from rankgauge.render.text.grid import Grid
    from rankgauge.render.text.records import Record

ROW_FORMATS = ("csv", "jsonl")  # one row per value, with every digit
PAGE_FORMATS = ("markdown", "latex")  # tables and sentences to be read


@dataclass(frozen=True)
class View:
    """A format, and what is shown in it."""

    format: str
    per_query: bool = False
    plot: bool = False
    audit: bool = False
    explain: bool = False
    sort: str | None = None  # of the runs in tables; JSON has them as given

    def sorted_runs(self, scores: Sequence[Scores]) -> Sequence[Scores]:
        """Runs in the order that is asked for."""
        if len(scores) == 1 and self.sort is None:
            return scores
        from rankgauge.evaluation.order import sorted_runs

        return sorted_runs(scores, self.sort)

    def check(self) -> None:
        """Raise if the format cannot show what is asked for."""
        if self.plot and self.format != "table":
            raise UsageError(f"--format {self.format} has no charts", hint="leave out --plot, or use --format table")
        if self.explain and self.format != "table":
            raise UsageError(
                f"--format {self.format} has no --explain", hint="use --format table; json has every document"
            )
        if self.per_query and self.format == "latex":
            raise UsageError("--format latex has no per-query values", hint="use --format csv or markdown")
        if self.audit and self.format not in ("table", "json"):
            raise UsageError(f"--format {self.format} has no audits", hint="use --format json or table")


def format_option(*formats: str) -> Option:
    """``--format``, with the formats that a command has."""
    return option(
        "--format",
        "format",
        section=Section.OUTPUT,
        type=click.Choice(formats),
        default="table",
        show_default=True,
        help="json, csv and jsonl have full precision.",
    )


PER_QUERY = option("-q", "--per-query", section=Section.OUTPUT, is_flag=True, help="Also show the value of each query.")
SORT = option(
    "--sort",
    metavar="NAME",
    section=Section.OUTPUT,
    rare=True,
    help="Sort runs by a measure, the best first; by `name`; or as `given`. JSON always has them as given.  "
    "[default: the first measure]",
)
PLOT = option(
    "--plot",
    section=Section.OUTPUT,
    is_flag=True,
    help="Draw a text bar chart of the means.",
)
QUERIES = option(
    "--queries",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read texts and columns of the queries: JSON Lines, CSV, TREC topics, …",
)


def view_options(*options: Option) -> Option:
    """Options that a command receives as ``view``."""
    return option_group("view", View, *options)


def rows_text(format: str, fields: Sequence[str], records: Iterable[Record]) -> str:
    """Records as CSV or JSON Lines."""
    from rankgauge.render.text.records import as_csv, as_jsonl

    return as_csv(fields, records) if format == "csv" else as_jsonl(fields, records)


def page_text(format: str, parts: Sequence[str | Grid]) -> str:
    """Sentences and tables as Markdown or LaTeX."""
    if format == "markdown":
        from rankgauge.render.text.markdown import as_markdown

        return as_markdown(parts)
    from rankgauge.render.text.latex import as_latex

    return as_latex(parts)
