"""A log: one JSON object a question, with what was retrieved and what was wanted. Judgments and a run in one file.

{"question": "reset 2FA?", "retrieved_ids": ["kb-018", "kb-104"], "relevant_ids": ["kb-104"], "category": "auth"}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.entries import ABSENT, SHAPES, Collected, Entry, Wrong, entries
from rankgauge.io.formats.jsonl import Record, Records, id_of, number_of, read, said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.formats.names import Columns, Kind, check_roles, plain
from rankgauge.io.rows import Rows

# Role → keys, the sure ones first, then those taken where no sure one is there (they may hold texts, not ids).
KEYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "question_id", "_id", "id"),),
    "text": (("question", "query", "user_input", "text", "prompt", "input"),),
    "retrieved": (
        ("retrieved_ids", "retrieved_context_ids", "retrieved_doc_ids", "retrieved_chunk_ids", "predicted_ids"),
        ("retrieved", "retrieved_docs", "retrieved_documents", "retrieved_chunks", "results", "predictions"),
        ("contexts", "retrieved_contexts"),
    ),
    "relevant": (
        ("relevant_ids", "reference_context_ids", "relevant_doc_ids", "golden_chunk_ids", "golden_ids", "gold_ids",
         "golden_doc_ids", "expected_ids", "ground_truth_ids", "reference_ids", "positive_ids"),
        ("relevant", "relevant_docs", "expected", "golden", "gold", "ground_truth"),
    ),
    "grades": (("grades", "relevance_grades", "judgments", "qrels", "relevance"),),
    "scores": (("scores", "retrieved_scores", "retrieval_scores", "similarities"),),
    "k": (("k", "top_k"),),
}  # fmt: skip
SINGLE = ("ids", "id")  # under such a key a lone string is an id; elsewhere it may be an answer


@dataclass(frozen=True, eq=False)
class Log:
    """The rows of a log, each under the id of its question."""

    faults: Faults
    records: Records
    keys: Mapping[str, str]
    queries: Mapping[int, bytes] = field(default_factory=dict)  # row → id; rows without one are faults

    def run_rows(self, faults: Faults) -> Rows:
        """What was retrieved."""
        return self._collect(faults, "run", self._retrieved)

    def qrels_rows(self, faults: Faults) -> Rows:
        """What was wanted, with what is known of each question."""
        return replace(self._collect(faults, "qrels", self._wanted), columns=self.columns())

    def columns(self) -> dict[str, dict[str, Any]]:
        """Every key with a scalar that no other use was found for: column → question id → value."""
        taken = {name for role, name in self.keys.items() if role not in ("text", "k")}
        out: dict[str, dict[str, Any]] = {}
        for row, query in self.queries.items():
            name = query.decode("utf-8", "surrogateescape")
            for key, value in self.records.records[row].items():
                if key not in taken and isinstance(value, (str, int, float)):
                    out.setdefault("k" if key == self.keys.get("k") else key, {})[name] = value
        return out

    def texts(self) -> dict[bytes, str]:
        """The text of each question that has one."""
        key = self.keys.get("text")
        found = {query: self.records.records[row].get(key) for row, query in self.queries.items() if key}
        return {query: text for query, text in found.items() if isinstance(text, str)}

    def _collect(self, faults: Faults, kind: Kind, of: Callable[[Faults, int, Record], list[Entry]]) -> Rows:
        collected = Collected(faults, kind)
        for row, query in self.queries.items():
            line = int(self.records.line[row])
            try:
                collected.add(line, query, of(faults, line, self.records.records[row]))
            except Wrong as wrong:
                what = "retrieved" if kind == "run" else "wanted"
                faults.add("shape", [line], expected=f"{SHAPES} as what was {what}", found=str(wrong))
        return collected.rows()

    def _retrieved(self, faults: Faults, line: int, record: Record) -> list[Entry]:
        key = _key(faults.source, self.keys, "retrieved")
        found = entries(_listed(key, record.get(key)), "run")
        given = record.get(self.keys.get("scores", ""))
        if given is not None:
            found = _scored(found, given)
        numbers = [number_of(number) for _, number in found]
        if any(a is not None and b is not None and a < b for a, b in pairwise(numbers)):
            faults.add(
                "order-against-scores",
                [line],
                expected="scores that fall down the list",
                found="one that rises: results are ordered by score, not by their place (distances? negate them)",
                severity="warning",
            )
        return found

    def _wanted(self, faults: Faults, line: int, record: Record) -> list[Entry]:
        grades = record.get(self.keys.get("grades", ""))
        if grades is not None and not isinstance(grades, Pairs):
            raise Wrong(f"{said(grades)} as grades, where ids with grades must be")
        key = self.keys.get("relevant")
        if key is None or (record.get(key) is None and grades is not None):
            _key(faults.source, self.keys, "grades" if "grades" in self.keys else "relevant")
            return list(grades or [])
        found = entries(_listed(key, record.get(key)), "qrels")
        if not isinstance(record[key], Pairs):
            found = list({_hashable(entry): entry for entry in found}.values())  # listed twice counts once
        graded = {} if grades is None else grades.once(faults.source, line)
        for doc, _ in found:
            number = number_of(graded.get(str(doc)))
            if number is not None and number <= 0:
                raise Wrong(f"{said(doc)} listed as relevant and graded {number:g}")
        listed = [(doc, graded.get(str(doc), grade)) for doc, grade in found]
        names = {str(doc) for doc, _ in found}
        rest: list[Entry] = [(doc, grade) for doc, grade in grades or [] if doc not in names]
        return [(doc, 1 if grade is ABSENT else grade) for doc, grade in listed] + rest


def load(faults: Faults, data: bytes, columns: Columns | None = None) -> Log:
    """The log of a file's bytes."""
    check_roles(columns or {}, list(KEYS))
    records = read(faults, data)
    keys = _find(faults.source, records.names, columns or {})
    return Log(faults, records, keys, _queries(faults, records, keys))


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """One side of a log."""
    log = load(faults, data, columns)
    return log.run_rows(faults) if kind == "run" else log.qrels_rows(faults)


