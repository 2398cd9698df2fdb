"""The lines of pools and judgments: one JSON object per document of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rankgauge.io.corpus.corpus import CorpusDocument, text_sha256

How = str  # "terminal", "machine", …


@dataclass(frozen=True)
class Inclusion:
    """How a document came to be judged: by which strategy, and with which probability.

    ``probability`` is that of being in the sample, 1 if the strategy takes every document; None if it is unknown, since
    what was judged depended on earlier judgments. ``stratum`` names the part of the query's pool it was drawn from,
    with the number of documents there and the number that were drawn.
    """

    strategy: str
    probability: float | None = 1.0
    stratum: str | None = None
    stratum_size: int | None = None
    stratum_sample: int | None = None

    def to_row(self) -> dict[str, Any]:
        """For JSON: what is known of the stratum only if there is one."""
        row: dict[str, Any] = {"strategy": self.strategy, "probability": self.probability}
        if self.stratum is not None:
            row |= {"stratum": self.stratum, "stratum_size": self.stratum_size, "stratum_sample": self.stratum_sample}
        return row


@dataclass(frozen=True)
class PoolItem:
    """A document of a query that is to be judged; ``sampled`` is false if the sample left it out.

    No run, rank or score is kept: who judges must not know them.
    """

    query: str
    doc: str
    inclusion: Inclusion
    query_text: str | None = None
    title: str = ""
    text: str | None = None
    sampled: bool = True

    @property
    def full_text(self) -> str:
        """Title and text, as retrievers see them."""
        return CorpusDocument(b"", self.title, self.text or "").full_text

    @property
    def text_sha256(self) -> str | None:
        """The hash of the text; None without one."""
        return None if self.text is None else text_sha256(self.full_text)

    def to_line(self) -> bytes:
        """The line of a pool."""
        row: dict[str, Any] = {"query_id": self.query, "doc_id": self.doc}
        if self.sampled:
            row |= {"query": self.query_text, "title": self.title or None, "text": self.text}
            row |= {"text_sha256": self.text_sha256}
            row = {key: value for key, value in row.items() if value is not None}
        else:
            row["sampled"] = False
        return _line({**row, **self.inclusion.to_row()})


@dataclass(frozen=True)
class Judgment:
    """One decision: who, when, how, which grade, and of which text.

    A judgment without a grade says in ``status`` why: "skipped" or "withdrawn". ``key`` is the content that a machine
    judged: its instructions, the query and the text. ``cost`` has its calls and tokens.
    """

    query: str
    doc: str
    grade: float | None
    assessor: str
    how: How
    at: str = ""
    text_sha256: str | None = None
    note: str | None = None
    status: str | None = None
    inclusion: Inclusion | None = None
    key: str | None = None
    cost: Mapping[str, int] | None = None

    def to_line(self) -> bytes:
        """The line of a file of judgments."""
        grade = None if self.grade is None else int(self.grade) if self.grade == int(self.grade) else self.grade
        row: dict[str, Any] = {"query_id": self.query, "doc_id": self.doc, "relevance": grade}
        row |= {"assessor": self.assessor, "at": self.at or now(), "how": self.how}
        details = {"text_sha256": self.text_sha256, "note": self.note, "status": self.status, "key": self.key}
        row |= {name: value for name, value in details.items() if value is not None}
        row |= {} if self.cost is None else dict(self.cost)
        return _line({**row, **({} if self.inclusion is None else self.inclusion.to_row())})


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape") + b"\n"
