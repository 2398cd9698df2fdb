"""A file of our own that has another version is refused in one sentence: which version it has, which one is read here,
and what to do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome

Command = Callable[..., Outcome]
LABELS = {f"q{n}": {f"d{n}": 1} for n in range(5)}
RUN = {query: {"x": 2.0, **docs} for query, docs in LABELS.items()}
FETCH = "runs fetch --retriever lexical --corpus corpus.jsonl --queries queries.jsonl -o run.trec".split()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments, a run, documents and queries, outside of any repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    (tmp_path / "labels.json").write_text(json.dumps(LABELS))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "pan"}\n{"_id": "d2", "text": "lid"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "pan"}\n{"_id": "q2", "text": "lid"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return tmp_path


def replace_text(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def check_refused(done: Outcome, path: Path, sentence: str, content: bytes) -> None:
    """The command fails with this sentence alone, and the file stays as it is."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.splitlines() == [f"error: {sentence}"]
    assert path.read_bytes() == content


def test_a_history_in_a_database(command: Command, folder: Path) -> None:
    path = folder / ".rankgauge" / "history.db"
    path.parent.mkdir()
    path.write_bytes(b"SQLite format 3\0 and more")
    sentence = (
        ".rankgauge/history.db: a history is a folder of files, and this is a database of an earlier version",
        "delete it, and save results again: `rankgauge evaluate … --save --set history.date=DATE`",
    )
    for words in (
        ("history", "list"),
        ("evaluate", "labels.json", "run.json", "--save"),
        ("gate", "labels.json", "run.json", "--baseline", "history:main"),
        ("history", "list", "--history", path),
    ):
        done = command(*words)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[0].endswith(sentence[0])
        assert done.err.splitlines()[1] == f"hint: {sentence[1]}"
    assert path.read_bytes() == b"SQLite format 3\0 and more"


def test_a_stored_baseline(command: Command, folder: Path) -> None:
    path = folder / "baseline.json"
    path.write_text('{\n "schema": "rankgauge.baseline/4",\n "scores": {"runs": []}\n}\n')
    for words in (
        ("gate", "labels.json", "run.json", "--baseline", "baseline.json"),
        ("compare", "labels.json", "run.json", "baseline.json"),
        ("evaluate", "labels.json", "baseline.json"),
    ):
        done = command(*words)
        assert (done.code, done.out) == (2, "")
        assert "baseline.json: a stored baseline of an earlier version" in done.err
        assert "rankgauge evaluate LABELS RESULTS -q --format json > scores.json" in done.err


@pytest.mark.parametrize("version", [2, 4])
def test_a_journal(command: Command, folder: Path, version: int) -> None:
    path = folder / "run.trec.journal"
    path.write_text(f'{{"journal":"rankgauge.journal/{version}","k":10}}\n')
    sentence = (
        f"run.trec.journal: a journal of version {version}, but this rankgauge reads version 3: "
        "finish the fetch with the rankgauge that wrote it, or delete this file to start over"
    )
    check_refused(command(*FETCH), path, sentence, path.read_bytes())
    assert command(*FETCH, "--restart").code == 0


def test_a_manifest(command: Command, folder: Path) -> None:
    command("benchmark", "run", "--corpus", ".", "--retriever", "lexical", "--latency", "0", "-o", "out")
    path = folder / "out" / "ExperimentManifest.json"
    replace_text(path, "rankgauge.manifest/2", "rankgauge.manifest/3")
    sentence = (
        "out/ExperimentManifest.json: rankgauge.manifest of version 3, but this rankgauge reads version 2: "
        "run the benchmark again"
    )
    for words in (("benchmark", "verify", "out"), ("benchmark", "verify", "out", "--html", "page.html")):
        check_refused(command(*words), path, sentence, path.read_bytes())
