"""Scores in place of rankings: the same verdict, and nothing that only rankings have is ever a pass."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, UsageError, compare, evaluate_runs, gate
from rankgauge.comparison import GateRule
from tests.conftest import Outcome

Command = Callable[..., Outcome]
QUERIES = [f"q{number:02}" for number in range(20)]


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())
    return path


def values(path: Path, number: float = 0.5, **more: Any) -> Path:
    """The same value of nDCG@10 for every query, with more columns."""
    return table(path, [{"query": query, "nDCG@10": number, **more} for query in QUERIES])


@st.composite
def collections(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], list[dict[str, list[str]]]]:
    """Judgments, and the rankings of two systems."""
    queries = [f"q{number}" for number in range(draw(st.integers(2, 12)))]
    docs = st.lists(st.sampled_from([f"d{number}" for number in range(8)]), min_size=1, max_size=8, unique=True)
    grades = {query: dict.fromkeys(draw(docs), draw(st.integers(0, 2))) for query in queries}
    grades[queries[0]] = {"d0": 1, "d1": 1}
    rankings = [{query: draw(docs) for query in queries} for _ in range(2)]
    rankings[0][queries[0]] = ["d0"]
    return grades, rankings


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(collections(), st.randoms(use_true_random=False))
def test_a_gate_decides_alike_on_rankings_on_the_log_and_on_its_scores(
    tmp_path: Path, command: Command, drawn: Any, shuffling: random.Random
) -> None:
    grades, (before, now) = drawn
    labels, log = tmp_path / "labels.json", tmp_path / "before.jsonl"
    labels.write_text(json.dumps(grades))
    log.write_text("".join(json.dumps({"query_id": q, "retrieved": docs}) + "\n" for q, docs in before.items()))
    (tmp_path / "now.json").write_text(json.dumps(now))
    measures = ("-m", "nDCG@5", "-m", "RR", "-m", "P@3")
    scores = {}
    for form in ("csv", "json"):
        out = command("evaluate", labels, log, *measures, "-q", "--format", form).out
        scores[form] = tmp_path / f"scores.{form}"
        scores[form].write_text(out)
    head, *rows = scores["csv"].read_text().splitlines(keepends=True)
    shuffling.shuffle(rows)
    (tmp_path / "shuffled.csv").write_text(head + "".join(rows))
    found = []
    for baseline in (log, scores["csv"], scores["json"], tmp_path / "shuffled.csv"):
        done = command("gate", labels, tmp_path / "now.json", *measures, "--baseline", baseline, "--format", "json")
        assert done.out, done.err
        data = json.loads(done.out)["gate"]
        keys = ("outcome", "before", "now", "change", "interval", "p", "n", "queries_worse", "queries_better")
        rows_ = [{key: row[key] for key in keys} for row in data["compared"]]
        found.append((done.code, data["verdict"], rows_))
    assert found[1:] == [found[0]] * 3


def test_labels_that_changed_score_rankings_again_and_leave_queries_of_scores_out(
    tmp_path: Path, command: Command
) -> None:
    labels = {query: {"a": 1} for query in QUERIES}
    run = {query: ["a", "b"] for query in QUERIES}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    (tmp_path / "run.json").write_text(json.dumps(run))
    scores = tmp_path / "scores.csv"
    out = command("evaluate", tmp_path / "labels.json", tmp_path / "run.json", "-m", "RR", "-q", "--format", "csv").out
    scores.write_text(out)
    changed = {**labels, "q00": {"b": 1}, "q01": {"b": 1}}
    (tmp_path / "labels.json").write_text(json.dumps(changed))
    words = ("gate", tmp_path / "labels.json", tmp_path / "run.json", "-m", "RR", "--format", "json", "--baseline")
    again = json.loads(command(*words, tmp_path / "run.json").out)["gate"]
    assert (again["verdict"], again["compared"][0]["n"]) == ("pass", 20)
    kept = json.loads(command(*words, scores).out)["gate"]
    assert (kept["verdict"], kept["compared"][0]["n"]) == ("pass", 18)
    assert kept["notes"][0]["code"] == "labels-changed"
    assert "q00" in kept["notes"][0]["message"]


# -- what is missing, and what cannot be had -------------------------------------------------------------------------


def test_a_lost_query_is_no_pass_and_a_new_one_is_left_out(tmp_path: Path, command: Command) -> None:
    before, now = values(tmp_path / "before.csv"), values(tmp_path / "now.csv")
    rows = now.read_text().splitlines(keepends=True)
    for lost in (
        "".join(rows[:-1]),
        "".join(rows).replace("q19,0.5", "q19,"),
        "".join(rows).replace("q19,0.5", "q19,NaN"),
    ):
        now.write_text(lost + "q99,1.0\n")
        done = command("gate", now, "--baseline", before)
        assert done.code == 1
        assert "1 query of the baseline has no value now (q19)" in " ".join(done.out.split())
        assert "1 query has a value on one side only" in " ".join(done.out.split()) or "2 queries have" in done.out
        allowed = command("gate", now, "--baseline", before, "--max-failures", "1")
        assert allowed.code == 0
        assert "which is allowed" in " ".join(allowed.out.split())
    result = gate(now, baseline=before)
    assert (result.verdict, result.lost_queries) == ("fail", ("q19",))


def test_null_on_both_sides_is_a_query_without_a_value(tmp_path: Path, command: Command) -> None:
    before, now = values(tmp_path / "before.csv"), values(tmp_path / "now.csv")
    for path in (before, now):
        path.write_text(path.read_text().replace("q19,0.5", "q19,"))
    done = command("gate", now, "--baseline", before, "--format", "json")
    assert (done.code, json.loads(done.out)["gate"]["compared"][0]["n"]) == (0, 19)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--require", "faithfulness>=0.8"), "unknown measure|faithfulness"),
        (("--require", "RR>=0.8"), "has no values of RR; it has 'nDCG@10', 'speed'"),
        (("--require-each", "RR>=0.8"), "has no values of RR"),
        (("--no-leaks",), "scores have no documents, so whether one is forbidden is not known"),
        (("--forbid", "status = retired", "--baseline", "OTHER"), "conventions have no effect on scores"),
        (("--rel", "2", "--baseline", "OTHER"), "conventions have no effect on scores"),
        (("--match", "suffix", "--baseline", "OTHER"), "--match has no effect on scores"),
        (("--baseline", "OTHER", "-m", "RR"), "has no values of RR"),
        (("--baseline", "OTHER", "-m", "speed"), "--set columns.speed=higher (or lower)"),
    ],
)
def test_what_is_asked_for_and_cannot_be_had_is_never_a_pass(
    tmp_path: Path, command: Command, words: tuple[str, ...], said: str
) -> None:
    now, other = values(tmp_path / "now.csv", speed=3), values(tmp_path / "other.csv", speed=3)
    done = command("gate", now, *(str(other) if word == "OTHER" else word for word in words))
    assert done.code in (2, 64)
    assert done.out == ""
    assert any(part in done.err for part in said.split("|")), done.err


def test_a_direction_is_known_stated_or_asked_for(tmp_path: Path, command: Command) -> None:
    slow = table(tmp_path / "slow.csv", [{"query": q, "latency_ms": 90 + n, "ease": 1} for n, q in enumerate(QUERIES)])
    fast = table(tmp_path / "fast.csv", [{"query": q, "latency_ms": 50 + n, "ease": 0} for n, q in enumerate(QUERIES)])
    assert command("gate", fast, "--baseline", slow, "-m", "latency_ms").code == 0
    assert command("gate", slow, "--baseline", fast, "-m", "latency_ms").code == 1
    assert command("gate", fast, "--baseline", slow, "-m", "ease").code == 2
    assert command("gate", fast, "--baseline", slow, "-m", "ease", "--set", "columns.ease=higher").code == 1
    assert command("gate", fast, "--baseline", slow, "-m", "ease", "--set", "columns.ease=lower").code == 0
    assert command("gate", fast, "--baseline", slow, "--require", "ease<=0").code == 0
    compared = command("compare", slow, fast, "-m", "ease")
    assert compared.code == 0
    assert "better" not in compared.out.replace("* the best", "")
    assert "worse" not in compared.out


def test_scores_as_labels_are_an_error(tmp_path: Path, command: Command) -> None:
    (tmp_path / "run.txt").write_text("q00 Q0 a 1 1 x\n")
    done = command("evaluate", values(tmp_path / "now.csv"), tmp_path / "run.txt")
    assert done.code == 2
    assert "holds scores, and labels come first" in done.err


def test_a_foreign_file_beside_a_ranking_is_said_and_a_gate_does_not_decide(tmp_path: Path, command: Command) -> None:
    (tmp_path / "labels.json").write_text(json.dumps({query: {"a": 1} for query in QUERIES}))
    (tmp_path / "run.json").write_text(json.dumps({query: ["a"] for query in QUERIES}))
    files = (tmp_path / "labels.json", tmp_path / "run.json")
    scores = values(tmp_path / "scores.csv", 1.0)
    compared = command("compare", *files, scores, "-m", "nDCG@10")
    assert compared.code == 0
    assert "may have been scored in another way: it does not say how" in compared.err
    done = command("gate", *files, "--baseline", scores)
    assert (done.code, done.out) == (2, "")
    assert "--set gate.scored_elsewhere=accept" in done.err
    assert command("gate", *files, "--baseline", scores, "--set", "gate.scored_elsewhere=accept").code == 0
    result = gate(*files, baseline=scores, rule=GateRule(scored_elsewhere="accept"))
    assert result.passed
    assert result.lost is None


def test_a_leak_is_found_although_the_baseline_is_scores(tmp_path: Path, command: Command) -> None:
    rows = [{"query": q, "retrieved": ["a", "z"], "relevant": ["a"], "forbidden": ["z"]} for q in QUERIES]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = tmp_path / "scores.csv"
    scores.write_text(command("evaluate", log, "-m", "RR", "-q", "--format", "csv").out)
    assert command("gate", log, "-m", "RR", "--baseline", scores).code == 0
    leaking = command("gate", log, "-m", "RR", "--baseline", scores, "--no-leaks")
    assert leaking.code == 1
    assert "20 forbidden documents returned" in leaking.out


# -- other ways in -----------------------------------------------------------------------------------------------------


def test_python_and_files_agree(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = [{"query": query, "RR": 0.5 + n / 50, "kind": "ab"[n % 2]} for n, query in enumerate(QUERIES)]
    worse = [{**row, "RR": 0.3 + n / 50} for n, row in enumerate(rows)]
    before, now = table(tmp_path / "before.csv", rows), table(tmp_path / "now.csv", worse)
    frames = pandas.DataFrame(rows), pandas.DataFrame(worse)
    dicts = [{row["query"]: {"RR": row["RR"]} for row in one} for one in (rows, worse)]
    scores = [evaluate_runs(None, [one]).scores[0] for one in (before, now)]
    results = [gate(b, baseline=a) for a, b in ((before, now), frames, dicts, scores)]
    assert {result.verdict for result in results} == {"fail"}
    assert all(result.compared == results[0].compared for result in results)
    grouped = gate(now, baseline=before, rule=GateRule(by="kind"))
    assert {row.group.label for row in grouped.grouped if row.group is not None} == {"a", "b"}
    comparison = compare(None, [before, now], "RR", by=["kind"])
    assert comparison.differences[0].difference == pytest.approx(-0.2)
    assert {row.label for row in comparison.groups} == {"a", "b"}


def test_one_system_of_a_file_is_gated_against_another(tmp_path: Path, command: Command) -> None:
    rows = [
        {"system": system, "query": query, "RR": value}
        for query in QUERIES
        for system, value in (("old", 1.0), ("new", 0.2))
    ]
    path = table(tmp_path / "both.csv", rows)
    assert command("gate", f"{path}#new", "--baseline", f"{path}#old").code == 1
    assert command("gate", f"{path}#old", "--baseline", f"{path}#new").code == 0
    several = command("gate", path, "--baseline", f"{path}#new")
    assert several.code == 2
    assert "expected one run in each source, found 3" in several.err
    assert command("compare", path).code == 0


def test_a_file_without_a_measure_lists_its_columns(tmp_path: Path, command: Command) -> None:
    path = table(tmp_path / "x.csv", [{"query": query, "ease": 1, "seed": 7} for query in QUERIES])
    done = command("evaluate", path)
    assert done.code == 2
    assert "no column is named after a measure; there are 'ease', 'seed'" in done.err
    assert "-m 'ease'" in done.err
    assert command("evaluate", path, "-m", "ease", "--by", "seed").code == 0


def test_errors_of_python_are_those_of_the_command_line(tmp_path: Path) -> None:
    now = values(tmp_path / "now.csv", ease=1)
    with pytest.raises(UsageError, match="a gate needs a requirement or a baseline"):
        gate(now)
    with pytest.raises(InputError, match="has no values of AP"):
        gate(now, None, "AP", baseline=now)


def test_a_measure_that_the_tested_scores_lack_is_never_a_pass(tmp_path: Path, command: Command) -> None:
    before = values(tmp_path / "before.csv", RR=0.5)
    now = values(tmp_path / "now.csv")
    done = command("gate", now, "--baseline", before)
    assert (done.code, done.err.splitlines()[0]) == (2, "error: 'now.csv' has no values of RR; it has 'nDCG@10'")
    assert command("gate", now, "--baseline", before, "-m", "nDCG@10").code == 0
    assert command("gate", before, "--baseline", now).code == 0


@pytest.mark.parametrize("form", ["jsonl", "csv", "json"])
def test_a_query_that_a_new_log_no_longer_has_is_lost(tmp_path: Path, command: Command, form: str) -> None:
    """Its labels come with the log, so nothing else says that the query was there."""
    rows = [{"query_id": query, "relevant": ["a"], "retrieved": ["a", "b"]} for query in QUERIES]
    for name, chosen in (("before.jsonl", rows), ("now.jsonl", rows[3:])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in chosen))
    baseline = tmp_path / f"before.{form}"
    if form != "jsonl":
        done = command("evaluate", tmp_path / "before.jsonl", "-m", "RR", "-q", "--format", form)
        baseline.write_text(done.out)
    words = ("gate", tmp_path / "now.jsonl", "-m", "RR", "--baseline", baseline, "--format", "json")
    done = command(*words)
    assert (done.code, json.loads(done.out)["gate"]["lost_queries"]) == (1, ["q00", "q01", "q02"])
    assert command(*words, "--max-failures", "3").code == 0
