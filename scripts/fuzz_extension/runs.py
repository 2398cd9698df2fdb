"""Runs joined with judgments by a scanner: blocks of lines, scattered lines, and rows that are columns already."""

from __future__ import annotations

import math
import re
from ctypes import c_float
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.fuzz_extension.inputs import DECIMAL, column, cuts, padded
from scripts.fuzz_extension.lines import DOCS, MAX_TAG, QUERIES, Row, line_count, rows_of, some_run
from scripts.fuzz_extension.probe import Probe, fuzzes

PRINTABLE = re.compile(rb"[!-~]+")
PLAIN_RANK = re.compile(rb"0|[1-9][0-9]{0,6}")
Ints = NDArray[np.int64]
Hit = tuple[int, int, int, int, int]  # query, rank, first and last rank of the tie, judgment


@dataclass
class Judged:
    """Judgments, a scanner that has them, and the hits it should have found so far."""

    queries: list[bytes]
    docs: list[list[bytes]]
    in_doubles: bool
    max_id: int
    hits: list[Hit] = field(default_factory=list)

    @classmethod
    def random(cls, rng: Random) -> Judged:
        """Some of the queries and documents that runs have."""
        queries = rng.sample(QUERIES, rng.randrange(len(QUERIES) + 1))
        docs = [rng.sample(DOCS, rng.choice((0, 1, 5, len(DOCS)))) for _ in queries]
        return cls(queries, docs, rng.random() < 0.5, rng.choice((0, 8, 64, 1000, 1000, 1000, 2**40)))

    def arguments(self, rng: Random) -> tuple[Any, ...]:
        """What the scanner is made of."""
        docs = [doc for row in self.docs for doc in row]
        offsets = np.cumsum([0, *map(len, self.docs)]).astype(np.int64)
        seed = rng.getrandbits(64)
        return column(rng, self.queries), column(rng, docs), offsets, self.in_doubles, self.max_id, seed

    def join(self, query: int, docs: list[bytes], scores: list[float]) -> None:
        """Rank the rows of a query, and remember the judged ones."""
        if query < 0:
            return
        keys = scores if self.in_doubles else [c_float(score).value for score in scores]
        order = sorted(range(len(docs)), key=lambda row: (keys[row], docs[row]), reverse=True)
        first = sum(map(len, self.docs[:query]))
        for rank, row in enumerate(order, 1):
            if docs[row] in self.docs[query]:
                tie_first = 1 + sum(key > keys[row] for key in keys)
                tie_last = sum(key >= keys[row] for key in keys)
                self.hits.append((query, rank, tie_first, tie_last, first + self.docs[query].index(docs[row])))

    def number(self, query: bytes) -> int:
        """The number of a query, or -1."""
        return self.queries.index(query) if query in self.queries else -1


def check_hits(probe: Probe, scanner: Any, judged: Judged) -> None:
    """The hits so far are those expected."""
    columns = np.frombuffer(probe.call("Scanner.hits", scanner), dtype=np.int64).reshape(5, -1)
    assert list(map(tuple, columns.T.tolist())) == judged.hits, judged


@dataclass
class Faults:
    """Whether a text must be odd, and whether it may be."""

    must: bool = False
    may: bool = False

    def note_lines(self, rows: list[Row], max_id: int) -> None:
        """What is wrong with single lines."""
        self.must |= any(len(row.spans) != 6 for row in rows) or any(b"\0" in row.text for row in rows[:1])
        ids = [row.column(number) for row in rows if len(row.spans) == 6 for number in (0, 2)]
        self.must |= any(len(id) > max_id for id in ids)
        self.may |= not all(PRINTABLE.fullmatch(id) for id in ids)

    def note_scores(self, rows: list[Row]) -> None:
        """What is wrong with the scores of lines that have six columns."""
        for row in rows:
            is_number = DECIMAL.fullmatch(row.column(4)) is not None
            self.must |= not is_number or not math.isfinite(float(row.column(4)))

    def note_query(self, rows: list[Row]) -> None:
        """What is wrong with the rows of one query, whose scores are numbers."""
        docs, ranks = [row.column(2) for row in rows], [row.column(3) for row in rows]
        scores = [float(row.column(4)) for row in rows]
        self.must |= len(set(docs)) < len(docs)
        if not all(PLAIN_RANK.fullmatch(rank) for rank in ranks):
            self.may = True
            return
        by_rank = sorted(
            zip(map(int, ranks), [c_float(score).value for score in scores], strict=True), key=lambda row: row[0]
        )
        pairs = list(pairwise(by_rank))
        if any(here[0] > before[0] and here[1] > before[1] for before, here in pairs):
            self.may = True
            self.must |= any(here > before for before, here in pairwise(scores))


def found_queries(found: tuple[Any, ...]) -> list[list[int]]:
    """The queries of a block: begin, length, number, rows, line on which it resumes, first row."""
    return np.frombuffer(found[3], dtype=np.int64).reshape(-1, 6).tolist()


def _scores(rows: list[Row]) -> list[float]:
    return [float(row.column(4)) for row in rows]


