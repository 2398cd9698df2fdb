"""The demo of an assistant's retrieval, what its gate says, and what a run costs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rankgauge import evaluate, gate
from rankgauge.io import read_log, write_log
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert command("demo", "--rag").code == 0
    return tmp_path


def test_it_writes_two_logs_of_60_questions_and_keeps_files_of_others(command: Command) -> None:
    rows = [json.loads(line) for line in Path("today.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert sum(not row["relevant"] for row in rows) == 20
    assert len({row["tenant"] for row in rows}) == 2
    assert sum(len(row.get("evidence", [])) > 1 for row in rows) == 12
    assert command("demo", "--rag").code == 0
    Path("today.jsonl").write_text("mine")
    refused = command("demo", "--rag")
    assert refused.code == 2
    assert "today.jsonl exists" in refused.err
    assert command("demo", "--rag", "-o", "other").code == 0
    assert Path("other/monday.jsonl").is_file()


def test_recall_is_better_and_the_gate_fails_all_the_same(command: Command) -> None:
    outcome = command("gate", "today.jsonl", "--baseline", "monday.jsonl", "--no-leaks")
    assert outcome.code == 1
    text = " ".join(outcome.out.split())
    assert "1 forbidden document returned: north/pricing at rank 3 for q06" in text
    assert re.search(r"worse than monday.jsonl on FalseAnswer \(\+0\.3500, p = 0\.0\d+\), and better on .*R@10", text)
    assert re.search(r"FalseAnswer +0\.1000 +0\.4500 +\+0\.3500 +WORSE", outcome.out)
    assert len(re.findall(r"(?m)^lost .*1\.00 → 0\.50", outcome.out)) == 4
    assert len(re.findall(r"(?m)^answered ", outcome.out)) == 7
    assert "Leak@10: 1 of 60 queries, at most 7.7% (95% confidence)" in text


def test_the_affected_queries_are_in_python_and_json(command: Command) -> None:
    result = gate("today.jsonl", require="Leak<=0", baseline="monday.jsonl")
    kinds = [one.kind for one in result.affected]
    assert (kinds.count("leaked"), kinds.count("lost"), kinds.count("answered")) == (1, 4, 7)
    out = command("gate", "today.jsonl", "--baseline", "monday.jsonl", "--no-leaks", "--format", "json").out
    data = json.loads(out)["gate"]
    assert [one["query"] for one in data["affected"]] == [one.query for one in result.affected]
    assert command("gate", "today.jsonl", "--baseline", "monday.jsonl", "--no-leaks", "--html", "page.html").code == 1
    assert "north/pricing" in Path("page.html").read_text()


def test_what_a_run_costs_is_shown_and_can_be_required(command: Command) -> None:
    run = read_log("today.jsonl")[1]
    assert run.extras is not None
    times = sorted(run.extras.latency_ms.values())
    figures = run.extras.figures()
    assert figures["p95_latency"] == times[56]  # the 57th of 60
    assert figures["total_tokens"] == sum(run.extras.tokens.values())
    assert figures["mean_tokens"] == pytest.approx(figures["total_tokens"] / 60)
    assert "tokens 1,727 per query, 103,644 in total" in " ".join(command("evaluate", "today.jsonl").out.split())
    assert json.loads(command("evaluate", "today.jsonl", "--format", "json").out)["runs"][0]["calls"]["mean_tokens"] > 0
    assert command("gate", "today.jsonl", "--require", "p95_latency<=300", "--require", "R@10>=0.5").code == 0
    slow = command("gate", "today.jsonl", "--require", "p95_latency<=200")
    assert slow.code == 1
    assert "missed p95_latency <= 200 (249.9)" in slow.out
    unknown = command("gate", "today.jsonl", "--require", "total_cost<=1")
    assert unknown.code == 2
    assert "has no total_cost" in unknown.err


def test_a_log_keeps_what_is_forbidden_refused_and_spent() -> None:
    row = {"query_id": "q", "retrieved": ["a"], "relevant": ["a"], "forbidden": ["z"], "tokens": 12, "cost": 0.5,
           "refused": False}  # fmt: skip
    Path("one.jsonl").write_text(json.dumps(row))
    qrels, run = read_log("one.jsonl")
    write_log("again.jsonl", run, qrels)
    again, other = read_log("again.jsonl")
    assert again.forbidden == qrels.forbidden == {"q": ("z",)}
    assert again.sha256 == qrels.sha256
    assert other.extras is not None
    assert (other.extras.tokens, other.extras.cost, other.extras.refused) == ({"q": 12}, {"q": 0.5}, {"q": False})
    assert evaluate("again.jsonl", measures="Leak@1")["Leak@1"] == 0


def test_a_cost_that_is_no_number_is_an_error(command: Command) -> None:
    Path("one.jsonl").write_text(
        '{"query": "q", "retrieved": ["a"], "relevant": ["a"], "tokens": 1}\n'
        '{"query": "r", "retrieved": ["a"], "relevant": ["a"], "tokens": "many"}\n'
    )
    outcome = command("evaluate", "one.jsonl")
    assert outcome.code == 2
    assert "one.jsonl:2: expected a number of tokens as tokens" in outcome.err


def test_pages_have_the_curve_the_leaks_the_costs_and_the_affected_queries(command: Command) -> None:
    assert (
        command("evaluate", "monday.jsonl", "today.jsonl", "--by", "tenant", "--audit", "--html", "page.html").code == 0
    )
    page = Path("page.html").read_text()
    assert "Right answers @10 against false answers" in page
    assert "today.jsonl: AUROC 1.0000; minimum score 0.363 (95% right, 45% false)" in page
    assert "q06 has north/pricing at rank 3 (listed as forbidden)" in page
    assert "tokens 1,727 per query" in page
    command("gate", "today.jsonl", "--baseline", "monday.jsonl", "--no-leaks", "--html", "gate.html")
    gated = Path("gate.html").read_text()
    assert "Affected queries" in gated
    assert "Can I combine a gift card with a discount code?" in gated


def test_ranking_measures_of_charts_and_audits_are_over_queries_that_have_an_answer() -> None:
    from rankgauge import evaluate_runs
    from rankgauge.io import Reading

    evaluation = evaluate_runs("today.jsonl", [], ["R@10", "FalseAnswer"], reading=Reading(keep_rankings=True))
    scores = evaluation.scores[0]
    assert int(scores.averaged_for(scores.measures[0]).sum()) == 40
    assert int(scores.averaged_for(scores.measures[1]).sum()) == 60


def row_of(text: str, title: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(title))


def row_with(text: str, word: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if word in line.split())


def test_costs_are_beside_quality_and_the_lowest_is_the_best(command: Command) -> None:
    means = command("evaluate", "monday.jsonl", "today.jsonl").out
    assert row_of(means, "p95 ms") == ["p95", "ms", "250", "213*"]
    assert row_of(means, "tokens") == ["tokens", "1,727", "1,360*"]
    compared = command("compare", "monday.jsonl", "today.jsonl").out
    assert row_of(compared, "tokens") == ["tokens", "today.jsonl", "1,727", "+367"]
    swapped = command("compare", "today.jsonl", "monday.jsonl").out
    assert ["monday.jsonl", "1,360*", "−367"] in [line.split()[-3:] for line in swapped.splitlines()]
    queries = command("evaluate", "today.jsonl", "--per-query", "-m", "R@10").out
    assert ["today.jsonl", "R@10", "ms", "tokens"] in [line.split() for line in queries.splitlines()]
    assert row_of(queries, "q01") == ["q01", "1.0000", "223", "2,144"]


def test_a_cost_that_one_run_lacks_is_a_dash_and_never_the_best(command: Command) -> None:
    rows = [json.loads(line) for line in Path("today.jsonl").read_text().splitlines()]
    Path("priced.jsonl").write_text("".join(json.dumps(row | {"cost": 0.25}) + "\n" for row in rows))
    text = command("evaluate", "today.jsonl", "priced.jsonl", "-m", "R@10", "--set", "output.sort=given").out
    assert row_of(text, "priced.jsonl") == ["priced.jsonl", "0.8708", "250", "1,727", "0.25"]
    assert row_of(text, "today.jsonl") == ["today.jsonl", "0.8708", "250", "1,727", "–"]


def test_the_history_keeps_tokens_and_money(command: Command, logs: Path) -> None:
    for number, name in enumerate(("monday", "today")):
        rows = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        Path("log.jsonl").write_text("".join(json.dumps(row | {"cost": 0.5 + number}) + "\n" for row in rows))
        assert (
            command(
                "evaluate", "log.jsonl", "-m", "R@10", "--save", "--set", f"history.date=2026-11-0{number + 1}"
            ).code
            == 0
        )
    listed = command("history", "list").out
    assert row_of(listed, "entry")[-4:] == ["p95", "ms", "tokens", "cost"]
    assert row_with(listed, "2026-11-02")[-3:] == ["250", "1,727", "1.5"]
    named = command("history", "list", "-m", "total_tokens").out
    assert row_with(named, "2026-11-01")[1:] == ["2026-11-01", "log", "81,613"]
    shown = command("history", "show", "2026-11-01").out
    assert row_of(shown, "cost") == ["cost", "0.5", "per", "query,", "30", "in", "total"]
    trend = command("history", "trend", "-m", "R@10").out
    assert row_of(trend, "2026-11-02")[-2:] == ["1,727", "1.5"]
    point = json.loads(command("history", "trend", "-m", "R@10", "--format", "json").out)["points"][0]
    assert (point["mean_tokens"], point["mean_cost"]) == (81_613 / 60, 0.5)
    command("history", "trend", "--html", "page.html")
    assert "Tokens per query" in Path("page.html").read_text()
    saved = command("history", "show", "2026-11-01", "--format", "json").out
    assert json.loads(saved)["entry"]["cost"]["total_tokens"] == 81_613


def test_both_classes_of_questions_are_counted_wherever_queries_are(command: Command) -> None:
    gated = " ".join(command("gate", "today.jsonl", "--baseline", "monday.jsonl").out.split())
    assert "3 measures), 60 queries (40 with an answer, 20 without)); detectable drop" in gated
    means = " ".join(command("evaluate", "today.jsonl", "-m", "R@10", "-m", "FalseAnswer").out.split())
    assert "averaged over, of 60 queries (40 with an answer, 20 without): 40 (R@10), 20 (FalseAnswer)" in means


def test_the_explanation_of_a_measure_is_wrapped_by_paragraphs(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    lines = command("measures", "Leak").out.splitlines()
    assert "" in lines
    assert not any(line.startswith("applies") for line in lines)
    assert any("(--forbid) applies. Its interval" in line for line in lines)
