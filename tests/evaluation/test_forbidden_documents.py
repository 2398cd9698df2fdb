"""Documents that must not be returned: lists, files and rules, and the share of queries that return one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, UsageError, compare, evaluate, gate
from rankgauge.comparison import GateRule
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, RunExtras
from rankgauge.evaluation.forbidden_documents import parse_rule
from rankgauge.io import Reading, read_log
from tests.conftest import Outcome

Row = dict[str, Any]
Command = Callable[..., Outcome]


def result(doc: str, **metadata: Any) -> Row:
    return {"id": doc, "metadata": metadata} if metadata else {"id": doc}


def log(folder: Path, *rows: Row, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


ROWS: list[Row] = [
    {"query": "q1", "retrieved": ["a", "x", "z"], "relevant": ["a"], "forbidden": ["z", "y"]},
    {"query": "q2", "retrieved": ["b", "x"], "relevant": ["b"], "forbidden_ids": ["z"]},
    {"query": "q3", "retrieved": ["z"], "relevant": ["c"]},
]


def same_key(rows: list[Row]) -> list[Row]:
    return [{("forbidden" if key == "forbidden_ids" else key): value for key, value in row.items()} for row in rows]


def test_a_leak_is_a_forbidden_document_above_the_cutoff_of_queries_with_a_list(tmp_path: Path) -> None:
    scores = evaluate(log(tmp_path, *same_key(ROWS)), measures="Leak@2 Leak@3 Leak")
    assert scores.per_query("Leak@2") == {"q1": 0, "q2": 0, "q3": None}
    assert scores.per_query("Leak@3") == {"q1": 1, "q2": 0, "q3": None}
    assert scores["Leak"] == 0.5
    assert [(leak.query, leak.document, leak.rank) for leak in scores.leaks(scores.measures[1])] == [("q1", "z", 3)]
    assert scores.leaks(scores.measures[0]) == []
    assert scores.to_dict()["leaks"] == [
        {"query": "q1", "document": "z", "rank": 3, "reason": "listed as forbidden"},
    ]


def test_both_names_of_the_key_are_read(tmp_path: Path) -> None:
    for key in ("forbidden", "forbidden_ids"):
        rows = [{"query": "q", "retrieved": ["z"], "relevant": ["a"], key: ["z"]}]
        assert evaluate(log(tmp_path, *rows), measures="Leak@1")["Leak@1"] == 1


def test_a_forbidden_document_is_judged_nonrelevant_and_none_can_be_relevant(tmp_path: Path) -> None:
    qrels, _ = read_log(log(tmp_path, ROWS[0]))
    assert dict(zip(qrels.docs.to_text(), qrels.grades.tolist(), strict=True)) == {"a": 1, "y": 0, "z": 0}
    with pytest.raises(InputError, match="'a' is both forbidden and relevant for query 'q1'"):
        read_log(log(tmp_path, {**ROWS[0], "forbidden": ["a"]}))
    notes = [note.code for note in evaluate(log(tmp_path, *same_key(ROWS))).notes]
    assert "unjudged" not in notes  # a guard is no pool of judgments


def test_the_bound_is_exact_and_one_sided() -> None:
    qrels = Qrels.from_dict({f"q{n}": {"a": 1} for n in range(60)})
    qrels = qrels.with_forbidden({f"q{n}": ["z"] for n in range(60)})
    interval = evaluate(qrels, {f"q{n}": ["a"] for n in range(60)}, "Leak@1").interval("Leak@1")
    assert interval.low == 0
    assert interval.high == pytest.approx(1 - 0.05 ** (1 / 60))  # 4.9%
    one = evaluate(qrels, {f"q{n}": ["a" if n else "z"] for n in range(60)}, "Leak@1").interval("Leak@1")
    assert one.high == pytest.approx(0.0766, abs=1e-4)  # scipy.stats.beta.ppf(0.95, 2, 59)


@pytest.mark.parametrize(
    ("rule", "leaks"),
    [
        ("tenant != case.tenant", {"b": 2}),
        ("tenant = B", {"b": 2}),
        ("tenant='B'", {"b": 2}),
        ("id under docs/other/", {"docs/other/1": 3}),
        ("id not under docs/{case.product}/", {"a": 1, "b": 2, "docs/other/1": 3}),
        ("path not under docs/{case.product}", {"b": 2}),
        ("level = 3", {"docs/other/1": 3}),
        ("groups != staff", {"b": 2}),
        ("draft = true", {"b": 2}),
    ],
)
def test_rules_compare_a_field_or_the_id_with_a_text_or_a_column(rule: str, leaks: dict[str, int]) -> None:
    shared = {"tenant": "A", "groups": ["staff", "all"], "draft": False, "level": 1, "path": "docs/shop/1"}
    metadata = {
        "a": shared,
        "b": {**shared, "tenant": "B", "groups": ["guests"], "draft": True, "path": "blog/1"},
        "docs/other/1": {**shared, "level": 3.0},
    }
    run = Run.from_lists({"q": [*metadata]})
    qrels = Qrels.from_dict({"q": {"gone": 1}}, columns={"tenant": {"q": "A"}, "product": {"q": "shop"}})
    extras = RunExtras(metadata=metadata)
    scores = evaluate(qrels, _with(run, extras), "Leak", conventions=Conventions(forbid=(rule,)))
    assert {leak.document: leak.rank for leak in scores.leaks(scores.measures[0])} == leaks


def _with(run: Run, extras: RunExtras) -> Run:
    from dataclasses import replace

    return replace(run, extras=extras)


def test_a_result_without_the_field_counts_as_a_leak_and_a_field_that_no_result_has_is_an_error(tmp_path: Path) -> None:
    row = {"query": "q", "tenant": "A", "relevant": ["a"], "retrieved": [result("a", tenant="A"), result("b")]}
    rule = Conventions(forbid=("tenant != case.tenant",))
    scores = evaluate(log(tmp_path, row), measures="Leak", conventions=rule)
    assert [leak.document for leak in scores.leaks(scores.measures[0])] == ["b"]
    with pytest.raises(InputError, match="no result has 'tenent'") as error:
        evaluate(log(tmp_path, row), measures="Leak", conventions=Conventions(forbid=("tenent = B",)))
    assert error.value.hint == "did you mean tenant?"
    with pytest.raises(InputError, match="no query has 'owner'"):
        evaluate(log(tmp_path, row), measures="Leak", conventions=Conventions(forbid=("tenant != case.owner",)))


def test_fields_of_a_result_count_beside_its_metadata(tmp_path: Path) -> None:
    row = {
        "query": "q",
        "relevant": ["a"],
        "retrieved": [{"id": "a", "status": "live"}, {"id": "b", "status": "retired"}],
    }
    scores = evaluate(log(tmp_path, row), measures="Leak@5", conventions=Conventions(forbid=("status = retired",)))
    assert [leak.document for leak in scores.leaks(scores.measures[0])] == ["b"]


def test_a_rule_does_not_apply_to_a_query_without_its_column(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "tenant": "A", "relevant": ["a"], "retrieved": [result("a", tenant="A")]},
        {"query": "q2", "relevant": ["b"], "retrieved": [result("c", tenant="B")]},
    ]
    scores = evaluate(log(tmp_path, *rows), measures="Leak", conventions=Conventions(forbid=("tenant != case.tenant",)))
    assert scores.per_query("Leak") == {"q1": 0, "q2": None}


@pytest.mark.parametrize("rule", ["tenant", "tenant <> B", "tenant under", "case.tenant = tenant", "__import__('os')"])
def test_what_is_not_a_rule_is_refused_with_examples(rule: str) -> None:
    with pytest.raises(UsageError) as error:
        Conventions(forbid=(rule,))
    assert "tenant != case.tenant" in (error.value.hint or "")


@given(st.text(max_size=40))
@settings(max_examples=100)
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    try:
        rule = parse_rule(text)
    except UsageError:
        return
    assert rule.field
    assert rule.value is not None


names = st.sampled_from("abcdef")


@given(
    st.lists(st.lists(names, unique=True, max_size=6), min_size=1, max_size=4),
    st.lists(st.sets(names, max_size=3), min_size=4, max_size=4),
    st.integers(1, 6),
)
@settings(max_examples=60)
def test_shares_of_leaks_equal_a_plain_loop(rankings: list[list[str]], lists: list[set[str]], k: int) -> None:
    queries = [f"q{number}" for number in range(len(rankings))]
    forbidden = dict(zip(queries, lists, strict=False))
    if not any(forbidden.values()):
        return
    qrels = Qrels.from_dict({query: {"relevant": 1} for query in queries}).with_forbidden(forbidden)
    run = dict(zip(queries, rankings, strict=True))
    values = evaluate(qrels, {query: [*docs, "filler"] for query, docs in run.items()}, f"Leak@{k}").per_query(
        f"Leak@{k}"
    )
    for query in queries:
        expected = float(any(doc in forbidden[query] for doc in run[query][:k])) if forbidden[query] else None
        assert values[query] == expected


def test_a_file_of_pairs(tmp_path: Path, command: Command) -> None:
    path = log(tmp_path, {"query": "q1", "retrieved": ["a", "z"], "relevant": ["a"]})
    pairs = tmp_path / "pairs.csv"
    for text in ("q1 z\nq9 x\n", "query,document\nq1,z\n", "q1\tz\n\n"):
        pairs.write_text(text)
        assert evaluate(path, measures="Leak", reading=Reading(forbidden=str(pairs)))["Leak"] == 1
    told = command("evaluate", path, "--set", f"reading.forbidden={pairs}", "-m", "Leak@1", "-m", "Leak@2")
    assert "Leak@2: 1 of 1 query, at most 100%" in told.out
    assert "q1 has z at rank 2 (listed as forbidden)" in told.out
    pairs.write_text("q1 z\nq1\n")
    broken = command("evaluate", path, "--set", f"reading.forbidden={pairs}")
    assert broken.code == 2
    assert "pairs.csv:2: expected a query and a document, found 'q1'" in broken.err


def test_one_leak_fails_the_gate_and_is_named(tmp_path: Path, command: Command) -> None:
    path = log(tmp_path, *same_key(ROWS))
    failed = command("gate", path, "--no-leaks")
    assert failed.code == 1
    assert "1 forbidden document returned: z at rank 3 for q1" in failed.out
    data = json.loads(command("gate", path, "--no-leaks", "--format", "json").out)
    assert data["gate"]["leaks"] == [{"query": "q1", "document": "z", "rank": 3, "reason": "listed as forbidden"}]
    clean = log(tmp_path, {**ROWS[0], "retrieved": ["a"]}, name="clean.jsonl")
    assert command("gate", clean, "--no-leaks").code == 0
    without = command("gate", log(tmp_path, ROWS[2], name="none.jsonl"), "--no-leaks")
    assert without.code == 64
    assert "nothing says it" in without.err


def test_failed_queries_never_pass_a_guard(tmp_path: Path, command: Command) -> None:
    rows = [{**ROWS[0], "retrieved": ["a"]}, {"query": "q2", "error": "timeout", "relevant": ["b"], "forbidden": ["z"]}]
    outcome = command("gate", log(tmp_path, *rows), "--no-leaks")
    assert outcome.code == 2
    assert outcome.out.startswith(
        "leaks unknown: the retriever failed for 1 query (q2), and queries that failed may leak"
    )


def test_as_many_queries_may_fail_as_are_allowed_in_logs_and_live(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = {"error": "timeout", "relevant": ["b"], "forbidden": ["z"]}
    path = log(tmp_path, {**ROWS[0], "retrieved": ["a"]}, {"query": "q2", **failed}, {"query": "q3", **failed})
    allowed = command("gate", path, "--no-leaks", "--max-failures", "2")
    assert allowed.code == 0, allowed.err
    sentence = "pass: 1 requirement is met; the retriever failed for 2 queries (q2 and q3), which is allowed."
    assert " ".join(allowed.out.split()).startswith(sentence)
    beyond = command("gate", path, "--no-leaks", "--max-failures", "1", "--format", "junit")
    assert beyond.code == 2
    assert 'failures="0"' not in beyond.out
    assert command("gate", path, "--require", "R@1>=1", "--max-failures", "2").code == 0  # nothing is guarded
    assert command("gate", path, "--require", "R@1>=1", "--max-failures", "1").code == 1
    leak = log(tmp_path, ROWS[0], {"query": "q2", **failed}, name="leak.jsonl")
    assert command("gate", leak, "--no-leaks", "--max-failures", "1").code == 1
    Path("live.py").write_text("def search(query):\n    return ['a'] if query == 'q1' else None\n")
    cases = log(
        tmp_path, *({"query": f"q{n}", "relevant": ["a"], "forbidden": ["z"]} for n in (1, 2)), name="cases.jsonl"
    )
    for most, code in ((0, 2), (1, 0)):
        live = command("gate", cases, "./live.py:search", "--no-leaks", "--max-failures", str(most), "--k", "3")
        assert live.code == code, live.err
    assert command("gate", cases, "./live.py:search", "--no-leaks", "--k", "3").out.startswith(
        "leaks unknown: the retr"
    )


def test_a_gate_in_python_allows_failures_by_its_rule(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "retrieved": ["a"]}, {"query": "q2", "error": "timeout", "relevant": ["b"]}]
    path = log(tmp_path, *rows)
    verdicts = [gate(path, require="Leak<=0", rule=GateRule(max_failures=most)).verdict for most in (0, 1, None)]
    assert verdicts == ["leaks unknown", "pass", "pass"]
    for wrong in (-1, True, 0.5):
        with pytest.raises(UsageError, match="max_failures: expected a whole number of at least 0"):
            GateRule(max_failures=wrong)  # type: ignore[arg-type]  # one is no whole number


def test_a_gate_with_a_guard_still_compares_the_default_measures_with_the_baseline(tmp_path: Path) -> None:
    before = log(tmp_path, *[{**row, "retrieved": row["relevant"]} for row in same_key(ROWS)], name="before.jsonl")
    result = gate(log(tmp_path, *same_key(ROWS)), require="Leak<=0", baseline=before)
    assert [row.measure for row in result.compared] == ["nDCG@10", "RR@10", "R@10", "Leak@10"]
    assert result.failed


def test_the_leakier_system_is_worse() -> None:
    qrels = Qrels.from_dict({f"q{n}": {"a": 1} for n in range(30)}).with_forbidden({f"q{n}": ["z"] for n in range(30)})
    safe, leaky = ({f"q{n}": ["a", last] for n in range(30)} for last in ("x", "z"))
    row = compare(qrels, {"safe": safe, "leaky": leaky}, "Leak@2")["leaky", "Leak@2"]
    assert row.outcome(0.05) == "worse"


def test_values_with_other_rules_are_not_comparable(tmp_path: Path, command: Command) -> None:
    row = {"query": "q", "relevant": ["a"], "retrieved": [result("a", status="live")]}
    path, baseline = log(tmp_path, row), tmp_path / "baseline.csv"
    baseline.write_text(command("evaluate", path, "--forbid", "status = retired", "-q", "--format", "csv").out)
    other = command("gate", path, "--forbid", "status = draft", "--baseline", baseline)
    assert other.code == 2
    assert "may have been scored in another way" in other.err


def test_what_failed_comes_before_leaks_that_are_unknown(tmp_path: Path, command: Command) -> None:
    rows = [{**ROWS[0], "retrieved": ["x", "a"]}, {"query": "q2", "error": "timeout", "relevant": ["b"]}]
    path = log(tmp_path, *rows)
    unknown = command("gate", path, "--no-leaks", "--require", "RR>=0.5", "--format", "json")
    assert unknown.code == 2
    assert json.loads(unknown.out)["gate"]["verdict"] == "leaks unknown"
    assert command("gate", path, "--no-leaks", "--require", "RR>=0.6").code == 1
    assert command("gate", path, "--require", "RR>=0.5").code == 1  # nothing is guarded


def test_nothing_returned_is_no_proof_that_nothing_leaks(tmp_path: Path, command: Command) -> None:
    outcome = command("gate", log(tmp_path, {**ROWS[0], "retrieved": []}), "--no-leaks")
    assert outcome.code == 2
    assert outcome.out.startswith("nothing to judge: ")


def test_results_without_a_label_can_be_guarded(tmp_path: Path, command: Command) -> None:
    assert command("gate", log(tmp_path, {**ROWS[0], "retrieved": ["x", "u"]}), "--no-leaks").code == 0


def test_every_query_and_every_group_is_held_to_what_applies_to_it(tmp_path: Path, command: Command) -> None:
    rows = [{**row, "team": "red" if row["query"] == "q1" else "blue"} for row in (ROWS[0], ROWS[2])]
    rows.append({"query": "q4", "retrieved": ["a"], "relevant": [], "team": "blue"})
    path = log(tmp_path, *rows)
    grouped = gate(path, require="Leak<=0", rule=GateRule(by="team"))
    assert [row.title for row in grouped.required] == ["Leak <= 0", "Leak <= 0 [team=red]"]
    held = gate(path, require_each=["Leak<=0", "RightAnswer@3>=1"]).held
    assert held is not None
    assert [(miss.query, str(miss.requirement)) for miss in held.misses] == [
        ("q1", "Leak <= 0"),
        ("q3", "RightAnswer@3 >= 1"),
    ]
    assert held.queries == 2  # q4 has no answer, and nothing is forbidden for it
    junit = command("gate", path, "--require-each", "Leak<=0", "--format", "junit")
    assert junit.code == 1
    assert "z at rank 3" in junit.out
    with pytest.raises(UsageError, match="p95_latency is a figure of the whole run"):
        gate(path, require_each="p95_latency<=300")


@given(
    lists=st.lists(
        st.lists(st.sampled_from(["a", "b", "x", "north/1", "north/2"]), unique=True, max_size=5),
        min_size=2,
        max_size=4,
    )
)
@settings(max_examples=25)
def test_what_a_rule_forbids_is_judged_nonrelevant_as_what_is_listed(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("rules")
    rows = [
        {"query": f"q{n}", "relevant": ["a"], "retrieved": docs} for n, docs in enumerate([["a", "north/1"], *lists])
    ]
    listed = [{**row, "forbidden": [doc for doc in row["retrieved"] if doc.startswith("north/")]} for row in rows]
    measures = "Judged@3 Unjudged@3 Bpref infAP R@2 nDCG@3 Leak@3"
    by_rule = evaluate(log(folder, *rows), measures=measures, conventions=Conventions(forbid=("id under north/",)))
    by_list = evaluate(log(folder, *listed, name="listed.jsonl"), measures=measures)
    for name in measures.split()[:-1]:
        assert by_rule.per_query(name) == by_list.per_query(name), name
    assert by_rule.leaks(by_rule.measures[-1]) != []
    assert [note.code for note in by_rule.notes] == [note.code for note in by_list.notes]


def test_what_a_rule_forbids_in_one_run_is_judged_in_all(tmp_path: Path) -> None:
    rows = [{"query": "q", "relevant": ["a"], "retrieved": docs} for docs in (["a", "north/1"], ["north/2", "x", "a"])]
    paths = [log(tmp_path, row, name=f"{n}.jsonl") for n, row in enumerate(rows)]
    rule = Conventions(forbid=("id under north/",))
    comparison = compare(paths[0], paths, "Judged@2 NumNonrelJudgedRet", conventions=rule)
    assert [run["Judged@2"] for run in comparison.scores] == [1.0, 0.5]
