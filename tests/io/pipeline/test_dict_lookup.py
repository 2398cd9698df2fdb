"""Dicts are joined directly, with the same result as a run made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, Run, evaluate
from rankgauge.core import compiled, ranking
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.ranking import COMPATS, Compat
from rankgauge.io.pipeline import dict_lookup
from rankgauge.io.pipeline.dict_lookup import dict_hits
from tests.strategies import Case, cases


def join_dict(qrels: Qrels, results: Any, compat: Compat = "trec_eval-9") -> Hits:
    """The join of a dict, by the extension if it takes it."""
    found = dict_hits(qrels, results, compat)
    return join(qrels, Run.from_dict(results), compat=compat) if found is None else found


def assert_same(quick: Hits, plain: Hits) -> None:
    for name in ("status", "retrieved", "offsets", "rank", "grade", "ordinal", "tie_first", "tie_last"):
        assert np.array_equal(getattr(quick, name), getattr(plain, name)), name


needs_extension = pytest.mark.skipif(compiled.scanner is None, reason="the extension is not in use")


@pytest.fixture(params=["extension", "NumPy"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once with the extension, once without."""
    if request.param == "NumPy":
        monkeypatch.setattr(compiled, "scanner", None)
    elif compiled.scanner is None:
        pytest.skip("the extension is not in use")


@pytest.mark.parametrize("compat", COMPATS)
@given(case=cases(queries=6))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("either")
def test_a_dict_is_joined_like_the_run_made_from_it(compat: Compat, case: Case) -> None:
    results = {query: dict(rows) for query, rows in case.results.items()}
    found = dict_hits(case.qrels, results, compat)
    assert found is not None
    assert_same(found, join(case.qrels, Run.from_dict(results), compat=compat))


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("judged", [1, 4, 5, 60, 300])
@pytest.mark.parametrize("scores", [1, 3, 40, 10_000])
def test_many_judged_documents_and_large_ties(compat: Compat, judged: int, scores: int) -> None:
    rng = np.random.default_rng([judged, scores])
    docs = [f"{'é' if n % 7 == 0 else 'd'}{n}" for n in rng.permutation(400).tolist()]
    results = {
        query: {doc: int(score) * 1e-9 + 1 for doc, score in zip(docs, rng.integers(0, scores, 400), strict=True)}
        for query in ("1", "2")
    }
    qrels = Qrels.from_dict({"1": dict.fromkeys(sorted(docs)[:judged], 1), "2": {"none": 1}, "3": {"d1": 1}})
    assert_same(join_dict(qrels, results, compat=compat), join(qrels, Run.from_dict(results), compat=compat))


@pytest.mark.parametrize(
    "row",
    [
        {"a": 1, "b": 2, "c": 2},
        {"a": 2**70, "b": 1.0},
        {"a": float("inf"), "b": float("-inf"), "c": 3},
        {"a": 0.0, "b": -0.0, "c": 0},
        {"a": True, "b": 1},
        {"a": np.float32(1), "b": np.float64(1)},
        {"a": 1.0, "\udc80": 1.0, "é": 1.0},
    ],
)
@pytest.mark.usefixtures("either")
def test_any_number_and_any_id_joins_like_the_run(row: dict[str, Any]) -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": 2, "é": 1}})
    assert_same(join_dict(qrels, {"q": row}), join(qrels, Run.from_dict({"q": row})))


@needs_extension
def test_a_key_that_changes_the_dict_does_no_harm() -> None:
    class Changing(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            row.clear()
            return True

    row: dict[str, float] = {Changing("a"): 1.0, "b": 2.0, "c": 2.0}
    assert compiled.scanner is not None
    compiled.scanner.join_dicts([row], ["".join(["a"])], np.array([0, 1]), False)


@needs_extension
@pytest.mark.parametrize("offsets", [[0], [0, 3], [1, 1], [0, -1], [0, 1, 0]])
def test_offsets_outside_the_documents_are_refused(offsets: list[int]) -> None:
    assert compiled.scanner is not None
    with pytest.raises(ValueError, match="offsets"):
        compiled.scanner.join_dicts([{"a": 1.0}], ["a"], np.array(offsets), False)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"q": {"a": None}}, "'a' for query 'q' must be a number, found NoneType"),
        ({"q": {"a": 1.0, "b": None}}, "'b' for query 'q' must be a number"),
        ({"q": {"a": "1"}}, "found str"),
        ({"q": {"a": 1.0, "b": "x"}}, "'b' for query 'q' must be a number, found str"),
        ({"q": {"a": 1.0, "b": float("nan")}}, "'b' for query 'q' is NaN"),
        ({1: {"a": 1.0}}, "query id must be a string, found int"),
        ({"q": {7: 1.0}}, "document id of query 'q' must be a string, found int"),
        ({"q": {"a": 1.0, 5: 2.0}}, "document id of query 'q' must be a string, found int: '5'"),
        ({"q": {"a": 1.0}, "unjudged": {"a": 1.0, 5: 2.0}}, "document id of query 'unjudged' must be a string"),
        ({"q": {"a": 1.0, "": 2.0}}, "document id of query 'q' is empty"),
        ({"q": {"a": 1.0}, "p": 3}, "must map documents to scores|not iterable"),
    ],
)
@pytest.mark.usefixtures("either")
def test_an_error_names_the_query_and_the_document(results: Any, message: str) -> None:
    with pytest.raises((InputError, TypeError), match=message):
        evaluate({"q": {"a": 1}, "p": {"a": 1}}, results, "RR")


