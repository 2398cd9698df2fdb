"""Open a corpus: from a file of any format, from a folder of texts, or from memory; a collection."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.core.ids import encode_id
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.byte_streams import (
    DEFAULT_LIMITS,
    Limits,
    document_limits,
    is_dataset,
    load_file,
    open_source,
    open_stored,
    read_bytes,
    sha256_of_file,
)
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, InMemoryCorpus
from rankgauge.io.corpus.markdown import first_heading
from rankgauge.io.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.formats.delimited import csv_problem, delimiter_of
from rankgauge.io.formats.json_text import id_from_json, parse_plain_json, read_records
from rankgauge.io.formats.named_columns import DOC_ID_NAMES, TEXT_NAMES, TITLE_NAMES, has_name, normalize_name
from rankgauge.io.formats.sgml import Element, decode, find_elements, find_tags, without_tags
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.read import read_qrels
from rankgauge.io.text_checks import BOM, replace_lone_surrogates

CORPUS_FILE_NAMES = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.parquet", "corpus.tsv", "corpus.csv")


def read_corpus(source: Any, *, limits: Limits = DEFAULT_LIMITS) -> Corpus:
    """Open a corpus: a file (JSON Lines, CSV, TSV, Parquet, Arrow, TREC SGML), a folder, or ``{id: text}``.

    A folder is read in BEIR's layout if it contains ``corpus.jsonl``, otherwise as text and Markdown files. The format
    is detected from the content. Only the beginning of the file is read before the corpus is iterated over.
    """
    if isinstance(source, Corpus):
        return source
    if isinstance(source, Mapping):
        return InMemoryCorpus(source)
    if not isinstance(source, (str, Path)):
        raise InputTypeError(f"a corpus must be a path, a dict or a Corpus, found {type(source).__name__}")
    if is_dataset(source):
        raise InputError(f"{source}: the documents of ir_datasets cannot be read", hint="export them as JSON Lines")
    path = Path(source)
    if path.is_dir():
        file = first_file(path, CORPUS_FILE_NAMES)
        return FolderCorpus(path) if file is None else _open_file(file, limits)
    return _open_file(path, limits)


def read_documents(source: Any, *, limits: Limits = DEFAULT_LIMITS) -> Corpus:
    """Open documents that are split, or that spans count in: a corpus, or one ``.md`` or ``.txt`` file as a document.

    A ``.txt`` file that begins as JSON or SGML does is a corpus.
    """
    path = Path(source) if isinstance(source, (str, Path)) else None
    if path is None or path.suffix.lower() not in SUFFIXES or not path.is_file():
        return read_corpus(source, limits=limits)
    corpus = _open_file(path, limits)
    is_text = isinstance(corpus, DelimitedCorpus) or path.suffix.lower() != ".txt"
    return FolderCorpus(path) if is_text else corpus


def _open_file(path: Path, limits: Limits) -> FileCorpus:
    """A corpus in one file, whose format is detected from its first bytes."""
    head = read_head(path, limits)
    text = head.removeprefix(BOM).lstrip()
    if not text:
        raise InputError.at(path, None, "file is empty")
    if head.startswith(arrow.MAGIC_BYTES):
        _check_uncompressed(path)
        return ArrowCorpus(path, limits=limits)
    if text.startswith(b"{"):
        return JsonLinesCorpus(path, limits=limits)
    if text.startswith(b"["):
        return JsonArrayCorpus(path, limits=limits)
    if text[:5].lower().startswith((b"<doc>", b"<?xml", b"<!--")):
        return SgmlCorpus(path, limits=limits)
    if b"\0" in head:
        raise InputError.at(path, None, "neither text nor Parquet", hint="a corpus is JSON Lines, CSV, TSV or Parquet")
    return DelimitedCorpus(path, limits=limits)


def _check_uncompressed(path: Path) -> None:
    """Refuse a compressed Parquet file: it cannot be streamed, and its columns are compressed anyway."""
    with open_stored(path) as file:
        if not file.read(8).startswith(arrow.MAGIC_BYTES):
            raise InputError.at(
                path, None, "a compressed Parquet or Arrow file", hint="decompress it so that it can be streamed"
            )


def first_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of some names that is a file in a folder."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


# What corpora in one file have in common: the hash, and which key is the id, the title and the text.

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


# The bytes and lines of a corpus file, streamed.

CHUNK_BYTES = 1 << 20


def read_chunks(path: str | Path, limits: Limits, set_sha256: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes of a source in chunks; ``set_sha256`` receives the hash of the file at its end."""
    with open_source(path, limits=limits, hashed=True) as stream:
        view = memoryview(bytearray(CHUNK_BYTES))
        while size := stream.readinto(view):
            yield bytes(view[:size])
        set_sha256(stream.sha256 or "")


