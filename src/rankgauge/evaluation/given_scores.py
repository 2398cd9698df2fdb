"""Scores as results: values that somebody made already, by us or not, beside others of their kind or a ranking.

They are never made again. Beside a ranking, the queries whose labels changed since are left out; if it is not known how
the values were made, that is said, and a gate does not decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.formatting import listing, plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Status
from rankgauge.errors import InputError, Note, shown, warn_user
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.label_versions import LabelVersions
from rankgauge.evaluation.result_depth import Depth
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import source_name
from rankgauge.io.formats.score_tables import ScoreTable, is_scores, read_scores, score_kind
from rankgauge.io.input_kinds import HISTORY, later
from rankgauge.io.reading_options import Reading
from rankgauge.measures.column_measures import column_name
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames

NAMED = 5
SCORED_ELSEWHERE = "scored-elsewhere"
LABELS_CHANGED = "labels-changed"
LEAK_REASON = "scores have no documents, so whether one is forbidden is not known"


@dataclass(frozen=True, eq=False)
class GivenScores:
    """The scores of one system as one of the results."""

    table: ScoreTable
    notes: tuple[Note, ...] = ()  # that came with scores in memory
    is_own: bool = False  # whether they were made in this program

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.table.name

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of ours that it has values of."""
        return tuple(self.table.measures.values())

    def column(self, measure: Measure, requested: Measure | None = None) -> str | None:
        """The column with the values of a measure; None if there is none."""
        wanted = (measure, requested)
        for name, own in self.table.measures.items():
            if own in wanted:
                return name
        return next((name for name in self.table.foreign if name == measure.name), None)

    def missing(self, measure: Measure) -> InputError:
        """The error for a measure without values."""
        if measure.definition.name == "Leak":
            return InputError(f"{shown(self.name)} has no values of {measure}: {LEAK_REASON}")
        table = self.table
        if measure.name in table.faults:
            return table.faults[measure.name]
        return InputError(
            f"{shown(self.name)} has no values of {measure}; it has {listing(map(shown, table.values), NAMED * 2)}",
            hint="choose others with -m",
        )

    def scores_like(self, like: Scores, qrels: Qrels) -> Scores:
        """Its values beside those of rankings, which were made with these labels."""
        table, notes = self.table, [*self.notes]
        rows = rows_of(table, like.queries)
        requested = like.requested or like.measures
        values = np.full((len(like.queries), len(like.measures)), np.nan)
        for place, (measure, asked) in enumerate(zip(like.measures, requested, strict=True)):
            column = self.column(measure, asked)
            if column is not None:
                values[:, place] = np.where(rows >= 0, table.values[column][rows], np.nan)
            elif measure.definition.name != "Leak":
                raise self.missing(measure)
        averaged = rows >= 0
        reason = _other_conventions(table, like.conventions)
        if table.labels is None or any(query not in table.labels for query in table.queries):
            is_same = self.is_own and table.labels is None and table.queries == like.queries
            reason = reason or (None if is_same else "it does not say with which labels")
        else:
            now = LabelVersions(qrels).of_query
            changed = [
                query for query in like.queries if query in table.labels and table.labels[query] != now.get(query)
            ]
            if changed:
                averaged &= np.array([query not in set(changed) for query in like.queries])
                named = listing(map(shown, changed), NAMED)
                verb = "has" if len(changed) == 1 else "have"
                text = f"{plural(len(changed), 'query')} {verb} other labels than in {shown(table.name)}: left out"
                notes.append(Note(LABELS_CHANGED, f"{text} ({named})"))
        if reason is not None:
            text = f"{shown(table.name)} may have been scored in another way: {reason}"
            notes.append(Note(SCORED_ELSEWHERE, text))
        return replace(
            like,
            run=table.name,
            run_sha256=None,
            values=values,
            averaged=averaged,
            status=status_of(table, like.queries, rows),
            holds_empty=True,
            notes=tuple(notes),
            extras=None,
            answers=None,
            labels=LabelVersions(known=table.labels),
            depth=None if table.conventions is None else Depth(table.depth),
        )


