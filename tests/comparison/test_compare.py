from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankgauge import Qrels, UsageError, compare, evaluate
from rankgauge.comparison.compare import CORRECTIONS, Statistics
from rankgauge.stats.tests import PAIRED_TESTS

Command = Callable[..., Any]
RNG = np.random.default_rng(3)
DOCS = [f"d{n}" for n in range(30)]
QUERIES = [f"q{n:02d}" for n in range(40)]
JUDGED = {query: {doc: int(RNG.integers(0, 3)) for doc in RNG.permutation(DOCS)[:15]} for query in QUERIES}


def system(skill: float) -> dict[str, dict[str, float]]:
    """Scores that follow the grades as far as skill goes."""
    return {query: {doc: skill * JUDGED[query].get(doc, 0) + float(RNG.normal()) for doc in DOCS} for query in QUERIES}


POOR, GOOD, LUCKY = system(0.0), system(1.5), system(0.05)
COLUMNS = {"category": {query: "even" if n % 2 == 0 else "odd" for n, query in enumerate(QUERIES)}}
QRELS = Qrels.from_dict(JUDGED, columns=COLUMNS)


def test_differences_intervals_and_p_are_those_of_scipy() -> None:
    found = compare(
        QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10 AP", statistics=Statistics(test="t", correction="none")
    )
    for measure in ("nDCG@10", "AP"):
        one = np.array(list(evaluate(QRELS, GOOD, measure).per_query(measure).values()), dtype=float)
        other = np.array(list(evaluate(QRELS, POOR, measure).per_query(measure).values()), dtype=float)
        row = found["good", measure]
        wanted = stats.ttest_rel(one, other)
        assert row.difference == pytest.approx((one - other).mean())
        assert row.p == pytest.approx(wanted.pvalue)
        low, high = wanted.confidence_interval()
        assert row.interval.low == pytest.approx(low)
        assert row.interval.high == pytest.approx(high)
        assert row.effect.wins + row.effect.ties + row.effect.losses == row.n == 40
    assert "good is better than poor on nDCG@10" in found.answer()


def test_where_nothing_differs_nobody_can_tell() -> None:
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "nDCG@10 RR@10")
    assert "nobody can tell on nDCG@10, RR@10" in found.answer()
    assert "40 queries could have shown" in found.answer()
    same = compare(QRELS, {"one": POOR, "other": POOR}, "nDCG@10")
    assert same.answer() == "other and one are the same on every measure."


@pytest.mark.parametrize("test", PAIRED_TESTS)
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_test_with_every_correction(test: Any, correction: Any) -> None:
    how = Statistics(test=test, correction=correction, resamples=2000)
    found = compare(QRELS, {"poor": POOR, "good": GOOD, "lucky": LUCKY}, "nDCG@10 AP", statistics=how)
    assert len(found.differences) == 4
    for row in found.differences:
        assert row.p is not None
        assert row.p_corrected is not None
        assert row.p_corrected >= row.p - 1e-9 or correction in ("maxt", "tukey")
    assert found["good", "AP"].significant(found.alpha)
    assert not found["lucky", "AP"].significant(found.alpha)
    assert found.family.startswith(f"{test} test")


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    def p(seed: int) -> float | None:
        how = Statistics(seed=seed, resamples=5000)
        return compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"].p

    assert p(0) == p(0) != p(1)


def test_a_worse_system_is_called_worse_also_where_lower_is_better() -> None:
    found = compare(QRELS, {"good": GOOD, "poor": POOR}, "nDCG@10 FirstRel")
    assert "poor is worse than good on nDCG@10" in found.answer()
    assert (found["poor", "FirstRel"].difference or 0) > 0


def test_only_queries_that_both_sides_have_are_paired() -> None:
    from rankgauge import Conventions, RankgaugeError, Run

    half = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half")
    found = compare(QRELS, [Run.from_dict(POOR, name="poor"), half], "AP", conventions=Conventions(queries="both"))
    assert found["half", "AP"].n == 20
    assert [note.code for note in found.notes] == ["unpaired"]
    failed = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half", failed=QUERIES[20:])
    assert compare(QRELS, [Run.from_dict(POOR, name="poor"), failed], "AP")["half", "AP"].n == 20
    assert issubclass(UsageError, RankgaugeError)


def test_groups_of_queries_are_corrected_for_their_number() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["category"])
    assert [(row.label, row.difference.n) for row in found.slices] == [("even", 20), ("odd", 20)]
    for row in found.slices:
        assert row.difference.p_corrected is not None
        assert row.difference.p is not None
        assert row.difference.p_corrected >= row.difference.p
    assert found.interactions[0].p is not None
    gaps = evaluate(QRELS, GOOD, "AP").values[:, 0] - evaluate(QRELS, POOR, "AP").values[:, 0]
    even = np.arange(40) % 2 == 0
    assert found.interactions[0].p == pytest.approx(stats.f_oneway(gaps[even], gaps[~even]).pvalue)
    with pytest.raises(UsageError, match="no column 'categry'"):
        compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["categry"])


