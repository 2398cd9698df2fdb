"""The report page: answer, verdict, tables and charts, put into the template."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import jinja2
import numpy as np
from markupsafe import Markup

from rankgauge._version import __version__
from rankgauge.comparison.answer_sentences import best_sentences, headline, remarks
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.core.formatting import given, percent, plural, signed, text_of
from rankgauge.core.hits import Hits
from rankgauge.core.verdicts import DifferenceOutcome, difference_outcome
from rankgauge.evaluation.audit.ties import ties_of
from rankgauge.evaluation.audit.unjudged import can_audit_unjudged, top_grade, unjudged_of
from rankgauge.evaluation.caveats import POOL_DEPTH
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import ONE_GRADE, Measure
from rankgauge.render.document import Sentences, Tone
from rankgauge.render.documents.bands import uplift_lines, used
from rankgauge.render.documents.comparison import DIFFERENCE_TONES
from rankgauge.render.documents.gate import document, query_parts, verdict_sentence
from rankgauge.render.documents.scores import call_lines, correlation_lines, leak_lines
from rankgauge.render.formats.markdown import lines_of, text_of_line
from rankgauge.render.html.charts.boxes import group_charts
from rankgauge.render.html.charts.curves import cost_chart, cutoff_charts, recall_charts, threshold_charts
from rankgauge.render.html.charts.differences import averaged_values, axes_of, points_text, scatter, waterfall
from rankgauge.render.html.charts.drawing import Chart
from rankgauge.render.html.charts.ranges import judgment_charts, mean_charts
from rankgauge.render.html.page_systems import PageSystems, page_systems_of
from rankgauge.render.html.page_tables import (
    TONE_CLASSES,
    TONE_SIGNS,
    content,
    group_tables,
    page_cost_table,
    page_gate_tables,
    ranking_table,
    results_table,
    sensitivity_table,
)
from rankgauge.render.html.page_text import interval_text, measure_text, plain, plain_lines, shorten_end, shorten_middle
from rankgauge.render.html.payload import Payload
from rankgauge.render.html.payload_rankings import top_rankings
from rankgauge.report.report import NO_RELEVANT_DOCUMENT, Report
from rankgauge.stats.results import Interval

MAX_PAGE_BYTES = 440_000  # of a page with five systems and a thousand queries
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
MAX_SYSTEMS_NAMED = 6  # with their own coverage
SINGLE_SYSTEM_MEASURES = 4  # measures in the sentence of a system that is not compared
LOW_COVERAGE = 0.8  # below, unjudged documents could change an answer
COMMENT = re.compile(r"//.*|/\*(?:(?!\*/).)*\*/")  # a line of its own
DATA_PLACEHOLDER = "@@data@@"
DATA_ELEMENT = '<script type="text/plain" id="data">'
FILTERS = {
    "plain": plain,
    "plain_lines": plain_lines,
    "shorten_end": shorten_end,
    "shorten_middle": shorten_middle,
    "content": content,
    "signed": signed,
    "given": given,
    "plural": plural,
}


def page(report: Report) -> str:
    """Render the whole page."""
    page_systems = page_systems_of(report)
    values = {name: value for section in SECTIONS for name, value in section.values(report, page_systems).items()}
    frame = template("page.html").render(**values, **page_parts(), sections=SECTIONS)
    limit = MAX_PAGE_BYTES - len(frame.encode("utf-8"))
    return with_data(frame, _payload(report, page_systems).text(limit))


def page_contents(report: Report) -> Iterator[bytes]:
    """The data of a report's page before they are compressed, in every size that the page could have."""
    return _payload(report, page_systems_of(report)).contents()


def _payload(report: Report, page_systems: PageSystems) -> Payload:
    return Payload(report, page_systems, top_rankings(report, page_systems))


def page_parts(scripts: Sequence[str] = REPORT_SCRIPTS) -> dict[str, Any]:
    """The styles and scripts of a page, and the policy that allows exactly these; and a place for the data."""
    css, js = asset("page.css"), "".join(asset(name) for name in scripts)
    parts = {"policy": policy(css, js), "css": Markup(css), "js": Markup(js)}  # our own files
    return {**parts, "version": __version__, "data": DATA_PLACEHOLDER}


