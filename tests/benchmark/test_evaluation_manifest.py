"""The manifest that ``evaluate`` writes is that of a benchmark: inputs with their hashes, settings, versions, times."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rankgauge.report.manifest import is_intact, load
from tests.conftest import Outcome
from tests.needs import ROOT

Command = Callable[..., Outcome]
MANIFEST = ("--manifest", "m.json")


@pytest.fixture
def folder(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    command("demo", "--copy", ".")
    return tmp_path


def sha256(name: str) -> str:
    return hashlib.sha256(Path(name).read_bytes()).hexdigest()


def written() -> dict[str, Any]:
    manifest = load(Path("m.json"))
    assert is_intact(manifest)
    return manifest


def test_it_names_every_file_with_its_hash_and_the_time(folder: Path, command: Command) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    queries = ("--queries", "queries.jsonl")
    done = command("evaluate", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", *queries, "-m", "RR", *MANIFEST)
    assert done.code == 0
    assert "wrote m.json" in done.err
    manifest = written()
    files = ["qrels.trec", "queries.jsonl", "runs/lexical.trec", "runs/vector.trec"]
    assert manifest["files"] == {name: sha256(name) for name in files}
    assert manifest["data"]["test collection"]["topics"]["queries"] == 48
    rows = [len(Path(name).read_text().splitlines()) for name in files[2:]]
    assert [system["run"]["results"] for system in manifest["method"]["retrieval"]] == rows
    assert manifest["settings"]["measures"] == ["RR"]
    assert manifest["implementation"]["executable"]["cmd"].startswith("rankgauge evaluate qrels.trec")
    assert before <= datetime.fromisoformat(manifest["times"]["start"]) <= before + timedelta(minutes=5)


def test_it_has_the_fields_and_the_methods_of_a_benchmark_and_obeys_its_schema(folder: Path, command: Command) -> None:
    import jsonschema

    files = ("qrels.trec", "runs/lexical.trec")
    measure = ("-m", "RR")
    command("evaluate", *files, *measure, *MANIFEST)
    command("benchmark", "run", *files, *measure, "--queries", "queries.jsonl", "--latency", "0", "-o", "bench")
    manifest, benchmark = written(), load(Path("bench/ExperimentManifest.json"))
    jsonschema.validate(
        manifest, json.loads((ROOT / "docs/reference/schemas/ExperimentManifest.schema.json").read_bytes())
    )
    assert list(manifest) == list(benchmark)
    assert {**manifest["settings"], "baseline": "lexical", "by": ["category", "difficulty"], "k": 100} == benchmark[
        "settings"
    ]
    ours, theirs = manifest["method"]["retrieval"][0], benchmark["method"]["retrieval"][0]
    assert {**ours, "run": None} == {**theirs, "run": None}
    assert ours["run"]["results"] == theirs["run"]["results"]
    assert manifest["platform"] == benchmark["platform"]


def test_it_has_the_settings_of_a_configuration(folder: Path, command: Command) -> None:
    Path("own").mkdir()
    Path("own/c.yaml").write_text("measures: [P@3]\n")
    assert command("evaluate", "qrels.trec", "runs/lexical.trec", "--config", "own/c.yaml", *MANIFEST).code == 0
    assert written()["settings"]["measures"] == ["P@3"]


def test_a_live_retriever_is_named_by_the_run_that_it_wrote_and_its_failures(folder: Path, command: Command) -> None:
    Path("s.py").write_text('def find(text):\n    if "tyre" in text: raise ValueError("no")\n    return ["kb-001"]\n')
    live = ("./s.py:find", "--queries", "queries.jsonl", "--max-failures", "48")
    command("evaluate", "qrels.trec", *live, "-o", "live.jsonl", *MANIFEST)
    (system,) = written()["method"]["retrieval"]
    assert (system["method"], system["run"]["path"]) == ("own", "live.jsonl")
    assert system["run"]["sha256"] == sha256("live.jsonl")
    assert set(system["failed queries"].values()) == {"ValueError: no"}


def test_a_log_with_two_systems_is_one_file(folder: Path, command: Command) -> None:
    rows = [{"query_id": "q", "system": name, "retrieved_ids": ["a"], "relevant_ids": ["a"]} for name in ("x", "y")]
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert command("evaluate", "log.jsonl", *MANIFEST).code == 0
    manifest = written()
    assert [system["name"] for system in manifest["method"]["retrieval"]] == ["x", "y"]
    assert manifest["files"] == {"log.jsonl": sha256("log.jsonl")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("qrels.trec", "-"), "--manifest needs files"),
        (("scores.jsonl", "-m", "faithfulness"), "has scores and no rankings"),
        (("qrels.trec", "m.json"), "would overwrite the input"),
        (("qrels.trec", "runs/lexical.trec", "--engine", "spark"), "cannot be combined with --manifest"),
    ],
)
def test_what_a_manifest_cannot_name_is_refused(
    arguments: tuple[str, ...], message: str, folder: Path, command: Command
) -> None:
    Path("scores.jsonl").write_text('{"query_id": "q1", "faithfulness": 0.5}\n{"query_id": "q2", "faithfulness": 1}\n')
    Path("m.json").write_bytes(Path("runs/lexical.trec").read_bytes())
    before = Path("m.json").read_bytes()
    done = command("evaluate", *arguments, *MANIFEST)
    assert done.code in (2, 64)
    assert message in done.err
    assert Path("m.json").read_bytes() == before


def test_only_evaluate_writes_one_and_without_one_it_imports_nothing_of_benchmarks(
    folder: Path, command: Command
) -> None:
    refused = command("compare", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", *MANIFEST)
    assert refused.code == 64
    assert "No such option '--manifest'" in refused.err
    code = (
        "import sys; from rankgauge.cli.main import run; run(['evaluate', 'qrels.trec', 'runs/lexical.trec', "
        "*sys.argv[1:]]); sys.exit(30 + any(name.startswith('rankgauge.benchmark') for name in sys.modules))"
    )
    for options, expected in (((), 30), (MANIFEST, 31)):
        done = subprocess.run([sys.executable, "-c", code, *options], capture_output=True, check=False)
        assert done.returncode == expected
