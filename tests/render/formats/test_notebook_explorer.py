"""The whole page inside a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankgauge import Reading, UsageError, compare, evaluate_retriever
from rankgauge.render import Explorer, as_html, explorer
from rankgauge.report import build_report
from tests.render.formats.fragments import Fragment, shown
from tests.render.formats.results import BAD, NEW, OLD, QRELS

KEPT = Reading(keep_rankings=True)


@pytest.fixture(scope="module")
def compared() -> Explorer:
    return explorer(compare(QRELS, [OLD, NEW], "nDCG@5", by=["kind"], reading=KEPT), height=500)


def frame(found: Any) -> dict[str, str | None]:
    wrapper, style, (element, attributes) = Fragment(found._repr_html_()).elements
    assert (wrapper[0], style[0], element) == ("div", "style", "iframe")
    return attributes


def test_it_is_the_page_in_a_frame_that_reaches_nothing_else(compared: Explorer) -> None:
    attributes = frame(compared)
    assert attributes["srcdoc"] == compared.page
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["height"] == "500"
    assert "default-src &#39;none&#39;" in compared.page
    assert BAD[:-1] in (attributes["title"] or "")
    assert "src" not in attributes


def test_it_shows_rankings_and_groups(compared: Explorer) -> None:
    report = build_report(QRELS, [OLD, NEW])
    assert len(compared.page) > 50_000
    assert 'id="queries"' in compared.page
    assert "kind" in compared.page
    assert frame(explorer(report))["srcdoc"] == as_html(report)


def test_a_live_retriever_has_one() -> None:
    result = evaluate_retriever(lambda query: ["a", "b"], [{"query": "x", "relevant_ids": ["b"]}], k=2)
    assert explorer(result).page == as_html(result)


def test_a_comparison_without_rankings_says_how_to_keep_them() -> None:
    with pytest.raises(UsageError, match="did not keep") as error:
        explorer(compare(QRELS, [OLD, NEW], "nDCG@5"))
    assert "Reading(keep_rankings=True)" in str(error.value)


def test_it_is_written_completely(compared: Explorer, tmp_path: Path) -> None:
    path = compared.save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == compared.page


def test_a_page_that_is_too_large_is_not_embedded() -> None:
    view = shown(Explorer("t", "x" * 2_000_001))
    assert "save(path)" in view.text
    assert "at most 2.0 MB" in view.text
    assert frame(Explorer("t", "x" * 2_000_000))
