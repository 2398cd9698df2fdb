"""Estimates from a sampled pool: unbiased over all samples, and refused without probabilities."""

from __future__ import annotations

import json
import math
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Run, evaluate
from rankgauge.cli.main import run as run_command
from rankgauge.errors import InputError, UsageError
from rankgauge.io.formats.judgment_lines import Inclusion
from rankgauge.labels import Judgment, JudgmentFile, read_pool, sampled_values
from rankgauge.labels.estimates import SAMPLED_NAMES, estimate_from_sample
from rankgauge.stats.intervals import mean_interval
from tests.labels.pools import judgment

RANKING = list("abcdefgh")
GRADES = {"a": 1, "b": 0, "c": 2, "d": 1, "e": 0, "f": 0, "g": 1, "h": 0, "i": 1}  # i is pooled but not retrieved here
STRATA = {"top": list("abcd"), "rest": list("efghi")}
DRAWN = {"top": 3, "rest": 2}
RUN = Run.from_lists({"q": RANKING})


def sampled(docs: list[str], stratum: str, drawn: int) -> list[Judgment]:
    size = len(STRATA[stratum])
    inclusion = Inclusion("stratified", drawn / size, stratum, size, drawn)
    return [judgment("q", doc, GRADES[doc], inclusion=inclusion) for doc in docs]


def test_the_mean_over_all_samples_is_the_true_value() -> None:
    relevant, precision, precisions = [], [], []
    for top, rest in product(combinations(STRATA["top"], 3), combinations(STRATA["rest"], 2)):
        judgments = [*sampled(list(top), "top", 3), *sampled(list(rest), "rest", 2)]
        (value,) = sampled_values(judgments, RUN, k=4)
        relevant.append(value.relevant)
        precision.append(value.precision)
        precisions.append(value.ap * value.relevant)
    truth = evaluate({"q": GRADES}, RUN, ["AP", "P@4"])
    count = sum(grade > 0 for grade in GRADES.values())
    assert sum(relevant) / len(relevant) == pytest.approx(count)
    assert sum(precision) / len(precision) == pytest.approx(truth["P@4"])
    assert sum(precisions) / len(precisions) == pytest.approx((truth["AP"] or 0) * count)


def test_a_pool_that_is_judged_completely_gives_the_exact_value() -> None:
    judgments = [judgment("q", doc, grade, inclusion=Inclusion("depth")) for doc, grade in GRADES.items()]
    (value,) = sampled_values(judgments, RUN, k=4)
    truth = evaluate({"q": GRADES}, RUN, ["AP", "P@4"])
    assert value.ap == pytest.approx(truth["AP"])
    assert value.precision == truth["P@4"]


def test_several_assessors_count_with_their_median() -> None:
    inclusion = Inclusion("depth")
    judgments = [judgment("q", "a", grade, name, inclusion=inclusion) for grade, name in ((1, "x"), (0, "y"), (1, "z"))]
    assert sampled_values(judgments, RUN)[0].relevant == 1
    assert sampled_values(judgments[:2], RUN)[0].relevant == 0


@pytest.mark.parametrize("inclusion", [None, Inclusion("move-to-front", None), Inclusion("given", 1.0)])
def test_judgments_without_probabilities_are_refused(inclusion: Inclusion | None) -> None:
    with pytest.raises(InputError, match="has no inclusion probability"):
        sampled_values([judgment("q", "a", 1, inclusion=inclusion)], RUN)


def test_a_stratum_with_one_judgment_is_refused() -> None:
    with pytest.raises(InputError, match="one judgment in the stratum 'top'"):
        sampled_values(sampled(["a"], "top", 3), RUN)
    with pytest.raises(InputError, match="no judgments"):
        sampled_values([], RUN)
    with pytest.raises(UsageError, match="k must be"):
        sampled_values(sampled(["a"], "top", 3), RUN, k=0)


def test_a_uniform_sample_becomes_qrels_for_inferred_ap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("".join(f"q Q0 {doc} 1 {9 - rank} a\n" for rank, doc in enumerate(RANKING)))
    assert run_command(["pool", "a.run", "-o", "pool", "--strategy", "uniform", "--budget", "4", "--depth", "8"]) == 0
    file = JudgmentFile("j")
    for item in read_pool("pool"):
        if item.sampled:
            file.add(judgment("q", item.doc, GRADES[item.doc], inclusion=item.inclusion))
    assert run_command(["convert", "j", "q.txt", "--pool", "pool"]) == 0
    rows = [line.split() for line in Path("q.txt").read_text().splitlines()]
    assert sorted(row[2] for row in rows) == RANKING
    assert sum(row[3] == "-1" for row in rows) == 4
    assert run_command(["evaluate", "q.txt", "a.run", "-m", "infAP"]) == 0
    assert run_command(["pool", "a.run", "-o", "other", "--strategy", "move-to-front"]) == 0
    capsys.readouterr()
    assert run_command(["convert", "j", "q2.txt", "--pool", "other"]) == 2
    assert "this pool is move-to-front" in capsys.readouterr().err
    assert not Path("q2.txt").exists()


