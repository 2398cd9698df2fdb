"""Judgments, a run and measures in; scores out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import COMPATS, Compat
from rankgauge.core.run import OnDuplicate, Run, Status
from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.notebook import Columns, Table, Tabular, score_columns, score_table
from rankgauge.evaluation.notes import Note, notes_on
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.parse import DEFAULT, parse_measure, parse_measures, split
from rankgauge.measures.spec import Measure
from rankgauge.measures.weights import weighted_means

if TYPE_CHECKING:
    from rankgauge.evaluation.slices import Slice
    from rankgauge.io.join.parallel import Report
    from rankgauge.io.sources import Limits
    from rankgauge.stats.results import Alternative, Interval

Queries = Literal["qrels", "both"]
NoRelevant = Literal["zero", "skip"]
AnyQrels = Qrels | Mapping[str, Any] | str | Path | Any  # or a frame
AnyRun = Run | Mapping[str, Any] | str | Path | Any
Names = str | Measure | Iterable[str | Measure]


@dataclass(frozen=True)
class Conventions:
    """What tools disagree on, and what was done here. Conventions of one measure stand in its name."""

    compat: Compat = "trec_eval-9"
    queries: Queries = "qrels"
    no_relevant: NoRelevant = "zero"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("compat", self.compat, COMPATS),
            ("queries", self.queries, ("qrels", "both")),
            ("no_relevant", self.no_relevant, ("zero", "skip")),
        ):
            if value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, found {shown(str(value))}")

    @property
    def precision(self) -> str:
        """In which precision scores are compared."""
        return "float64" if self.compat == "trec_eval-10" else "float32"

    def to_dict(self) -> dict[str, str]:
        """For JSON."""
        return {
            "compat": self.compat,
            "ties": f"document id descending, scores as {self.precision}",
            "queries": self.queries,
            "no_relevant": self.no_relevant,
            "measures": "unless the name says otherwise: gain linear, rel 1, AP and R over all relevant, P over k",
        }

    def __str__(self) -> str:
        averaged = "every judged query" if self.queries == "qrels" else "queries in run and judgments"
        skipped = ", those without relevant documents skipped" if self.no_relevant == "skip" else ""
        return (
            f"linear gain, relevant from grade 1, AP and R over all relevant, P over k; {averaged} averaged{skipped}; "
            f"ties by document id descending, scores as {self.precision}"
        )


@dataclass(frozen=True, eq=False)
class Scores(Tabular):
    """The value of each measure for each query, unrounded, and how it came about."""

    run: str
    run_sha256: str | None  # None where nobody asked for a fingerprint
    qrels: str
    qrels_sha256: str | None
    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats  # queries × measures; NaN where there is none
    averaged: NDArray[np.bool_]
    status: NDArray[np.uint8]
    without_relevant: NDArray[np.bool_]
    conventions: Conventions
    notes: tuple[Note, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    asked: tuple[Measure, ...] = ()

    def __getitem__(self, measure: str | Measure) -> float | None:
        """The value over all queries; None where there is nothing to average."""
        return self.over_queries[self.measures[self._place(measure)].name][0]

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={_rounded(value)}" for name, (value, _) in self.over_queries.items())
        return f"Scores({self.run!r} on {self.qrels!r}, {int(self.averaged.sum())} queries: {listed})"

    def _place(self, measure: str | Measure) -> int:
        wanted = parse_measure(measure, compat=self.conventions.compat)
        for listed in (self.measures, self.asked):
            if wanted in listed:
                return listed.index(wanted)
        raise KeyError(f"{wanted} was not evaluated; there are {', '.join(map(str, self.measures))}")

    @cached_property
    def over_queries(self) -> dict[str, tuple[float | None, int]]:
        """For each measure, the value over all queries and how many it was made of."""
        out = {}
        for place, measure in enumerate(self.measures):
            values = self.values[self.averaged, place]
            values = values[~np.isnan(values)]
            out[measure.name] = (aggregate(values, measure.definition.aggregate), len(values))
        return out

    def per_query(self, measure: str | Measure) -> dict[str, float | None]:
        """The value for each query that was evaluated."""
        column = self.values[:, self._place(measure)]
        return {self.queries[row]: _number(column[row]) for row in np.flatnonzero(self.averaged).tolist()}

    @cached_property
    def weighted(self) -> dict[str, float | None] | None:
        """The means in which a query counts by its ``weight`` column; None without one."""
        return weighted_means(self.measures, self.values, self.averaged, self.columns)

    def summary_table(self) -> Table:
        """Each measure over all queries, as a notebook shows it."""
        return score_table(self)

    def frame_columns(self) -> Columns:
        """One row a query, as ``to_pandas`` and ``to_polars`` give it."""
        return score_columns(self)

    def interval(
        self, measure: str | Measure, *, confidence: float = 0.95, alternative: Alternative = "two-sided"
    ) -> Interval:
        """The interval of a measure: Student's t, Wilson's where it is 0 or 1, log scale where geometric.

        ``alternative='greater'`` gives a lower bound, ``'less'`` an upper one.
        """
        from rankgauge.evaluation.slices import interval_of

        place = self._place(measure)
        units = self.columns.get("unit")
        inside = None if units is None else units[self.averaged]
        how = self.measures[place].definition.aggregate
        return interval_of(
            self.values[self.averaged, place],
            how,
            confidence=confidence,
            units=inside,
            alternative=alternative,
            inside=self.measures[place].definition.range,
        )

    def by(self, *columns: str, confidence: float = 0.95) -> list[Slice]:
        """Each measure over the queries of each group of one column, or of several together."""
        from rankgauge.evaluation.slices import groups, summary

        units = self.columns.get("unit")
        out = []
        for label, chosen in groups(self.columns, columns):
            kept = chosen & self.averaged
            for place, measure in enumerate(self.measures):
                inside = None if units is None else units[kept]
                values = self.values[kept, place]
                out.append(summary(" / ".join(columns), label, measure, values, confidence=confidence, units=inside))
        return out

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """One run of the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "name": self.run,
            "sha256": self.run_sha256,
            "queries": {
                "averaged": int(self.averaged.sum()),
                "missing": int((self.status == Status.MISSING).sum()),
                "failed": int((self.status == Status.FAILED).sum()),
                "without_relevant": int(self.without_relevant.sum()),
            },
            "measures": {name: {"value": value, "n": n} for name, (value, n) in self.over_queries.items()},
        }
        for name, value in (self.weighted or {}).items():
            out["measures"][name]["weighted"] = value
        if per_query:
            names = [measure.name for measure in self.measures]
            out["per_query"] = {
                self.queries[row]: dict(zip(names, map(_number, self.values[row]), strict=True))
                for row in np.flatnonzero(self.averaged).tolist()
            }
        return out


