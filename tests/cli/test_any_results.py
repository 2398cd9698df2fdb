"""Every command that takes results takes every kind of them, and gives the same numbers, notes and exit code."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from tests.conftest import Outcome

Command = Callable[..., Outcome]
RANKINGS = {
    "q1": ["d1", "x1", "d2"],
    "q2": ["x1", "d3"],
    "q3": ["x2", "x1", "d4"],
    "q4": ["x1", "x2"],
    "q5": ["d6", "x3"],
}
RELEVANT = {"q1": ["d1", "d2"], "q2": ["d3"], "q3": ["d4"], "q4": ["d5"], "q5": ["d6"]}
OTHER = {query: list(reversed(docs)) for query, docs in RANKINGS.items()}
TEXTS = {query: f"text of {query}" for query in RANKINGS}
MODULE = f"""
RANKINGS = {RANKINGS!r}
asked = []

def search(query, k):
    asked.append(query)
    docs = RANKINGS[query.split()[-1]]
    texts = {{doc: f"the text of {{doc}}" for doc in docs}}
    return [{{"id": doc, "score": float(len(docs) - rank), "text": texts[doc]}} for rank, doc in enumerate(docs)]
"""
MEASURES = ("RR@3", "nDCG@3", "R@3")
M = [word for name in MEASURES for word in ("-m", name)]
# The kinds whose rankings are not stored, and why a command refuses them.
NO_RANKINGS = {
    "a file of scores": "name the log or the run itself",
    "an entry without a log": "name the log or the run itself",
}
KINDS: dict[str, str] = {
    "a run": "my.run",
    "a compressed run": "my.run.gz",
    "a table": "table.csv",
    "rows of JSON": "rows.jsonl",
    "a folder": "folder",
    "a log": "log.jsonl",
    "a list of JSON": "log.json",
    "a file of scores": "values.csv",
    "an entry": "history:whole",
    "an entry without a log": "history:values",
    "a function of a file": "./any_search.py:search",
    "a function of a module": "any_search:search",
    "a described retriever": "search.yaml",
}
LIVE = ("a function of a file", "a function of a module", "a described retriever")


def scored(rankings: dict[str, list[str]]) -> list[tuple[str, str, int, float]]:
    ranked = [(query, doc, rank) for query, docs in rankings.items() for rank, doc in enumerate(docs)]
    return [(query, doc, rank + 1, float(len(rankings[query]) - rank)) for query, doc, rank in ranked]


def trec(rankings: dict[str, list[str]], name: str) -> str:
    return "".join(f"{query} Q0 {doc} {rank} {score} {name}\n" for query, doc, rank, score in scored(rankings))


def log_rows(rankings: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [
        {
            "query_id": query,
            "query": TEXTS[query],
            "retrieved": [{"id": doc, "score": len(docs) - rank} for rank, doc in enumerate(docs)],
            "relevant": RELEVANT[query],
        }
        for query, docs in rankings.items()
    ]


def json_lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "any_search", raising=False)
    monkeypatch.setenv("RANKGAUGE_HISTORY", str(tmp_path / "history"))
    rows = [{"query": query, "doc": doc, "score": score} for query, doc, _, score in scored(RANKINGS)]
    cases = [{"id": query, "query": TEXTS[query], "relevant_ids": docs} for query, docs in RELEVANT.items()]
    files = {
        "qrels.txt": "".join(f"{query} 0 {doc} 1\n" for query, docs in RELEVANT.items() for doc in docs),
        "cases.jsonl": json_lines(cases),
        "cases.csv": "id,query,relevant_ids\n"
        + "".join(f"{query},{TEXTS[query]},{';'.join(docs)}\n" for query, docs in RELEVANT.items()),
        "queries.jsonl": json_lines([{"_id": query, "text": text} for query, text in TEXTS.items()]),
        "my.run": trec(RANKINGS, "my"),
        "old.run": trec(OTHER, "old"),
        "old.jsonl": json_lines(log_rows(OTHER)),
        "table.csv": "query,doc,score\n" + "".join(f"{r['query']},{r['doc']},{r['score']}\n" for r in rows),
        "rows.jsonl": json_lines(rows),
        "log.jsonl": json_lines(log_rows(RANKINGS)),
        "log.json": json.dumps(log_rows(RANKINGS)),
        "any_search.py": MODULE,
        "search.yaml": "mode: ./any_search.py:search\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "my.run.gz").write_bytes(gzip.compress(files["my.run"].encode()))
    (tmp_path / "folder").mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "folder" / "part.parquet")
    evaluate = ("evaluate", "qrels.txt", "my.run", *M)
    (tmp_path / "values.csv").write_text(command(*evaluate, "-q", "--format", "csv").out)
    assert command(*evaluate, "--save", "--system", "values").code == 0
    assert command(*evaluate, "--save", "--save-run", "--system", "whole").code == 0
    return tmp_path


def warnings_of(outcome: Outcome) -> list[str]:
    return sorted(line.rpartition("[")[2] for line in outcome.err.splitlines() if line.startswith("warning:"))


def numbers_of(outcome: Outcome, row: int) -> dict[str, Any]:
    run = json.loads(outcome.out)["runs"][row]
    return {"measures": run["measures"], "queries": run["queries"], "per_query": run.get("per_query")}


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_takes_every_kind(folder: Path, command: Command, kind: str) -> None:
    words = (*M, "--format", "json", "-q")
    expected = command("evaluate", "cases.jsonl", "my.run", *words)
    done = command("evaluate", "cases.jsonl", KINDS[kind], *words)
    assert done.code == expected.code == 0, done.err
    if kind in NO_RANKINGS:  # without rankings, how deep they are is not known
        assert numbers_of(done, 0)["per_query"] == numbers_of(expected, 0)["per_query"]
        return
    assert numbers_of(done, 0) == numbers_of(expected, 0)
    assert warnings_of(done) == warnings_of(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", ["qrels.txt", "cases.jsonl", "cases.csv"])
def test_compare_takes_every_kind(folder: Path, command: Command, kind: str, labels: str) -> None:
    words = (*M, "--format", "json", "--queries", "queries.jsonl")
    expected = command("compare", labels, "old.run", "my.run", *words)
    done = command("compare", labels, "old.run", KINDS[kind], *words)
    assert done.code == expected.code == 0, done.err
    rows = [json.loads(outcome.out)["comparison"]["differences"] for outcome in (done, expected)]
    for row in (*rows[0], *rows[1]):
        del row["system"]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("requirement", ["RR@3>=0.3", "RR@3>=0.9"])
def test_gate_takes_every_kind_as_the_run_and_as_the_baseline(
    folder: Path, command: Command, kind: str, requirement: str
) -> None:
    words = (*M, "--require", requirement, "--format", "json")
    expected = command("gate", "cases.jsonl", "my.run", "--baseline", "my.run", *words)
    assert expected.code == (1 if requirement.endswith("0.9") else 0)
    for run, baseline in ((KINDS[kind], "my.run"), ("my.run", KINDS[kind])):
        done = command("gate", "cases.jsonl", run, "--baseline", baseline, *words)
        assert done.code == expected.code, done.err
        verdicts = [json.loads(outcome.out)["gate"] for outcome in (done, expected)]
        for key in ("verdict", "required"):
            assert verdicts[0][key] == verdicts[1][key], key
        changes = [[row["change"] for row in verdict["compared"]] for verdict in verdicts]
        assert changes[0] == changes[1] == [0.0] * len(MEASURES)


@pytest.mark.parametrize("kind", KINDS)
def test_diff_pool_and_fuse_take_every_kind_that_has_rankings(folder: Path, command: Command, kind: str) -> None:
    queries = ("--queries", "queries.jsonl")
    calls: dict[str, tuple[str, ...]] = {
        "diff": ("--k", "3", "--format", "csv", *queries),
        "pool": ("--depth", "3", "-o", "out.jsonl", *queries),
        "fuse": ("-o", "out.run", "--tag", "fused", *queries),
    }
    for name, options in calls.items():
        outputs = []
        for results in ("my.run", KINDS[kind]):
            done = command(name, "old.run", results, *options)
            if kind in NO_RANKINGS and results == KINDS[kind]:
                assert (done.code, NO_RANKINGS[kind] in done.err) == (2, True), done.err
                break
            assert done.code == 0, done.err
            file = options[options.index("-o") + 1] if "-o" in options else None
            outputs.append(done.out if file is None else without_texts(Path(file).read_text()))
        if len(outputs) == 2 and name != "diff":
            assert outputs[0] == outputs[1], name
        elif len(outputs) == 2:
            assert [line.split(",")[-1] for line in outputs[0].splitlines()] == [
                line.split(",")[-1] for line in outputs[1].splitlines()
            ]


@pytest.mark.parametrize("kind", NO_RANKINGS)
def test_scores_are_refused_where_rankings_are_audited_and_shown_on_pages(
    folder: Path, command: Command, kind: str
) -> None:
    done = command("evaluate", "cases.jsonl", KINDS[kind], "--audit")
    assert (done.code, NO_RANKINGS[kind] in done.err) == (2, True), done.err
    for words in (
        "evaluate cases.jsonl RESULTS --html page.html",
        "compare cases.jsonl old.run RESULTS --html page.html",
        "gate cases.jsonl RESULTS --require RR@3>=0 --html page.html",
        "evaluate RESULTS --html page.html",
        "compare values.csv RESULTS --html page.html",
    ):
        done = command(*words.replace("RESULTS", KINDS[kind]).split())
        assert done.code == 0, done.err
        assert "RR@3" in Path("page.html").read_text()
        Path("page.html").unlink()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", ["agreement cases.jsonl qrels.txt", "tune cases.jsonl"])
def test_agreement_and_tune_take_every_kind_that_has_rankings(
    folder: Path, command: Command, kind: str, words: str
) -> None:
    options = ("--format", "json", *(("-m", "RR@3") if words.startswith("agreement") else ()))
    expected = command(*words.split(), "old.run", "my.run", *options)
    done = command(*words.split(), "old.run", KINDS[kind], *options)
    assert expected.code == 0, expected.err
    if kind in NO_RANKINGS:
        assert (done.code, NO_RANKINGS[kind] in done.err) == (2, True), done.err
        return
    assert done.code == 0, done.err
    data = [json.loads(one.out) for one in (done, expected)]
    if words.startswith("agreement"):
        values = [list(one["measures"][0]["values"].values()) for one in data]
    else:
        values = [[(row["dev"], row["test"]) for row in one["scores"]] for one in data]
    assert values[0] == values[1]


def test_a_log_needs_no_other_file(folder: Path, command: Command) -> None:
    words = (*M, "--format", "json", "-q")
    expected = command("evaluate", "cases.jsonl", "my.run", *words)
    assert numbers_of(command("evaluate", "log.jsonl", *words), 0) == numbers_of(expected, 0)
    compared = command("compare", "old.jsonl", "log.jsonl", *M, "--format", "json")
    by_files = command("compare", "qrels.txt", "old.run", "my.run", *M, "--format", "json")
    changes = [
        [row["difference"] for row in json.loads(one.out)["comparison"]["differences"]] for one in (compared, by_files)
    ]
    assert changes[0] == changes[1]
    assert command("gate", "log.jsonl", "--require", "RR@3>=0.3", "--baseline", "old.jsonl").code == 0
    assert command("gate", "log.jsonl", "--require", "RR@3>=0.9").code == 1
    assert command("diff", "old.jsonl", "log.jsonl").code == 0


def test_the_labels_of_the_newest_log_apply_and_those_that_differ_are_named(folder: Path, command: Command) -> None:
    rows = log_rows(OTHER)
    rows[0]["relevant"], rows[3]["relevant"] = ["x1"], ["x2"]
    Path("older.jsonl").write_text(json_lines(rows))
    note = "2 queries have other labels in 'older.jsonl' than in 'log.jsonl', whose labels apply: 'q1', 'q4'"
    compared = command("compare", "older.jsonl", "log.jsonl", "-m", "RR@3", "--format", "csv")
    assert note in compared.err
    expected = command("compare", "qrels.txt", "older.jsonl", "log.jsonl", "-m", "RR@3", "--format", "csv")
    assert compared.out == expected.out
    assert note not in expected.err
    gated = command("gate", "log.jsonl", "--require", "RR@3>=0", "--baseline", "older.jsonl")
    assert note in gated.err
    overridden = command("compare", "older.jsonl", "log.jsonl", "--labels", "older.jsonl", "-m", "RR@3")
    assert "labels apply" not in overridden.err
    first = command("evaluate", "older.jsonl", "-m", "RR@3", "--format", "csv")
    again = command("evaluate", "log.jsonl", "--labels", "older.jsonl", "-m", "RR@3", "--format", "csv")
    assert first.out != again.out


@pytest.mark.parametrize("words", ["evaluate cases.jsonl", "compare cases.jsonl old.run", "gate cases.jsonl"])
def test_a_retriever_is_asked_each_query_once(folder: Path, command: Command, words: str) -> None:
    options = ("--require", "RR@3>=0") if words.startswith("gate") else ()
    assert command(*words.split(), "any_search:search", *options).code == 0
    assert sys.modules["any_search"].asked == list(TEXTS.values())


def test_labels_by_text_are_recognized_in_every_command(folder: Path, command: Command) -> None:
    gold = [
        {"query_id": query, "query": TEXTS[query], "gold": [f"the text of {doc}" for doc in docs]}
        for query, docs in RELEVANT.items()
    ]
    Path("gold.jsonl").write_text(json_lines(gold))
    docs = sorted({doc for docs in (*RANKINGS.values(), *RELEVANT.values()) for doc in docs})
    Path("chunks.jsonl").write_text(json_lines([{"_id": doc, "text": f"the text of {doc}"} for doc in docs]))
    chunks = ("--set", "reading.chunks=chunks.jsonl")
    live = command("evaluate", "gold.jsonl", "any_search:search", *chunks, "--format", "csv")
    stored = command("evaluate", "gold.jsonl", "my.run", *chunks, "--format", "csv")
    assert live.code == stored.code == 0, live.err + stored.err
    pairs = zip(live.out.splitlines(), stored.out.splitlines(), strict=True)
    assert all(
        one.split(",")[1:5] == other.split(",")[1:5] for one, other in pairs
    )  # a run does not say how deep it is
    assert command("compare", "gold.jsonl", "old.run", "any_search:search", *chunks).code == 0
    assert command("gate", "gold.jsonl", "any_search:search", *chunks, "--require", "StRecall@3>=0.5").code == 0
    for results in ("my.run", "table.csv", "folder", "log.jsonl"):
        refused = command("evaluate", "gold.jsonl", results)
        assert (refused.code, "has no texts" in refused.err, "--set reading.chunks=CHUNKS" in refused.err) == (
            2,
            True,
            True,
        )


def without_texts(output: str) -> str:
    """A pool without the texts that came with the results; anything else as it is."""
    return re.sub(r'"text":"[^"]*","text_sha256":"[0-9a-f]*",', "", output)


class Searcher:
    def retrieve(self, query: str, k: int) -> list[str]:
        return RANKINGS[query.split()[-1]][:k]


PYTHON_KINDS: dict[str, Callable[[], Any]] = {
    **{kind: partial(str, name) for kind, name in KINDS.items()},
    "a path": lambda: Path("my.run"),
    "a dict": lambda: {query: dict(zip(docs, (3.0, 2.0, 1.0), strict=False)) for query, docs in RANKINGS.items()},
    "lists": lambda: RANKINGS,
    "a Run": lambda: rg.read_run("my.run"),
    "a function": lambda: Searcher().retrieve,
    "an object": Searcher,
    "a live result": lambda: rg.evaluate_retriever(Searcher(), "cases.jsonl"),
    "a frame": lambda: pytest.importorskip("pandas").read_csv("table.csv"),
}


@pytest.mark.parametrize("kind", PYTHON_KINDS)
def test_the_functions_take_every_kind_too(folder: Path, kind: str) -> None:
    results, list_of_measures = PYTHON_KINDS[kind](), list(MEASURES)
    expected = rg.evaluate("qrels.txt", "my.run", list_of_measures)
    for labels in ("cases.jsonl", [{"id": q, "query": TEXTS[q], "relevant_ids": d} for q, d in RELEVANT.items()]):
        if kind in NO_RANKINGS and not isinstance(labels, str):
            continue  # their values are those of other judgments, by name
        scores = rg.evaluate(labels, results, list_of_measures)
        for measure in MEASURES:
            assert scores.per_query(measure) == expected.per_query(measure)
    comparison = rg.compare("cases.jsonl", ["old.run", results], list_of_measures)
    assert [row.difference for row in comparison.differences] == [
        row.difference for row in rg.compare("qrels.txt", ["old.run", "my.run"], list_of_measures).differences
    ]
    assert rg.gate("cases.jsonl", results, require=["RR@3>=0.3"], baseline="my.run").passed


def test_the_systems_of_one_log_are_compared_with_each_other(tmp_path: Path, command: Command) -> None:
    rows = [
        {"query": query, "system": system, "retrieved": ranking, "relevant": ["a"]}
        for query in ("one", "two", "three")
        for system, ranking in (("old", ["b", "a"]), ("new", ["a", "b"]))
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("compare", str(log), "-m", "RR", "--format", "json")
    assert done.code == 0, done.err
    assert [run["name"] for run in json.loads(done.out)["runs"]] == ["old", "new"]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows if row["system"] == "new"))
    assert "at least two runs, found 1" in command("compare", str(log), "-m", "RR").err


def benchmark_numbers(folder: str) -> list[dict[str, Any]]:
    """The scores and the differences of a benchmark's last system, without its name."""
    report = json.loads(Path(folder, "BenchmarkReport.json").read_text())
    scores = json.loads(sorted(Path(folder, "evaluations").glob("[!o]*"))[0].read_text())
    differences = [
        {name: value for name, value in row.items() if name != "system"} for row in report["comparison"]["differences"]
    ]
    return [scores["runs"][0]["measures"], differences]


