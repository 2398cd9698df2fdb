"""``rankgauge labels estimate``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.declared import option
from rankgauge.cli.options.reading import check_one_stdin, reading_options_and_set
from rankgauge.cli.options.settings import CONFIDENCE, CONVENTION_OPTIONS, measure_option, settings_options
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import (
    PAGE_FORMATS,
    ROW_FORMATS,
    View,
    format_option,
    view_options,
)
from rankgauge.config.settings import Settings
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError
from rankgauge.io.options import Reading
from rankgauge.io.read import as_run
from rankgauge.labels.estimates import estimate_with_machine_labels
from rankgauge.labels.reading import read_judgments
from rankgauge.labels.sampled_means import estimate_from_sample
from rankgauge.measures.sets import DEFAULT_MEASURES
from rankgauge.render.documents.labels import estimates_document, sampled_document


@documented(
    "estimate",
    """
    # Estimate from a sample by people and labels by a program
    rankgauge labels estimate sample.qrels my.run --machine qrels.txt
    # Estimate from judgments of a random pool
    rankgauge labels estimate judgments.jsonl my.run
    """,
)
@click.argument("human", type=click.Path(), metavar="LABELS")
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN [RUN …]")
@option(
    "--machine",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read machine labels for all queries; LABELS then judge a random sample of at least 20 queries.",
)
@settings_options(
    measure_option(f"Estimate a measure; repeatable.  [default: {', '.join(DEFAULT_MEASURES)}]"),
    *CONVENTION_OPTIONS,
    CONFIDENCE,
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def command(
    human: str, runs: tuple[str, ...], machine: str | None, settings: Settings, view: View, reading: Reading
) -> None:
    """Estimate measures from few human labels, with machine labels or a sampled pool.

    With --machine: prediction-powered intervals. The machine's labels make the estimate more precise, and its errors do
    not bias it. Without: average precision, precision and the number of relevant documents from the random sample that
    `rankgauge pool --strategy stratified` or uniform drew; judgments without probabilities are refused.
    """
    check_one_stdin(human, *runs, *([machine] if machine else []))
    with collected_notes() as notes:
        if machine is None:
            _show_sample(human, runs, settings, view, reading)
            return
        estimates = estimate_with_machine_labels(
            human,
            machine,
            runs,
            settings.measures,
            conventions=settings.conventions,
            confidence=settings.statistics.confidence,
            reading=reading,
        )
    write_document(estimates_document(estimates, notes), view.format)
    print_warnings([*estimates.notes, *notes])


def _show_sample(human: str, runs: tuple[str, ...], settings: Settings, view: View, reading: Reading) -> None:
    """Print the estimates from a sampled pool."""
    if settings.measures is not None:
        raise UsageError(
            "-m chooses measures for --machine: a sampled pool estimates AP, P@10 and the relevant documents"
        )
    rows = estimate_from_sample(
        read_judgments(human),
        [as_run(run, reading) for run in runs],
        rel=settings.conventions.rel,
        confidence=settings.statistics.confidence,
    )
    write_document(sampled_document(rows), view.format)
