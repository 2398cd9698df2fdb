from __future__ import annotations

import tempfile
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, Run, evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import EntryFacts, EntrySummary, SavedEntry, base_name
from rankgauge.history.entry_codec import (
    entry_lines,
    labels_lines,
    pack,
    pack_contents,
    pack_labels,
    pack_part,
    read_entry,
    read_labels,
    unpack,
    unpack_entry,
    unpack_part,
)
from rankgauge.history.entry_columns import EntryPart, FactSources, Level, columns_of, facts_of
from rankgauge.history.location import GitState
from rankgauge.retrieval.latency import Cost
from tests.strategies import Case, cases

RUN_HEAD = {"name": "x", "sha256": None}
SAVED, COMMIT = "2026-07-02T10:11:12Z", "abc1234" + "0" * 33
GIVEN = ("run", "run_sha256", "qrels", "qrels_sha256", "conventions")  # which scores have from their summary


def unpacked_scores(scores: Scores) -> Scores:
    return Scores(
        **unpack_part(EntryPart.SCORES, pack_part(EntryPart.SCORES, scores), {n: getattr(scores, n) for n in GIVEN})
    )


def unpacked_run(data: bytes) -> Run:
    return Run(**unpack_part(EntryPart.RUN, data))


def unpacked_labels(qrels: Qrels) -> Qrels:
    values = unpack_part(EntryPart.LABELS, pack_labels(qrels) or b"")
    unanswerable, forbidden = values.pop("unanswerable"), values.pop("forbidden")
    return Qrels(**values).with_stored_facts(unanswerable, forbidden)


def saved_entry(scores: Scores, qrels: Qrels, run: Run | None, facts: EntryFacts) -> SavedEntry:
    scores = replace(scores, run_sha256=None if run is None else run.sha256, qrels_sha256=qrels.sha256)
    known = facts_of(FactSources(scores, facts, GitState(COMMIT, "main", True), "1.2.3"))
    name = base_name(SAVED, COMMIT)
    summary = EntrySummary(
        name, "0" * 32, SAVED, scores.run, scores.qrels, qrels.sha256, run is not None, known, facts.tags
    )
    return SavedEntry(summary, scores, qrels, run)


CELLS = st.none() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3)
FACTS = st.builds(
    EntryFacts,
    tags=st.sampled_from([(), ("good",), ("a", "b")]),
    command=st.none() | st.just("evaluate"),
    verdict=st.none() | st.just("pass"),
    cost=st.none() | st.builds(Cost, st.integers(0, 9), st.none() | st.floats(0, 1e6)),
    coverage=st.none() | st.floats(0, 1),
)


@st.composite
def entries(draw: st.DrawFn) -> SavedEntry:
    """Entries with and without a run, with columns of any kind and values of all numbers that there are."""
    case = draw(cases().filter(lambda case: bool(case.results)))  # an empty run has no scores
    qrels = case.qrels
    names = draw(st.lists(st.sampled_from(["kind", "unit", "é"]), unique=True))
    qrels = qrels.with_columns({name: [draw(CELLS) for _ in range(len(qrels.queries))] for name in names})
    scores = evaluate(qrels, case.run, ["nDCG@10", "RR", "ERR@5"])
    if draw(st.booleans()):
        rows = st.lists(
            st.floats(0, 1) | st.just(float("nan")), min_size=scores.values.size, max_size=scores.values.size
        )
        scores = replace(scores, values=np.array(draw(rows), dtype=np.float64).reshape(scores.values.shape))
    return saved_entry(scores, qrels, case.run if draw(st.booleans()) else None, draw(FACTS))


def shown_columns(source: Scores | Qrels) -> dict[str, str]:
    """As text, in which NaN is NaN."""
    return {name: repr(column.tolist()) for name, column in source.columns.items()}


def assert_same(found: SavedEntry, entry: SavedEntry) -> None:
    assert found.summary == entry.summary
    for name in (column.name for column in columns_of(EntryPart.SCORES) if column.name not in ("values", "columns")):
        assert np.array_equal(getattr(found.scores, name), getattr(entry.scores, name)), name
    assert found.scores.values.tobytes() == entry.scores.values.tobytes()
    assert shown_columns(found.scores) == shown_columns(entry.scores)
    assert {name: getattr(found.scores, name) for name in GIVEN} == {n: getattr(entry.scores, n) for n in GIVEN}
    assert (found.run is None) is (entry.run is None)
    if found.run is not None and entry.run is not None:
        assert (found.run.name, found.run.sha256) == (entry.run.name, entry.run.sha256)
        assert found.run.status.tolist() == entry.run.status.tolist()


@settings(max_examples=60, deadline=None)
@given(entries())
def test_an_entry_comes_back_from_both_encodings(entry: SavedEntry) -> None:
    assert entry.qrels is not None
    unpacked = unpack_entry(entry.summary, *pack_contents(entry.scores, entry.run), pack_labels(entry.qrels))
    assert_same(unpacked, entry)
    assert unpacked.qrels is not None
    assert unpacked.qrels.sha256 == entry.qrels.sha256
    assert shown_columns(unpacked.qrels) == shown_columns(entry.qrels)
    with tempfile.TemporaryDirectory() as folder:
        path, labels = Path(folder, "entry.jsonl"), Path(folder, "labels.jsonl")
        path.write_bytes(entry_lines(entry))
        labels.write_bytes(labels_lines(entry.qrels))
        read, qrels = read_entry(path), read_labels(labels)
    assert_same(read, entry)
    assert qrels.sha256 == entry.qrels.sha256
    assert pack_contents(read.scores, read.run) == pack_contents(entry.scores, entry.run)
    assert entry_lines(unpacked) == entry_lines(read) == entry_lines(entry)


