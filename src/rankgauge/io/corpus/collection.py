"""A collection: a folder with a corpus, queries and judgments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import first_file, read_corpus
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.read import read_qrels

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
