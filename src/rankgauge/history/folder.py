"""The history of a project: a folder with a file of scores for each saved result, and perhaps its log beside it.

A file is written under a temporary name and renamed, so that savers need no lock and a reader sees whole files.
Copying, deleting and sharing entries are ``cp``, ``rm`` and ``git``.
"""

from __future__ import annotations

import gzip
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge._version import __version__
from rankgauge.core.formatting import listing, plural
from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView, ResultList
from rankgauge.core.run import Run
from rankgauge.errors import InputError, UsageError, printable, shown, warn_user
from rankgauge.evaluation.evaluate import Evaluation
from rankgauge.evaluation.scores import Scores, none_if_nan
from rankgauge.history.entries import (
    ALL_ENTRIES,
    ENDING,
    LOG_ENDING,
    EntryFacts,
    EntryFilter,
    EntrySummary,
    SavedEntry,
    count_queries,
    means_with_intervals,
    time_text,
)
from rankgauge.history.entry_files import read_entry, read_summary
from rankgauge.history.location import GitState, git_state, history_folder
from rankgauge.io.atomic_files import check_writable, write_atomically
from rankgauge.io.formats.json_text import plain_json
from rankgauge.io.formats.log_writer import write_log
from rankgauge.io.formats.score_tables import NOT_ASKED, SCORES_SCHEMA
from rankgauge.io.owned_files import temporary_folder
from rankgauge.measures.names import parse_measure

if TYPE_CHECKING:
    from rankgauge.history.quality_checks import CheckOptions, QualityCheck
    from rankgauge.history.trends import Trend, TrendOptions
    from rankgauge.retrieval.latency import Cost

ENTRY_SCHEMA = f"{SCORES_SCHEMA}1"
LATEST = "latest"
HISTORY = "history:"
OLD_FILE = "history.db"
SET_BACK = timedelta(hours=1)  # by which a clock may be corrected
AHEAD = timedelta(days=1)  # by which the clock of another machine may be ahead
COVERAGE = "Judged@10"
NAMED = 3
FILE_ENDINGS = frozenset("jsonl ndjson json csv tsv txt trec run res parquet arrow yaml yml gz bz2 xz zst log".split())
UNSAFE = re.compile(r"[^\w.+=@-]+|^[.-]+")
DATE = re.compile(
    r"[-_. ]?\d{4}[-_.]?(0[1-9]|1[0-2])[-_.]?([0-2]\d|3[01])([T_-]?\d{2}[-:h]?\d{2}([-:m]?\d{2})?Z?)?(?!\d)"
)
ORPHAN_SECONDS = 3600  # a log without its entry may be one that is being saved until then


