"""The parts of a report, put into the template."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from rankgauge._version import __version__
from rankgauge.comparison.remarks import remarks
from rankgauge.core.formatting import compact_number, given, percent, plural, signed, text_of
from rankgauge.evaluation.audit.ties import ties_of
from rankgauge.evaluation.audit.unjudged import can_audit_unjudged, top_grade, unjudged_of
from rankgauge.render.documents.bands import heading, uplift_lines, used
from rankgauge.render.html.answer import page_answer
from rankgauge.render.html.charts.cost import cost_chart
from rankgauge.render.html.charts.depth import cutoff_charts
from rankgauge.render.html.charts.groups import group_charts
from rankgauge.render.html.charts.judged import judgment_charts
from rankgauge.render.html.charts.means import mean_charts
from rankgauge.render.html.charts.recall import recall_charts
from rankgauge.render.html.coverage import coverage_of
from rankgauge.render.html.group_tables import group_tables
from rankgauge.render.html.page_systems import PageSystems, page_systems_of
from rankgauge.render.html.pair import system_pair
from rankgauge.render.html.payload import payload
from rankgauge.render.html.ranking_table import ranking_table
from rankgauge.render.html.rankings import top_rankings
from rankgauge.render.html.result_table import results
from rankgauge.render.html.sensitivity_table import sensitivity
from rankgauge.render.html.text import plain, plain_lines, shorten_end, shorten_middle
from rankgauge.render.html.verdict import gate_lines, gate_tables, page_verdict
from rankgauge.report.report import Report

MAX_PAGE_BYTES = 400_000  # of a page with five systems and a thousand queries
SHARED_SCRIPTS = ("theme.js", "unpack.js", "numbers.js", "dom.js", "picker.js")
REPORT_SCRIPTS = (
    *SHARED_SCRIPTS,
    "data.js",
    "tables.js",
    "plots.js",
    "ranking.js",
    "explorer.js",
    "links.js",
    "start.js",
)
MAX_NAMED_SYSTEMS = 12  # in the title
PAGE_TIE_SAMPLES = 200  # random orders if no formula gives the expected value
COMMENT = re.compile(r"//.*|/\*(?:(?!\*/).)*\*/")  # a line of its own
DATA_PLACEHOLDER = "@@data@@"
FILTERS = {
    "plain": plain,
    "plain_lines": plain_lines,
    "shorten_end": shorten_end,
    "shorten_middle": shorten_middle,
    "number": compact_number,
    "signed": signed,
    "given": given,
    "text": text_of,
    "plural": plural,
}


def page(report: Report) -> str:
    """Render the whole page."""
    page_systems = page_systems_of(report)
    frame = template("page.html").render(
        **_answer_section(report, page_systems),
        **_chart_section(report, page_systems),
        **_query_section(report, page_systems),
        **_judgment_section(report, page_systems),
        **_details_section(report),
        **page_parts(),
    )
    limit = MAX_PAGE_BYTES - len(frame.encode("utf-8"))
    return with_data(frame, payload(report, page_systems, top_rankings(report, page_systems), limit))


def page_parts(scripts: Sequence[str] = REPORT_SCRIPTS) -> dict[str, Any]:
    """The styles and scripts of a page, and the policy that allows exactly these; and a place for the data."""
    css, js = asset("page.css"), "".join(asset(name) for name in scripts)
    parts = {"policy": policy(css, js), "css": Markup(css), "js": Markup(js)}  # our own files
    return {**parts, "version": __version__, "data": DATA_PLACEHOLDER}


def with_data(frame: str, data: str) -> str:
    """A page with its data in their place."""
    before, after = frame.rsplit(DATA_PLACEHOLDER, 1)
    return before + data + after


def template(name: str) -> jinja2.Template:
    """One of our own templates."""
    return _environment().get_template(name)


@cache
def asset(name: str) -> str:
    """The content of one of our own files, without indentation and lines that are comments."""
    text = (files("rankgauge.render.html") / "assets" / name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not COMMENT.fullmatch(line))


def policy(css: str, js: str) -> str:
    """The Content-Security-Policy: exactly these styles and scripts, and nothing else from anywhere."""
    sources = {"default": "'none'", "script": f"'{fingerprint(js)}'", "style": f"'{fingerprint(css)}'"}
    rules = [f"{kind}-src {source}" for kind, source in sources.items()]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def fingerprint(text: str) -> str:
    """The hash of an element's content as it appears in a policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankgauge.render.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def _answer_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    """Title, answer and tables."""
    comparison, scores = report.comparison, page_systems.scores
    bands = used(scores, report.bands)
    names = [plain(system.name) for system in page_systems.systems]
    listed = f"{plural(len(names), 'system')}" + (f": {', '.join(names)}" if len(names) <= MAX_NAMED_SYSTEMS else "")
    # A gate has its own test: a second p and a second detectable difference of the same change would only confuse.
    tested = None if report.gate is not None else comparison
    return {
        "title": report.title,
        "heading": " · ".join(filter(None, [report.title, report.date, listed])),
        "facts": [
            *([] if report.date is None else [report.date]),
            listed,
            plural(int(scores[0].averaged.sum()), "query"),
            plural(len(report.qrels), "judgment"),
        ],
        "answer": page_answer(report, page_systems),
        "verdict": page_verdict(report),
        "gate_tables": gate_tables(report),
        "gate_lines": gate_lines(report),
        "coverage": coverage_of(report),
        "confidence": percent(page_systems.confidence),
        "correction": None if tested is None else tested.correction_label,
        "intervals": "" if tested is None else tested.statistics.intervals_of(max(tested.family_sizes)),
        "results": list(results(page_systems, tested, bands)),
        "ranking": ranking_table(tested),
        "group_tables": list(group_tables(scores, report.by, comparison)),
        "remarks": [] if tested is None else remarks(tested),
        "caveats": report.caveats,
        "conventions": str(scores[0].conventions),
        "family": None if tested is None else tested.family,
        "systems": page_systems.systems,
        "baseline": page_systems.systems[page_systems.baseline],
        "bands": None if bands is None else heading(bands),
        "uplifts": uplift_lines(scores, report.bands, comparison),
        "failed": report.failed,
        "chunkings": report.chunkings,
    }


