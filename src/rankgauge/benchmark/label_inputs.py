"""Labels of a benchmark that are matched with results by rules: how its folder stores them, and how runs are scored.

A benchmark stores labels and not the judgments that they become, because these depend on what was returned: with the
runs in its folder, which keep the texts and the fields of results, `benchmark verify` matches them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from rankgauge.config.settings import Settings
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import warn_user
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.io.byte_streams import LoadedFile
from rankgauge.io.formats.detection import HEAD_BYTES
from rankgauge.io.formats.expected_text import ExpectedText, TextKey
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.trec import is_certainly_trec
from rankgauge.io.matching import MATCH_KEY, LabelSet, match_labels
from rankgauge.io.queries import Queries
from rankgauge.io.reading_options import MATCH_RULES, Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.io.stored_json import Matching, parse_record
from rankgauge.report.report import evaluate_for_report
from rankgauge.retrieval.asking.answers import AnswerRules

LABELS_FILE = "labels.jsonl"
LABELS_SCHEMA = "rankgauge.labels/1"
HEAD_SHAPE = {
    "schema": Matching(LABELS_SCHEMA, lambda text: text == LABELS_SCHEMA),
    "ignore_case": bool,
    "match_fields": [str],
}
LABEL_SHAPE = {
    "label": str,
    "grade": float,
    "strings?": [str],
    "needs_all?": bool,
    "kind?": Matching("contains, prefix or pattern", lambda text: text in ("contains", "prefix", "pattern")),
}
ROW_SHAPE = {
    "query": str,
    "match": Matching("a rule", lambda text: text in MATCH_RULES),
    "labels": [LABEL_SHAPE],
    "forbidden?": [str],
}


@dataclass(frozen=True, eq=False)
class BenchmarkLabels:
    """Labels, each query with its rule, and what else says how they are matched."""

    labels: LabelSet
    ignore_case: bool = False
    match_fields: tuple[str, ...] = ()

    @property
    def reading(self) -> Reading:
        """How labels are matched."""
        return Reading(ignore_case=self.ignore_case, match_fields=self.match_fields)

    @property
    def needs_texts(self) -> bool:
        """Whether some labels expect text of results."""
        return bool(self.labels.expected)

    def answer_rules(self, rules: AnswerRules) -> AnswerRules:
        """How the answers of a retriever are read, so that its results can be matched."""
        fields = FieldLabels.of(self.match_fields)
        if fields:
            return replace(rules, id=fields.result_id)
        by_query = self.labels.rule_by_query(self.reading)
        return replace(rules, is_by_text=lambda query: by_query.get(query) == "text") if self.needs_texts else rules

    def evaluate(self, runs: Mapping[str, Run], settings: Settings, queries: Queries) -> Evaluation:
        """Match the labels of the queries that were run with the results of all runs, and score these."""
        texts: dict[str, str] = {}
        for run in runs.values():
            found = {} if run.extras is None else run.extras.texts
            texts |= {doc: text for doc, text in found.items() if text is not None}
        matched = match_labels(self._of_queries(queries), list(runs.values()), self.reading, texts)
        for note in matched.notes:
            warn_user(note.message)
        reading = Reading(keep_rankings=True)
        return evaluate_for_report(matched.judgments, runs, settings, queries=queries, reading=reading)

    def _of_queries(self, queries: Queries) -> LabelSet:
        judgments = self.labels.judgments
        _, rows = judgments.query_index.find(queries.ids, np.zeros(len(queries), dtype=np.int64))
        selected = judgments.select(np.unique(rows))
        known = set(selected.queries.to_text())
        expected = {pair: text for pair, text in self.labels.expected.items() if pair[0] in known}
        return replace(self.labels, judgments=selected, expected=expected)

    def to_bytes(self) -> bytes:
        """The file of these labels: its first line says how they are matched, each of the others has one query."""
        head = {"schema": LABELS_SCHEMA, "ignore_case": self.ignore_case, "match_fields": list(self.match_fields)}
        judgments = self.labels.judgments
        docs, grades = judgments.docs.to_text(), judgments.grades.tolist()
        rows: list[dict[str, Any]] = [head]
        rules = self.labels.rule_by_query(self.reading)
        for query, (begin, end) in zip(rules, pairwise(judgments.offsets.tolist()), strict=True):
            labels = [
                {"label": label, "grade": grade, **self._expected(query, label)}
                for label, grade in zip(docs[begin:end], grades[begin:end], strict=True)
            ]
            listed = self.labels.forbidden.get(query, ())
            forbidden = {"forbidden": list(listed)} if listed else {}
            rows.append({"query": query, "match": rules[query], "labels": labels, **forbidden})
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8", "surrogateescape")

    def _expected(self, query: str, label: str) -> dict[str, Any]:
        expected = self.labels.expected.get((query, label))
        if expected is None:
            return {}
        return {"strings": list(expected.strings), "needs_all": expected.key.needs_all, "kind": expected.key.kind}


def read_label_file(file: LoadedFile, name: str) -> BenchmarkLabels:
    """The labels of a benchmark's file."""
    lines = [(number, line) for number, line in enumerate(file.stored.split(b"\n"), 1) if line]
    head = parse_record(file.path, 1, lines[0][1] if lines else b"", shape=HEAD_SHAPE)
    grades: dict[str, dict[str, float]] = {}
    expected: dict[tuple[str, str], ExpectedText] = {}
    forbidden: dict[str, tuple[str, ...]] = {}
    rules: dict[str, str] = {}
    for number, line in lines[1:]:
        row = parse_record(file.path, number, line, shape=ROW_SHAPE)
        query, rules[row["query"]] = row["query"], row["match"]
        grades[query] = {label["label"]: float(label["grade"]) for label in row["labels"]}
        for label in row["labels"]:
            if "strings" in label:
                key = TextKey(label.get("needs_all", False), label.get("kind", "contains"))
                expected[query, label["label"]] = ExpectedText(tuple(label["strings"]), key)
        if "forbidden" in row:
            forbidden[query] = tuple(row["forbidden"])
    judgments = Qrels.from_dict(grades, name=name).with_columns({MATCH_KEY: rules})
    labels = LabelSet(judgments, expected, {}, forbidden)
    return BenchmarkLabels(labels, head["ignore_case"], tuple(head["match_fields"]))


def labels_by_rule(file: LoadedFile, reading: Reading, name: str) -> BenchmarkLabels | None:
    """The labels of a file if they are matched by rules that judgments cannot hold; None if they are judgments."""
    if file.stored.startswith(b'{"schema": "' + LABELS_SCHEMA.encode()):
        return read_label_file(file, name)
    if is_certainly_trec(file.stored[:HEAD_BYTES], "qrels") and reading.match != "text" and not reading.match_fields:
        return None
    opened = open_inputs(file, [], reading, None, Opening(0, asks=False, log_is_system=False))
    by_rule = label_file_of(opened.label_set, reading)
    return None if by_rule is None else read_label_file(LoadedFile(LABELS_FILE, by_rule.to_bytes()), name)


def label_file_of(labels: LabelSet | None, reading: Reading) -> BenchmarkLabels | None:
    """Labels with the rule of each query beside it; None if all of them are ids of results."""
    if labels is None:
        return None
    judgments = labels.judgments.with_columns({MATCH_KEY: labels.rule_by_query(reading)})
    return BenchmarkLabels(replace(labels, judgments=judgments), reading.ignore_case, reading.match_fields)
