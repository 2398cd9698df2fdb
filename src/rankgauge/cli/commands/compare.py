"""``rankgauge compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import CONFIG_OPTIONS, option
from rankgauge.cli.options.gold import LabelSources, gold_options
from rankgauge.cli.options.html import OutputRequest, output_options
from rankgauge.cli.options.reading import check_one_stdin, reading_options
from rankgauge.cli.options.settings import (
    BY,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
    statistics_options,
)
from rankgauge.cli.options.terminal import collected_notes, print_run_warnings, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    PLOT,
    ROW_FORMATS,
    SORT,
    View,
    check_baseline_file,
    chosen_baseline,
    format_option,
    view_options,
)
from rankgauge.comparison.compare import LARGEST_CHANGES, check_enough, compare_evaluation, evaluate_systems
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.result import Comparison
from rankgauge.config.settings import Settings
from rankgauge.core.settings import Section
from rankgauge.errors import Note, UsageError
from rankgauge.io.options import Reading
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.render.documents.comparison import Extent, comparison_document


@documented(
    "compare",
    """
    # Compare two runs
    rankgauge compare qrels.txt old.run my.run
    # Compare by groups of queries, and write an HTML report
    rankgauge compare qrels.txt old.run my.run --queries queries.jsonl \\
      --by category --html report.html
    # Compare one measure, with all changed queries as CSV
    rankgauge compare qrels.txt old.run my.run -m nDCG@10 -q --format csv
    """,
)
@click.argument("qrels", type=click.Path(allow_dash=True))
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="RUN …")
@settings_options(
    measure_option(f"Compare on a measure, in any notation; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    option(
        "--baseline",
        section=Section.STATISTICS,
        metavar="RUN",
        help="Compare with RUN: the name or the file of a run, or what `gate --write-baseline` stored.  "
        "[default: the first]",
    ),
    *statistics_options("rope", "target_difference"),
    BY,
    option(
        "--changes",
        section=Section.OUTPUT,
        type=click.IntRange(0),
        default=LARGEST_CHANGES,
        show_default=True,
        metavar="N",
        help="Show the N largest changes of queries, each way.",
    ),
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    KPI,
)
@gold_options
@view_options(
    option(
        "--explain",
        section=Section.OUTPUT,
        is_flag=True,
        help="List every document behind the largest changes, with its share.",
    ),
    option(
        "-q",
        "--per-query",
        section=Section.OUTPUT,
        is_flag=True,
        help="Also show the value of each query: json, csv and jsonl.",
    ),
    SORT,
    format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS),
    PLOT,
)
@output_options
@reading_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    sources: LabelSources,
    settings: Settings,
    reading: Reading,
    view: View,
    output: OutputRequest,
) -> None:
    """Show which run is better, with what confidence, and which queries changed.

    All runs are compared with the first, or with --baseline, over the same queries. With --gold, every file is a RUN.
    """
    sources.check(needs_join=output.page.path is not None)
    view.check()
    if view.per_query and view.format not in ("json", *ROW_FORMATS):
        raise UsageError(f"--format {view.format} has no per-query values", hint="use --format json, csv or jsonl")
    check_one_stdin(qrels, *runs)
    output.check(qrels, *runs, *sources.files)
    runs = runs if sources.gold is None else (qrels, *runs)
    if not runs:
        raise UsageError("name the judgments and the runs to compare")
    baseline = chosen_baseline(settings.baseline, runs)
    stored_measures = baseline.measures if isinstance(baseline, Baseline) else None
    with collected_notes() as notes:
        measures = settings.measures or stored_measures
        reading = output.reading(replace(reading, fingerprint=True))
        fewest = 1 if isinstance(baseline, Baseline) else 2
        if sources.gold is not None:
            check_enough(len(runs), fewest)
            evaluation = sources.evaluate(runs, replace(settings, measures=measures), reading)
        else:
            evaluation = evaluate_systems(
                qrels,
                runs,
                measures,
                conventions=settings.conventions,
                reading=reading,
                queries=sources.queries,
                fewest=fewest,
            )
            check_baseline_file(settings.baseline, runs, evaluation)
        comparison = compare_evaluation(
            evaluation, baseline, statistics=settings.statistics, by=settings.by or (), changes=settings.changes
        )
    show(comparison, notes, settings, view)
    print_warnings([*notes, *comparison.notes])
    print_run_warnings(comparison.scores)
    output.saving.write(evaluation)
    output.page.write(evaluation, settings, comparison=comparison, input_notes=notes)


def show(comparison: Comparison, notes: Sequence[Note], settings: Settings, view: View) -> None:
    """Print a comparison on standard output; JSON has the systems as given, everything else sorted."""
    extent = Extent(per_query=view.per_query, explain=view.explain, plot=view.plot, sort=view.sort)
    write_document(comparison_document(comparison, extent, notes=notes, bands=settings.bands), view.format)
