"""Retrieval Quality for people and for programs: the verdict first, then the result of each query."""

from __future__ import annotations

import json

from rankgauge.adapters.story.result import RetrievalQuality
from rankgauge.core.formatting import number
from rankgauge.render.text.terminal import BOLD, RESET, Cell, name, table


def as_json(result: RetrievalQuality) -> str:
    """The result as text: full precision, null if there is no value."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_text(result: RetrievalQuality, *, color: bool) -> str:
    """The verdict in a sentence, and one row per query."""
    sentence = str(result)
    if color:
        head, mark, rest = sentence.partition(":")
        sentence = f"{BOLD}{head}{RESET}{mark}{rest}"
    if not result.queries:
        return sentence + "\n"
    rows = [
        [
            Cell(f"{name(query.id)}  {name(query.text)}"),
            Cell(str(query.rank)),
            Cell(number(query.rr)),
            Cell(f"{number(query.recall)} @{query.k}"),
            Cell(name(query.ranking[0].scene)),
        ]
        for query in result.queries
    ]
    return f"{sentence}\n\n{table(['query', 'rank', 'RR', 'recall', 'first scene'], rows, color=False)}\n"
