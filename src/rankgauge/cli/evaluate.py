"""``rankgauge evaluate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.audits import NONE, Asked, Audits, audit_options
from rankgauge.cli.live_options import Live, live_options
from rankgauge.cli.options import (
    collected_notes,
    colour,
    convention_options,
    limits_of,
    reading_options,
    say,
    say_of_runs,
    width,
    write,
)
from rankgauge.cli.progress import bar
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.errors import UsageError
from rankgauge.evaluation import Conventions, NoRelevant, Queries, Scores, asked_measures, joined_scores
from rankgauge.notes import Note
from rankgauge.render import scores as render

if TYPE_CHECKING:
    from rankgauge.config.statistics import Statistics
    from rankgauge.kpi.bands import Bands


@click.command("evaluate")
@click.argument("qrels", type=click.Path(allow_dash=True), required=False)
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="[RUN …]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="A measure or a set of them, in any notation: nDCG@10, map, P.5,10, 'AP(rel=2)@100', rag@5, all_trec.",
)
@click.option("-q", "--per-query", is_flag=True, help="The value for each query too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "trec"]),
    default="table",
    show_default=True,
    help="json and csv hold full precision.",
)
@click.option(
    "-l",
    "--level",
    type=click.FloatRange(min=0),
    metavar="GRADE",
    help="The grade from which a document is relevant, for measures that do not say their own.  [default: 1]",
)
@convention_options
@click.option(
    "--config",
    type=click.Path(),
    metavar="FILE",
    help="Measures, conventions and statistics from a rankgauge.yaml; an option given here wins.",
)
@click.option("--ci", "intervals", is_flag=True, help="The 95 % interval of each mean.")
@click.option("--by", multiple=True, metavar="COLUMN", help="Each group of queries too: category, difficulty, …")
@click.option("--topics", type=click.Path(), metavar="FILE", help="The queries' columns: JSON Lines, CSV, …")
@audit_options
@reading_options
@live_options
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    form: str,
    level: float | None,
    queries: Queries,
    no_relevant: NoRelevant,
    on_duplicate: OnDuplicate,
    compat: Compat,
    config: str | None,
    intervals: bool,
    by: tuple[str, ...],
    topics: str | None,
    qrels_format: str | None,
    run_format: str | None,
    max_bytes: int | None,
    max_line: int | None,
    live: Live | None,
    audits: Asked,
) -> int | None:
    """Score runs against judgments.

    QRELS holds judgments, each RUN results, in any format that `rankgauge convert --help` lists: told by their content,
    compressed or not, "-" for standard input. A log (JSON Lines with what was retrieved and what was wanted for each
    question) needs no second file.
    """
    if live is not None:
        return live.run([qrels, *runs], measures, form)
    if qrels is None:
        raise UsageError("name the judgments and a run, or a --retriever and its --cases")
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input can be only one of the files")
    limits = limits_of(max_bytes, max_line)
    audits.check(form, config=config)
    bands = audits.bands()
    if config is not None:
        reading = {"qrels_format": qrels_format, "run_format": run_format, "limits": limits, "topics": topics}
        by_config(config, qrels, runs, reading, form=form, per_query=per_query, by=by, intervals=intervals, bands=bands)
        return None
    with collected_notes() as notes, bar("reading") as progress:
        judged, given = sides(qrels, runs, on_duplicate=on_duplicate)
        conventions = Conventions(compat, queries, no_relevant)
        judged, joined, scores, _ = joined_scores(
            judged,
            given,
            asked_measures(measures or None, conventions, level),
            conventions,
            on_duplicate=on_duplicate,
            fingerprint=form == "json",
            qrels_format=qrels_format,
            run_format=run_format,
            limits=limits,
            topics=topics,
            progress=progress,
        )
    found = audits.of(judged, joined, scores, bands)
    show(scores, notes, form=form, per_query=per_query, by=by, intervals=intervals, audits=found)
    return None


GIVEN = ("measures", "level", "queries", "no_relevant", "on_duplicate", "compat")


def by_config(
    config: str,
    qrels: str,
    runs: tuple[str, ...],
    reading: dict[str, Any],
    *,
    form: str,
    per_query: bool,
    by: tuple[str, ...],
    intervals: bool,
    bands: Bands | None,
) -> None:
    """Evaluate as a configuration says, except for what was given on the command line."""
    from click.core import ParameterSource

    from rankgauge.config.apply import load_plan
    from rankgauge.config.statistics import statistics_of

    context = click.get_current_context()
    own = [name for name in GIVEN if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    plan = load_plan(config).but(**{name: context.params[name] for name in own}, confidence_intervals=intervals or None)
    with collected_notes() as notes, bar("reading") as progress:
        judged, given = sides(qrels, runs, on_duplicate=plan.on_duplicate)
        scores = plan.evaluate(judged, given, fingerprint=form == "json", progress=progress, **reading)
    statistics = statistics_of(scores, plan)
    show(scores, notes, form=form, per_query=per_query, by=by, statistics=statistics, audits=Audits(bands=bands))


def sides(qrels: str, runs: tuple[str, ...], *, on_duplicate: OnDuplicate) -> tuple[Any, list[Any]]:
    """Judgments and runs; where only one file is named, it must be a log that has both."""
    if runs:
        return qrels, list(runs)
    from rankgauge.io.reading import looks_like_log, read_log

    if not looks_like_log(qrels):
        raise UsageError(
            f"{qrels}: one file is enough only if it is a log that has both sides",
            hint="name a run behind the judgments, or see `rankgauge evaluate --help`",
        )
    judged, run = read_log(qrels, on_duplicate=on_duplicate)
    return judged, [run]


def show(
    scores: list[Scores],
    notes: list[Note],
    *,
    form: str,
    per_query: bool,
    by: tuple[str, ...] = (),
    intervals: bool = False,
    statistics: Statistics | None = None,
    audits: Audits = NONE,
) -> None:
    """Print scores on standard output and what must be known of them on standard error."""
    if by or intervals:
        from rankgauge.render import slices
    if form in ("csv", "trec") and (by or intervals):
        raise UsageError(f"--format {form} has no groups and no intervals", hint="use --format json or table")
    match form:
        case "json":
            data = render.as_dict(scores, per_query=per_query, notes=notes)
            for entry, run in zip(data["runs"], scores, strict=True):
                if by:
                    entry["by"] = slices.as_dicts(run, by)
                if intervals:
                    for measure, found in entry["measures"].items():
                        found["ci"] = slices.ci(run.interval(measure))
            if statistics is not None:
                data["statistics"] = statistics.to_dict()
            write(render.dumped(audits.added(data, scores, per_query=per_query)))
        case "csv":
            write(render.as_csv(scores, per_query=per_query))
        case "trec":
            write(render.as_trec(scores, per_query=per_query))
        case _:
            plain = render.as_table(scores, per_query=per_query, colour=colour(), width=width(), bands=audits.bands)
            write(plain + "\n")
            if intervals:
                write("\n" + slices.intervals_table(scores, colour=colour()) + "\n")
            if statistics is not None:
                from rankgauge.render.statistics import as_text

                if text := as_text(scores, statistics, colour=colour()):
                    write("\n" + text + "\n")
            if by:
                write("\n" + slices.as_table(scores, by, colour=colour()) + "\n")
            for text in audits.texts(colour=colour()):
                write("\n" + text + "\n")
            write("\n" + averaged_line(scores) + f"\nconventions: {scores[0].conventions}\n")
    say(notes)
    say_of_runs(scores)


def averaged_line(scores: list[Scores]) -> str:
    """Over how many queries the means are."""
    total = len(scores[0])
    counts = [int(run.averaged.sum()) for run in scores]
    if len(set(counts)) == 1:
        return f"averaged over {counts[0]} of {total} queries"
    listed = ", ".join(f"{run.run}: {count}" for run, count in zip(scores, counts, strict=True))
    return f"averaged over, of {total} queries, {listed}"