def test_queries_of_one_unit_are_flipped_together() -> None:
    units = QRELS.with_columns({"unit": [n // 4 for n in range(40)]})
    alone = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"]
    together = compare(units, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"]
    assert together.interval.units == 10
    assert together.p != alone.p
    assert together.difference == alone.difference


def test_proportions_have_newcombes_interval() -> None:
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "Success@1")["good", "Success@1"].interval.method == "newcombe"


def test_what_moved_most_is_told_with_its_documents() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", moved=2)
    gaps = {
        query: (evaluate(QRELS, GOOD, "nDCG@10").per_query("nDCG@10")[query] or 0)
        - (evaluate(QRELS, POOR, "nDCG@10").per_query("nDCG@10")[query] or 0)
        for query in QUERIES
    }
    listed = found.moved["good"]
    assert listed[0].query == max(gaps, key=lambda query: gaps[query])
    assert listed[0].difference == pytest.approx(gaps[listed[0].query], abs=1e-12)
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", moved=0).moved == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"baseline": "pour"}, "did you mean poor"),
        ({"baseline": 7}, "no run is called '7'"),
        ({"statistics": {"test": "tt"}}, "test must be one of"),
        ({"statistics": {"correction": "holms"}}, "did you mean holm"),
    ],
)
def test_what_cannot_be_compared(arguments: dict[str, Any], said: str) -> None:
    def ask() -> None:
        how = Statistics(**arguments.get("statistics", {}))
        given = {name: value for name, value in arguments.items() if name != "statistics"}
        compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", statistics=how, **given)

    with pytest.raises(UsageError, match=said):
        ask()
    with pytest.raises(UsageError, match="at least two runs"):
        compare(QRELS, {"poor": POOR}, "AP")


def test_a_comparison_is_a_table_in_a_notebook() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP")
    assert "<table" in found._repr_html_()
    pytest.importorskip("pandas")
    assert found.to_pandas()["system"].tolist() == ["good"]


def test_runs_of_the_same_name_are_told_apart() -> None:
    from rankgauge import Run

    found = compare(QRELS, [Run.from_dict(POOR, name="x"), Run.from_dict(GOOD, name="x")], "AP")
    assert found.names == ("x", "x (2)")


@pytest.fixture
def workshop(tmp_path: Path, command: Command) -> Path:
    command("demo", "--copy", tmp_path / "w")
    return tmp_path / "w"


def test_the_command_answers_first(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    outcome = command("compare", *files, "--topics", workshop / "queries.jsonl", "--by", "difficulty")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("vector against lexical: nobody can tell on nDCG@10")
    assert "by difficulty" in outcome.out
    assert "moved most: vector − lexical on nDCG@10" in outcome.out
    assert "(grade 3)" in outcome.out
    explained = command("compare", *files, "--explain", "--moved", "1", "-m", "AP").out
    assert explained.count("(grade") > 2
    markdown = command("compare", *files, "--format", "markdown").out
    assert "| nDCG@10 | lexical | 0.5193 |" in markdown
    swapped = command("compare", *files, "--baseline", "vector").out
    assert swapped.startswith("lexical against vector")
    assert command("compare", *files, "--baseline", files[2]).out.startswith("lexical against vector")


def test_json_has_the_scores_in_their_schema_and_the_comparison_beside(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    data = json.loads(command("compare", *files, "--format", "json", "--correction", "maxt").out)
    assert data["schema"] == "rankgauge.scores/1"
    assert [run["name"] for run in data["runs"]] == ["lexical", "vector"]
    row = data["comparison"]["differences"][0]
    assert {"system", "measure", "n", "difference", "ci", "p", "p_corrected", "wins", "detectable"} <= set(row)
    assert data["comparison"]["moved"]["vector"][0]["documents"][0]["share"] != 0
    assert "joint sign flips" in data["comparison"]["family"]


def test_the_same_file_twice_is_warned_about(command: Command, workshop: Path) -> None:
    run = workshop / "runs/lexical.trec"
    outcome = command("compare", workshop / "qrels.trec", run, run)
    assert outcome.code == 0
    assert "are the same file" in outcome.err


def test_groups_and_intervals_of_evaluate(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec"]
    topics = ("--topics", workshop / "queries.jsonl", "--by", "difficulty", "--ci", "-m", "nDCG@10")
    assert "easy · nDCG@10" in command("evaluate", *files, *topics).out
    data = json.loads(command("evaluate", *files, *topics, "--format", "json").out)
    ci = data["runs"][0]["measures"]["nDCG@10"]["ci"]
    assert ci["low"] < data["runs"][0]["measures"]["nDCG@10"]["value"] < ci["high"]
    assert [entry["label"] for entry in data["runs"][0]["by"]] == ["easy", "hard", "medium"]
    assert command("evaluate", *files, *topics, "--format", "csv").code == 64
    assert command("evaluate", *files, "--by", "difficulty").code == 64


def test_scores_by_several_columns_together() -> None:
    qrels = QRELS.with_columns({"length": ["short" if n < 20 else "long" for n in range(40)]})
    found = evaluate(qrels, GOOD, "AP").by("category", "length")
    assert [(one.label, one.n) for one in found] == [
        ("even / long", 10), ("even / short", 10), ("odd / long", 10), ("odd / short", 10),
    ]  # fmt: skip
    one = found[0]
    assert one.median is not None
    assert one.interval.method == "t"


def test_target_bands_stand_in_the_tables_of_compare_and_gate(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    compared = command("compare", *files, "-m", "nDCG@10", "--kpi", "trec-2025")
    assert "trec-2025: lexical nDCG@10 strong\ntrec-2025: vector nDCG@10 strong\n" in compared.out
    data = json.loads(command("compare", *files, "-m", "nDCG@10", "--kpi", "trec-2025", "--format", "json").out)
    assert data["runs"][0]["bands"] == {"nDCG@10": "strong"}
    gated = command("gate", *files[:2], "--require", "nDCG@10>0.1", "--kpi", "trec-2025")
    assert "trec-2025: lexical nDCG@10 strong\n" in gated.out
    assert "trec-2025" not in command("compare", *files, "-m", "nDCG@10").out
    assert command("compare", *files, "--kpi", "nowhere").code in (2, 64)
