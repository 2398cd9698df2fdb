from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, Run, evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.history.packing import (
    pack,
    pack_qrels,
    pack_run,
    pack_scores,
    unpack,
    unpack_qrels,
    unpack_run,
    unpack_scores,
)
from tests.strategies import Case, cases

RUN_HEAD = {"name": "x", "sha256": None}


def names(scores: Scores) -> dict[str, Any]:
    return {name: getattr(scores, name) for name in ("run", "run_sha256", "qrels", "qrels_sha256", "conventions")}


@settings(max_examples=40)
@given(cases())
def test_judgments_and_runs_come_back_with_the_same_hash(case: Case) -> None:
    assert unpack_qrels(pack_qrels(case.qrels) or b"").sha256 == case.qrels.sha256
    run = unpack_run(pack_run(case.run))
    assert run.sha256 == case.run.sha256
    assert run.name == case.run.name


VALUES = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf"), 5e-324])


@settings(max_examples=40)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=2))
def test_values_come_back_to_the_last_bit(values: list[tuple[float, float]]) -> None:
    scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1}, "q2": {"b": 1}}, ["RR", "P@5"])
    scores = replace(scores, values=np.array(values, dtype=np.float64))
    found = unpack_scores(pack_scores(scores), **names(scores))
    assert found.values.tobytes() == scores.values.tobytes()


def test_everything_else_of_scores_comes_back() -> None:
    columns = {"kind": {"q1": "x", "q2": None}, "k": {"q1": 1, "q2": 2}, "weight": {"q1": 0.5, "q2": 1.5}}
    qrels = Qrels.from_dict({"q1": {"a": 2}, "q2": {}}, columns=columns)
    scores = evaluate(qrels, Run.from_dict({"q1": {"b": 1}}, failed=["q2"]), ["ERR@5", "R@k"])
    found = unpack_scores(pack_scores(scores), **names(scores))
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
    assert unpack_qrels(pack_qrels(qrels) or b"").sha256 == qrels.sha256
    run = Run.from_columns([b"q\xff"], [b"d\xfe"], [np.inf])
    assert unpack_run(pack_run(run)).sha256 == run.sha256


def test_judgments_of_groups_have_no_content() -> None:
    qrels = Qrels.from_groups(["q"], ["judge"], ["d"], [1.0])
    assert pack_qrels(qrels) is None


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
        unpack_run(damage(pack_run(run)))


def test_more_than_the_maximum_is_not_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.history.packing.MAX_BYTES", 10)
    with pytest.raises(ValueError, match="too large"):
        unpack(zlib.compress(bytes(1000)))
