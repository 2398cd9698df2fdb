"""A corpus: documents that can be iterated over repeatedly, and a hash of their content."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.ids import Ids, encode_id, repeated
from rankgauge.errors import InputError, InputTypeError, shown


class CorpusDocument(NamedTuple):
    """One document. ``line`` is its line in the file, or 0 if the source has no lines."""

    id: bytes
    title: str
    text: str
    line: int = 0

    @property
    def full_text(self) -> str:
        """Title and text, which is what retrievers index."""
        return f"{self.title} {self.text}" if self.title else self.text

    @property
    def text_sha256(self) -> str:
        """The hash that a judgment of this text keeps."""
        return text_sha256(self.full_text)


def text_sha256(text: str) -> str:
    """The hash of a text."""
    return hashlib.sha256(_utf8(text)).hexdigest()


class Corpus(ABC):
    """The documents of a collection. Each iteration reads the source anew; nothing is kept in memory."""

    source: str

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the corpus is read from, which no output may overwrite."""
        return ()

    @abstractmethod
    def __iter__(self) -> Iterator[CorpusDocument]:
        """Iterate over the documents in the order of the corpus."""

    @property
    def size_estimate(self) -> int:
        """About how many documents there are, for the time that is left; 0 if that is unknown."""
        return 0

    def originals(self) -> Iterator[CorpusDocument]:
        """The documents with the texts of their sources, into which the offsets of chunks and labels count.

        They differ from the documents in a folder of Markdown only: the heading that is the title stays in the text.
        """
        return iter(self)

    @property
    @abstractmethod
    def sha256(self) -> str:
        """The hash of the source: of the file, as ``sha256sum`` prints it, or of all its parts."""

    @property
    def ids(self) -> Ids:
        """All document ids, read from the source; raises if one of them appears twice."""
        names: list[bytes] = []
        lines: list[int] = []
        for document in self:
            names.append(document.id)
            lines.append(document.line)
        return unique_ids(self.source, names, lines)


class InMemoryCorpus(Corpus):
    """Documents in memory: ``{id: text}``, ``{id: {"title": …, "text": …}}``, or ``CorpusDocument`` objects."""

    def __init__(self, documents: Mapping[str, Any] | Iterable[CorpusDocument], source: str = "documents") -> None:
        self.source = source
        self._sha256: str | None = None
        if isinstance(documents, Mapping):
            self._documents = [_document_from_value(name, value) for name, value in documents.items()]
        else:
            self._documents = list(documents)

    def __iter__(self) -> Iterator[CorpusDocument]:
        return iter(self._documents)

    @property
    def size_estimate(self) -> int:
        """How many documents there are."""
        return len(self._documents)

    @property
    def sha256(self) -> str:
        """A hash of ids, titles and texts, computed once."""
        if self._sha256 is None:
            self._sha256 = self._compute_sha256()
        return self._sha256

    def _compute_sha256(self) -> str:
        digest = hashlib.sha256(b"rankgauge documents 1\n")
        for document in self._documents:
            for part in (document.id, _utf8(document.title), _utf8(document.text)):
                digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _document_from_value(name: str, value: Any) -> CorpusDocument:
    document_id = encode_id(name, "document id")
    if isinstance(value, str):
        return CorpusDocument(document_id, "", value)
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        return CorpusDocument(document_id, str(value.get("title") or ""), value["text"])
    raise InputTypeError(
        f"document {shown(name)} must be a string or a dict with the key 'text', found {type(value).__name__}"
    )


def unique_ids(source: str, ids: Sequence[bytes], lines: Sequence[int] | None = None) -> Ids:
    """The ids of a corpus; raises if one of them appears twice or if there are none."""
    if not ids:
        raise InputError.at(source, None, "no documents")
    document_ids = Ids.from_bytes(list(ids))
    first_rows, repeated_rows = repeated(document_ids, np.zeros(len(document_ids), dtype=np.int64))
    if len(repeated_rows):
        row, first_row = int(repeated_rows[0]), int(first_rows[0])
        line = lines[row] if lines else 0
        first_place = f" (first on line {lines[first_row]})" if lines and line else ""
        raise InputError.at(
            source,
            line or None,
            f"expected each document id once, found {shown(document_ids[row])} again{first_place}",
        )
    return document_ids
