"""The tables of the page, as rows of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.comparison.remarks import group_remarks
from rankgauge.comparison.result import Comparison, Difference, GroupDifference
from rankgauge.comparison.sentences import least_sensitive, span_text
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import p_value
from rankgauge.evaluation.audit.ties import TieAudit
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit
from rankgauge.evaluation.scores import Scores
from rankgauge.evaluation.slices import Slice
from rankgauge.measures.spec import Measure
from rankgauge.render.html.figures.forest import forest, reach
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import NONE, between, number, value_of
from rankgauge.render.text.bands import bands_of
from rankgauge.render.text.grid import BETTER
from rankgauge.render.text.scores import best_of


@dataclass(frozen=True)
class Against:
    """A system's difference from the baseline."""

    difference: str
    interval: str
    p: str
    mark: str  # a sign where it is more than luck
    said: str  # the sign in a word
    tally: str
    forest: Markup


@dataclass(frozen=True)
class Row:
    """One system on one measure."""

    system: System
    value: str
    interval: str
    best: bool
    band: str | None
    against: Against | None  # None for the baseline, and where nothing was compared


@dataclass(frozen=True)
class Group:
    """All systems on one measure."""

    measure: Measure
    queries: int
    rows: tuple[Row, ...]
    detectable: str | None  # the smallest difference that these queries would have shown
    apart: bool  # whether differences are over fewer queries than values


def main(
    scores: Sequence[Scores],
    systems: Sequence[System],
    found: Comparison | None,
    bands: Bands | None,
    confidence: float,
) -> Iterator[Group]:
    """The table below the answer."""
    reached = [{} if bands is None else bands_of(one, bands) for one in scores]
    for measure in scores[0].measures:
        differences = [] if found is None else [row for row in found.differences if row.measure == measure.name]
        most = reach(differences)
        apart = found is not None and found.has_unpaired_queries(measure.name)
        best = None if apart else best_of(measure, [one[measure] for one in scores])
        rows = []
        for one, system, band in zip(scores, systems, reached, strict=True):
            row = next((row for row in differences if row.system == one.run), None)
            against = None if row is None or found is None else against_of(found, row, most, system)
            interval, value = between(one.interval(measure, confidence=confidence)), one[measure]
            is_best = value is not None and value == best
            rows.append(Row(system, value_of(measure, value), interval, is_best, band.get(measure.name), against))
        seen = None if apart else least_sensitive(differences)
        shown = None if seen is None else seen.text(seen.detectable or 0.0).removeprefix("+")
        queries = max(one.over_queries[measure.name][1] for one in scores)
        yield Group(measure, queries, tuple(rows), shown, apart)


def against_of(found: Comparison, row: Difference, most: float, system: System) -> Against:
    """A difference as text."""
    sign, said = _sign(found, row)
    return Against(
        difference=NONE if row.difference is None else row.text(row.difference),
        interval=span_text(row.interval, row),
        p=p_value(row.p_corrected),
        mark=sign,
        said=said,
        tally=f"{row.effect.wins}/{row.effect.ties}/{row.effect.losses}",
        forest=forest(row, most, system.colour),
    )


def _sign(found: Comparison, row: Difference) -> tuple[str, str]:
    """A sign where the difference is more than luck, and the same in a word."""
    sign = row.mark(found.alpha)
    return sign, "" if not sign else "better" if sign == BETTER else "worse"


@dataclass(frozen=True)
class SliceCell:
    """One system in one group."""

    value: str
    difference: str = ""
    mark: str = ""
    said: str = ""
    against: bool = False  # whether it points the other way than all queries together


@dataclass(frozen=True)
class SliceTable:
    """One measure over the groups of one column."""

    by: str
    measure: str
    rows: tuple[tuple[str, int, tuple[SliceCell, ...]], ...]
    left_out: int
    said: tuple[str, ...]  # whether groups differ


MOST_GROUPS = 20
MOST_TABLES = 8


def slices(scores: Sequence[Scores], by: Sequence[str], found: Comparison | None) -> Iterator[list[SliceTable]]:
    """For each column its tables, the first measure's first."""
    for column in by:
        groups = [one.by(column) for one in scores]
        yield [
            _slice_table(column, measure.name, scores, groups, found) for measure in scores[0].measures[:MOST_TABLES]
        ]


def _slice_table(
    by: str, measure: str, scores: Sequence[Scores], groups: Sequence[Sequence[Slice]], found: Comparison | None
) -> SliceTable:
    means = [{one.label: one for one in listed if one.measure == measure} for listed in groups]
    largest = sorted(means[0], key=lambda label: (-means[0][label].n, label))
    shown = sorted(largest[:MOST_GROUPS])
    differences = {
        (row.label, row.difference.system): row
        for row in (() if found is None else found.groups)
        if (row.by, row.difference.measure) == (by, measure)
    }
    rows = []
    for label in shown:
        cells = [
            _slice_cell(found, differences.get((label, one.run)), mean[label].mean)
            for one, mean in zip(scores, means, strict=True)
        ]
        rows.append((label, max(mean[label].n for mean in means), tuple(cells)))
    said = () if found is None else tuple(group_remarks(found, by, measure))
    return SliceTable(by, measure, tuple(rows), len(largest) - len(shown), said)


def _slice_cell(found: Comparison | None, row: GroupDifference | None, mean: float | None) -> SliceCell:
    if found is None or row is None:
        return SliceCell(number(mean))
    gap = row.difference.difference
    said = NONE if gap is None else row.difference.text(gap)
    return SliceCell(number(mean), said, *_sign(found, row.difference), row.opposite)


@dataclass(frozen=True)
class Trust:
    """What one value could be, were other documents judged or ties broken otherwise."""

    measure: str
    system: System
    value: str
    judged: str
    irrelevant: str
    relevant: str
    left_out: str
    bounds: bool
    worst: str
    best: str


def trust(unjudged: Sequence[UnjudgedAudit], ties: Sequence[TieAudit], systems: Sequence[System]) -> Iterator[Trust]:
    """The table of both audits, by measure."""
    for place, measure in enumerate(ties[0].scores.measures):
        for open_, tied, system in zip(unjudged, ties, systems, strict=True):
            one, order = open_.measures[place], tied.measures[place]
            yield Trust(
                measure=measure.name,
                system=system,
                value=value_of(measure, order.reported.over_queries),
                judged=number(one.judged.over_queries),
                irrelevant=value_of(measure, one.irrelevant.over_queries),
                relevant=value_of(measure, one.relevant.over_queries),
                left_out=value_of(measure, one.condensed.over_queries),
                bounds=one.bounds,
                worst=value_of(measure, order.worst.over_queries),
                best=value_of(measure, order.best.over_queries),
            )