def evaluate(
    qrels: AnyQrels,
    run: AnyRun,
    measures: Names | None = None,
    *,
    compat: Compat = "trec_eval-9",
    queries: Queries = "qrels",
    no_relevant: NoRelevant = "zero",
    rel: float | None = None,
    on_duplicate: OnDuplicate = "error",
    fingerprint: bool = False,
    strict: bool = False,
) -> Scores:
    """Score one run.

    Judgments and run may be paths, ``{query: {document: number}}``, ``{query: [documents]}``, frames, or the objects
    themselves. ``rel`` is the grade from which a document is relevant, for every measure that does not say its own;
    ``fingerprint`` asks for the run's hash, which is not free for a large file; ``strict`` makes an error of what a
    reader would only warn of.
    """
    from rankgauge.io.sources import Limits

    return evaluate_all(
        [qrels],
        [run],
        measures,
        compat=compat,
        queries=queries,
        no_relevant=no_relevant,
        rel=rel,
        on_duplicate=on_duplicate,
        fingerprint=fingerprint,
        limits=Limits(strict=strict),
    )[0]


def evaluate_all(
    qrels: Sequence[AnyQrels],
    runs: Sequence[AnyRun],
    measures: Names | None = None,
    *,
    compat: Compat = "trec_eval-9",
    queries: Queries = "qrels",
    no_relevant: NoRelevant = "zero",
    rel: float | None = None,
    on_duplicate: OnDuplicate = "error",
    fingerprint: bool = False,
    qrels_format: str | None = None,
    run_format: str | None = None,
    limits: Limits | None = None,
    topics: Any = None,
    progress: Report | None = None,
) -> list[Scores]:
    """Score several runs, against each of several judgments: one Scores for each pair, runs inside."""
    conventions = Conventions(compat, queries, no_relevant)
    asked = asked_measures(measures, conventions, rel)
    found = []
    for one in qrels:
        found += joined_scores(
            one,
            runs,
            asked,
            conventions,
            topics=topics,
            on_duplicate=on_duplicate,
            fingerprint=fingerprint,
            qrels_format=qrels_format,
            run_format=run_format,
            limits=limits,
            progress=progress,
        )[2]
    return found


