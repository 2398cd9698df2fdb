"""``rankgauge agreement``."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import CONFIG_OPTIONS, declared_options, option_group
from rankgauge.cli.options.evaluation_settings import CONVENTION_OPTIONS, measure_option, settings_options
from rankgauge.cli.options.inputs import (
    NO_CODE,
    LabelSources,
    NamedInputs,
    asking_with_k,
    check_one_stdin,
    named_files,
    reading_options,
)
from rankgauge.cli.options.outputs import PAGE_FORMATS, ROW_FORMATS, View, format_option, view_options
from rankgauge.cli.printing import collected_notes, print_warnings, write_document
from rankgauge.comparison.order_agreement import qrels_agreement
from rankgauge.config.settings import Settings
from rankgauge.evaluation.caveats import merge_notes
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.results import Opening
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.ranking_agreement import agreement_document


@documented(
    "agreement",
    """
    # See whether a second assessor's judgments order the runs differently
    rankgauge agreement qrels.txt other-qrels.txt old.run my.run
    # Order by one measure, as CSV
    rankgauge agreement qrels.txt other-qrels.txt old.run my.run -m AP \\
      --format csv
    """,
)
@click.argument("first", type=click.Path(allow_dash=True), metavar="LABELS1")
@click.argument("second", type=click.Path(allow_dash=True), metavar="LABELS2")
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RESULTS …")
@settings_options(
    measure_option(f"Order by a measure, in any notation; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    refused={"by": "agreement has no groups of queries: keep its settings in another file"},
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@option_group("sources", LabelSources, *declared_options(LabelSources, "queries"))
@reading_options
@asking_with_k
@NO_CODE
def agreement_command(
    first: str,
    second: str,
    runs: tuple[str, ...],
    settings: Settings,
    reading: Reading,
    view: View,
    sources: LabelSources,
    asking: Asking,
) -> None:
    """Show whether two sets of labels rank systems in the same order.

    For each measure: Kendall's tau, tau-ap with LABELS1 as the truth, and the pairs of systems that swap. Each set of
    labels averages over its own queries. Labels are ids, and RESULTS are those of `rankgauge evaluate`; a live
    retriever is asked the queries of LABELS1.
    """
    named = NamedInputs(first, runs, sources)
    check_one_stdin(*named.files, *named_files(second))
    named.check_asking(also=("k",))
    with collected_notes() as notes:
        agreement = qrels_agreement(
            first,
            second,
            runs,
            settings.measures,
            conventions=settings.conventions,
            reading=reading,
            queries=sources.queries,
            opening=Opening(0, asking=asking),
        )
    write_document(agreement_document(agreement, notes), view.format)
    print_warnings(notes)
    for label, scores in zip(agreement.qrels, agreement.scores, strict=True):
        for note, names in merge_notes([(run.run, run.notes) for run in scores]):
            print_warnings([note], about=", ".join([label, *names]))
