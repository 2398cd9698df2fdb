"""Judgments, a run, and what is required of it in; the verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankgauge.comparison.comparability import ResultFacts, comparability_notes, sent_notes
from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.baseline_file import baseline_from_stream, stored_measures
from rankgauge.comparison.gate.causes import (
    NO_HASHES,
    KnownIds,
    RunAgain,
    blame_drop,
    fitting_baseline,
    fitting_part,
    grade_zero_notes,
    with_current_labels,
)
from rankgauge.comparison.gate.compared_measures import (
    ComparedMeasure,
    compare_measures,
    pair_queries,
    run_sides,
    sensitivity_notes,
    unpaired_notes,
)
from rankgauge.comparison.gate.gate_result import GateResult, RequiredValue
from rankgauge.comparison.gate.golden import HeldQueries, allowed_misses, held_queries, own_requirements
from rankgauge.comparison.gate.requirements import DEFAULT_RULE, LEAK, Demands, GateRule, QueryGroup, parse_demands
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, Note, UsageError, printable, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, evaluate_measures, needed_depth
from rankgauge.evaluation.query_groups import groups
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import (
    AnyFile,
    Limits,
    LoadedFile,
    is_dataset,
    is_folder,
    load_file,
    open_source,
    rereadable,
    source_name,
)
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.input_kinds import is_file_name
from rankgauge.io.pipeline.run_pipeline import read_runs
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import OpenedInputs, Opening, open_inputs
from rankgauge.io.sources import FileSource, can_read_again, is_plain
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames
from rankgauge.validation.label_rot import LabelCheck, compare_hashes, stored_hashes

SHOWN_IDS, EXAMINED_IDS = 3, 100  # of each side, if none matches
MAX_NAMED = 10  # queries and groups in a note


def gate(
    qrels: AnyQrels,
    run: AnyRun | None = None,
    measures: MeasureNames | None = None,
    *,
    require: str | Iterable[str] = (),
    require_each: str | Iterable[str] = (),
    baseline: AnyRun | Sequence[AnyRun] | Baseline | None = None,
    queries: Any = None,
    corpus: AnyCorpus | None = None,
    rule: GateRule = DEFAULT_RULE,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> GateResult:
    """Whether a run has the required values and did not drop against a baseline.

    ``require`` holds texts like ``"nDCG@10>=0.35"`` about the means, ``require_each`` about every single query. A test
    case may have its own: ``{"query": …, "require": "R@3>=1"}``. A query that missed it in the baseline too is a known
    miss. The ``rule`` has what else is decided: groups of queries that are held by themselves, allowed misses, the
    margin of a drop, and how drops are tested.

    ``baseline`` is a stored baseline, a run, or a list of runs of one system, whose mean is the baseline; ``measures``
    are those compared with it, by default the baseline's own, else the required ones, else the default measures. Each
    is checked first: if the two sides have different depths, and the shallower is below the cutoff, it is not
    comparable, and has no verdict. A drop fails only if it is significant over all measures and groups together, and at
    least the margin of the ``rule``. If queries got worse and are too few for any drop to be significant, the gate is
    undecided.

    ``corpus``, a file of documents or their ids, tells a retriever that got worse from documents that are gone; if the
    judgments keep text hashes, labels that no longer fit are found, and the run is tested on the queries whose labels
    do. If labels changed since a baseline was stored, both sides are compared with the same labels on the queries they
    share, and ``growth`` says what the labels did. A log holds judgments and a run; its labels apply to the baseline,
    too. Judgments may be labels by text, and the run or the baseline a live retriever; ``queries`` holds texts and
    columns of the queries. A run of a live retriever that failed for a query fails.
    """
    conventions = conventions or Conventions()
    demands = parse_demands(require, require_each, rule.requirements, conventions)
    reading = replace(reading or Reading(), fingerprint=True)
    baseline_runs, stored = runs_or_baseline(baseline, reading)
    opening = Opening(gated_depth(measures, stored, demands.measures, conventions))
    opened = open_gated(qrels, run, baseline_runs, reading, opening, queries)
    check_one_system(opened, 1 + len(baseline_runs))
    if opened.is_by_text and not measures and stored is None and not demands:
        measures = opened.labels.measures(None, conventions)
    opened = opened.judged(reading)
    runs, baseline_runs = opened.results, opened.results[1:]
    if not all(map(can_read_again, runs)):
        reading = replace(reading, keep_rankings=True)
    judgments, checked, is_checked = checked_judgments(opened.labels, corpus, reading)
    own = own_requirements(judgments, conventions)
    if not demands and not own and baseline is None:
        raise UsageError(
            "a gate needs a requirement or a baseline, and neither is given",
            hint='--require "nDCG@10>=0.35" asks for a value, --require-each "Success@5>=1" for one of every query, '
            "--baseline baseline.json for no drop",
        )
    if baseline is not None:
        gated = _gated_measures(measures, stored, demands.measures, conventions, judgments)
    else:
        gated = conventions.measures(measures) if measures else ()  # to be stored
    of_queries = [requirement.of_queries for one in own.values() for requirement in one]
    _check_asked_depth(runs[0], of_queries)
    requested = tuple(dict.fromkeys([*gated, *demands.measures, *of_queries]))
    requested = requested or conventions.measures(None, judgments)  # if only figures of the run are required
    evaluation = evaluate_measures(
        judgments, runs, requested, conventions=conventions, reading=reading, queries=opened.queries
    )
    if len(evaluation.scores) > len(runs):
        raise _several_systems([scores.run for scores in evaluation.scores], len(runs))
    if reading.keep_rankings and evaluation.joined:
        runs = [joined.run for joined in evaluation.joined]
    before = Baseline.of(evaluation, *range(1, len(evaluation.scores))) if baseline_runs else stored
    again = RunAgain(runs[0], reading) if evaluation.joined else None
    problem = nothing_to_judge(evaluation, before, again)
    if problem is not None:
        return GateResult("nothing to judge", evaluation, rule, reason=problem)
    rot = checked if checked is not None and checked.rotted_queries else None
    if rot is not None:
        judged_sha256 = evaluation.qrels.sha256
        evaluation = fitting_part(runs, judgments, rot, requested, conventions, reading)
        stored = None if stored is None else fitting_baseline(stored, judged_sha256, evaluation)
        before = Baseline.of(evaluation, *range(1, len(evaluation.scores))) if baseline_runs else stored
    notes = (*opened.notes, *grade_zero_notes(checked))
    result = GateResult("pass", evaluation, rule, rot=rot, notes=notes, baseline=before)
    if not len(evaluation.scores[0]):
        return replace(result, verdict="rotted", baseline=None)
    allowed = allowed_misses(rule.allow, reading.limits)
    held = held_queries(result.scores, demands.each, own, before, allowed, result.texts)
    result = replace(result, required=_required_values(result.scores, demands, rule), held=held)
    result = replace(result, notes=(*result.notes, *_held_notes(held, allowed)))
    if before is not None:
        known_ids = None if corpus is None else partial(corpus_ids, corpus, reading.limits)
        result = compare_with_baselines(result, len(gated), known_ids, again)
    if result.blame is not None and not is_checked:
        result = replace(result, notes=(*result.notes, NO_HASHES))
    return result.decided()


def nothing_to_judge(evaluation: Evaluation, baseline: Baseline | None, run: RunAgain | None) -> str | None:
    """Why no value says anything: no label is relevant, nothing was retrieved, or nothing retrieved has a label.

    None if there is something to judge, or if the baseline retrieved judged documents: then it is a drop.
    """
    scores = evaluation.scores[0]
    is_ranking = [measure.definition.over == "answerable" for measure in scores.measures]
    if all(is_ranking) and scores.without_relevant.all():
        return f"no query of {shown(evaluation.qrels.name)} has a relevant document, so nothing can be tested"
    if not evaluation.joined or bool((scores.status == Status.FAILED).all()):
        return None
    hits = evaluation.joined[0].hits
    if not hits.retrieved.any():
        is_refusal = any(_is_best(scores, column) for column in range(len(scores.measures)))
        return None if is_refusal else f"{shown(scores.run)} has no results for any query"
    if len(hits.rank) or not any(is_ranking) or (baseline is not None and _has_judged(baseline)):
        return None
    columns = [*([] if run is None else [next(iter(run.documents()))]), evaluation.qrels.docs]
    sides = [", ".join([*map(shown, dict.fromkeys(ids.head(EXAMINED_IDS)))][:SHOWN_IDS]) for ids in columns]
    return f"none of the retrieved documents is judged: {shown(scores.run)} has {sides[0]}, the labels have {sides[-1]}"


def _is_best(scores: Scores, column: int) -> bool:
    """Whether empty answers are what a measure asks for: it has its best value, and not because nothing leaks."""
    definition = scores.measures[column].definition
    if definition.name == LEAK:
        return False
    best = definition.range[1 if definition.direction > 0 else 0]
    values = scores.values[scores.averaged, column]
    return definition.direction != 0 and bool(len(values)) and bool((values == best).all())


def _has_judged(baseline: Baseline) -> bool:
    """Whether a baseline retrieved judged documents; if its results are not known, whether it has values above 0."""
    return any(run.retrieved for run in baseline.runs) or bool(np.nan_to_num(baseline.values).any())


def _held_notes(held: HeldQueries | None, allowed: Mapping[str, str]) -> list[Note]:
    """Known and allowed misses, those that hit now, and allowed ones that do not exist."""
    if held is None:
        if not allowed:
            return []
        raise UsageError("allowed misses need a requirement of every query", hint='--require-each "Success@5>=1"')
    notes = []
    for state, what in (("known", "known miss, as in the baseline"), ("allowed", "allowed miss")):
        misses = held.in_state(state)  # type: ignore[arg-type]  # the two literals above
        texts = [shown(miss.query) + (f" ({printable(miss.reason, None)})" if miss.reason else "") for miss in misses]
        if texts:
            notes.append(Note(f"{state}-miss", f"{what}: {listing(dict.fromkeys(texts), MAX_NAMED)}"))
    for hits, before, step in (
        (held.recovered, "missed before", "store a new baseline"),
        (held.needless, "may miss", "remove what need not be allowed"),
    ):
        if hits:
            verb = "hits" if len(hits) == 1 else "hit"
            text = f"{listing(map(shown, hits), MAX_NAMED)} {verb} now, and {before}: {step}"
            notes.append(Note("miss-recovered", text))
    if held.unknown:
        notes.append(Note("allowed-unknown", f"not among the queries: {listing(map(shown, held.unknown), MAX_NAMED)}"))
    return notes


def gated_depth(
    measures: MeasureNames | None,
    stored: Baseline | None,
    required: Sequence[Measure],
    conventions: Conventions,
) -> int:
    """How many results of a query a gate looks at."""
    is_compared = any(measure.definition.name != LEAK for measure in required)
    if stored is not None and not measures:
        return needed_depth([*stored_measures(stored, conventions), *required])
    chosen = conventions.measures(measures) if measures or not is_compared else ()
    return needed_depth([*chosen, *required])


def _check_asked_depth(run: AnyRun, measures: Sequence[Measure]) -> None:
    """Raise if a test case requires more documents than its live retriever was asked for before cases were read."""
    if not isinstance(run, Run) or run.extras is None or run.extras.requested_k is None:
        return
    asked = run.extras.requested_k
    deepest = max(measures, key=lambda one: one.cutoff if isinstance(one.cutoff, int) else 0, default=None)
    if deepest is None or not isinstance(deepest.cutoff, int) or deepest.cutoff <= asked:
        return
    raise InputError(
        f"a test case requires {deepest}, but {shown(run.name)} was asked for {asked} documents per query",
        hint=f"ask for more: --k {deepest.cutoff}, or gate a measure that is as deep: -m R@{deepest.cutoff}",
    )


def check_one_system(opened: OpenedInputs, sources: int) -> None:
    """Raise if a log holds several systems: which of them is tested, or is the baseline, would be a guess."""
    if len(opened.results) > sources:
        raise _several_systems([source_name(getattr(one, "name", one)) for one in opened.results], sources)


def _several_systems(names: Sequence[str], sources: int) -> InputError:
    return InputError(
        f"expected one run in each source, found {len(names)} in {sources}: {listing(map(shown, names))}",
        hint="a gate tests one system against one: choose by name in the file that holds several, FILE#NAME",
    )


def open_gated(
    qrels: AnyQrels,
    run: AnyRun | None,
    baseline_runs: Sequence[AnyRun],
    reading: Reading,
    opening: Opening,
    queries: Any = None,
) -> OpenedInputs:
    """The labels, the run and the runs of the baseline; those of a log that is tested apply to all."""
    opening = replace(opening, newest="first", log_is_system=run is None, follows_system=True)
    results = [*([] if run is None else [run]), *baseline_runs]
    opened = open_inputs(qrels, results, reading, queries, opening)
    if len(opened.results) == len(baseline_runs):
        raise UsageError(
            "a gate needs labels and results", hint="name results after the labels; only a log has both in one file"
        )
    return opened


def _gated_measures(
    measures: MeasureNames | None,
    stored: Baseline | None,
    required: Sequence[Measure],
    conventions: Conventions,
    labels: Qrels,
) -> tuple[Measure, ...]:
    """The measures that must not drop."""
    if measures:
        chosen = conventions.measures(measures)
        for measure in chosen:
            if not _is_comparable(measure):
                raise UsageError(
                    f"{measure} cannot be compared with a baseline: only means over queries of which higher or lower "
                    "values are known to be better can",
                    hint="leave it out of -m, or require a value of it",
                )
        return chosen
    if stored is not None:
        chosen = stored_measures(stored, conventions)
    else:
        chosen = tuple(measure for measure in required if measure.definition.name != LEAK)
    chosen = chosen or conventions.measures(None, labels)
    chosen = tuple(measure for measure in chosen if _is_comparable(measure))
    if not chosen:
        raise UsageError("no measure of the baseline can be compared: name some with -m")
    return chosen


def _is_comparable(measure: Measure) -> bool:
    return measure.definition.aggregate == "mean" and measure.definition.direction != 0


def _required_values(scores: Scores, demands: Demands, rule: GateRule) -> tuple[RequiredValue, ...]:
    """The required means of all queries, then of each group; raises if a group with requirements does not exist."""
    rows = []
    figures = {} if scores.extras is None else scores.extras.figures()
    for requirement in demands.overall:
        if not isinstance(requirement.measure, Measure):
            figure = figures.get(requirement.measure.name)
            if figure is None:
                raise InputError(
                    f"run {shown(scores.run)} has no {requirement.measure}, which is required",
                    hint='a log has it if its rows have "latency_ms", "tokens" or "cost"',
                )
            rows.append(RequiredValue(requirement, figure, requirement.is_met(figure)))
            continue
        value = scores[requirement.measure]
        interval = scores.interval(requirement.measure, confidence=rule.statistics.confidence)
        rows.append(RequiredValue(requirement, value, requirement.is_met(value), interval.low, interval.high))
    if demands.groups and not rule.columns:
        raise UsageError("requirements of groups need a column to group by", hint="by: category, or --by category")
    labels: list[str] = []
    for column in rule.columns:
        for label, members in groups(scores.columns, column):
            labels.append(label)
            part = replace(scores, averaged=scores.averaged & members)
            for requirement in demands.of_group(label) if part.averaged.any() else ():
                if not isinstance(requirement.measure, Measure):
                    continue  # of the whole run
                value = part[requirement.measure]
                if value is None and label not in demands.groups:
                    continue  # it is not about these queries: leaks, if nothing is forbidden for them
                interval = part.interval(requirement.measure, confidence=rule.statistics.confidence)
                ends = interval.low, interval.high
                group = QueryGroup(column, label)
                rows.append(RequiredValue(requirement, value, requirement.is_met(value), *ends, group))
    unknown = [label for label in demands.groups if label not in labels]
    if unknown:
        raise UsageError(
            f"no group is called {shown(unknown[0])}; there are {listing(map(shown, labels), MAX_NAMED)}",
            hint="a key of `requirements` is a value of the column to group by",
        )
    return tuple(rows)


# A run beside a baseline, in groups of queries, and beside a fixed anchor if there is one. All are compared at once,
# and corrected together like measures: a slow decline, of which a recent baseline is a part, still drops against the
# anchor.


def compare_with_baselines(
    result: GateResult, gated: int, known_ids: KnownIds | None, run: RunAgain | None
) -> GateResult:
    """The result with its comparison with the baseline, and with the cause if a measure got worse.

    ``run`` is the tested run, if there is more than its scores.
    """
    stored = result.baseline
    if stored is None:
        return result
    joined = result.evaluation.joined
    facts = ResultFacts.of(joined[0]) if joined else ResultFacts()
    baselines = [stored] if stored.anchor is None else [stored, stored.anchor]
    current = [with_current_labels(baseline, result.evaluation, gated, run) for baseline in baselines]
    several = [pair_queries(scores, baseline, range(gated), facts=facts) for scores, baseline, _ in current]
    scores, baseline, growth = current[0]
    parts = [
        pair_queries(scores, baseline, range(gated), facts=facts, members=members, group=QueryGroup(column, label))
        for column in result.rule.columns
        for label, members in groups(scores.columns, column)
    ]
    parts = [part for part in parts if part.queries]
    rows = compare_measures([*several, *parts], result.rule)
    compared, grouped = rows[: len(several)], [row for part in rows[len(several) :] for row in part]
    sides = run_sides(scores, facts, baseline)
    measures = scores.measures[:gated]
    notes = [
        *result.notes,
        *comparability_notes(measures, *sides),
        *(sent_notes(*sides) if growth is None and scores.conventions.query_set != "both" else []),
        *unpaired_notes(scores, baseline, measures, several[0]),
        *sensitivity_notes(compared[0], result.rule),
    ]
    result = replace(
        result,
        compared=compared[0],
        anchored=compared[1] if stored.anchor is not None else (),
        grouped=tuple(grouped),
        notes=tuple(notes),
        growth=growth,
        lost_everything=bool(joined) and not len(joined[0].hits.rank) and _has_judged(stored),
    )
    dropped = [place for place, own in enumerate(compared) if _is_worse(own)]
    if not dropped:
        return result
    place = dropped[0]
    blame = blame_drop(
        result.evaluation, baselines[place], compared[place], several[place], result.rule, known_ids, run
    )
    return replace(result, blame=blame)


def _is_worse(rows: tuple[ComparedMeasure, ...]) -> bool:
    return any(row.decision.outcome == "worse" for row in rows)


# The inputs of a gate: judgments that may be empty, and a baseline that may be a run or a stored one.

AnyCorpus = str | Path | Corpus | Mapping[str, Any] | Iterable[str]
TEXT_CORPORA = (str, Path, Corpus, Mapping)  # any other corpus has ids only
SMALL_FILE = 1 << 16  # bytes up to which a file of judgments is checked for being blank


def gate_judgments(source: AnyQrels, reading: Reading) -> Qrels:
    """Judgments; an empty dict or a blank file has no labeled query, which is not an error here."""
    if isinstance(source, Mapping) and not source:
        return Qrels.from_dict({})
    try:
        return as_qrels(source, reading)
    except InputError:
        if isinstance(source, (str, Path, LoadedFile)) and _is_blank(source):
            return Qrels.from_dict({}, name=source_name(source))
        raise


class CheckedJudgments(NamedTuple):
    """Judgments, and which of them fit the texts of the corpus, if they keep hashes."""

    judgments: Qrels
    check: LabelCheck | None
    is_checked: bool  # whether changed texts could be seen, if there is a corpus


def checked_judgments(source: AnyQrels, corpus: AnyCorpus | None, reading: Reading) -> CheckedJudgments:
    """Read judgments and compare their hashes with the corpus; a file is read once."""
    if corpus is None or not isinstance(corpus, TEXT_CORPORA):
        return CheckedJudgments(gate_judgments(source, reading), None, corpus is None)
    if not isinstance(source, (str, Path)) or is_dataset(source) or not Path(source).is_file():
        judgments = gate_judgments(source, reading)
        # Labels by text do not depend on ids.
        return CheckedJudgments(judgments, None, judgments.judgments == "passages")
    file = load_file(source)  # once, for the judgments and for the hashes
    judgments, hashes = gate_judgments(file, reading), stored_hashes(file, reading)
    if not hashes:
        return CheckedJudgments(judgments, None, is_checked=False)
    documents = read_corpus(corpus, limits=reading.limits)
    check = compare_hashes(judgments, hashes, documents, str(source))
    return CheckedJudgments(judgments, check, is_checked=True)


def runs_or_baseline(source: Any, reading: Reading) -> tuple[list[AnyRun], Baseline | None]:
    """What to compare with: runs, or a stored baseline."""
    if source is None:
        return [], None
    if not isinstance(source, (list, tuple)):
        run, stored = _run_or_baseline(source, reading)
        return ([run], None) if stored is None else ([], stored)
    if not source:
        raise UsageError("a baseline needs at least one run, and the list has none")
    opened = [_run_or_baseline(item, reading) for item in source]
    if any(stored is not None for _, stored in opened):
        raise UsageError("a list of runs cannot hold a stored baseline", hint="name the stored baseline alone")
    return [run for run, _ in opened], None


def _run_or_baseline(source: AnyRun, reading: Reading) -> tuple[AnyRun | None, Baseline | None]:
    if isinstance(source, Baseline):
        return None, source
    if not isinstance(source, (str, Path)) or is_dataset(source) or is_folder(source):
        return source, None
    if not is_file_name(str(source)) or (Path(source).is_file() and is_plain(source, "run")):
        return source, None
    with (
        rereadable(source, limits=reading.limits) as file,
        open_source(file, source=str(source), limits=reading.limits, hashed=True) as stream,
    ):
        stored = baseline_from_stream(stream)
        if stored is not None:
            return None, stored
        if can_read_again(source):
            return source, None
        run_file = FileSource(source, stream, "run", reading.run_format)
        run_file.has_many_runs = False
        return read_runs(run_file, replace(reading, columns=None))[0][0], None


def corpus_ids(corpus: AnyCorpus, limits: Limits) -> Ids:
    """The ids of a corpus, from a file or as they are."""
    if isinstance(corpus, TEXT_CORPORA):
        return read_corpus(corpus, limits=limits).ids
    return Ids.from_text(corpus, "document id")


def _is_blank(file: AnyFile) -> bool:
    if isinstance(file, LoadedFile):
        return len(file.stored) < SMALL_FILE and not file.stored.strip()
    path = Path(file)
    return path.is_file() and path.stat().st_size < SMALL_FILE and not load_file(path).stored.strip()
