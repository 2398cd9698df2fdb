"""Labels that no longer fit: the text behind a document's id is not the one that was judged, or the id is gone.

A splitter that numbers its chunks gives the same ids to other texts when its options change. A label that keeps the
hash of the judged text, as ``stamp_labels`` writes it, shows that; one that keeps none shows only that its document is
gone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankgauge.core.formatting import plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import AnyFile, LoadedFile, document_limits, is_dataset, load_file, read_bytes
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import id_from_json, read_records
from rankgauge.io.formats.judgment_lines import (
    complete_lines,
    current_records,
    has_provenance,
    is_judgment_record,
    judgment_records,
)
from rankgauge.io.formats.named_columns import find_columns
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.io.text_checks import int_if_exact

LabelState = Literal["fits", "changed", "gone", "unverified"]
LABEL_STATES: tuple[LabelState, ...] = ("fits", "changed", "gone", "unverified")
ROTTED: tuple[LabelState, ...] = ("changed", "gone")
HASH_KEY = "text_sha256"
Hashes = Mapping[tuple[bytes, bytes], frozenset[str]]  # (query, document) → the hashes that its labels keep


@dataclass(frozen=True, slots=True)
class CheckedLabel:
    """The label of a document, and whether it still fits; ``unverified`` if it keeps no hash."""

    query: str
    doc: str
    grade: float
    state: LabelState

    @property
    def is_rotted(self) -> bool:
        """Whether the text changed or is gone."""
        return self.state in ROTTED


@dataclass(frozen=True)
class LabelCheck(HtmlView):
    """Every label of a file, compared with the texts of a corpus."""

    source: str
    corpus: str
    labels: tuple[CheckedLabel, ...]

    def __repr__(self) -> str:
        return f"LabelCheck({self.source!r}: {self.summary})"

    @cached_property
    def rotted(self) -> tuple[CheckedLabel, ...]:
        """The labels that no longer fit."""
        return tuple(label for label in self.labels if label.is_rotted)

    @cached_property
    def rotted_queries(self) -> frozenset[str]:
        """The queries that have a relevant label, of a grade above 0, that no longer fits."""
        return frozenset(label.query for label in self.rotted if label.grade > 0)

    @cached_property
    def counts(self) -> Counter[LabelState]:
        """How many labels are in each state."""
        return Counter(label.state for label in self.labels)

    @property
    def summary(self) -> str:
        """How many labels no longer fit, and why: for a sentence."""
        changed, gone = self.counts["changed"], self.counts["gone"]
        reasons = [
            f"the text of {changed:,} changed" if changed else "",
            f"the document of {gone:,} is gone" if gone else "",
        ]
        verb = "fits" if len(self.rotted) == 1 else "fit"
        count = f"{len(self.rotted):,} of {plural(len(self.labels), 'label')} no longer {verb}"
        return f"{count} {printable(self.corpus, None)} ({', '.join(filter(None, reasons))})"

    @cached_property
    def by_query(self) -> dict[str, Counter[LabelState]]:
        """How many labels of each query are in each state."""
        counts: dict[str, Counter[LabelState]] = {}
        for label in self.labels:
            counts.setdefault(label.query, Counter())[label.state] += 1
        return counts


def check_labels(labels: AnyFile, corpus: Any, *, reading: Reading = DEFAULT_READING) -> LabelCheck:
    """Compare the text hashes of labels with a corpus: a path, ``{id: text}`` or a ``Corpus``.

    The labels are judgments in any format; those of ``rankgauge judge`` and of ``runs validate --stamp`` keep hashes.
    """
    labels = labels if isinstance(labels, LoadedFile) or is_dataset(labels) else load_file(labels)
    documents = read_corpus(corpus, limits=reading.limits)
    return compare_hashes(as_qrels(labels, reading), stored_hashes(labels, reading), documents, str(labels))


def stored_hashes(labels: AnyFile, reading: Reading = DEFAULT_READING) -> Hashes:
    """The hashes that labels keep; none unless the file is JSON Lines with ``text_sha256``.

    If several assessors judged a document, each may have seen another text.
    """
    if is_dataset(labels):
        return {}
    data, _ = read_bytes(labels, limits=reading.limits)
    if not data.lstrip().startswith(b"{") or HASH_KEY.encode() not in data:
        return {}
    faults = Faults(str(labels))
    table = read_records(faults, complete_lines(faults, data))
    if all(map(is_judgment_record, table.records)):
        table = current_records(table)
    columns = find_columns(str(labels), table.names, "qrels")
    queries = table.ids(faults, columns["query"], "query id")
    docs = table.ids(faults, columns["doc"], "document id")
    faults.raise_errors()
    hashes: dict[tuple[bytes, bytes], frozenset[str]] = {}
    for line, record, pair in zip(table.line.tolist(), table.records, zip(queries, docs, strict=True), strict=True):
        sha256 = record.get(HASH_KEY)
        if sha256 is None:
            continue
        if not isinstance(sha256, str):
            raise InputError.at(str(labels), line, f"expected a hash in hexadecimal as {HASH_KEY}, found {sha256!r}")
        hashes[pair] = hashes.get(pair, frozenset()) | {sha256.lower()}
    return hashes


def compare_hashes(qrels: Qrels, hashes: Hashes, corpus: Corpus, source: str) -> LabelCheck:
    """The state of every label; the corpus is read once, and only judged documents are hashed."""
    judged, hashed = set(qrels.docs), {doc for _, doc in hashes}
    current: dict[bytes, str | None] = {}
    for document in corpus:
        if document.id in judged:
            current[document.id] = document.text_sha256 if document.id in hashed else None
    names, queries = qrels.queries.to_text(), list(qrels.queries)
    labels = []
    for number, doc, grade in zip(qrels.query.tolist(), qrels.docs, qrels.grades.tolist(), strict=True):
        stored = hashes.get((queries[number], doc))
        state: LabelState = (
            "gone"
            if doc not in current
            else "unverified"
            if stored is None
            else "fits"
            if stored == {current[doc]}
            else "changed"
        )
        labels.append(CheckedLabel(names[number], doc.decode("utf-8", "surrogateescape"), grade, state))
    return LabelCheck(source, corpus.source, tuple(labels))


# Write labels with the hash of the text that each of them is about.

Row = dict[str, Any]


class StampCounts(NamedTuple):
    """What became of the labels."""

    stamped: int
    kept: int  # with a hash that they had before
    missing: tuple[str, ...]  # documents that the corpus does not have: their labels get no hash


def stamp_labels(
    labels: str | Path, corpus: Corpus, out: str | Path, *, reading: Reading = DEFAULT_READING
) -> StampCounts:
    """Write labels as JSON Lines, each with the hash of its document's text in the corpus.

    Call it while the labels fit. A hash that a label has already stays, so that rot is never hidden. Judgments of
    ``rankgauge judge`` keep everything else that they have.
    """
    rows = list(_judgment_rows(labels, reading) if has_provenance(labels) else _plain_rows(labels, reading))
    kept = sum(row.get(HASH_KEY) is not None for row in rows)
    needed = {_document(row) for row in rows if row.get(HASH_KEY) is None}
    hashes = {document.id: document.text_sha256 for document in corpus if document.id in needed}
    if needed and not hashes:
        raise InputError.at(
            corpus.source,
            None,
            f"no labeled document is in the corpus: {shown(min(needed))} for example",
            hint="name the corpus whose documents were judged, with the same ids",
        )
    stamped = 0
    with write_atomically(out, inputs=[labels, *corpus.files]) as file:
        for row in rows:
            if row.get(HASH_KEY) is None and (sha256 := hashes.get(_document(row))) is not None:
                row[HASH_KEY] = sha256
                stamped += 1
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")
    missing = tuple(doc.decode("utf-8", "surrogateescape") for doc in sorted(needed - hashes.keys()))
    return StampCounts(stamped, kept, missing)


def _judgment_rows(labels: str | Path, reading: Reading) -> Iterator[Row]:
    """The lines of a file of judgments, with those that were replaced or withdrawn."""
    faults = Faults(str(labels))
    table = judgment_records(faults, read_bytes(labels, limits=document_limits(reading.limits))[0])
    faults.raise_or_warn()
    yield from table.records


def _plain_rows(labels: str | Path, reading: Reading) -> Iterator[Row]:
    """Judgments of any other format, with one grade per document."""
    qrels = as_qrels(labels, reading)
    if qrels.by_group is not None:
        raise UsageError(f"only judgments with one grade per document can be stamped, found {qrels.judgments}")
    hashes, queries = stored_hashes(labels, reading), list(qrels.queries)
    names, docs = qrels.queries.to_text(), qrels.docs.to_text()
    for at, (number, doc) in enumerate(zip(qrels.query.tolist(), qrels.docs, strict=True)):
        row: Row = {"query_id": names[number], "doc_id": docs[at]}
        row["relevance"] = int_if_exact(float(qrels.grades[at]))
        stored = hashes.get((queries[number], doc))
        yield row if stored is None else {**row, HASH_KEY: min(stored)}


def _document(row: Row) -> bytes:
    return id_from_json(row.get("doc_id"), "document id")
