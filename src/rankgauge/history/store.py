"""The history of a project: one SQLite file with an entry for each saved result, such as the runs of an evaluation."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge._version import __version__
from rankgauge.comparison.comparability import depth_of
from rankgauge.core.formatting import listing
from rankgauge.core.hits import Hits
from rankgauge.core.result_views import HtmlView, ResultList
from rankgauge.core.run import Run
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, UsageError, nearest, printable, shown, warn_user
from rankgauge.evaluation.evaluate import AnyQrels, Evaluation
from rankgauge.evaluation.scores import Scores
from rankgauge.history.entries import (
    ALL_ENTRIES,
    LATEST,
    EntryFacts,
    EntryFilter,
    EntrySummary,
    SavedEntry,
    base_name,
    check_times,
    checked_tag,
    latest_time,
    parse_time,
    time_text,
)
from rankgauge.history.entry_codec import pack_contents, pack_labels, unpack_entry
from rankgauge.history.entry_columns import FactSources, check_summary, facts_of
from rankgauge.history.location import GitState, git_state, history_path, make_folder
from rankgauge.history.sql_tables import HISTORY_KIND, SELECTED, insert_entry, insert_labels, summary_of
from rankgauge.io.owned_databases import OwnedDatabase
from rankgauge.measures.names import MeasureNames, parse_measure

if TYPE_CHECKING:
    from rankgauge.comparison.change_parts import VersionComparison
    from rankgauge.comparison.gate.baseline import Baseline
    from rankgauge.comparison.statistics_options import Statistics
    from rankgauge.history.export_import import ImportedEntries
    from rankgauge.history.quality_checks import CheckOptions, QualityChange, QualityCheck
    from rankgauge.history.trends import Trend, TrendOptions
    from rankgauge.retrieval.latency import Cost

NEWEST_FIRST = "ORDER BY saved DESC, id DESC"
SET_BACK = timedelta(hours=1)  # by which a clock may be corrected
COVERAGE = "Judged@10"
DAMAGED_VALUES = (ValueError, KeyError, TypeError, IndexError, AttributeError, zlib.error)


class History(HtmlView):
    """Saved results in one file, which several processes may read and write at the same time.

    ``History.open()`` opens that of the project; entries are named by date and commit.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = OwnedDatabase(path, HISTORY_KIND)

    @classmethod
    def open(cls, path: str | Path | None = None, *, create: bool = True) -> History:
        """The history in a file, by default that of the project; with ``create=False`` it must exist."""
        file = history_path(path)
        if not file.exists():
            if not create:
                raise InputError(
                    f"no history at {printable(str(file), None)}",
                    hint="save a result with --save, or name another file with --history",
                )
            make_folder(file)
        return cls(file)

    def save(
        self,
        scores: Scores,
        qrels: AnyQrels | None = None,
        *,
        run: Run | None = None,
        facts: EntryFacts | None = None,
        date: datetime | None = None,
        git: GitState | None = None,
    ) -> EntrySummary:
        """Save the scores of one run; ``qrels`` are the judgments they were made with, and ``run`` is the run itself.

        With the judgments, later entries can be compared although labels were added; with the run, it can be scored
        again with later labels. ``date`` is that of the entry, if it is not now, and ``git`` the state of the
        repository, if it is not that of the working folder.
        """
        facts, git = facts or EntryFacts(), git or git_state()
        labels, content = _labels_of(scores, qrels)
        saved = self._time_of_next_entry() if date is None else time_text(date)
        if saved > latest_time():
            raise UsageError(
                f"an entry cannot be saved in the future, found {saved}", hint="check the date, or the clock"
            )
        if run is not None:
            scores = replace(scores, run_sha256=run.sha256)
        summary = EntrySummary(
            name=base_name(saved, git.commit),
            uid=uuid.uuid4().hex,
            saved=saved,
            system=scores.run,
            collection=scores.qrels,
            labels=labels,
            has_run=run is not None,
            facts=facts_of(FactSources(scores, facts, git, __version__)),
            tags=tuple(dict.fromkeys(map(checked_tag, facts.tags))),
        )
        packed = pack_contents(scores, run)
        with self.database.transaction() as connection:
            insert_labels(connection, labels, content)
            return insert_entry(connection, summary, *packed)

    def _time_of_next_entry(self) -> str:
        """The time now; or that of the newest entry, if the clock was set back since: the order is that of saving."""
        clock = datetime.now(UTC)
        now, latest_allowed = time_text(clock), time_text(clock + SET_BACK)
        for name, saved in self.database.query(f"SELECT name, saved FROM entries {NEWEST_FIRST} LIMIT 1"):
            time = printable(saved, None)
            if now < time <= latest_allowed:
                return time
            if time > latest_allowed:
                warn_user(f"the entry {printable(name, None)} is dated {time}, in the future: it stays the latest")
        return now

    def entries(
        self, filter: EntryFilter = ALL_ENTRIES, *, last: int | None = None, whole: bool = False
    ) -> list[EntrySummary]:
        """The entries without the values of their queries, oldest first; ``last`` keeps this many of the newest.

        ``whole`` checks everything that they say, not only what a listing needs.
        """
        where, values = filter.where()
        limit = "" if last is None else f" LIMIT {int(last)}"
        statement = f"SELECT {SELECTED} FROM entries {where} {NEWEST_FIRST}{limit}"
        rows = self.database.query(statement, values)
        summaries = self._summaries(rows, whole=whole)
        check_times(summaries)
        return ResultList(reversed(summaries))

    def latest(self, filter: EntryFilter = ALL_ENTRIES) -> list[EntrySummary]:
        """The newest entry of each collection, system and branch, in the order of these."""
        newest = {(entry.collection, entry.system, entry.git.branch or ""): entry for entry in self.entries(filter)}
        return ResultList(newest[key] for key in sorted(newest))

    def count(self, filter: EntryFilter = ALL_ENTRIES) -> int:
        """The number of entries."""
        where, values = filter.where()
        return int(self.database.query(f"SELECT count(*) FROM entries {where}", values)[0][0])

    def summary(self, name: str) -> EntrySummary:
        """An entry by its name, by ``latest``, or by a tag, which means the newest entry that has it."""
        select = f"SELECT {SELECTED} FROM entries"
        newest = f"{NEWEST_FIRST} LIMIT 1"
        rows = self.database.query(f"{select} WHERE name = ?", (name,))
        is_named = bool(rows)
        if not rows and name == LATEST:
            rows = self.database.query(f"{select} {newest}")
        if not rows:
            rows = self.database.query(f"{select} WHERE id IN (SELECT entry FROM tags WHERE tag = ?) {newest}", (name,))
        if not rows:
            raise self._unknown(name)
        (summary,) = self._summaries(rows, whole=True)
        if not is_named:  # so that one can be looked at, and deleted, by its name
            check_times([summary])
        return summary

    def entry(self, name: str) -> SavedEntry:
        """An entry with the values of its queries, its judgments and its run, as far as they were kept."""
        summary = self.summary(name)
        rows = self.database.query(
            "SELECT scores, run, labels.content FROM contents JOIN entries ON entries.id = entry "
            "LEFT JOIN labels ON labels.sha256 = entries.labels WHERE uid = ?",
            (summary.uid,),
        )
        try:
            return unpack_entry(summary, *rows[0])
        except DAMAGED_VALUES as error:
            raise self.database.broken(f"the entry {summary.name} is damaged: {error}") from error

    def compare(
        self,
        before: str,
        after: str = LATEST,
        measures: MeasureNames | None = None,
        *,
        statistics: Statistics | None = None,
        by: Sequence[str] = (),
    ) -> VersionComparison:
        """Compare an entry with a later one on the queries they share, although labels may have changed."""
        from rankgauge.comparison.change_parts import compare_versions

        older, newer = (self.entry(name).version for name in (before, after))
        return compare_versions(older, newer, measures, statistics=statistics, by=by)

    def trend(self, measure: str, filter: EntryFilter = ALL_ENTRIES, options: TrendOptions | None = None) -> Trend:
        """A measure over the entries of one system and collection, with intervals and change points."""
        from rankgauge.history.trends import trend_of

        return trend_of(self, measure, filter, options)

    def check(self, filter: EntryFilter = ALL_ENTRIES, options: CheckOptions | None = None) -> QualityCheck:
        """The recent change points of every system, collection and branch."""
        from rankgauge.history.quality_checks import check_quality

        return check_quality(self, filter, options)

    def unreported(self, changes: Sequence[QualityChange]) -> AbstractContextManager[list[QualityChange]]:
        """For ``with``: the changes that were not reported yet, which count as reported if the block succeeds."""
        from rankgauge.history.quality_checks import claimed_changes

        return claimed_changes(self, changes)

    def baseline(self, branch: str, filter: EntryFilter = ALL_ENTRIES, **options: Any) -> Baseline:
        """The mean since the last change point of a branch, and an anchor: for ``baseline`` of ``gate``."""
        from rankgauge.history.branch_baseline import branch_baseline

        return branch_baseline(self, replace(filter, branch=branch), **options)

    def tag(self, name: str, *tags: str, remove: bool = False) -> EntrySummary:
        """Add tags to an entry, or remove them."""
        checked = [checked_tag(tag) for tag in tags]
        uid = self.summary(name).uid
        statement = (
            "DELETE FROM tags WHERE entry = (SELECT id FROM entries WHERE uid = ?) AND tag = ?"
            if remove
            else "INSERT OR IGNORE INTO tags SELECT id, ? FROM entries WHERE uid = ?"
        )
        with self.database.transaction() as connection:
            connection.executemany(statement, [(uid, tag) if remove else (tag, uid) for tag in checked])
        rows = self.database.query(f"SELECT {SELECTED} FROM entries WHERE uid = ?", (uid,))
        return self._summaries(rows, whole=True)[0]

    def export(self, folder: str | Path, names: Sequence[str] = ()) -> list[Path]:
        """Write entries as JSON Lines, one file for each, and each version of the judgments once."""
        from rankgauge.history.export_import import export_entries

        return export_entries(self, Path(folder), names)

    def import_entries(self, *paths: str | Path) -> ImportedEntries:
        """Read exported entries, or folders of them; those that the history has already are left as they are."""
        from rankgauge.history.export_import import import_files

        return import_files(self, [Path(path) for path in paths])

    def prune(self, rule: PruneRule, *, dry_run: bool = False) -> list[EntrySummary]:
        """Delete old entries, or only their runs, and judgments that no entry needs any more; returns the entries."""
        return prune_entries(self, rule, dry_run=dry_run)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self.database.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"History({str(self.path)!r})"

    def _summaries(self, rows: Sequence[tuple[Any, ...]], *, whole: bool = False) -> list[EntrySummary]:
        """Rows of the table of entries, with the tags of each; checked as a whole, or only what a listing needs."""
        tags: dict[int, list[str]] = {}
        if rows:
            chosen = "" if len(rows) > 1 else f" WHERE entry = {int(rows[0][0])}"
            for number, tag in self.database.query(f"SELECT entry, tag FROM tags{chosen} ORDER BY tag"):
                tags.setdefault(number, []).append(tag.decode())
        try:
            summaries = [summary_of(row, tags.get(row[0], ())) for row in rows]
            for summary in summaries if whole else ():
                check_summary(summary)
            return summaries
        except DAMAGED_VALUES as error:
            raise self.database.broken(f"an entry is damaged: {error}") from error

    def _unknown(self, name: str) -> InputError:
        known = [row[0].decode() for row in self.database.query(f"SELECT name FROM entries {NEWEST_FIRST}")]
        if not known:
            return InputError(f"{printable(str(self.path), None)} has no entries", hint="save a result with --save")
        close = nearest(name, known)
        return InputError(
            f"no entry and no tag {shown(name)} in {printable(str(self.path), None)}; newest: {listing(known)}",
            hint=f"did you mean {close}?" if close else "`rankgauge history list` shows the entries",
        )


