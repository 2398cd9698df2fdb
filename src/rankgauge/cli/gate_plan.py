"""What ``rankgauge init --ci`` gates: the test set and the search that a project has, never one of ours.

A test set is a golden or eval file, judgments, or a log, which has the results as well. A search is a function in the
project's code, found by its name without running it, or a retriever of the configuration. What cannot be found is
asked for in one sentence.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.cli.starter_files import CONFIG_FILE, FolderContent, Install, StartPlan, fill, starter_file
from rankgauge.errors import InputError, RankgaugeError, RankgaugeWarning, printable
from rankgauge.io.byte_streams import open_source
from rankgauge.io.formats.question_log import is_log_record
from rankgauge.io.read import as_qrels, head_record
from rankgauge.io.reading_options import Reading
from rankgauge.rag.cases import Case, read_cases
from rankgauge.retrieval.open_retriever import is_own_retriever

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

TEST_FOLDERS = ("", "eval", "evals", "evaluation", "golden", "tests", "test", "data", "benchmarks", "qa", "rag")
TEST_NAME = re.compile(r"golden|gold|eval|cases|test.?set|questions|queries|retrieval|qa|benchmark|judg|log|results")
TEST_SUFFIXES = (".jsonl", ".json", ".yaml", ".yml", ".csv", ".tsv")
CODE_FOLDERS = ("", "src", "app", "rag", "lib", "server", "backend")
SEARCH_NAMES = ("search", "retrieve", "find", "query", "lookup")
QUERY_NAMES = ("query", "question", "text", "q", "prompt", "search_query")
STARTER_MARK = "replace-this-with-your-search"  # of the search.py that init writes
MAX_FILES = 500  # of each folder, so that a large one is not read to its end
FEW_QUERIES = 10  # below, a test of drops cannot fail on a few lost queries
EACH, MEAN = "Success@10 >= 1", "nDCG@10 >= 0.01"
SEARCH_HINT = "--search ./search.py:search (a function from a text to ids), module:object, or FILE.yaml"
LABELS_HINT = '--labels FILE (one per line: {"query": "…", "relevant_ids": ["…"]})'


@dataclass(frozen=True)
class GatePlan:
    """What a workflow gates; without results, the labels are a log, which has both."""

    labels: str
    results: str | None
    queries: int
    is_required: bool = True  # whether the configuration has requirements
    texts: str | None = None  # a file with the texts of the queries, if the labels have none

    @property
    def requirement(self) -> tuple[str, str]:
        """The key of the gate's section and its value: every query of a small set, the mean of a larger one."""
        return ("require_each", EACH) if self.queries < FEW_QUERIES else ("require", MEAN)

    @property
    def arguments(self) -> str:
        """The labels, the results and the texts of the queries, as a shell takes them."""
        words = [self.labels, *([] if self.results is None else [self.results])]
        words += [] if self.texts is None else ["--queries", self.texts]
        return " ".join(map(shlex.quote, words))

    @property
    def sentence(self) -> str:
        """What is gated, to be read."""
        what = f"{self.labels}" if self.results is None else f"{self.results} on {self.labels}"
        key, value = self.requirement
        how = "every query must reach" if key == "require_each" else "the mean must reach"
        baseline = "" if key == "require_each" else ", and must not drop from the history of main"
        return f"the workflow gates {what} ({self.queries} queries): {how} {value}{baseline}"

    def names(self, install: Install, folder: Path) -> dict[str, str]:
        """The values of the placeholders of a workflow."""
        names = {"GATED": self.arguments, "COMMENT": install.comment, "INSTALL": install.requirement}
        if not self.is_required:
            key, value = self.requirement
            names["GATED"] += f" --{key.replace('_', '-')} {shlex.quote(value)}"
        if (folder / "requirements.txt").is_file():
            names["REQUIREMENTS"] = "requirements.txt"
        if (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file():
            names["PROJECT"] = "."
        return names


def find_gate(
    folder: Path, content: FolderContent, *, search: str | None, labels: str | None, config: Config | None = None
) -> GatePlan:
    """The test set and the search of a project; raises, in one sentence, if one of them cannot be found."""
    configured, is_required = None, True
    if config is not None:
        configured = config.collection.qrels
        is_required = bool(config.gate.require or config.gate.require_each or config.gate.requirements)
    log = labels if labels is not None and is_log(folder / labels) else None
    labels = labels or configured or next(test_sets(folder, content), None)
    log = log or (next(logs(folder), None) if labels is None and search is None else None)
    results = search or configured_search(config) or (content.runs[-1] if content.runs and labels else None)
    results = results or next(searches(folder), None)
    if log is not None and search is None:
        return GatePlan(log, None, query_count(folder / log), is_required)
    missing = [*([f"a test set: {LABELS_HINT}"] if labels is None else [])]
    missing += [f"your search: {SEARCH_HINT}"] if results is None else []
    if missing or labels is None:
        found = f"found {printable(labels or results or 'no test set and no search', None)}"
        raise InputError(
            f"a workflow gates your search on your test set: {found}", hint=f"name {', and '.join(missing)}"
        )
    is_live = results is not None and is_own_retriever(results)
    texts = content.queries if is_live and labels == content.qrels else None
    return GatePlan(labels, results, query_count(folder / labels), is_required, texts)


def gate_config(plan: GatePlan) -> StartPlan:
    """The configuration of a gate."""
    key, value = plan.requirement
    names = {"GATED": plan.arguments, "EACH" if key == "require_each" else "REQUIREMENT": value}
    step = f"rankgauge gate {plan.arguments} --config {CONFIG_FILE}"
    return StartPlan("gate.yaml", (step,), names, remark=plan.sentence)


def configured_search(config: Config | None) -> str | None:
    """The first retriever of a configuration that is the user's own code or server; ours are not theirs."""
    retrievers: Mapping[str, object] = {} if config is None else config.retrievers
    modes = [str(getattr(retriever, "mode", "")) for retriever in retrievers.values()]
    return next((mode for mode in modes if is_own_retriever(mode)), None)


def query_count(path: Path) -> int:
    """The number of labeled queries."""
    try:
        return len(_cases(path))
    except RankgaugeError:
        return len(as_qrels(path, Reading()).queries)


def _cases(path: Path) -> Sequence[Case]:
    """The cases of a test set; what to know of it is said by the command that reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        return read_cases(path).cases


def test_sets(folder: Path, content: FolderContent) -> Iterator[str]:
    """The files with queries and labels, the most likely first."""
    if content.cases is not None:
        yield content.cases
    for path in _named_files(folder):
        if not is_log(path) and _is_test_set(path):
            yield path.relative_to(folder).as_posix()
    if content.qrels is not None:
        yield content.qrels


def logs(folder: Path) -> Iterator[str]:
    """The files with queries, labels and results."""
    for path in _named_files(folder):
        if is_log(path):
            yield path.relative_to(folder).as_posix()


def is_log(path: Path) -> bool:
    """Whether a file has labels and results, one query per record."""
    if path.suffix not in (".jsonl", ".json") or not path.is_file():
        return False
    try:
        with open_source(path) as stream:
            record = head_record(stream)
    except (RankgaugeError, OSError):
        return False
    return record is not None and is_log_record(record)


def _is_test_set(path: Path) -> bool:
    try:
        return bool(_cases(path))
    except (RankgaugeError, OSError, ValueError):
        return False


def _named_files(folder: Path) -> Iterator[Path]:
    """Files that are called like a test set, golden ones first."""
    found = []
    for name in TEST_FOLDERS:
        inner = folder / name
        for path in sorted(inner.iterdir())[:MAX_FILES] if inner.is_dir() else ():
            match = TEST_NAME.search(path.stem.lower())
            if match is not None and path.suffix.lower() in TEST_SUFFIXES and path.is_file():
                found.append((not path.stem.lower().startswith("gold"), TEST_FOLDERS.index(name), path))
    yield from (path for _, _, path in sorted(found))


def searches(folder: Path) -> Iterator[str]:
    """Functions that are called like a search and take a query first, as ``./FILE.py:name``; nothing is run."""
    found = []
    for name in CODE_FOLDERS:
        inner = folder / name
        for path in sorted(inner.glob("*.py"))[:MAX_FILES] if inner.is_dir() else ():
            for function in _search_functions(path):
                rank = next(place for place, known in enumerate(SEARCH_NAMES) if function.startswith(known))
                is_named_so = path.stem not in ("search", "retriever", "retrieval", "rag")
                found.append((is_named_so, rank, f"./{path.relative_to(folder).as_posix()}:{function}"))
    yield from (text for _, _, text in sorted(found))


def _search_functions(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return
    if STARTER_MARK in text:
        return
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith(SEARCH_NAMES):
            arguments = [*node.args.posonlyargs, *node.args.args]
            if arguments and arguments[0].arg in QUERY_NAMES:
                yield node.name


def workflow_text(template: str, plan: GatePlan, install: Install, folder: Path) -> str:
    """The workflow of a plan, for one kind of CI."""
    return fill(starter_file(template).decode(), plan.names(install, folder))