def read_lines(path: str | Path, limits: Limits, set_sha256: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of a source, without their line ends."""
    rest = b""
    is_first = True
    for chunk in read_chunks(path, limits, set_sha256):
        if is_first:
            chunk, is_first = chunk.removeprefix(BOM), False
        *complete_lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
        if len(rest) > limits.max_line:
            raise InputError.at(path, None, f"a line of more than {limits.max_line} bytes")
        yield from complete_lines
    if rest:
        yield rest


def read_head(path: str | Path, limits: Limits) -> bytes:
    """The first bytes of a source, decompressed."""
    with open_source(path, limits=limits) as stream:
        view = memoryview(bytearray(1 << 16))
        return bytes(view[: stream.readinto(view)])


# Corpora in one file of rows: JSON Lines, a JSON array, CSV and TSV, Parquet and Arrow.


class JsonLinesCorpus(FileCorpus):
    """One object per line, with ``_id``, ``title`` and ``text`` (or similar names)."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        keys = None
        for number, line in enumerate(self._read_lines(), start=1):
            if not line.strip():
                continue
            row = parse_plain_json(self.source, number, line)
            if not isinstance(row, dict):
                raise InputError.at(self.source, number, f"expected an object, found {shown(line)}")
            keys = keys or self._keys(number, row)
            yield self._document(number, row, keys)


class JsonArrayCorpus(FileCorpus):
    """One array of objects, which is read as a whole."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        data, self._sha256 = read_bytes(self.source, limits=self.limits, hashed=True)
        faults = Faults(self.source)
        table = read_records(faults, data)
        faults.raise_errors()
        keys = self._keys(0, table.names)
        for row in table.records:
            yield self._document(0, row, keys)


class DelimitedCorpus(FileCorpus):
    """CSV or TSV with a header, or ``id tab text`` without one."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        csv.field_size_limit(self.limits.max_line)
        text = (line.decode("utf-8", "surrogateescape") + "\n" for line in self._read_lines())
        first = next(text, "")
        delimiter = delimiter_of(first.encode("utf-8", "surrogateescape")).decode("ascii")
        try:
            names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        except csv.Error as error:
            raise InputError.at(self.source, 1, csv_problem(error)) from None
        has_header = any(has_name(name, DOC_ID_NAMES) for name in names)
        if not has_header and len(names) != 2:
            raise InputError.at(
                self.source,
                1,
                f"expected a header with a document id ({', '.join(DOC_ID_NAMES)}), found {shown(first)}",
            )
        keys = self._keys(1, names) if has_header else DocumentKeys("_id", None, "text")
        columns = names if has_header else ["_id", "text"]
        reader = csv.reader(text if has_header else chain([first], text), delimiter=delimiter, strict=True)
        skipped_lines = 1 if has_header else 0
        lines_before = skipped_lines
        try:
            for row in reader:
                if row and len(row) != len(columns):
                    raise InputError.at(
                        self.source, lines_before + 1, f"expected {len(columns)} columns, found {len(row)}"
                    )
                if row:
                    yield self._document(lines_before + 1, dict(zip(columns, row, strict=True)), keys)
                lines_before = reader.line_num + skipped_lines
        except csv.Error as error:
            raise InputError.at(self.source, lines_before + 1, csv_problem(error)) from None


class ArrowCorpus(FileCorpus):
    """Parquet or Arrow IPC, read in batches."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        keys: list[DocumentKeys] = []

        def choose_columns(names: Sequence[str]) -> list[str]:
            keys.append(self._keys(1, names))
            return [name for name in keys[0] if name is not None]

        for number, row in enumerate(arrow.stream_rows(self.source, choose_columns), start=1):
            yield self._document(number, row, keys[0])


# Corpora in TREC's SGML: ``<DOC><DOCNO>…</DOCNO><TEXT>…</TEXT></DOC>``.

DOC_START, DOC_END = b"<doc>", b"</doc>"
TITLE_TAGS = ("title", "headline", "hl", "ttl", "head")
BODY_TAGS = ("text", "body", "graphic", "lp", "abstract")


class SgmlCorpus(FileCorpus):
    """Documents between ``<DOC>`` and ``</DOC>``. One without a known body tag consists of all its text."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        rest, line = b"", 1
        for chunk in self._read_chunks():
            # Only what is new, and as much as a tag that was cut in two, is searched for the end of a document.
            search_from = max(0, len(rest) - len(DOC_END))
            rest += chunk
            lowercase = rest.lower()
            position = 0
            while (end := lowercase.find(DOC_END, search_from)) >= 0:
                start = lowercase.find(DOC_START, position, end)
                search_from = end + len(DOC_END)
                if start >= 0:
                    yield self._parse(line + rest.count(b"\n", position, start), rest[start + len(DOC_START) : end])
                line += rest.count(b"\n", position, search_from)
                position = search_from
            rest = rest[position:]
            if len(rest) > self.limits.max_line:
                raise InputError.at(
                    self.source, line, f"a document of more than {self.limits.max_line} bytes, or no </DOC>"
                )
        if DOC_START in rest.lower():
            raise InputError.at(self.source, line, "expected </DOC>, found the end of the file")

    def _parse(self, line: int, data: bytes) -> CorpusDocument:
        text = decode(data)
        tags = list(find_tags(text))
        number = next(find_elements(tags, ("docno",)), None)
        if number is None:
            raise InputError.at(self.source, line, "expected <DOCNO> in a document, found none")
        document_id = encode_id(_content(text, number).strip(), "document id")
        titles = list(find_elements(tags, TITLE_TAGS))
        title = " ".join(without_tags(_content(text, element)) for element in titles)
        bodies = [without_tags(_content(text, element)) for element in find_elements(tags, BODY_TAGS)]
        if bodies:
            return CorpusDocument(document_id, title, " ".join(bodies), line)
        return CorpusDocument(document_id, title, without_tags(_without_elements(text, [number, *titles])), line)


def _content(text: str, element: Element) -> str:
    return text[element.opening.end : element.closing.start]


def _without_elements(text: str, elements: list[Element]) -> str:
    """A text without some elements, each replaced by a space."""
    parts: list[str] = []
    position = 0
    for element in sorted(elements, key=lambda element: element.opening.start):
        parts.append(text[position : element.opening.start])
        position = max(position, element.closing.end)
    return " ".join([*parts, text[position:]])


# A folder of text or Markdown files, or one such file: each is a document named by its path.

SUFFIXES = (".txt", ".md", ".markdown")


class FolderCorpus(Corpus):
    """Every ``.txt`` and ``.md`` file below a folder, by path; the first heading of a Markdown file is its title.

    The path may also be that of one file, whose name is its id.
    """

    def __init__(self, path: str | Path) -> None:
        self.source = str(path)
        root = Path(path) if Path(path).is_dir() else Path(path).parent
        found = root.rglob("*") if root == Path(path) else [Path(path)]
        files = [file for file in found if file.suffix.lower() in SUFFIXES and file.is_file()]
        self._files = sorted(
            (file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"), file) for file in files
        )
        self._sha256: str | None = None
        if not self._files:
            raise InputError.at(path, None, f"no files that end in {', '.join(SUFFIXES)}")

    def __iter__(self) -> Iterator[CorpusDocument]:
        for (name, file), original in zip(self._files, self.originals(), strict=True):
            text = original.text
            heading = first_heading(text) if file.suffix.lower() != ".txt" else None
            title = heading.text if heading else ""
            body = text if heading is None else text[: heading.start] + text[heading.end :]
            yield CorpusDocument(name, title, body.strip())

    def originals(self) -> Iterator[CorpusDocument]:
        """The whole text of each file, decoded from UTF-8, without a byte order mark; line ends stay as they are."""
        for name, file in self._files:
            yield CorpusDocument(name, "", load_file(file).stored.decode("utf-8", "replace").removeprefix("\ufeff"))

    @property
    def size_estimate(self) -> int:
        """How many files there are."""
        return len(self._files)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file in the folder that is read."""
        return tuple(str(file) for _, file in self._files)

    @property
    def sha256(self) -> str:
        """The hash of all names and contents, computed once."""
        if self._sha256 is None:
            self._sha256 = self._compute_sha256()
        return self._sha256

    def _compute_sha256(self) -> str:
        digest = hashlib.sha256(b"rankgauge folder 1\n")
        for name, file in self._files:
            digest.update(name + b"\0" + bytes.fromhex(sha256_of_file(file)))
        return digest.hexdigest()


# A collection: a folder with a corpus, queries and judgments.

QUERIES_FILE_NAMES = ("queries.jsonl", "queries.jsonl.gz", "queries.parquet", "queries.tsv", "queries.csv")
QRELS_FILE_NAMES = ("qrels.trec", "qrels.tsv", "qrels.txt", "qrels.jsonl")


@dataclass(frozen=True, eq=False)
class Collection:
    """A corpus, queries and, if there are any, judgments."""

    documents: Corpus
    queries: Queries
    qrels: Qrels | None


def open_collection(folder: str | Path, *, split: str | None = None) -> Collection:
    """Open a folder in BEIR's layout: ``corpus.jsonl``, ``queries.jsonl``, and ``qrels/test.tsv`` or ``qrels.trec``.

    ``split`` names a file of ``qrels/``; by default ``test``, or the only one there is.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError.at(folder, None, "expected a folder with corpus.jsonl and queries.jsonl, found none")
    queries = first_file(path, QUERIES_FILE_NAMES)
    if queries is None:
        raise InputError.at(folder, None, f"expected one of {', '.join(QUERIES_FILE_NAMES)}, found none")
    qrels = find_qrels_file(path, split)
    return Collection(
        read_corpus(path), read_queries(queries), None if qrels is None else read_qrels(qrels, name=path.name)
    )


def find_qrels_file(folder: Path, split: str | None) -> Path | None:
    """The file with the judgments of a collection."""
    if split is None and (single_file := first_file(folder, QRELS_FILE_NAMES)) is not None:
        return single_file
    files = sorted(file for file in (folder / "qrels").glob("*") if file.is_file())
    files_by_split = {file.name.split(".")[0]: file for file in files}
    if split is not None:
        if split not in files_by_split:
            splits = ", ".join(files_by_split) or "none"
            raise InputError.at(folder / "qrels", None, f"expected judgments for the split {split}, found {splits}")
        return files_by_split[split]
    if len(files) > 1 and "test" not in files_by_split:
        splits = ", ".join(files_by_split)
        raise InputError.at(
            folder / "qrels", None, f"expected one file or the split test, found {splits}", hint="choose one: split=…"
        )
    return files_by_split.get("test", files[0] if files else None)