def with_data(frame: str, data: str) -> str:
    """A page with its data in their place."""
    before, after = frame.rsplit(DATA_PLACEHOLDER, 1)
    return before + data + after


def split_data(text: str) -> tuple[str, str]:
    """A page without its data, and the data."""
    before, mark, rest = text.rpartition(DATA_ELEMENT)
    data, end, after = rest.partition("<")
    return before + mark + end + after, data


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
        "gate_tables": page_gate_tables(report),
        "gate_queries": gate_queries(report),
        "gate_lines": gate_lines(report),
        "coverage": coverage_of(report),
        "confidence": percent(page_systems.confidence),
        "results": results_table(page_systems, tested, bands),
        "ranking": ranking_table(tested),
        "primary": scores[0].measures[0].shown,
        "group_tables": list(zip(report.by, group_tables(page_systems, report.by, tested), strict=True)),
        "remarks": [
            *([] if tested is None else remarks(tested)),
            *_answer_lines(report, scores, page_systems.confidence),
        ],
        "caveats": report.caveats,
        "conventions": str(scores[0].conventions),
        "family": None if tested is None else tested.family,
        "systems": page_systems.systems,
        "baseline": page_systems.systems[page_systems.baseline],
        "uplifts": uplift_lines(scores, report.bands, comparison),
        "failed": report.failed,
        "chunkings": report.chunkings,
    }


def _answer_lines(report: Report, scores: Sequence[Scores], confidence: float) -> list[str]:
    """How columns go with rankings, leaks, and what runs cost in tokens and money; a gate has these lines already."""
    if report.gate is not None:
        return []
    has_costs = any(run.extras is not None and (run.extras.tokens or run.extras.cost) for run in scores)
    lines = [*correlation_lines(scores, confidence), *leak_lines(scores)]
    return [*lines, *(call_lines(scores) if has_costs else [])]


