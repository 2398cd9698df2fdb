"""The file of a baseline: written, extended by one more run, and read back with every fault reported by its path."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.comparability import ResultFacts
from rankgauge.comparison.gate.baseline import BASELINE_SCHEMA, SCORES, Baseline, BaselineRun
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, MeasureError, printable, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, evaluate_measures, needed_depth
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import DEFAULT_LIMITS, ByteStream, Limits, open_source
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.io.stored_json import JsonDocument, MapOf, Maybe, described, has_type, parse_object
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames, parse_measures


def write_baseline(
    path: str | Path,
    qrels: AnyQrels,
    run: AnyRun | None,
    measures: MeasureNames | None = None,
    *,
    append: bool = False,
    keep_run: bool = False,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Scores:
    """Store a run's values query by query, as the baseline of later gates.

    With ``append`` the run is added to the baseline in the file, if there is one: several runs of the same system show
    how much it differs from itself. Judgments, conventions and measures must be the same; the measures of the file are
    the default. With ``keep_run`` the run itself is stored too, so that it can be scored again if labels change.
    """
    evaluation = store_run(
        path,
        qrels,
        run,
        measures,
        append=append,
        keep_run=keep_run,
        conventions=conventions,
        reading=reading,
    )
    return evaluation.scores[0]


def store_run(
    path: str | Path,
    qrels: AnyQrels,
    run: AnyRun | None,
    measures: MeasureNames | None = None,
    *,
    append: bool = False,
    keep_run: bool = False,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Evaluation:
    """Store the values of a run as a baseline, and return all that was read."""
    conventions = conventions or Conventions()
    reading = replace(reading or Reading(), fingerprint=True, keep_rankings=keep_run)
    existing = existing_baseline(path) if append else None
    requested = conventions.measures(measures)
    if existing is not None and not measures:
        requested = stored_measures(existing, conventions)
    is_one = run is not None
    opened = open_inputs(
        qrels, [run] if is_one else [], reading, None, Opening(needed_depth(requested), log_is_system=not is_one)
    )
    if opened.is_by_text and not measures and existing is None:
        requested = opened.labels.measures(None, conventions)
    is_default = not measures and existing is None and not opened.is_by_text
    opened = opened.judged(reading)
    chosen = None if is_default else requested
    evaluation = evaluate_measures(opened.labels, opened.results, chosen, conventions=conventions, reading=reading)
    files = [source for source in (qrels, run) if isinstance(source, (str, Path))]
    with_run(existing, evaluation).write(path, inputs=files, keep_runs=keep_run)
    return evaluation


def append_baseline(
    path: str | Path, evaluation: Evaluation, *, inputs: Iterable[str | Path] = (), keep_run: bool = False
) -> None:
    """Add the first run of an evaluation to the baseline in a file, if there is one."""
    if not keep_run:  # one that cannot be read twice is in memory anyway
        evaluation = replace(evaluation, joined=tuple(replace(joined, run=None) for joined in evaluation.joined))
    with_run(existing_baseline(path), evaluation).write(path, inputs=inputs, keep_runs=keep_run)


def existing_baseline(path: str | Path) -> Baseline | None:
    """The baseline in a file; None if there is no such file."""
    if not Path(path).exists():
        return None
    existing = read_baseline(path)
    if existing is None:
        raise InputError.at(str(path), None, "not a stored baseline, so no run can be added to it", hint=BASELINE_HINT)
    return existing


def with_run(existing: Baseline | None, evaluation: Evaluation) -> Baseline:
    """A baseline with the first run of an evaluation added; raises if it was made in another way."""
    added = Baseline.of(evaluation, 0)
    if existing is None:
        return added
    existing.check_comparable(evaluation.scores[0], evaluation.qrels, "this run cannot be added")
    if set(added.measures) != set(existing.measures):
        raise InputError.at(
            existing.source,
            None,
            f"this run cannot be added: the baseline has {', '.join(existing.measures)}, and this run has "
            f"{', '.join(added.measures)}",
            hint="leave out -m for the measures of the baseline",
        )
    return existing.with_runs_of(added)


def stored_measures(stored: Baseline, conventions: Conventions) -> tuple[Measure, ...]:
    """The measures of a stored baseline."""
    try:
        return tuple(parse_measures(stored.measures, compat=conventions.compat))
    except MeasureError as error:
        raise InputError.at(stored.source, None, error.message, hint=error.hint) from None


LARGEST_VALUE = 1e100  # of any measure; the square of a larger one overflows
BASELINE_HINT = "store a baseline with `rankgauge gate LABELS RESULTS --write-baseline FILE`"


def read_baseline(path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Baseline | None:
    """The baseline in a file; None if the file is something else, such as a run. ``source`` is its name in errors."""
    with open_source(path, source=source, limits=limits) as stream:
        return baseline_from_stream(stream)


def baseline_from_stream(stream: ByteStream) -> Baseline | None:
    """The baseline in an open stream; None if it is something else, whose reader can start at the first byte."""
    head = stream.grow_head(HEAD_BYTES)
    if head is None or not Head(head).is_json:
        return None
    data = stream.read()
    try:
        content = parse_object(stream.path, data)
    except InputError:
        if BASELINE_SCHEMA.partition("/")[0].encode() in data:
            raise
        content = {}  # JSON Lines, or a run whose faults its own reader reports
    if not isinstance(content.get("schema"), str):
        stream.rewind()
        return None
    return _StoredBaseline(stream.path, content, hint=BASELINE_HINT).baseline()


class _StoredBaseline(JsonDocument):
    """The JSON of a stored baseline."""

    def baseline(self) -> Baseline:
        """The baseline; raises if something in it is missing or wrong."""
        self.check_schema(BASELINE_SCHEMA)
        self.check_schema(SCORES, "scores.schema")
        contents = self.value("scores.runs", list)
        if not contents:
            raise self.error("scores.runs", "one or more runs", "none")
        self.check_shape({"scores": {"runs": [dict]}})
        retrieved = self.value("retrieved", list)
        if len(retrieved) != len(contents):
            raise self.error("retrieved", plural(len(contents), "object"), f"{len(retrieved)}")
        results = self.value("results", list)
        if len(results) != len(contents):
            raise self.error("results", plural(len(contents), "object"), f"{len(results)}")
        self.check_shape(RESULTS_SHAPE)
        measures, queries = self.names_in(contents[0], "measures", 0), self.names_in(contents[0], "per_query", 0)
        qrels, sha256 = self.value("scores.qrels.name", str), self.value("scores.qrels.sha256", str)
        rankings = self.rankings(len(contents))
        return Baseline(
            source=self.source,
            qrels=qrels,
            qrels_sha256=sha256,
            conventions=self.value("scores.conventions", dict),
            measures=measures,
            queries=queries,
            runs=tuple(
                replace(
                    self.run(content, index, measures, queries, self.retrieved(retrieved[index])),
                    ranking=ranking,
                    facts=_facts(results[index]),
                )
                for index, (content, ranking) in enumerate(zip(contents, rankings, strict=True))
            ),
            judged_queries=self.value("scores.qrels.queries", int),
            judgments=self.judgments(qrels, sha256),
        )

    def judgments(self, name: str, sha256: str) -> Qrels | None:
        """The judgments that it was made with; None if they were not stored."""
        if self.data.get("judgments") is None:
            return None
        self.check_shape({key: shape for key, shape in JUDGMENTS_SHAPE.items() if key in self.data})
        unanswerable, forbidden = self.data.get("unanswerable", []), self.data.get("forbidden", {})
        qrels = Qrels.from_dict(self.data["judgments"], name=name).with_stored_facts(unanswerable, forbidden)
        if qrels.sha256 != sha256:
            raise self.error("judgments", "those of scores.qrels.sha256", "others")
        return qrels

    def rankings(self, count: int) -> list[Run | None]:
        """The runs themselves; None for each that was not stored."""
        if self.data.get("rankings") is None:
            return [None] * count
        self.check_shape(RANKINGS_SHAPE)
        rankings = self.data["rankings"]
        if len(rankings) != count:
            raise self.error("rankings", plural(count, "run"), f"{len(rankings)}")
        return [
            None
            if ranking is None
            else Run.from_dict(ranking["scores"], name=ranking["name"], failed=ranking["failed"])
            for ranking in rankings
        ]

    def names_in(self, run: dict[str, Any], key: str, index: int) -> tuple[str, ...]:
        """The keys of an object of a run."""
        return tuple(self.value(key, dict, within=run, prefix=f"scores.runs[{index}]."))

    def run(
        self,
        content: dict[str, Any],
        index: int,
        measures: tuple[str, ...],
        queries: tuple[str, ...],
        retrieved: dict[str, dict[str, int]],
    ) -> BaselineRun:
        """One run, whose measures and queries must be those of the first."""
        for key, expected in (("measures", measures), ("per_query", queries)):
            if set(self.names_in(content, key, index)) != set(expected):
                raise self.error(f"scores.runs[{index}].{key}", "the keys of the first run", "others")
        per_query = content["per_query"]
        values = np.array(
            [[self.score(per_query[query], query, name) for name in measures] for query in queries], dtype=np.float64
        ).reshape(len(queries), len(measures))
        name = self.value("name", str, within=content, prefix=f"scores.runs[{index}].")
        sha256 = content.get("sha256")
        if sha256 is not None and not isinstance(sha256, str):
            raise self.error(f"scores.runs[{index}].sha256", "a string or null", described(sha256))
        return BaselineRun(name, sha256, values, retrieved, content)

    def score(self, row: Any, query: str, measure: str) -> float:
        """The value of a measure for a query; NaN if there is none."""
        if not isinstance(row, dict) or measure not in row:
            raise self.error(f"per_query of {shown(query)}", f"a value of {printable(measure)}", "none")
        value = row[measure]
        if value is None:
            return math.nan
        if not has_type(value, float) or abs(value) > LARGEST_VALUE:
            raise self.error(f"per_query of {shown(query)}, {printable(measure)}", "a number or null", described(value))
        return float(value)

    def retrieved(self, content: Any) -> dict[str, dict[str, int]]:
        """The documents of each query, with their ranks."""
        if not isinstance(content, dict):
            raise self.error("retrieved", "an object for each run", described(content))
        for query, docs in content.items():
            if not isinstance(docs, dict) or not all(has_type(rank, int) and rank > 0 for rank in docs.values()):
                raise self.error(f"retrieved of {shown(query)}", "the ranks of documents", described(docs))
        return content


def _facts(content: dict[str, Any]) -> ResultFacts:
    return ResultFacts(
        content["depth"],
        content["depth_is_requested"],
        content["judged_share"],
        content["queries_missing"],
        content["queries_failed"],
    )


RESULTS_SHAPE = {
    "results": [
        {
            "depth": Maybe(int),
            "depth_is_requested": bool,
            "judged_share": Maybe(float),
            "queries_missing": int,
            "queries_failed": int,
        }
    ]
}
JUDGMENTS_SHAPE = {"judgments": MapOf(MapOf(float)), "unanswerable": [str], "forbidden": MapOf([str])}
RANKINGS_SHAPE = {"rankings": [Maybe({"name": str, "scores": MapOf(MapOf(float)), "failed": [str]})]}


def stored_baseline(source: str | int | Path | Baseline) -> Baseline | None:
    """The baseline that ``rankgauge gate --write-baseline`` stored in a file; None if the file is not one."""
    if isinstance(source, Baseline):
        return source
    return read_baseline(source) if not isinstance(source, int) and Path(source).is_file() else None
