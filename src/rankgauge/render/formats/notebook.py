"""A result in a notebook: its document, found by its type, as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

from rankgauge.comparison.comparison_result import Comparison
from rankgauge.core.formatting import byte_size, plural
from rankgauge.history.folder import History
from rankgauge.io.atomic_files import write_atomically
from rankgauge.rag.retrieval_result import RetrievalResult
from rankgauge.render.document import (
    Cell,
    ChartData,
    DocumentSection,
    Facts,
    FindingPart,
    Line,
    Part,
    ResultDocument,
    Sentences,
    Table,
    Words,
    listed,
    sentence,
    with_names,
    words,
)
from rankgauge.render.html import as_html
from rankgauge.render.html.page_text import plain, plain_lines, shorten_middle
from rankgauge.report.report import Report

DOCUMENTS: dict[str, str] = {  # class → file of this folder and function, imported when such a result is shown
    "Comparison": "comparison.document",
    "EntrySummary": "history.entry_document",
    "Evaluation": "scores.document",
    "FetchResult": "data_previews.fetch_document",
    "GateEfficiency": "pipelines.summary_document",
    "GateResult": "gate.document",
    "GoldLabels": "labels.gold_document",
    "History": "history.document",
    "LabelCheck": "labels.check_document",
    "LabelEstimates": "labels.document",
    "PipelineReport": "pipelines.document",
    "Qrels": "data_previews.qrels_document",
    "QrelsAgreement": "ranking_agreement.document",
    "QualityCheck": "history.changes_document",
    "Queries": "data_previews.queries_document",
    "RaterAgreement": "labels.rater_document",
    "Report": "benchmark.document",
    "RerankingResult": "pipelines.summary_document",
    "ResolvedLabels": "labels.resolved_document",
    "RetrievalQuality": "pipelines.story_document",
    "RetrievalResult": "scores.retrieval_document",
    "RoutingResult": "pipelines.summary_document",
    "Run": "data_previews.run_document",
    "RunDifference": "ranking_agreement.difference_document",
    "SavedEntry": "history.saved_entry_document",
    "Scores": "scores.scores_document",
    "SuiteResult": "pipelines.suite_document",
    "TieAudit": "audits.ties_document",
    "Trend": "history.trend_document",
    "TuningResult": "pipelines.tuning_document",
    "UnjudgedAudit": "audits.unjudged_document",
    "Validation": "validation.document",
    "Verification": "validation.verification_document",
}
LIST_DOCUMENTS: dict[str, str] = {  # for several results of a class
    "EntrySummary": "history.entries_document",
    "GroupSummary": "scores.groups_document",
    "Judgment": "data_previews.judgments_document",
    "PoolItem": "data_previews.pool_document",
    "RaterAgreement": "labels.raters_document",
    "Scores": "scores.score_list_document",
}


def document_of(result: Any) -> ResultDocument:
    """The document of a result, or of several results of one type."""
    if isinstance(result, (list, tuple)):
        if not result:
            return ResultDocument("results", lambda: [sentence("Empty: no results.")])
        return _function(type(result[0]), LIST_DOCUMENTS)(result)
    return _function(type(result), DOCUMENTS)(result)


def _function(cls: type, documents: dict[str, str]) -> Callable[[Any], ResultDocument]:
    """The function of a class, or of the first of its bases that has one."""
    name = next(base.__name__ for base in cls.__mro__ if base.__name__ in documents)
    module, function = documents[name].split(".")
    found: Callable[[Any], ResultDocument] = getattr(import_module(f"rankgauge.render.documents.{module}"), function)
    return found


# A document in a notebook: an HTML fragment in the style of the page, without scripts;
# and the whole page in a frame.
#
# Everything from data is escaped, and styles hold only inside the wrapper.

WRAPPER = "rankgauge-view"
MAX_ROWS = 60  # of one table
MAX_CELL_CHARACTERS = 200
COLORS = re.compile(r":root \{(.*?)\}", re.DOTALL)
MAX_EMBEDDED_BYTES = 2_000_000  # a notebook stores what it shows
DEFAULT_HEIGHT = 760


def view_of(result: Any) -> str:
    """The HTML of a result."""
    several = isinstance(result, (list, tuple)) and len(result) > 0
    label = f"{len(result)} × {type(result[0]).__name__}" if several else type(result).__name__
    return as_fragment(document_of(result), label)


def as_fragment(document: ResultDocument, label: str) -> str:
    """A document for a notebook; ``label`` names it for screen readers."""
    parts = [*document.parts()]
    end = len(parts)
    while end and isinstance(part := parts[end - 1], DocumentSection) and part.folded:
        end -= 1  # caveats come before what only some readers unfold
    parts[end:end] = listed("Caveats", document.caveats())
    return wrapped("".join(map(_part, parts)), label)


def wrapped(body: str, label: str, *classes: str) -> str:
    """Our own HTML with the styles that it needs."""
    names = " ".join((WRAPPER, *classes))
    return f'<div class="{names}" role="group" aria-label="{_text(label)}"><style>{styles()}</style>{body}</div>'


@cache
def styles() -> str:
    """The colors of the page and the rules of views, on few lines; every rule holds only inside the wrapper."""
    assets = files("rankgauge.render.html") / "assets"
    page, rules = ((assets / name).read_text(encoding="utf-8") for name in ("page.css", "notebook.css"))
    colors = COLORS.search(page)
    assert colors is not None  # in our own file
    used = set(re.findall(r"var\((--\w+)\)", rules))
    declarations = [line.strip() for line in colors[1].split(";") if line.split(":")[0].strip() in used]
    return f".{WRAPPER}{{{';'.join(declarations)}}}\n{rules}".replace("VIEW", f".{WRAPPER}.{WRAPPER}")


def _part(part: Part) -> str:
    match part:
        case Sentences():
            return _sentences(part)
        case Facts():
            return _table(_as_table(part))
        case FindingPart():
            return _finding(part)
        case ChartData():
            return "".join(map(_part, part.instead))
        case DocumentSection():
            inner = "".join(map(_part, part.parts))
            title = _text(part.title)
            if part.folded:
                return f"<details><summary>{title}</summary>{inner}</details>" if inner else ""
            return f'<p class="title">{title}</p>{inner}'
        case Table():
            return _table(part)


def _sentences(part: Sentences) -> str:
    lines = [*map(_line, part.lines)]
    match part.role:
        case "answer" | "verdict":
            first, *others = [f"{_text(part.title)}: {lines[0]}" if part.title else lines[0], *lines[1:]]
            tone = f" {part.tone}" if part.tone else ""
            return "".join([f'<p class="lead{tone}">{first}</p>', *(f"<p>{line}</p>" for line in others)])
        case "footnote":
            return "".join(f'<p class="legend">{line}</p>' for line in lines)
    if not part.title:
        return "".join(f"<p>{line}</p>" for line in lines)
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'<p class="title">{_text(part.title)}</p>' + (f"<ul>{items}</ul>" if items else "")


def _line(line: Line) -> str:
    return _text((with_names(line, str) if isinstance(line, str) else line.within(None, "; ")).strip())


def _finding(part: FindingPart) -> str:
    """A fault as a title, and what belongs to it as a list."""
    items: list[str] = []
    for label, text in part.details:
        items += [f"{label}: {text}"] if label else [text]
    lines = "".join(f"<li>{_text(item)}</li>" for item in items)
    title = f"{part.severity} {part.code} ({part.count:,}): {part.message}"
    return f'<p class="title">{_text(title)}</p><ul>{lines}</ul>'


def _as_table(facts: Facts) -> Table:
    """Facts as a table of two columns, without a head."""
    rows = [[Words(label), Words("; ".join(map(_fact, lines)))] for label, lines in facts.present.items()]
    return Table(words("", ""), rows, facts.name)


def _fact(line: Line) -> str:
    return line if isinstance(line, str) else line.within(None, "; ").strip()


def _table(part: Table) -> str:
    part = part.for_page()
    caption, rows = _text(part.name or part.caption), part.rows[:MAX_ROWS]
    titles = [column.title for column in part.columns]
    head = "".join(_head_cell(column.title, not column.is_words) for column in part.columns)
    head_element = f"<thead><tr>{head}</tr></thead>" if any(titles) else ""
    body = "".join(f"<tr>{''.join(_cells(part, row))}</tr>" for row in rows)
    table = f"<table><caption>{caption}</caption>{head_element}<tbody>{body}</tbody></table>"
    left_out = (len(part.rows) if part.total is None else part.total) - len(rows)
    notes = [*filter(None, [part.legend_with("bold: the best")])]
    notes += [f"{plural(left_out, 'more row')} not shown"] if left_out > 0 else []
    legend = "".join(f'<p class="legend">{_text(note)}</p>' for note in notes)
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{caption}">{table}</div>{legend}'


def _head_cell(title: str, is_number: bool) -> str:
    side = ' class="n"' if is_number else ""
    return f'<th scope="col"{side}>{_short(title)}</th>' if title else "<td></td>"


def _cells(part: Table, row: Sequence[Cell]) -> list[str]:
    """In a table of facts, which has no head, only the first column heads a row."""
    has_head = any(column.title for column in part.columns)
    return [
        _cell(cell, is_words=column.is_words, heads_row=column.is_words and (has_head or not place))
        for place, (cell, column) in enumerate(zip(row, part.columns, strict=True))
    ]


def _cell(cell: Cell, *, is_words: bool, heads_row: bool) -> str:
    is_strong = isinstance(cell, Words) and cell.strong
    text = f"<b>{_short(cell.text)}</b>" if cell.best or is_strong else _short(cell.text)
    if cell.mark:
        text += f' <i class="{cell.tone}" role="img" aria-label="{cell.tone}">{_text(cell.mark)}</i>'
    if not is_words:
        return f'<td class="n">{text}</td>'
    return f'<th scope="row">{text}</th>' if heads_row and cell.text else f"<td>{text}</td>"


def _short(text: str) -> str:
    return escape(shorten_middle(text, MAX_CELL_CHARACTERS))


def _text(text: str) -> str:
    return escape(plain_lines(text))


# ------------------------------------------------------------------------------------------------ the page in a frame


@dataclass(frozen=True, eq=False)
class Explorer:
    """A page as a notebook embeds it: its charts, and each query with its rankings.

    A page of more than 2 MB is not embedded, since the notebook would store it; ``save`` writes it to a file.
    """

    title: str
    page: str = field(repr=False)
    height: int = DEFAULT_HEIGHT  # of the frame, in pixels

    def save(self, path: str | Path) -> Path:
        """Write the page to a file."""
        with write_atomically(path) as out:
            out.write(self.page.encode("utf-8"))
        return Path(path)

    def _repr_html_(self) -> str:
        size = len(self.page.encode("utf-8"))
        if size > MAX_EMBEDDED_BYTES:
            limit = byte_size(MAX_EMBEDDED_BYTES)
            text = sentence(
                f"The page has {byte_size(size)}, and a notebook embeds at most {limit}: write it with save(path)."
            )
            return as_fragment(ResultDocument("Explorer", lambda: [text]), "Explorer")
        # Scripts run with an origin of their own: they cannot read the notebook, its cookies or its storage.
        frame = (
            f'<iframe title="{escape(plain(self.title))}" sandbox="allow-scripts" allow="clipboard-write" '
            f'height="{int(self.height)}" srcdoc="{escape(self.page)}"></iframe>'
        )
        return wrapped(frame, "Explorer", "whole-page")


def explorer(result: Report | Comparison | RetrievalResult | History, *, height: int = DEFAULT_HEIGHT) -> Explorer:
    """The page of a result, for ``display`` in a notebook.

    A comparison needs its rankings: ``compare(…, reading=Reading(keep_rankings=True))``.
    """
    return Explorer(f"rankgauge: {_title(result)}", as_html(result), height)


def _title(result: Report | Comparison | RetrievalResult | History) -> str:
    if isinstance(result, Report):
        return result.title
    if isinstance(result, Comparison):
        return ", ".join(result.names)
    return result.scores.run if isinstance(result, RetrievalResult) else "history"
