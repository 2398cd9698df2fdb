"""One assessor's work, and its file, which only grows: a line is on the disk before the next document is shown.

Several processes may write into one file: each line is written at once, under a lock that is held only for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rankgauge.core.settings import Section, check_settings, declared, setting
from rankgauge.errors import InputError, UsageError, shown, write_error
from rankgauge.io.formats.judgment_lines import Judgment, parse_judgments
from rankgauge.labels.pool_files import PoolItem
from rankgauge.stats.draws import RandomStream

LINE_START = b'{"query_id":'


class JudgmentFile:
    """The judgments that a file has, and a way to add more. It is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.judgments: list[Judgment] = []
        with _locked(self.path) as file:
            self._load(file)

    def add(self, judgment: Judgment) -> None:
        """Append a judgment; when this returns, it survives a crash of the machine."""
        line = memoryview(judgment.to_line())
        with _locked(self.path) as file:
            size = self._cut_incomplete_line(file)
            try:
                while line:
                    line = line[file.write(line) :]  # a disk that is nearly full takes a part
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
        self.judgments.append(judgment)

    def _load(self, file: IO[bytes]) -> None:
        """Read the judgments."""
        size = self._cut_incomplete_line(file)
        file.seek(0)
        if size:
            self.judgments = parse_judgments(str(self.path), file.read(size))

    def _cut_incomplete_line(self, file: IO[bytes]) -> int:
        """Remove a last line without an end, which a crash left, perhaps of another assessor; return the size."""
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while size > len(tail) and b"\n" not in tail:
            begin = max(0, size - 2 * len(tail) - len(LINE_START))
            file.seek(begin)
            tail = file.read(size - begin)
        rest = tail[tail.rfind(b"\n") + 1 :]
        if not rest.startswith(LINE_START[: len(rest)]):
            raise InputError.at(self.path, None, "not a file of judgments", hint="name another output: -o FILE")
        if rest:
            file.truncate(size - len(rest))
        return size - len(rest)


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """The file, open to append to, and locked on systems that have such locks; elsewhere lines are written at once."""
    try:
        with path.open("a+b", buffering=0) as file:
            try:
                import fcntl
            except ImportError:
                pass
            else:
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            yield file
    except OSError as error:
        raise write_error(path, error) from None


# One assessor's work on a pool: what is shown next, and what each decision adds to the
# file.

HUMAN = "terminal"


@dataclass(frozen=True)
class Assessor:
    """Who judges, up to which grade, and whether documents that were skipped are shown again."""

    name: str
    max_grade: int = setting(
        3,
        "Judge with grades from 0 to N.",
        Section.JUDGING,
        flag="--max-grade N",
        limits="1<=x<=9",
        common=True,
    )
    show_skipped: bool = setting(
        False, "Show documents again that were skipped.", Section.JUDGING, flag="--skipped", common=True
    )
    seed: int = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.name.strip():
            raise UsageError("an assessor needs a name", hint="name one: --assessor NAME")


DEFAULT_MAX_GRADE: int = declared(Assessor)["max_grade"].default


class JudgingSession:
    """The documents that an assessor has still to judge, in random order, query by query."""

    def __init__(self, items: Sequence[PoolItem], file: JudgmentFile, assessor: Assessor) -> None:
        self.assessor = assessor
        self._file = file
        sampled = [item for item in items if item.sampled]
        missing = next((item for item in sampled if item.text is None), None)
        if missing is not None:
            raise InputError(
                f"document {shown(missing.doc)} of query {shown(missing.query)} has no text to judge",
                hint="pool with --corpus, or add the key text to each line",
            )
        self._order = in_random_order(sampled, RandomStream(assessor.seed, ("judge", assessor.name)))
        done = _decided(file.judgments, assessor)
        self._position = 0
        self._done = [(item.query, item.doc, item.text_sha256) in done for item in self._order]
        self._history: list[int] = []
        self._note: str | None = None
        self._advance()

    @property
    def current(self) -> PoolItem | None:
        """The document to judge; None if all are."""
        return self._order[self._position] if self._position < len(self._order) else None

    @property
    def note(self) -> str | None:
        """The note that the next grade gets."""
        return self._note

    @property
    def decided(self) -> int:
        """How many documents are judged or skipped."""
        return sum(self._done)

    @property
    def total(self) -> int:
        """How many documents the assessor is asked for."""
        return len(self._order)

    def grade(self, grade: int) -> None:
        """Judge the current document."""
        if not 0 <= grade <= self.assessor.max_grade:
            raise UsageError(f"a grade must be from 0 to {self.assessor.max_grade}, found {grade!r}")
        self._decide(grade, None)

    def skip(self) -> None:
        """Leave the current document without a grade."""
        self._decide(None, "skipped")

    def add_note(self, text: str) -> None:
        """Attach a note to the next grade."""
        self._note = text.strip() or None

    def undo(self) -> bool:
        """Withdraw the last decision of this session and show its document again; False if there is none."""
        if not self._history:
            return False
        self._position = self._history.pop()
        self._done[self._position] = False
        self._add(None, "withdrawn")
        return True

    def _decide(self, grade: float | None, status: str | None) -> None:
        self._add(grade, status)
        self._note = None
        self._done[self._position] = True
        self._history.append(self._position)
        self._advance()

    def _add(self, grade: float | None, status: str | None) -> None:
        item = self.current
        if item is None:
            raise UsageError("every document is judged")
        self._file.add(
            Judgment(
                item.query,
                item.doc,
                grade,
                self.assessor.name,
                HUMAN,
                text_sha256=item.text_sha256,
                note=self._note,
                status=status,
                inclusion=item.inclusion,
            )
        )

    def _advance(self) -> None:
        """Go to the first document that is not decided."""
        self._position = next((row for row, done in enumerate(self._done) if not done), len(self._order))


def in_random_order(items: Sequence[PoolItem], stream: RandomStream) -> list[PoolItem]:
    """The queries in random order, and the documents of each; the same for the same stream."""

    def key(*labels: str) -> int:
        return stream.child(*labels).key

    return sorted(items, key=lambda item: (key("query", item.query), key("document", item.query, item.doc)))


def _decided(judgments: Sequence[Judgment], assessor: Assessor) -> set[tuple[str, str, str | None]]:
    """What the assessor judged or skipped already: a document whose text has changed is shown again."""
    last = {(judgment.query, judgment.doc): judgment for judgment in judgments if judgment.assessor == assessor.name}
    return {
        (judgment.query, judgment.doc, judgment.text_sha256)
        for judgment in last.values()
        if judgment.grade is not None or (judgment.status == "skipped" and not assessor.show_skipped)
    }