class History(HtmlView):
    """Saved results in one folder; ``History.open()`` opens that of the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"History({str(self.folder)!r})"

    @classmethod
    def open(cls, folder: str | Path | None = None, *, create: bool = True) -> History:
        """The history in a folder, by default that of the project; with ``create=False`` it must exist."""
        path = history_folder(folder)
        check_no_database(path)
        if path.exists() and not path.is_dir():
            raise InputError.at(str(path), None, "a history is a folder of files, and this is a file")
        if not path.exists() and not create:
            raise InputError(
                f"no history at {printable(str(path), None)}",
                hint="save a result with --save, or name another folder with --history",
            )
        return cls(path)

    def check_writable(self) -> None:
        """Raise if no entry can be saved; nothing is created."""
        parents = (self.folder, *self.folder.absolute().parents)
        existing = next(folder for folder in parents if folder.exists())
        check_writable(existing / f"entry{ENDING}")

    def save(
        self,
        scores: Scores,
        *,
        facts: EntryFacts | None = None,
        names: EntryNames | None = None,
        date: datetime | None = None,
        git: GitState | None = None,
        log: Callable[[str], bytes] | None = None,
    ) -> EntrySummary:
        """Save the scores of one run; ``date`` is that of the entry, if it is not now, ``log`` writes that of a system.

        The log is written first: an entry is never without the log that it was saved with.
        """
        facts, git, names = facts or EntryFacts(), git or git_state(), names or EntryNames()
        system, collection = names.system or system_name(scores.run), names.collection or without_date(scores.qrels)
        saved = self._time_of_next_entry() if date is None else time_text(date)
        if saved > time_text(datetime.now(UTC) + AHEAD):
            raise UsageError(
                f"an entry cannot be saved in the future, found {saved}", hint="check the date, or the clock"
            )
        header = {
            "schema": ENTRY_SCHEMA,
            "saved": saved,
            "written": time.time_ns(),
            "system": system,
            "collection": collection,
            "labels": "" if scores.labels is None else labels_version(scores.labels.of_query),
            "git": asdict(git),
            **{name: value for name, value in asdict(facts).items() if name != "cost"},
            "cost": None if facts.cost is None else asdict(facts.cost),
            "conventions": scores.conventions.to_dict(),
            "queries": count_queries(scores),
            "measures": [measure.name for measure in scores.measures],
            "means": {name: asdict(mean) for name, mean in means_with_intervals(scores).items()},
            "version": __version__,
        }
        path = self.folder / f"{saved.replace(':', '-')}-{file_part(system)}-{secrets.token_hex(4)}{ENDING}"
        make_folder(self.folder)
        entry = EntrySummary(path, header)
        try:
            if log is not None:
                with write_atomically(entry.log_path) as file:
                    file.write(log(system))
            with write_atomically(path) as file:
                for line in (header, *rows_of(scores)):
                    file.write(json.dumps(plain_json(line), ensure_ascii=True, allow_nan=False).encode() + b"\n")
        except BaseException:
            if not path.exists():
                entry.log_path.unlink(missing_ok=True)
            raise
        self._remove_orphans()
        return entry

    def _remove_orphans(self) -> None:
        """Remove logs whose process was killed before it wrote their entry; a young one may still be written."""
        for path in self.folder.glob(f"*{LOG_ENDING}"):
            entry = path.with_name(path.name.removesuffix(LOG_ENDING) + ENDING)
            with suppress(OSError):  # of another user, or gone meanwhile
                if not entry.exists() and time.time() - path.stat().st_mtime > ORPHAN_SECONDS:
                    path.unlink()

    def _time_of_next_entry(self) -> str:
        """The time now; or that of the newest entry, if the clock was set back since: the order is that of saving."""
        clock = datetime.now(UTC)
        now = time_text(clock)
        newest = max((path.name[:20] for path in self._files()), default="")
        saved = newest[:10] + newest[10:].replace("-", ":")
        return saved if now < saved <= time_text(clock + SET_BACK) else now

    def _files(self) -> list[Path]:
        """The files of entries; other files in the folder are not looked at, and neither are half-written ones."""
        return [path for path in self.folder.glob(f"*{ENDING}") if not path.name.startswith(".")]

    def entries(self, filter: EntryFilter = ALL_ENTRIES, *, last: int | None = None) -> list[EntrySummary]:
        """The entries without the values of their queries, oldest first; ``last`` keeps this many of the newest.

        A file that is no entry is warned of, and left out.
        """
        found, damaged = [], []
        for path in self._files():
            try:
                found.append(read_summary(path))
            except FileNotFoundError:
                continue  # deleted meanwhile
            except InputError as error:
                damaged.append(error.message)
        if damaged:
            more = f" ({plural(len(damaged) - 1, 'more file')} like it)" if len(damaged) > 1 else ""
            warn_user(f"left out: {min(damaged)}{more}")
        kept = sorted((entry for entry in found if filter.matches(entry)), key=lambda entry: entry.order)
        latest = time_text(datetime.now(UTC) + AHEAD)
        if kept and kept[-1].saved > latest:
            warn_user(f"the entry {kept[-1].name} is from the future: check the clock, or delete the file")
        return ResultList(kept[-last:] if last else kept)

    def latest(self, filter: EntryFilter = ALL_ENTRIES) -> list[EntrySummary]:
        """The newest entry of each collection, system and branch, in the order of these."""
        newest = {(entry.collection, entry.system, entry.git.branch or ""): entry for entry in self.entries(filter)}
        return ResultList(newest[key] for key in sorted(newest))

    def count(self, filter: EntryFilter = ALL_ENTRIES) -> int:
        """The number of entries."""
        return len(self.entries(filter))

    def summary(self, name: str = LATEST) -> EntrySummary:
        """An entry by its name or the only one that has it in its name; ``latest`` is the newest."""
        entries = self.entries()
        if name == LATEST and entries:
            return entries[-1]
        chosen = [entry for entry in entries if entry.name == name] or [one for one in entries if name in one.name]
        if len(chosen) == 1:
            return chosen[0]
        what = "no entry is called" if not chosen else f"{plural(len(chosen), 'entry')} have in their names:"
        raise InputError(f"{what} {shown(name)}", hint="`rankgauge history list` shows the entries")

    def entry(self, name: str = LATEST) -> SavedEntry:
        """An entry with the values of its queries."""
        return read_entry(self.summary(name))

    def named(self, name: str) -> EntrySummary:
        """The newest entry of a branch; if there is no such branch, of a system."""
        entries = self.entries()
        of_branch = [entry for entry in entries if entry.git.branch == name]
        chosen = of_branch or [entry for entry in entries if entry.system == name]
        if chosen:
            return chosen[-1]
        branches = dict.fromkeys(entry.git.branch for entry in entries if entry.git.branch)
        systems = dict.fromkeys(entry.system for entry in entries)
        raise InputError(
            f"no entry of a branch or a system {shown(name)} in {printable(str(self.folder), None)}",
            hint=f"branches: {listing(map(shown, branches), NAMED) or 'none'}; "
            f"systems: {listing(map(shown, systems), NAMED) or 'none'}",
        )

    def trend(self, measure: str, filter: EntryFilter = ALL_ENTRIES, options: TrendOptions | None = None) -> Trend:
        """A measure over the entries of one system and collection, with intervals and change points."""
        from rankgauge.history.trends import trend_of

        return trend_of(self, measure, filter, options)

    def check(self, filter: EntryFilter = ALL_ENTRIES, options: CheckOptions | None = None) -> QualityCheck:
        """The recent change points of every system, collection and branch."""
        from rankgauge.history.quality_checks import check_quality

        return check_quality(self, filter, options)


@dataclass(frozen=True)
class EntryNames:
    """The system and the collection of an entry, if they are not those of its files."""

    system: str | None = None
    collection: str | None = None


def check_no_database(path: Path) -> None:
    """Raise if a history of an older version is in the place of the folder or beside it."""
    for file in (path, path / OLD_FILE, path.parent / OLD_FILE):
        if file.is_file() and (file.name == OLD_FILE or file.read_bytes()[:15] == b"SQLite format 3"):
            raise InputError.at(
                str(file),
                None,
                "a history is a folder of files, and this is a database of an earlier version",
                hint="delete it, and save results again: `rankgauge evaluate … --save --set history.date=DATE`",
            )


def make_folder(folder: Path) -> None:
    """Create the folder of a history."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError.at(str(folder), None, f"cannot write: {error.strerror or error}") from None


