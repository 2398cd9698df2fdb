"""Judgments, a run, and what is required of it in; the verdict out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankgauge.comparison.comparability import ResultFacts, comparability_notes, sent_notes
from rankgauge.comparison.gate.baseline import Baseline, query_sample
from rankgauge.comparison.gate.compared_measures import (
    compare_measures,
    pair_queries,
    run_sides,
    sensitivity_notes,
    unpaired_notes,
)
from rankgauge.comparison.gate.gate_result import GateResult, RequiredValue
from rankgauge.comparison.gate.golden import HeldQueries, allowed_misses, held_queries, own_requirements
from rankgauge.comparison.gate.lost_documents import RunAgain, find_lost
from rankgauge.comparison.gate.requirements import (
    DEFAULT_RULE,
    LEAK,
    Demands,
    GateRule,
    QueryGroup,
    Requirement,
    parse_demands,
)
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, Note, UsageError, printable, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, evaluate_measures, needed_depth
from rankgauge.evaluation.given_scores import (
    LABELS_CHANGED,
    SCORED_ELSEWHERE,
    GivenScores,
    columns_known,
    common_measures,
    default_columns,
    evaluate_scores,
    only_scores,
)
from rankgauge.evaluation.query_groups import groups
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import (
    AnyFile,
    Limits,
    LoadedFile,
    is_dataset,
    load_file,
    source_name,
)
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.input_kinds import is_stored
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import OpenedInputs, Opening, open_inputs
from rankgauge.io.sources import can_be_scores, can_read_again
from rankgauge.measures.column_measures import column_name
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
    baseline: AnyRun | Sequence[AnyRun] | None = None,
    queries: Any = None,
    corpus: AnyCorpus | None = None,
    rule: GateRule = DEFAULT_RULE,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    lost: Sequence[str] = (),
) -> GateResult:
    """Whether a run has the required values and did not drop against a baseline.

    ``require`` holds texts like ``"nDCG@10>=0.35"`` about the means, ``require_each`` about every single query. A test
    case may have its own: ``{"query": …, "require": "R@3>=1"}``. A query that missed it in the baseline too is a known
    miss. The ``rule`` has what else is decided: groups of queries that are held by themselves, allowed misses, the
    margin of a drop, and how drops are tested.

    ``baseline`` is a run, or a list of runs of one system, of which each query has the mean; ``measures`` are those
    compared with it, by default the required ones, else the default measures. Both sides are scored with these labels.
    Each measure is checked first: if the two sides have different depths, and the shallower is below the cutoff, it is
    not comparable, and has no verdict. A drop fails only if it is significant over all measures and groups together,
    and at least the margin of the ``rule``. If queries got worse and are too few for any drop to be significant, the
    gate is undecided.

    ``corpus``, a file of documents or their ids, tells a retriever that got worse from documents that are gone; if the
    judgments keep text hashes, labels that no longer fit are named. A log holds judgments and a run; its labels apply
    to the baseline, too. Judgments may be labels by text, and the run or the baseline a live retriever; ``queries``
    holds texts and columns of the queries, and ``lost`` names queries that the baseline had and nobody asked now.
    Scores are compared as given, without labels. A run of a live retriever that failed for a query fails.
    """
    conventions = conventions or Conventions()
    reading = replace(reading or Reading(), fingerprint=True)
    baseline_runs = baseline_results(baseline)
    named = [*([] if run is None else [run]), *baseline_runs]
    required = RequiredTexts(require, require_each, rule.requirements)
    systems = only_scores(qrels, named, reading) if any(map(can_be_scores, (qrels, *named))) else None
    if systems is not None:
        return gate_scores(systems, len(baseline_runs), measures, required, rule, conventions, reading)
    conventions = with_directions(conventions, required.parsed(conventions))
    demands = required.parsed(conventions)
    opening = Opening(gated_depth(measures, demands.measures, conventions))
    opened = open_gated(qrels, run, baseline_runs, reading, opening, queries)
    check_one_system(opened, 1 + len(baseline_runs))
    _check_one_kind(opened.results[1:])
    if not measures and not demands and opened.measures:
        measures = comparable_names(opened.measures, conventions)
    if opened.is_by_text and not measures and not demands:
        measures = opened.labels.measures(None, conventions)
    opened = opened.judged(reading)
    runs, baseline_runs = opened.results, opened.results[1:]
    if not all(map(can_read_again, runs)):
        reading = replace(reading, keep_rankings=True)
    judgments, checked = checked_judgments(opened.labels, corpus, reading)
    own = own_requirements(judgments, conventions)
    if not demands and not own and baseline is None:
        raise nothing_required()
    if baseline is not None:
        gated = _gated_measures(measures, demands.measures, conventions, judgments)
    else:
        gated = conventions.measures(measures) if measures else ()
    of_queries = [requirement.of_queries for one in own.values() for requirement in one]
    _check_asked_depth(runs[0], of_queries)
    requested = tuple(dict.fromkeys([*gated, *demands.measures, *of_queries]))
    requested = requested or conventions.measures(None, judgments)  # if only figures of the run are required
    evaluation = evaluate_measures(
        judgments, runs, requested, conventions=conventions, reading=reading, queries=opened.queries
    )
    _check_scored_alike(evaluation, rule)
    if len(evaluation.scores) > len(runs):
        raise _several_systems([scores.run for scores in evaluation.scores], len(runs))
    if reading.keep_rankings and evaluation.joined:
        runs = [joined.run for joined in evaluation.joined]
    before = Baseline.of(evaluation, *range(1, len(evaluation.scores))) if baseline_runs else None
    again = RunAgain(runs[0], reading) if evaluation.join_of(0) is not None else None
    problem = nothing_to_judge(evaluation, before, again)
    if problem is not None:
        return GateResult("nothing to judge", evaluation, rule, reason=problem, notes=tuple(rot_notes(checked)))
    notes = (*opened.notes, *rot_notes(checked), *_given_notes(evaluation))
    lost = tuple(dict.fromkeys([*lost, *opened.lost]))
    result = GateResult("pass", evaluation, rule, notes=notes, baseline=before, lost_queries=lost)
    known_ids = None if corpus is None else partial(corpus_ids, corpus, reading.limits)
    return _decided(result, demands, own, len(gated), reading, known_ids, again)


def _decided(
    result: GateResult,
    demands: Demands,
    own: Mapping[str, Sequence[Requirement]],
    gated: int,
    reading: Reading,
    known_ids: KnownIds | None = None,
    again: RunAgain | None = None,
) -> GateResult:
    """The result with everything that is required and compared, and its verdict."""
    allowed = allowed_misses(result.rule.allow, reading.limits)
    held = held_queries(result.scores, demands.each, own, result.baseline, allowed, result.texts)
    result = replace(result, required=_required_values(result.scores, demands, result.rule), held=held)
    result = replace(result, notes=(*result.notes, *_held_notes(held, allowed)))
    if result.baseline is not None:
        result = compare_with_baseline(result, result.baseline, gated, known_ids, again)
    return result.decided()


def nothing_required() -> UsageError:
    """The error for a gate that would pass whatever it is given."""
    return UsageError(
        "a gate needs a requirement or a baseline, and neither is given",
        hint='--require "nDCG@10>=0.35" asks for a value, --require-each "Success@5>=1" for one of every query, '
        "--baseline before.jsonl for no drop",
    )


# Scores in place of rankings: nothing is scored again, and nothing is asked of documents.


class RequiredTexts(NamedTuple):
    """What is required, as it was written: columns of scores are known only when they are read."""

    require: str | Iterable[str]
    require_each: str | Iterable[str]
    requirements: Mapping[str, str | Iterable[str]] | None

    def parsed(self, conventions: Conventions) -> Demands:
        """The requirements, of which some are about columns."""
        return parse_demands(self.require, self.require_each, self.requirements, conventions)


def gate_scores(
    systems: Sequence[GivenScores],
    baselines: int,
    measures: MeasureNames | None,
    texts: RequiredTexts,
    rule: GateRule,
    conventions: Conventions,
    reading: Reading,
) -> GateResult:
    """Whether scores have the required values and did not drop against others; the last ``baselines`` are those."""
    if len(systems) != 1 + baselines:
        raise _several_systems([system.name for system in systems], 1 + baselines)
    stated = dict(conventions.columns)
    conventions = columns_known(systems, conventions)
    demands = texts.parsed(conventions)
    conventions = with_directions(conventions, demands)
    demands = texts.parsed(conventions)
    if not demands and not baselines:
        raise nothing_required()
    gated: tuple[Measure, ...] = ()
    if baselines:
        if not measures and not demands:
            _check_has_measures(systems)
        chosen = () if measures or demands else default_columns(systems, conventions, stated)
        names = measures or (None if demands else comparable_names(chosen, conventions))
        gated = _gated_measures(names, demands.measures, conventions, None)
        for system, measure in product(systems, gated):
            if system.column(measure) is None:
                raise system.missing(measure)
    requested = tuple(dict.fromkeys([*gated, *demands.measures])) or common_measures(systems)
    evaluation = evaluate_scores(systems, requested, conventions, leniently=True)
    baseline = Baseline.of(evaluation, *range(1, len(systems))) if baselines else None
    result = GateResult("pass", evaluation, rule, notes=_given_notes(evaluation), baseline=baseline)
    return _decided(result, demands, {}, len(gated), reading)


def _check_has_measures(systems: Sequence[GivenScores]) -> None:
    """Raise if the tested scores lack a measure that a baseline has, unless measures are chosen."""
    tested, *others = systems
    missing = [measure for other in others for measure in other.measures if measure not in tested.measures]
    if missing:
        raise tested.missing(missing[0])


def comparable_names(measures: Iterable[str | Measure], conventions: Conventions) -> tuple[Measure, ...]:
    """Those of some measures of scores that can be compared; all of them if none can, so that an error says why."""
    chosen = tuple(conventions.measure(measure) for measure in measures)
    return tuple(measure for measure in chosen if _is_comparable(measure)) or chosen


def with_directions(conventions: Conventions, demands: Demands) -> Conventions:
    """The conventions with the directions that requirements of columns state."""
    known = dict(conventions.columns)
    every = (*demands.overall, *demands.each, *(one for group in demands.groups.values() for one in group))
    for requirement in every:
        measure = requirement.measure
        if not isinstance(measure, Measure) or measure.definition.better is not None:
            continue
        if (name := column_name(measure)) is not None:
            known[name] = "higher" if requirement.sign.startswith(">") else "lower"
    return replace(conventions, columns=tuple(known.items()))


def _check_scored_alike(evaluation: Evaluation, rule: GateRule) -> None:
    """Raise if scores beside a ranking may have been made in another way, unless that is accepted."""
    notes = [note for scores in evaluation.scores for note in scores.notes if note.code == SCORED_ELSEWHERE]
    if notes and rule.scored_elsewhere == "refuse":
        raise InputError(
            notes[0].message,
            hint="score both sides here: name the log or the run in place of the scores; "
            "--set gate.scored_elsewhere=accept compares them all the same",
        )


def _given_notes(evaluation: Evaluation) -> tuple[Note, ...]:
    """What to know of scores before they are compared."""
    codes = (SCORED_ELSEWHERE, LABELS_CHANGED)
    return tuple(dict.fromkeys(note for scores in evaluation.scores for note in scores.notes if note.code in codes))


def rot_notes(check: LabelCheck | None) -> list[Note]:
    """A note about labels that no longer fit the corpus."""
    if check is None or not check.rotted:
        return []
    queries = query_sample(list(dict.fromkeys(label.query for label in check.rotted)))
    labels, corpus = printable(check.source, None), printable(check.corpus, None)
    text = f"{check.summary} (queries {queries}): `rankgauge runs validate --labels {labels} --corpus {corpus}`"
    return [Note("labels-rotted", f"{text} lists them")]


def nothing_to_judge(evaluation: Evaluation, baseline: Baseline | None, run: RunAgain | None) -> str | None:
    """Why no value says anything: no label is relevant, nothing was retrieved, or nothing retrieved has a label.

    None if there is something to judge, or if the baseline retrieved judged documents: then it is a drop.
    """
    scores = evaluation.scores[0]
    is_ranking = [measure.definition.over == "answerable" for measure in scores.measures]
    if all(is_ranking) and scores.without_relevant.all():
        return f"no query of {shown(evaluation.qrels.name)} has a relevant document, so nothing can be tested"
    joined = evaluation.join_of(0)
    if joined is None or bool((scores.status == Status.FAILED).all()):
        return None
    hits = joined.hits
    if not hits.retrieved.any():
        is_refusal = any(_is_best(scores, column) for column in range(len(scores.measures)))
        return None if is_refusal else f"{shown(scores.run)} has no results for any query"
    if len(hits.rank) or not any(is_ranking) or (baseline is not None and baseline.has_judged):
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
        (held.recovered, "missed before", "keep this run as the next baseline"),
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
    required: Sequence[Measure],
    conventions: Conventions,
) -> int:
    """How many results of a query a gate looks at."""
    is_compared = any(measure.definition.name != LEAK for measure in required)
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
        names = (getattr(one, "name", one) for one in opened.results)
        found = [source_name(name) if isinstance(name, (str, Path)) else type(name).__name__ for name in names]
        raise _several_systems(found, sources)


def _check_one_kind(baseline_runs: Sequence[AnyRun]) -> None:
    """Raise if some repeats of a baseline are rankings and others are scores, which have labels of their own."""
    scores = [one for one in baseline_runs if is_stored(one)]
    if scores and len(scores) < len(baseline_runs):
        name = str(getattr(scores[0], "name", "a --baseline"))
        raise UsageError(
            f"{shown(name)} has scores, and another --baseline has rankings: repeats are of one kind",
            hint="name the log or the run that the scores were made of",
        )


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
    required: Sequence[Measure],
    conventions: Conventions,
    labels: Qrels | None,
) -> tuple[Measure, ...]:
    """The measures that must not drop."""
    if measures:
        chosen = conventions.measures(measures)
        for measure in chosen:
            if measure.definition.direction == 0 and (column := column_name(measure)) is not None:
                raise InputError(
                    f"whether higher or lower {measure} is better is not known",
                    hint=f"say so: --set columns.{column}=higher (or lower)",
                )
            if not _is_comparable(measure):
                raise UsageError(
                    f"{measure} cannot be compared with a baseline: only means over queries of which higher or lower "
                    "values are known to be better can",
                    hint="leave it out of -m, or require a value of it",
                )
        return chosen
    chosen = tuple(measure for measure in required if measure.definition.name != LEAK)
    chosen = chosen or conventions.measures(None, labels)
    chosen = tuple(measure for measure in chosen if _is_comparable(measure))
    if not chosen:
        raise UsageError("no required measure can be compared: name some with -m")
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


KnownIds = Callable[[], Ids]  # reads those of the corpus


def compare_with_baseline(
    result: GateResult, baseline: Baseline, gated: int, known_ids: KnownIds | None, run: RunAgain | None
) -> GateResult:
    """The result with its comparison, for all queries and in groups, and with lost documents if a measure got worse.

    Groups are compared at once with the whole, and corrected together like measures. ``run`` is the tested run, if
    there is more than its scores.
    """
    joined, scores = result.evaluation.join_of(0), result.scores
    facts = ResultFacts.of_scores(scores) if joined is None else ResultFacts.of(joined)
    pairs = pair_queries(scores, baseline, range(gated), facts=facts)
    parts = [
        pair_queries(scores, baseline, range(gated), facts=facts, members=members, group=QueryGroup(column, label))
        for column in result.rule.columns
        for label, members in groups(scores.columns, column)
    ]
    compared, *grouped = compare_measures([pairs, *(part for part in parts if part.queries)], result.rule)
    sides = run_sides(scores, facts, baseline)
    measures = scores.measures[:gated]
    before, now = (
        (side.averaged & side.asked)[:, np.newaxis] & ~np.isnan(side.values[:, :gated])
        for side in (baseline.scores, scores)
    )
    is_there = (baseline.scores.status != Status.MISSING) & (scores.status != Status.FAILED)
    gone = (before & ~now).any(axis=1) & is_there
    notes = [
        *result.notes,
        *baseline.spread_notes(),
        *comparability_notes(measures, *sides),
        *(sent_notes(*sides) if scores.conventions.query_set != "both" else []),
        *unpaired_notes(scores, baseline, measures, pairs),
        *sensitivity_notes(compared, result.rule),
    ]
    result = replace(
        result,
        compared=compared,
        grouped=tuple(row for part in grouped for row in part),
        notes=tuple(notes),
        lost_queries=(*result.lost_queries, *(scores.queries[row] for row in np.flatnonzero(gone).tolist())),
        lost_everything=joined is not None and not len(joined.hits.rank) and baseline.has_judged,
    )
    is_worse = any(row.decision.outcome == "worse" for row in compared)
    if not is_worse or run is None or not baseline.retrieved_by:
        return result
    corpus = None if known_ids is None else known_ids()
    return replace(result, lost=find_lost(baseline, result.evaluation, run, corpus))


# The inputs of a gate: judgments that may be empty, and the runs of a baseline.

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


def checked_judgments(source: AnyQrels, corpus: AnyCorpus | None, reading: Reading) -> CheckedJudgments:
    """Read judgments and compare their hashes with the corpus; a file is read once."""
    if corpus is None or not isinstance(corpus, TEXT_CORPORA):
        return CheckedJudgments(gate_judgments(source, reading), None)
    if not isinstance(source, (str, Path)) or is_dataset(source) or not Path(source).is_file():
        return CheckedJudgments(gate_judgments(source, reading), None)
    file = load_file(source)  # once, for the judgments and for the hashes
    judgments, hashes = gate_judgments(file, reading), stored_hashes(file, reading)
    if not hashes:
        return CheckedJudgments(judgments, None)
    documents = read_corpus(corpus, limits=reading.limits)
    return CheckedJudgments(judgments, compare_hashes(judgments, hashes, documents, str(source)))


def baseline_results(source: Any) -> list[AnyRun]:
    """What to compare with: one run, or several of the same system."""
    if source is None:
        return []
    if not isinstance(source, (list, tuple)):
        return [source]
    if not source:
        raise UsageError("a baseline needs at least one run, and the list has none")
    return list(source)


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