def _described(judged: Judged, rows: list[Row], first: int = 0, resumed: int = 0) -> list[int]:
    begin, end = rows[0].spans[0]
    return [begin, end - begin, judged.number(rows[0].query), len(rows), resumed, first]


def _tag(rows: list[Row]) -> tuple[int, int]:
    begin, end = rows[-1].spans[5] if rows else (0, 0)
    return begin, end - begin


@fuzzes("Scanner")
def fuzz_scanner(probe: Probe) -> None:
    """A scanner without a scan has no hits; wrong judgments are refused."""
    judged = Judged.random(probe.rng)
    arguments = judged.arguments(probe.rng)
    check_hits(probe, probe.call("Scanner", *arguments), judged)
    probe.call_wrongly("Scanner", *arguments)


@fuzzes("Scanner.hits")
def fuzz_hits(probe: Probe) -> None:
    """All hits so far, also after blocks of which nothing is kept."""
    judged = Judged.random(probe.rng)
    scanner = probe.call("Scanner", *judged.arguments(probe.rng))
    for _ in range(probe.rng.randrange(4)):
        kind = probe.rng.randrange(3)
        if kind == 0:
            scan_once(probe, scanner, judged, some_run(probe.rng))
        elif kind == 1:
            join_once(probe, scanner, judged)
        else:
            probe.call_wrongly("Scanner.hits", scanner)
        check_hits(probe, scanner, judged)


@fuzzes("Scanner.scan")
def fuzz_scan(probe: Probe) -> None:
    """Queries, hits and counts are those of a plain reading of the text."""
    judged, text = Judged.random(probe.rng), some_run(probe.rng)
    scanner = probe.call("Scanner", *judged.arguments(probe.rng))
    for part in cuts(probe.rng, text):
        scan_once(probe, scanner, judged, part)
    check_hits(probe, scanner, judged)
    probe.call_wrongly("Scanner.scan", scanner, padded(probe.rng, text), True)


def scan_once(probe: Probe, scanner: Any, judged: Judged, text: bytes) -> None:
    """Scan a block, and compare what was found."""
    is_last = probe.rng.random() < 0.6
    found = probe.call("Scanner.scan", scanner, padded(probe.rng, text), is_last)
    rows, faults = rows_of(text), Faults()
    faults.note_lines(rows, judged.max_id)
    if faults.must:
        assert found is None, text
        return
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.query)]
    complete = groups if is_last else groups[:-1]
    for group in complete:
        faults.note_scores(group)
        if not faults.must:
            faults.note_query(group)
    if found is None or faults.must:
        assert found is None and (faults.may or faults.must), text  # noqa: PT018  # one condition, not two
        return
    whole = is_last or not groups
    used = len(text) if whole else groups[-1][0].spans[0][0]
    lines = line_count(text) if whole else groups[-1][0].line - 1
    assert (found[:3], found[4:]) == ((used, lines, sum(map(len, complete))), _tag(rows)), (text, is_last)
    assert found_queries(found) == [_described(judged, group) for group in complete], (text, is_last)
    for group in complete:
        judged.join(judged.number(group[0].query), [row.column(2) for row in group], _scores(group))


