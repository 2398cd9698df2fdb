"""A number in the rows of a log, or beside the documents of a live result, is a measure, as a column of scores is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from rankgauge import (
    Conventions,
    InputError,
    Qrels,
    RankgaugeWarning,
    UsageError,
    compare,
    evaluate,
    evaluate_retriever,
    gate,
)
from rankgauge.evaluation.evaluate import evaluate_measures
from rankgauge.stats import spearman
from tests.conftest import Outcome

Command = Callable[..., Outcome]
Row = dict[str, Any]
pytestmark = pytest.mark.filterwarnings(f"ignore::{RankgaugeWarning.__module__}.{RankgaugeWarning.__name__}")


def rows(seed: int, drop: float = 0.0, count: int = 24) -> list[Row]:
    """A log whose column goes with the rank of the relevant document."""
    made, drawn = [], random.Random(seed)
    for number in range(count):
        docs = ["a", "b", "c", "d"]
        drawn.shuffle(docs)
        value = round(1 - docs.index("a") / 4 + drawn.random() / 4 - drop, 3)
        row = {
            "query_id": f"q{number:02}",
            "relevant": ["a"],
            "retrieved": docs,
            "kind": "odd" if number % 2 else "even",
        }
        made.append({**row, "faithfulness": value, "grounded": number % 3 > 0, "latency_ms": 5.0})
    return made


def log(path: Path, made: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return path


def table(path: Path, made: list[Row]) -> Path:
    """The same numbers as a file of scores."""
    lines = [f"{row['query_id']},{'' if row.get('faithfulness') is None else row['faithfulness']}\n" for row in made]
    path.write_text("query,faithfulness\n" + "".join(lines), encoding="utf-8")
    return path


def measured(outcome: Outcome) -> dict[str, Any]:
    assert outcome.code == 0, outcome.err
    return {name: found["value"] for name, found in json.loads(outcome.out)["runs"][0]["measures"].items()}


def mean(made: list[Row], name: str) -> float:
    found = [float(row[name]) for row in made if row.get(name) is not None]
    return sum(found) / len(found)


def test_the_mean_of_a_column_is_that_of_a_plain_loop_through_every_way_in(tmp_path: Path, command: Command) -> None:
    made = rows(1)
    of_query = {row["query_id"]: row for row in made}
    path = log(tmp_path / "log.jsonl", made)
    (tmp_path / "search.py").write_text(
        f"ROWS = {of_query!r}\n"
        "def search(query, k):\n"
        "    row = ROWS[query]\n"
        "    return {'documents': row['retrieved'], 'faithfulness': row['faithfulness'], 'grounded': row['grounded']}\n"
    )
    cases = [{"query": name, "relevant_ids": row["relevant"], "id": name} for name, row in of_query.items()]
    log(tmp_path / "cases.jsonl", cases)
    live = (tmp_path / "cases.jsonl", f"{tmp_path}/search.py:search")
    words = ("-m", "column(faithfulness)", "-m", "faithfulness,grounded", "-m", "RR", "--format", "json")
    expected = {
        "faithfulness": pytest.approx(mean(made, "faithfulness")),
        "grounded": pytest.approx(mean(made, "grounded")),
    }
    out = tmp_path / "out.jsonl"
    scores = evaluate(path, measures=["faithfulness", "grounded", "RR"])
    found = [
        measured(command("evaluate", path, *words)),
        measured(command("evaluate", *live, *words, "-o", out)),
        measured(command("evaluate", out, *words)),
        measured(command("evaluate", tmp_path / "cases.jsonl", path, *words)),
        {name: scores[name] for name in expected},
    ]

    def search(query: str, k: int) -> Row:
        return {"documents": of_query[query]["retrieved"], "faithfulness": of_query[query]["faithfulness"]}

    result = evaluate_retriever(search, cases, k=4, measures=["faithfulness"])
    assert result["faithfulness"] == expected["faithfulness"]
    for one in found:
        assert {name: one[name] for name in expected} == expected
    first = json.loads(out.read_text().splitlines()[0])
    assert (first["faithfulness"], first["grounded"]) == (made[0]["faithfulness"], int(made[0]["grounded"]))


def test_logs_and_files_of_their_scores_are_compared_and_gated_alike(tmp_path: Path, command: Command) -> None:
    """Each log has its own values, whichever log's labels apply; the verdict is that of the same numbers as scores."""
    before, now = rows(1), rows(1, drop=0.2)
    now[3]["faithfulness"] = None
    del now[4]["faithfulness"]
    before[5]["faithfulness"] = None
    logs = log(tmp_path / "before.jsonl", before), log(tmp_path / "now.jsonl", now)
    tables = table(tmp_path / "before.csv", before), table(tmp_path / "now.csv", now)
    change = []
    for old, new in (logs, tables):
        done = command("compare", old, new, "-m", "faithfulness", "--format", "json")
        (row,) = json.loads(done.out)["comparison"]["differences"]
        change.append({key: row[key] for key in ("difference", "n", "p", "outcome", "ci")})
    pairs = [
        (after, first)
        for row, other in zip(now, before, strict=True)
        if (after := row.get("faithfulness")) is not None and (first := other.get("faithfulness")) is not None
    ]
    expected = sum(after - first for after, first in pairs) / len(pairs)
    assert change[0] == change[1]
    assert (change[0]["difference"], change[0]["n"]) == (pytest.approx(expected), len(pairs))
    for old, new in (logs, tables):
        verdicts = []
        for direction in ("higher", "lower"):
            done = command(
                "gate",
                new,
                "--baseline",
                old,
                "-m",
                "faithfulness",
                "--format",
                "json",
                "--set",
                f"columns.faithfulness={direction}",
            )
            data = json.loads(done.out)["gate"]
            verdicts.append((done.code, data["compared"][0]["outcome"], data["lost_queries"]))
        assert verdicts == [(1, "worse", ["q03", "q04"]), (1, "better", ["q03", "q04"])]
        done = command("gate", new, "--baseline", old, "-m", "faithfulness")
        assert (done.code, done.err.splitlines()[-1]) == (
            2,
            "hint: say so: --set columns.faithfulness=higher (or lower)",
        )
        done = command("gate", new, "--require", "faithfulness>=0.9")
        assert done.code == 1


