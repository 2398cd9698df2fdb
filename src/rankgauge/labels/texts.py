"""Pooled documents with their texts, and the file of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.writing import write_atomically
from rankgauge.labels.pooling import PooledDocument
from rankgauge.labels.records import PoolItem


def with_texts(
    documents: Sequence[PooledDocument],
    corpus: Corpus | None = None,
    query_texts: Mapping[str, str] | None = None,
) -> list[PoolItem]:
    """The items of a pool, with the texts that are known; the corpus is read once."""
    needed = {document.doc for document in documents if document.sampled}
    texts: dict[bytes, CorpusDocument] = {}
    if corpus is not None:
        texts = {document.id: document for document in corpus if document.id in needed}
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