def saved_entry(name: str, path: str | Path | None = None) -> SavedEntry:
    """An entry of the history in a file, by default that of the project: its name, a tag, or ``latest``."""
    with History.open(path, create=False) as history:
        return history.entry(name)


def _labels_of(scores: Scores, qrels: AnyQrels | None) -> tuple[str, bytes | None]:
    """The hash and the content of the judgments behind scores."""
    from rankgauge.io.read import as_qrels

    if qrels is None:
        if scores.qrels_sha256 is None:
            raise UsageError("give the judgments with the scores: history.save(scores, qrels)")
        return scores.qrels_sha256, None
    judgments = as_qrels(qrels)
    seen = judgments if scores.qrels_sha256 == judgments.sha256 else scores.conventions.judgments(judgments)
    is_other = scores.qrels_sha256 not in (None, seen.sha256) or tuple(seen.queries.to_text()) != scores.queries
    if is_other:
        raise UsageError("the scores were made with other judgments than those that are given")
    return seen.sha256, pack_labels(seen)


@dataclass(frozen=True)
class SaveOptions:
    """What is said of all entries that are saved together."""

    facts: EntryFacts
    keep_run: bool = False
    date: datetime | None = None


def save_evaluation(
    history: History,
    evaluation: Evaluation,
    options: SaveOptions,
    *,
    costs: Mapping[str, Cost] | None = None,
    only: Sequence[int] | None = None,
) -> list[EntrySummary]:
    """Save the runs of an evaluation, or some of them; ``costs`` are by the names of the systems."""
    git = git_state()
    saved = []
    for index, scores in enumerate(evaluation.scores):
        if only is not None and index not in only:
            continue
        joined = evaluation.joined[index] if evaluation.joined else None
        facts = replace(
            options.facts,
            cost=(costs or {}).get(scores.run, options.facts.cost),
            coverage=None if joined is None else coverage_of(joined.hits),
            depth=None if joined is None else depth_of(joined.hits, joined.extras).documents,
        )
        run = joined.run if options.keep_run and joined is not None else None
        saved.append(history.save(scores, evaluation.qrels, run=run, facts=facts, date=options.date, git=git))
    return saved


