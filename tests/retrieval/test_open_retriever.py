from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rankgauge import InputError, UsageError, run_benchmark
from rankgauge.benchmark import BenchmarkPlan
from rankgauge.benchmark.plan import plan_of_config
from rankgauge.config.config_file import load_config
from rankgauge.retrieval import RetrieverSettings, make_retriever
from rankgauge.retrieval.fetch import journal_header
from rankgauge.retrieval.named_code import is_object_path, load_object
from rankgauge.retrieval.open_retriever import open_retriever
from rankgauge.retrieval.retriever import QueryBatch, retrieve_run

MODULE = """
from helper_of_search import BEST

class Index:
    def search(self, query, k):
        return [BEST, "d2"][:k]

index = Index()

def make(reverse=False, k1=0):
    return lambda query, k: ["d2", BEST] if reverse else [BEST, "d2"]

def make_nothing():
    return None
"""
QUERIES = QueryBatch.from_dict({"q1": "one"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "app"
    home.mkdir()
    (home / "search.py").write_text(MODULE)
    (home / "helper_of_search.py").write_text("BEST = 'd1'\n")
    (home / "queries.jsonl").write_text('{"id": "q1", "text": "one"}\n')
    (home / "qrels.trec").write_text("q1 0 d1 1\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.chdir(tmp_path)
    return home


def ranked(settings: RetrieverSettings) -> list[str]:
    return retrieve_run(make_retriever(settings, None), QUERIES, 10).ranked().docs.to_text()


@pytest.mark.parametrize("text", ["a:b", "a.b:c.d", "./search.py:find", "/x y/search.py:a.b", "C:\\x\\search.py:find"])
def test_what_names_an_object(text: str) -> None:
    assert is_object_path(text)


@pytest.mark.parametrize("text", ["a", "a:", ":b", "a-b:c", "search.py", "search.py:", "search.py:1x"])
def test_what_does_not(text: str) -> None:
    assert not is_object_path(text)


def test_an_object_in_a_file_is_loaded_once_with_the_modules_beside_it(folder: Path) -> None:
    index = load_object("app/search.py:index", "retriever")
    assert index.search("one", 1) == ["d1"]
    assert load_object("./app/../app/search.py:index", "retriever") is index
    assert ranked(RetrieverSettings(mode="app/search.py:index.search")) == ["d1", "d2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1 / 0\n", "cannot import app/broken.py: broken.py:1: ZeroDivisionError: division by zero"),
        ("\nx = (\n", "broken.py:2: SyntaxError: '(' was never closed"),
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("raise SystemExit(3)\n", "broken.py:1: SystemExit: 3"),
        ("finding = 1\n", "app/broken.py has no find"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_a_usage_error(folder: Path, content: str, message: str) -> None:
    (folder / "broken.py").write_text(content)
    for _ in range(2):  # nothing half-loaded is kept
        with pytest.raises(UsageError) as caught:
            load_object("app/broken.py:find", "retriever")
        assert message in caught.value.message
    assert "broken.py" not in sys.modules or content.startswith("finding")


def test_a_missing_file_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"app/nowhere\.py not found"):
        load_object("app/nowhere.py:find", "retriever")


def test_a_file_describes_a_retriever_and_its_parameters(folder: Path) -> None:
    (folder / "reversed.yaml").write_text("call: ./search.py:make\nparams: {reverse: true}\n")
    opened = open_retriever("app/reversed.yaml")
    assert opened.retriever("one", 2) == ["d2", "d1"]
    assert ranked(RetrieverSettings(mode="app/reversed.yaml")) == ["d2", "d1"]


def test_other_parameters_do_not_resume_a_fetch(folder: Path) -> None:
    headers = []
    for reverse in ("true", "false", "false"):
        (folder / "mine.yaml").write_text(f"call: ./search.py:make\nparams: {{reverse: {reverse}}}\n")
        retriever = make_retriever(RetrieverSettings(mode="app/mine.yaml"), None)
        headers.append(journal_header(retriever, QUERIES, 5))
    assert headers[0] != headers[1] == headers[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("call: ./search.py:make\nparams: {revers: 1}\n", "unexpected keyword argument 'revers'"),
        ("call: ./search.py:make_nothing\n", "returned None instead of a retriever"),
        ("mode: lexical\n", "has none of the keys that make a retriever"),
        ("call: ./search.py:make\nsweep: {reverse: [true]}\n", "a sweep is several retrievers"),
    ],
)
def test_a_retriever_that_cannot_be_made(folder: Path, content: str, message: str) -> None:
    (folder / "mine.yaml").write_text(content)
    with pytest.raises(UsageError) as caught:
        open_retriever("app/mine.yaml")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("mode: lexical\ncall: a:b\n", "mine.yaml:2: expected one of mode, call, http, postgres, found mode and call"),
        ("params: {a: 1}\n", "mine.yaml:1: expected params together with call, found params alone"),
        ("sweep:\n  k2: [1]\n", "mine.yaml:2: expected a key of the retriever (k1?), found k2"),
        ("sweep:\n  k1: [1.0, x]\n", """mine.yaml:2: expected a number of at least 0 as k1, found 'x'"""),
        ("sweep:\n  k1: []\n", "expected at least one value"),
    ],
)
def test_a_section_that_contradicts_itself(folder: Path, content: str, line: str) -> None:
    (folder / "mine.yaml").write_text(content)
    with pytest.raises(InputError) as caught:
        open_retriever("app/mine.yaml")
    assert line in str(caught.value)


