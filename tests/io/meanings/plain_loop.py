"""Random test cases with everything that a row can say, and what they mean by a plain loop.

The loop shares no code with the readers: no key finder, no parser of flags, no join.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
YES: list[Any] = [True, "true", "True", "yes", "1", 1]
NO: list[Any] = [False, "false", "False", "no", "0", 0]
FLAGS = ("answerable", "is_answerable", "should_refuse")
DOCS = ("a", "b", "c", "dir/d", "e#2")
FORBIDDEN = ("z", "secret/", "gone")
LEAKING = ("z", "secret/x", "other")


class Refused(Exception):
    """The rows cannot be read; the text says why."""


@dataclass(frozen=True)
class DataSet:
    """Cases, each with its results; ``beside`` is an object beside the list of cases in a file."""

    seed: int
    rows: list[Row]
    label_key: str
    beside: Row | None
    has_separate_results: bool
    extra: list[Row]  # results of queries that no case has

    @property
    def shape(self) -> tuple[Any, ...]:
        """What kinds of rows there are, whatever their values."""
        kinds = {
            tuple(sorted((key, _kind(value)) for key, value in row.items() if key not in ("query_id", "question")))
            for row in self.rows
        }
        return (self.label_key, self.beside is not None, self.has_separate_results, bool(self.extra), frozenset(kinds))


def _kind(value: Any) -> str:
    """The type of a value, and whether it is empty or mixed."""
    if isinstance(value, list):
        kinds = sorted({type(item).__name__ for item in value})
        return f"list of {kinds}"
    return f"{type(value).__name__}{'' if value else ' empty'}"


def draw(seed: int) -> DataSet:
    """The data set of a seed. The first case always has an answer that was found or not."""
    drawn = random.Random(seed)
    label_key = drawn.choice(["relevant", "relevant_ids", "expected_sources", "grades"])
    flag = drawn.choice([None, *FLAGS])
    has_forbidden, has_refused = drawn.random() < 0.5, drawn.random() < 0.3
    is_separate = drawn.random() < 0.6
    rows: list[Row] = []
    for number in range(drawn.randint(2, 7)):
        row: Row = {"query_id": f"q{number}", "question": f"how {number}?"}
        labels = _labels(drawn, label_key, is_first=number == 0, may_lack=not is_separate)
        row |= {} if labels is ABSENT else {label_key: labels}
        if flag is not None and number and drawn.random() < 0.6:
            row[flag] = "perhaps" if drawn.random() < 0.04 else drawn.choice([*YES, *NO, None, ""])
        if has_forbidden and drawn.random() < 0.6:
            row["forbidden"] = drawn.sample(FORBIDDEN, drawn.randint(0, 2))
        if number == 0 or drawn.random() < 0.85:
            row["retrieved"] = _results(drawn)
        if has_refused and "retrieved" in row and drawn.random() < 0.5:
            row["refused"] = drawn.choice([*YES, *NO, None])
        rows.append(row)
    beside = {"question": "other?", label_key: ["b"]} if is_separate and drawn.random() < 0.3 else None
    extra = [{"query_id": "unknown", "retrieved": _results(drawn)}] if is_separate and drawn.random() < 0.3 else []
    return DataSet(seed, rows, label_key, beside, is_separate, extra)


ABSENT = object()


def _labels(drawn: random.Random, key: str, *, is_first: bool, may_lack: bool) -> Any:
    docs = drawn.sample(DOCS, drawn.randint(1, 3))
    graded = {doc: drawn.choice([0, 1, 2]) for doc in docs} if key == "grades" else docs
    if is_first:
        return {docs[0]: 1, **dict.fromkeys(docs[1:], 0)} if key == "grades" else docs
    nothing: list[Any] = [{} if key == "grades" else [], None]
    return drawn.choice([graded, graded, graded, *nothing, *([ABSENT] if may_lack else [])])


def _results(drawn: random.Random) -> list[Any]:
    docs = drawn.sample([*DOCS, *LEAKING, "n"], drawn.randint(0, 5))
    kind = drawn.choice(["ids", "tied", "falling", "objects"])
    if kind == "tied":
        return [{"id": doc, "score": 0.5} for doc in docs]
    if kind == "falling":
        return [{"id": doc, "score": 1 - rank / 10} for rank, doc in enumerate(docs)]
    return [{"id": doc} for doc in docs] if kind == "objects" else docs


def expected(data: DataSet) -> dict[str, float | None]:
    """RR, FalseAnswer and Leak, each over its own queries; raises Refused if a row cannot be read."""
    ranks: list[float] = []
    false_answers: list[float] = []
    leaks: list[float] = []
    for row in data.rows:
        answer = _flag(row)
        is_listed = data.label_key in row
        labels = row.get(data.label_key) or []
        if not data.has_separate_results and not is_listed and "retrieved" not in row and answer is not False:
            raise Refused("a row of a log without labels and without results")
        if answer is True and is_listed and not labels:
            raise Refused("the flag says that there is an answer, and nothing is listed")
        grades = labels if isinstance(labels, dict) else dict.fromkeys(labels, 1)
        is_unlabeled = not is_listed and answer is not False
        expects_nothing = answer is False or (is_listed and not grades)
        found = [item["id"] if isinstance(item, dict) else item for item in row.get("retrieved", ())]
        forbidden = row.get("forbidden") or []
        is_asked = "retrieved" in row
        if forbidden and is_asked:
            pairs = [(doc, one) for doc in found for one in forbidden]
            leaks.append(float(any(doc == one or (one.endswith("/") and doc.startswith(one)) for doc, one in pairs)))
        if is_unlabeled:
            continue
        if not expects_nothing:
            places = [rank for rank, doc in enumerate(found, 1) if grades.get(doc, 0) >= 1]
            ranks.append(1 / places[0] if places else 0.0)
            continue
        refused = _truth(row.get("refused"))
        false_answers.append(float(is_asked and (bool(found) if refused is None else not refused)))
    return {"RR": _mean(ranks), "FalseAnswer": _mean(false_answers), "Leak": _mean(leaks)}


def _flag(row: Row) -> bool | None:
    """Whether the flag says that there is an answer; None if there is none, or if it says neither."""
    for name in FLAGS:
        value = row.get(name)
        if value is None or value == "":
            continue
        said = _truth(value)
        if said is None:
            raise Refused(f"{value!r} is neither true nor false")
        if name == "should_refuse":
            return False if said else None
        return said
    return None


def _truth(value: Any) -> bool | None:
    if any(value is one or (value == one and type(value) is type(one)) for one in YES):
        return True
    return False if any(value is one or (value == one and type(value) is type(one)) for one in NO) else None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
