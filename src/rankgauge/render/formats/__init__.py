"""One function per output: each renders any document.

terminal      columns and sentences that fit a terminal; wrapping and text_chart, which it needs for some
markdown      tables and sentences for a page; latex for a paper
ci            JUnit XML, and a summary as GitHub shows it
data_rows     one row per value: CSV, JSON Lines, TREC
openmetrics   the newest values of a history, for Prometheus
notebook      an HTML fragment, and the whole page in a frame
"""

from __future__ import annotations

from typing import Any

from rankgauge.render.document import ResultDocument
from rankgauge.render.formats.terminal import PLAIN, Layout, as_text


def rendered(document: ResultDocument, format: str, layout: Layout = PLAIN) -> str:
    """A document in a format that a user can ask for; ``layout`` is that of the terminal."""
    match format:
        case "json":
            return printed_json(document.data())
        case "csv" | "jsonl":
            from rankgauge.render.formats.data_rows import as_csv, as_jsonl

            return (as_csv if format == "csv" else as_jsonl)(document.rows())
        case "markdown":
            from rankgauge.render.formats.markdown import as_markdown

            return as_markdown(document)
        case "latex":
            from rankgauge.render.formats.latex import as_latex

            return as_latex(document)
        case "junit" | "github":
            from rankgauge.render.formats.ci import as_junit, as_summary

            return (as_junit if format == "junit" else as_summary)(document)
        case _:
            return as_text(document, layout)


def printed_json(data: Any) -> str:
    """JSON as it is printed: full precision, null for a missing value; a value that is not a number raises."""
    from rankgauge.io.formats.json_text import json_text  # which the other formats do without

    return json_text(data, indent=2) + "\n"
