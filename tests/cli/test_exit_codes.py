"""One table of outcomes and exit codes: every command that has a verdict, on every outcome that it can have."""

from __future__ import annotations

import errno
import json
import shutil
import signal
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest

from rankgauge import evaluate
from rankgauge.cli.main import run
from rankgauge.cli.process import EXIT_BUG, EXIT_SYSTEM, EXIT_USAGE, SOURCE_FOLDER, Terminated
from rankgauge.core.verdicts import EXIT_CODES, PRECEDENCE, CheckOutcome, overall
from rankgauge.history import GitState, History
from rankgauge.history.entries import parse_time

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"


def _write(**files: Any) -> None:
    for name, content in files.items():
        Path(name).write_text(content if isinstance(content, str) else json.dumps(content))


def _run(docs: dict[str, list[str]]) -> str:
    return "".join(
        f"{query} Q0 {doc} {rank} {-rank} t\n" for query, own in docs.items() for rank, doc in enumerate(own, 1)
    )


def _save_history(path: Path, ranks: list[int]) -> None:
    """One entry per day; each has the relevant document of every query at the rank of its day."""
    labels = {f"q{n}": {"d": 1} for n in range(12)}
    history = History.open(path)
    for day, rank in enumerate(ranks, 1):
        docs = [*"uvwxyz"]
        docs.insert(rank - 1, "d")
        found = {query: {doc: -float(place) for place, doc in enumerate(docs)} for query in labels}
        scores = evaluate(labels, found, ["RR"])
        history.save(scores, date=parse_time(f"2026-11-{day:02}"), git=GitState("ab" * 20, "main", True))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two histories, and a benchmark with a copy in which a digit changed: made once, as they take a while."""
    folder = tmp_path_factory.mktemp("made")
    _save_history(folder / "calm", [1] * 10)
    _save_history(folder / "dropped", [1] * 6 + [4] * 4)
    words = range(12)
    for name, lines in {
        "corpus.jsonl": [json.dumps({"_id": f"d{n}", "text": f"word{n}"}) for n in words],
        "queries.jsonl": [json.dumps({"_id": f"q{n}", "text": f"word{n}"}) for n in words],
        "unanswered.jsonl": [json.dumps({"_id": f"q{n}", "text": f"word{n or 99}"}) for n in words],
        "qrels.trec": [f"q{n} 0 d{n} 1" for n in words],
        "search.py": ["def search(query, k=5):", "    raise RuntimeError('down')"],
    }.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    ours, mine = "retrievers: {bm25: {mode: lexical}}\n", "retrievers: {mine: {mode: './search.py:search'}}\n"
    start = "collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}\nbenchmark: {latency: 0}\n"
    (folder / "good.yaml").write_text(start + ours)
    (folder / "empty.yaml").write_text(start.replace("queries.jsonl", "unanswered.jsonl") + ours)
    (folder / "down.yaml").write_text(start + mine)
    assert run(["benchmark", "run", str(folder / "good.yaml"), "--out", str(folder / "benchmark")]) == 0
    shutil.copytree(folder / "benchmark", folder / "changed")
    stored = next((folder / "changed").rglob("*.trec"))
    stored.write_text(stored.read_text().replace("d1 ", "d2 "))
    return folder


@pytest.fixture(autouse=True)
def files(tmp_path: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_WEBHOOK", raising=False)
    shutil.copytree(made, "made")
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
        ("fail", "gate few bad --baseline good -m RR --set gate.undecided=fail"),
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
        ("pass", "runs validate --labels qrels"),
        ("fail", "runs validate --labels twice_judged"),
        ("undecidable", "runs validate --labels nowhere"),
        ("fail", "runs validate --labels nowhere --labels twice_judged"),
        ("pass", "runs validate good --labels qrels"),
        ("fail", "runs validate twice --labels qrels"),
        ("undecidable", "runs validate nowhere --labels qrels"),
        ("undecidable", "runs validate good --labels nowhere"),
        ("pass", "runs validate --labels qrels --corpus corpus.jsonl"),
        ("fail", "runs validate --labels qrels --corpus smaller.jsonl"),
        ("undecidable", "runs validate --labels qrels --corpus nowhere.jsonl"),
        ("fail", "runs validate qrels"),
    ],
    "benchmark verify": [
        ("pass", "benchmark verify made/benchmark"),
        ("fail", "benchmark verify made/changed"),
        ("undecidable", "benchmark verify empty"),
    ],
    "rq": [
        ("pass", "rq story.md asked --threshold 0.1"),
        ("fail", "rq story.md missed --threshold 0.9"),
        ("skipped", "rq story.md unlabeled"),
        ("undecidable", "rq story.md nowhere"),
    ],
    "history check": [
        ("pass", "history check --history made/calm --since 2026-11-04"),
        ("fail", "history check --history made/dropped --since 2026-11-04"),
        ("skipped", "history check --history made/dropped --since 2030-01-01"),
        ("undecidable", "history check --history nowhere"),
    ],
    "benchmark run": [
        ("pass", "benchmark run made/good.yaml --out b"),
        ("fail", "benchmark run made/empty.yaml --out b"),
        ("undecidable", "benchmark run made/down.yaml --out b"),
        ("undecidable", "benchmark run nowhere.yaml"),
    ],
}


@pytest.mark.parametrize(
    ("outcome", "line"), [case for cases in CASES.values() for case in cases], ids=lambda value: value.replace(" ", "_")
)
def test_every_outcome_has_its_exit_code(outcome: CheckOutcome, line: str, command: Command) -> None:
    done = command(*line.split())
    assert done.code == EXIT_CODES[outcome], done.out + done.err


@pytest.mark.parametrize("name", CASES)
def test_every_command_passes_fails_and_can_be_undecidable(name: str) -> None:
    outcomes = {outcome for outcome, line in CASES[name] if line.startswith(name)}
    assert {"pass", "fail", "undecidable"} <= outcomes


INTERRUPTIONS: list[tuple[BaseException, int]] = [
    (ValueError("a bug"), EXIT_BUG),
    (MemoryError(), EXIT_SYSTEM),
    (OSError(errno.EMFILE, "too many open files"), EXIT_SYSTEM),
    (KeyboardInterrupt(), 128 + signal.SIGINT),
    (Terminated(signal.SIGTERM), 128 + signal.SIGTERM),
    (BrokenPipeError(), 128 + signal.SIGPIPE),
]


IN_OUR_CODE = compile("raise error", str(SOURCE_FOLDER / "anywhere.py"), "exec")  # an error of the user's code is 2


@pytest.mark.parametrize("name", CASES)
def test_every_command_has_the_codes_of_what_ends_it_early(
    name: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = next(line for outcome, line in CASES[name] if outcome == "pass")
    assert command(*line.split(), "--no-such-option").code == EXIT_USAGE
    assert command(*name.split(), "--set", "no.such=key").code == EXIT_USAGE
    for error, code in INTERRUPTIONS:

        def stop(*_: object, error: BaseException = error, **__: object) -> None:
            exec(IN_OUR_CODE, {"error": error})

        monkeypatch.setattr(click.Context, "invoke", stop)
        monkeypatch.setattr("rankgauge.cli.process.discard_stdout", lambda: None)  # which ends this process's output
        assert command(*line.split()).code == code, repr(error)


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
