"""The other fields of test cases reach whatever names them, as they are; one that is missing stops before any query."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate, evaluate_retriever
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.errors import InputError, RetrieverError, UsageError
from rankgauge.retrieval.asking.retriever_functions import retriever_function
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.http import HttpEngine
from rankgauge.retrieval.retriever import QueryBatch
from tests.conftest import Outcome
from tests.retrieval.engines.loopback import Reply, Request, serving

TURNS = [{"role": "user", "text": "hi"}]
CASES: list[dict[str, Any]] = [
    {"id": "1", "query": "same text", "relevant_ids": ["a"], "tenant": "x", "turns": TURNS, "k": 2},
    {"id": "2", "query": "same text", "relevant_ids": ["b"], "tenant": "y's", "turns": [], "k": 3},
]
Asked = list[tuple[Any, ...]]


def test_a_parameter_with_the_name_of_a_field_gets_it() -> None:
    asked: Asked = []

    def search(query: str, tenant: str, turns: Any = None, unknown: int = 7, *, k: int) -> list[str]:
        asked.append((query, tenant, turns, unknown, k))
        return ["a"] if tenant == "x" else ["b"]

    result = evaluate_retriever(search, CASES)
    assert asked == [("same text", "x", TURNS, 7, 2), ("same text", "y's", [], 7, 3)]
    assert result.scores["RR"] == 1.0
    asked.clear()
    assert evaluate(CASES, search, ["RR@1"])["RR@1"] == 1.0
    assert [row[1] for row in asked] == ["x", "y's"]


def test_a_method_and_a_coroutine_get_fields_too() -> None:
    class Store:
        async def aretrieve(self, query: str, *, tenant: str) -> list[str]:
            return [tenant]

    class Index:
        def search(self, query: str, tenant: str) -> list[str]:
            return [tenant]

    for retriever in (Store(), Index()):
        result = evaluate_retriever(retriever, [{**case, "relevant_ids": [case["tenant"]]} for case in CASES], 1)
        assert result.scores["RR"] == 1.0


def test_a_second_parameter_is_k_unless_it_is_a_field() -> None:
    function = retriever_function(lambda query, number: (query, number))
    assert function("q", 5) == ("q", 5)
    assert function.with_fields({"1": {"number": "one"}})("q", 5, {"number": "one"}) == ("q", "one")
    assert function.with_fields({"1": {"other": 1}})("q", 5, {"other": 1}) == ("q", 5)


@pytest.mark.parametrize("parameter", ["tenant", "*, tenant"])
def test_a_missing_field_is_an_error_before_the_first_query(parameter: str) -> None:
    asked: list[str] = []
    space = {"asked": asked}
    exec(f"def search(query, k, {parameter}):\n    asked.append(query)\n    return ['a']", space)
    search: Any = space["search"]
    cases = [CASES[0], {key: value for key, value in CASES[1].items() if key != "tenant"}]
    for ask in (lambda: evaluate_retriever(search, cases), lambda: evaluate(cases, search, ["RR"])):
        with pytest.raises(InputError, match="retriever 'search' needs 'tenant', which 1 query of 2 lacks: '2'"):
            ask()
    assert asked == []


def test_columns_of_queries_are_fields() -> None:
    batch = QueryBatch.from_dict({"1": "one", "2": "two"})
    fields = {"1": {"tenant": "x"}, "2": {"tenant": "y"}}
    run = CallableRetriever(lambda query, tenant: [tenant]).retrieve(QueryBatch(batch.ids, batch.texts, fields), 1)
    assert run.docs.to_text() == ["x", "y"]


def test_a_journal_is_not_used_again_if_a_field_that_is_sent_changed(tmp_path: Path) -> None:
    asked: list[str] = []

    def search(query: str, tenant: str) -> list[str]:
        asked.append(tenant)
        if tenant == "fails":
            raise ValueError("no such tenant")
        return [tenant]

    def ask(*tenants: str) -> None:
        cases = [{"id": str(n), "query": "q", "relevant_ids": ["x"], "tenant": name} for n, name in enumerate(tenants)]
        evaluate_retriever(search, cases, 1, calls=RetrieverCalls(journal=str(tmp_path / "journal")))

    for _ in range(2):
        with pytest.raises(RetrieverError, match="1 of 2 queries failed"):
            ask("x", "fails")
    with pytest.raises(InputError, match="belongs to another fetch: sent_fields was"):
        ask("z", "fails")
    assert asked == ["x", "fails", "fails"]


# -- servers --------------------------------------------------------------------------------------------------------


def sent_by(section: dict[str, Any], cases: list[dict[str, Any]]) -> list[Request]:
    requests: list[Request] = []

    def answer(request: Request) -> Reply:
        requests.append(request)
        return Reply({"hits": [{"id": "a"}]})

    pytest.importorskip("httpx")
    with serving(answer) as address:
        engine = HttpEngine({"results": "hits", **section, "url": address + section.get("url", "")})
        evaluate(cases, engine, ["RR@1"])
    return requests


def test_a_request_has_the_fields_that_it_names() -> None:
    body = {"q": "{query}", "filter": {"tenant": "{case.tenant}"}, "turns": "{case.turns}", "text": "of {case.tenant}!"}
    requests = sent_by({"body": body, "url": "/{case.tenant}", "params": {"t": "{case.tenant}"}}, CASES)
    assert requests[0].body == {"q": "same text", "filter": {"tenant": "x"}, "turns": TURNS, "text": "of x!"}
    assert requests[1].body["filter"] == {"tenant": "y's"}
    assert requests[1].path == "/y%27s?t=y%27s"


def test_a_hostile_field_stays_within_its_place() -> None:
    hostile = '../admin?x=1&"}, {"'
    case = {**CASES[0], "tenant": hostile}
    (request,) = sent_by({"body": {"t": "{case.tenant}"}, "url": "/{case.tenant}/search"}, [case])
    assert request.body == {"t": hostile}
    assert request.path == "/..%2Fadmin%3Fx%3D1%26%22%7D%2C%20%7B%22/search"


def test_a_request_without_its_field_is_not_sent() -> None:
    cases = [{key: value for key, value in case.items() if key != "tenant"} for case in CASES]
    with pytest.raises(InputError, match="needs 'tenant', which 2 queries of 2 lack"):
        sent_by({"body": {"t": "{case.tenant}"}}, cases)


def test_a_server_that_is_asked_without_a_case_says_what_it_needs() -> None:
    pytest.importorskip("httpx")
    engine = HttpEngine({"url": "http://localhost:1", "results": "hits", "body": {"t": "{case.tenant}"}})
    with pytest.raises(UsageError, match=r"needs \{case.tenant\}, a field of a test case"):
        engine.ask("query")


def test_the_command_line_passes_fields_and_groups_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_search.py").write_text("def search(query, tenant):\n    return [tenant]\n", encoding="utf-8")
    cases = [{**case, "relevant_ids": [case["tenant"]]} for case in CASES]
    Path("cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    options = ["-m", "RR@1", "--by", "tenant", "--format", "json"]
    outcome = command("evaluate", "cases.jsonl", "./own_search.py:search", *options)
    (run,) = json.loads(outcome.out)["runs"]
    assert run["measures"]["RR@1"]["value"] == 1.0
    assert {row["label"] for row in run["by"]} == {"x", "y's"}
