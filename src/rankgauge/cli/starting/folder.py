"""What is in a folder: documents, queries, judgments, test cases and runs, by their names and first lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rankgauge.core.formatting import plural
from rankgauge.errors import RankgaugeError
from rankgauge.io.byte_streams import DEFAULT_LIMITS
from rankgauge.io.corpus.collection import QRELS_FILE_NAMES, QUERIES_FILE_NAMES
from rankgauge.io.corpus.folders import SUFFIXES
from rankgauge.io.corpus.lines import read_head
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES

CASES_FILE_NAMES = ("cases.jsonl", "cases.json", "test_cases.jsonl", "testset.jsonl")
MORE_QUERIES = ("questions.jsonl", "questions.tsv", "questions.csv", "topics.txt", "topics.xml", "topics.jsonl")
MORE_QRELS = ("qrels/test.tsv", "qrels/test.trec", "qrels.test.tsv", "judgments.jsonl")
DOCUMENT_FOLDERS = ("docs", "documents", "corpus", "notes", "content", "pages", "kb", "articles", "data")
NOT_DOCUMENTS = ("node_modules", "site-packages", "venv", "env", "build", "dist", "tests", "runs", "qrels")
PROJECT_FILES = ("README", "CHANGELOG", "CONTRIBUTING", "LICENSE", "SECURITY", "requirements")
PLAIN_NAME = re.compile(r"[\w./ +-]+")  # which YAML and a shell take, at most in quotes
RUN_COLUMNS = 6  # of a TREC run: query Q0 document rank score tag
MAX_COUNTED = 100_000  # files of a folder, so that a large tree is not walked to its end


@dataclass(frozen=True)
class FolderContent:
    """Paths relative to the folder; None for what it does not have."""

    corpus: str | None = None
    queries: str | None = None
    qrels: str | None = None
    cases: str | None = None
    runs: tuple[str, ...] = ()  # the newest last

    def sentences(self, folder: Path) -> Iterator[str]:
        """What was found, to be read."""
        if self.corpus is not None:
            path = folder / self.corpus
            files = f" ({plural(_document_count(path), 'file')})" if path.is_dir() else ""
            yield f"documents in {self.corpus}{files}"
        for what, name in (("queries", self.queries), ("judgments", self.qrels), ("test cases", self.cases)):
            if name is not None:
                yield f"{what} in {name}"
        if self.runs:
            yield f"{plural(len(self.runs), 'run')}: {', '.join(self.runs)}"


def content_of(folder: Path) -> FolderContent:
    """What is in a folder, or in the first of its subfolders that holds a whole collection."""
    queries = _first(folder, (*QUERIES_FILE_NAMES, *MORE_QUERIES))
    qrels = _first(folder, (*QRELS_FILE_NAMES, *MORE_QRELS))
    cases = _first(folder, CASES_FILE_NAMES)
    runs = _runs(folder, qrels)
    corpus = _first(folder, CORPUS_FILE_NAMES) or _document_folder(folder)
    if queries is None and qrels is None and cases is None:
        for inner in _subfolders(folder):
            names = [_first(inner, names) for names in (CORPUS_FILE_NAMES, QUERIES_FILE_NAMES, QRELS_FILE_NAMES)]
            if all(names):
                corpus, queries, qrels = (f"{inner.name}/{name}" for name in names)
                return FolderContent(corpus, queries, qrels)
    return FolderContent(corpus, queries, qrels, cases, runs)


def _first(folder: Path, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if (folder / name).is_file()), None)


def _subfolders(folder: Path) -> list[Path]:
    """The folders in a folder that may be the user's data, those with usual names first."""
    found = [
        path
        for path in folder.iterdir()
        if path.is_dir() and path.name not in NOT_DOCUMENTS and path.name[0] not in "._" and _is_plain(path.name)
    ]
    order = {name: index for index, name in enumerate(DOCUMENT_FOLDERS)}
    return sorted(found, key=lambda path: (order.get(path.name, len(order)), path.name))


def _document_folder(folder: Path) -> str | None:
    """The subfolder with text and Markdown files: the first with a usual name, else the one with most files."""
    counts = {path.name: _document_count(path) for path in _subfolders(folder)}
    usual = next((name for name in counts if name in DOCUMENT_FOLDERS and counts[name]), None)
    most = max(counts, key=lambda name: counts[name], default=None)
    return usual or (most if most is not None and counts[most] > 1 else None)


def document_files(folder: Path) -> list[str]:
    """The text and Markdown files of a folder itself, besides those that describe a project."""
    files = (path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    return sorted(path.name for path in files if path.stem not in PROJECT_FILES)


def _document_count(folder: Path) -> int:
    count = 0
    for number, path in enumerate(folder.rglob("*")):
        count += path.suffix.lower() in SUFFIXES and path.is_file()
        if number > MAX_COUNTED:
            break
    return count


def _runs(folder: Path, qrels: str | None) -> tuple[str, ...]:
    """Files whose first line is one of a TREC run."""
    patterns = ("*.run", "*.trec", "run*.txt", "*.run.gz", "runs/*")
    files = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    found = [(path.stat().st_mtime, path.relative_to(folder).as_posix()) for path in files if _is_run(path)]
    return tuple(name for _, name in sorted(found) if name != qrels and _is_plain(name))


def _is_run(path: Path) -> bool:
    try:
        first, _, _ = read_head(path, DEFAULT_LIMITS).partition(b"\n")
    except (RankgaugeError, OSError):
        return False
    return len(first.split()) == RUN_COLUMNS


def _is_plain(name: str) -> bool:
    return PLAIN_NAME.fullmatch(name) is not None
