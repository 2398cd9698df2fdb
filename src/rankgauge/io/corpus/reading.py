"""Open a corpus: from a file of any format, from a folder, or from memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, InputTypeError
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, is_dataset, open_stored
from rankgauge.io.corpus.corpus import Corpus, InMemoryCorpus
from rankgauge.io.corpus.file import FileCorpus
from rankgauge.io.corpus.folders import SUFFIXES, FolderCorpus
from rankgauge.io.corpus.lines import read_head
from rankgauge.io.corpus.sgml import SgmlCorpus
from rankgauge.io.corpus.tables import ArrowCorpus, DelimitedCorpus, JsonArrayCorpus, JsonLinesCorpus
from rankgauge.io.formats import arrow
from rankgauge.io.text import BOM

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