IN_MEMORY = (GivenScores, ScoreTable, Scores)


def _other_conventions(table: ScoreTable, conventions: Conventions) -> str | None:
    """How the values of a table were made, if not under these conventions; None if it was the same."""
    if table.conventions is None:
        return "it does not say how"
    return None if table.conventions == str(conventions) else f"{table.conventions}; here it is: {conventions}"


def as_given(result: Any, reading: Reading) -> list[Any] | None:
    """The systems of a result that is scores; None if it is anything else."""
    if isinstance(result, GivenScores):
        return [result]
    if isinstance(result, ScoreTable):
        return [GivenScores(result)]
    if isinstance(result, Scores):
        return [GivenScores(table_of(result), result.notes, is_own=True)]
    return [GivenScores(table) for table in read_scores(result, reading)] if is_scores(result, reading) else None


def is_given(result: Any, reading: Reading) -> bool:
    """Whether a result is scores."""
    return isinstance(result, IN_MEMORY) or is_scores(result, reading)


def table_of(scores: Scores) -> ScoreTable:
    """Scores in memory as a table."""
    names = [measure.name for measure in scores.requested or scores.measures]
    rows = np.flatnonzero(scores.averaged)
    order = sorted(rows.tolist(), key=lambda row: scores.queries[row].encode("utf-8", "surrogateescape"))
    labels = None if scores.labels is None else scores.labels.of_query
    return ScoreTable(
        source=scores.run,
        name=scores.run,
        queries=tuple(scores.queries[row] for row in order),
        values={name: scores.values[order, column] for column, name in enumerate(names)},
        measures=dict(zip(names, scores.requested or scores.measures, strict=True)),
        others={name: column[order] for name, column in scores.columns.items()},
        conventions=str(scores.conventions),
        labels=labels or None,
        collection=scores.qrels,
        depth=None if scores.depth is None else scores.depth.documents,
        not_asked=frozenset(scores.queries[row] for row in np.flatnonzero(~scores.asked).tolist()),
    )


def only_scores(labels: Any, results: Sequence[Any], reading: Reading) -> list[GivenScores] | None:
    """The systems, if everything that is named is scores; None if labels and rankings are read.

    Scores that are named first, where labels are, are the first of the systems.
    """
    labels, *results = (_resolved(one) for one in (labels, *results))
    named = [*([] if labels is None else [labels]), *results]
    if not named or (labels is not None and not is_given(labels, reading)):
        return None
    if not all(is_given(result, reading) for result in results):
        if labels is None or (not isinstance(labels, IN_MEMORY) and score_kind(labels, reading) != "certain"):
            return None
        raise InputError(
            f"{_shown(labels)} holds scores, and labels come first",
            hint="name the labels: rankgauge compare LABELS SCORES RESULTS",
        )
    systems = [system for result in named for system in as_given(result, reading) or []]
    _check_no_effect(reading)
    return systems


def _resolved(result: Any) -> Any:
    """The file of saved results that are named after a branch or a system; anything else as it is."""
    if not isinstance(result, str) or not result.startswith(HISTORY):
        return result
    return later("history")(result)


def _shown(source: Any) -> str:
    return shown(str(source) if isinstance(source, str) or hasattr(source, "__fspath__") else type(source).__name__)


def _check_no_effect(reading: Reading) -> None:
    """Raise if something is asked for that only rankings have."""
    option = "--ignore-case" if reading.ignore_case else "--match"
    if not reading.matches_ids or reading.match_fields or reading.ignore_case:
        raise InputError(f"{option} has no effect on scores, which have no documents", hint="leave it out")
    if reading.forbidden is not None:
        raise InputError(f"forbidden documents have no effect on scores: {LEAK_REASON}", hint="leave them out")


