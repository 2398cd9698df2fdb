"""Corpora in one file: JSON Lines, CSV and TSV, Parquet and Arrow, TREC's SGML."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, shown
from rankgauge.io.formats import arrow
from rankgauge.io.formats.jsonl import id_of
from rankgauge.io.formats.names import plain
from rankgauge.io.queries import DOC_IDS, TEXTS
from rankgauge.io.text import sound
from rankgauge.retrieval.corpus.documents import Document, Documents
from rankgauge.retrieval.corpus.lines import LIMITS, head, lines, pieces

TITLES = ("title", "headline", "name")


class FileDocuments(Documents):
    """A corpus in one file. The hash is taken while the file is read, or by reading it once for that."""

    def __init__(self, path: str | Path) -> None:
        if str(path) == "-":
            raise InputError("a corpus is read more than once: standard input can be read only once")
        self.source = str(path)
        self._sha256: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The one file."""
        return (self.source,)

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        if self._sha256 is None:
            for _ in pieces(self.source, self._told):
                pass
        assert self._sha256 is not None
        return self._sha256

    def _told(self, digest: str) -> None:
        self._sha256 = digest

    def _document(self, line: int, row: Mapping[str, Any], keys: tuple[str, str | None, str | None]) -> Document:
        key, title, text = keys
        try:
            name = id_of(row.get(key), "document id")
        except InputError as error:
            raise InputError.at(self.source, line, error.message) from None
        words = row.get(text or "")
        heading = sound(str(row.get(title or "") or ""))
        return Document(name, heading, sound(words) if isinstance(words, str) else "", line)

    def _keys(self, line: int, names: Iterable[str]) -> tuple[str, str | None, str | None]:
        """Which key is the id, the title, the text."""
        known = {plain(name): name for name in reversed(list(names))}
        key = next((known[plain(name)] for name in DOC_IDS if plain(name) in known), None)
        if key is None:
            listed = ", ".join(shown(name) for name in list(known.values())[:12])
            raise InputError.at(self.source, line, f"expected an id ({', '.join(DOC_IDS)}), found {listed}")
        title = next((known[plain(name)] for name in TITLES if plain(name) in known), None)
        text = next(
            (known[plain(name)] for name in TEXTS if plain(name) in known and known[plain(name)] != title), None
        )
        return key, title, text


class JsonLines(FileDocuments):
    """One object a line, with ``_id``, ``title`` and ``text`` (or their like)."""

    def __iter__(self) -> Iterator[Document]:
        keys = None
        for number, line in enumerate(lines(self.source, self._told), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line.decode("utf-8"))  # of bytes it would first guess the encoding
            except ValueError as error:
                raise InputError.at(self.source, number, f"not JSON: {error}") from None
            if not isinstance(row, dict):
                raise InputError.at(self.source, number, f"expected an object, found {shown(line)}")
            keys = keys or self._keys(number, row)
            yield self._document(number, row, keys)


class Delimited(FileDocuments):
    """CSV or TSV with a header, or ``id tab text`` without one."""

    def __iter__(self) -> Iterator[Document]:
        csv.field_size_limit(LIMITS.line)
        text = (line.decode("utf-8", "surrogateescape") + "\n" for line in lines(self.source, self._told))
        first = next(text, "")
        mark = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
        names = [name.strip() for name in next(csv.reader([first], delimiter=mark), [])]
        headed = any(plain(name) in {plain(known) for known in DOC_IDS} for name in names)
        if not headed and len(names) != 2:
            raise InputError.at(
                self.source, 1, f"expected a header with an id ({', '.join(DOC_IDS)}), found {shown(first)}"
            )
        keys = self._keys(1, names) if headed else ("_id", None, "text")
        columns = names if headed else ["_id", "text"]
        reader = csv.reader(text if headed else _chained(first, text), delimiter=mark, strict=True)
        skipped = 1 if headed else 0
        before = skipped
        try:
            for row in reader:
                if row and len(row) != len(columns):
                    raise InputError.at(self.source, before + 1, f"expected {len(columns)} columns, found {len(row)}")
                if row:
                    yield self._document(before + 1, dict(zip(columns, row, strict=True)), keys)
                before = reader.line_num + skipped
        except csv.Error as error:
            raise InputError.at(self.source, before + 1, f"quotation marks are wrong: {error}") from None