@pytest.mark.parametrize("kind", KINDS)
def test_a_benchmark_takes_every_kind_that_has_rankings(folder: Path, command: Command, kind: str) -> None:
    words = (*M, "--latency", "0", "--set", "statistics.resamples=100")
    expected = command("benchmark", "run", "cases.jsonl", "old.run", "my.run", *words, "-o", "expected")
    assert expected.code == 0, expected.err
    done = command("benchmark", "run", "cases.jsonl", "old.run", KINDS[kind], *words, "-o", "bench")
    if kind in NO_RANKINGS:
        assert (done.code, NO_RANKINGS[kind] in done.err, Path("bench").exists()) == (2, True, False), done.err
        return
    assert done.code == 0, done.err
    assert benchmark_numbers("bench") == benchmark_numbers("expected")
    assert command("benchmark", "verify", "bench").code == 0


@pytest.mark.parametrize(
    "words",
    [
        "old.jsonl log.jsonl",
        "qrels.txt old.jsonl log.jsonl",
        "old.jsonl my.run --qrels cases.csv",
        "qrels.txt old.run ./any_search.py:search --queries queries.jsonl",
        "cases.jsonl old.run --retriever any_search:search",
    ],
)
def test_a_benchmark_takes_the_labels_of_any_file(folder: Path, command: Command, words: str) -> None:
    options = (*M, "--latency", "0", "--set", "statistics.resamples=100")
    assert command("benchmark", "run", "qrels.txt", "old.run", "my.run", *options, "-o", "expected").code == 0
    done = command("benchmark", "run", *words.split(), *options, "-o", "bench")
    assert done.code == 0, done.err
    assert benchmark_numbers("bench") == benchmark_numbers("expected")
    assert command("benchmark", "verify", "bench").code == 0