def labels_version(hashes: Mapping[str, str]) -> str:
    """A hash of the labels of all queries; empty if they are not known."""
    return blake2b(repr(sorted(hashes.items())).encode(), digest_size=8).hexdigest() if hashes else ""


def file_part(name: str) -> str:
    """A name as a part of a file's name."""
    return UNSAFE.sub("_", name)[:60] or "_"


def without_date(name: str) -> str:
    """The name of a file without a date; as it is if nothing else is left."""
    left = DATE.sub("", name).strip("-_ ")
    return left if left.partition(".")[0] else name


def system_name(name: str) -> str:
    """The name of a system, from that of its file without a date and endings."""
    plain = without_date(name)
    while (stem := plain.rpartition("."))[0] and stem[2].casefold() in FILE_ENDINGS:
        plain = stem[0]
    return plain


def rows_of(scores: Scores) -> Iterator[dict[str, Any]]:
    """One row per averaged query: the hash of its labels, its values and its columns."""
    labels = {} if scores.labels is None else scores.labels.of_query
    names, asked = [measure.name for measure in scores.measures], scores.asked
    taken = ("query", "labels", NOT_ASKED, *names)
    columns = {name: column for name, column in scores.columns.items() if name not in taken}
    for row in np.flatnonzero(scores.averaged).tolist():
        query = scores.queries[row]
        yield {
            "query": query,
            "labels": labels.get(query),
            **({} if asked[row] else {NOT_ASKED: True}),
            **dict(zip(names, map(none_if_nan, scores.values[row].tolist()), strict=True)),
            **{name: _plain(column[row]) for name, column in columns.items()},
        }