def holds(record: Mapping[str, Any], kind: Kind | None = None) -> bool:
    """Whether an object is a row of a log: it has what was retrieved, what was wanted, or (asked for none) both."""
    names = list(record)
    lists = [name for name in names if isinstance(record[name], list)]
    retrieved = bool(_fitting(lists, "retrieved"))
    wanted = bool(_fitting(lists, "relevant") or _fitting(lists, "grades"))
    return {"run": retrieved, "qrels": wanted, None: retrieved and wanted}[kind]


def _fitting(names: list[str], role: str) -> list[str]:
    for tier in KEYS[role]:
        known = {plain(key) for key in tier}
        found = [name for name in names if plain(name) in known]
        if found:
            return found
    return []


def _find(source: str, names: Any, given: Columns) -> dict[str, str]:
    keys: dict[str, str] = {}
    for role in KEYS:
        if role in given:
            if given[role] not in names:
                raise InputError.at(source, None, f"expected a key {shown(given[role])} for {role}, found none")
            keys[role] = given[role]
            continue
        found = [name for name in _fitting(names, role) if name not in given.values()]
        if role in ("query", "text"):
            found = _first(found, role)
        if len(found) > 1:
            listed = ", ".join(shown(name) for name in found)
            raise InputError.at(
                source,
                None,
                f"expected one key for {role}, found {len(found)}: {listed}",
                hint=f"say which: columns={{{role!r}: {found[0]!r}}}, --column {role}={found[0]}",
            )
        if found:
            keys[role] = found[0]
    return keys


def _first(found: list[str], role: str) -> list[str]:
    """The one that stands first among the known keys: a row may well have an id and a text beside its query id."""
    order = [plain(key) for tier in KEYS[role] for key in tier]
    return sorted(found, key=lambda name: order.index(plain(name)))[:1]


def _queries(faults: Faults, records: Records, keys: Mapping[str, str]) -> dict[int, bytes]:
    """Row → id: the query id, or else the question's text, or else the line's number."""
    out: dict[int, bytes] = {}
    seen: dict[bytes, int] = {}
    key = keys.get("query") or keys.get("text")
    for row, record in enumerate(records.records):
        line = int(records.line[row]) or row + 1
        try:
            query = id_of(record.get(key), "query id") if key else encode_id(str(line), "query id")
        except InputError as error:
            faults.add("id", [int(records.line[row])], expected=f"an id or a text as {key}", found=error.message)
            continue
        if query in seen:
            faults.add(
                "duplicate-query",
                [int(records.line[row])],
                expected="each question once",
                found=f"{shown(query)} again (first on line {seen[query]})",
                action="give each row a query_id of its own",
            )
            continue
        seen[query] = line
        out[row] = query
    return out


def _key(source: str, keys: Mapping[str, str], role: str) -> str:
    if role in keys:
        return keys[role]
    known = ", ".join(key for tier in KEYS[role] for key in tier)
    raise InputError.at(
        source, None, f"expected a key for {role} ({known}), found none", hint=f"say which: --column {role}=KEY"
    )


def _listed(key: str, value: Any) -> Any:
    """A lone string is an id where the key speaks of ids."""
    return [value] if isinstance(value, str) and plain(key).endswith(SINGLE) else value


def _scored(found: list[Entry], given: Any) -> list[Entry]:
    """Ids with the scores that stand beside them: a list as long, or an object by id."""
    if isinstance(given, Pairs):
        by = dict(given)
        return [(doc, by.get(str(doc))) for doc, _ in found]
    if not isinstance(given, list) or len(given) != len(found):
        size = f"a list of {len(given)}" if isinstance(given, list) else said(given)
        raise Wrong(f"{size} as scores of {len(found)}")
    return [(doc, number) for (doc, _), number in zip(found, given, strict=True)]


def _hashable(entry: Entry) -> tuple[str, str]:
    return repr(entry[0]), repr(entry[1])