def test_what_is_no_number_is_an_error_with_its_line(tmp_path: Path, command: Command) -> None:
    for wrong in ("1,5", "good", "inf"):
        made = rows(1, count=4)
        made[2]["faithfulness"] = wrong
        path = log(tmp_path / "log.jsonl", made)
        assert measured(command("evaluate", path, "-m", "RR", "--format", "json"))["RR"] is not None
        done = command("evaluate", path, "-m", "faithfulness")
        assert (done.code, done.err.splitlines()[0].startswith(f"error: {path}:3: faithfulness: expected a")) == (
            2,
            True,
        )
        with pytest.raises(InputError, match="faithfulness: expected a"):
            evaluate(path, measures="faithfulness")


def test_a_column_that_a_run_lacks_is_never_a_value(tmp_path: Path, command: Command) -> None:
    path = log(tmp_path / "log.jsonl", rows(1))
    done = command("evaluate", path, "-m", "relevancy")
    assert (done.code, done.err) == (
        2,
        "error: 'log.jsonl' has no numbers in a column 'relevancy'\n"
        "hint: it has numbers in 'faithfulness', 'grounded'\n",
    )
    (tmp_path / "run.json").write_text(json.dumps({row["query_id"]: row["retrieved"] for row in rows(1)}))
    done = command("evaluate", path, tmp_path / "run.json", "-m", "faithfulness")
    assert (done.code, done.err.splitlines()[0][:43]) == (64, "error: unsupported measure 'faithfulness': ")
    done = command("gate", path, tmp_path / "run.json", "--baseline", path, "--require", "faithfulness>=0.1")
    assert done.code in (2, 64)
    assert command("evaluate", path, "-m", "latency_ms").code == 2  # a key with a role is no second measure
    assert command("evaluate", path, "-m", "ndgc@10").code == 64
    with pytest.raises(UsageError):
        evaluate(path, measures="sucess")


def test_a_name_of_ours_is_ours_and_its_column_is_named(tmp_path: Path, command: Command) -> None:
    made = [{**row, "RR": 7} for row in rows(1)]
    path = log(tmp_path / "log.jsonl", made)
    found = measured(command("evaluate", path, "-m", "RR", "-m", "column(RR)", "--format", "json"))
    assert found["column(RR)"] == 7
    assert found["RR"] < 1


