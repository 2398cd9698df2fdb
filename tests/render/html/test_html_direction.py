"""Marks and colors mean better and worse, not higher and lower."""

from __future__ import annotations

import re

import pytest

from rankgauge import Qrels, Run, compare
from rankgauge.measures.names import parse_measure
from rankgauge.render.html import as_html
from rankgauge.report.report import Report
from tests.render.html.reports import report_of_runs
from tests.render.html.unpacking import Parts, data_of

QUERIES = 30


def one_sided(measure: str) -> Report:
    """Two systems: the first relevant document moves up from rank 3 or more to rank 1 for all queries but one."""
    qrels = Qrels.from_dict({f"q{n:02d}": {"a": 1} for n in range(QUERIES)}, columns={"kind": ["x"] * QUERIES})
    deep = [["b", "c", *"defg"[: n % 4], "a"] for n in range(QUERIES)]
    before = {f"q{n:02d}": deep[n] if n else ["a"] for n in range(QUERIES)}
    after = {f"q{n:02d}": ["a", "b", "c"] if n else ["b", "a"] for n in range(QUERIES)}
    runs = [Run.from_lists(before, name="old"), Run.from_lists(after, name="new")]
    return report_of_runs(qrels, runs, measures=(measure,), by=("kind",))


@pytest.fixture(scope="module", params=["FirstRel", "RR"])
def page(request: pytest.FixtureRequest) -> str:
    """The same improvement on a measure for which lower is better, and on one for which higher is better."""
    return as_html(one_sided(request.param))


def path(page: str, tone: str) -> list[int]:
    """The bars of a tone in the waterfall: the index at which they begin, and those at which bars of one height end."""
    d = re.search(rf'<path d="([^"]*)" class="{tone}"', page)
    return [] if d is None else [int(end) for end in re.findall(r"[MH](\d+)", d[1])]


def test_every_mark_of_an_improvement_means_better(page: str) -> None:
    marks = re.findall(r'<i class="(\w+)" role="img" aria-label="(\w+)">(.)</i>', page)
    assert marks == [("better", "better", "▲")] * 2  # in the table of results and in that of the group


def test_wins_are_improvements(page: str) -> None:
    assert f'<td class="n tally">{QUERIES - 1}/0/1</td>' in page
    text = Parts(page).text
    assert f"new is better than old on {QUERIES - 1} queries, worse on 1, equal on 0." in text


def test_the_waterfall_begins_with_improvements_in_their_color(page: str) -> None:
    begin, *ends = path(page, "better")
    assert (begin, ends[-1]) == (0, QUERIES - 1)
    assert path(page, "worse") == [QUERIES - 1, QUERIES]
    assert "from the largest improvement to the largest decline" in page


def test_the_better_side_of_the_diagonal_is_named(page: str) -> None:
    lower = data_of(page)["measures"][0]["direction"] == -1
    assert f"{'below' if lower else 'above'} the diagonal, new is better" in page


def test_the_best_value_is_bold(page: str) -> None:
    values = re.findall(r'<td class="n value( best)?">', page)
    assert values == [" best", ""]


@pytest.mark.parametrize(
    ("measure", "direction"), [("nDCG@10", 1), ("FirstRel", -1), ("RBPResidual", -1), ("NumRet", 0)]
)
def test_wins_and_losses_follow_the_direction_of_the_measure(measure: str, direction: int) -> None:
    spec = parse_measure(measure)
    assert spec.definition.direction == direction
    higher = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(5)}
    lower = {query: {"a": 1.0, "b": 2.0} for query in higher}
    qrels = {query: {"a": 1} for query in higher}
    row = compare(qrels, {"base": lower, "system": higher}, [measure])["system", parse_measure(measure).name]
    improved = 5 if (row.difference or 0.0) * direction > 0 else 0
    assert (row.effect.wins if direction else 0) == improved


def test_a_measure_without_a_direction_has_neither_marks_nor_colors() -> None:
    made = one_sided("NumRet")
    assert made.comparison is not None
    assert made.comparison.differences[0].is_significant(made.comparison.alpha)
    text = as_html(made)
    assert 'role="img" aria-label="better"' not in text
    assert 'role="img" aria-label="worse"' not in text
    assert re.search(r'<div class="neutral"><div class="chart"', text)
    assert "from the largest increase to the largest decrease" in text
    assert "new is higher than old on" in Parts(text).text
    assert data_of(text)["measures"][0]["direction"] == 0
