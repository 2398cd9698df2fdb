from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankgauge import Conventions, Qrels, UsageError, compare, evaluate
from rankgauge.comparison.remarks import remarks
from rankgauge.comparison.statistics import CORRECTIONS, Statistics
from rankgauge.render.text.comparison import as_json, as_table, grid
from rankgauge.stats.intervals import ratio_interval
from rankgauge.stats.power_analysis import queries_needed
from rankgauge.stats.results import PAIRED_TESTS

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


def test_geometric_means_differ_by_a_ratio_and_sums_by_their_difference() -> None:
    runs = {"poor": POOR, "good": GOOD}
    how = Statistics(test="t", correction="none", equivalence_margin=0.1, target_difference=0.1)
    found = compare(QRELS, runs, "GMAP NumRelRet@5", by=["category"], statistics=how)
    poor, good = (evaluate(QRELS, run, "GMAP NumRelRet@5") for run in (POOR, GOOD))
    row = found["good", "GMAP"]
    logs = [np.log(np.maximum(evaluate(QRELS, run, "AP").values[:, 0], 1e-5)) for run in (GOOD, POOR)]
    assert [row.value, row.baseline] == pytest.approx([good["GMAP"], poor["GMAP"]])
    assert np.exp(row.difference or 0) == pytest.approx((good["GMAP"] or 0) / (poor["GMAP"] or 1))
    assert row.p == pytest.approx(stats.ttest_rel(*logs).pvalue)
    wanted = ratio_interval(np.exp(logs[0]), np.exp(logs[1]))
    assert (np.exp(row.interval.low or 0), np.exp(row.interval.high or 0)) == pytest.approx((wanted.low, wanted.high))
    assert f"good is better than poor on GMAP: ×{np.exp(row.difference or 0):.3f} (95% CI ×{wanted.low:.3f} to" in (
        found.answer()
    )
    assert f"×{wanted.low:.3f} to ×{wanted.high:.3f}" in as_table(found, color=False)
    assert found.to_dict()["differences"][0]["ratio"] == pytest.approx(wanted.estimate)
    total = found["good", "NumRelRet@5"]
    assert total.difference == (good["NumRelRet@5"] or 0) - (poor["NumRelRet@5"] or 0)
    assert (total.value, total.baseline) == (good["NumRelRet@5"], poor["NumRelRet@5"])
    assert (total.interval.low or 0) < (total.difference or 0) < (total.interval.high or 0)
    assert sum(
        part.difference.difference or 0 for part in found.groups if part.difference.measure == total.measure
    ) == (total.difference)
    assert (row.queries_needed, row.p_equivalent, total.queries_needed, total.p_equivalent) == (None, None, None, None)
    assert "GMAP unknown" in remarks(found)[1]
    for correction in ("maxt", "tukey"):
        luck = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "GMAP AP", statistics=Statistics(correction=correction))
        alone = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "GMAP", statistics=Statistics(correction=correction))
        one, raw = alone["lucky", "GMAP"], luck["lucky", "AP"]
        assert one.p_corrected == pytest.approx(one.p, abs=0.005)  # one comparison: nothing to correct
        assert one.p != pytest.approx(raw.p, abs=0.01)  # logarithms are compared, not values


def test_without_a_significant_difference_the_answer_says_so_and_what_was_detectable() -> None:
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "nDCG@10 RR@10")
    assert "lucky vs. poor: no significant difference on nDCG@10, RR@10 (nDCG@10 " in found.answer()
    assert "minimum detectable difference on nDCG@10 with 40 queries: 0." in found.answer()
    same = compare(QRELS, {"one": POOR, "other": POOR}, "nDCG@10")
    assert same.answer() == "other and one have the same value for every query on every measure."


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
    assert found["good", "AP"].is_significant(found.alpha)
    assert not found["lucky", "AP"].is_significant(found.alpha)
    assert found.family.startswith(f"{test} test")


def test_the_same_seed_gives_the_same_p_and_another_seed_another() -> None:
    def p(seed: int) -> float | None:
        how = Statistics(seed=seed, resamples=5000)
        return compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"].p

    assert p(0) == p(0) != p(1)


