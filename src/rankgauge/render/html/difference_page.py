"""The query explorer for two runs without judgments, as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.comparison.run_difference import DIFFERENCE_MEASURES, QueryDifference, RunDifference
from rankgauge.core.ids import Ids
from rankgauge.render.documents.ranking_agreement import difference_summary, means_of_difference
from rankgauge.render.html.charts.differences import Axes
from rankgauge.render.html.page import page_parts, template, with_data
from rankgauge.render.html.page_systems import color_systems
from rankgauge.render.html.page_tables import page_table
from rankgauge.render.html.page_text import plain, shorten_end
from rankgauge.render.html.payload import QUERY_CHARACTERS
from rankgauge.render.html.payload_packing import Packer
from rankgauge.render.html.payload_rankings import (
    SNIPPET_CHARACTERS,
    RankedDocuments,
    pack_grades,
    packed_documents,
    ranked_documents,
)

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
        summary=difference_summary(difference),
        means=page_table(means_of_difference(difference), "Means over queries"),
    )
    packer = Packer()
    return with_data(frame, packer.compress(_payload(packer, difference, texts, snippets or {})))


def _payload(
    packer: Packer, difference: RunDifference, texts: Mapping[str, str], snippets: Mapping[str, str]
) -> dict[str, Any]:
    """What the scripts of the report read, with similarities instead of scores, and no grades."""
    queries = difference.queries
    documents = _documents(queries[:MAX_RANKINGS])
    chosen = None if len(queries) <= MAX_RANKINGS else documents.queries
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
        "measures": [_measure(packer, difference, name) for name in reversed(DIFFERENCE_MEASURES)],
        "ranked": [True, True],
        "depth": difference.k,
        "contribution_measures": 0,
        "rankings": {
            **packed_documents(packer, documents, 2, chosen),
            "grades": pack_grades(packer, np.full(len(documents.entry_doc), np.nan)),
            "contributions": [],
            "below": [None, None],
        },
        "snippets": _snippets(packer, documents, snippets),
    }


def _measure(packer: Packer, difference: RunDifference, name: str) -> dict[str, Any]:
    """A similarity as a measure: 1 for the first run, which it is similar to, and the value for the second."""
    labels = {"overlap": f"overlap@{difference.k}", "jaccard": f"Jaccard@{difference.k}"}
    values = [getattr(query, name) for query in difference.queries]
    known = np.array([float("nan") if value is None else float(value) for value in values])
    return {
        "name": labels.get(name, f"RBO(p={difference.p:g})"),
        "direction": 0,
        "count": False,
        "scale": SCALE,
        "values": packer.numbers(np.rint(np.concatenate([np.ones(len(known)), known]) * SCALE)),
        **Axes((0.0, 1.0), (-1.0, 0.0, 1.0), 1.0).to_dict(),
    }


def _documents(queries: Sequence[QueryDifference]) -> RankedDocuments:
    """Both rankings of each query."""
    rows = [
        (system, place, rank, doc)
        for system, side in enumerate(("first", "second"))
        for place, query in enumerate(queries)
        for rank, doc in enumerate(getattr(query, side), 1)
    ]
    system, place, rank = (np.array([row[part] for row in rows], dtype=np.int64) for part in range(3))
    return ranked_documents(Ids.from_text([row[3] for row in rows]), system, place, rank, np.arange(len(queries)))


def _snippets(packer: Packer, documents: RankedDocuments, snippets: Mapping[str, str]) -> dict[str, Any]:
    """As many snippets as fit."""
    space, numbers, texts = MAX_SNIPPET_CHARACTERS, [], []
    number_of = {doc: number for number, doc in enumerate(documents.docs.to_text())}
    for doc, text in snippets.items():
        short = shorten_end(text, SNIPPET_CHARACTERS)
        space -= len(doc) + len(short)
        if space < 0:
            break
        if doc in number_of:
            numbers.append(number_of[doc])
            texts.append(short)
    return {"docs": packer.numbers(np.array(numbers)), "texts": texts}
