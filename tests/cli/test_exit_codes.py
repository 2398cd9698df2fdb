"""One table of outcomes and exit codes: every command that has a verdict, on every outcome that it can have."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rankgauge.core.verdicts import EXIT_CODES, PRECEDENCE, CheckOutcome, overall

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"


def _write(**files: Any) -> None:
    for name, content in files.items():
        Path(name).write_text(content if isinstance(content, str) else json.dumps(content))


def _run(docs: dict[str, list[str]]) -> str:
    return "".join(
        f"{query} Q0 {doc} {rank} {-rank} t\n" for query, own in docs.items() for rank, doc in enumerate(own, 1)
    )


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    queries = [f"q{n}" for n in range(12)]
    good = {query: [f"d{query}", "x", "y", "z"] for query in queries}
    _write(
        qrels="".join(f"{query} 0 d{query} 1\n" for query in queries),
        irrelevant="".join(f"{query} 0 d{query} 0\n" for query in queries),
        few="".join(f"{query} 0 d{query} 1\n" for query in queries[:3]),
        good=_run(good),
        bad=_run({query: docs[::-1] for query, docs in good.items()}),
        short=_run({query: docs[:2] for query, docs in good.items()}),
        strange=_run({query: ["KB1", "KB2", "KB3", "KB4"] for query in queries}),
        damaged="q1 Q0 d1 1 high t\n",
        twice="q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
        twice_judged="q1 0 d1 1\nq1 0 d1 0\n",
        corpus="".join(json.dumps({"_id": f"d{query}", "text": f"word{query}"}) + "\n" for query in queries),
        smaller=json.dumps({"_id": "dq1", "text": "a"}) + "\n",
        story="# Scene 1\n\nA storm at sea.\n\n# Scene 2\n\nA quiet dinner.\n",
        asked=json.dumps({"text": "storm", "relevant": ["scene-1"]}) + "\n",
        missed=json.dumps({"text": "storm", "relevant": ["scene-2"]}) + "\n",
        unlabeled=json.dumps({"text": "storm"}) + "\n",
    )
    Path("corpus").rename("corpus.jsonl")
    Path("smaller").rename("smaller.jsonl")
    Path("story").rename("story.md")
    Path("empty").mkdir()


CASES: dict[str, list[tuple[CheckOutcome, str]]] = {
    "gate": [
        ("pass", "gate qrels good --baseline good -m RR"),
        ("fail", "gate qrels bad --baseline good -m RR"),
        ("fail", "gate qrels good --require-each P@4>=0.5"),
        ("undecided", "gate few bad --baseline good -m RR"),
        ("fail", "gate few bad --baseline good -m RR --undecided fail"),
        ("undecidable", "gate qrels short --baseline good -m R@4"),
        ("fail", "gate qrels short --baseline good -m R@4 --require R@4>1.0e-9 --require P@1>=0.5 --require RR<=0.5"),
        ("undecidable", "gate irrelevant good --require RR>=0"),
        ("undecidable", "gate qrels strange --require Success@5<=0"),
        ("undecidable", "gate qrels nowhere --require RR>=0"),
    ],
    "runs validate": [
        ("pass", "runs validate good"),
        ("fail", "runs validate twice"),
        ("undecidable", "runs validate nowhere"),
        ("fail", "runs validate nowhere twice good"),
        ("undecidable", "runs validate good nowhere"),
    ],
    "qrels validate": [
        ("pass", "qrels validate qrels"),
        ("fail", "qrels validate twice_judged"),
        ("undecidable", "qrels validate nowhere"),
        ("fail", "qrels validate nowhere twice_judged"),
    ],
    "labels check": [
        ("pass", "labels check qrels --corpus corpus.jsonl"),
        ("fail", "labels check qrels --corpus smaller.jsonl"),
        ("undecidable", "labels check qrels --corpus nowhere.jsonl"),
    ],
    "report verify": [("undecidable", "report verify empty")],
    "rq": [
        ("pass", "rq story.md asked --threshold 0.1"),
        ("fail", "rq story.md missed --threshold 0.9"),
        ("skipped", "rq story.md unlabeled"),
        ("undecidable", "rq story.md nowhere"),
    ],
    "history check": [("undecidable", "history check --history nowhere.db")],
    "benchmark run": [("undecidable", "benchmark run nowhere.yaml")],
}


@pytest.mark.parametrize(
    ("outcome", "line"), [case for cases in CASES.values() for case in cases], ids=lambda value: value.replace(" ", "_")
)
def test_every_outcome_has_its_exit_code(outcome: CheckOutcome, line: str, command: Command) -> None:
    done = command(*line.split())
    assert done.code == EXIT_CODES[outcome], done.out + done.err


@pytest.mark.slow
def test_a_benchmark_and_its_verification_have_the_same_codes(command: Command) -> None:
    _write(queries="".join(json.dumps({"_id": f"q{n}", "text": f"wordq{n}"}) + "\n" for n in range(12)))
    Path("queries").rename("queries.jsonl")
    Path("qrels").rename("qrels.trec")
    config = "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\nbenchmark: {latency: 0}\n"
    Path("b.yaml").write_text(config + "retrievers: {bm25: {mode: lexical}}\n")
    assert command("benchmark", "run", "b.yaml", "--out", "made").code == EXIT_CODES["pass"]
    assert command("report", "verify", "made").code == EXIT_CODES["pass"]
    stored = next(Path("made").rglob("*.trec"))
    stored.write_text(stored.read_text().replace("dq1 ", "dq2 "))
    assert command("report", "verify", "made").code == EXIT_CODES["fail"]
    Path("search.py").write_text("def search(query, k=5):\n    raise RuntimeError('down')\n")
    Path("b.yaml").write_text(config + "retrievers: {bm25: {mode: lexical}, mine: {mode: './search.py:search'}}\n")
    assert command("benchmark", "run", "b.yaml", "--out", "broken").code == EXIT_CODES["undecidable"]


def test_what_failed_comes_before_what_cannot_be_decided_and_that_before_undecided() -> None:
    for first, second in product(EXIT_CODES, repeat=2):
        expected = min((first, second), key=PRECEDENCE.index)
        assert overall([first, second]) == overall([second, first]) == expected
    assert overall([]) == "skipped"
    assert PRECEDENCE[:4] == ("fail", "undecidable", "undecided", "pass")


def test_the_page_has_the_table_and_every_command() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for command in CASES:
        assert f"`{command}`" in text
    rows = [line.split("|")[1:4] for line in text.splitlines() if line.startswith("| ")]
    codes = {name.strip().strip("*"): code.strip() for name, code, _ in rows if code.strip().isdigit()}
    assert {name: int(code) for name, code in codes.items() if name in EXIT_CODES} == {
        name: code for name, code in EXIT_CODES.items() if name != "undecidable"
    }
    assert codes["cannot be decided"] == str(EXIT_CODES["undecidable"])
