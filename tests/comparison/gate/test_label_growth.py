"""A stored baseline is usable although labels changed since."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, evaluate, gate, write_baseline

Ranked = Callable[..., dict[str, dict[str, float]]]
MEASURES = ["RR", "nDCG@10"]


@pytest.fixture
def stored(tmp_path: Path, judged: Any, ranked: Ranked) -> Path:
    write_baseline(tmp_path / "baseline.json", judged, ranked(), MEASURES)
    return tmp_path / "baseline.json"


@pytest.fixture
def stored_with_run(tmp_path: Path, judged: Any, ranked: Ranked) -> Path:
    write_baseline(tmp_path / "with-run.json", judged, ranked(), MEASURES, keep_run=True)
    return tmp_path / "with-run.json"


def grow(judged: Any) -> Any:
    """A document gets a label, one loses it, one has another, a query comes and one goes."""
    judged["q03"]["s"] = 2
    del judged["q04"]["e4"]
    judged["q05"]["x5"] = 1
    del judged["q06"]
    judged["q99"] = {"d99": 1}
    return judged


def test_the_same_run_is_unchanged_whatever_became_of_the_labels(
    stored: Path, stored_with_run: Path, judged: Any, ranked: Ranked
) -> None:
    before = evaluate(judged, ranked(), MEASURES)
    grow(judged)
    for path, method in ((stored, "older labels"), (stored_with_run, "both orders")):
        found = gate(judged, ranked(), baseline=path)
        assert found.passed
        assert {row.decision.outcome for row in found.compared} == {"unchanged"}
        assert {row.decision.n for row in found.compared} == {29}
        assert found.growth is not None
        assert found.growth.method == method
        changes = found.growth.changes
        assert (changes.added, changes.changed, changes.removed) == (1, 1, 1)
        assert (changes.queries_added, changes.queries_removed) == (("q99",), ("q06",))
        for part in found.growth.parts:
            assert part.system == 0.0
            assert (part.before, part.after) == (before[part.measure], found.scores[part.measure])
            assert (part.system or 0) + (part.labels or 0) + (part.queries or 0) == part.total


def test_a_drop_is_that_of_the_system_with_the_labels_of_the_baseline(
    stored: Path, judged: Any, ranked: Ranked
) -> None:
    before = {query: dict(grades) for query, grades in judged.items()}
    worse = ranked(bad=range(20))
    grow(judged)
    found = gate(judged, worse, baseline=stored)
    assert found.failed
    shared = {query: grades for query, grades in before.items() if query in judged}
    plain = gate(shared, worse, MEASURES, baseline=ranked())
    assert [(row.before, row.now, row.decision.p) for row in found.compared] == [
        (row.before, row.now, row.decision.p) for row in plain.compared
    ]
    assert found.to_dict()["labels"]["parts"][0]["system"] == pytest.approx(plain.compared[0].change, abs=1e-14)


def test_with_the_run_both_versions_of_the_labels_count_alike(
    stored_with_run: Path, judged: Any, ranked: Ranked
) -> None:
    before = {query: dict(grades) for query, grades in judged.items()}
    worse = ranked(bad=range(8))
    grow(judged)
    found = gate(judged, worse, baseline=stored_with_run)
    shared = sorted(set(before) & set(judged))
    for column, row in enumerate(found.compared):
        values = {
            (name, version): evaluate({query: labels[query] for query in shared}, run, MEASURES).values[:, column]
            for name, run in (("base", ranked()), ("now", worse))
            for version, labels in (("older", before), ("newer", judged))
        }
        change = np.mean([values["now", version] - values["base", version] for version in ("older", "newer")], axis=0)
        assert row.change == pytest.approx(float(change.mean()), abs=1e-14)


def test_a_baseline_without_judgments_is_refused_with_the_reason(stored: Path, judged: Any, ranked: Ranked) -> None:
    data = json.loads(stored.read_text())
    del data["judgments"]
    stored.write_text(json.dumps(data))
    assert gate(judged, ranked(), baseline=stored).growth is None
    judged["q03"]["d3"] = 1
    with pytest.raises(InputError, match=r"the judgments changed \(sha256 \w{12}… before, \w{12}… now\)"):
        gate(judged, ranked(), baseline=stored)
    judged["q30"] = judged.pop("q03")
    with pytest.raises(InputError, match=r"1 query no longer judged \('q03'\); 1 query newly judged \('q30'\)"):
        gate(judged, ranked(), baseline=stored)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judgments": {"q00": {"d0": 1}}}, "expected those of scores.qrels.sha256 at judgments, found others"),
        ({"judgments": {"q00": {"d0": "1"}}}, "expected a number at judgments.q00.d0"),
        ({"judgments": []}, "expected an object at judgments"),
        ({"rankings": []}, "expected 1 run at rankings, found 0"),
        ({"rankings": [{"name": "x"}]}, r"expected a value at rankings\[0\].scores, found nothing"),
    ],
)
def test_damaged_judgments_and_rankings_are_refused(
    stored_with_run: Path, judged: Any, ranked: Ranked, change: Any, message: str
) -> None:
    stored_with_run.write_text(json.dumps({**json.loads(stored_with_run.read_text()), **change}))
    with pytest.raises(InputError, match=message):
        gate(judged, ranked(), baseline=stored_with_run)


def test_the_output_says_what_changed(stored: Path, judged: Any, ranked: Ranked, tmp_path: Path, command: Any) -> None:
    grow(judged)
    for name, content in (("q.json", judged), ("r.json", ranked())):
        (tmp_path / name).write_text(json.dumps(content))
    arguments = ("gate", tmp_path / "q.json", tmp_path / "r.json", "--baseline", stored)
    for format in ("table", "markdown"):
        text = command(*arguments, "--format", format).out.replace("`", "'")
        assert (
            "labels: 1 query added; 1 query removed; 1 judgment added, 1 changed and 1 removed in 3 queries "
            "(added: 'q99'; removed: 'q06')"
        ) in text
        assert "systems compared with the older labels: the newer run was scored again" in text
        assert "= system +0.0000, labels " in text
    data = json.loads(command(*arguments, "--format", "json").out)["gate"]["labels"]
    assert (data["method"], data["changes"]["judgments_added"]) == ("older labels", 1)