def coverage_of(hits: Hits) -> float | None:
    """The mean share of the top 10 that is judged; None if there is no query."""
    values = parse_measure(COVERAGE)(hits) if len(hits) and hits.judgments == "grades" else np.zeros(0)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


# Which old entries are deleted. Entries with a tag stay, unless the rule says
# otherwise.

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class PruneRule:
    """Delete what is beyond the newest ``keep`` of each series, or was saved before a time; both if both are given.

    A series is a system on a collection and a branch.
    """

    keep: int | None = setting(
        None,
        "Keep the newest N entries of each system, collection and branch.",
        Section.ENTRIES,
        flag="--keep N",
        limits=">=0",
        common=True,
    )
    before: str | None = setting(
        None,
        "Delete only entries before TIME: 2026-01-01, or 90d.",
        Section.ENTRIES,
        flag="--before TIME",
        common=True,
    )
    names: tuple[str, ...] = ()  # or these entries
    filter: EntryFilter = ALL_ENTRIES
    tagged: bool = setting(False, "Delete entries with a tag too.", Section.ENTRIES, common=True)
    runs_only: bool = setting(False, "Delete only the stored runs, and keep the values.", Section.OUTPUT, common=True)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.before is not None:
            object.__setattr__(self, "before", time_text(parse_time(self.before)))
        if self.keep is None and self.before is None and not self.names:
            raise UsageError(
                "say what to delete: entries beyond the newest N, before a date, or by name",
                hint="--keep 100, --before 2026-01-01, or names of entries",
            )


