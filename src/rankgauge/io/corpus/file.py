"""What corpora in one file have in common: the hash, and which key is the id, the title and the text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.errors import InputError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, open_stored, sha256_of_file
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.corpus.lines import document_limits, read_chunks, read_lines
from rankgauge.io.formats.json_records import id_from_json
from rankgauge.io.formats.names import DOC_ID_NAMES, TEXT_NAMES, TITLE_NAMES, normalize_name
from rankgauge.io.text import replace_lone_surrogates

ESTIMATED_FROM = 1 << 18  # bytes of a file
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PAR1", b"ARROW1")


class DocumentKeys(NamedTuple):
    """The keys of a document's parts in a row."""

    id: str
    title: str | None
    text: str | None


class FileCorpus(Corpus):
    """A corpus in one file. The hash is computed while the file is read, or by reading the file once for that."""

    def __init__(self, path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        if str(path) == "-":
            raise InputError("a corpus is read more than once, but standard input can be read only once")
        self.source = str(path)
        self.limits = document_limits(limits)
        self._sha256: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The one file."""
        return (self.source,)

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        if self._sha256 is None:
            self._sha256 = sha256_of_file(self.source)
        return self._sha256

    @property
    def size_estimate(self) -> int:
        """The number of lines, from those at the beginning; 0 for a compressed file, or if there is one line."""
        with open_stored(self.source) as file:
            head, size = file.read(ESTIMATED_FROM), os.fstat(file.fileno()).st_size
        lines = head.count(b"\n")
        if head.startswith(COMPRESSED) or lines < 2:
            return 0
        return max(size * lines // len(head), 1)

    def _set_sha256(self, digest: str) -> None:
        self._sha256 = digest

    def _read_chunks(self) -> Iterator[bytes]:
        return read_chunks(self.source, self.limits, self._set_sha256)

    def _read_lines(self) -> Iterator[bytes]:
        return read_lines(self.source, self.limits, self._set_sha256)

    def _document(self, line: int, row: Mapping[str, Any], keys: DocumentKeys) -> CorpusDocument:
        try:
            document_id = id_from_json(row.get(keys.id), "document id")
        except InputError as error:
            raise InputError.at(self.source, line or None, error.message) from None
        title = replace_lone_surrogates(str(row.get(keys.title or "") or ""))
        text = row.get(keys.text or "")
        return CorpusDocument(document_id, title, replace_lone_surrogates(text) if isinstance(text, str) else "", line)

    def _keys(self, line: int, names: Iterable[str]) -> DocumentKeys:
        """Find out which key is the id, the title and the text."""
        keys = {normalize_name(name): name for name in reversed(list(names))}
        id_key = next((keys[name] for name in map(normalize_name, DOC_ID_NAMES) if name in keys), None)
        if id_key is None:
            found_keys = ", ".join(shown(name) for name in list(keys.values())[:12])
            raise InputError.at(
                self.source, line or None, f"expected a document id ({', '.join(DOC_ID_NAMES)}), found {found_keys}"
            )
        title_key = next((keys[name] for name in map(normalize_name, TITLE_NAMES) if name in keys), None)
        text_keys = (keys[name] for name in map(normalize_name, TEXT_NAMES) if name in keys)
        return DocumentKeys(id_key, title_key, next((key for key in text_keys if key != title_key), None))
