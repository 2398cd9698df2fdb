"""A command opens each input file once, and again only for a reason; a corpus for each index and for snippets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import rankgauge
from tests.warm_process import WarmProcess

Opened = Callable[..., dict[str, int]]
WORKSHOP = Path(rankgauge.__file__).parent / "data" / "workshop"
COUNT = """
import collections, json, os, sys
folder, counts = os.getcwd(), collections.Counter()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)) and "w" not in (arguments[1] or "r"):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path.startswith(folder + os.sep) and os.path.isfile(path):
            counts[os.path.relpath(path, folder)] += 1
sys.addaudithook(hook)
from rankgauge.cli.main import run
code = run(sys.argv[1:])
print(json.dumps(counts), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def opened(folder: Path, warm_rankgauge: WarmProcess) -> Callable[..., dict[str, int]]:
    """How often a command opens each file of the folder for reading."""

    def count(*arguments: str) -> dict[str, int]:
        done = warm_rankgauge.run(COUNT, *arguments, cwd=folder)
        assert done.returncode in (0, 1), done.stderr
        counts: dict[str, int] = json.loads(done.stderr.splitlines()[-1])
        return counts

    return count


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("qrels.trec", "queries.jsonl", "corpus.jsonl", "runs/lexical.trec", "runs/vector.trec"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((WORKSHOP / name).read_bytes())
    (tmp_path / "other.trec").write_bytes((WORKSHOP / "qrels.trec").read_bytes())
    log = '{"question": "a?", "retrieved_ids": ["x", "d"], "relevant_ids": ["d"]}\n'
    (tmp_path / "log.jsonl").write_text(log, encoding="utf-8")
    return tmp_path


RUNS = ["runs/lexical.trec", "runs/vector.trec"]
SEEN = ["qrels.trec", *RUNS]  # whose first bytes say that they are no logs, test cases or scores
TOPICS = ["--queries", "queries.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "again"),
    [
        (["evaluate", "qrels.trec", *RUNS], SEEN),
        (["evaluate", "qrels.trec", *RUNS, *TOPICS, "--audit", "--by", "category"], SEEN),
        (["evaluate", "qrels.trec", *RUNS, *TOPICS, "--html", "page.html"], SEEN),
        (["compare", "qrels.trec", *RUNS, *TOPICS], SEEN),
        (["compare", "qrels.trec", *RUNS, *TOPICS, "--html", "page.html"], SEEN),
        (["agreement", "qrels.trec", "other.trec", *RUNS], [*SEEN, "other.trec"]),
        (["evaluate", "log.jsonl", "--html", "page.html"], ["log.jsonl"]),
        (["gate", "qrels.trec", RUNS[0], "--baseline", RUNS[1], "-m", "nDCG@10"], SEEN),
        (
            ["gate", "qrels.trec", RUNS[0], "--baseline", RUNS[1], "-m", "nDCG@10", "--html", "page.html"],
            SEEN,
        ),
    ],
    ids=lambda names: " ".join(names),
)
def test_an_input_is_opened_again_only_to_see_what_it_is(
    folder: Path, opened: Opened, arguments: list[str], again: list[str]
) -> None:
    counts = opened(*arguments)
    inputs = {name for name in arguments if (folder / name).is_file() and name != "page.html"}
    assert inputs
    assert {name: counts[name] for name in inputs} == Counter([*inputs, *again])


@pytest.mark.slow
def test_a_configuration_is_opened_once(folder: Path, opened: Opened) -> None:
    (folder / "rankgauge.yaml").write_text("measures: [nDCG@10]\nstatistics: {significance_testing: true}\n")
    for command in ("evaluate", "compare"):
        counts = opened(command, "qrels.trec", *RUNS, "--config", "rankgauge.yaml")
        assert {name: counts[name] for name in ("rankgauge.yaml", *SEEN)} == Counter(["rankgauge.yaml", *SEEN, *SEEN])


@pytest.mark.slow
def test_a_run_that_drops_is_opened_again_to_find_the_cause(folder: Path, opened: Opened) -> None:
    rows = [line.split() for line in (folder / RUNS[0]).read_text().splitlines()]
    worse = [" ".join([query, "Q0", f"other-{doc}", rank, score, "x"]) for query, _, doc, rank, score, _ in rows]
    (folder / "worse.trec").write_text("\n".join(worse) + "\n")
    counts = opened("gate", "qrels.trec", "worse.trec", "--baseline", RUNS[0], "-m", "nDCG@10")
    assert (counts["worse.trec"], counts[RUNS[0]], counts["qrels.trec"]) == (3, 2, 2)


@pytest.mark.slow
def test_a_benchmark_opens_judgments_queries_and_runs_once(opened: Opened) -> None:
    counts = opened("benchmark", "run", "--corpus", ".", "-o", "out/here", "--latency", "0", "--html", "page.html")
    runs = {name: count for name, count in counts.items() if name.endswith(".trec") and "/runs/" in name}
    assert (counts["qrels.trec"], counts["queries.jsonl"]) == (1, 1)
    assert len(runs) == 3
    assert set(runs.values()) == {1}
    # Detection, a sample for the language, two indexes (each with a look at the size, for progress), and snippets.
    assert counts["corpus.jsonl"] == 7
    assert not any("/inputs/" in name for name in counts)
