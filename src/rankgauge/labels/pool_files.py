"""A pool and its file: the judgments that it leaves out, the texts of its documents, and its qrels for infAP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import group_of
from rankgauge.core.ids import concatenate, encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import ResultList
from rankgauge.errors import InputError, shown
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, document_limits, read_bytes
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, text_sha256
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import json_line, read_records
from rankgauge.io.formats.judgment_lines import Inclusion, RecordLine, current_judgments, has_provenance, read_judgments
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.labels.pooling import SAMPLED_STRATEGIES, PooledDocument, PoolOptions


def with_texts(
    documents: Sequence[PooledDocument],
    corpus: Corpus | None = None,
    query_texts: Mapping[str, str] | None = None,
    returned: Mapping[str, str] | None = None,
) -> list[PoolItem]:
    """The items of a pool, with the texts that are known: of the corpus, which is read once, else those returned."""
    needed = {document.doc for document in documents if document.sampled}
    texts: dict[bytes, CorpusDocument] = {}
    if corpus is not None:
        texts = {document.id: document for document in corpus if document.id in needed}
    else:
        encoded = ((encode_id(name, "document id"), text) for name, text in (returned or {}).items())
        texts = {doc: CorpusDocument(doc, "", text) for doc, text in encoded if doc in needed}
    items = []
    for document in documents:
        query = document.query.decode("utf-8", "surrogateescape")
        source = texts.get(document.doc) if document.sampled else None
        items.append(
            PoolItem(
                query,
                document.doc.decode("utf-8", "surrogateescape"),
                document.inclusion,
                query_text=(query_texts or {}).get(query),
                title="" if source is None else source.title,
                text=None if source is None else source.text,
                sampled=document.sampled,
            )
        )
    return items


def write_pool(items: Iterable[PoolItem], path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Write a pool as JSON Lines, completely or not at all."""
    with write_atomically(path, inputs=inputs) as file:
        file.writelines(item.to_line() for item in items)


# A document of a pool: the line that `rankgauge pool` writes for it, and what a judge is shown.


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
        return json_line({**row, **self.inclusion.to_row()})


# Read pools, line by line.

POOL_HINT = "make it with `rankgauge pool`, or write one JSON object per document: query_id, query, doc_id, text"


def read_pool(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> list[PoolItem]:
    """The documents of a pool, each once per query."""
    faults = Faults(str(path))
    data, _ = read_bytes(path, limits=document_limits(limits))
    try:
        table = read_records(faults, data)
    except InputError as error:
        raise InputError(error.message, hint=error.hint or POOL_HINT) from None
    items: dict[tuple[str, str], PoolItem] = {}
    for number, record in zip(table.line.tolist(), table.records, strict=True):
        line = RecordLine(faults, number, record)
        pair = line.pair()
        if pair is None:
            continue
        if pair in items:
            found = f"document {shown(pair[1])} of query {shown(pair[0])} again"
            faults.add("duplicate", [number], expected="each document of a query once", found=found)
        items[pair] = PoolItem(
            *pair,
            line.inclusion() or Inclusion("given"),
            query_text=line.text("query"),
            title=line.text("title") or "",
            text=line.text("text"),
            sampled=record.get("sampled") is not False,
        )
    faults.raise_errors()
    return ResultList(items.values())


def read_judged(
    paths: Sequence[str | Path], options: PoolOptions | None = None, reading: Reading = DEFAULT_READING
) -> Qrels | None:
    """The judgments of several files together; a document that is judged in several counts once, with the first grade.

    A random sample cannot continue another one: its probabilities would no longer hold.
    """
    if options is not None and options.strategy in SAMPLED_STRATEGIES:
        for path in paths:
            _check_not_sampled(path)
    return _together([as_qrels(path, reading) for path in paths]) if paths else None


def _check_not_sampled(path: str | Path) -> None:
    if not has_provenance(path):
        return
    for judgment in current_judgments(read_judgments(path)):
        if judgment.inclusion is not None and judgment.inclusion.probability != 1:
            raise InputError.at(
                path,
                None,
                f"has judgments of a {judgment.inclusion.strategy} pool, whose probabilities a sample would change",
                hint="draw one larger sample, or pool without --judged",
            )


def _together(parts: Sequence[Qrels]) -> Qrels:
    if len(parts) == 1:
        return parts[0]
    queries = concatenate([part.queries.take(group_of(part.offsets)) for part in parts])
    docs, grades = concatenate([part.docs for part in parts]), np.concatenate([part.grades for part in parts])
    first: dict[tuple[bytes, bytes], int] = {}
    for row, pair in enumerate(zip(queries, docs, strict=True)):
        first.setdefault(pair, row)
    rows = np.array(list(first.values()), dtype=np.int64)
    return Qrels.build(queries.take(rows), docs.take(rows), grades[rows])


# Judgments of a sampled pool as qrels: what is in the pool and was not drawn has grade −1, as infAP needs it.

UNDRAWN = -1.0


def with_undrawn(qrels: Qrels, pool: Sequence[PoolItem]) -> Qrels:
    """The judgments, and the pooled documents without one as grade −1; raise unless the pool is a uniform sample.

    infAP takes the judged documents for a uniform random sample of the pool: a stratified sample has other
    probabilities, and an adaptive pool has none.
    """
    strategies = sorted({item.inclusion.strategy for item in pool} - {"uniform"})
    if strategies:
        raise InputError(
            f"infAP assumes that every document of a pool was equally likely, and this pool is {', '.join(strategies)}",
            hint="pool with --strategy uniform; a stratified sample is for `rankgauge labels estimate`",
        )
    names = qrels.queries.to_text()
    rows = [
        (names[number], doc, grade)
        for number, doc, grade in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True)
    ]
    judged = {(query, doc) for query, doc, _ in rows}
    rows += [(item.query, item.doc, UNDRAWN) for item in pool if (item.query, item.doc) not in judged]
    queries, docs, grades = zip(*rows, strict=True)
    return Qrels.from_columns(queries, docs, grades, name=qrels.name)
