"""TREC files, read strictly: one clear error for each line that is wrong, never a guess."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankgauge.core.ids import Ids, Interner, Ints, repeated
from rankgauge.core.qrels import LARGEST_GRADE, Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import Floats
from rankgauge.errors import SHOWN_FAULTS, Fault, InputError, RankgaugeWarning, place, shown
from rankgauge.io import decimals
from rankgauge.io.sources import read_bytes
from rankgauge.io.tokens import Lines, cut, padded

QRELS_COLUMNS = ("query", "iter", "document", "grade")
RUN_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")


def read_qrels(path: str | Path, *, name: str | None = None, by_subtopic: bool = False) -> Qrels:
    """Read judgments: ``query iter document grade`` on each line."""
    source = str(path)
    lines = _lines(source, read_bytes(path), len(QRELS_COLUMNS))
    faults = _Faults(source, lines)
    faults.short_lines(QRELS_COLUMNS, _qrels_hint)
    faults.long_lines(len(QRELS_COLUMNS), QRELS_COLUMNS)
    query, iters, doc, token = (lines.column(number) for number in range(4))
    grades, bad = _grades(token)
    faults.add(
        bad,
        lambda row: (
            f"expected a whole number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade, found {shown(token[row])}"
        ),
    )
    faults.stop()
    first, second = repeated(doc, _groups(query, iters if by_subtopic else None))
    faults.add(
        second,
        lambda row: (
            f"document {shown(doc[row])} is judged again for query {shown(query[row])}: "
            f"first on line {lines.line[first[np.flatnonzero(second == row)[0]]]}"
        ),
    )
    faults.stop()
    return Qrels.build(query, doc, grades, iters=iters, by_subtopic=by_subtopic, name=name or _stem(path), unique=False)


def read_run(path: str | Path, *, name: str | None = None, on_duplicate: OnDuplicate = "error") -> Run:
    """Read a run: ``query Q0 document rank score tag`` on each line. Its name is the tag, or the file's."""
    source = str(path)
    data = read_bytes(path)
    lines = _lines(source, data, len(RUN_COLUMNS))
    faults = _Faults(source, lines)
    faults.short_lines(RUN_COLUMNS, _run_hint)
    query, doc, token = lines.column(0), lines.column(2), lines.column(4)
    scores, bad = decimals.read(token)
    faults.add(
        bad,
        lambda row: f"expected a number as score, found {shown(token[row])}",
        lambda row: _score_hint(token[row]),
    )
    wide = np.flatnonzero(lines.count > len(RUN_COLUMNS))
    rank = lines.column(3)
    shifted = wide[decimals.read(rank.take(wide))[1]]
    faults.add(
        shifted,
        lambda row: f"expected 6 columns, found {lines.count[row]}, and {shown(rank[row])} as rank",
        "a document id with a space in it? columns are separated by white space",
    )
    faults.stop()
    if len(wide):
        row = int(wide[0])
        _warn(source, int(lines.line[row]), f"{lines.count[row]} columns, expected 6: the rest is ignored")
    infinite = np.flatnonzero(np.isinf(scores))
    if len(infinite):
        _warn(source, int(lines.line[infinite[0]]), f"{len(infinite)} infinite scores")
    if on_duplicate == "error":
        first, second = repeated(doc, _groups(query, None))
        faults.add(
            second,
            lambda row: (
                f"document {shown(doc[row])} stands again in the results of query "
                f"{shown(query[row])}: first on line {lines.line[first[np.flatnonzero(second == row)[0]]]}"
            ),
            "keep each document once a query, or pass on_duplicate='first' (--on-duplicate first)",
        )
        faults.stop()
    tag = lines.column(5)[len(lines) - 1].decode("utf-8", "surrogateescape")
    made = Run.build(query, doc, scores, name=name or tag, sha256=hashlib.sha256(data).hexdigest())
    return made.deduplicated() if on_duplicate == "first" else made


def _stem(path: str | Path) -> str:
    return Path(path).name if str(path) != "-" else "stdin"


