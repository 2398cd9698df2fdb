"""The report's parts, put into the template."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from rankgauge._version import __version__
from rankgauge.comparison.remarks import remarks
from rankgauge.evaluation.audit.ties import ties_of
from rankgauge.evaluation.audit.unjudged import top_grade, unjudged_of
from rankgauge.render.html import tables
from rankgauge.render.html.answers import answer_of
from rankgauge.render.html.cast import Cast, cast_of
from rankgauge.render.html.figures.cost import quality_and_cost
from rankgauge.render.html.figures.depth import depths
from rankgauge.render.html.figures.differences import axes_of, scatter, shown_values, waterfall
from rankgauge.render.html.figures.groups import distributions
from rankgauge.render.html.figures.judged import judgments
from rankgauge.render.html.figures.means import means
from rankgauge.render.html.figures.recall import recall
from rankgauge.render.html.payload import payload
from rankgauge.render.html.rankings import tops_of
from rankgauge.render.html.text import block, many, number, percent, plain, short, size_of
from rankgauge.render.text.bands import heading, used
from rankgauge.report.report import Report

LARGEST = 600_000  # bytes of a page of five systems and a thousand queries
SCRIPTS = ("theme.js", "data.js", "dom.js", "plots.js", "ranking.js", "explorer.js", "start.js")
TIE_SAMPLES = 200  # orders that are drawn where no formula gives the expected value
HOLE = "@@data@@"


def page(report: Report) -> str:
    """The whole page."""
    cast = cast_of(report)
    css, js = asset("page.css"), "".join(asset(name) for name in SCRIPTS)
    frame = (
        _environment()
        .get_template("page.html")
        .render(
            **_head(report, cast),
            **_pictures(report, cast),
            **_judged(report, cast),
            **_end(report),
            policy=policy(css, js),
            css=Markup(css),  # our own files, of which the policy has the hashes
            js=Markup(js),
            data=HOLE,
        )
    )
    data = payload(report, cast, tops_of(report, cast), LARGEST - len(frame.encode("utf-8")))
    before, after = frame.rsplit(HOLE, 1)
    return before + data + after


@cache
def asset(name: str) -> str:
    """One of our own files."""
    return (files("rankgauge.render.html") / "assets" / name).read_text(encoding="utf-8")


def policy(css: str, js: str) -> str:
    """The Content-Security-Policy: these very styles and scripts, and nothing else from anywhere."""
    allowed = {"default": "'none'", "script": f"'{fingerprint(js)}'", "style": f"'{fingerprint(css)}'"}
    listed = [f"{kind}-src {what}" for kind, what in allowed.items()]
    return "; ".join([*listed, "base-uri 'none'", "form-action 'none'"])


def fingerprint(text: str) -> str:
    """The hash of an element's content as a policy has it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("rankgauge.render.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(plain=plain, short=short, block=block, number=number, size=size_of, many=many)
    return made


def _head(report: Report, cast: Cast) -> dict[str, Any]:
    """Title, answer and tables."""
    found, first = report.comparison, cast.scores[0]
    facts = [many(int(first.averaged.sum()), "query", "queries"), many(len(report.qrels), "judgment")]
    bands = used(cast.scores, report.bands)
    return {
        "title": report.title,
        "version": __version__,
        "facts": [*facts, many(len(cast.systems), "system")],
        "answer": answer_of(report),
        "verdict": report.verdict,
        "confidence": percent(cast.confidence),
        "correction": None if found is None else found.correction_label,
        "groups": list(tables.main(cast.scores, cast.systems, found, bands, cast.confidence)),
        "slices": list(tables.slices(cast.scores, report.by, found)),
        "remarks": [] if found is None else remarks(found),
        "notes": report.caveats,
        "conventions": str(first.conventions),
        "family": None if found is None else found.family,
        "systems": cast.systems,
        "baseline": cast.systems[cast.baseline],
        "bands": None if bands is None else heading(bands),
        "failed": report.failed,
    }


def _pictures(report: Report, cast: Cast) -> dict[str, Any]:
    hits = [one.hits for one in report.joined]
    pair = _pair(cast) if len(cast.systems) > 1 else None
    return {
        "means": list(means(cast.scores, cast.systems, cast.confidence)),
        "curves": list(depths(report.qrels, report.scores, hits, cast.ranked)),
        "spreads": [
            recall(report.scores, hits, cast.ranked),
            *distributions(cast.scores, report.by, cast.systems),
        ],
        "by": bool(report.by),
        "cost": quality_and_cost(report, cast.ranked),
        "costs": [(system, report.costs[system.name]) for system in cast.ranked if system.name in report.costs],
        "pair": pair,
        "moved": [] if pair is None else _moved(report, pair["names"][1]),
        "texts": report.texts,
    }


def _pair(cast: Cast) -> dict[str, Any]:
    """The first pair that is shown: the baseline and the best of the others."""
    before, after = cast.baseline, cast.best
    one, other = shown_values(cast.scores[before], 0), shown_values(cast.scores[after], 0)
    axes, names = axes_of(cast.scores, 0), (cast.systems[before].name, cast.systems[after].name)
    gaps = other - one
    higher, lower, same = (int(np.sum(chosen)) for chosen in (gaps > 0, gaps < 0, gaps == 0))
    counted = f"in {many(higher, 'query', 'queries')}, lower in {lower}, equal in {same}"
    words = f"{names[1]} is higher than {names[0]} {counted}"
    measure = cast.scores[0].measures[0].name
    return {
        "after": after,
        "names": names,
        "measure": measure,
        "axes": axes.to_dict(),
        "waterfall": waterfall(gaps, axes, f"{measure}: {words}"),
        "scatter": scatter(one, other, names, axes, cast.systems[after].colour, f"{measure}: {words}"),
        "words": words,
    }


def _moved(report: Report, best: str) -> list[dict[str, Any]]:
    """The queries that moved most, with the documents that moved them: of the best system first."""
    found = report.comparison
    if found is None:
        return []
    moved = [{"system": system, "queries": listed} for system, listed in found.changes.items() if listed]
    return sorted(moved, key=lambda one: one["system"] != best)


def _judged(report: Report, cast: Cast) -> dict[str, Any]:
    hits = [one.hits for one in report.joined]
    pairs = list(zip(report.scores, hits, strict=True))
    unjudged = [unjudged_of(scores, each, top_grade(report.qrels)) for scores, each in pairs]
    ties = [ties_of(scores, each, samples=TIE_SAMPLES) for scores, each in pairs]
    return {
        "judged": list(judgments(report.scores, hits, unjudged, ties, cast.ranked)),
        "trust": list(tables.trust(unjudged, ties, cast.ranked)),
        "tied": any(audit.tied for audit in ties),
    }


def _end(report: Report) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "validations": report.validations,
        "manifest": None if manifest is None else json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
        "reproduce": report.reproduce,
    }