def test_a_worse_system_is_called_worse_also_if_lower_is_better() -> None:
    found = compare(QRELS, {"good": GOOD, "poor": POOR}, "nDCG@10 FirstRel")
    assert "poor is worse than good on nDCG@10" in found.answer()
    assert (found["poor", "FirstRel"].difference or 0) > 0


def test_only_queries_that_both_sides_have_are_paired() -> None:
    from rankgauge import RankgaugeError, Run

    half = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half")
    found = compare(QRELS, [Run.from_dict(POOR, name="poor"), half], "AP", conventions=Conventions(query_set="both"))
    assert found["half", "AP"].n == 20
    assert [note.code for note in found.notes] == ["unpaired"]
    failed = Run.from_dict({query: GOOD[query] for query in QUERIES[:20]}, name="half", failed=QUERIES[20:])
    assert compare(QRELS, [Run.from_dict(POOR, name="poor"), failed], "AP")["half", "AP"].n == 20
    assert issubclass(UsageError, RankgaugeError)


def test_a_value_over_other_queries_than_its_difference_has_a_note_and_none_is_the_best() -> None:
    half = {query: GOOD[query] for query in QUERIES[:20]}
    found = compare(QRELS, {"poor": POOR, "half": half}, "AP", conventions=Conventions(query_set="both"))
    assert found.has_unpaired_queries("AP")
    shown = grid(found)
    assert [row[2].text for row in shown.rows] == [f"{run['AP']:.4f}" for run in found.scores]
    assert not any(row[2].best for row in shown.rows)
    assert "values of AP are over each system's own queries, Δ over shared queries" in shown.legend
    assert "values of AP are over each system's own queries" in as_table(found, color=False)
    whole = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP")
    assert not whole.has_unpaired_queries("AP")
    assert [row[2].best for row in grid(whole).rows] == [False, True]
    assert "own queries" not in as_table(whole, color=False)


def test_equivalence_is_not_defined_for_geometric_means_and_sums() -> None:
    how = Statistics(equivalence_margin=0.1, resamples=500)
    found = remarks(compare(QRELS, {"poor": POOR, "good": GOOD}, "AP GMAP NumRelRet@5", statistics=how))[0]
    assert "unknown" not in found
    assert "on AP (p " in found
    assert found.endswith("; equivalence is not defined for GMAP, NumRelRet@5, which are not means")
    alone = remarks(compare(QRELS, {"poor": POOR, "good": GOOD}, "GMAP", statistics=how))[0]
    assert alone == "good and poor: equivalence is not defined for GMAP, which is not a mean"


def test_a_ratio_beyond_any_number_is_shown_as_infinite() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    runs = {"old": {"q1": ["a"], "q2": ["b", "a"]}, "new": {"q1": ["b"], "q2": ["a"]}}
    found = compare(judged, runs, "GMAP", statistics=Statistics(confidence=0.999))
    assert "(GMAP ×0.004, 99.9% CI ×0.000 to ×∞); 2 queries are too few" in found.answer()
    text = as_table(found, color=False)
    assert "×0.000 to ×∞" in text
    assert "99.9% CI" in text
    assert json.loads(as_json(found))["comparison"]["differences"][0]["ratio"] == pytest.approx(0.0045, abs=1e-4)
    assert found.scores[1].interval("GMAP", confidence=0.999).high == 1.0  # no mean of precisions is higher


def test_groups_of_queries_are_corrected_for_their_number() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["category"])
    assert [(row.label, row.difference.n) for row in found.groups] == [("even", 20), ("odd", 20)]
    for row in found.groups:
        assert row.difference.p_corrected is not None
        assert row.difference.p is not None
        assert row.difference.p_corrected >= row.difference.p
    assert found.interactions[0].p is not None
    assert "exchangeable" in found.to_dict()["interactions"][0]["assumes"]
    gaps = evaluate(QRELS, GOOD, "AP").values[:, 0] - evaluate(QRELS, POOR, "AP").values[:, 0]
    even = np.arange(40) % 2 == 0
    # The F distribution is an approximation of what is counted here: 10,000 shuffles.
    assert found.interactions[0].p == pytest.approx(stats.f_oneway(gaps[even], gaps[~even]).pvalue, abs=0.02)
    assert "p (Holm)" in as_table(found, color=False).split("by category")[1]  # though there is one comparison in all
    with pytest.raises(UsageError, match="no column 'categry'"):
        compare(QRELS, {"poor": POOR, "good": GOOD}, "AP", by=["categry"])


