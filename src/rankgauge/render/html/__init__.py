"""The page: one file that holds everything, and asks nobody for anything.

page             the report's parts, put into the template with the hashes of its styles and scripts
figures/         one file a picture; inline SVG that needs no script
tables           rows of text for the tables
rankings         the tops of the rankings, with grades and shares
payload          what the scripts look into, packed; less of it where a page would grow too large
templates/       HTML; assets/ plain CSS and JavaScript
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.report.report import Report


def as_html(report: Report) -> str:
    """The report as one self-contained page. The same report gives the same bytes."""
    from rankgauge.render.html.page import page

    return page(report)
