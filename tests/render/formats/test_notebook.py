"""Every type of result has a view in a notebook: escaped, accessible, with the numbers of the other formats."""

from __future__ import annotations

import pickle
import pkgutil
import re
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankgauge
from rankgauge import Qrels, Run, compare, evaluate, evaluate_runs
from rankgauge.comparison.answer_sentences import headline
from rankgauge.comparison.comparison_result import sort_systems
from rankgauge.core.result_views import HtmlView, ResultList, ResultTuple
from rankgauge.evaluation.scores import sorted_runs
from rankgauge.render.document import Table, name, words
from rankgauge.render.documents.comparison import comparison_table
from rankgauge.render.documents.scores import means_table, value_text
from rankgauge.render.formats.markdown import as_markdown
from rankgauge.render.formats.notebook import DOCUMENTS, LIST_DOCUMENTS, MAX_ROWS, WRAPPER, as_fragment, styles
from tests.render.formats.fragments import Fragment, shown
from tests.render.formats.results import BAD, MEASURES, NEW, OLD, QRELS, THIRD, results
from tests.render.formats.texts import shown_as

ELEMENTS = {
    *("div", "style", "p", "b", "i", "ul", "li", "details", "summary"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"class", "role", "aria-label", "scope", "tabindex"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return results(tmp_path_factory.mktemp("results"))


NAMES = sorted({*DOCUMENTS, *(f"{name}[]" for name in LIST_DOCUMENTS), "Comparison of three", "Report of one"})


@pytest.mark.slow
def test_every_result_with_a_view_is_in_the_table_and_the_other_way_around() -> None:
    for module in pkgutil.walk_packages(rankgauge.__path__, "rankgauge."):
        if not module.name.endswith(("__main__", "pytest_plugin")) and ".cli" not in module.name:
            import_module(module.name)
    pending, classes = [HtmlView], set()
    while pending:
        derived = [cls for cls in pending.pop().__subclasses__() if cls.__module__.startswith("rankgauge.")]
        classes |= {cls.__name__ for cls in derived}
        pending += derived
    assert classes - {"Tabular", "ResultTuple", "ResultList"} == set(DOCUMENTS)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_markup_of_ours_and_text_of_the_data(made: dict[str, Any], name: str) -> None:
    view = shown(made[name])
    assert {element for element, _ in view.elements} <= ELEMENTS
    assert {attribute for _, attributes in view.elements for attribute in attributes} <= ATTRIBUTES
    assert "\u202e" not in view.text
    assert not re.search(r"url\(|@import|https?:", made[name]._repr_html_())


@pytest.mark.parametrize("name", NAMES)
def test_tables_have_a_caption_and_header_cells_with_a_scope(made: dict[str, Any], name: str) -> None:
    for table in shown(made[name]).tables:
        assert table.caption
        assert set(table.scopes) <= {"row", "col"}
        assert table.scopes
        assert all(len(row) == len(table.head or row) for row in table.rows)
        assert len(table.rows) <= MAX_ROWS


@pytest.mark.parametrize("name", NAMES)
def test_the_same_result_has_the_same_view_and_a_short_repr(made: dict[str, Any], name: str) -> None:
    assert made[name]._repr_html_() == made[name]._repr_html_()
    if not name.endswith("[]"):
        assert len(repr(made[name]).replace(repr(BAD)[1:-1], "").replace(BAD, "")) < 700


def test_styles_hold_only_inside_the_wrapper() -> None:
    rules = re.findall(r"([^{}]+)\{[^{}]*\}", styles())
    assert len(rules) > 20
    assert all(f".{WRAPPER}" in rule for rule in rules)
    outside = [re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", rule) for rule in rules]
    assert not any("," in rule for rule in outside)  # in a list of selectors, one might not be inside the wrapper
    assert "VIEW" not in styles()
    used = set(re.findall(r"var\((--\w+)\)", styles()))
    assert used == set(re.findall(r"(--\w+):", styles()))


def cells_of_markdown(table: Table) -> list[list[str]]:
    """The cells as a Markdown table shows them."""
    lines = [line for line in as_markdown(shown_as(table)).splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in (lines[0], *lines[2:])]
    return [[re.sub(r"\\(.)", r"\1", cell.replace("**", "")) for cell in row] for row in rows]


@pytest.mark.parametrize("runs", [[OLD, NEW], [OLD, NEW, THIRD]], ids=["two", "three"])
def test_a_comparison_has_the_cells_of_the_markdown_table_with_the_baseline(runs: list[Run]) -> None:
    plain = {f"s{place}": run for place, run in enumerate(runs)}
    compared = compare(QRELS, plain, MEASURES)
    view = shown(compared)
    table = next(table for table in view.tables if table.caption == "Compared with s0")
    expected = cells_of_markdown(comparison_table(sort_systems(compared)))
    assert [[cell.strip() for cell in row] for row in (table.head, *table.rows)] == expected
    baseline = [row for row in table.rows if row[1] == "s0"]
    base = compared.scores[0]
    assert [row[2] for row in baseline] == [value_text(measure, base[measure]) for measure in base.measures]
    assert view.leads == [headline(compared)[0]]
    assert all(sentence in view.text for sentence in headline(compared))
    if len(runs) > 2:
        assert compared.ranking is not None
        ranked = [(system.name, system.letters) for system in compared.ranking.systems]
        assert [(row[1], row[-1].replace(" ", "")) for row in table.rows[:3]] == ranked  # best first


def test_several_scores_have_the_cells_of_the_markdown_table() -> None:
    scores = evaluate_runs(QRELS, [OLD, NEW], MEASURES).scores
    (table,) = shown(scores).tables
    assert [[*row] for row in (table.head, *table.rows)][1:] == [
        [cell.text.strip().replace("\u202e", "\\u202e") for cell in row]
        for row in means_table(sorted_runs(scores)).rows
    ]


def test_several_scores_are_still_a_tuple_and_several_entries_a_list(made: dict[str, Any]) -> None:
    scores, entries = made["Scores[]"], made["EntrySummary[]"]
    assert isinstance(scores, tuple)
    assert isinstance(entries, list)
    assert scores == tuple(scores)
    assert entries == list(entries)
    assert pickle.loads(pickle.dumps(ResultTuple((1, 2)))) == (1, 2)
    assert "no results" in shown(ResultList()).text


def test_what_is_left_out_is_stated() -> None:
    rows = [[name(f"row {number}")] for number in range(MAX_ROWS + 5)]
    view = Fragment(as_fragment(shown_as(Table(words("name"), rows, "many")), "many"))
    assert len(view.tables[0].rows) == MAX_ROWS
    assert "5 more rows not shown" in view.text
    assert "230 more rows not shown" in shown(OLD).text
    assert "182 more rows not shown" in shown(QRELS).text
    assert "4 more rows not shown" in shown(evaluate(QRELS, OLD, MEASURES)).text


def test_judgments_and_runs_show_their_facts() -> None:
    text = shown(QRELS).text.split("\n")
    facts = {title: text[text.index(title) + 1] for title in ("documents", "grades", "columns of the queries")}
    assert facts == {"documents": "192", "grades": "0: 48, 1: 48, 2: 48, 3: 48", "columns of the queries": "kind"}
    (first, about) = shown(Run.from_lists({"q1": ["b", "a"], "q2": []}, failed=["q3"])).tables
    assert first.rows == [["q1", "b", "1", "2"], ["q1", "a", "2", "1"]]
    assert about.rows[0] == ["queries", "3, 1 empty, 1 failed"]


def test_a_verdict_is_told_by_words_and_by_a_class(made: dict[str, Any]) -> None:
    view = shown(made["GateResult"])
    assert view.leads[0].startswith("fail: ")
    assert ("p", {"class": "lead worse"}) in view.elements


NAMES_OF_DATA = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NAMES_OF_DATA, NAMES_OF_DATA)
def test_no_name_becomes_markup(system: str, collection: str) -> None:
    qrels = Qrels.from_dict({"q": {"a": 1}}, name=collection)
    scores = evaluate(qrels, Run.from_dict({"q": {"a": 1.0}}, name=system), "RR")
    for result in (qrels, scores, ResultTuple([scores, scores])):
        assert {element for element, _ in shown(result).elements} <= ELEMENTS


def test_a_view_lists_the_largest_changes() -> None:
    data = Path(rankgauge.__file__).parent / "data" / "workshop"
    compared = compare(
        data / "qrels.trec", sorted((data / "runs").iterdir()), "nDCG@10", queries=data / "queries.jsonl"
    )
    assert "Largest changes in nDCG@10" in shown(compared).text
