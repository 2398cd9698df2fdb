"""What a corpus is: documents that can be gone through again and again, and a hash of what they hold."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.ids import Ids, encode_id, repeated
from rankgauge.errors import InputError, InputTypeError, shown


class Document(NamedTuple):
    """One document. ``line`` is where it stands in its file, 0 where that means nothing."""

    id: bytes
    title: str
    text: str
    line: int = 0

    @property
    def whole(self) -> str:
        """Title and text, which is what retrievers read."""
        return f"{self.title} {self.text}" if self.title else self.text


class Documents(ABC):
    """A corpus. Going through it reads it anew; nothing is kept in memory."""

    source: str

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it is read from, which no output may overwrite."""
        return ()

    @abstractmethod
    def __iter__(self) -> Iterator[Document]:
        """The documents, in the corpus's order."""

    @property
    @abstractmethod
    def sha256(self) -> str:
        """The hash of what it is read from: of the file as ``sha256sum`` prints it, or of all the parts."""


class Held(Documents):
    """Documents in memory: ``{id: text}``, ``{id: {"title": …, "text": …}}``, or ``Document`` objects."""

    def __init__(self, given: Mapping[str, Any] | Iterable[Document], source: str = "documents") -> None:
        self.source = source
        self._sha256: str | None = None
        if isinstance(given, Mapping):
            self._documents = [_held(name, value) for name, value in given.items()]
        else:
            self._documents = list(given)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents)

    @property
    def sha256(self) -> str:
        """A hash of ids, titles and texts, taken once."""
        if self._sha256 is None:
            self._sha256 = self._hashed()
        return self._sha256

    def _hashed(self) -> str:
        digest = hashlib.sha256(b"rankgauge documents 1\n")
        for document in self._documents:
            for part in (document.id, _bytes(document.title), _bytes(document.text)):
                digest.update(len(part).to_bytes(8, "little") + part)
        return digest.hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _held(name: str, value: Any) -> Document:
    key = encode_id(name, "document id")
    if isinstance(value, str):
        return Document(key, "", value)
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        return Document(key, str(value.get("title") or ""), value["text"])
    raise InputTypeError(f"document {shown(name)} must be a text or have one, found {type(value).__name__}")


def ids_of(source: str, ids: list[bytes], lines: list[int] | None = None) -> Ids:
    """The ids of a corpus; raises where one stands twice or there is none."""
    if not ids:
        raise InputError.at(source, None, "no documents")
    made = Ids.from_bytes(ids)
    before, again = repeated(made, np.zeros(len(made), dtype=np.int64))
    if len(again):
        row, other = int(again[0]), int(before[0])
        line = lines[row] if lines else 0
        where = f" (first on line {lines[other]})" if lines and line else ""
        raise InputError.at(
            source, line or None, f"expected each document id once, found {shown(made[row])} again{where}"
        )
    return made