def test_a_benchmark_keeps_texts_and_ids_with_white_space(folder: Path, command: Command) -> None:
    rows = [{key: value for key, value in row.items() if key != "query_id"} for row in log_rows(RANKINGS)]
    for row in rows:
        row["retrieved"] = [{"id": f"{one['id']} a", "text": f"the text of {one['id']}"} for one in row["retrieved"]]
        row["relevant"] = [f"{doc} a" for doc in row["relevant"]]
    Path("spaced.jsonl").write_text(json_lines(rows))
    assert command("benchmark", "run", "spaced.jsonl", "-m", "RR@3", "--latency", "0", "-o", "bench").code == 0
    assert command("benchmark", "verify", "bench").code == 0
    stored = Path("bench/runs/spaced.jsonl.jsonl")
    kept = [json.loads(line) for line in stored.read_text().splitlines()]
    assert kept[0]["retrieved"][0] == {"id": "d1 a", "score": 3, "text": "the text of d1"}
    again = command("evaluate", "spaced.jsonl", str(stored), "-m", "RR@3", "--format", "json")
    values = [run["measures"] for run in json.loads(again.out)["runs"]]
    assert values[0] == values[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("qrels.txt any_search:search", "name a file with the texts: --queries FILE"),
        ("cases.jsonl", "cases.jsonl holds labels only"),
        ("folder", "--corpus folder"),
        ("qrels.txt my.run --set retriever.timeout=3", "--set retriever.timeout applies to a retriever of your own"),
        ("cases.jsonl my.run --retriever lexical", "lexical retrieval needs a corpus"),
    ],
)
def test_a_benchmark_says_what_is_missing(folder: Path, command: Command, words: str, message: str) -> None:
    done = command("benchmark", "run", *words.split(), "-o", "bench")
    assert (done.code in (2, 64), message in done.err, Path("bench").exists()) == (True, True, False), done.err


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_takes_every_kind(folder: Path, command: Command, kind: str) -> None:
    words = (*M, "--set", "statistics.resamples=100", "--html", "page.html")
    done = command("compare", "cases.jsonl", "old.run", KINDS[kind], *words)
    assert done.code == 0, done.err
    assert re.search(r"nDCG@3 [^<]*95% CI[^<]*", Path("page.html").read_text()) is not None


