"""The HTML report: one self-contained file that makes no network requests.

page              answer, verdict and sections of a report, put into the template with its styles and scripts
page_systems      the systems on the page, each with its color
page_tables       its tables, of typed cells, which one macro draws
history_page      a history: the newest results, trends and the list of entries
difference_page   two runs without judgments
charts/           one file per kind of chart; inline SVG that needs no script
payload           the data for the scripts, reduced if the page would become too large; payload_packing compresses it
payload_rankings  the tops of the rankings, with grades and contributions
page_text         text from data as the page shows it
templates/        HTML; assets/ plain CSS and JavaScript
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.history.folder import History
    from rankgauge.rag.retrieval_result import RetrievalResult
    from rankgauge.report.report import Report


def as_html(report: Report | Comparison | RetrievalResult | History) -> str:
    """Render a report, a comparison, the result of a live retriever, or a history as one self-contained HTML page.

    The same report gives the same bytes. A comparison needs its rankings: ``reading=Reading(keep_rankings=True)``.
    """
    from rankgauge.comparison.comparison_result import Comparison
    from rankgauge.config.settings import Settings
    from rankgauge.render.html.page import page
    from rankgauge.report.report import Report, report_of, report_of_comparison

    if not isinstance(report, Report):
        from rankgauge.history.folder import History
        from rankgauge.render.html.history_page import history_page

        if isinstance(report, History):
            return history_page(report)
        if isinstance(report, Comparison):
            return page(report_of_comparison(report))
        evaluation = replace(report.evaluation, scores=(report.scores.only(report.printed),))
        report = report_of(evaluation, Settings(), input_notes=report.answer_notes)
    return page(report)
