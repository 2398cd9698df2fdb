"""Measures over subtopics: what ndeval prints, plain definitions, and what must hold of every ranking."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, MeasureError, evaluate, parse_measure
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.io.read import read_qrels, read_run

DATA = Path(__file__).parents[1] / "data" / "ndeval"
NDEVAL = {
    "ERR-IA": "ERR_IA({alpha}){at}",
    "nERR-IA": "nERR_IA({alpha}){at}",
    "alpha-DCG": "alpha_DCG({alpha}){at}",
    "alpha-nDCG": "alpha_nDCG({alpha}){at}",
    "NRBP": "NRBP({alpha},{p})",
    "nNRBP": "nNRBP({alpha},{p})",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA{at}",
    "strec": "StRecall{at}",
}
PARAMETERS = {"alpha": (0.3, 0.8), "order": (0.3, 0.5), "once": (1, 0.5)}
Command = Callable[..., Any]
Judged = dict[str, set[str]]  # the subtopics of each document
NAMES = [
    "StRecall@3",
    "EvidenceAll@3",
    "EvidenceAll@6",
    "alpha_nDCG@3",
    "alpha_DCG@2",
    "alpha_nDCG(alpha=0.3)@5",
    "alpha_nDCG(alpha=1)@4",
    "ERR_IA@4",
    "ERR_IA(alpha=0)@3",
    "nERR_IA@4",
    "NRBP",
    "NRBP(alpha=0.2,p=0.7)",
    "nNRBP",
    "P_IA@3",
    "AP_IA",
    "AP_IA@3",
]
MEASURES = [parse_measure(name) for name in NAMES]


# -- ndeval --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["few", "tied", "alpha", "once", "complete", "order", "greedy"])
def test_values_are_those_that_ndeval_prints_and_at_most_1(name: str) -> None:
    alpha, p = PARAMETERS.get(name, (0.5, 0.5))
    *rows, mean = csv.DictReader((DATA / f"{name}.csv").read_text().splitlines())
    columns = [column for column in mean if column not in ("runid", "topic")]
    parts = {column: column.partition("@") for column in columns}
    names = {
        column: NDEVAL[base].format(alpha=f"alpha={alpha}", p=f"p={p}", at=at + cutoff)
        for column, (base, at, cutoff) in parts.items()
    }
    conventions = Conventions(query_set="qrels" if name == "complete" else "both")
    judgments = read_qrels(DATA / f"{name}.qrels", format="ndeval")
    scores = evaluate(judgments, read_run(DATA / f"{name}.run"), list(names.values()), conventions=conventions)
    printed = [row for row in rows if row["topic"] in scores.queries]
    assert len(printed) >= min(len(scores.queries) - 1, 1)
    for column, measure in zip(columns, scores.measures, strict=True):
        values = dict(zip(scores.queries, scores.values[:, scores.measures.index(measure)], strict=True))
        for row in printed:
            # A topic without relevant documents: ndeval divides 0 by 0 in nNRBP.
            value = 0.0 if row[column] in ("-nan", "nan") else min(float(row[column]), 1.0)
            assert values[row["topic"]] == pytest.approx(value, abs=5.1e-7), (column, row["topic"])
        if "nan" not in mean[column] and name != "greedy":
            assert scores[measure.name] == pytest.approx(float(mean[column]), abs=5.1e-7), column


def test_a_ranking_that_is_better_than_the_greedy_one_has_the_value_1() -> None:
    printed = next(csv.DictReader((DATA / "greedy.csv").read_text().splitlines()))
    assert float(printed["alpha-nDCG@5"]) > 1.01
    scores = evaluate(read_qrels(DATA / "greedy.qrels", format="ndeval"), DATA / "greedy.run", "alpha_nDCG@5")
    assert scores["alpha_nDCG@5"] == 1.0


# -- plain definitions ---------------------------------------------------------------------------------------


@st.composite
def judged_rankings(draw: st.DrawFn, documents: int = 6) -> tuple[Judged, list[str]]:
    subtopics = st.sets(st.sampled_from(["1", "2", "3", "10", "a"]), max_size=4)
    judged = {f"d{number}": draw(subtopics) for number in range(draw(st.integers(1, documents)))}
    ranking = draw(st.permutations([*judged, "x", "y"]))
    return judged, ranking[: draw(st.integers(1, len(ranking)))]


def qrels_of(*judged: Judged) -> Qrels:
    """The judgments of the queries q000, q001, …"""
    rows = [
        (f"q{number:03}", subtopic, doc, float(subtopic != "none"))
        for number, documents in enumerate(judged)
        for doc, subtopics in documents.items()
        for subtopic in ["none", *sorted(subtopics)]
    ]
    query, subtopic, doc, grade = zip(*rows, strict=True)
    return Qrels.from_columns(query, doc, grade, iters=subtopic, by_subtopic=True)


def hits_of(*cases: tuple[Judged, Sequence[str]]) -> Hits:
    rankings = {f"q{number:03}": list(ranking) for number, (_, ranking) in enumerate(cases)}
    return join(qrels_of(*(judged for judged, _ in cases)), Run.from_lists(rankings))


def gains(judged: Judged, ranking: Sequence[str], alpha: float) -> list[float]:
    seen: dict[str, int] = {}
    out = []
    for doc in ranking:
        out.append(sum((1 - alpha) ** seen.get(subtopic, 0) for subtopic in judged.get(doc, ())))
        for subtopic in judged.get(doc, ()):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return out


def greedy(judged: Judged, alpha: float) -> list[str]:
    chosen: list[str] = []
    while left := sorted(set(judged) - set(chosen)):
        chosen.append(max(left, key=lambda doc: (round(gains(judged, [*chosen, doc], alpha)[-1], 12), doc)))
    return chosen


def discounted(values: Sequence[float], discount: Callable[[int], float]) -> float:
    return sum(value * discount(rank) for rank, value in enumerate(values, 1))


def defined(name: str, judged: Judged, ranking: Sequence[str]) -> float:
    measure = parse_measure(name)
    parameters, base = dict(measure.parameters), measure.definition.name
    every: list[str] = sorted(set().union(*judged.values()))
    if not every:
        return 0.0
    k: int = parameters.get("cutoff") or len(ranking)
    top = ranking[:k]
    if base in ("StRecall", "EvidenceAll"):
        share = len(set().union(*(judged.get(doc, set()) for doc in top))) / len(every)
        return share if base == "StRecall" else float(share == 1)
    if base in ("P_IA", "AP_IA"):
        total = 0.0
        for subtopic in every:
            ranks = [rank for rank, doc in enumerate(top, 1) if subtopic in judged.get(doc, ())]
            relevant = sum(subtopic in subtopics for subtopics in judged.values())
            precisions = [number / rank for number, rank in enumerate(ranks, 1)]
            total += len(ranks) / k if base == "P_IA" else sum(precisions) / relevant
        return total / len(every)
    alpha: float = parameters["alpha"]
    p: float = parameters.get("p", 0.5)

    def discount(rank: int) -> float:
        return {"alpha_nDCG": 1 / math.log2(rank + 1), "ERR_IA": 1 / rank, "NRBP": p ** (rank - 1)}[base]

    value = discounted(gains(judged, top, alpha), discount)
    if parameters["norm"] == "ideal":
        ideal = greedy(judged, alpha)[: None if base == "NRBP" else k]
        return min(value / discounted(gains(judged, ideal, alpha), discount), 1.0)
    if base == "NRBP":
        return value * (1 - (1 - alpha) * p) / len(every)
    return value / (len(every) * discounted([(1 - alpha) ** i for i in range(k)], discount))


@pytest.mark.slow
@given(st.lists(judged_rankings(), min_size=1, max_size=8))
@settings(max_examples=40)
def test_kernels_equal_the_plain_definitions(cases: list[tuple[Judged, list[str]]]) -> None:
    hits = hits_of(*cases)
    for name, measure in zip(NAMES, MEASURES, strict=True):
        assert measure(hits).tolist() == pytest.approx([defined(name, *case) for case in cases], abs=1e-12), name


# -- what must hold ------------------------------------------------------------------------------------------


@given(judged_rankings(documents=5))
@settings(max_examples=15)
def test_no_permutation_exceeds_1_and_the_greedy_one_reaches_it(case: tuple[Judged, list[str]]) -> None:
    judged, _ = case
    hits = hits_of(*((judged, order) for order in itertools.permutations(judged)))
    for measure in MEASURES:
        values = measure(hits)
        assert values.max() <= 1.0 + 1e-15  # the ideal adds the same gains in another order
        if dict(measure.parameters).get("norm") == "ideal" and any(judged.values()):
            assert measure(hits_of((judged, greedy(judged, measure["alpha"]))))[0] == pytest.approx(1.0)


@given(st.lists(judged_rankings(), min_size=2, max_size=5))
@settings(max_examples=15)
def test_parts_equal_the_whole_and_the_order_of_rows_does_not_matter(cases: list[tuple[Judged, list[str]]]) -> None:
    whole = hits_of(*cases)
    numbers = np.arange(len(cases))
    backwards = hits_of(*((dict(reversed(judged.items())), ranking) for judged, ranking in cases))
    for measure in MEASURES:
        values = measure(whole)
        for part in (numbers[1::2], numbers[::2]):
            assert measure(whole.select(part)).tolist() == values[part].tolist()
        assert measure(backwards).tolist() == values.tolist()


@given(st.lists(judged_rankings(), min_size=1, max_size=5))
@settings(max_examples=25)
def test_a_larger_cutoff_never_lowers_a_measure_that_is_declared_monotone(
    cases: list[tuple[Judged, list[str]]],
) -> None:
    hits = hits_of(*cases)
    for name in ("StRecall", "AP_IA"):
        series = [parse_measure(f"{name}@{cutoff}")(hits) for cutoff in range(1, 9)]
        assert all((deep >= shallow).all() for shallow, deep in pairwise(series))


def test_grades_cutoffs_of_queries_and_judged_only() -> None:
    qrels = Qrels.from_columns(
        ["q"] * 3, ["a", "a", "b"], [1, 2, 1], iters=["1", "2", "1"], by_subtopic=True, columns={"k": [1]}
    )
    hits = join(qrels, Run.from_lists({"q": ["x", "b", "a"]}))
    values = {
        name: float(parse_measure(name)(hits)[0])
        for name in ("StRecall@2", "StRecall(rel=2)@3", "StRecall@k", "StRecall(judged_only=True)@k")
    }
    assert values == {
        "StRecall@2": 0.5,
        "StRecall(rel=2)@3": 1.0,
        "StRecall@k": 0.0,
        "StRecall(judged_only=True)@k": 0.5,
    }


def test_measures_of_documents_use_the_largest_grade_and_others_are_refused() -> None:
    qrels = qrels_of({"a": {"1"}, "b": set()})
    assert evaluate(qrels, {"q000": ["b", "a"]}, "RR P@2").values.tolist() == [[0.5, 0.5]]
    with pytest.raises(MeasureError, match="StRecall@5 needs grades by subtopic") as error:
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "StRecall@5")
    assert "--set reading.qrels_format=ndeval" in (error.value.hint or "")
    with pytest.raises(MeasureError, match="cutoff must be at most 1000000"):
        evaluate(qrels, {"q000": ["a"]}, "ERR_IA@1000000000")
    assert evaluate(qrels, {"q000": ["a"]}, "alpha_nDCG@1000000000")["alpha_nDCG@1000000000"] == 1


@pytest.mark.slow
def test_the_command_reads_subtopics_audits_and_explains(tmp_path: Path, command: Command) -> None:
    judgments, run = DATA / "tied.qrels", DATA / "tied.run"
    outcome = command(
        "evaluate", judgments, run, "--set", "reading.qrels_format=ndeval", "-m", "StRecall@5 nDCG@5", "--audit"
    )
    assert outcome.code == 0
    assert "StRecall@5" in outcome.out
    audit = ("evaluate", judgments, run, "--set", "reading.qrels_format=ndeval", "--audit", "-m")
    assert "needs one grade per document" not in command(*audit, "nDCG@5").out
    assert "unjudged documents are not audited: that needs one grade per document" in command(*audit, "StRecall@5").out
    page = tmp_path / "page.html"
    outcome = command(
        "compare", judgments, run, run, "--set", "reading.qrels_format=ndeval", "-m", "StRecall@5", "--html", page
    )
    assert outcome.code == 0, outcome.err
    assert "StRecall@5" in page.read_text()