def evaluate_alone(
    labels: Any,
    results: Sequence[Any],
    measures: MeasureNames | None,
    conventions: Conventions,
    reading: Reading,
    queries: Any,
) -> Evaluation | None:
    """The scores of systems, if everything that is named is scores."""
    systems = only_scores(labels, results, reading)
    return None if systems is None else evaluate_scores(systems, measures, conventions, queries=queries)


def columns_known(systems: Sequence[GivenScores], conventions: Conventions) -> Conventions:
    """The conventions with the numeric columns of the systems as possible measures."""
    stated = dict(conventions.columns)
    names = dict.fromkeys(name for system in systems for name in system.table.foreign)
    unknown = next((name for name in stated if name not in names), None)
    if unknown is not None:
        raise InputError(f"columns.{unknown}: no numeric column has this name", hint=f"there are {_listed(names)}")
    known = {name: stated.get(name) for name in names}
    return replace(conventions, columns=tuple({**known, **stated}.items()))


def evaluate_scores(
    systems: Sequence[GivenScores],
    measures: MeasureNames | None,
    conventions: Conventions,
    *,
    queries: Any = None,
    leniently: bool = False,
) -> Evaluation:
    """Scores of systems beside each other, over all of their queries; ``queries`` has texts and columns of these.

    Without measures they are those of ours that all of them have. A measure without values is an error; ``leniently``
    leaves it without values in other systems than the first.
    """
    if replace(conventions, columns=()) != Conventions():
        raise InputError(
            f"conventions have no effect on scores, which are compared as given: {conventions}", hint="leave them out"
        )
    stated = dict(conventions.columns)
    conventions = columns_known(systems, conventions)
    chosen = conventions.measures(measures) if measures else default_columns(systems, conventions, stated)
    names = all_queries(systems)
    if not names:
        raise InputError("the scores have no queries")
    first = systems[0].table
    name = first.collection or source_name(first.source)
    nothing = Qrels.from_dict(dict.fromkeys(names), name=name)
    qrels = replace(nothing, columns={}).with_columns(_columns(systems, names))
    texts: dict[str, str] = {}
    if queries is not None:
        from rankgauge.io.queries import as_queries

        known = as_queries(queries)
        qrels, texts = qrels.with_columns(known.columns), known.known_texts()
    scores = [
        _scores(system, chosen, names, qrels, conventions, is_lenient=leniently and place > 0)
        for place, system in enumerate(systems)
    ]
    if not measures:
        scores[0] = replace(scores[0], notes=(*scores[0].notes, *_unused_columns(systems[0], chosen)))
    _warn_of_other_labels(systems)
    return Evaluation(qrels, (), tuple(scores), texts).uniquely_named()


def _unused_columns(system: GivenScores, measures: Sequence[Measure]) -> list[Note]:
    """A note on the numeric columns that are no measures, because nobody named them."""
    unused = [name for name in system.table.foreign if all(name != column_name(measure) for measure in measures)]
    if not unused:
        return []
    text = f"{plural(len(unused), 'other numeric column')} (-m measures one, --by groups): {_listed(unused)}"
    return [Note("columns-unused", text)]


def all_queries(systems: Sequence[GivenScores]) -> tuple[str, ...]:
    """The queries of all systems, in the order of bytes."""
    first = systems[0].table.queries
    if all(system.table.queries == first for system in systems[1:]):
        return first
    every = {query for system in systems for query in system.table.queries}
    return tuple(sorted(every, key=lambda query: query.encode("utf-8", "surrogateescape")))


def rows_of(table: ScoreTable, queries: Sequence[str]) -> NDArray[np.int64]:
    """The row of each query in a table; −1 if it is not there."""
    if table.queries == tuple(queries):
        return np.arange(len(queries), dtype=np.int64)
    row_of = {query: row for row, query in enumerate(table.queries)}
    return np.array([row_of.get(query, -1) for query in queries], dtype=np.int64)


