"""How ``rankgauge evaluate`` shows scores: in which format, and what beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankgauge.cli.options.audits import NONE, Audits
from rankgauge.cli.options.common import colour, say, say_of_runs, width, write
from rankgauge.cli.options.forms import PAGES, ROWS, ascii_only, check_plot, page, rows
from rankgauge.errors import UsageError
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note
from rankgauge.render.text import scores as render
from rankgauge.render.text.grid import full

if TYPE_CHECKING:
    from rankgauge.config.statistics import Statistics
    from rankgauge.render.text.grid import Grid

FORMS = ("table", "json", "trec", *ROWS, *PAGES)


@dataclass(frozen=True)
class View:
    """What a user wants to see."""

    form: str
    per_query: bool = False
    by: tuple[str, ...] = ()
    intervals: bool = False
    plot: bool = False

    def check(self) -> None:
        """Raise where the format has no place for what was asked."""
        check_plot(self.plot, self.form)
        if self.form in (*ROWS, "trec") and (self.by or self.intervals):
            raise UsageError(f"--format {self.form} has no groups and no intervals", hint="use --format json or table")
        if self.form == "latex" and self.per_query:
            raise UsageError("--format latex has no queries one by one", hint="use --format csv or markdown")


def show(
    scores: Sequence[Scores],
    notes: list[Note],
    view: View,
    *,
    statistics: Statistics | None = None,
    audits: Audits = NONE,
) -> None:
    """Print scores on standard output and what must be known of them on standard error."""
    match view.form:
        case "json":
            write(_json(scores, notes, view, statistics, audits))
        case "csv" | "jsonl":
            write(rows(view.form, render.FIELDS, render.records(scores, per_query=view.per_query)))
        case "markdown" | "latex":
            write(page(view.form, _parts(scores, view, statistics, audits)))
        case "trec":
            write(render.as_trec(scores, per_query=view.per_query))
        case _:
            write("\n\n".join(_texts(scores, view, statistics, audits)) + "\n")
            if view.plot:
                from rankgauge.render.text.plot import of_scores

                write("\n" + of_scores(scores, width=width(), ascii=ascii_only()))
    say(notes)
    say_of_runs(scores)


def _json(
    scores: Sequence[Scores], notes: list[Note], view: View, statistics: Statistics | None, audits: Audits
) -> str:
    from rankgauge.render.text import groups as slices

    data = render.as_dict(scores, per_query=view.per_query, notes=notes)
    for entry, run in zip(data["runs"], scores, strict=True):
        if view.by:
            entry["by"] = slices.as_dicts(run, view.by)
        if view.intervals:
            for measure, found in entry["measures"].items():
                found["ci"] = slices.ci(run.interval(measure))
    if statistics is not None:
        data["statistics"] = statistics.to_dict()
    return render.dumped(audits.added(data, scores, per_query=view.per_query))


def _parts(scores: Sequence[Scores], view: View, statistics: Statistics | None, audits: Audits) -> list[str | Grid]:
    """The tables of a page, and the sentences that go with them."""
    from rankgauge.render.text import groups as slices
    from rankgauge.render.text.statistics import grids

    parts: list[str | Grid] = [render.grid(scores, bands=audits.bands).for_page()]
    parts += [render.query_grid(run) for run in scores] if view.per_query else []
    parts += [slices.intervals_grid(scores)] if view.intervals else []
    parts += grids(scores, statistics) if statistics is not None else []
    return [*parts, *slices.grids(scores, view.by), averaged_line(scores), conventions_line(scores)]


def _texts(scores: Sequence[Scores], view: View, statistics: Statistics | None, audits: Audits) -> list[str]:
    """The tables of a terminal; modules that a plain evaluation does not need are not imported."""
    bold = colour()
    texts = [render.as_table(scores, per_query=view.per_query, colour=bold, width=width(), bands=audits.bands)]
    if view.intervals or view.by:
        from rankgauge.render.text import groups as slices

        texts += [slices.intervals_table(scores, colour=bold)] if view.intervals else []
    if statistics is not None:
        from rankgauge.render.text.statistics import as_text

        texts += [text] if (text := as_text(scores, statistics, colour=bold)) else []
    texts += [slices.as_table(scores, view.by, colour=bold)] if view.by else []
    return [*texts, *audits.texts(colour=bold), f"{averaged_line(scores)}\n{conventions_line(scores)}"]


def averaged_line(scores: Sequence[Scores]) -> str:
    """Over how many queries the means are."""
    total = len(scores[0])
    counts = [int(run.averaged.sum()) for run in scores]
    if len(set(counts)) == 1:
        return f"averaged over {counts[0]} of {total} queries"
    listed = ", ".join(f"{full(run.run)}: {count}" for run, count in zip(scores, counts, strict=True))
    return f"averaged over, of {total} queries, {listed}"


def conventions_line(scores: Sequence[Scores]) -> str:
    """What was done where tools disagree."""
    return f"conventions: {scores[0].conventions}"
