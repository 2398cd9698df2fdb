"""A report verifies with every version of SciPy, whose distributions differ in the last digits; scores must not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import run_benchmark
from rankgauge.benchmark import PlannedSystem, shipped_plan
from rankgauge.benchmark.folder import COMPARISON, MANIFEST, REPORT, digests
from rankgauge.benchmark.json_fields import differing_fields
from rankgauge.benchmark.tolerance import same_but_for_rounding, within_tolerance
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.comparison.statistics import Statistics
from rankgauge.config.settings import Settings
from rankgauge.report import manifest as manifests
from rankgauge.retrieval import RetrieverSettings

Command = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of two systems with t tests, which use SciPy most."""
    folder = tmp_path_factory.mktemp("made") / "out"
    statistics = Statistics("t", target_difference=0.05)
    systems = {mode: PlannedSystem(RetrieverSettings(mode=mode)) for mode in ("lexical", "vector")}
    settings = Settings(measures=("nDCG@10", "Success@10"), statistics=statistics, by=("difficulty",))
    run_benchmark(shipped_plan(latency=0, systems=systems, settings=settings), folder)
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    for path in made.rglob("*"):
        if path.is_file():
            target = tmp_path / "copy" / path.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return tmp_path / "copy"


def seal(folder: Path) -> None:
    """Put the digests of the files as they are now into the manifest: only recomputation finds what has changed."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["sha256"]
    (folder / MANIFEST).write_bytes(manifests.to_bytes({**manifest, "files": digests(folder)}))


def another_scipy(monkeypatch: pytest.MonkeyPatch, relative: float) -> None:
    """SciPy's distributions, each off by a relative difference."""
    for name in ("stdtr", "stdtrit", "bdtr", "ndtr"):
        original = getattr(scipy.special, name)
        changed = lambda *values, original=original: original(*values) * (1 + relative)  # noqa: E731 - one per function
        monkeypatch.setattr(scipy.special, name, changed)


def test_another_version_of_scipy_verifies(made: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    plain = verify_benchmark(made)
    assert (plain.ok, plain.tolerated) == (True, 0)
    another_scipy(monkeypatch, 1e-12)
    verification = verify_benchmark(made)
    assert verification.changes == ()
    assert verification.tolerated > 10
    done = command("report", "verify", made)
    assert done.out.endswith(f", {verification.tolerated} of them within the tolerance\n")
    assert json.loads(command("report", "verify", made, "--format", "json").out)["tolerated"] == verification.tolerated


def test_a_larger_difference_does_not(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    another_scipy(monkeypatch, 1e-6)
    assert {change.file for change in verify_benchmark(made).changes} >= {REPORT}


def last_digit(value: float) -> float:
    return math.nextafter(value, 0)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("scores.runs.0.per_query.q01.nDCG@10", last_digit),
        ("scores.runs.0.measures.nDCG@10.value", last_digit),
        ("scores.runs.0.by.0.mean", last_digit),
        ("comparison.differences.0.difference", last_digit),
        ("comparison.differences.0.n", lambda n: n + 1),
        ("comparison.differences.0.p", lambda p: p + 1e-6),
        ("comparison.differences.0.p_corrected", lambda p: p - 1e-6),
        ("comparison.differences.0.ci.low", lambda low: low + 1e-6),
        ("comparison.differences.0.hedges_g", lambda g: g * (1 + 1e-7)),
        ("comparison.differences.0.minimum_detectable_difference", lambda value: value * (1 + 1e-7)),
        ("comparison.differences.0.queries_needed", lambda n: n + 1),
        ("comparison.interactions.0.p", lambda p: p + 1e-6),
        ("comparison.answer", lambda text: text.replace("lexical", "vector")),
    ],
)
@pytest.mark.parametrize("relative", [0.0, 1e-12])
def test_a_score_that_changed_in_its_last_digit_is_found_and_so_is_a_statistic_beyond_the_tolerance(
    path: str, change: Callable[[Any], Any], relative: float, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.loads((copy / REPORT).read_bytes())
    *parents, key = path.split(".")
    place = data
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    before = place[key]
    place[key] = change(before)
    assert place[key] != before
    (copy / REPORT).write_text(json.dumps(data), encoding="utf-8")
    seal(copy)
    another_scipy(monkeypatch, relative)
    verification = verify_benchmark(copy)
    assert [change.file for change in verification.changes] == [REPORT]
    assert (verification.changes[0].field or "").replace("[", ".").replace("]", "") == path


def test_rounded_numbers_in_a_text_may_differ_only_if_statistics_do(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (copy / COMPARISON).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "95% CI" in line and " to " in line)
    low = line.split("95% CI ")[1].split(" to ")[0].lstrip("(")
    digit = str((int(low[-1]) + 1) % 10) if low[-1] != "9" else "8"
    (copy / COMPARISON).write_text(text.replace(low, low[:-1] + digit, 1), encoding="utf-8")
    seal(copy)
    assert [change.file for change in verify_benchmark(copy).changes] == [COMPARISON]
    another_scipy(monkeypatch, 1e-12)
    assert verify_benchmark(copy).ok
    (copy / COMPARISON).write_text(text.replace("95% CI", "90% CI", 1), encoding="utf-8")
    seal(copy)
    assert [change.file for change in verify_benchmark(copy).changes] == [COMPARISON]


@given(st.floats(-1000, 1000), st.integers(1, 6), st.floats(-1, 1))
def test_a_rounded_number_near_a_boundary_is_the_same(value: float, digits: int, share: float) -> None:
    nearby = value * (1 + 1e-9 * share)
    texts = [f"CI {number:.{digits}f} to ×{number:,.{digits}f}".replace("-", "−") for number in (value, nearby)]
    assert same_but_for_rounding(*texts)
    assert not same_but_for_rounding(texts[0], f"CI {value + 3 * 10**-digits:.{digits}f} to ×{value:,.{digits}f}")
    assert not same_but_for_rounding(texts[0], texts[0] + " and 1.0")


def tolerated(stored: dict[str, Any], recomputed: dict[str, Any]) -> bool:
    return all(within_tolerance(field) for field in differing_fields(stored, recomputed))


def test_only_statistics_and_sentences_have_a_tolerance() -> None:
    assert tolerated({"p": 0.03}, {"p": 0.03 * (1 + 1e-10)})
    assert not tolerated({"p": 0.03}, {"p": 0.03 * (1 + 1e-8)})
    assert not tolerated({"p": None}, {"p": 0.03})
    assert not tolerated({"p": [0.03]}, {"p": [0.03, 0.04]})
    assert not tolerated({"p": 0.03}, {})
    assert not tolerated({"value": 0.03}, {"value": math.nextafter(0.03, 1)})
    assert not tolerated({"system": "v0.1"}, {"system": "v0.2"})
    assert not tolerated({"answer": "on 48 queries"}, {"answer": "on 47 queries"})


def test_the_tolerance_of_an_end_near_0_is_relative_to_the_interval() -> None:
    assert tolerated({"low": 1e-10, "high": 5.0}, {"low": -1e-10, "high": 5.0})
    assert not tolerated({"low": 1e-10, "high": 0.05}, {"low": -1e-10, "high": 0.05})
    assert not tolerated({"p": 1e-10, "high": 5.0}, {"p": -1e-10, "high": 5.0})
