"""Judgments and a run in TREC format, read and scored by a few plain lines, beside rankgauge's own result."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

from rankgauge import evaluate

DECIMAL = re.compile(rb"[+-]?\d{1,9}(\.\d{1,9})?")
GRADE = re.compile(rb"\d{1,4}")
QRELS = b"".join(b"q%d 0 d%d %d\n" % (query, doc, (query + doc) % 3) for query in range(4) for doc in range(8))


class WrongNumberError(Exception):
    """Two readers accept an input, and disagree."""


def plain_run(data: bytes) -> dict[str, list[str]] | None:
    """The rankings of a run whose every line is plain; None if one is not."""
    rows: dict[str, dict[str, float]] = {}
    for line in data.split(b"\n"):
        fields = re.split(rb"[ \t]+", line.rstrip(b"\r").strip(b" \t"))
        if fields == [b""]:
            continue
        if len(fields) != 6 or not DECIMAL.fullmatch(fields[4]) or not all(_is_plain(field) for field in fields):
            return None
        query, doc = fields[0].decode(), fields[2].decode()
        if doc in rows.setdefault(query, {}):
            return None
        rows[query][doc] = struct.unpack("f", struct.pack("f", float(fields[4])))[0]
    by_score = {
        query: sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True) for query, docs in rows.items()
    }
    return by_score or None


def _is_plain(field: bytes) -> bool:
    return field.isascii() and field.decode("latin-1").isprintable()


def check_run(path: Path) -> None:
    """Score a run both ways; raise if both accept it and the numbers differ."""
    scores = evaluate(_qrels_beside(path), path, "RR P@5 nDCG@5")
    rankings = plain_run(path.read_bytes())
    if rankings is None:
        return
    grades = {f"q{query}": {f"d{doc}": (query + doc) % 3 for doc in range(8)} for query in range(4)}
    for row, query in enumerate(scores.queries):
        ranked, judged = rankings.get(query, []), grades[query]
        gains = [judged.get(doc, 0) for doc in ranked]
        first = next((rank for rank, gain in enumerate(gains, 1) if gain > 0), None)
        ideal = sorted(judged.values(), reverse=True)
        expected = (
            1 / first if first else 0.0,
            sum(gain > 0 for gain in gains[:5]) / 5,
            _dcg(gains[:5]) / _dcg(ideal[:5]),
        )
        if not all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(expected, scores.values[row], strict=True)):
            raise WrongNumberError(f"{query}: expected {expected}, found {scores.values[row].tolist()}")


def _dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _qrels_beside(path: Path) -> Path:
    qrels = path.with_name("plain.qrels")
    if not qrels.exists():
        qrels.write_bytes(QRELS)
    return qrels