def _chart_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    hits, ranked = [joined.hits for joined in report.joined], page_systems.ranked
    return {
        "mean_charts": list(mean_charts(page_systems)),
        "curve_charts": [
            *cutoff_charts(report.qrels, report.scores, hits, ranked),
            *recall_charts(report.scores, hits, ranked),
        ],
        "group_charts": list(group_charts(page_systems.scores, report.by, page_systems.systems)),
        "cost_chart": cost_chart(report, ranked),
        "costs": [(system, report.costs[system.name]) for system in ranked if system.name in report.costs],
    }


def _query_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    """The charts of single queries, and those that changed most: of the best system first."""
    pair, comparison = system_pair(page_systems), report.comparison
    changes = [] if comparison is None else [(system, moves) for system, moves in comparison.changes.items() if moves]
    return {
        "pair": pair,
        "changes": [] if pair is None else sorted(changes, key=lambda change: change[0] != pair.after),
        "texts": report.texts,
    }


def _judgment_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    hits = [joined.hits for joined in report.joined]
    pairs = list(zip(report.scores, hits, strict=True))
    unjudged = []
    if all(can_audit_unjudged(scores.measures, run_hits) for scores, run_hits in pairs):
        unjudged = [unjudged_of(scores, run_hits, top_grade(report.qrels)) for scores, run_hits in pairs]
    ties = [ties_of(scores, run_hits, samples=PAGE_TIE_SAMPLES) for scores, run_hits in pairs]
    return {
        "judgment_charts": list(judgment_charts(report.scores, hits, unjudged, ties, page_systems.ranked)),
        "sensitivity": list(sensitivity(unjudged, ties, page_systems.ranked)),
        "tied": any(audit.tied for audit in ties),
    }


def _details_section(report: Report) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "validations": report.validations,
        "manifest": None if manifest is None else json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
        "reproduce": report.reproduce,
    }