@fuzzes("Scanner.scan_scattered")
def fuzz_scan_scattered(probe: Probe) -> None:
    """The rows of queries in many places."""
    rng = probe.rng
    judged, text = Judged.random(rng), some_run(rng)
    scanner = probe.call("Scanner", *judged.arguments(rng))
    rows, faults = rows_of(text), Faults()
    found = probe.call("Scanner.scan_scattered", scanner, padded(rng, text))
    faults.note_lines(rows, judged.max_id)
    groups: dict[bytes, list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(row.query, []).append(at)
    for group in () if faults.must else groups.values():
        faults.note_scores([rows[at] for at in group])
        if not faults.must:
            faults.note_query([rows[at] for at in group])
    if found is None or faults.must:
        assert found is None and (faults.may or faults.must), text  # noqa: PT018  # one condition, not two
    else:
        assert found[:3] == (len(text), line_count(text), len(rows)), text
        assert found[4:] == _tag(rows), text
        expected = []
        for query, group in groups.items():
            own = [rows[at] for at in group]
            resumed = [rows[at].line for at in group[1:] if rows[at - 1].query != query]
            expected.append(_described(judged, own, group[0], next(filter(None, resumed), 0)))
            judged.join(judged.number(query), [row.column(2) for row in own], _scores(own))
        assert found_queries(found) == expected, text
    check_hits(probe, scanner, judged)
    probe.call_wrongly("Scanner.scan_scattered", scanner, padded(rng, text))


@fuzzes("Scanner.check")
def fuzz_check(probe: Probe) -> None:
    """Queries without a fault are found to have none, and all others are suspects; in one block or two."""
    rng = probe.rng
    judged, text = Judged.random(rng), some_run(rng)
    scanner = probe.call("Scanner", *judged.arguments(rng))
    sizes = [len(list(group)) for _, group in groupby(rows_of(text), key=lambda row: row.query)]
    cutoffs = np.array(rng.choices((-1, 0, 1, 2, 3, 5, 10, 2**62, *sizes), k=rng.randrange(6)), dtype=np.int64)
    limits = rng.choice((-1, 0, 1, 3)), rng.choice((0, 1, 5, 1000, 2**62))
    tag = None
    for _ in range(2):
        is_last = rng.random() < 0.5
        found = probe.call("Scanner.check", scanner, padded(rng, text), is_last, cutoffs, *limits)
        tag = check_found(judged, text, (found, is_last), (cutoffs, *limits), tag)
        if found is None:
            break
        text = text[found[0] :] + some_run(rng)
    check_hits(probe, scanner, judged)
    probe.call_wrongly("Scanner.check", scanner, padded(rng, text), True, cutoffs, *limits)


def check_found(
    judged: Judged, text: bytes, result: tuple[Any, bool], limits: tuple[Ints, int, int], tag: bytes | None
) -> bytes | None:
    """Compare what a check found; the tag of the first line is returned for the next block."""
    found, is_last = result
    rows, faults = rows_of(text), Faults()
    faults.note_lines(rows, judged.max_id)
    faults.must |= b"\r" in text or line_count(text) != len(rows)
    if not faults.must:
        tags = {row.column(5) for row in rows} | ({tag} if tag else set())
        faults.must |= len(tags) > 1 or any(len(one) > MAX_TAG for one in tags)
        tag = tags.pop() if tags else None
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.query)]
    complete = groups if is_last else groups[:-1]
    for group in () if faults.must else complete:
        faults.note_scores(group)
    if found is None or faults.must:
        assert found is None and (faults.may or faults.must), text  # noqa: PT018  # one condition, not two
        return tag
    whole = is_last or not groups
    used = len(text) if whole else groups[-1][0].spans[0][0]
    lines = line_count(text) if whole else groups[-1][0].line - 1
    assert found[:3] == (used, lines, sum(map(len, complete))), (text, is_last)
    expected = []
    for group in complete:
        begin, end = group[0].spans[0]
        expected.append([begin, end - begin, -1, len(group), int(is_suspect(group, *limits)), 0])
    assert found_queries(found) == expected, (text, is_last, limits)
    return tag


def is_suspect(rows: list[Row], cutoffs: Ints, least: int, most: int) -> bool:
    """Whether the rows of a query may have a fault."""
    scores = [c_float(score).value for score in _scores(rows)]
    docs = {row.column(2) for row in rows}
    ranks = [row.column(3) for row in rows]
    return (
        not least <= len(rows) <= most
        or len(docs) < len(rows)
        or ranks != [b"%d" % (row + 1) for row in range(len(rows))]
        or any(here > before for before, here in pairwise(scores))
        or any(0 < cut < len(rows) and scores[cut] == scores[cut - 1] for cut in cutoffs.tolist())
    )


@fuzzes("Scanner.join")
def fuzz_join(probe: Probe) -> None:
    """Rows that are columns already are joined as lines are; False if a document appears twice."""
    judged = Judged.random(probe.rng)
    scanner = probe.call("Scanner", *judged.arguments(probe.rng))
    for _ in range(probe.rng.randrange(1, 3)):
        arguments = join_once(probe, scanner, judged)
    check_hits(probe, scanner, judged)
    docs, offsets, numbers, scores = arguments
    if len(numbers) and probe.rng.random() < 0.5:  # queries that are not there
        numbers[probe.rng.randrange(len(numbers))] = probe.rng.choice(
            (-2, len(judged.queries), len(judged.queries) + 1)
        )
    probe.call_wrongly("Scanner.join", scanner, docs, offsets, numbers, scores)


def join_once(probe: Probe, scanner: Any, judged: Judged) -> tuple[Any, ...]:
    """Join some rows; what they are is returned."""
    rng = probe.rng
    numbers = [rng.randrange(-1, len(judged.queries)) for _ in range(rng.randrange(5))]
    groups = [
        rng.sample(DOCS, min(rng.choice((0, 1, 5, 20, 70)), len(DOCS)))
        + ([b"%d" % at for at in range(4100)] if rng.random() < 0.005 else [])
        if rng.random() < 0.95
        else rng.choices(DOCS, k=5)
        for _ in numbers
    ]
    kind = rng.randrange(3)
    scores = [
        [
            float(-row) if kind == 0 else rng.choice((1.0, 0.0, -0.0, 1e300, math.inf)) if kind == 1 else rng.random()
            for row in range(len(group))
        ]
        for group in groups
    ]
    arguments = (
        column(rng, [doc for group in groups for doc in group]),
        np.cumsum([0, *map(len, groups)]).astype(np.int64),
        np.array(numbers, dtype=np.int64),
        np.array([score for group in scores for score in group], dtype=np.float64),
    )
    is_distinct = all(len(set(group)) == len(group) for group in groups)
    assert probe.call("Scanner.join", scanner, *arguments) is is_distinct, (groups, scores)
    if is_distinct:
        for number, group, of_group in zip(numbers, groups, scores, strict=True):
            judged.join(number, group, of_group)
    return arguments
