"""``rankgauge gate``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import (
    CONFIG_OPTIONS,
    declared_options,
    is_given,
    key_option,
    option,
    option_group,
)
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
    NamedInputs,
    asking_with_out,
    check_one_stdin,
    is_history,
    label_options,
    matching_options,
    named_files,
    saved_results,
)
from rankgauge.cli.options.live_output import check_run_output, write_live_runs
from rankgauge.cli.options.outputs import HTML, SAVE_NAMES, SAVE_OPTIONS, PageRequest, SaveRequest, format_option
from rankgauge.cli.printing import collected_notes, print_message, print_run_warnings, print_warnings, write_document
from rankgauge.comparison.gate.changed_queries import text_column
from rankgauge.comparison.gate.gate import check_one_system, gate, gated_depth
from rankgauge.comparison.gate.gate_result import GateResult
from rankgauge.comparison.gate.requirements import (
    LEAK,
    NO_LEAKS,
    SHOWN_CHANGES,
    GateRule,
    ScoredElsewhere,
    Undecided,
    parse_demands,
)
from rankgauge.config.settings import OutputSettings, Settings
from rankgauge.core.dataclass import dataclass
from rankgauge.core.run import Run
from rankgauge.core.settings import Section, setting, setting_of
from rankgauge.errors import UsageError
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.evaluate import DEFAULT_DEPTH
from rankgauge.io.atomic_files import check_outputs, write_atomically
from rankgauge.io.byte_streams import load_file
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.input_kinds import is_live
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.results import Opening
from rankgauge.io.sources import is_plain
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.gate import gate_document, guard_codes

GITHUB_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class ShownQueries:
    """How much of the queries behind a verdict is shown."""

    changes: int = setting_of(
        OutputSettings, "changes", default=SHOWN_CHANGES, help="List this many queries behind each check."
    )
    texts: bool | None = setting_of(OutputSettings, "texts")

    def of(self, result: GateResult, corpus: str | None) -> GateResult:
        """The result with what may be shown of it; raises if queries are named by their texts and none may be shown."""
        result = replace(result, changes=self.changes)
        if self.texts is None:
            return result
        if self.texts:
            return replace(result, document_texts=document_texts(result, corpus))
        if any(query == text for query, text in text_column(result.evaluation.qrels).items()):
            raise UsageError(
                "output.texts=false: these queries have no ids, so their texts name them everywhere",
                hint="add ids to the labels",
            )
        evaluation = replace(result.evaluation, texts={})
        return replace(result, evaluation=evaluation, hides_texts=True)


@dataclass(frozen=True)
class GateOutput:
    """Where a gate prints its verdict, and what it writes."""

    format: str
    summary: str | None
    corpus: str | None
    path: str | None  # of the HTML report
    shown: ShownQueries
    saving: SaveRequest

    @property
    def page(self) -> PageRequest:
        """The HTML report; the corpus serves the gate as well."""
        return PageRequest(self.path, self.corpus if self.path is not None and self.shown.texts is not False else None)


def make_output(**values: Any) -> GateOutput:
    """Build a ``GateOutput`` from the values of its options."""
    saving = SaveRequest(**{name: values.pop(name) for name in SAVE_NAMES})
    shown = ShownQueries(values.pop("changes"), values.pop("texts"))
    return GateOutput(**values, shown=shown, saving=saving)


@dataclass(frozen=True)
class GateRequest:
    """What is required of the run."""

    require: tuple[str, ...] = setting(
        (),
        "Require a mean to reach a value: 'nDCG@10>=0.35', 'RR>0.6', also <= and <; repeatable.",
        Section.GATE,
        flag="--require 'M>=X'",
        common=True,
    )
    no_leaks: bool = setting(
        False,
        "Fail if a forbidden document is returned.",
        Section.GATE,
        common=True,
    )
    require_each: tuple[str, ...] = setting(
        (),
        "Require every query to reach a value: 'Success@5>=1'; repeatable.",
        Section.GATE,
        flag="--require-each 'M>=X'",
        common=True,
    )
    allow: str | None = setting(
        None,
        "Allow the misses in FILE, one per line with a reason: q07 # not indexed yet.",
        Section.GATE,
        kind="path",
        flag="gate.allow",
    )
    baseline: tuple[str, ...] = setting(
        (),
        "Compare with other results: a log, a run, scores, or history:main; repeatable for repeats of one system.",
        Section.GATE,
        flag="--baseline FILE",
        kind="paths",
        common=True,
    )
    margin: float = setting_of(GateRule, "margin")
    two_sided: bool = setting_of(GateRule, "two_sided")
    undecided: Undecided = setting_of(GateRule, "undecided")
    scored_elsewhere: ScoredElsewhere = setting_of(GateRule, "scored_elsewhere")
    requirements: Mapping[str, Sequence[str]] | None = None  # of groups, by their labels: only in a file

    def rule(self, settings: Settings, max_failures: int | None) -> GateRule:
        """When it fails."""
        return GateRule(
            self.margin,
            settings.statistics,
            self.two_sided,
            self.undecided,
            self.scored_elsewhere,
            max_failures,
            by=settings.by or (),
            requirements=self.requirements,
            allow=self.allow,
        )

    @property
    def of_run(self) -> tuple[str, ...]:
        """What is required of all queries together, with ``no_leaks`` as a requirement like any other."""
        return (*self.require, *((NO_LEAKS,) if self.no_leaks else ()))


@documented(
    "gate",
    """
    # Every query of a golden file must find a relevant document
    rankgauge gate golden.jsonl ./search.py:search --require-each 'Success@5>=1'
    # Test a log, which has labels and results, and compare it with another
    rankgauge gate today.jsonl --require 'R@5 >= 0.8' --baseline monday.jsonl
    # Ask a search, and keep its log: the next baseline
    rankgauge gate golden.jsonl ./search.py:search --baseline baseline.jsonl \\
      -o today.jsonl
    """,
    sections=("gate",),
)
@click.argument("qrels", type=click.Path(allow_dash=True), metavar="LABELS")
@click.argument("run", type=click.Path(allow_dash=True), required=False, metavar="[RESULTS]")
@settings_options(
    *declared_options(GateRequest, "require", "no_leaks", "require_each", "allow", "baseline"),
    BY,
    measure_option(f"Gate a measure; repeatable.  [default: the required ones, else {', '.join(DEFAULT_MEASURES)}]"),
    *declared_options(GateRequest, "margin", "undecided", "two_sided", "scored_elsewhere"),
    *statistics_options(),
    *CONVENTION_OPTIONS,
    *CONFIG_OPTIONS,
    KPI,
    COLUMNS,
    section="gate",
    request=GateRequest,
    refused={
        "rope": "a gate has a margin: gate.margin",
        "baseline": "name the results to compare with as gate.baseline, and keep the gate's settings in another file",
    },
)
@option_group(
    "output",
    make_output,
    key_option("corpus", "gate.corpus=FILE", "Read the documents, to tell lost documents from renamed ones."),
    format_option("table", "json", "junit", "markdown"),
    option(
        "--summary",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Also write Markdown to FILE.",
    ),
    *declared_options(ShownQueries),
    HTML,
    *SAVE_OPTIONS,
)
@label_options
@matching_options()
@asking_with_out
@NO_CODE
def gate_command(
    qrels: str,
    run: str | None,
    sources: LabelSources,
    request: GateRequest,
    settings: Settings,
    reading: Reading,
    output: GateOutput,
    asking: Asking,
) -> int:
    """Fail if retrieval got worse, for CI.

    A required value that is missed fails; so does a significant drop from a baseline (paired over queries, one-sided,
    corrected over all measures and groups) of at least the margin. Exit codes: 0 passed or undecided, 1 failed, 2
    cannot be decided. The labels of a log apply to the baseline, too.
    """
    sources.check()
    saving = output.saving
    named = sources.split(qrels, () if run is None else (run,))
    if len(named.results) > 1:
        raise UsageError("a gate tests one run, found two", hint="with --labels, name only the results")
    saving.check(reads_history=any(map(is_history, (run, qrels, *request.baseline))))
    baselines = [*map(saved_results, request.baseline)]
    inputs = [*named.files, *named_files(*baselines, output.corpus, request.allow)]
    check_one_stdin(*inputs)
    _check_asking(named, baselines)
    kept = [*named.kept, *inputs]
    output.page.check(*kept)
    check_outputs((output.summary, output.path, asking.out), inputs=kept)
    journals = check_run_output(asking, named)
    if is_given("measures") and not baselines:
        raise UsageError(
            "-m names measures to compare with a baseline", hint="name a baseline with --baseline, or leave out -m"
        )
    reading = replace(output.page.reading(sources.reading(reading)), keep_rankings=saving.save_run)
    with collected_notes() as input_notes:
        judged, settings = open_gate(named, request, baselines, settings, reading, asking, output)
        input_notes += judged.notes
    with collected_notes() as notes:
        result = gate(
            judged.judgments,
            judged.run,
            settings.measures,
            require=request.of_run,
            require_each=request.require_each,
            baseline=judged.baseline,
            queries=judged.queries,
            corpus=output.corpus,
            rule=request.rule(settings, asking.max_failures),
            conventions=settings.conventions,
            reading=reading,
            lost=judged.lost,
        )
        result = output.shown.of(result, output.corpus)
    notes = [*input_notes, *notes]
    show(result, notes, output.format, settings)
    write_summary(result, output.summary, settings)
    measures = tuple(str(measure) for measure in result.scores.requested)
    output.page.write(
        result.page_evaluation(),
        replace(settings, measures=measures),
        gate=result,
        input_notes=notes,
        **({"snippets": {}} if output.shown.texts is False else {}),
    )
    print_warnings(notes)
    beside = guard_codes(result)  # the verdict has these
    others = tuple(note for note in result.scores.notes if note.code not in beside)
    print_run_warnings([replace(result.scores, notes=others)])
    if asking.out is not None and judged.live and not result.has_too_many_failures:
        write_live_runs(result.evaluation, judged.live, judged.own_id, asking.out, inputs, journals)
    saving.write(result.evaluation, verdict=result.verdict, only=[0])
    return result.exit_code


@dataclass(frozen=True)
class GatedRuns:
    """What a gate compares: judgments, the run, and the baseline's; files, or what was read from them."""

    judgments: Any
    run: Any
    baseline: Any
    notes: tuple[Note, ...] = ()
    queries: Any = None
    live: tuple[Run, ...] = ()
    own_id: Callable[[str], str] | None = None
    lost: tuple[str, ...] = ()