def _chained(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


class Arrow(FileDocuments):
    """Parquet or Arrow IPC, a batch at a time."""

    def __iter__(self) -> Iterator[Document]:
        keys: list[tuple[str, str | None, str | None]] = []

        def chosen(names: Sequence[str]) -> list[str]:
            keys.append(self._keys(1, names))
            return [name for name in keys[0] if name is not None]

        for number, row in enumerate(arrow.streamed(self.source, chosen), start=1):
            yield self._document(number, row, keys[0])


DOC = re.compile(rb"<DOC>(.*?)</DOC>", re.DOTALL | re.IGNORECASE)
DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL | re.IGNORECASE)
TITLE = re.compile(r"<(TITLE|HEADLINE|HL|TTL|HEAD)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
BODY = re.compile(r"<(TEXT|BODY|GRAPHIC|LP|ABSTRACT)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")


class Sgml(FileDocuments):
    """TREC's ``<DOC><DOCNO>…</DOCNO><TEXT>…</TEXT></DOC>``; a document without a known body is all its text."""

    def __iter__(self) -> Iterator[Document]:
        rest, line = b"", 1
        for piece in pieces(self.source, self._told):
            rest += piece
            done = 0
            for found in DOC.finditer(rest):
                line += rest.count(b"\n", done, found.start())
                yield self._parsed(line, found.group(1))
                line += rest.count(b"\n", found.start(), found.end())
                done = found.end()
            rest = rest[done:]
            if len(rest) > LIMITS.line:
                raise InputError.at(self.source, line, f"a document of more than {LIMITS.line} bytes, or no </DOC>")
        if b"<doc>" in rest.lower():
            raise InputError.at(self.source, line, "expected </DOC>, found the end of the file")

    def _parsed(self, line: int, data: bytes) -> Document:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("latin-1")  # the older TREC discs
        name = DOCNO.search(text)
        if name is None:
            raise InputError.at(self.source, line, "expected <DOCNO> in a document, found none")
        key = encode_id(name.group(1), "document id")
        titles = " ".join(_plain(found.group(2)) for found in TITLE.finditer(text))
        bodies = [_plain(found.group(2)) for found in BODY.finditer(text)]
        rest = TITLE.sub(" ", text[: name.start()] + text[name.end() :])
        return Document(key, titles, " ".join(bodies) if bodies else _plain(rest), line)


def _plain(text: str) -> str:
    return " ".join(html.unescape(TAG.sub(" ", text)).split())


def _unpacked(found: Arrow) -> Arrow:
    """Columns packed once more cannot be streamed, and need not be: they are packed inside."""
    with Path(found.source).open("rb") as file:
        if not file.read(8).startswith((arrow.PARQUET, arrow.FILE, arrow.STREAM)):
            raise InputError.at(found.source, None, "a packed Parquet or Arrow file", hint="unpack it: it streams then")
    return found


def open_file(path: str | Path) -> FileDocuments:
    """A corpus in a file of any of these formats, told by its first bytes."""
    first = head(path)
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise InputError.at(path, None, "file is empty")
    if first.startswith((arrow.PARQUET, arrow.FILE, arrow.STREAM)):
        return _unpacked(Arrow(path))
    if start.startswith(b"{"):
        return JsonLines(path)
    if start[:5].lower().startswith((b"<doc>", b"<?xml", b"<!--")):
        return Sgml(path)
    if b"\0" in first:
        raise InputError.at(path, None, "neither text nor Parquet", hint="a corpus is JSON Lines, CSV, TSV or Parquet")
    return Delimited(path)