@pytest.mark.parametrize("most", [0, 1])
def test_an_interval_stays_within_the_range_of_its_measure(most: int) -> None:
    """Ten of twelve queries find nothing relevant, or nothing else: a free interval would leave the range."""
    docs = [f"d{rank}" for rank in range(10)]
    run = Run.from_lists({f"q{number}": docs for number in range(12)})
    judgments = [
        judgment(f"q{number}", doc, most if number > 1 else int(rank >= 9 - number), inclusion=Inclusion("depth"))
        for number in range(12)
        for rank, doc in enumerate(docs)
    ]
    values = sampled_values(judgments, run)
    free = {
        name: mean_interval([getattr(value, field) for value in values], method="bootstrap-t")
        for field, name in SAMPLED_NAMES.items()
    }
    assert [free[name].low < 0 or free[name].high > 1 for name in ("AP", "P@10")] == [True, True]  # type: ignore[operator]  # not None
    for row in estimate_from_sample(judgments, [run]):
        low, high = free[row.measure].low, free[row.measure].high
        highest = math.inf if row.measure == "NumRel" else 1.0
        assert (row.interval.low, row.interval.high) == (max(low, 0.0), min(high, highest))  # type: ignore[type-var]  # not None


def test_the_command_shows_estimates_and_refuses_an_adaptive_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(
        "".join(f"q{n} Q0 {doc} 1 {9 - rank} a\n" for n in range(5) for rank, doc in enumerate(RANKING))
    )
    for name, inclusion in (("ok", Inclusion("depth")), ("bad", Inclusion("move-to-front", None))):
        file = JudgmentFile(name)
        for number in range(5):
            file.add(judgment(f"q{number}", "a", number % 2, inclusion=inclusion))
            file.add(judgment(f"q{number}", "b", number % 3, inclusion=inclusion))
    for format in ("table", "json", "csv", "markdown"):
        assert run_command(["labels", "estimate", "ok", "a.run", "--format", format]) == 0
        assert "AP" in capsys.readouterr().out
    assert run_command(["labels", "estimate", "bad", "a.run"]) == 2
    assert "strategy: move-to-front" in capsys.readouterr().err
    assert run_command(["labels", "estimate", "ok", "a.run", "-m", "AP"]) == 64


def sampled_rows(**changes: Any) -> list[dict[str, Any]]:
    rows = [json.loads(one.to_line()) for one in sampled(list("ab"), "top", 2)]
    rows[0] |= changes
    return rows


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stratum": 5}, "j.jsonl:1: expected text as stratum, found '5'"),
        ({"stratum": ["top"]}, "j.jsonl:1: expected text as stratum, found a list"),
        ({"stratum_size": "4"}, "j.jsonl:1: expected a whole number above 0 as stratum_size, found '4'"),
        ({"stratum_size": 1e308}, "expected a whole number above 0 as stratum_size"),
        ({"stratum_size": 0}, "expected a whole number above 0 as stratum_size"),
        ({"stratum_size": 7}, "the stratum 'top' of query 'q' has two sizes (stratum_size): 7 and 4"),
        ({"stratum_sample": True}, "expected a whole number above 0 as stratum_sample"),
        ({"probability": "a"}, "expected a number above 0 and at most 1, or null, as probability, found 'a'"),
        ({"probability": 1.5}, "expected a number above 0 and at most 1, or null, as probability, found '1.5'"),
        ({"strategy": 5}, "expected text as strategy, found '5'"),
        ({"relevance": 10**30}, "j.jsonl:1: expected a grade from -127 to 127"),
        ({"assessor": None}, "expected text as assessor"),
        ({"how": []}, "expected text as how, found a list"),
    ],
)
def test_what_a_judgment_says_of_its_sample_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], message: str
) -> None:
    path, ranking = tmp_path / "j.jsonl", tmp_path / "run.txt"
    path.write_text("".join(json.dumps(row) + "\n" for row in sampled_rows(**changes)))
    ranking.write_text("q Q0 a 1 1 t\n")
    assert run_command(["labels", "estimate", str(path), str(ranking)]) == 2
    assert message in capsys.readouterr().err