def test_a_page_of_a_log_and_of_named_labels_is_written(folder: Path, command: Command) -> None:
    assert command("evaluate", "log.jsonl", "--html", "log.html").code == 0
    assert command("evaluate", "my.run", "--labels", "cases.jsonl", "--html", "named.html").code == 0
    assert Path("log.html").exists()
    assert Path("named.html").exists()


SYSTEMS = [
    {"query": query, "system": system, "retrieved": ranking, "relevant": ["a"]}
    for query in ("one", "two", "three", "four")
    for system, ranking in (("old", ["b", "a"]), ("new", ["a", "b"]))
]


def test_a_log_of_two_systems_is_enough_for_commands_that_take_two(folder: Path, command: Command) -> None:
    Path("systems.jsonl").write_text(json_lines(SYSTEMS))
    difference = command("diff", "systems.jsonl", "--format", "json")
    assert difference.code == 0, difference.err
    assert command("fuse", "systems.jsonl", "-o", "fused.run").code == 0
    assert len(Path("fused.run").read_text().splitlines()) == 8
    tuned = command("tune", "systems.jsonl", "-m", "RR", "--format", "json")
    assert [row["name"] for row in json.loads(tuned.out)["scores"]][:2] == ["old", "new"]
    agreed = command("agreement", "systems.jsonl", "systems.jsonl", "systems.jsonl", "-m", "RR", "--format", "json")
    assert json.loads(agreed.out)["measures"][0]["values"] == {"old": [0.5, 0.5], "new": [1.0, 1.0]}
    three = command("diff", "systems.jsonl", "my.run")
    assert "a difference is that of two systems, found 3: 'old', 'new', 'my'" in three.err


