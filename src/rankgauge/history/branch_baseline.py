"""A baseline for a gate from the entries of a branch: the mean since the last change point, and an anchor beside it.

The mean of several entries has less luck of its own than one of them. If the last change was long ago, it follows a
slow decline, each step of which is too small to be seen; the anchor does not: the newest entry with the tag ``anchor``,
or the first of the branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.comparison.comparability import ResultFacts
from rankgauge.comparison.gate.baseline import Baseline, BaselineRun, ranks_of, storable_judgments
from rankgauge.config.settings import HISTORY_PREFIX
from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.errors import InputError, UsageError, held_warnings, shown
from rankgauge.history.entries import EntryFilter, SavedEntry
from rankgauge.history.location import git_state
from rankgauge.history.trends import EntrySeries, one_system, series_of
from rankgauge.io.pipeline.parallel import join_each
from rankgauge.io.reading_options import Reading

if TYPE_CHECKING:
    from rankgauge.history.store import History

ANCHOR = "anchor"
LAST_ENTRIES = 50  # the newest entries of a branch among which the last change is looked for


def parse_reference(text: str) -> EntryFilter:
    """``history:main`` or ``history:main:SYSTEM``; no branch of git has a colon in its name."""
    branch, _, system = text.removeprefix(HISTORY_PREFIX).partition(":")
    if not branch:
        raise UsageError(f"{shown(text)} names no branch", hint="write history:main, or history:main:SYSTEM")
    return EntryFilter(branch=branch, system=system or None)


def branch_baseline(
    history: History, filter: EntryFilter, measures: Sequence[str] = (), *, alpha: float = 0.05, seed: int = 0
) -> Baseline:
    """The baseline of a branch; change points of ``measures``, by default all that the newest entry has.

    Entries of the commit that is checked out are left out, unless there are no others: a build is not its own baseline.
    """
    summaries = one_system(history.entries(filter), filter)
    commit = git_state().commit
    others = [entry for entry in summaries if commit is None or entry.git.commit != commit] or [*summaries]
    loaded = series_of(history, others[-LAST_ENTRIES:])
    names = [*(measures or [measure.name for measure in (loaded.scores[-1].measures)])]
    start = 0
    for name in names:
        found = loaded.changes(loaded.values(name), alpha / len(names), loaded.units, seed)
        start = max(start, loaded.commits[found.segments[-1]][0])
    recent = range(start, len(loaded.entries))
    source = f"{HISTORY_PREFIX}{filter.branch}"
    baseline = _baseline(loaded, recent, source)
    tagged = [entry for entry in others if ANCHOR in entry.tags]
    anchor = (tagged or others)[-1 if tagged else 0]
    names_used = [loaded.entries[index].name for index in recent]
    since = f"baseline: mean of {plural(len(baseline.runs), 'entry')} of {filter.branch}, since {names_used[0]}"
    if [anchor.name] == names_used:
        return replace(baseline, description=f"{since}; it is the anchor too")
    fixed = series_of(history, [anchor])
    kind = f"tag {ANCHOR}" if tagged else "the first entry"
    return replace(
        baseline,
        anchor=_baseline(fixed, range(1), source),
        description=f"{since}; anchor: {anchor.name} ({kind})",
    )


def _baseline(loaded: EntrySeries, indices: Sequence[int], source: str) -> Baseline:
    """The mean of some entries, over the queries and measures that all of them have."""
    newest = loaded.entries[-1]
    usable = [index for index in indices if loaded.comparable[index] is None] or [indices[-1]]
    scores = [loaded.scores[index] for index in usable]
    shared = set.intersection(*({measure.name for measure in own.measures} for own in scores))
    names = tuple(measure.name for measure in scores[-1].measures if measure.name in shared)
    if not names:
        raise InputError(f"the entries of {source} share no measure", hint="save entries with the same measures")
    averaged = [{own.queries[row] for row in np.flatnonzero(own.averaged).tolist()} for own in scores]
    queries = tuple(query for query in scores[-1].queries if all(query in own for own in averaged))
    runs = []
    for index, own in zip(usable, scores, strict=True):
        row_of = {query: row for row, query in enumerate(own.queries)}
        chosen = own.only(list(names))
        entry = loaded.entries[index]
        retrieved, facts = _results(entry, newest.qrels, own.conventions.compat)
        runs.append(
            BaselineRun(
                entry.name,
                entry.summary.facts["run_sha256"],
                chosen.values[[row_of[query] for query in queries]],
                {query: retrieved[query] for query in queries if query in retrieved},
                chosen.to_dict(per_query=True),
                entry.run,
                facts,
            )
        )
    return Baseline(
        source=source,
        qrels=newest.summary.collection,
        qrels_sha256=newest.summary.labels,
        conventions=scores[-1].conventions.to_dict(),
        measures=names,
        queries=queries,
        runs=tuple(runs),
        judged_queries=len(scores[-1]),
        judgments=None if newest.qrels is None else storable_judgments(newest.qrels),
    )


def _results(entry: SavedEntry, qrels: Qrels | None, compat: Compat) -> tuple[dict[str, dict[str, int]], ResultFacts]:
    """The judged documents that an entry retrieved, by query, and how its results were collected.

    Only their depth is known if its run was not kept.
    """
    depth = entry.summary.facts["depth"]
    if entry.run is None or qrels is None:
        return {}, ResultFacts(depth)
    with held_warnings():  # they were issued when it was saved
        joined = join_each(qrels, [entry.run], Reading(), compat)[0]
    facts = ResultFacts.of(joined)
    return ranks_of(joined.hits, qrels), facts if depth is None else replace(facts, depth=depth)
