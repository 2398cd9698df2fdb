from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, InputError, Qrels, Reading, Run, evaluate, gate, write_baseline
from rankgauge.comparison.gate.baseline_file import read_baseline
from rankgauge.render.documents.scores import as_dict

Ranked = Callable[..., dict[str, dict[str, float]]]


@pytest.fixture
def stored(tmp_path: Path, judged: Any, ranked: Ranked) -> Path:
    path = tmp_path / "baseline.json"
    write_baseline(path, judged, ranked(), ["RR", "nDCG@10", "FirstRel"])
    return path


def changed(path: Path, change: Callable[[Any], object]) -> Path:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    return path


def test_a_baseline_holds_the_schema_of_scores_and_what_was_retrieved(
    stored: Path, judged: Any, ranked: Ranked
) -> None:
    data = json.loads(stored.read_text())
    assert data["schema"] == "rankgauge.baseline/4"
    scores = evaluate(judged, ranked(), ["RR", "nDCG@10", "FirstRel"], reading=Reading(fingerprint=True))
    expected = as_dict([scores], per_query=True)
    del expected["warnings"]
    assert data["scores"] == json.loads(json.dumps(expected))
    assert data["scores"]["qrels"]["sha256"] == Qrels.from_dict(judged).sha256
    assert data["retrieved"][0]["q07"] == {"d7": 1, "e7": 2, "x7": 3}


def test_what_is_written_is_read_back(stored: Path) -> None:
    found = read_baseline(stored)
    assert found is not None
    assert found.measures == ("RR", "nDCG@10", "FirstRel")
    assert len(found.queries) == 30
    assert found.column("RR").tolist() == [1.0] * 30
    assert found.to_dict() == json.loads(stored.read_text())


def test_no_value_is_null_and_ids_are_kept_byte_by_byte(tmp_path: Path) -> None:
    qrels = Qrels.from_columns([b"q\xff", b"q\xff", "é"], ["a", b"d\xfe", "b"], [1, 1, 1])
    run = Run.from_columns([b"q\xff", "é"], [b"d\xfe", "nothing"], [1, 1])
    write_baseline(tmp_path / "b.json", qrels, run, ["FirstRel", "RR"])
    found = read_baseline(tmp_path / "b.json")
    assert found is not None
    assert found.retrieved == {"q\udcff": {"d\udcfe": 1}}
    assert gate(qrels, run, baseline=tmp_path / "b.json", measures="RR").passed


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_baseline(tmp_path / "nowhere" / "b.json", judged, ranked())
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 x\n")
    with pytest.raises(InputError, match="would overwrite the input"):
        write_baseline(tmp_path / "run", tmp_path / "qrels", tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("query_set", "both"), ("no_relevant", "skip"), ("compat", "trec_eval-10"), ("rel", 2), ("graded", False)],
)
def test_other_conventions_are_refused_with_the_reason(
    stored: Path, judged: Any, ranked: Ranked, option: str, value: Any
) -> None:
    with pytest.raises(InputError, match=f"cannot be compared with this run: {option} was '.*' and is now '{value}'"):
        gate(judged, ranked(), baseline=stored, conventions=Conventions(**{option: value}))


def test_other_queries_are_refused_with_the_reason(stored: Path, judged: Any, ranked: Ranked) -> None:
    def forget(data: Any) -> None:
        del data["scores"]["runs"][0]["per_query"]["q05"]

    with pytest.raises(InputError, match=r"other queries have values: 1 query not in the baseline \('q05'\)"):
        gate(judged, ranked(), baseline=changed(stored, forget))


def test_a_measure_that_is_not_stored_is_named(stored: Path, judged: Any, ranked: Ranked) -> None:
    with pytest.raises(InputError, match="the baseline has no values for P@5; it has RR, nDCG@10, FirstRel"):
        gate(judged, ranked(), baseline=stored, measures="P@5")


def set_in(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (set_in("schema", to="rankgauge.scores/1"), "expected the schema rankgauge.baseline/4 at schema"),
        (set_in("scores", to=[]), "expected a string at scores.schema, found nothing"),
        (set_in("scores", "schema", to="x"), "expected the schema rankgauge.scores/1 at scores.schema"),
        (set_in("scores", "runs", to=[]), "expected one or more runs at scores.runs, found none"),
        (set_in("scores", "qrels", "sha256", to=None), "expected a string at scores.qrels.sha256, found 'null'"),
        (set_in("scores", "qrels", "queries", to=True), "expected a whole number at scores.qrels.queries"),
        (set_in("scores", "conventions", to=3), "expected an object at scores.conventions"),
        (set_in("scores", "runs", 0, "per_query", to=3), "expected an object at .*per_query, found '3'"),
        (set_in("scores", "runs", 0, "per_query", "q01", to={}), "expected a value of RR at per_query of 'q01'"),
        (
            set_in("scores", "runs", 0, "per_query", "q01", "RR", to="1"),
            "expected a number or null at per_query of 'q01'",
        ),
        (set_in("scores", "runs", 0, "per_query", "q01", "RR", to=True), "expected a number or null"),
        (set_in("scores", "runs", to=[3]), r"expected an object at scores.runs\[0\], found '3'"),
        (set_in("retrieved", to=[]), "expected 1 object at retrieved, found 0"),
        (set_in("retrieved", 0, "q01", to=[1]), "expected the ranks of documents at retrieved of 'q01'"),
    ],
)
def test_a_malformed_baseline_is_reported_with_the_path_of_the_fault(
    stored: Path, change: Callable[[Any], None], said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_baseline(changed(stored, change))
    assert str(stored) in str(caught.value)
    assert caught.value.hint is not None


def test_a_baseline_that_is_cut_off_is_not_json(stored: Path) -> None:
    stored.write_text(stored.read_text()[:-300])
    with pytest.raises(InputError, match="not JSON"):
        read_baseline(stored)
    stored.write_text('{"schema": "rankgauge.baseline/4", "scores": NaN}')
    with pytest.raises(InputError, match="NaN"):
        read_baseline(stored)
    stored.write_text('{"schema": "rankgauge.baseline/4", "scores": {}, "scores": {}}')
    with pytest.raises(InputError, match="'scores' twice"):
        read_baseline(stored)


def test_a_baseline_with_an_unknown_measure_is_bad_input(stored: Path, judged: Any, ranked: Ranked) -> None:
    stored.write_text(stored.read_text().replace("nDCG@10", "nDGC@10"))
    with pytest.raises(InputError, match=r"baseline.json: unknown measure 'nDGC'"):
        gate(judged, ranked(), baseline=stored)


def test_a_run_is_not_a_baseline_even_in_json(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(ranked()))
    assert read_baseline(path) is None
    assert gate(judged, ranked(), baseline=path).passed
    path.write_text("".join(json.dumps({"query_id": "q01", "doc_id": f"d{n}", "score": -n}) + "\n" for n in range(3)))
    assert read_baseline(path) is None