def asked_measures(
    measures: Names | None, conventions: Conventions | None = None, rel: float | None = None
) -> tuple[Measure, ...]:
    """The measures behind names, at a level of relevance where they do not say their own."""
    compat = (conventions or Conventions()).compat
    if rel is None:
        return tuple(parse_measures(measures or DEFAULT, compat=compat))
    given = [measures] if isinstance(measures, (str, Measure)) else list(measures or DEFAULT)
    names = [part for name in given for part in (split(name) if isinstance(name, str) else [name])]
    found = [
        measure if _says_level(name) else _at_level(measure, rel)
        for name in names
        for measure in parse_measures(name, compat=compat)
    ]
    return tuple(dict.fromkeys(found))


def joined_scores(
    qrels: AnyQrels,
    runs: Sequence[AnyRun],
    asked: tuple[Measure, ...],
    conventions: Conventions,
    *,
    topics: Any = None,
    on_duplicate: OnDuplicate = "error",
    fingerprint: bool = False,
    qrels_format: str | None = None,
    run_format: str | None = None,
    limits: Limits | None = None,
    progress: Report | None = None,
) -> tuple[Qrels, list[Joined], list[Scores], dict[str, str]]:
    """Judgments, joins, scores, and the texts of queries where a file of topics has them."""
    from rankgauge.io.join.inputs import as_qrels
    from rankgauge.io.join.joining import Reading
    from rankgauge.io.join.parallel import join_each
    from rankgauge.io.sources import DEFAULT as NO_MORE

    limits = limits or NO_MORE
    judged = as_qrels(qrels, format=qrels_format, limits=limits)
    texts: dict[str, str] = {}
    if topics is not None:
        from rankgauge.io.queries import read_queries

        known = read_queries(topics, limits=limits)
        judged = judged.with_columns(known.columns)
        texts = {name: text for name, text in zip(known.ids.to_text(), known.texts, strict=True) if text is not None}
    reading = Reading(conventions.compat, on_duplicate, run_format, limits, fingerprint)
    joined = join_each(judged, runs, reading, progress)
    return judged, joined, [score(judged, one, asked, conventions) for one in joined], texts


def score(qrels: Qrels, joined: Joined, asked: tuple[Measure, ...], conventions: Conventions) -> Scores:
    """Apply measures to a join."""
    hits = joined.hits
    if len(hits) and not np.any(hits.status != Status.MISSING):
        raise InputError(
            f"run {shown(joined.name)} and judgments {shown(qrels.name)} have no query in common: "
            f"{_listed(joined.sample)} against {_listed(qrels.queries.head(3))}",
            hint="\nhint: ".join([*_near(joined), "the query ids must be the same bytes on both sides"]),
        )
    measures = tuple(measure.frozen(qrels) for measure in asked)
    values = np.column_stack([measure(hits) for measure in measures]) if len(hits) else np.zeros((0, len(measures)))
    without = hits.relevant_judged(np.nextafter(0, 1)) == 0
    averaged = hits.status != Status.FAILED
    if conventions.queries == "both":
        averaged &= hits.status != Status.MISSING
    if conventions.no_relevant == "skip":
        averaged &= ~without
    return Scores(
        run=joined.name,
        run_sha256=joined.sha256,
        qrels=qrels.name,
        qrels_sha256=None if joined.sha256 is None else qrels.sha256,
        queries=tuple(hits.queries.to_text()),
        measures=measures,
        values=values,
        averaged=averaged,
        status=hits.status,
        without_relevant=without,
        conventions=conventions,
        notes=joined.notes + notes_on(hits, measures, run_queries=joined.queries),
        columns=hits.columns,
        asked=asked,
    )


def _says_level(name: str | Measure) -> bool:
    """Whether a name says its level of relevance itself, be it the usual one, which canonical names leave out."""
    return isinstance(name, str) and re.search(r"\brel\s*=", name) is not None


def _at_level(measure: Measure, rel: float) -> Measure:
    """The measure at a level of relevance, unless its name says one."""
    parameters = measure.definition.parameters
    if "rel" not in parameters or measure["rel"] is None or measure["rel"] != 1:
        return measure
    return measure.but(rel=rel)


def _near(joined: Joined) -> list[str]:
    """What was found out about ids that nearly match."""
    return [note.message for note in joined.notes if note.code.startswith("ids-")]


def _listed(queries: Iterable[bytes]) -> str:
    return ", ".join(shown(query) for query in queries)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _rounded(value: float | None) -> str:
    return "null" if value is None else f"{value:.4f}"