def prune_entries(history: History, rule: PruneRule, *, dry_run: bool = False) -> list[EntrySummary]:
    """Delete entries, or only their runs; returns those that are affected, oldest first."""
    if dry_run:
        return _chosen(history, rule)
    with history.database.transaction() as connection:
        chosen = _chosen(history, rule)
        uids = [(entry.uid,) for entry in chosen]
        if rule.runs_only:
            entry = "(SELECT id FROM entries WHERE uid = ?)"
            connection.executemany(f"UPDATE contents SET run = NULL WHERE entry = {entry}", uids)
            connection.executemany("UPDATE entries SET has_run = 0 WHERE uid = ?", uids)
        else:
            connection.executemany("DELETE FROM entries WHERE uid = ?", uids)
            connection.execute("DELETE FROM labels WHERE sha256 NOT IN (SELECT labels FROM entries)")
    if chosen:
        history.database.compact()
    return chosen


def _chosen(history: History, rule: PruneRule) -> list[EntrySummary]:
    """The entries that a rule deletes."""
    if rule.names:
        named = {entry.uid: entry for entry in map(history.summary, rule.names)}
        chosen = sorted(named.values(), key=lambda entry: entry.saved)
    else:
        newer: dict[tuple[str, str, str | None], int] = {}
        chosen = []
        for entry in reversed(history.entries(rule.filter)):
            series = (entry.system, entry.collection, entry.git.branch)
            newer[series] = newer.get(series, 0) + 1
            is_beyond = rule.keep is None or newer[series] > rule.keep
            is_old = rule.before is None or entry.saved < rule.before
            if is_beyond and is_old and (rule.tagged or not entry.tags):
                chosen.insert(0, entry)
    return [entry for entry in chosen if entry.has_run or not rule.runs_only]
