"""``rankgauge labels``: agree, estimate and resolve."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group, out_option
from rankgauge.cli.options.evaluation_settings import (
    BY,
    CONFIDENCE,
    CONVENTION_OPTIONS,
    measure_option,
    settings_options,
)
from rankgauge.cli.options.inputs import DOCUMENTS, QUERIES, check_one_stdin, reading_options_and_set
from rankgauge.cli.options.outputs import PAGE_FORMATS, ROW_FORMATS, View, format_option, view_options
from rankgauge.cli.printing import collected_notes, print_message, print_warnings, write_document
from rankgauge.config.settings import Settings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import Note, UsageError, printable
from rankgauge.io.atomic_files import check_writable, write_atomically
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.formats.judgment_lines import read_judgments
from rankgauge.io.formats.trec import write_trec_rows
from rankgauge.io.queries import read_queries
from rankgauge.io.read import as_run
from rankgauge.io.reading_options import Reading
from rankgauge.labels.assessors import rater_agreement, ratings_of, read_raters
from rankgauge.labels.estimates import estimate_from_sample, estimate_with_machine_labels
from rankgauge.labels.gold.gold_evaluation import GoldInputs, match_notes, with_query_ids
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.labels.gold.resolved_labels import ResolvedLabels, resolve_labels
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.labels import estimates_document, raters_document, sampled_document

MATCHING_FLAGS = {"coverage": "--coverage SHARE", "tolerance": "--tolerance SHARE"}


@documented(
    "agree",
    """
    # Compare two files of judgments
    rankgauge labels agree judgments.jsonl qrels.txt
    # Compare them within groups of queries
    rankgauge labels agree judgments.jsonl qrels.txt --queries queries.jsonl \\
      --by category
    """,
)
@click.argument("files", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="LABELS [LABELS]")
@option(
    "--assessor",
    "assessors",
    section=Section.INPUT,
    multiple=True,
    metavar="NAME",
    help="Compare these assessors of one file; repeatable.  [default: all]",
)
@QUERIES
@settings_options(
    CONFIDENCE,
    BY,
)
@view_options(format_option("table", "json", *ROW_FORMATS, *PAGE_FORMATS))
@reading_options_and_set
def labels_agree_command(
    files: tuple[str, ...],
    assessors: tuple[str, ...],
    queries: str | None,
    settings: Settings,
    view: View,
    reading: Reading,
) -> None:
    """Show how closely assessors agree.

    LABELS are two files of judgments, of a person and a program for example, or one file that several assessors share.
    Cohen's kappa, unweighted and weighted, Krippendorff's alpha (ordinal) and the confusion table; intervals resample
    queries. `rankgauge agreement` shows whether two sets of judgments rank runs in the same order.
    """
    if len(files) > 2:
        raise UsageError(
            f"expected one or two files of judgments, found {len(files)}",
            hint="`rankgauge agreement QRELS1 QRELS2 RUN…` takes runs",
        )
    check_one_stdin(*files)
    with collected_notes() as notes:
        raters = read_raters(files, assessors, reading)
        columns = {} if queries is None else read_queries(queries).columns
        agreements = rater_agreement(
            ratings_of(raters), columns=columns, by=settings.by or (), confidence=settings.statistics.confidence
        )
    write_document(raters_document(agreements, notes), view.format)
    print_warnings(notes)


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
def labels_estimate_command(
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
        rel=settings.conventions.grade,
        confidence=settings.statistics.confidence,
    )
    write_document(sampled_document(rows), view.format)


@documented(
    "resolve",
    """
    # Turn quotes into judgments of chunks
    rankgauge labels resolve gold.jsonl --chunks chunks.jsonl -o chunks.qrels
    # Write one grade per chunk
    rankgauge labels resolve gold.jsonl --chunks chunks.jsonl -o chunks.qrels \\
      --plain
    """,
)
@click.argument("labels", type=click.Path(), metavar="LABELS")
@option(
    "--chunks",
    section=Section.GOLD,
    required=True,
    type=click.Path(),
    metavar="PATH",
    help="Read the texts of the chunks.",
)
@out_option("Write the judgments to FILE.")
@option(
    "--plain",
    section=Section.OUTPUT,
    rare=True,
    is_flag=True,
    help="Write one grade per chunk instead of subtopics, for tools that read nothing else.",
)
@DOCUMENTS
@QUERIES
@option_group("options", GoldOptions, *declared_options(GoldOptions, flags=MATCHING_FLAGS))
def labels_resolve_command(
    labels: str, chunks: str, out: str, plain: bool, documents: str | None, queries: str | None, options: GoldOptions
) -> None:
    """Write labels by text as qrels for one chunking.

    LABELS has quotes or spans: one JSON object per query. Each is a subtopic of its query, and FILE has a line for
    each chunk that contains enough of it (--coverage): query, subtopic, chunk, 1. Every quote that is in no chunk is
    listed, with the text most like it, and has a line with an id that no chunk has: it counts as not found.
    """
    corpus = read_corpus(chunks)
    check_writable(out, inputs=[labels, *corpus.files])
    with collected_notes() as notes:
        gold = with_query_ids(GoldInputs(labels, documents=documents).labels(Reading()), queries, Reading())
        resolved = resolve_labels(gold, corpus, options)
    rows = resolved.plain_rows() if plain else resolved.subtopic_rows()
    with write_atomically(out, inputs=[labels, *corpus.files]) as file:
        write_trec_rows(rows, "qrels", file)
    print_warnings([*notes, *gold.notes, *_notes(resolved, plain=plain)])
    missing = len(resolved.matches.missing)
    counts = f"{plural(len(rows) - missing, 'judgment')} of {len(gold.passages) - missing:,}"
    counts += f" of {plural(len(gold.passages), 'quote')}"
    stay = f"; {missing:,} in no chunk, written as labels that nothing matches" if missing else ""
    print_message(f"wrote {counts} to {printable(out, None)}{stay}")


def _notes(resolved: ResolvedLabels, *, plain: bool) -> list[Note]:
    notes = [*resolved.missing_notes(), *match_notes(resolved.labels, resolved.matches, is_complete=False)]
    if resolved.split:
        first = resolved.labels.passages[resolved.split[0]]
        notes.append(
            Note(
                "gold-split",
                f"{plural(len(resolved.split), 'quote')} split over chunks, none of which has enough of it: the one "
                f"with most counts ({first.place}, for example); `rankgauge evaluate` counts chunks together",
            )
        )
    if plain:
        notes.append(
            Note(
                "plain-qrels",
                "chunks that overlap are several relevant documents now: a ranking that has the same quote twice gets "
                "credit twice; leave out --plain for subtopics",
            )
        )
    return notes
