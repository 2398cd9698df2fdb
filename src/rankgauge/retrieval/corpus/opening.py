"""Point at a file or a folder, get a corpus or a whole collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.reading import read_qrels
from rankgauge.retrieval.corpus.documents import Documents, Held
from rankgauge.retrieval.corpus.files import open_file
from rankgauge.retrieval.corpus.folders import Folder

CORPORA = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.parquet", "corpus.tsv", "corpus.csv")
QUERIES = ("queries.jsonl", "queries.jsonl.gz", "queries.parquet", "queries.tsv", "queries.csv")
QRELS = ("qrels.trec", "qrels.tsv", "qrels.txt", "qrels.jsonl")


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries and, where there are any, judgments."""

    documents: Documents
    queries: Queries
    qrels: Qrels | None


def open_documents(given: Any) -> Documents:
    """A corpus from a file (JSON Lines, CSV, TSV, Parquet, TREC SGML), a folder, or ``{id: text}``.

    A folder is BEIR's where it holds ``corpus.jsonl``, else one of text and Markdown files.
    """
    if isinstance(given, Documents):
        return given
    if isinstance(given, Mapping):
        return Held(given)
    if not isinstance(given, (str, Path)):
        raise InputTypeError(f"a corpus must be a path, a dict or Documents, found {type(given).__name__}")
    path = Path(given)
    if path.is_dir():
        inside = _first(path, CORPORA)
        return Folder(path) if inside is None else open_file(inside)
    return open_file(path)


def open_collection(folder: str | Path, *, split: str | None = None) -> Collection:
    """A folder as BEIR has it: ``corpus.jsonl``, ``queries.jsonl``, and ``qrels/test.tsv`` or ``qrels.trec``.

    ``split`` names the judgments of ``qrels/``; by default those are ``test``, or the only ones there.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError.at(folder, None, "expected a folder with corpus.jsonl and queries.jsonl, found none")
    queries = _first(path, QUERIES)
    if queries is None:
        raise InputError.at(folder, None, f"expected one of {', '.join(QUERIES)}, found none")
    qrels = judgments(path, split)
    return Collection(
        open_documents(path), read_queries(queries), None if qrels is None else read_qrels(qrels, name=path.name)
    )


def judgments(folder: Path, split: str | None) -> Path | None:
    """The file of a folder's judgments."""
    if split is None and (lone := _first(folder, QRELS)) is not None:
        return lone
    found = sorted(file for file in (folder / "qrels").glob("*") if file.is_file())
    named = {file.name.split(".")[0]: file for file in found}
    if split is not None:
        if split not in named:
            listed = ", ".join(named) or "none"
            raise InputError.at(folder / "qrels", None, f"expected judgments of the split {split}, found {listed}")
        return named[split]
    if len(found) > 1 and "test" not in named:
        raise InputError.at(folder / "qrels", None, f"which of {', '.join(named)}?", hint="say split=…")
    return named.get("test", found[0] if found else None)


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)