def open_gate(
    named: NamedInputs,
    request: GateRequest,
    baseline_runs: list[str],
    settings: Settings,
    reading: Reading,
    asking: Asking,
    output: GateOutput,
) -> tuple[GatedRuns, Settings]:
    """What is compared, opened; with the measures that labels by text have by default."""
    conventions, measures = settings.conventions, settings.measures
    reading = replace(reading, fingerprint=True)
    every = replace(named, results=(*named.results, *baseline_runs))
    if every.scores(reading) is not None:
        run = named.results[0] if named.results else None
        return GatedRuns(named.labels, run, baseline_runs or None), settings
    if named.are_plain(reading) and all(is_plain(one, "run") for one in baseline_runs):
        return GatedRuns(named.labels, named.results[0], baseline_runs or None, queries=named.sources.queries), settings
    demands = parse_demands(request.of_run, request.require_each, request.requirements, conventions)
    depth = gated_depth(measures, demands.measures, conventions)
    is_guarding = any(measure.definition.name == LEAK for measure in demands.measures)
    keeps_partial = is_guarding and not any(map(is_live, baseline_runs))  # the gate then says that leaks are unknown
    is_log_tested = not named.results
    opening = Opening(
        depth,
        depth if measures or demands else DEFAULT_DEPTH,
        newest="first",
        follows_system=True,
        log_is_system=is_log_tested,
        asking=replace(asking, keeps_partial=keeps_partial),
        history=output.saving.folder,
    )
    opened = named.open(reading, opening, baseline_runs, shows_corpus=True)
    if len(opened.results) == len(baseline_runs):
        raise UsageError(
            "name the labels and the results, or a log that has both",
            hint="rankgauge gate qrels.txt my.run --baseline before.run",
        )
    check_one_system(opened, 1 + len(baseline_runs))
    if opened.is_by_text and not measures and not demands:
        settings = replace(settings, measures=tuple(map(str, opened.labels.measures(None, conventions))))
    opened = opened.judged(reading)
    compared = opened.results[1:] or None
    live, own_id = (opened.answered, opened.own_id) if 0 in opened.live else ((), None)
    gated = GatedRuns(opened.labels, opened.results[0], compared, opened.notes, opened.queries, live[:1], own_id)
    return replace(gated, lost=opened.lost), settings


