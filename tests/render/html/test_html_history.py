"""The page of a history: the newest results, trends and a list of entries, in one self-contained file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from rankgauge import Qrels, evaluate
from rankgauge.errors import InputError
from rankgauge.history import EntryFacts, EntryFilter, GitState, History, trends
from rankgauge.history.entries import EntrySummary, SavedEntry, entry_label
from rankgauge.history.entry_files import read_entry
from rankgauge.history.trends import DEFAULT_LAST
from rankgauge.render.documents.history import change_text
from rankgauge.render.html import as_html
from rankgauge.render.html.history_page import history_page, leaderboard
from tests.render.html.histories import CHANGE, ENTRIES, FIRST_DAY, filled, labels, multiply, ranking
from tests.render.html.reports import CLOSING, IMAGE, SCRIPT
from tests.render.html.unpacking import Parts, check_policy, check_self_contained, data_of


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return filled(tmp_path_factory.mktemp("history") / "history")


@pytest.fixture(scope="module")
def plain(history: History) -> str:
    return as_html(history)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return as_html(filled(tmp_path_factory.mktemp("hostile") / "history", hostile=True))


def test_the_same_history_gives_the_same_bytes(history: History, plain: str) -> None:
    assert as_html(history) == plain


@pytest.mark.parametrize("which", ["plain", "hostile"])
def test_the_page_is_self_contained(which: str, request: pytest.FixtureRequest) -> None:
    page: str = request.getfixturevalue(which)
    check_policy(page)
    check_self_contained(page)


def test_names_are_shown_as_text(hostile: str) -> None:
    parts = Parts(hostile)
    assert "injected" not in {attributes.get("id") for _, attributes in parts.elements}
    assert len(parts.named("script")) == 2
    for text in (SCRIPT, CLOSING, IMAGE):
        assert text in parts.text
        assert text not in hostile
    newest = data_of(hostile)["entries"][0]
    assert (newest["system"], newest["collection"]) == (IMAGE, CLOSING)


def test_every_entry_is_in_the_list_with_the_values_of_its_summary(history: History, plain: str) -> None:
    data = data_of(plain)
    summaries = [*reversed(history.entries())]
    assert [row["name"] for row in data["entries"]] == [entry.name for entry in summaries]
    names = [measure["name"] for measure in data["measures"]]
    for row, entry in zip(data["entries"], summaries, strict=True):
        assert {names[int(place)] for place in row["means"]} == set(entry.means)
        for place, (value, low, high, n) in row["means"].items():
            mean = entry.means[names[int(place)]]
            assert [value, low, high] == [
                None if end is None else pytest.approx(end, abs=1e-6) for end in (mean.value, mean.low, mean.high)
            ]
            assert n == mean.n
        assert row["lines"]["system"] == entry.system


def test_an_entry_opens_with_the_queries_that_changed_most(history: History, plain: str) -> None:
    """Recomputed from the stored values of each entry and of the one before it."""
    entries = [entry for entry in data_of(plain)["entries"] if entry["queries"] and entry["queries"]["since"]]
    assert entries
    for entry in entries:
        shown = entry["queries"]
        now, before = (
            history.entry(name).scores.per_query(shown["measure"]) for name in (entry["name"], shown["since"])
        )
        changes = {
            query: value - (before[query] or 0.0)
            for query, value in now.items()
            if value is not None and value != before.get(query, value)
        }
        assert shown["total"] == len(changes)
        largest = sorted(map(abs, changes.values()), reverse=True)[: len(shown["rows"])]
        assert [abs(after - first) for _, first, after in shown["rows"]] == pytest.approx(largest, abs=1e-5)
        assert all(
            (first, after) == pytest.approx((before[query], now[query]), abs=1e-6)
            for query, first, after in shown["rows"]
        )


def test_the_best_of_the_newest_entries_is_first(history: History) -> None:
    newest = {entry.system: entry for entry in history.entries(EntryFilter(collection="tickets"))}
    places = {entry.name: place for place, entry in enumerate(reversed(history.entries()))}
    for order in ([*newest.values()], [*reversed(newest.values())]):
        board = leaderboard("tickets", order, places)
        assert [row.entry.system for row in board.rows] == ["hybrid", "bm25"]
        assert [row.values[0].best for row in board.rows] == [True, False]
        assert {row.entry.saved[:10] for row in board.rows} == {"2026-11-09"}
        assert not board.has_others
        assert board.rows[0].values[2].text == "18"  # a count


def test_a_lower_value_is_first_where_lower_is_better(tmp_path: Path) -> None:
    qrels = labels("tickets")
    history = History.open(tmp_path / "history")
    for system, shift in (("slow", 3), ("quick", 0)):
        history.save(evaluate(qrels, ranking(system, shift), ["FirstRel"]), date=FIRST_DAY, git=GitState())
    entries = history.entries()
    board = leaderboard("tickets", entries, {entry.name: place for place, entry in enumerate(entries)})
    assert [(row.entry.system, row.values[0].best) for row in board.rows] == [("quick", True), ("slow", False)]


def test_values_with_other_labels_are_marked_and_last(tmp_path: Path) -> None:
    history = History.open(tmp_path / "history")
    for day, (system, grade, shift) in enumerate((("older", 2, 0), ("one", 1, 1), ("two", 1, 2))):
        qrels = labels("tickets", grade)
        scores = evaluate(qrels, ranking(system, shift), ["RR"])
        history.save(scores, date=FIRST_DAY + timedelta(days=day), git=GitState())
    entries = history.entries()
    board = leaderboard("tickets", entries, {entry.name: 2 - place for place, entry in enumerate(entries)})
    text = Parts(as_html(history)).text
    assert [(row.entry.system, row.comparable, row.values[0].best) for row in board.rows] == [
        ("one", True, True),
        ("two", True, False),
        ("older", False, False),
    ]
    assert "older *" in text
    assert "A trend needs two entries" in text


def test_change_points_are_those_of_the_trend(history: History, plain: str) -> None:
    trend = history.trend("nDCG@10", EntryFilter(system="hybrid", collection="tickets"))
    (change,) = trend.series[0].changes
    assert change.index == CHANGE
    text = Parts(plain).text
    assert change_text(change)[1:] in text
    assert plain.count('class="front change"') == 3  # one for each measure of the first system
    assert 'class="name halo better"' in plain
    assert "No change point." in text


def test_each_point_of_a_chart_names_its_entry(history: History, plain: str) -> None:
    names = [row["name"] for row in data_of(plain)["entries"]]
    assert plain.count("<g data-entry=") % ENTRIES == 0
    for point in history.trend("RR", EntryFilter(system="bm25", collection="tickets")).points:
        assert f'<g data-entry="{names.index(point.name)}"><title>{entry_label(point.name)}: ' in plain


def test_charts_have_a_description(plain: str) -> None:
    drawings = [chart for chart in Parts(plain).named("div") if chart.get("class") == "chart"]
    assert len(drawings) > 6
    assert all("of 9 entries, from " in (chart.get("aria-label") or "") for chart in drawings)


def test_what_else_changed_has_charts(tmp_path: Path) -> None:
    history = History.open(tmp_path / "history")
    for day, size in enumerate((6, 8)):
        judged = {f"q{query}": {"relevant": 1} for query in range(size)}
        qrels = Qrels.from_dict(judged, name="tickets")
        facts = EntryFacts(coverage=0.25 * (day + 1))
        scores = evaluate(qrels, ranking("one", 1), ["RR"])
        history.save(scores, facts=facts, date=FIRST_DAY + timedelta(days=day), git=GitState())
    page = as_html(history)
    assert ": 8 queries (2 added)" in page
    assert "2 versions of the labels." in Parts(page).text
    assert ": 50%" in page
    assert "Latency" not in Parts(page).text


def test_a_filter_selects_entries(history: History) -> None:
    data = data_of(history_page(history, EntryFilter(system="bm25")))
    assert {row["system"] for row in data["entries"]} == {"bm25"}
    with pytest.raises(InputError, match="no entries that the options select"):
        history_page(history, EntryFilter(branch="other"))


def test_an_empty_history_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no entries"):
        as_html(History.open(tmp_path / "history"))


def test_a_measure_that_is_not_known_has_values_and_no_chart(tmp_path: Path) -> None:
    history = filled(tmp_path / "history")
    for entry in history.entries():
        entry.path.write_text(entry.path.read_text().replace('"RR"', '"Own@3"'))
    page = as_html(history)
    assert "Own@3" in [measure["name"] for measure in data_of(page)["measures"]]
    assert "Own@3" in Parts(page).text


@pytest.mark.slow
def test_ten_thousand_entries_are_summaries_and_few_are_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, read = filled(tmp_path / "history"), list[str]()

    def counted(entry: EntrySummary) -> SavedEntry:
        read.append(entry.name)
        return read_entry(entry)

    multiply(history, 10_005)
    monkeypatch.setattr(trends, "read_entry", counted)
    page = as_html(history)
    assert 0 < len(read) <= 2 * DEFAULT_LAST
    assert len(data_of(page)["entries"]) == 10_000
    assert "10,000 entries (5 older not on this page)" in Parts(page).text
    assert len(page.encode()) < 1_700_000
    assert len(Parts(page).elements) < 5_000