def _chart_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    hits, ranked = [joined.hits for joined in report.joined], page_systems.ranked
    groups: dict[str, Iterable[Chart]] = {
        f"Means with {percent(page_systems.confidence)} confidence intervals": mean_charts(page_systems),
        "Scores by cutoff and recall": [
            *cutoff_charts(report.qrels, report.scores, hits, ranked),
            *recall_charts(report.scores, hits, ranked),
        ]
        if hits
        else [],
        "Answers and refusals": threshold_charts(report.scores, ranked, page_systems.confidence),
        "Distribution of scores by query group": group_charts(page_systems.scores, report.by, page_systems.systems),
    }
    return {
        "chart_groups": {heading: list(charts) for heading, charts in groups.items()},
        "cost_chart": cost_chart(report, ranked),
        "costs": page_cost_table(report, ranked),
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
    if not hits:
        return {"judgment_charts": [], "sensitivity": None}
    pairs = list(zip(report.scores, hits, strict=True))
    unjudged = []
    if all(can_audit_unjudged(scores.measures, run_hits) for scores, run_hits in pairs):
        unjudged = [unjudged_of(scores, run_hits, top_grade(report.qrels)) for scores, run_hits in pairs]
    ties = [ties_of(scores, run_hits) for scores, run_hits in pairs]
    return {
        "judgment_charts": list(judgment_charts(report.scores, hits, unjudged, ties, page_systems.ranked)),
        "sensitivity": sensitivity_table(unjudged, ties, page_systems.ranked),
    }


def _details_section(report: Report, page_systems: PageSystems) -> dict[str, Any]:
    manifest = report.manifest
    return {
        "validations": report.validations,
        "manifest": None if manifest is None else json.dumps(manifest, indent=2, ensure_ascii=False, default=str),
        "reproduce": report.reproduce,
    }


class PageSection(NamedTuple):
    """A section: its template and id, its title in the navigation, and the values that its template needs."""

    name: str
    title: str
    values: Callable[[Report, PageSystems], dict[str, Any]]


SECTIONS = (
    PageSection("answer", "Answer", _answer_section),
    PageSection("charts", "Charts", _chart_section),
    PageSection("queries", "Queries", _query_section),
    PageSection("judgments", "Coverage", _judgment_section),
    PageSection("details", "Details", _details_section),
)


@dataclass(frozen=True)
class PageAnswer:
    """The main sentences, secondary ones in smaller type, and between them the groups of systems."""

    sentences: tuple[str, ...]
    details: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()  # the systems like the best one, and those that are worse


def page_answer(report: Report, page_systems: PageSystems) -> PageAnswer:
    """The answer and what else to know, or a sentence for each system if nothing was compared."""
    comparison = report.comparison
    if report.gate is not None:
        return PageAnswer(tuple(map(text_of_line, verdict_sentence(report.gate).lines)))
    if report.scores[0].without_relevant.all():
        return PageAnswer((NO_RELEVANT_DOCUMENT,))
    if comparison is None:
        return PageAnswer(tuple(map(_values_sentence, page_systems.scores, page_systems.intervals)))
    first, *others = headline(comparison)
    best, *groups = best_sentences(comparison) if len(comparison.systems) > 1 else [first]
    return PageAnswer((best,), tuple(others), tuple(groups))


def _values_sentence(scores: Scores, intervals: Mapping[str, Interval]) -> str:
    values = []
    for measure in scores.measures[:SINGLE_SYSTEM_MEASURES]:
        interval = intervals[measure.name]
        ends = interval_text(interval)
        suffix = f" ({percent(interval.confidence)} CI {ends})" if ends else ""
        values.append(f"{measure.shown} {measure_text(measure, scores[measure])}{suffix}")
    return f"{scores.run}: {', '.join(values)}."


@dataclass(frozen=True)
class PageVerdict:
    """What was decided, in a word or two."""

    tone: Tone
    word: str

    @property
    def css(self) -> str:
        """The class of its color."""
        return TONE_CLASSES[self.tone]

    @property
    def label(self) -> str:
        """The word at the beginning of a line."""
        return f"{self.word[:1].upper()}{self.word[1:]}"

    @property
    def sign(self) -> str:
        """The verdict as a character."""
        return TONE_SIGNS[self.tone]


def page_verdict(report: Report) -> PageVerdict | None:
    """The verdict of the gate, or of the comparison on the first measure; None if neither was made."""
    if report.gate is not None:
        verdict = verdict_sentence(report.gate)
        return PageVerdict(verdict.tone, verdict.title)
    comparison = report.comparison
    if comparison is None or report.scores[0].without_relevant.all():
        return None
    return _of_two(comparison) if len(comparison.systems) == 1 else _of_many(comparison)


def _of_two(comparison: Comparison) -> PageVerdict:
    row = next(row for row in comparison.differences if row.measure == comparison.primary)
    outcome = row.outcome(comparison.alpha)
    return PageVerdict(DIFFERENCE_TONES.get(outcome, "neutral"), outcome)


def _of_many(comparison: Comparison) -> PageVerdict:
    """How many systems the best one beats, or how many are better or worse than the baseline: what the answer says."""
    ranking = comparison.ranking
    if ranking is not None:
        if not ranking.worse:
            return PageVerdict("neutral", _open_outcome(comparison))
        if not ranking.indistinguishable:
            return PageVerdict("better", "one best system")
        others = len(ranking.systems) - 1
        return PageVerdict("better", f"better than {len(ranking.worse)} of {others}")
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    outcomes = [row.comparative for row in rows if row.is_significant(comparison.alpha)]
    if not outcomes:
        return PageVerdict("neutral", _open_outcome(comparison))
    counts = [(word, outcomes.count(word)) for word in dict.fromkeys(outcomes)]
    text = ", ".join(f"{count} of {len(rows)} {word}" for word, count in counts)
    tone: Tone = "better" if "better" in outcomes else "worse" if "worse" in outcomes else "neutral"
    return PageVerdict(tone, f"{text} than {comparison.baseline}")


def _open_outcome(comparison: Comparison) -> DifferenceOutcome:
    """The word for several differences of which none is significant: undecided if none could have been."""
    rows = [row for row in comparison.differences if row.measure == comparison.primary]
    return difference_outcome(None, None, is_too_few=all(row.too_few_queries for row in rows))


def gate_lines(report: Report) -> list[str]:
    """What else the gate found, and how it tested; the page has the conventions already."""
    gate = report.gate
    if gate is None:
        return []
    listed = {part.title for part in query_parts(gate)}
    sentences = [part for part in document(gate).parts() if isinstance(part, Sentences) and part.role != "verdict"]
    blocks = [part for part in sentences if part.title not in listed]
    lines = [line for block in blocks for line in lines_of(block)]
    return lines if gate.reason is not None else lines[:-1]


def gate_queries(report: Report) -> list[tuple[str, list[str]]]:
    """The queries behind what failed or is undecided, each list with its title."""
    parts = [] if report.gate is None else query_parts(report.gate)
    return [(part.title, [*map(text_of_line, part.lines)]) for part in parts]


@dataclass(frozen=True)
class Coverage:
    """The judged share of the documents at the top of all systems, and of each."""

    share: float
    text: str
    is_low: bool


def coverage_of(report: Report) -> Coverage | None:
    """The judgment coverage of the first ranks; None if documents have no grades, or nothing was retrieved."""
    hits = [joined.hits for joined in report.joined]
    if report.qrels.judgments not in ONE_GRADE or not hits:
        return None
    counts = [_judged_and_retrieved(run_hits) for run_hits in hits]
    judged, retrieved = (sum(column) for column in zip(*counts, strict=True))
    if not retrieved:
        return None
    share = judged / retrieved
    text = f"{text_of(share, 'share')} of the documents in the top {POOL_DEPTH} are judged"
    shares = [text_of(own / all_of if all_of else None, "share") for own, all_of in counts]
    if 1 < len(shares) <= MAX_SYSTEMS_NAMED and len(set(shares)) > 1:
        text += f" ({', '.join(f'{name} {own}' for name, own in zip(report.names, shares, strict=True))})"
    return Coverage(share, text, share < LOW_COVERAGE)


def _judged_and_retrieved(hits: Hits) -> tuple[int, int]:
    top = hits.top(POOL_DEPTH)
    return int((top.grade >= 0).sum()), int(np.minimum(hits.retrieved, POOL_DEPTH).sum())


def comparatives(measure: Measure) -> tuple[str, str]:
    """What a positive and a negative improvement are called."""
    return ("better", "worse") if measure.definition.direction else ("higher", "lower")


def extremes(measure: Measure) -> tuple[str, str]:
    """What the first and the last of differences sorted by improvement are called."""
    return ("improvement", "decline") if measure.definition.direction else ("increase", "decrease")


@dataclass(frozen=True)
class SystemPair:
    """Two systems, query by query, on the first measure."""

    before: str
    after: str
    after_index: int
    measure: str
    order: str  # from which to which extreme the differences are sorted
    points: str  # what the points of the chart of scores are
    diagonal: str  # which side of the diagonal is which
    tally: str  # on how many queries the second is better
    axes: dict[str, Any]
    waterfall: Markup
    scatter: Markup


def system_pair(page_systems: PageSystems) -> SystemPair | None:
    """The charts of the baseline and the best other system; None if there is one system."""
    if len(page_systems.systems) < 2:
        return None
    scores, systems = page_systems.scores, (page_systems.baseline, page_systems.best)
    before, after = (page_systems.systems[index] for index in systems)
    values = (averaged_values(scores[systems[0]], 0), averaged_values(scores[systems[1]], 0))
    axes, measure, gaps = axes_of(scores, 0), scores[0].measures[0], values[1] - values[0]
    direction = measure.definition.direction
    improvements = gaps * (direction or 1)
    better, worse = comparatives(measure)
    counts = [int(np.sum(chosen)) for chosen in (improvements > 0, improvements < 0, improvements == 0)]
    tally = (
        f"{after.name} is {better} than {before.name} on {plural(counts[0], 'query')}, "
        f"{worse} on {counts[1]}, equal on {counts[2]}"
    )
    gain, loss = extremes(measure)
    return SystemPair(
        before=before.name,
        after=after.name,
        after_index=page_systems.best,
        measure=measure.shown,
        order=f"from the largest {gain} to the largest {loss}",
        points=points_text(int(np.sum(~np.isnan(gaps)))),
        diagonal=f"{'below' if direction < 0 else 'above'} the diagonal, {after.name} is {better}",
        tally=tally,
        axes=axes.to_dict(),
        waterfall=waterfall(gaps, direction, axes, f"{measure.shown}: {tally}"),
        scatter=scatter(values, (before, after), axes, f"{measure.shown}: {tally}"),
    )