def test_if_groups_differ_from_each_other_the_system_is_named() -> None:
    half = {query: (GOOD if n % 2 else POOR)[query] for n, query in enumerate(QUERIES)}
    runs = {"poor": POOR, "half": half, "good": GOOD}
    text = as_table(compare(QRELS, runs, "AP", by=["category"]), color=False)
    assert "the difference of half on AP differs between groups of category: p < 0.001, groups shuffled, Holm" in text
    assert "the difference of good on AP" not in text


def test_queries_of_one_unit_are_flipped_together() -> None:
    units = QRELS.with_columns({"unit": [n // 4 for n in range(40)]})
    alone = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"]
    together = compare(units, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"]
    assert together.interval.units == 10
    assert together.p != alone.p
    assert together.difference == alone.difference


def test_proportions_have_newcombes_interval() -> None:
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "Success@1")["good", "Success@1"].interval.method == "newcombe"


def test_the_largest_changes_are_listed_with_their_documents() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", changes=2)
    gaps = {
        query: (evaluate(QRELS, GOOD, "nDCG@10").per_query("nDCG@10")[query] or 0)
        - (evaluate(QRELS, POOR, "nDCG@10").per_query("nDCG@10")[query] or 0)
        for query in QUERIES
    }
    listed = found.changes["good"]
    assert listed[0].query == max(gaps, key=lambda query: gaps[query])
    assert listed[0].difference == pytest.approx(gaps[listed[0].query], abs=1e-12)
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10", changes=0).changes == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"baseline": "pour"}, "did you mean poor"),
        ({"baseline": 7}, "no run is called '7'"),
        ({"statistics": {"test": "tt"}}, "test must be one of"),
        ({"statistics": {"correction": "holms"}}, "did you mean holm"),
        ({"statistics": {"alternative": "lesser"}}, "did you mean less"),
        ({"statistics": {"correction": "tukey", "alternative": "less"}}, "two-sided"),
        ({"statistics": {"equivalence_margin": "x"}}, "equivalence_margin must be a number above 0, found 'x'"),
        ({"statistics": {"equivalence_margin": True}}, "equivalence_margin must be a number above 0, found True"),
        ({"statistics": {"target_difference": float("nan")}}, "target_difference must be a number above 0, found nan"),
        ({"statistics": {"seed": 1.5}}, "seed must be a whole number, found 1.5"),
        ({"statistics": {"seed": True}}, "seed must be a whole number, found True"),
        ({"statistics": {"resamples": "many"}}, "resamples must be a whole number of at least 1, found 'many'"),
        ({"statistics": {"confidence": "high"}}, "confidence must lie between 0 and 1, found 'high'"),
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
    assert lines[0].startswith("vector vs. lexical: no significant difference on nDCG@10")
    assert "by difficulty" in outcome.out
    assert "Largest changes in nDCG@10: vector − lexical" in outcome.out
    assert "(grade 3)" in outcome.out
    explained = command("compare", *files, "--explain", "--changes", "1", "-m", "AP").out
    assert explained.count("(grade") > 2
    markdown = command("compare", *files, "--format", "markdown").out
    assert "| nDCG@10 | lexical | 0.5193 |" in markdown
    swapped = command("compare", *files, "--baseline", "vector").out
    assert swapped.startswith("lexical vs. vector")
    assert command("compare", *files, "--baseline", files[2]).out.startswith("lexical vs. vector")


def test_json_has_the_scores_in_their_schema_and_the_comparison_beside(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    data = json.loads(command("compare", *files, "--format", "json", "--correction", "maxt").out)
    assert data["schema"] == "rankgauge.scores/1"
    assert [run["name"] for run in data["runs"]] == ["lexical", "vector"]
    row = data["comparison"]["differences"][0]
    keys = {"system", "measure", "n", "difference", "ci", "p", "p_corrected", "wins", "minimum_detectable_difference"}
    assert keys <= set(row)
    assert data["comparison"]["changes"]["vector"][0]["documents"][0]["share"] != 0
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


def test_target_bands_are_in_every_table_unless_they_are_switched_off(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    compared = command("compare", *files, "-m", "nDCG@10", "-m", "P@5").out
    lines = [line.split() for line in compared.splitlines()[2:7]]
    assert lines[0][:3] == ["value", "band", "(trec-2025)"]
    assert [line[3] if line[0] == "nDCG@10" else line[2] for line in lines[1:3]] == ["strong", "strong"]
    assert [line[3] if line[0] == "P@5" else line[2] for line in lines[3:5]] == ["–", "–"]
    assert "| band (trec-2025) |" in command("compare", *files, "-m", "nDCG@10", "--format", "markdown").out
    data = json.loads(command("compare", *files, "-m", "nDCG@10", "--format", "json").out)
    assert data["runs"][0]["bands"] == {"nDCG@10": "strong"}
    assert "trec-2025" not in command("compare", *files, "-m", "P@5").out
    for name in ("evaluate", "compare"):
        for form in ("table", "json", "markdown"):
            shown, off = (command(name, *files, "--format", form, *kpi).out for kpi in ((), ("--kpi", "none")))
            assert "trec-2025" in shown
            assert "trec-2025" not in off
            assert "band" not in off
    assert command("compare", *files, "--kpi", "nowhere").code == 2


def test_systems_are_shown_to_be_equivalent_within_a_margin(command: Command) -> None:
    how = Statistics(test="t", correction="holm", equivalence_margin=0.2)
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY, "good": GOOD}, "nDCG@10 AP", statistics=how)
    raw = []
    for row in found.differences:
        _, one, other = found.paired(row.system, row.measure)
        gaps = np.array(one) - np.array(other)
        sides = (stats.ttest_1samp(gaps, -0.2, alternative="greater"), stats.ttest_1samp(gaps, 0.2, alternative="less"))
        raw.append(max(side.pvalue for side in sides))
    assert [row.p_equivalent for row in found.differences] == pytest.approx(raw)
    ordered = sorted(raw)
    smallest = found.differences[raw.index(ordered[0])]
    assert smallest.p_equivalent_corrected == pytest.approx(4 * ordered[0])
    assert found["lucky", "AP"].is_equivalent(found.alpha)
    assert not found["good", "AP"].is_equivalent(found.alpha)
    text = " ".join(remarks(found))
    assert "lucky and poor are equivalent within ±0.2 on nDCG@10 (p < 0.001), AP (p < 0.001)" in text
    assert "good and poor are not shown to be equivalent within ±0.2 on" in text
    assert "(two one-sided t tests, Holm)" in text
    same = compare(QRELS, {"one": POOR, "other": POOR}, "AP", statistics=how)["other", "AP"]
    assert same.is_equivalent(0.05)  # all differences are 0: no spread for t, and yet no doubt
    assert compare(QRELS, {"one": POOR, "other": GOOD}, "AP")["other", "AP"].p_equivalent is None
    with pytest.raises(UsageError, match="equivalence_margin must be a number above 0"):
        Statistics(equivalence_margin=0.0)


def test_a_target_difference_needs_a_number_of_queries(command: Command, workshop: Path) -> None:
    found = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=Statistics(target_difference=0.05))
    row = found["lucky", "AP"]
    _, one, other = found.paired("lucky", "AP")
    sd = float(np.std(np.array(one) - np.array(other), ddof=1))
    assert row.queries_needed == queries_needed(0.05, sd).n
    assert f"AP {row.queries_needed:,}" in remarks(found)[0]
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    out = command("compare", *files, "--target-difference", "0.05", "--equivalence", "0.15").out
    assert "queries needed to detect a true difference of 0.05 between vector and lexical with 80% power" in out
    assert "equivalent within ±0.15" in out


def test_what_queries_share_makes_the_set_smaller() -> None:
    units = QRELS.with_columns({"unit": [n // 8 for n in range(40)]})
    double = Qrels.from_dict(
        {f"{query}{copy}": docs for query, docs in JUDGED.items() for copy in "ab"},
        columns={"unit": {f"{query}{copy}": query for query in JUDGED for copy in "ab"}},
    )
    runs = {
        name: {f"{query}{copy}": docs for query, docs in run.items() for copy in "ab"}
        for name, run in (("poor", POOR), ("lucky", LUCKY))
    }
    how = Statistics(target_difference=0.05)
    once = compare(QRELS, {"poor": POOR, "lucky": LUCKY}, "AP", statistics=how)["lucky", "AP"]
    twice = compare(double, runs, "AP", statistics=how)["lucky", "AP"]
    assert twice.detectable == pytest.approx(once.detectable)  # every query a second time shows nothing new
    assert twice.queries_needed == 2 * (once.queries_needed or 0)
    assert compare(units, {"poor": POOR, "lucky": LUCKY}, "AP")["lucky", "AP"].detectable != once.detectable


def test_the_family_says_what_was_drawn_and_what_is_assumed() -> None:
    def family(**how: Any) -> str:
        runs = {"poor": POOR, "good": GOOD, "lucky": LUCKY}
        return compare(QRELS, runs, "AP", statistics=Statistics(**how, resamples=500)).family

    assert family(test="t") == "t test; Holm over 2 comparisons (2 systems × 1 measure)"
    assert "500 resamples, seed 0" in family(test="bootstrap-centered")
    assert "500 resamples, seed 0" in family(test="t", correction="maxt")
    assert "assumes that under the null all signs of a query flip together" in family(correction="maxt")
    assert "assumes that under the null the systems of a query are exchangeable" in family(correction="tukey")
    assert "positively dependent" in family(correction="bh")


def test_a_query_without_a_value_is_not_a_zero_for_tukey() -> None:
    found = {"q0": ["a"], **{f"q{n}": ["x"] for n in range(1, 9)}}  # a first relevant document for q0 alone
    judged = {query: {"a": 1} for query in found}
    runs = {"one": found, "two": {query: ["a"] if query == "q0" else ["x", "a"] for query in found}, "three": found}
    how = Statistics(correction="tukey", resamples=2000)
    assert compare(judged, runs, "FirstRel", statistics=how)["two", "FirstRel"].p_corrected == 1.0


def test_a_one_sided_comparison_sees_more_with_as_many_queries() -> None:
    both, one, other = (
        compare(
            QRELS,
            {"poor": POOR, "lucky": LUCKY},
            "AP",
            statistics=Statistics(alternative=side, target_difference=0.05),
        )
        for side in ("two-sided", "greater", "less")
    )
    rows = [found["lucky", "AP"] for found in (both, one, other)]
    assert rows[1].detectable == rows[2].detectable
    assert (rows[1].detectable or 0) < (rows[0].detectable or 0)
    assert (rows[1].queries_needed or 0) < (rows[0].queries_needed or 0)


def test_measures_say_how_they_agree_on_the_order_of_systems() -> None:
    found = compare(QRELS, {"poor": POOR, "good": GOOD, "lucky": LUCKY}, "nDCG@10 AP FirstRel NumRet")
    taus = {one.measures: one.tau for one in found.agreement}
    assert set(taus) == {("nDCG@10", "AP"), ("nDCG@10", "FirstRel"), ("AP", "FirstRel")}  # more results are no better
    values = {name: [run[name] or 0.0 for run in found.scores] for name in ("nDCG@10", "AP", "FirstRel")}
    assert taus["nDCG@10", "AP"] == pytest.approx(stats.kendalltau(values["nDCG@10"], values["AP"]).statistic)
    turned = [-value for value in values["FirstRel"]]  # the lower, the better
    assert taus["AP", "FirstRel"] == pytest.approx(stats.kendalltau(values["AP"], turned).statistic)
    assert remarks(found)[-1].endswith("; two random orders of 3 systems are the same in 1 of 6 cases")
    assert found.to_dict()["agreement"][0]["systems"] == 3
    assert compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10 AP").agreement == ()
    assert remarks(compare(QRELS, {"poor": POOR, "good": GOOD}, "nDCG@10 AP")) == []


def test_a_stored_baseline_is_compared_with_as_its_run_would_be(command: Command, workshop: Path) -> None:
    qrels, lexical, vector = (workshop / name for name in ("qrels.trec", "runs/lexical.trec", "runs/vector.trec"))
    base = workshop / "base.json"
    command("gate", qrels, lexical, "-m", "nDCG@10", "-m", "RR", "--write-baseline", base)
    topics = ("--topics", workshop / "queries.jsonl", "--by", "difficulty", "--format", "json")
    stored = json.loads(command("compare", qrels, vector, "--baseline", base, *topics).out)
    whole = json.loads(command("compare", qrels, lexical, vector, "-m", "nDCG@10", "-m", "RR", *topics).out)
    for key in ("baseline", "answer", "differences", "groups", "interactions"):
        assert stored["comparison"][key] == whole["comparison"][key], key
    assert stored["runs"][0]["sha256"] == whole["runs"][0]["sha256"]
    changes, known = (data["comparison"]["changes"]["vector"] for data in (stored, whole))
    assert [(row["query"], row["difference"]) for row in changes] == [
        (row["query"], pytest.approx(row["difference"])) for row in known
    ]
    assert changes[0]["documents"] == []  # it has values, and no rankings
    assert "Largest changes in nDCG@10: vector − lexical" in command("compare", qrels, vector, "--baseline", base).out
    again = compare(str(qrels), [str(lexical)], baseline=base)
    assert again.baseline == "baseline"  # both have the name of the run
    assert again["lexical", "RR"].difference == 0


def test_a_stored_baseline_of_other_judgments_queries_conventions_or_measures_is_refused(
    command: Command, workshop: Path
) -> None:
    qrels, lexical, vector = (workshop / name for name in ("qrels.trec", "runs/lexical.trec", "runs/vector.trec"))
    base = workshop / "base.json"
    command("gate", qrels, lexical, "-m", "RR", "--write-baseline", base)
    other = workshop / "other.trec"
    other.write_text("".join(line for line in qrels.read_text().splitlines(True) if not line.startswith("q07 ")))
    less = workshop / "less.trec"
    less.write_text("".join(line for line in vector.read_text().splitlines(True) if not line.startswith("q07 ")))
    for arguments, said in (
        ((other, vector), "the judgments changed"),
        ((qrels, vector, "--compat", "trec_eval-10"), "compat was 'trec_eval-9' and is now 'trec_eval-10'"),
        ((qrels, vector, "--query-set", "both"), "query_set was 'qrels' and is now 'both'"),
        ((qrels, vector, "-m", "AP"), "the baseline has no values for AP; it has RR"),
    ):
        outcome = command("compare", *arguments, "--baseline", base)
        assert outcome.code == 2
        assert said in outcome.err
    command("gate", qrels, lexical, "-m", "RR", "--query-set", "both", "--write-baseline", base)
    outcome = command("compare", qrels, less, "--baseline", base, "--query-set", "both")
    assert outcome.code == 2
    assert "other queries have values: 1 query only in the baseline ('q07')" in outcome.err
    assert command("compare", qrels, vector).code == 64


CONFIG = """\
measures: {names: [AP, "nDCG@10"], rel: 2, query_set: both}
statistics: {test: t, correction: bonferroni, confidence: 0.9, resamples: 500, seed: 7, baseline: vector}
kpi: {name: ours, bands: {nDCG@10: {good: 0.2}}}
"""


def test_a_configuration_says_how_to_compare_and_options_win(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    config = workshop / "rankgauge.yaml"
    config.write_text(CONFIG)
    data = json.loads(command("compare", *files, "--config", config, "--format", "json").out)
    found = data["comparison"]
    assert (found["baseline"], found["test"], found["correction"], found["confidence"]) == (
        "vector",
        "t",
        "bonferroni",
        0.9,
    )
    assert list(data["runs"][0]["measures"]) == ["AP(rel=2)", "nDCG@10"]
    assert (data["conventions"]["query_set"], data["conventions"]["rel"]) == ("both", 2)
    assert data["kpi"]["name"] == "ours"
    options = ("--test", "randomization", "-m", "RR", "--baseline", "lexical", "--kpi", "none", "--query-set", "qrels")
    data = json.loads(command("compare", *files, "--config", config, "--format", "json", *options).out)
    assert data["comparison"]["baseline"] == "lexical"
    assert data["comparison"]["family"] == "randomization test, 500 resamples, seed 7; not corrected"
    assert list(data["runs"][0]["measures"]) == ["RR(rel=2)"]
    assert data["conventions"]["query_set"] == "qrels"
    assert "kpi" not in data
    config.write_text("measures: {names: [nDCG@10], graded: false}\n")
    data = json.loads(command("compare", *files, "--config", config, "--format", "json").out)
    assert data["conventions"]["graded"] is False
    config.write_text("statistics: {tset: t}\n")
    outcome = command("compare", *files, "--config", config)
    assert outcome.code == 2
    assert "did you mean 'test'?" in outcome.err