def _lines(source: str, data: bytes, columns: int) -> Lines:
    """The lines of a file that is text at all."""
    if not data:
        raise InputError.at(source, None, "file is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[1:64:2].count(0) > 16:
        raise InputError.at(source, None, "looks like UTF-16, expected UTF-8", hint="convert it: iconv -t utf-8")
    if b"\0" in data:
        at = data.index(b"\0")
        raise InputError.at(source, data.count(b"\n", 0, at) + 1, f"NUL byte at offset {at}: not a text file")
    if data.startswith(b"\xef\xbb\xbf"):
        _warn(source, 1, "byte order mark skipped (trec_eval makes it part of the first query id)")
        data = data[3:]
    if b"\r" in data and b"\n" not in data.rstrip():
        raise InputError.at(
            source, None, "carriage-return line ends, expected newlines", hint="convert it: tr '\\r' '\\n'"
        )
    lines = cut(padded(data), columns)
    if not len(lines) and not len(lines.short):
        raise InputError.at(source, None, "no lines with anything on them")
    return lines


class _Faults:
    """Collects what is wrong in a file, the first few in the order of lines."""

    def __init__(self, source: str, lines: Lines) -> None:
        self.source, self.lines = source, lines
        self.found: list[Fault] = []
        self.total = 0

    def add(
        self, rows: Ints, message: Callable[[int], str], hint: str | Callable[[int], str | None] | None = None
    ) -> None:
        """Rows that are wrong."""
        self.total += len(rows)
        for row in rows[:SHOWN_FAULTS].tolist():
            advice = hint(row) if callable(hint) else hint
            self.found.append(Fault(int(self.lines.line[row]), message(row), advice))

    def short_lines(self, names: tuple[str, ...], hint: Callable[[bytes, int], str | None]) -> None:
        """Lines with too few columns."""
        self.total += len(self.lines.short)
        for line, count in zip(self.lines.short[:SHOWN_FAULTS].tolist(), self.lines.short_count.tolist(), strict=False):
            text = self.lines.text(line)
            message = f"expected {len(names)} columns ({' '.join(names)}), found {count}: {shown(text)}"
            self.found.append(Fault(line, message, hint(text, count)))

    def long_lines(self, columns: int, names: tuple[str, ...]) -> None:
        """Lines with too many columns."""
        rows = np.flatnonzero(self.lines.count > columns)
        self.add(
            rows,
            lambda row: (
                f"expected {columns} columns ({' '.join(names)}), found {self.lines.count[row]}: "
                f"{shown(self.lines.text(int(self.lines.line[row])))}"
            ),
            lambda row: (
                "this looks like a run: are the arguments swapped?"
                if self.lines.count[row] == len(RUN_COLUMNS)
                else None
            ),
        )

    def stop(self) -> None:
        """Raise if anything was found."""
        if self.total:
            faults = sorted(self.found, key=lambda fault: fault.line)
            raise InputError.many(self.source, faults, self.total)


def _qrels_hint(text: bytes, count: int) -> str | None:
    if count == 3 and (b"\t" in text):
        return "this looks like BEIR's tab-separated judgments; TREC's have 'query iter document grade'"
    return "a comment line? trec_eval 9 has none" if text.startswith(b"#") else None


def _run_hint(text: bytes, count: int) -> str | None:
    if text.startswith(b"#"):
        return "a comment line? trec_eval 9 has none"
    return "four columns are judgments: are the arguments swapped?" if count == 4 else None


def _groups(query: Ids, iters: Ids | None) -> Ints:
    group = Interner()(query)
    if iters is None:
        return group
    pairs = np.stack([group, Interner()(iters)])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _grades(tokens: Ids) -> tuple[Floats, Ints]:
    """Whole numbers, and the rows that hold none. Few grades differ, so each is read once."""
    first = tokens.words(0)
    distinct, where = np.unique(first, return_inverse=True)
    values = np.full(len(distinct), np.nan)
    for number, word in enumerate(distinct.tolist()):
        text = int(word).to_bytes(8, "little").rstrip(b"\0")
        if text.lstrip(b"+-").isdigit() and text[1:].isdigit() | text.isdigit():
            values[number] = int(text)
    grades = values[where.reshape(-1)]
    grades[(tokens.length > 8) | ~(np.abs(grades) <= LARGEST_GRADE)] = np.nan
    return grades, np.flatnonzero(np.isnan(grades))


def _score_hint(text: bytes) -> str:
    """What may have gone wrong where a number was expected."""
    if b"," in text and decimals.DECIMAL.fullmatch(text.replace(b",", b".", 1)):
        return "a decimal comma? write a point"
    if text.lower() in (b"score", b"sim", b"similarity"):
        return "this looks like a header: remove the line"
    if text.lower().lstrip(b"+-") == b"nan":
        return "NaN has no place in an order: give the document a score or leave it out"
    return "a document id with a space in it? columns are separated by white space"


def _warn(source: str, line: int, message: str) -> None:
    warnings.warn(place(source, line) + message, RankgaugeWarning, stacklevel=4)