def _plain(value: Any) -> Any:
    """A cell of a column for JSON; what JSON does not have becomes text, and NaN nothing."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def named_results(text: str, folder: str | Path | None = None) -> str:
    """The file that ``history:NAME`` means: the log of the newest entry of a branch or a system, or else its scores."""
    name = text.removeprefix(HISTORY)
    if not name:
        raise UsageError("history: names no branch or system", hint="history:main")
    entry = History.open(folder, create=False).named(name)
    return str(entry.log or entry.path)


# The runs of an evaluation, saved.


@dataclass(frozen=True)
class SaveOptions:
    """What is saved besides the scores."""

    facts: EntryFacts = field(default_factory=EntryFacts)
    keep_log: bool = False
    date: datetime | None = None
    system: str | None = None


def save_evaluation(
    history: History,
    evaluation: Evaluation,
    options: SaveOptions,
    *,
    costs: Mapping[str, Cost] | None = None,
    only: Iterable[int] | None = None,
) -> list[EntrySummary]:
    """Save the runs of an evaluation, or some of them; ``costs`` are by the names of the systems."""
    chosen = range(len(evaluation.scores)) if only is None else only
    git, saved = git_state(), []
    rows = list(chosen)
    if options.system is not None and len(rows) > 1:
        raise UsageError(f"--system names one system, and there are {len(rows)}", hint="leave it out")
    for row in rows:
        scores = evaluation.scores[row]
        joined = evaluation.join_of(row)
        facts = replace(
            options.facts,
            cost=(costs or {}).get(scores.run, options.facts.cost),
            coverage=None if joined is None else coverage_of(joined.hits),
            depth=None if scores.depth is None else scores.depth.documents,
        )
        extras = scores.extras
        names = EntryNames(
            options.system or (None if extras is None else extras.system),
            None if extras is None else extras.collection,
        )
        log = None
        if options.keep_log and joined is not None and joined.run is not None:
            labels = evaluation.qrels if evaluation.qrels.judgments == "grades" else None
            log = partial(compressed_log, joined.run, labels, evaluation.texts)
        saved.append(history.save(scores, facts=facts, names=names, date=options.date, git=git, log=log))
    return saved


def compressed_log(run: Run, labels: Qrels | None, texts: Mapping[str, str], system: str) -> bytes:
    """The log of a run under the name of its system; the bytes do not depend on the time of writing."""
    with temporary_folder() as folder:
        write_log(folder / "log.jsonl", [replace(run, name=system)], labels, texts)
        return gzip.compress((folder / "log.jsonl").read_bytes(), mtime=0)


def coverage_of(hits: Hits) -> float | None:
    """The mean share of the top 10 that is judged; None if there is no query."""
    values = parse_measure(COVERAGE)(hits) if len(hits) and hits.judgments == "grades" else np.zeros(0)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None