def test_bytes_numpy_numbers_and_empty_rows() -> None:
    assert evaluate({"q": {"a": 1}}, {b"q": {b"a": 1.0}}, "RR")["RR"] == 1.0
    assert evaluate({"q": {"a": 1}}, {"q": {"b": np.float32(2), "a": np.int64(1)}}, "RR")["RR"] == 0.5
    scores = evaluate({"q": {"a": 1}, "p": {"a": 1}}, {"q": {}, "p": {"a": True}}, "RR")
    assert scores.per_query("RR") == {"p": 1.0, "q": 0.0}


def test_ids_that_are_not_utf8_are_ordered_by_their_bytes() -> None:
    results = {"q": {"caf\udce9": 1.0, "café": 1.0, "a": 1.0}}
    qrels = Qrels.from_dict({"q": {"caf\udce9": 1}})
    assert join_dict(qrels, results).rank.tolist() == join(qrels, Run.from_dict(results)).rank.tolist() == [1]


def test_the_order_of_ties_has_one_home_for_dicts_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "scanner", None)
    """Another rule in core/ranking.py changes both joins; a copy of the rule elsewhere would not change."""
    results = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}, "p": {"b": 2.0, "a": 2.0}}
    qrels = Qrels.from_dict({"q": {"a": 1, "d": 1}, "p": {"b": 1}})
    assert join_dict(qrels, results).rank.tolist() == join(qrels, Run.from_dict(results)).rank.tolist() == [1, 3, 4]

    def ascending(docs: Ids, tie: Ints) -> Ints:
        return docs.order(tie)

    monkeypatch.setattr(ranking, "order_ties", ascending)
    assert join_dict(qrels, results).rank.tolist() == join(qrels, Run.from_dict(results)).rank.tolist() == [2, 1, 4]
    monkeypatch.setattr(ranking, "comparable", lambda scores, compat: -scores)
    assert join_dict(qrels, results).rank.tolist() == join(qrels, Run.from_dict(results)).rank.tolist() == [2, 1, 2]


def test_ids_are_ordered_in_descending_order_in_one_file_only() -> None:
    source = Path(dict_lookup.__file__).parents[2]
    users = [path.name for path in source.rglob("*.py") if "descending=True" in path.read_text(encoding="utf-8")]
    assert users == ["ranking.py"]


class Grade(int):
    """A number with a conversion of its own, which must be asked."""

    def __float__(self) -> float:
        return 2.0


def judged(judgments: Any) -> tuple[object, ...]:
    """What becomes of judgments, or how they are refused."""
    try:
        qrels = Qrels.from_dict(judgments)
    except InputError as error:
        return type(error), str(error)
    return list(qrels.queries), list(qrels.docs), qrels.grades.tolist(), qrels.offsets.tolist(), qrels.doc_names


ids = st.text("ab\0é\udce9\ud800", max_size=2) | st.sampled_from([b"a", b"", 7])
grades = st.sampled_from([0, 1, -1, True, 2.5, float("nan"), 10**400, "1", None, np.float64(3), np.int64(1), Grade(1)])
plain_rows = st.dictionaries(st.text("abcé", min_size=1, max_size=3), st.integers(-2, 3) | st.floats(-2, 3), max_size=4)


@needs_extension
@given(st.dictionaries(st.text("qré", min_size=1), plain_rows | st.dictionaries(ids, grades, max_size=3), max_size=4))
def test_the_extension_gathers_judgments_as_python_does(judgments: dict[str, Any]) -> None:
    gathered = judged(judgments)
    scanner, compiled.scanner = compiled.scanner, None
    try:
        assert judged(judgments) == gathered
    finally:
        compiled.scanner = scanner


@needs_extension
def test_the_extension_gathers_plain_judgments_itself() -> None:
    assert compiled.scanner is not None
    rows = [{"d1": 1, "é": 0.5}, {}, {"d1": True}]
    docs, text, lengths, numbers = compiled.scanner.gather_dicts(rows)
    assert (docs, text.rstrip(b"\0")) == (["d1", "é", "d1"], "d1éd1".encode())
    assert np.frombuffer(lengths, dtype=np.int64).tolist() == [2, 2, 2]
    assert np.frombuffer(numbers).tolist() == [1.0, 0.5, 1.0]
    assert compiled.scanner.gather_dicts([{"d": Grade(1)}]) is None
    assert compiled.scanner.gather_dicts([{"a\0b": 1}]) is None
    with pytest.raises(TypeError, match="list"):
        compiled.scanner.gather_dicts(())