def _check_asking(named: NamedInputs, baselines: list[str]) -> None:
    """Raise if an option of live retrievers is given without one, as results or as the baseline."""
    every = replace(named, results=(*named.results, *baselines))
    every.check_asking(also=("k",), but=("max_failures",))  # logs have failed queries, too
    if is_given("out"):
        named.check_asking(also=("out",), but=("max_failures",))


def show(result: GateResult, notes: list[Note], format: str, settings: Settings) -> None:
    """Print the verdict on standard output."""
    shown = gate_document(result, notes=notes, bands=settings.bands)
    write_document(shown, "github" if format == "markdown" else format)


def document_texts(result: GateResult, corpus: str | None) -> dict[str, str]:
    """The texts of the documents that are listed: those of the corpus, else those that came with results."""
    listed = {move.doc for one in result.query_lists for query in one.queries for move in query.documents}
    texts = {
        doc: text
        for joined in result.evaluation.joined
        for doc, text in ({} if joined.extras is None else joined.extras.texts).items()
        if doc in listed and text is not None
    }
    if corpus is not None:
        for document in read_corpus(corpus):
            name = document.id.decode("utf-8", "surrogateescape")
            if name in listed:
                texts[name] = f"{document.title} {document.text}".strip()
    return texts


def write_summary(result: GateResult, path: str | None, settings: Settings) -> None:
    """Write the Markdown; append it if the file is GitHub's, which is never written unasked."""
    github = os.environ.get(GITHUB_SUMMARY)
    if path is None:
        if github:
            print_message(f'hint: --summary "${GITHUB_SUMMARY}" shows this on the page of the workflow')
        return
    from rankgauge.render.formats.ci import as_summary

    text = as_summary(gate_document(result, bands=settings.bands))
    if github and Path(path).is_file() and Path(path).samefile(github):
        text = load_file(path).stored.decode("utf-8", "surrogateescape") + text
    with write_atomically(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