def test_a_column_of_a_log_is_saved_and_read_from_the_history(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for day in (1, 2):
        path = log(tmp_path / "search.jsonl", rows(day))
        done = command("evaluate", path, "-m", "faithfulness", "--save", "--set", f"history.date=2026-11-0{day}")
        assert done.code == 0, done.err
    listed = json.loads(command("history", "list", "-m", "faithfulness", "--format", "json").out)["entries"]
    expected = [pytest.approx(mean(rows(day), "faithfulness")) for day in (2, 1)]
    assert [entry["means"]["faithfulness"]["value"] for entry in listed] == expected
    trend = json.loads(command("history", "trend", "-m", "faithfulness", "--format", "json").out)
    assert [value["value"] for value in trend["series"][0]["values"]] == expected[::-1]


def test_groups_and_the_page_have_columns_too(tmp_path: Path, command: Command) -> None:
    made = rows(1)
    path, page = log(tmp_path / "log.jsonl", made), tmp_path / "page.html"
    done = command(
        "evaluate", path, "-m", "nDCG@10", "-m", "faithfulness", "--by", "kind", "--html", page, "--format", "json"
    )
    groups = json.loads(done.out)["runs"][0]["by"]
    of_odd = [group["mean"] for group in groups if (group["label"], group["measure"]) == ("odd", "faithfulness")]
    assert of_odd == [pytest.approx(mean([row for row in made if row["kind"] == "odd"], "faithfulness"))]
    assert "rank correlation of faithfulness with nDCG@10" in page.read_text()


def test_the_rank_correlation_with_ndcg_is_that_of_scipy(tmp_path: Path, command: Command) -> None:
    made = rows(3)
    path = log(tmp_path / "log.jsonl", made)
    done = command("evaluate", path, "-m", "nDCG@10", "-m", "faithfulness", "--format", "json", "-q")
    run = json.loads(done.out)["runs"][0]
    pairs = [(values["faithfulness"], values["nDCG@10"]) for values in run["per_query"].values()]
    found = run["correlations"]["faithfulness"]
    assert found["rho"] == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic, abs=1e-12)
    said = command("evaluate", path, "-m", "nDCG@10", "-m", "faithfulness").out
    assert "queries with a better ranking have higher values" in said
    assert "rank correlation" not in command("evaluate", path, "-m", "RR", "-m", "faithfulness").out


def test_intervals_of_rank_correlations_hold_what_they_promise() -> None:
    """Pairs of a normal distribution with a known Spearman correlation: 6/π asin(r/2)."""
    rng = np.random.default_rng(5)
    truth, held, trials = 6 / np.pi * np.arcsin(0.6 / 2), 0, 1000
    for _ in range(trials):
        x = rng.normal(size=40)
        y = 0.6 * x + np.sqrt(1 - 0.36) * rng.normal(size=40)
        found = spearman(x, y)
        assert found.estimate == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.93 <= held / trials <= 0.975
    assert spearman([1, 2, 3], [1, 2, 3]).estimate is None
    assert spearman([1, 1, 1, 1], [1, 2, 3, 4]).estimate is None


def test_python_compares_and_gates_columns(tmp_path: Path) -> None:
    before, now = log(tmp_path / "before.jsonl", rows(1)), log(tmp_path / "now.jsonl", rows(1, drop=0.3))
    (change,) = compare(before, [now], "faithfulness").differences
    assert change.difference == pytest.approx(-0.3)
    assert gate(now, baseline=before, require="faithfulness>=0.1").exit_code == 1
    assert gate(now, baseline=before, require="faithfulness<=0.9").exit_code == 0


def test_a_number_that_is_too_large_is_an_error_of_its_column_alone(tmp_path: Path, command: Command) -> None:
    made = rows(1, count=4)
    made[1]["faithfulness"] = 10**400
    path = log(tmp_path / "log.jsonl", made)
    assert command("evaluate", path, "-m", "RR").code == 0
    done = command("evaluate", path, "-m", "faithfulness")
    assert (done.code, f"{path}:2: faithfulness: expected a finite number" in done.err) == (2, True)

    def search(query: str, k: int) -> Row:
        return {"documents": ["a"], "faithfulness": 10**400, "grounded": True}

    result = evaluate_retriever(search, [{"query": "one", "relevant_ids": ["a"]}], measures=["grounded"])
    assert result["grounded"] == 1


def test_a_log_by_its_path_alone_has_its_columns(tmp_path: Path) -> None:
    made = rows(1)
    path = log(tmp_path / "log.jsonl", made)
    labels = Qrels.from_lists({row["query_id"]: row["relevant"] for row in made})
    (measure,) = Conventions().measures("faithfulness")
    evaluation = evaluate_measures(labels, [path], (measure,), conventions=Conventions())
    assert evaluation.scores[0]["faithfulness"] == pytest.approx(mean(made, "faithfulness"))