def test_a_sweep_names_each_system_by_its_parameters(folder: Path) -> None:
    (folder / "plan.yaml").write_text(
        "collection: {queries: queries.jsonl, qrels: qrels.trec}\n"
        "retrievers:\n"
        "  mine: {call: './search.py:make', sweep: {reverse: [false, true], k1: [1]}}\n"
        "  plain: {mode: './search.py:index'}\n"
        "benchmark: {latency: 0}\n"
    )
    plan = plan_of_config(folder / "plan.yaml")
    assert list(plan.systems) == ["mine,reverse=false,k1=1", "mine,reverse=true,k1=1", "plain"]
    report = run_benchmark(plan, folder / "out")
    values = {system.run: system["RR@10"] for system in report.evaluation.scores}
    assert values == {"mine,reverse=false,k1=1": 1.0, "mine,reverse=true,k1=1": 0.5, "plain": 1.0}


def test_a_sweep_of_a_mode_changes_its_keys() -> None:
    config = load_config({"retrievers": {"l": {"mode": "lexical", "b": 0.5, "sweep": {"k1": [1.0, 2.0]}}}})
    swept = {name: one.model_dump() for name, one in config.retrievers["l"].swept().items()}
    assert {name: (one["k1"], one["b"]) for name, one in swept.items()} == {"k1=1.0": (1.0, 0.5), "k1=2.0": (2.0, 0.5)}


def test_a_sweep_of_a_server_changes_its_section() -> None:
    section = {"postgres": {"dsn": "${DSN}", "kind": "vector-hnsw", "table": "t"}, "sweep": {"ef_search": [40, 200]}}
    swept = load_config({"retrievers": {"pg": section}}).retrievers["pg"].swept()
    assert [(name, one.postgres and one.postgres.ef_search) for name, one in swept.items()] == [
        ("ef_search=40", 40),
        ("ef_search=200", 200),
    ]
    section["sweep"] = {"ef_search": ["many"]}
    with pytest.raises(InputError, match="expected a valid integer as ef_search, found 'many'"):
        load_config({"retrievers": {"pg": section}})


def test_a_plan_takes_objects(folder: Path) -> None:
    plan = BenchmarkPlan(
        "objects",
        None,
        str(folder / "queries.jsonl"),
        str(folder / "qrels.trec"),
        {"function": lambda query: ["d2", "d1"], "object": load_object("app/search.py:index", "retriever")},
        latency=0,
    )
    report = run_benchmark(plan, folder / "out")
    assert {system.run: system["RR@10"] for system in report.evaluation.scores} == {"function": 0.5, "object": 1.0}


def test_parameters_may_come_from_the_environment_and_are_not_in_the_identity(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEST_DOCUMENT", "document-of-a-secret")
    (folder / "search.py").write_text("def make(best):\n    return lambda query: [best['id'], 'd2']\n")
    (folder / "mine.yaml").write_text("call: ./search.py:make\nparams: {best: {id: '${BEST_DOCUMENT}'}}\n")
    retriever = make_retriever(RetrieverSettings(mode="app/mine.yaml"), None)
    assert retrieve_run(retriever, QUERIES, 1).docs.to_text() == ["document-of-a-secret"]
    assert "document-of-a-secret" not in str(retriever.identity())
