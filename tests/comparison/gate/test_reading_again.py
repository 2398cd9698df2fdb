"""A gate keeps no run in memory: a file is read again for the cause of a drop, and to be scored with other labels."""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, Reading, gate, write_baseline

Ranked = Callable[..., dict[str, dict[str, float]]]
Command = Callable[..., Any]
MEASURES = ["RR", "nDCG@10"]


def write_run(path: Path, run: dict[str, dict[str, float]], name: str) -> Path:
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    path.write_text("".join(f"{query} Q0 {doc} 1 {score} {name}\n" for query, doc, score in rows))
    return path


@pytest.fixture
def good(tmp_path: Path, ranked: Ranked) -> Path:
    return write_run(tmp_path / "good", ranked(), "good")


@pytest.fixture
def lost(tmp_path: Path, ranked: Ranked) -> Path:
    """A run that is worse in some queries, and in which some documents have other ids."""
    return write_run(tmp_path / "lost", ranked(bad=range(4), rename=range(4, 16)), "lost")


@pytest.fixture
def in_pipe(tmp_path: Path) -> Callable[[Path], Path]:
    """The same bytes from a pipe."""

    def make(path: Path) -> Path:
        pipe = tmp_path / f"pipe-{path.name}"
        os.mkfifo(pipe)
        threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()), daemon=True).start()
        return pipe

    return make


def described(result: Any) -> Any:
    return result.to_dict(), result.scores.to_dict(per_query=True)["per_query"]


def test_no_run_is_kept_and_none_is_opened_for_a_pass(good: Path, judged: Any) -> None:
    result = gate(judged, good, MEASURES, baseline=good)
    assert result.passed
    assert [(joined.run, joined.top) for joined in result.evaluation.joined] == [(None, None)] * 2


def test_runs_are_kept_if_they_are_asked_for(good: Path, judged: Any, tmp_path: Path) -> None:
    result = gate(judged, good, MEASURES, baseline=good, reading=Reading(keep_rankings=True))
    assert result.current is not None
    result.current.write(tmp_path / "b.json", keep_runs=True)
    (ranking,) = json.loads((tmp_path / "b.json").read_text())["rankings"]
    assert len(ranking["scores"]) == 30


@pytest.mark.parametrize("corpus", [None, [*(f"d{n}" for n in range(30)), *(f"e{n}" for n in range(4, 30))]])
def test_the_cause_of_a_drop_is_found_in_a_file_and_in_a_pipe(
    good: Path, lost: Path, judged: Any, ranked: Ranked, in_pipe: Callable[[Path], Path], corpus: Any
) -> None:
    in_memory = gate(judged, ranked(bad=range(4), rename=range(4, 16)), MEASURES, baseline=ranked(), corpus=corpus)
    assert in_memory.blame is not None
    assert in_memory.blame.documents
    for run, baseline in ((lost, good), (in_pipe(lost), good), (lost, in_pipe(good))):
        result = gate(judged, run, MEASURES, baseline=baseline, corpus=corpus)
        assert result.blame == in_memory.blame
        assert result.compared == in_memory.compared


@pytest.mark.parametrize("keep_run", [False, True])
def test_a_run_in_a_file_or_a_pipe_is_scored_with_the_labels_of_the_baseline(
    good: Path,
    lost: Path,
    judged: Any,
    ranked: Ranked,
    in_pipe: Callable[[Path], Path],
    tmp_path: Path,
    keep_run: bool,
) -> None:
    baseline = tmp_path / "b.json"
    write_baseline(baseline, judged, good, MEASURES, keep_run=keep_run)
    judged["q03"]["s"] = 2
    del judged["q04"]["e4"]
    in_memory = gate(judged, ranked(bad=range(4), rename=range(4, 16)), baseline=baseline)
    assert in_memory.growth is not None
    for run in (lost, in_pipe(lost)):
        result = gate(judged, run, baseline=baseline)
        assert (result.growth, result.compared, result.blame) == (
            in_memory.growth,
            in_memory.compared,
            in_memory.blame,
        )


def test_a_warning_about_a_run_that_is_read_again_is_issued_once(
    good: Path, lost: Path, judged: Any, tmp_path: Path
) -> None:
    lost.write_text("\ufeff" + lost.read_text())
    baseline = tmp_path / "b.json"
    write_baseline(baseline, judged, good, MEASURES)
    judged["q03"]["s"] = 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = gate(judged, lost, baseline=baseline)
    assert result.growth is not None
    assert result.blame is not None
    assert ["byte order mark" in str(warning.message) for warning in caught] == [True]


def test_a_table_with_several_runs_is_refused(good: Path, judged: Any, ranked: Ranked, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    rows = [(query, doc, score) for query, docs in ranked().items() for doc, score in docs.items()]
    lines = [f"{run},{query},{doc},{score}\n" for run in ("one", "two") for query, doc, score in rows]
    table.write_text("run,query_id,doc_id,score\n" + "".join(lines))
    for run, baseline in ((table, good), (good, table)):
        with pytest.raises(InputError, match=r"expected one run in each source, found 3 in 2: '.*', '.*', '.*'"):
            gate(judged, run, MEASURES, baseline=baseline)


def test_a_run_is_appended_to_a_baseline_without_its_rankings_unless_asked_for(
    command: Command, good: Path, judged: Any, tmp_path: Path
) -> None:
    qrels, baseline = tmp_path / "qrels.json", tmp_path / "b.json"
    qrels.write_text(json.dumps(judged))
    arguments = ("gate", qrels, good, "-m", "RR", "--require", "RR>0.1", "--write-baseline", baseline, "--append")
    assert command(*arguments).code == 0
    assert command(*arguments, "--html", tmp_path / "page.html").code == 0
    assert "rankings" not in json.loads(baseline.read_text())
    assert command(*arguments, "--save-run").code == 0
    rankings = json.loads(baseline.read_text())["rankings"]
    assert [ranking is None for ranking in rankings] == [True, True, False]
    assert len(rankings[2]["scores"]) == 30
