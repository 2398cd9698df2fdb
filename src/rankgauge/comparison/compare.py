"""Compare systems with a baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.comparison.comparability import (
    Incomparable,
    NamedFacts,
    ResultFacts,
    comparability_notes,
    not_comparable,
)
from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.difference_families import (
    Family,
    describe_families,
    family_sizes,
    group_differences,
)
from rankgauge.comparison.differences import Difference, Pair, shared_queries
from rankgauge.comparison.document_changes import QueryChange, explain
from rankgauge.comparison.statistics_options import LARGEST_CHANGES, Statistics
from rankgauge.comparison.system_ranking import compared_families, family_scope
from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, nearest
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, evaluate_runs
from rankgauge.evaluation.scores import Scores, best_first
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import can_be_scores, check_runs
from rankgauge.measures.names import MeasureNames

AnyBaseline = str | int  # the name or the index of a run


def compare(
    qrels: AnyQrels,
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    measures: MeasureNames | None = None,
    *,
    baseline: AnyBaseline | None = None,
    statistics: Statistics | None = None,
    conventions: Conventions | None = None,
    by: Sequence[str] = (),
    queries: Any = None,
    changes: int = LARGEST_CHANGES,
    reading: Reading | None = None,
) -> Comparison:
    """Compare runs with one of them, or all pairs of them.

    ``runs`` are as for ``evaluate``, or a dict of name to run. ``baseline`` is the name or the index of one. Without
    it, all pairs of systems are compared on the first measure, and differences are shown from the first run; of more
    than 40 systems, each is compared with the best. ``by`` names columns of the queries to group by; ``queries`` is a
    file with such columns and with the queries' texts. ``changes`` is the
    number of queries, each way, for which the documents behind a change are listed.
    """
    evaluation = evaluate_systems(
        qrels, runs, measures, conventions=conventions, reading=reading, queries=queries, fewest=2
    )
    return compare_evaluation(evaluation, baseline, statistics=statistics, by=by, changes=changes)


def evaluate_systems(
    qrels: AnyQrels,
    runs: Sequence[AnyRun] | Mapping[str, AnyRun],
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    queries: Any = None,
    fewest: int = 1,
) -> Evaluation:
    """Score runs under names of their own: those of a dict, else their own, numbered if two are the same."""
    if not isinstance(runs, Mapping):
        check_runs(runs)
    names, listed = (list(runs), list(runs.values())) if isinstance(runs, Mapping) else (None, list(runs))
    is_table = len(listed) == 1 and isinstance(listed[0], (str, Path))  # which may hold several runs
    check_enough(len(listed) + is_table + can_be_scores(qrels), fewest)  # scores in place of labels are a system
    evaluation = evaluate_runs(qrels, listed, measures, conventions=conventions, reading=reading, queries=queries)
    check_enough(len(evaluation.scores), fewest)
    if names is not None and len(names) != len(evaluation.scores):
        raise InputError(
            f"expected one run for each of {len(names)} names, found {len(evaluation.scores)} runs",
            hint="a file with a column of run names goes into a list of runs, not into a dict",
        )
    return evaluation if names is None else evaluation.renamed(names)


def check_enough(runs: int, fewest: int) -> None:
    """Raise if there are too few runs to compare."""
    if runs < fewest:
        raise UsageError(
            f"a comparison needs at least two runs, found {runs}",
            hint="rankgauge compare qrels.txt before.run after.run" if runs else None,
        )


def compare_evaluation(
    evaluation: Evaluation,
    baseline: AnyBaseline | None = None,
    *,
    statistics: Statistics | None = None,
    by: Sequence[str] = (),
    changes: int = LARGEST_CHANGES,
) -> Comparison:
    """Compare runs that are scored already, each under a name of its own, as ``compare`` does."""
    statistics = statistics or Statistics()
    scores = list(evaluation.scores)
    joins: list[Joined | None] = [*evaluation.joined] or [None] * len(scores)
    facts = [
        ResultFacts.of_scores(run) if join is None else ResultFacts.of(join)
        for run, join in zip(scores, joins, strict=True)
    ]
    names = [run.run for run in scores]
    scope = family_scope(len(scores), statistics, is_chosen=baseline is not None)
    if scope == "best":
        baseline = best_first(scores, scores[0].measures[0])[0].run
    base = _baseline_index(names, baseline or 0)
    sides = [NamedFacts(name, one) for name, one in zip(names, facts, strict=True)]
    others = [index for index in range(len(names)) if index != base]
    pairs = [Pair(scores[at], scores[base], statistics, _problems(scores[at], sides, at, base)) for at in others]
    if scope == "all pairs" and any(pair.problems for pair in pairs):
        scope = "baseline"  # systems that cannot be compared with each other have no order
    depths = [note for at in others for note in comparability_notes(scores[at].measures, sides[at], sides[base])]
    families, ranking = compared_families(pairs, scores, scope, statistics)
    differences = _by_system(pairs, families)
    groups = {column: group_differences(pairs, differences, column, statistics) for column in by}
    return Comparison(
        scores=tuple(scores),
        names=tuple(names),
        baseline=names[base],
        differences=tuple(differences),
        statistics=statistics,
        scope=scope,
        family=describe_families(families, statistics),
        family_sizes=family_sizes(families),
        ranking=ranking,
        groups=tuple(row for rows, _ in groups.values() for row in rows),
        group_families={column: description for column, (_, description) in groups.items()},
        evaluation=evaluation if all(join is None or join.shown is not None for join in joins) else None,
        changes=_largest_changes(evaluation.qrels, joins, pairs, base, changes) if changes else {},
        texts=dict(evaluation.texts),
        notes=(*_notes(pairs, differences), *depths),
    )


def _problems(system: Scores, sides: Sequence[NamedFacts], at: int, base: int) -> dict[int, Incomparable]:
    """The measures on which a system cannot be compared with the baseline, by column, each with the reason."""
    reasons = [not_comparable(measure, sides[at], sides[base]) for measure in system.measures]
    return {column: reason for column, reason in enumerate(reasons) if reason is not None}


def _notes(pairs: Sequence[Pair], differences: Sequence[Difference]) -> Iterator[Note]:
    """What to know before trusting the differences."""
    for pair in pairs:
        yield from pair.notes()
    for row in differences:
        if row.caveat:
            yield Note("skewness", f"{row.system} on {row.shown}: {row.caveat}")


def _by_system(pairs: Sequence[Pair], families: Sequence[Family]) -> list[Difference]:
    """The differences of all families: each system's, with its measures in their order."""
    order = {measure.name: place for place, measure in enumerate(pairs[0].system.measures)}
    names = [pair.name for pair in pairs]
    rows = [row for family in families for row in family.rows]
    return sorted(rows, key=lambda row: (names.index(row.system), order[row.measure]))