@pytest.mark.parametrize(
    "words",
    [
        "gate systems.jsonl --require RR>=0.1",
        "gate systems.jsonl --baseline systems.jsonl -m RR",
        "gate qrels.txt my.run --baseline systems.jsonl -m RR",
    ],
)
def test_a_gate_does_not_guess_which_of_several_systems_it_tests(folder: Path, command: Command, words: str) -> None:
    Path("systems.jsonl").write_text(json_lines(SYSTEMS))
    done = command(*words.split())
    assert (done.code, "a gate tests one system" in done.err) == (2, True), done.err
    with pytest.raises(rg.InputError, match="'old', 'new'"):
        rg.gate("systems.jsonl", require="RR>=0.1")
    assert command("gate", "log.jsonl", "--baseline", "log.jsonl", "-m", "RR").code == 0


@pytest.mark.parametrize("labels", ["cases.jsonl", "gold.jsonl"])
@pytest.mark.parametrize("words", ["diff LABELS any_search:search", "evaluate qrels.txt LABELS", "pool LABELS -o x"])
def test_labels_in_the_place_of_results_are_named(folder: Path, command: Command, labels: str, words: str) -> None:
    Path("gold.jsonl").write_text('{"query": "text of q1", "gold": ["the text of d1"]}\n' * 2)
    done = command(*words.replace("LABELS", labels).split())
    assert (done.code, f"{labels}: holds labels, and results are expected" in done.err) == (2, True), done.err
    assert "any_search" not in sys.modules or not sys.modules["any_search"].asked


