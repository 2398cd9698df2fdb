"""The query explorer for two runs without judgments, as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.comparison.ranking_difference import DIFFERENCE_MEASURES, QueryDifference, RunDifference
from rankgauge.render.html.charts.differences import Axes
from rankgauge.render.html.page import page_parts, template, with_data
from rankgauge.render.html.page_systems import color_systems
from rankgauge.render.html.payload import QUERY_CHARACTERS, compress, integers
from rankgauge.render.html.payload_rankings import SNIPPET_CHARACTERS
from rankgauge.render.html.text import plain, shorten_end
from rankgauge.render.text.difference import mean_grid, summary

SCALE = 10_000
MAX_SNIPPET_CHARACTERS = 400_000  # of all snippets together
MAX_RANKINGS = 2_000  # queries whose rankings the page holds: those that changed most


def difference_page(
    difference: RunDifference, texts: Mapping[str, str], snippets: Mapping[str, str] | None = None
) -> str:
    """Render the page; ``snippets`` are the first words of documents."""
    frame = template("difference.html").render(
        **page_parts(),
        title=f"{difference.names[0]} and {difference.names[1]}",
        summary=summary(difference),
        means=mean_grid(difference),
    )
    return with_data(frame, compress(_payload(difference, texts, snippets or {})))


def _payload(difference: RunDifference, texts: Mapping[str, str], snippets: Mapping[str, str]) -> dict[str, Any]:
    """What the scripts of the report read, with similarities instead of scores, and no grades."""
    queries = difference.queries
    query_texts = [shorten_end(texts.get(query.query, ""), QUERY_CHARACTERS) for query in queries]
    return {
        "judged": False,
        "systems": [
            {"name": plain(one.name), "color": one.color, "shape": one.shape}
            for one in color_systems(difference.names, 0)
        ],
        "baseline": 0,
        "queries": [plain(query.query) for query in queries],
        "texts": query_texts if any(query_texts) else None,
        "columns": [],
        "measures": [_measure(difference, name) for name in reversed(DIFFERENCE_MEASURES)],
        "ranked": [True, True],
        "depth": difference.k,
        "contribution_measures": 0,
        "rankings": [_record(query) if row < MAX_RANKINGS else None for row, query in enumerate(queries)],
        "snippets": _fitting(snippets),
    }


def _measure(difference: RunDifference, name: str) -> dict[str, Any]:
    """A similarity as a measure: 1 for the first run, which it is similar to, and the value for the second."""
    labels = {"overlap": f"overlap@{difference.k}", "jaccard": f"Jaccard@{difference.k}"}
    values = [getattr(query, name) for query in difference.queries]
    known = [float("nan") if value is None else float(value) for value in values]
    return {
        "name": labels.get(name, f"RBO(p={difference.p:g})"),
        "direction": 0,
        "count": False,
        "scale": SCALE,
        "values": [integers([1.0] * len(known), SCALE), integers(known, SCALE)],
        **Axes((0.0, 1.0), (-1.0, 0.0, 1.0), 1.0).to_dict(),
    }


def _record(query: QueryDifference) -> dict[str, Any]:
    docs = {doc: row for row, doc in enumerate(dict.fromkeys((*query.first, *query.second)))}
    return {
        "d": [plain(doc) for doc in docs],
        "g": [None] * len(docs),
        "r": [[docs[doc] for doc in side] for side in (query.first, query.second)],
        "c": [],
        "b": [[], []],
    }


def _fitting(snippets: Mapping[str, str]) -> dict[str, str]:
    """As many snippets as fit."""
    space, out = MAX_SNIPPET_CHARACTERS, {}
    for doc, text in snippets.items():
        short = shorten_end(text, SNIPPET_CHARACTERS)
        space -= len(doc) + len(short)
        if space < 0:
            break
        out[plain(doc)] = short
    return out
