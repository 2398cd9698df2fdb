"""A baseline of several runs: stored one by one, and compared by their mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rankgauge.comparison.gate.baseline_file import read_baseline

from rankgauge import Conventions, InputError, UsageError, compare, evaluate_runs, gate, write_baseline
from rankgauge.comparison import Baseline
from rankgauge.render.documents.gate import document
from rankgauge.render.formats.terminal import as_text

Ranked = Callable[..., dict[str, dict[str, float]]]
MEASURES = ["RR", "nDCG@10"]


@pytest.fixture
def runs(ranked: Ranked) -> list[Any]:
    """Three runs of a system that does not repeat itself: the second is worse on many queries."""
    return [ranked(bad=[1, 2]), ranked(bad=range(12)), ranked(bad=[2, 3, 4])]


@pytest.fixture
def stored(tmp_path: Path, judged: Any, runs: list[Any]) -> Path:
    path = tmp_path / "baseline.json"
    for run in runs:
        write_baseline(path, judged, run, MEASURES, append=True)
    return path


def test_runs_are_kept_apart_and_their_mean_is_the_baseline(
    stored: Path, judged: Any, runs: list[Any], tmp_path: Path
) -> None:
    data = json.loads(stored.read_text())
    assert data["schema"] == "rankgauge.baseline/4"
    assert [run["measures"]["RR"]["n"] for run in data["scores"]["runs"]] == [30, 30, 30]
    assert len(data["retrieved"]) == 3
    found = read_baseline(stored)
    assert found is not None
    assert found.to_dict() == data
    singles = []
    for index, run in enumerate(runs):
        write_baseline(tmp_path / f"{index}.json", judged, run, MEASURES)
        single = read_baseline(tmp_path / f"{index}.json")
        assert single is not None
        assert data["scores"]["runs"][index] == single.to_dict()["scores"]["runs"][0]
        singles.append(single.values)
    np.testing.assert_allclose(found.values, np.mean(singles, axis=0), atol=1e-15)


def test_the_first_run_can_be_stored_or_appended_and_a_file_of_one_run_can_be_added_to(
    tmp_path: Path, judged: Any, runs: list[Any], stored: Path
) -> None:
    write_baseline(tmp_path / "written.json", judged, runs[0], MEASURES)
    write_baseline(tmp_path / "appended.json", judged, runs[0], MEASURES, append=True)
    assert (tmp_path / "written.json").read_bytes() == (tmp_path / "appended.json").read_bytes()
    for run in runs[1:]:
        write_baseline(tmp_path / "written.json", judged, run, append=True)  # with the measures of the file
    assert (tmp_path / "written.json").read_bytes() == stored.read_bytes()


def test_runs_in_memory_a_stored_baseline_and_an_evaluation_agree(
    stored: Path, judged: Any, runs: list[Any], ranked: Ranked
) -> None:
    now = ranked(bad=range(20))
    by_file = gate(judged, now, baseline=stored)
    by_list = gate(judged, now, MEASURES, baseline=runs)
    by_object = gate(judged, now, baseline=Baseline.of(evaluate_runs(judged, runs, MEASURES), 0, 1, 2))
    assert by_file.compared == by_list.compared == by_object.compared
    assert by_file.blame == by_list.blame
    assert by_file.baseline is not None
    assert len(by_file.baseline.runs) == 3
    assert np.array_equal(by_list.page_evaluation().scores[-1].values, by_list.scores.values)  # after the baseline's


def test_a_comparison_is_with_the_mean_too(stored: Path, judged: Any, runs: list[Any], ranked: Ranked) -> None:
    now = ranked(bad=range(20))
    differences = compare(judged, [now], baseline=stored).differences
    expected = gate(judged, now, baseline=stored).compared
    assert [row.difference for row in differences] == pytest.approx([row.change for row in expected])


def test_several_runs_that_are_the_same_change_nothing_but_what_is_known(
    tmp_path: Path, judged: Any, ranked: Ranked
) -> None:
    """A deterministic retriever: everything is as with one run, to the last bit."""
    results = []
    for count in (1, 3):
        path = tmp_path / f"{count}" / "baseline.json"
        path.parent.mkdir()
        for _ in range(count):
            write_baseline(path, judged, ranked(bad=[1]), MEASURES, append=True)
        results.append(gate(judged, ranked(bad=range(14)), baseline=path))
    one, three = (result.to_dict() for result in results)
    assert (one["baseline"].pop("runs"), three["baseline"].pop("runs")) == (1, 3)
    del one["baseline"]["file"], three["baseline"]["file"]
    assert json.dumps(one) == json.dumps(three)
    texts = [as_text(document(result)) for result in results]
    assert texts[0] == texts[1]


def test_only_documents_that_every_run_retrieved_can_be_lost(judged: Any, ranked: Ranked) -> None:
    def without(docs: set[str]) -> dict[str, dict[str, float]]:
        return {query: {doc: s for doc, s in ranked.items() if doc not in docs} for query, ranked in full.items()}

    full = ranked()
    runs = [full, without({"d1"}), without({"d1", "d2"})]
    now = without({f"d{n}" for n in range(25)} | {f"e{n}" for n in range(25)})
    result = gate(judged, now, "RR", baseline=runs)
    assert result.blame is not None
    assert {"d0", "d3", "e1"} <= set(result.blame.documents)
    assert not {"d1", "d2"} & set(result.blame.documents)


# -- what cannot be added or read ----------------------------------------------------------------------------------


def test_a_run_made_in_another_way_cannot_be_added(stored: Path, judged: Any, ranked: Ranked) -> None:
    before = stored.read_bytes()
    with pytest.raises(
        InputError, match=r"this run cannot be added: the baseline has RR, nDCG@10, and this run has P@5"
    ):
        write_baseline(stored, judged, ranked(), "P@5", append=True)
    with pytest.raises(InputError, match="this run cannot be added: query_set was 'qrels' and is now 'both'"):
        write_baseline(stored, judged, ranked(), append=True, conventions=Conventions(query_set="both"))
    judged["q03"]["d3"] = 1
    with pytest.raises(InputError, match=r"baseline.json: this run cannot be added: the judgments changed"):
        write_baseline(stored, judged, ranked(), append=True)
    assert stored.read_bytes() == before


def test_a_run_is_only_added_to_a_baseline(tmp_path: Path, judged: Any, ranked: Ranked) -> None:
    (tmp_path / "run.json").write_text(json.dumps(ranked()))
    with pytest.raises(InputError, match=r"run.json: not a stored baseline, so no run can be added to it"):
        write_baseline(tmp_path / "run.json", judged, ranked(), append=True)


def test_a_list_has_runs_only(stored: Path, judged: Any, ranked: Ranked) -> None:
    with pytest.raises(UsageError, match="a baseline needs at least one run"):
        gate(judged, ranked(), baseline=[])
    with pytest.raises(UsageError, match="a list of runs cannot hold a stored baseline"):
        gate(judged, ranked(), baseline=[ranked(), stored])


def test_runs_with_other_queries_are_compared_over_those_that_all_have(judged: Any, ranked: Ranked) -> None:
    fewer = {query: docs for query, docs in ranked().items() if query != "q04"}
    result = gate(judged, ranked(), "RR", baseline=[ranked(), fewer], conventions=Conventions(query_set="both"))
    assert result.compared[0].decision.n == 29
    assert [note.code for note in result.notes] == ["unpaired"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data["scores"]["runs"].pop(), "expected 2 objects at retrieved, found 3"),
        (lambda data: data["retrieved"].pop(), "expected 3 objects at retrieved, found 2"),
        (lambda data: data.update(retrieved={}), "expected a list at retrieved"),
        (lambda data: data["retrieved"].__setitem__(1, 3), "expected an object for each run at retrieved, found '3'"),
        (
            lambda data: data["scores"]["runs"][2]["per_query"].pop("q05"),
            r"expected the keys of the first run at scores.runs\[2\].per_query",
        ),
        (
            lambda data: data["scores"]["runs"][1]["measures"].pop("RR"),
            r"expected the keys of the first run at scores.runs\[1\].measures",
        ),
    ],
)
def test_a_malformed_baseline_is_reported_with_the_path_of_the_fault(
    stored: Path, change: Callable[[Any], object], said: str
) -> None:
    data = json.loads(stored.read_text())
    change(data)
    stored.write_text(json.dumps(data))
    with pytest.raises(InputError, match=said):
        read_baseline(stored)