def test_tune_takes_labels_by_text_and_agreement_does_not(folder: Path, command: Command) -> None:
    rows = [
        {"query_id": query, "query": TEXTS[query], "gold": [f"the text of {doc}" for doc in docs]}
        for query, docs in RELEVANT.items()
    ]
    Path("gold.jsonl").write_text(json_lines(rows))
    assert command("evaluate", "cases.jsonl", "any_search:search", "-m", "RR@3", "-o", "new.jsonl").code == 0
    lines = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    for line in lines:
        line["retrieved"] = [{**one, "score": -one["score"]} for one in line["retrieved"]]
    Path("reversed.jsonl").write_text(json_lines(lines))
    words = ("new.jsonl", "reversed.jsonl", "-m", "StRecall@1", "--set", "reading.tolerance=0")
    refused = command("agreement", "gold.jsonl", "cases.jsonl", *words[:2])
    assert (refused.code, "agreement takes labels by ids, not by text" in refused.err) == (64, True)
    tuned = command("tune", "gold.jsonl", *words, "--format", "json")
    assert json.loads(tuned.out)["measure"] == "StRecall@1"
    live = ("any_search:search", "old.run", "--queries", "queries.jsonl", "--set", "retriever.concurrency=2")
    assert command("agreement", "cases.jsonl", "qrels.txt", *live).code == 0
    assert command("tune", "qrels.txt", *live).code == 0


