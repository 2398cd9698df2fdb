"""``rankgauge compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import CONFIG_OPTIONS, declared_options
from rankgauge.cli.options.evaluation_settings import (
    BY,
    COLUMNS,
    CONVENTION_OPTIONS,
    KPI,
    measure_option,
    settings_options,
    statistics_options,
)
from rankgauge.cli.options.inputs import (
    NO_CODE,
    LabelSources,
    asking_with_k,
    check_baseline_file,
    check_one_stdin,
    chosen_baseline,
    is_history,
    label_options,
    matching_options,
)
from rankgauge.cli.options.outputs import (
    PAGE_FORMATS,
    ROW_FORMATS,
    OutputRequest,
    View,
    format_option,
    output_options,
    view_options,
)
from rankgauge.cli.printing import collected_notes, print_run_warnings, print_warnings, write_document
from rankgauge.comparison.compare import check_enough, compare_evaluation, evaluate_systems
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.config.settings import Settings
from rankgauge.errors import Note, UsageError
from rankgauge.evaluation.evaluate import DEFAULT_DEPTH, evaluate_opened, needed_depth
from rankgauge.evaluation.given_scores import evaluate_scores
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.results import Opening
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.comparison import Extent, comparison_document


@documented(
    "compare",
    """
    # Compare two runs
    rankgauge compare qrels.txt old.run my.run
    # Compare two logs, which have labels and results
    rankgauge compare monday.jsonl today.jsonl
    # Compare by groups of queries, and write an HTML report
    rankgauge compare qrels.txt old.run my.run --queries queries.jsonl \\
      --by category --html report.html
    """,
)
@click.argument("qrels", type=click.Path(allow_dash=True), metavar="LABELS")
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, metavar="RESULTS …")
@settings_options(
    measure_option(f"Compare on a measure, in any notation; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    *declared_options(
        Settings,
        "baseline",
        help="Compare with RUN: the name or the file of a run.  "
        "[default: differences from the first, and p over all pairs of systems]",
    ),
    *statistics_options("rope", "target_difference"),
    BY,
    *declared_options(Settings, "changes"),
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    KPI,
    COLUMNS,
)
@label_options
@view_options(
    *declared_options(View, "explain"),
    *declared_options(View, "per_query", help="Also show the value of each query: json, csv and jsonl."),
    *declared_options(View, "sort"),
    format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS),
    *declared_options(View, "plot"),
)
@output_options
@matching_options("match")
@asking_with_k
@NO_CODE
def compare_command(
    qrels: str,
    runs: tuple[str, ...],
    sources: LabelSources,
    settings: Settings,
    reading: Reading,
    view: View,
    output: OutputRequest,
    asking: Asking,
) -> None:
    """Show which run is better, with what confidence, and which queries changed.

    Systems are compared over the same queries: two with each other, three or more in all pairs, or each with
    --baseline if it is given. Labels and results are those of
    `rankgauge evaluate`. A log holds both: with several, the labels of the last one apply to all.
    """
    sources.check(needs_join=output.page.path is not None)
    view.check()
    if view.per_query and view.format not in ("json", *ROW_FORMATS):
        raise UsageError(f"--format {view.format} has no per-query values", hint="use --format json, csv or jsonl")
    named = sources.split(qrels, runs)
    check_one_stdin(*named.files)
    named.check_asking(also=("k",))
    output.check(*named.kept, reads_history=any(map(is_history, runs)))
    results = named.results
    baseline = chosen_baseline(settings.baseline, results)
    with collected_notes() as notes:
        measures = settings.measures
        reading = output.reading(replace(sources.reading(reading), fingerprint=True))
        conventions = settings.conventions
        given = named.scores(reading)
        if given is not None:
            check_enough(len(given), 2)
            evaluation = evaluate_scores(given, measures, conventions, queries=sources.queries)
        elif named.are_plain(reading):
            evaluation = evaluate_systems(
                named.labels,
                results,
                measures,
                conventions=conventions,
                reading=reading,
                queries=sources.queries,
                fewest=2,
            )
        else:
            depth = needed_depth(conventions.measures(measures))
            text_depth, history = depth if measures else DEFAULT_DEPTH, output.saving.folder
            opening = Opening(depth, text_depth, asking=asking, history=history)
            opened = named.open(reading, opening, shows_corpus=output.page.path is not None)
            if len(opened.results) > len(results):
                results = (str(named.labels), *results)
                baseline = chosen_baseline(settings.baseline, results)
            found = len(opened.results)  # a log can hold several systems, and so can a table
            check_enough(found + (found == 1 and isinstance(opened.results[0], str)), 2)
            notes += opened.notes
            evaluation = evaluate_opened(opened, measures, conventions=conventions, reading=reading)
            check_enough(len(evaluation.scores), 2)
        check_baseline_file(settings.baseline, results, evaluation)
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