def status_of(table: ScoreTable, queries: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Which queries of a table were asked."""
    status = np.where(rows >= 0, Status.ANSWERED, Status.MISSING).astype(np.uint8)
    if table.not_asked:
        status[[query in table.not_asked for query in queries]] = Status.MISSING
    return status


def default_columns(
    systems: Sequence[GivenScores], conventions: Conventions, stated: Iterable[str]
) -> tuple[Measure, ...]:
    """The measures if none is named: ours that all systems have, and columns of which it is said what is better."""
    columns = tuple(conventions.column(name) for name in stated)
    return columns if columns and not _has_common(systems) else (*common_measures(systems), *columns)


def _has_common(systems: Sequence[GivenScores]) -> bool:
    return any(all(measure in other.measures for other in systems) for measure in systems[0].measures)


def _listed(names: Iterable[str]) -> str:
    return listing(map(shown, names), NAMED * 2) or "none"


def common_measures(systems: Sequence[GivenScores]) -> tuple[Measure, ...]:
    """The measures of ours that all systems have, in the order of the first."""
    others = [set(system.measures) for system in systems[1:]]
    common = tuple(measure for measure in systems[0].measures if all(measure in other for other in others))
    if common:
        return common
    table = systems[0].table
    columns = listing(map(shown, table.values), NAMED * 2) if table.values else "no numeric column"
    raise InputError(
        f"{shown(table.source)}: no column is named after a measure; there are {columns}",
        hint=f"choose columns: -m {next(iter(table.values))!r}" if table.values else None,
    )


def _scores(
    system: GivenScores,
    measures: Sequence[Measure],
    queries: Sequence[str],
    qrels: Qrels,
    conventions: Conventions,
    *,
    is_lenient: bool,
) -> Scores:
    table = system.table
    rows = rows_of(table, queries)
    values = np.full((len(queries), len(measures)), np.nan)
    for place, measure in enumerate(measures):
        column = system.column(measure)
        if column is not None:
            values[:, place] = np.where(rows >= 0, table.values[column][rows], np.nan)
        elif not is_lenient:
            raise system.missing(measure)
    how = table.conventions or "as given"
    return Scores(
        notes=system.notes,
        run=table.name,
        run_sha256=None,
        qrels=qrels.name,
        qrels_sha256=None,
        queries=tuple(queries),
        measures=tuple(measures),
        values=values,
        averaged=rows >= 0,
        status=status_of(table, queries, rows),
        holds_empty=True,
        without_relevant=np.zeros(len(queries), dtype=bool),
        conventions=replace(conventions, given=how),
        columns=qrels.columns,
        requested=tuple(measures),
        labels=LabelVersions(known=table.labels),
        depth=None if table.conventions is None else Depth(table.depth),
    )


def _columns(systems: Sequence[GivenScores], queries: Sequence[str]) -> dict[str, Any]:
    """Every other column, of the first system that has it."""
    found: dict[str, Any] = {}
    for system in systems:
        table = system.table
        is_whole = table.queries == tuple(queries)
        for name, cells in table.others.items():
            if name not in found:
                listed = np.asarray(cells, dtype=object).tolist()
                found[name] = listed if is_whole else dict(zip(table.queries, listed, strict=True))
    return found


def _warn_of_other_labels(systems: Sequence[GivenScores]) -> None:
    """Say which queries of several systems were scored with other labels."""
    first, *others = systems
    known = first.table.labels or {}
    for other in others:
        labels = other.table.labels or {}
        changed = [
            query for query in first.table.queries if query in known and labels.get(query, known[query]) != known[query]
        ]
        if changed:
            text = (
                f"{plural(len(changed), 'query')} had other labels in {shown(other.name)} than in {shown(first.name)}"
            )
            warn_user(f"{text}: {listing(map(shown, changed), NAMED)}")
