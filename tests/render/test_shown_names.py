"""Measures are shown by the names that were asked for; data for programs has canonical ones."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate, parse_measure
from rankgauge.measures import parse_measures
from tests.conftest import Outcome

Command = Callable[..., Outcome]
ASKED = ("hit@1", "MAP@100", "MRR@10", "Recall@50", "HitRate@10")
CANONICAL = ("Success@1", "AP@100", "RR@10", "R@50", "Success@10")
KPI = ["nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10"]
OPTIONS = tuple(word for name in ASKED for word in ("-m", name))
FILES = ("qrels.trec", "runs/lexical.trec", "runs/vector.trec")
SEPARATORS = str.maketrans(dict.fromkeys("|,:;()<>\"*'{}&—\\", " "))


@pytest.fixture
def folder(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    command("demo", "--copy", ".")
    return tmp_path


def names_in(text: str) -> set[str]:
    """Which of the names are words of a text; other words may contain them."""
    return {*ASKED, *CANONICAL} & set(text.translate(SEPARATORS).split())


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("MAP@100", ["MAP@100"]),
        ("AP@100", ["AP@100"]),
        ("map", ["map"]),
        ("ndcg_cut.10", ["ndcg_cut.10"]),
        (["hit@1", "Success@1"], ["hit@1"]),
        (["Success@1", "hit@1"], ["Success@1"]),
        ("hit@1,MAP@100 MRR@10", ["hit@1", "MAP@100", "MRR@10"]),
        ("P.5,10", ["P@5", "P@10"]),
        ("hit@1,3", ["Success@1", "Success@3"]),
        ("rag@5", ["P@5", "R@5", "F1@5", "RR@5", "AP@5", "nDCG@5", "Success@5"]),
        ("Precision(norm='retrieved')@5", ["P(norm='retrieved')@5"]),
        ("kpi", KPI),
        (["Recall@50", "kpi"], ["Recall@50", "nDCG@10", "MAP@100", "MRR@10", "Recall@100", "HitRate@10"]),
        (["R@50", "kpi"], ["R@50", "nDCG@10", "MAP@100", "MRR@10", "Recall@100", "HitRate@10"]),
    ],
)
def test_a_single_name_is_kept_and_sets_and_lists_are_canonical(asked: Any, expected: list[str]) -> None:
    assert [measure.shown for measure in parse_measures(asked)] == expected


def test_a_name_does_not_change_what_a_measure_is() -> None:
    asked, canonical = parse_measure("hit@1"), parse_measure("Success@1")
    assert asked == canonical
    assert hash(asked) == hash(canonical)
    assert str(asked) == asked.name == "Success@1"
    assert asked.but(cutoff=5).shown == "Success@5"


def test_a_grade_and_what_comes_from_the_judgments_keep_the_name() -> None:
    scores = evaluate({"q": {"a": 3}}, {"q": ["a"]}, ["err@10", "hit@1"])
    assert [measure.shown for measure in scores.measures] == ["err@10", "hit@1"]
    assert [measure.name for measure in scores.measures] == ["ERR(max_rel=3)@10", "Success@1"]
    assert scores["hit@1"] == scores["Success@1"] == 1.0


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize(
    "options", [(), ("--ci",), ("-q",), ("--queries", "queries.jsonl", "--by", "category"), ("-l", "2"), ("--audit",)]
)
def test_tables_of_evaluate_have_the_names_in_their_order(
    form: str, options: tuple[str, ...], folder: Path, command: Command
) -> None:
    done = command("evaluate", *FILES[:2], *OPTIONS, *options, "--format", form)
    if form != "table" and set(options) & {"--audit", "-q"} and done.code == 64:
        return  # a format that has no such values
    assert done.code == 0
    assert names_in(done.out) == set(ASKED)
    places = [done.out.index(name) for name in ASKED]
    assert places == sorted(places)


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("files", [FILES, (*FILES, "third.trec")])
def test_sentences_and_tables_of_compare_have_the_names(
    form: str, files: tuple[str, ...], folder: Path, command: Command
) -> None:
    Path("third.trec").write_text(Path(FILES[2]).read_text().replace("kb-1", "kb-x"))
    kpi = ("--set", "kpi=trec-2025", "--set", "statistics.target_difference=0.1")
    by = ("--queries", "queries.jsonl", "--by", "category")
    done = command("compare", *files, *OPTIONS, *kpi, *by, "--format", form)
    assert done.code == 0
    assert names_in(done.out) == set(ASKED)


def test_a_chart_of_text_has_the_names(folder: Path, command: Command) -> None:
    assert names_in(command("evaluate", *FILES[:2], *OPTIONS, "--plot").out) == set(ASKED)
    assert names_in(command("compare", *FILES, *OPTIONS, "--plot").out) == set(ASKED)


@pytest.mark.parametrize("arguments", [("evaluate", *FILES[:2]), ("compare", *FILES)])
def test_a_page_has_the_names(arguments: tuple[str, ...], folder: Path, command: Command) -> None:
    command(*arguments, *OPTIONS, "--html", "page.html")
    assert names_in(Path("page.html").read_text(encoding="utf-8")) == set(ASKED)


def test_data_has_canonical_names_and_json_says_what_was_requested(folder: Path, command: Command) -> None:
    data = json.loads(command("evaluate", *FILES[:2], *OPTIONS, "-m", "P@5", "--format", "json").out)
    assert tuple(data["runs"][0]["measures"]) == (*CANONICAL, "P@5")
    assert data["requested"] == dict(zip(CANONICAL, ASKED, strict=True))
    plain = json.loads(command("evaluate", *FILES[:2], "-m", "P@5", "--format", "json").out)
    assert "requested" not in plain
    rows = list(csv.DictReader(io.StringIO(command("evaluate", *FILES[:2], *OPTIONS, "--format", "csv").out)))
    assert {row["measure"] for row in rows} == set(CANONICAL)
    trec = command("evaluate", *FILES[:2], *OPTIONS, "--format", "trec").out
    names = [line.split()[0] for line in trec.splitlines()]
    assert names == [
        line.split()[0] for line in command("evaluate", *FILES[:2], *canonical(), "--format", "trec").out.splitlines()
    ]
    assert not set(names) & set(ASKED)


def canonical() -> tuple[str, ...]:
    """The options that ask for the same measures by their canonical names."""
    return tuple(word for name in CANONICAL for word in ("-m", name))


def test_a_configuration_asks_by_name_too(folder: Path, command: Command) -> None:
    Path("rankgauge.yaml").write_text("retrieval_metrics: {enabled_metrics: [hit@1, map@10]}\n")
    out = command("evaluate", *FILES[:2]).out
    assert out.splitlines()[0].split() == ["hit@1", "map@10"]


BENCHMARKS = [
    (("--corpus", "."), KPI),
    (("--corpus", ".", "-m", "kpi"), KPI),
    (("--corpus", ".", "-m", "Recall@50", "-m", "ndcg@10"), ["Recall@50", "ndcg@10"]),
    (("own.yaml",), ["HitRate@10", "MRR@10"]),
]


@pytest.mark.parametrize(("arguments", "expected"), BENCHMARKS)
def test_a_benchmark_compares_in_the_order_of_its_configuration(
    arguments: tuple[str, ...], expected: list[str], folder: Path, command: Command
) -> None:
    pytest.importorskip("bm25s")
    modes = ["lexical", "vector", "hybrid"]
    retrievers = ", ".join(f"{name}: {{mode: {name}}}" for name in modes)
    own = f"collection: {{corpus: .}}\nmeasures: [HitRate@10, MRR@10]\nretrievers: {{{retrievers}}}\n"
    Path("own.yaml").write_text(own)
    done = command("benchmark", "run", *arguments, "--latency", "0", "-o", "out")
    assert done.code == 0, done.err
    lines = Path("out/BenchmarkComparison.md").read_text(encoding="utf-8").splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert table[0] == ["Measure", *modes, "Best"]
    assert [row[0] for row in table[2 : 2 + len(expected)]] == expected
    first_words = [line.split()[0] for line in done.out.splitlines() if line.split()]
    assert [word for word in first_words if word in modes][:3] == modes
    scores = json.loads(Path("out/BenchmarkReport.json").read_bytes())["scores"]
    assert list(scores["runs"][0]["measures"]) == [str(parse_measure(name)) for name in expected]
    assert list(scores["requested"].values()) == [name for name in expected if name != "nDCG@10"]
    assert command("benchmark", "verify", "out").code == 0