def _baseline_index(names: Sequence[str], baseline: AnyBaseline) -> int:
    if isinstance(baseline, int) and -len(names) <= baseline < len(names):
        return baseline % len(names)
    if baseline in names:
        return list(names).index(str(baseline))
    close = nearest(str(baseline), list(names))
    raise UsageError(
        f"no run is called '{baseline}'; there are {', '.join(names)}", hint=f"did you mean {close}?" if close else None
    )


def _largest_changes(
    qrels: Qrels, joins: Sequence[Joined | None], pairs: Sequence[Pair], base: int, limit: int
) -> dict[str, tuple[QueryChange, ...]]:
    """For each system the largest changes on the first measure, and the documents behind them if they are known."""
    out = {}
    before, others = joins[base], [join for index, join in enumerate(joins) if index != base]
    for pair, after in zip(pairs, others, strict=True):
        measure = pair.system.measures[0]
        if 0 in pair.problems:
            continue
        shared = shared_queries(pair.system, pair.baseline, [0])
        differences = np.where(shared, pair.system.values[:, 0] - pair.baseline.values[:, 0], 0.0)
        improvement = differences * (measure.definition.direction or 1)
        gains = [row for row in np.argsort(-improvement, kind="stable")[:limit].tolist() if improvement[row] > 0]
        losses = [row for row in np.argsort(improvement, kind="stable")[:limit].tolist() if improvement[row] < 0]
        out[pair.name] = tuple(
            QueryChange(pair.baseline.queries[row], float(differences[row]), (), float(differences[row]))
            if before is None or after is None or measure.definition.needs_answers
            else explain(measure, qrels, before.hits, after.hits, row)
            for row in [*gains, *losses]
        )
    return out