def test_tune_takes_any_labels_and_results_in_python(folder: Path) -> None:
    expected = rg.retrieval.tune(rg.read_qrels("qrels.txt"), [rg.read_run("old.run"), rg.read_run("my.run")])
    for labels, results in (
        ("cases.jsonl", ["old.jsonl", "any_search:search"]),
        ("cases.csv", ["old.run", RANKINGS]),
        ({query: dict.fromkeys(docs, 1) for query, docs in RELEVANT.items()}, ["old.run", "table.csv"]),
    ):
        tuned = rg.retrieval.tune(labels, results)
        assert (tuned.value, tuned.choice) == (expected.value, expected.choice)


@pytest.mark.parametrize(
    "first",
    [
        {"query": "one", "error": "timeout", "relevant": ["a"]},
        {"query": "one", "relevant": ["a"]},
        {"query": "one", "retrieved": ["a"]},
    ],
)
@pytest.mark.parametrize("is_list", [False, True])
def test_a_log_may_begin_with_a_query_that_failed_or_has_no_labels(
    folder: Path, command: Command, first: dict[str, Any], is_list: bool
) -> None:
    rows = [first, {"query": "two", "retrieved": ["b", "a"], "relevant": ["a"]}]
    Path("begins.jsonl").write_text(json.dumps(rows) if is_list else json_lines(rows))
    done = command("evaluate", "begins.jsonl", "-m", "RR", "-q", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["runs"][0]["per_query"]["two"] == {"RR": 0.5}
    Path("plain.jsonl").write_text(json_lines(rows[1:]))
    assert command("diff", "plain.jsonl", "begins.jsonl").code == 0


def test_documents_are_named_by_corpus_for_spans_and_for_the_page(folder: Path, command: Command) -> None:
    Path("guide.jsonl").write_text(json_lines([{"_id": "guide", "text": "Here is the text of d1, and more."}]))
    span = {"query_id": "q1", "query": TEXTS["q1"], "gold": [{"doc": "guide", "start": 8, "end": 22}]}
    Path("spans.jsonl").write_text(json_lines([span]))
    words = ("spans.jsonl", "any_search:search", "-m", "StRecall@1", "--format", "json")
    assert "--corpus PATH" in command("evaluate", *words).err
    done = command("evaluate", *words, "--corpus", "guide.jsonl")
    assert json.loads(done.out)["runs"][0]["measures"]["StRecall@1"]["value"] == 1
    assert command("gate", *words[:2], "--require", "StRecall@1>=1", "--set", "gate.corpus=guide.jsonl").code == 0
    refused = command("evaluate", "qrels.txt", "my.run", "--corpus", "guide.jsonl")
    assert "--corpus is for the HTML report and for labels by text" in refused.err
    assert "applies to labels by text" in command("tune", "qrels.txt", "my.run", "old.run", "--corpus", "x").err
