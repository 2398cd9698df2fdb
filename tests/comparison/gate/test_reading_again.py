"""A gate keeps no run in memory: a file is read again for the documents that a drop lost."""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, Reading, gate

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


def test_runs_are_kept_if_they_are_asked_for(good: Path, lost: Path, judged: Any) -> None:
    result = gate(judged, lost, MEASURES, baseline=good, reading=Reading(keep_rankings=True))
    runs = [joined.run for joined in result.evaluation.joined]
    assert [run is not None and (run.name, len(run.queries)) for run in runs] == [("lost", 30), ("good", 30)]
    again = gate(judged, lost, MEASURES, baseline=good)
    assert (result.compared, result.lost) == (again.compared, again.lost)


@pytest.mark.parametrize("corpus", [None, [*(f"d{n}" for n in range(30)), *(f"e{n}" for n in range(4, 30))]])
def test_the_cause_of_a_drop_is_found_in_a_file_and_in_a_pipe(
    good: Path, lost: Path, judged: Any, ranked: Ranked, in_pipe: Callable[[Path], Path], corpus: Any
) -> None:
    in_memory = gate(judged, ranked(bad=range(4), rename=range(4, 16)), MEASURES, baseline=ranked(), corpus=corpus)
    assert in_memory.lost is not None
    assert in_memory.lost.documents == sorted(f"{kind}{n}" for kind in "de" for n in range(4, 16))
    assert bool(in_memory.lost.unknown) == (corpus is not None)
    for run, baseline in ((lost, good), (in_pipe(lost), good), (lost, in_pipe(good))):
        result = gate(judged, run, MEASURES, baseline=baseline, corpus=corpus)
        assert result.lost == in_memory.lost
        assert result.compared == in_memory.compared


def test_a_run_in_a_file_or_a_pipe_is_scored_with_todays_labels(
    good: Path, lost: Path, judged: Any, ranked: Ranked, in_pipe: Callable[[Path], Path]
) -> None:
    """Labels that changed since a baseline was made apply to both sides."""
    judged["q03"]["s"] = 2
    del judged["q04"]["e4"]
    in_memory = gate(judged, ranked(bad=range(4), rename=range(4, 16)), MEASURES, baseline=ranked())
    assert in_memory.baseline is not None
    assert in_memory.scores.per_query("RR")["q03"] == 1
    assert in_memory.baseline.scores.per_query("nDCG@10")["q03"] != 1
    assert in_memory.lost is not None
    assert "e4" not in in_memory.lost.documents
    for run, baseline in ((lost, good), (in_pipe(lost), good), (lost, in_pipe(good))):
        result = gate(judged, run, MEASURES, baseline=baseline)
        assert (result.compared, result.lost) == (in_memory.compared, in_memory.lost)


def test_a_warning_about_a_run_that_is_read_again_is_issued_once(good: Path, lost: Path, judged: Any) -> None:
    lost.write_text("\ufeff" + lost.read_text())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = gate(judged, lost, MEASURES, baseline=good)
    assert result.lost is not None
    assert result.lost.documents
    assert ["byte order mark" in str(warning.message) for warning in caught] == [True]


def test_a_table_with_several_runs_is_refused(good: Path, judged: Any, ranked: Ranked, tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    rows = [(query, doc, score) for query, docs in ranked().items() for doc, score in docs.items()]
    lines = [f"{run},{query},{doc},{score}\n" for run in ("one", "two") for query, doc, score in rows]
    table.write_text("run,query_id,doc_id,score\n" + "".join(lines))
    for run, baseline in ((table, good), (good, table)):
        with pytest.raises(InputError, match=r"expected one run in each source, found 3 in 2: '.*', '.*', '.*'"):
            gate(judged, run, MEASURES, baseline=baseline)


def test_a_log_that_a_gate_writes_is_a_baseline_with_the_same_values(
    command: Command, judged: Any, tmp_path: Path
) -> None:
    """The results of a live retriever are kept for the log only if there is one, and are those that were scored."""
    cases, search, log = tmp_path / "cases.jsonl", tmp_path / "search.py", tmp_path / "log.jsonl"
    rows = [{"id": query, "query": f"text {query}", "relevant_ids": list(docs)[:2]} for query, docs in judged.items()]
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    search.write_text(
        "def search(text):\n"
        "    n = int(text.split('q')[1])\n"
        "    return [f's', f'd{n}', f'e{n}'] if n % 3 else [f'd{n}', 's']\n"
    )
    arguments = ("gate", cases, f"{search}:search", "--require", "RR>0.1")
    assert command(*arguments).code == 0
    assert not log.exists()
    done = command(*arguments, "-o", log)
    assert done.code == 0, done.err
    written = [json.loads(line) for line in log.read_text().splitlines()]
    assert len([row for row in written if row.get("query")]) == 30
    for run in ((), (f"{search}:search",)):
        against = command("gate", *((cases, *run) if run else (log,)), "--baseline", log, "-m", "RR", "-m", "nDCG@10")
        assert against.code == 0, against.err
        assert "has the same values as" in against.out
