"""The texts that runs carry themselves: logs with contexts, rows with a text, frames, answers of live retrievers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, InMemoryCorpus
from rankgauge.io.formats import log
from rankgauge.io.formats.entries import ID_KEYS
from rankgauge.io.formats.frames import frame_columns, is_frame
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.json_records import Record, id_from_json, read_records
from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.formats.names import columns_for, normalize_name
from rankgauge.io.options import Reading
from rankgauge.retrieval.asking.documents import TEXT_FIELD_NAMES

CONTEXT_KEYS = ("retrieved_contexts", "contexts")
NO_TEXTS_HINT = "name the chunks that it was made from: --chunks CHUNKS, chunks=…"
Texts = Iterator[tuple[bytes, str]]


def texts_of_runs(runs: Sequence[Any], loaded: Sequence[Run], reading: Reading) -> Corpus:
    """The chunks that some runs retrieved; raises if one of them has no text, or two texts."""
    texts: dict[bytes, str] = {}
    for source, run in zip(runs, loaded, strict=True):
        count = len(texts)
        is_known = False
        for doc, text in _texts_of(source, reading):
            is_known = True
            if texts.setdefault(doc, text) != text:
                raise InputError(
                    f"run {shown(run.name)}: chunk {shown(doc)} has two different texts",
                    hint="the ids of chunks must be unique; runs on different chunks need --chunks",
                )
        if not is_known and len(texts) == count and len(run.docs):
            raise InputError(f"run {shown(run.name)} has no texts, which gold passages need", hint=NO_TEXTS_HINT)
    documents = [CorpusDocument(doc, "", text) for doc, text in texts.items()]
    return InMemoryCorpus(documents or [CorpusDocument(b"-", "", "")], source="the runs")


def _texts_of(source: Any, reading: Reading) -> Texts:
    held = getattr(source, "chunk_texts", None)
    if isinstance(held, Mapping):
        yield from ((encode_id(doc, "document id"), text) for doc, text in held.items())
    elif isinstance(source, (str, Path)):
        yield from _texts_in_file(source, reading)
    elif is_frame(source):
        yield from _texts_in_frame(source)


def _texts_in_file(path: str | Path, reading: Reading) -> Texts:
    if str(path) == "-":
        return
    data, _ = read_bytes(path, limits=reading.limits)
    head = Head(data)
    if not head.is_json or head.record is None:
        return
    faults = Faults(str(path))
    if not log.is_log_record(head.record, "run"):
        yield from _texts_in_rows(read_records(faults, data).records)
        return
    loaded = log.load(faults, data)
    for row in loaded.queries:
        yield from _texts_in_record(loaded.records.records[row], loaded.keys.get("retrieved"))


def _texts_in_rows(records: Sequence[Record]) -> Texts:
    """One result per row, with its text."""
    names = list(records[0])
    doc_key = next(iter(columns_for(names, "doc")), None)
    text_key = _text_key(names)
    for record in records if doc_key and text_key else ():
        if isinstance(text := record.get(text_key or ""), str):
            yield id_from_json(record.get(doc_key or ""), "document id"), text


def _texts_in_record(record: Record, key: str | None) -> Texts:
    """All results of a query: texts as they are, objects with an id and a text, or ids beside a list of texts."""
    items = record.get(key or "")
    if not isinstance(items, list) or key is None:
        return
    contexts = next((record[name] for name in record if _is_context_key(name) and name != key), None)
    for index, item in enumerate(items):
        if isinstance(item, JsonPairs):
            values = dict(item)
            text_key = _text_key(list(values))
            id_keys = [name for name in ID_KEYS if name in values] or columns_for(list(values), "doc")
            if text_key and id_keys and isinstance(values[text_key], str):
                yield id_from_json(values[id_keys[0]], "document id"), values[text_key]
        elif _is_context_key(key) and isinstance(item, str):
            yield encode_id(item, "document id"), item
        elif isinstance(contexts, list) and len(contexts) == len(items) and isinstance(contexts[index], str):
            yield id_from_json(item, "document id"), contexts[index]


def _texts_in_frame(frame: Any) -> Texts:
    columns = frame_columns(frame)
    doc_key, text_key = next(iter(columns_for(list(columns), "doc")), None), _text_key(list(columns))
    if doc_key and text_key:
        for doc, text in zip(columns[doc_key], columns[text_key], strict=True):
            if isinstance(text, str):
                yield id_from_json(doc, "document id"), text


def _text_key(names: Sequence[str]) -> str | None:
    keys = {normalize_name(name): name for name in names}
    return next((keys[name] for name in map(normalize_name, TEXT_FIELD_NAMES) if name in keys), None)


def _is_context_key(name: str) -> bool:
    return normalize_name(name) in map(normalize_name, CONTEXT_KEYS)