@pytest.mark.parametrize(
    ("part", "made", "elsewhere"),
    [
        (EntryPart.ENTRY, EntrySummary, {"facts"}),
        (EntryPart.SCORES, Scores, {*GIVEN, "extras", "answers"}),  # the latency is a fact of the entry
        (EntryPart.RUN, Run, {"offsets", "columns", "extras"}),
        (EntryPart.LABELS, Qrels, {"offsets", "columns", "iters", "by_group"}),
    ],
)
def test_nothing_of_an_entry_is_forgotten(part: EntryPart, made: Any, elsewhere: set[str]) -> None:
    """The list of columns has every field; rows of documents have offsets, and queries their columns, in one place."""
    stored = {column.name for column in columns_of(part)} - ({"unanswerable"} if made is Qrels else set())  # a column
    assert stored == {field.name for field in fields(made)} - elsewhere


def test_no_two_columns_of_a_line_have_the_same_key() -> None:
    for part in EntryPart:
        for levels in ((Level.PART,), (Level.QUERY, Level.DOCUMENT)):
            keys = [column.key for column in columns_of(part, *levels)]
            assert len(set(keys)) == len(keys)


@settings(max_examples=40)
@given(cases())
def test_judgments_and_runs_come_back_with_the_same_hash(case: Case) -> None:
    assert unpacked_labels(case.qrels).sha256 == case.qrels.sha256
    run = unpacked_run(pack_part(EntryPart.RUN, case.run))
    assert run.sha256 == case.run.sha256
    assert run.name == case.run.name


VALUES = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf"), 5e-324])


@settings(max_examples=40)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=2))
def test_values_come_back_to_the_last_bit(values: list[tuple[float, float]]) -> None:
    scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1}, "q2": {"b": 1}}, ["RR", "P@5"])
    scores = replace(scores, values=np.array(values, dtype=np.float64))
    found = unpacked_scores(scores)
    assert found.values.tobytes() == scores.values.tobytes()


def test_everything_else_of_scores_comes_back() -> None:
    columns = {"kind": {"q1": "x", "q2": None}, "k": {"q1": 1, "q2": 2}, "weight": {"q1": 0.5, "q2": 1.5}}
    qrels = Qrels.from_dict({"q1": {"a": 2}, "q2": {}}, columns=columns)
    scores = evaluate(qrels, Run.from_dict({"q1": {"b": 1}}, failed=["q2"]), ["ERR@5", "R@k"])
    found = unpacked_scores(scores)
    assert found.measures == scores.measures
    assert found.requested == scores.requested
    assert found.queries == scores.queries
    assert found.notes == scores.notes
    for name in ("status", "averaged", "without_relevant"):
        assert getattr(found, name).tolist() == getattr(scores, name).tolist()
    assert {name: column.tolist() for name, column in found.columns.items()} == {
        name: column.tolist() for name, column in scores.columns.items()
    }
    assert found.to_dict(per_query=True) == scores.to_dict(per_query=True)


def test_ids_that_are_not_text_come_back() -> None:
    qrels = Qrels.from_columns([b"q\xff", b"q\xff"], [b"d\xfe", b"d\xff"], [1, 2])
    assert unpacked_labels(qrels).sha256 == qrels.sha256
    run = Run.from_columns([b"q\xff"], [b"d\xfe"], [np.inf])
    assert unpacked_run(pack_part(EntryPart.RUN, run)).sha256 == run.sha256


def test_judgments_by_subtopic_have_no_content() -> None:
    qrels = Qrels.from_columns(["q"], ["d"], [1.0], iters=["subtopic"], by_subtopic=True)
    assert pack_labels(qrels) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-5],
        lambda data: b"",
        lambda data: zlib.compress(b'{"sizes": [3]}\nab'),
        lambda data: zlib.compress(b"[]\n"),
        lambda data: pack({**RUN_HEAD, "counts": [1, 1]}, b"", b"", b"\0", b"", b""),
        lambda data: pack({**RUN_HEAD, "counts": [0, 0]}, b"\1" * 8, b"", b"", b"", b""),
        lambda data: pack({**RUN_HEAD, "counts": [1, 0]}, bytes(16), b"", b"\x09", b"\1" + bytes(7) + b"q", b""),
    ],
)  # fmt: skip
def test_damaged_bytes_are_an_error(damage: Any) -> None:
    run = Run.from_dict({"q": {"d": 1.0}})
    with pytest.raises((ValueError, KeyError, TypeError, zlib.error)):
        unpacked_run(damage(pack_part(EntryPart.RUN, run)))


def test_more_than_the_maximum_is_not_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.history.entry_codec.MAX_BYTES", 10)
    with pytest.raises(ValueError, match="too large"):
        unpack(zlib.compress(bytes(1000)))
