"""Inputs that are empty, None, swapped or a URL: each gets one clear message."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from rankgauge import InputError, UsageError, evaluate, evaluate_retriever
from rankgauge.comparison.order_agreement import qrels_agreement
from rankgauge.errors import InputTypeError
from tests.conftest import Outcome

JUDGED: dict[str, Any] = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RESULTS: dict[str, Any] = {"q1": {"a": 0.5}, "q2": {"c": 0.75}}
URL = "https://search.example.org:9200/find"


@pytest.mark.parametrize(
    ("qrels", "run", "expected"),
    [
        ({}, {}, "the judgments are empty"),
        ({}, RESULTS, "the judgments are empty"),
        (JUDGED, {}, "run 'run' is empty"),
        ({"q1": 7}, RESULTS, "judgments of query 'q1' must map documents to grades, .*found int: '7'"),
        ({**JUDGED, "q3": 7}, RESULTS, "judgments of query 'q3' must map documents to grades, .*found int: '7'"),
        (JUDGED, {"q1": None}, "results of query 'q1' must map documents to scores, .*found None\n"),
        (JUDGED, {**RESULTS, "q3": None}, "results of query 'q3' must map documents to scores, .*found None\n"),
    ],
)
def test_empty_and_none_are_one_clear_message(qrels: Any, run: Any, expected: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=expected):
        evaluate(qrels, run)


@pytest.mark.parametrize(
    ("qrels", "run", "expected"),
    [
        ({}, {}, "qrels.json: no judgments in the file"),
        (JUDGED, {}, "run.json: no results in the file"),
        ({**JUDGED, "q3": 7}, RESULTS, "qrels.json: expected a list of ids, .*, found .* for query 'q3'"),
        (JUDGED, {"q1": None}, "run.json: expected a list of ids, .*, found nothing for query 'q1'"),
        (JUDGED, {**RESULTS, "q3": None}, "run.json: expected a list of ids, .*, found nothing for query 'q3'"),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_so_they_are_in_json(qrels: Any, run: Any, expected: str, indent: int | None, tmp_path: Path) -> None:
    for name, data in (("qrels.json", qrels), ("run.json", run)):
        (tmp_path / name).write_text(json.dumps(data, indent=indent))
    with pytest.raises(InputError, match=expected):
        evaluate(tmp_path / "qrels.json", tmp_path / "run.json")


def swapped(qrels: Any, run: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rg.RankgaugeWarning)
        return "values-swapped" in [note.code for note in evaluate(qrels, run, "nDCG@1").notes]


def test_values_that_look_swapped_are_asked_about(tmp_path: Path) -> None:
    assert swapped(RESULTS, JUDGED)
    assert not swapped(JUDGED, RESULTS)
    (tmp_path / "a.json").write_text(json.dumps(RESULTS))
    (tmp_path / "b.json").write_text(json.dumps(JUDGED))
    assert swapped(tmp_path / "a.json", tmp_path / "b.json")


def as_frame(data: Mapping[str, Mapping[str, float]], value: str) -> Any:
    pandas = pytest.importorskip("pandas")
    rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
    return pandas.DataFrame(rows, columns=["query", "doc", value])


FRACTIONS = {"q1": {"a": 0.7, "b": 0.3}, "q2": {"c": 0.9, "d": 0.1}}
WHOLE_NUMBERS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 1}}
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "evaluate": lambda labels, run: evaluate(labels, run, "nDCG@10"),
    "evaluate_runs": lambda labels, run: rg.evaluate_runs(labels, [run, run], "nDCG@10"),
    "compare": lambda labels, run: rg.compare(labels, [run, run], "nDCG@10"),
    "gate": lambda labels, run: rg.gate(labels, run, require="nDCG@10>=0"),
    "agreement": lambda labels, run: qrels_agreement(labels, labels, [run, run], "nDCG@10"),
    "tune": lambda labels, run: rg.retrieval.tune(labels, [run, run]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["dicts", "frames", "objects"])
def test_python_warns_of_values_that_look_swapped(call: str, kind: str) -> None:
    labels: Any = FRACTIONS
    run: Any = WHOLE_NUMBERS
    if kind == "frames":
        labels, run = as_frame(FRACTIONS, "grade"), as_frame(WHOLE_NUMBERS, "score")
    elif kind == "objects":
        labels, run = rg.Qrels.from_dict(FRACTIONS), rg.Run.from_dict(WHOLE_NUMBERS)
    with pytest.warns(rg.RankgaugeWarning, match="are they swapped?"):
        CALLS[call](labels, run)


@pytest.mark.parametrize(
    "words",
    [
        "evaluate a.json b.json -m nDCG@10",
        "compare a.json b.json c.json -m nDCG@10",
        "gate a.json b.json --require nDCG@10>=0",
        "gate a.json b.json -m nDCG@10 --baseline c.json",
        "tune a.json b.json c.json -m nDCG@10",
        "evaluate a.json b.json --html page.html -m nDCG@10",
        "benchmark run a.json b.json --queries queries.jsonl -o out -m nDCG@10",
    ],
)
def test_every_command_asks_once_whether_values_are_swapped(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(json.dumps(FRACTIONS))
    Path("b.json").write_text(json.dumps(WHOLE_NUMBERS))
    Path("c.json").write_text(json.dumps({**WHOLE_NUMBERS, "q1": {"a": 0, "b": 1}}))
    Path("queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n')
    done = command(*words.split())
    assert done.code in (0, 1), done.err
    assert (done.out + done.err).count("are they swapped?") == 1


def test_fractions_as_grades_are_fine_with_scores_or_ranks() -> None:
    fractions = {"q1": {"a": 0.5, "b": 1.0}}
    assert not swapped(fractions, {"q1": {"a": 2.5, "b": 1.0}})
    assert not swapped(fractions, {"q1": ["c", "b", "a"]})
    assert not swapped({"q1": {"a": 1, "b": 2}}, {"q1": {"a": 7, "b": 3}})
    assert swapped(fractions, {"q1": {"a": 7, "b": 3}})


def test_a_url_needs_a_file_that_describes_the_server() -> None:
    hint = r"YAML file.*docs/guides/http\.md"
    with pytest.raises(UsageError, match=f"is a URL, which does not say how the server is asked\n.*{hint}"):
        evaluate(JUDGED, URL)
    with pytest.raises(InputError, match=f"is a URL, not a file\n.*{hint}"):
        evaluate(URL, RESULTS)
    with pytest.raises(UsageError, match=f"is a URL\n.*{hint}"):
        evaluate_retriever(URL, [{"query": "a", "relevant_ids": ["b"]}])
