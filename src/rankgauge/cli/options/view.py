"""What a user wants to see of scores and comparisons, and in which format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rankgauge.cli.options.declared import Option, is_given, option, option_group
from rankgauge.cli.options.terminal import print_run_warnings, print_warnings, write, write_document
from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.render.document import ResultDocument
from rankgauge.render.documents import ScoresExtent, evaluation_document

if TYPE_CHECKING:
    from rankgauge.cli.options.html import PageRequest
    from rankgauge.comparison.gate.baseline import Baseline
    from rankgauge.comparison.result import Comparison
    from rankgauge.config.settings import Settings
    from rankgauge.evaluation.evaluate import Evaluation
    from rankgauge.evaluation.notes import Note

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


# -------------------------------------------------------------------------------- what ``rankgauge evaluate`` shows


def check_format(view: View, settings: Settings) -> None:
    """Raise if the format cannot show what the settings ask for."""
    if view.format not in (*ROW_FORMATS, "trec"):
        return
    hint = "use --format json or table"
    if settings.by or settings.confidence_intervals or settings.significance_testing:
        raise UsageError(f"--format {view.format} has no groups, intervals or tests", hint=hint)
    if is_given("kpi"):
        raise UsageError(f"--format {view.format} has no target bands", hint=hint)


def check_confidence(settings: Settings, view: View, page: PageRequest) -> None:
    """Raise if a confidence is given and nothing that is shown has one."""
    used = settings.confidence_intervals or settings.significance_testing or settings.by or view.plot or page.path
    if is_given("confidence") and not used:
        raise UsageError("--confidence is for intervals and tests, and none are shown", hint="show intervals with --ci")


def compared(evaluation: Evaluation, settings: Settings, runs: Sequence[str] = ()) -> Comparison | None:
    """The comparison with the baseline, if the settings ask for tests and there are two runs; ``runs`` are files."""
    if not settings.significance_testing or len(evaluation.scores) < 2:
        return None
    from rankgauge.comparison.compare import compare_evaluation

    check_baseline_file(settings.baseline, runs, evaluation)
    return compare_evaluation(
        evaluation,
        chosen_baseline(settings.baseline, runs),
        statistics=settings.statistics,
        by=settings.by or (),
        changes=0,
    )


def check_baseline_file(name: str | None, runs: Sequence[str], evaluation: Evaluation) -> None:
    """Raise if the baseline is a file among files of which one holds several runs."""
    if name in runs and len(evaluation.scores) != len(runs):
        raise UsageError(
            f"--baseline names a file, and {len(evaluation.scores)} runs are in {plural(len(runs), 'file')}",
            hint=f"name a run: --baseline {evaluation.scores[0].run}",
        )


def chosen_baseline(name: str | None, runs: Sequence[str]) -> str | int | Baseline:
    """The baseline by what a user calls it: the file or the name of a run, or a stored baseline."""
    if name is None or name in runs:
        return 0 if name is None else runs.index(name)
    from rankgauge.comparison.stored import stored_baseline

    return stored_baseline(name) or name


def scores_shown(
    evaluation: Evaluation,
    comparison: Comparison | None,
    settings: Settings,
    view: View,
    notes: Sequence[Note] = (),
) -> ResultDocument:
    """The scores with what the settings and the options ask for."""
    wanted = ScoresExtent(
        per_query=view.per_query,
        intervals=bool(settings.confidence_intervals),
        by=settings.by or (),
        ties=view.audit,
        unjudged=view.audit,
        plot=view.plot,
        sort=view.sort,
        confidence=settings.statistics.confidence,
        bands=settings.bands,
    )
    return evaluation_document(evaluation, wanted, comparison, notes)


def show(
    evaluation: Evaluation, comparison: Comparison | None, notes: list[Note], settings: Settings, view: View
) -> None:
    """Print scores on standard output and warnings on standard error."""
    if view.format == "trec":
        from rankgauge.render.formats.rows import as_trec

        write(as_trec(evaluation.scores, per_query=view.per_query))
    else:
        write_document(scores_shown(evaluation, comparison, settings, view, notes), view.format)
    print_warnings(notes)
    print_run_warnings(evaluation.scores)
