"""The HTML report: one self-contained file that makes no network requests.

page             fills the template with the parts of a report and with the hashes of its styles and scripts
page_systems     the systems on the page, each with its color
answer           the sentences at the top
result_table     the table of all systems on all measures
group_tables     the same in each group of queries
sensitivity_table  what unjudged documents and ties could change
marks            differences and the marks of significant ones
direction        whether a difference is better or worse
history_page     a history: leaderboard, trend_charts and the list of entries
charts/          one file per chart; inline SVG that needs no script
rankings         the tops of the rankings, with grades and contributions
payload          the data for the scripts, compressed; reduced if the page would become too large
templates/       HTML; assets/ plain CSS and JavaScript
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.comparison.result import Comparison
    from rankgauge.history.store import History
    from rankgauge.rag.results import RetrievalResult
    from rankgauge.report.report import Report


def as_html(report: Report | Comparison | RetrievalResult | History) -> str:
    """Render a report, a comparison, the result of a live retriever, or a history as one self-contained HTML page.

    The same report gives the same bytes. A comparison needs its rankings: ``reading=Reading(keep_rankings=True)``.
    """
    from rankgauge.comparison.result import Comparison
    from rankgauge.config.settings import Settings
    from rankgauge.render.html.page import page
    from rankgauge.report.building import report_of, report_of_comparison
    from rankgauge.report.report import Report

    if not isinstance(report, Report):
        from rankgauge.history.store import History
        from rankgauge.render.html.history_page import history_page

        if isinstance(report, History):
            return history_page(report)
        if isinstance(report, Comparison):
            return page(report_of_comparison(report))
        evaluation = replace(report.evaluation, scores=(report.scores.only(report.printed),))
        report = report_of(evaluation, Settings(), input_notes=report.answer_notes)
    return page(report)
