"""Write labels with the hash of the text that each of them is about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.lines import document_limits
from rankgauge.io.formats.json_records import id_from_json, read_records
from rankgauge.io.formats.judgments import is_judgment_record
from rankgauge.io.options import DEFAULT_READING, Reading
from rankgauge.io.read import as_qrels
from rankgauge.io.trec_writer import int_if_exact
from rankgauge.io.writing import write_atomically
from rankgauge.labels.judged import has_provenance
from rankgauge.validation.label_rot import HASH_KEY, stored_hashes

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
    table = read_records(faults, read_bytes(labels, limits=document_limits(reading.limits))[0])
    faults.raise_errors()
    for line, row in zip(table.line.tolist(), table.records, strict=True):
        if not is_judgment_record(row):
            raise InputError.at(labels, line, f"expected a judgment, found {printable(json.dumps(row))}")
        yield row


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
