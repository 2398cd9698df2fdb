"""One self-contained file that never interprets text from data and is the same on every run."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from rankgauge import Qrels, Run, evaluate
from rankgauge.comparison.answer_sentences import headline
from rankgauge.comparison.compare import compare, compare_evaluation
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.io.reading_options import Reading
from rankgauge.render.html import as_html
from rankgauge.render.html.page import SECTIONS, page_verdict
from rankgauge.render.html.page_systems import page_systems_of
from rankgauge.report.report import report_of_comparison
from tests.needs import ROOT
from tests.render.html.reports import CLOSING, IMAGE, SCRIPT, report, report_of_runs, with_note, without_rankings
from tests.render.html.unpacking import Parts, check_policy, check_self_contained, data_of


@pytest.fixture(scope="module")
def plain() -> str:
    return as_html(report(3))


@pytest.fixture(scope="module")
def hostile() -> str:
    return as_html(report(3, 5, hostile=True))


def test_the_same_report_gives_the_same_bytes(plain: str) -> None:
    assert as_html(report(3)) == plain


@pytest.mark.slow
def test_the_order_of_sets_does_not_show(plain: str) -> None:
    code = (
        "import hashlib; from tests.render.html.reports import report; from rankgauge.render.html import as_html;"
        "print(hashlib.sha256(as_html(report(3)).encode()).hexdigest())"
    )
    expected = hashlib.sha256(plain.encode()).hexdigest()
    for seed in ("1", "2"):
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == expected


def test_the_policy_names_these_very_styles_and_scripts_and_nothing_else(plain: str) -> None:
    check_policy(plain)


def test_the_sections_are_those_of_the_table_in_its_order_and_no_two_set_the_same_value(plain: str) -> None:
    links = "".join(f'<a href="#{section.name}">{section.title}</a>' for section in SECTIONS)
    assert f'<nav aria-label="Sections">{links}</nav>' in plain
    assert re.findall(r'<section id="(\w+)"', plain) == [section.name for section in SECTIONS]
    shown = report(3)
    names = [name for section in SECTIONS for name in section.values(shown, page_systems_of(shown))]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("which", ["plain", "hostile"])
def test_nothing_is_loaded_from_outside(which: str, request: pytest.FixtureRequest) -> None:
    page: str = request.getfixturevalue(which)
    check_self_contained(page)


def test_text_from_data_is_shown_as_text(hostile: str) -> None:
    parts = Parts(hostile)
    assert "injected" not in {attributes.get("id") for _, attributes in parts.elements}
    assert len(parts.named("script")) == 2
    for text in (SCRIPT, CLOSING, IMAGE):
        assert text in parts.text
        assert text not in hostile


def test_the_answer_and_the_values_are_in_the_html(plain: str) -> None:
    made, text = report(3), Parts(plain).text
    for scores in made.scores:
        assert f"{scores['nDCG@10']:.3f}" in text
    for words in ("by kind", "(none)", "every judged query averaged", "win/tie/loss", "rankgauge compare qrels.txt"):
        assert words in text


def test_the_answer_is_that_of_the_comparison() -> None:
    made = report(2, 40, measures=("nDCG@10", "RR"))
    assert made.comparison is not None
    text = Parts(as_html(made)).text
    assert all(sentence in text for sentence in headline(made.comparison))


def test_a_long_answer_has_two_parts() -> None:
    text = Parts(as_html(report(2, 300, measures=("nDCG@10", "AP", "R@10", "P@5", "NumRet")))).text
    assert "▲" not in text.split("Judgment coverage")[0]
    assert "✓ Better vector is better than bm25: nDCG@10 +0." in text
    assert "AP: better (+0." in text


def test_the_winner_its_group_and_the_others_have_lines_of_their_own() -> None:
    page = as_html(report(3, 200))
    lines = re.findall('<p class="(answer|answer-group)(?: long)?">(.*?)</p>', page)
    assert [kind for kind, _ in lines] == ["answer", *["answer-group"] * (len(lines) - 1)]
    assert len(lines) > 1
    assert lines[0][1].startswith("Best: hybrid (nDCG@10 0.")
    assert all(words.startswith(("Not distinguishable from it: ", "Worse: ")) for _, words in lines[1:])


@pytest.mark.parametrize(
    ("systems", "queries", "tone", "word"), [(2, 300, "pass", "Better"), (3, 3, "undecided", "Undecided")]
)
def test_the_verdict_has_a_color_a_sign_and_a_word(systems: int, queries: int, tone: str, word: str) -> None:
    page = as_html(report(systems, queries))
    sign = {"pass": "✓", "undecided": "?"}[tone]
    assert f'<p class="verdict {tone}"><span aria-hidden="true">{sign}</span> {word}</p>' in page


@pytest.mark.parametrize(
    ("ranks", "baseline", "word"),
    [
        ((1, 1, 4, 4, 4), None, "better than 3 of 4"),
        ((1, 4, 4), None, "one best system"),
        ((1, 1, 1), None, "inconclusive"),
        ((4, 1, 1), "a", "2 of 2 better than a"),
        ((1, 4, 1), "a", "1 of 2 worse than a"),
    ],
)
def test_the_badge_says_what_the_answer_says(ranks: tuple[int, ...], baseline: str | None, word: str) -> None:
    judged = {f"q{number:02}": {"d": 1} for number in range(30)}
    runs = {
        name: {query: [*(f"x{place}" for place in range(1, rank)), "d"] for query in judged}
        for name, rank in zip("abcde", ranks, strict=False)
    }
    kept = Reading(keep_rankings=True)
    found = compare(judged, runs, "RR", baseline=baseline, reading=kept, statistics=Statistics(resamples=200))
    verdict = page_verdict(report_of_comparison(found))
    assert verdict is not None
    assert verdict.word == word
    if found.ranking is not None and found.ranking.worse:
        assert f"Worse: {', '.join(found.ranking.worse)}." in found.answer()


def test_low_coverage_is_beside_the_answer() -> None:
    judged = Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"a": 1}})
    run = Run.from_lists({"q": ["a", "b", "x"], "r": ["y", "z"]}, name="one")
    text = Parts(as_html(report_of_runs(judged, [run]))).text
    assert "Judgment coverage : 40% of the documents in the top 10 are judged; unjudged documents count as" in text
    full = Run.from_lists({"q": ["a", "b"], "r": ["a"]}, name="one")
    text = Parts(as_html(report_of_runs(judged, [full]))).text
    assert "Judgment coverage : 100% of the documents in the top 10 are judged." in text


def test_bands_notes_findings_and_costs_are_shown() -> None:
    text = Parts(as_html(with_note(report(2), "a thing to know"))).text
    for words in ("band (trec-2025)", "strong", "a thing to know", "a tie of scores", "median latency", "Manifest"):
        assert words in text


def test_charts_have_a_description_for_people_who_cannot_see_them(plain: str) -> None:
    drawings = [chart for chart in Parts(plain).named("div") if chart.get("class") == "chart"]
    assert len(drawings) > 10
    assert all(chart.get("role") == "img" and chart.get("aria-label") for chart in drawings)
    others = re.sub(r'<div class="chart".*?</div>', "", plain)
    assert all(svg.get("aria-hidden") == "true" for svg in Parts(others).named("svg"))


@pytest.mark.parametrize("systems", [1, 2, 5])
@pytest.mark.parametrize("queries", [1, 3])
def test_few_systems_and_few_queries_make_a_page(systems: int, queries: int) -> None:
    page = as_html(report(systems, queries))
    assert len(data_of(page)["queries"]) == queries
    assert "nan" not in Parts(page).text.split()


def test_neither_columns_nor_texts_are_needed() -> None:
    data = data_of(as_html(report(2, by=(), texts=False)))
    assert data["columns"] == []
    assert data["texts"] is None
    assert data["snippets"] == {}


def test_odd_measures_ids_and_missing_values_make_a_page() -> None:
    measures = ("infAP", "SetP", "NumRet", "Unjudged@5", "Judged@5", "RBP(p=0.8)", "P@k")
    judged = {"q\x1b[31m": {"d\udcff": 2, "д" * 300: 1}, "空": {"a": 0}, "z": {"b": 1}}
    qrels = Qrels.from_dict(judged, columns={"k": [1, 2, 3]})
    first = Run.from_lists({"q\x1b[31m": ["д" * 300, "x"], "空": ["a"]}, name="one " * 40)
    second = Run.from_lists({"q\x1b[31m": ["d\udcff"], "z": ["b"]}, name="two", failed=["空"])
    page = as_html(report_of_runs(qrels, [first, second], measures=measures))
    page.encode("utf-8")
    assert "\x1b" not in page
    data = data_of(page)
    assert data["measures"][0]["values"][1][data["queries"].index("空")] is None
    assert "q\\x1b[31m" in data["queries"]


def test_values_over_more_queries_than_their_difference_are_marked_and_none_is_the_best() -> None:
    qrels = Qrels.from_dict({f"q{n}": {"a": 1} for n in range(6)})
    one = Run.from_lists({f"q{n}": ["a"] if n % 2 else ["b", "a"] for n in range(6)}, name="one")
    two = Run.from_lists({f"q{n}": ["a"] for n in range(4)}, name="two", failed=["q4", "q5"])
    page = as_html(report_of_runs(qrels, [one, two], measures=("RR",)))
    assert (
        "6 queries; each value covers the system's own queries, Δ only the queries that both systems have"
        in Parts(page).text
    )
    assert 'class="n value best"' not in page
    complete = as_html(report_of_runs(qrels, [one, Run.from_lists({f"q{n}": ["a"] for n in range(6)}, name="two")]))
    assert "own queries" not in Parts(complete).text
    assert 'class="n value best"' in complete


def test_group_tables_name_the_correction_of_p() -> None:
    text = Parts(as_html(report(3, by=("kind",)))).text
    assert "p by kind: max-t over " in text


def test_the_table_says_for_which_family_intervals_hold() -> None:
    made = report(3)
    assert made.comparison is not None
    assert "95% CI of Δ (simultaneous)" in Parts(as_html(made)).text
    holm = compare_evaluation(made.evaluation, statistics=Statistics("randomization", resamples=500))
    assert "95% CI of Δ (unadjusted)" in Parts(as_html(replace(made, comparison=holm))).text


def test_a_system_without_values_has_null_values_on_the_page() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1}})
    runs = [Run.from_lists({"q": ["a"]}, name="one"), Run.from_lists({}, name="two", failed=["q"])]
    data = data_of(as_html(report_of_runs(qrels, runs)))
    assert data["measures"][0]["values"] == [[1_000_000], [None]]


def test_rankings_are_those_of_the_runs_in_rank_order() -> None:
    run = Run.from_columns(["1", "1", "1", "9"], ["b", "a", "c", "c"], [2, 1, 1, 1])
    record = data_of(as_html(report_of_runs(Qrels.from_dict({"1": {"a": 1, "b": 0}}), [run])))["rankings"][0]
    assert [record["d"][doc] for doc in record["r"][0]] == ["b", "c", "a"]  # ties are in descending order of ids
    assert [record["g"][doc] for doc in record["r"][0]] == [0, None, 1]


def test_no_run_file_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    made = report(2, 3)
    as_html(made)  # templates and assets are read once, here

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError(f"opened {arguments[0]}")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(io, "open", refuse)
    monkeypatch.setattr(os, "open", refuse)
    as_html(made)


def test_a_system_without_a_ranking_has_values_only() -> None:
    made = report(2, 3)
    data = data_of(as_html(without_rankings(made, 0)))
    assert data["ranked"] == [False, True]
    assert all(record["r"][0] == [] and record["r"][1] for record in data["rankings"])
    assert data_of(as_html(without_rankings(made, 0, 1)))["rankings"] is None


def test_scores_have_values_and_no_ranking() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1}, "2": {"b": 1}})
    before = evaluate(qrels, Run.from_lists({"1": ["x", "a"], "2": ["b"]}, name="before"), "RR")
    after = Run.from_lists({"1": ["a"], "2": ["b"]}, name="after")
    compared = compare(qrels, [before, after], ["RR"], statistics=Statistics(resamples=50))
    made = replace(report_of_runs(qrels, [after], measures=["RR"]), comparison=compared)
    page = as_html(made)
    assert data_of(page)["ranked"] == [False, True]
    assert "after vs. before" in Parts(page).text


@pytest.mark.slow
@pytest.mark.parametrize("texts", [True, False])
def test_five_systems_and_a_thousand_queries_stay_below_440_kilobytes(texts: bool) -> None:
    page = as_html(report(5, 1000, texts=texts, resamples=50, measures=("nDCG@10", "AP", "RR", "R@50", "P@5")))
    assert len(page.encode("utf-8")) <= 440_000
    data = data_of(page)
    assert data["depth"] >= 8
    assert all(data["rankings"])


def test_with_three_systems_every_row_has_its_own_detectable_difference() -> None:
    made = report(3, 60)
    assert made.comparison is not None
    page = as_html(made)
    shown = re.findall(r'<td class="n mdd"[^>]*>([^<]*)</td>', page)
    rows = {(row.measure, row.system): row.detectable for row in made.comparison.differences}
    known = [size for size in rows.values() if size is not None]
    assert len(set(known)) == len(known) == 6
    assert sorted(size for size in shown if size not in ("", "–")) == sorted(f"{size:.3f}" for size in known)
    assert "n mdd" not in as_html(report(2, 60))  # the only row of a measure: beside its name
