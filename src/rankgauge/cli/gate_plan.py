"""What ``rankgauge init --ci`` gates: the test set and the search that a project has, never one of ours.

A test set is a golden or eval file, judgments, or a log. A search is a function in the project's code, found by its
name without running it, or a retriever of the configuration. A file with results is gated only if there is no search:
it stays as it is, whatever the search does, unless a step of the workflow writes it. What cannot be found is asked for
in one sentence.
"""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.cli.starter_files import (
    CONFIG_FILE,
    TO_BE_REPLACED,
    FolderContent,
    Install,
    StartPlan,
    fill,
    is_bundled,
    starter_file,
)
from rankgauge.comparison.gate.requirements import LEAK, parse_requirements, required_measures
from rankgauge.core.formatting import plural
from rankgauge.errors import InputError, RankgaugeError, RankgaugeWarning, UsageError, printable, shown
from rankgauge.io.byte_streams import open_source
from rankgauge.io.formats.question_log import is_log_record
from rankgauge.io.read import as_qrels, head_record
from rankgauge.io.reading_options import MatchRule, Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.retrieval.open_retriever import is_own_retriever

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

TEST_FOLDERS = ("", "eval", "evals", "evaluation", "golden", "tests", "test", "data", "benchmarks", "qa", "rag")
TEST_NAME = re.compile(r"golden|gold|eval|cases|test.?set|questions|queries|retrieval|qa|benchmark|judg|log|results")
TEST_SUFFIXES = (".jsonl", ".json", ".yaml", ".yml", ".csv", ".tsv")
CODE_FOLDERS = ("", "src", "app", "rag", "lib", "server", "backend")
SEARCH_FILES = ("search", "retriever", "retrieval", "rag")
SEARCH_NAMES = ("search", "retrieve", "find", "query", "lookup")
QUERY_NAMES = ("query", "question", "text", "q", "prompt", "search_query")
STARTER_MARK = "replace-this-with-your-search"  # of the search.py that init writes
MAX_FILES = 500  # of each folder, so that a large one is not read to its end
TODAY = "today.jsonl"  # what a live retriever answered
FEW_QUERIES = 10  # below, a test of drops cannot fail on a few lost queries
EACH, MEAN = "Success@10 >= 1", "nDCG@10 >= 0.01"
MEASURES = "nDCG@10, RR@10, Success@10"  # of a search in production, which returns few documents
QUOTES_EACH, QUOTES_MEAN = "EvidenceAll@10 >= 1", "StRecall@10 >= 0.01"  # of labels that are quotes or spans
QUOTES_MEASURES = "StRecall@10, EvidenceAll@10"
SEARCH_HINT = "--search ./search.py:search (a function from a text to ids), module:object, or FILE.yaml"
LABELS_HINT = '--labels FILE (one per line: {"query": "…", "relevant_ids": ["…"]})'


@dataclass(frozen=True)
class GatedLabels:
    """A test set, and what a gate must know of it."""

    path: str
    queries: int
    has_forbidden: bool = False  # whether it names documents that must not be returned
    match: MatchRule = "exact"  # by which its labels are compared with results
    are_quotes: bool = False

    @property
    def demands(self) -> dict[str, str]:
        """What a gate requires of every query, and of the mean."""
        return {
            "require_each": QUOTES_EACH if self.are_quotes else EACH,
            "require": QUOTES_MEAN if self.are_quotes else MEAN,
        }

    @property
    def measures(self) -> str:
        """The measures that are shown and compared."""
        return QUOTES_MEASURES if self.are_quotes else MEASURES


@dataclass(frozen=True)
class GatePlan:
    """What a workflow gates; without results, the labels are a log, which has both."""

    labels: GatedLabels
    results: str | None
    texts: str | None = None  # a file with the texts of the queries, if the labels have none
    added: Mapping[str, str | bool] = field(default_factory=dict)  # keys of the gate that the configuration lacks

    @property
    def requirements(self) -> dict[str, str | bool]:
        """Keys of the gate's section: every query of a small set, the mean of a larger one; and no leaks."""
        key = "require_each" if self.labels.queries < FEW_QUERIES else "require"
        keys: dict[str, str | bool] = {key: self.labels.demands[key]}
        return {**keys, **({"no_leaks": True} if self.labels.has_forbidden else {})}

    @property
    def words(self) -> list[str]:
        """The labels, the results, how they are matched, and the texts of the queries; files need no code."""
        words = [self.labels.path, *([] if self.results is None else [self.results])]
        words += [] if self.labels.match == "exact" else ["--match", self.labels.match]
        words += [] if self.texts is None else ["--queries", self.texts]
        return words + ([] if self.file is None else ["--no-code"])

    @property
    def log(self) -> str:
        """The results that become the next baseline: what the search returned, or their file."""
        return TODAY if self.file is None else self.file

    @property
    def baseline(self) -> str:
        """The file of the baseline."""
        return f"baseline{''.join(Path(self.log).suffixes)}"

    @property
    def arguments(self) -> str:
        """The arguments and options of the gate, as a shell takes them, without its configuration."""
        options: list[str] = []
        for key, value in self.added.items():
            options += [f"--{key.replace('_', '-')}", *([] if value is True else [str(value)])]
        return shlex.join([*self.words, *options, *(["-o", self.log] if self.file is None else [])])

    @property
    def file(self) -> str | None:
        """The results, if they are a file, which does not change with the search."""
        if self.results is None:
            return self.labels.path
        return None if is_own_retriever(self.results) else self.results

    @property
    def sentences(self) -> Iterator[str]:
        """What is gated, to be read."""
        what = self.labels.path if self.results is None else f"{self.results} on {self.labels.path}"
        demands = {"require_each": f"every query must reach {self.labels.demands['require_each']}"}
        demands["require"] = (
            f"the mean must reach {self.labels.demands['require']}, and must not drop from the last that passed on main"
        )
        how = [demands[key] for key in self.requirements if key in demands]
        how += ["no forbidden document may be returned"] if self.labels.has_forbidden else []
        yield f"the workflow gates {what} ({plural(self.labels.queries, 'query')}): {'; '.join(how)}"
        if self.file is not None:
            yield f"{self.file} is gated as it is: add a step before the gate that writes it with your search"

    def names(self, install: Install, folder: Path) -> dict[str, str]:
        """The values of the placeholders of a workflow."""
        names = {"GATED": self.arguments, "COMMENT": install.comment, "INSTALL": install.requirement}
        names |= {"LOG": shlex.quote(self.log), "BASELINE": self.baseline}
        if self.file is not None:
            names["FILE"] = self.file
        if (folder / "requirements.txt").is_file():
            names["REQUIREMENTS"] = "requirements.txt"
        if _is_installable(folder):
            names["PROJECT"] = "."
        return names


def find_gate(
    folder: Path, content: FolderContent, *, search: str | None, labels: str | None, config: Config | None = None
) -> GatePlan:
    """The test set and the search of a project; raises, in one sentence, if one of them cannot be found."""
    if search is not None:
        check_search(folder, search)
    is_named_log = labels is not None and search is None and has_results(folder / labels, needs_labels=True)
    path = labels or configured_labels(config) or next(test_sets(folder, content, config), None)
    path = path or next(logs(folder), None)
    results = None if is_named_log else search or configured_search(config)
    if results is None and not is_named_log:
        has_texts = path is None or path != content.qrels or content.queries is not None
        results = next(searches(folder), None) if has_texts else None
    is_log = path is not None and has_results(folder / path, needs_labels=True)
    if results is None and path is not None and not is_log:
        results = next(result_files(folder, content, path), None)
    missing = [f"a test set: {LABELS_HINT}"] if path is None else []
    missing += [f"your search: {SEARCH_HINT}"] if results is None and not is_log else []
    if missing or path is None:
        found = f"found {printable(path or results or 'no test set and no search', None)}"
        raise InputError(
            f"a workflow gates your search on your test set: {found}", hint=f"name {', and '.join(missing)}"
        )
    is_live = results is not None and is_own_retriever(results)
    plan = GatePlan(labels_of(folder, path), results, content.queries if is_live and path == content.qrels else None)
    return plan if config is None else GatePlan(plan.labels, results, plan.texts, added_keys(plan, config))


def check_search(folder: Path, search: str) -> None:
    """Raise if a text names neither code or a server of the user's, nor a file with results."""
    module, _, name = search.rpartition(":")
    is_module = is_own_retriever(search) and bool(name) and bool(module) and not module.endswith(".py")
    if is_module or (folder / (module if module.endswith(".py") else search)).is_file():
        return
    if is_own_retriever(search):
        raise InputError(f"--search {shown(search)}: file not found", hint=f"name {SEARCH_HINT}")
    raise UsageError(f"--search {shown(search)} is not a search of yours", hint=f"name {SEARCH_HINT}")


def gate_config(plan: GatePlan) -> StartPlan:
    """The configuration of a gate."""
    placeholders = {"require_each": "EACH", "require": "REQUIREMENT", "no_leaks": "LEAKS"}
    names = {placeholders[key]: "true" if value is True else str(value) for key, value in plan.requirements.items()}
    names |= {"GATED": plan.arguments, "MEASURES": plan.labels.measures}
    step = f"rankgauge gate {plan.arguments} --config {CONFIG_FILE}"
    return StartPlan("gate.yaml", (step,), names, remarks=tuple(plan.sentences))


def added_keys(plan: GatePlan, config: Config) -> dict[str, str | bool]:
    """The requirements that an existing configuration lacks: any at all, and that nothing forbidden is returned."""
    gate = config.gate
    if not (gate.require or gate.require_each or gate.requirements):
        return {key: value for key, value in plan.requirements.items() if key != "no_leaks" or not gate.no_leaks}
    required = required_measures(parse_requirements([*(gate.require or ()), *(gate.require_each or ())]))
    guards = gate.no_leaks or any(measure.definition.name == LEAK for measure in required)
    return {} if guards or not plan.labels.has_forbidden else {"no_leaks": True}


def configured_labels(config: Config | None) -> str | None:
    """The judgments of a configuration, unless they are those that ``rankgauge init`` made to be replaced."""
    if config is None or (config.collection.name or "").endswith(TO_BE_REPLACED):
        return None
    return config.collection.qrels


def configured_search(config: Config | None) -> str | None:
    """The first retriever of a configuration that is the user's own code or server; ours are not theirs."""
    retrievers: Mapping[str, object] = {} if config is None else config.retrievers
    modes = [str(getattr(retriever, "mode", "")) for retriever in retrievers.values()]
    return next((mode for mode in modes if is_own_retriever(mode)), None)


def labels_of(folder: Path, path: str) -> GatedLabels:
    """What a gate must know of a test set; raises if it cannot be read. Text is compared only if there are no ids."""
    with warnings.catch_warnings():  # what to know of it is said by the command that reads it
        warnings.simplefilter("ignore", RankgaugeWarning)
        match: MatchRule = "exact"
        try:
            labels = _opened_labels(folder / path, match)
        except RankgaugeError as error:
            match = "text"
            try:
                labels = _opened_labels(folder / path, match)
            except RankgaugeError:
                raise error from None
    return GatedLabels(
        path, len(labels.queries), bool(getattr(labels, "forbidden", None)), match, hasattr(labels, "passages")
    )


def _opened_labels(path: Path, match: MatchRule) -> Any:
    """Judgments, or labels by text."""
    reading = Reading(match=match)
    labels = open_inputs(str(path), [], reading, None, Opening(depth=1)).labels
    return as_qrels(labels, reading) if isinstance(labels, str) else getattr(labels, "gold", labels)


def test_sets(folder: Path, content: FolderContent, config: Config | None) -> Iterator[str]:
    """The files with queries and labels, the most likely first; those that ``rankgauge init`` made are left out."""
    made = None if config is None or configured_labels(config) is not None else config.collection.qrels
    found = [content.cases] if content.cases is not None else []
    found += [name for name in _named_files(folder) if not has_results(folder / name) and _is_test_set(folder, name)]
    found += [content.qrels] if content.qrels is not None and not is_bundled(folder / content.qrels) else []
    yield from (name for name in found if name != made)


def logs(folder: Path) -> Iterator[str]:
    """The files with queries, labels and results."""
    yield from (name for name in _named_files(folder) if has_results(folder / name, needs_labels=True))


def result_files(folder: Path, content: FolderContent, labels: str) -> Iterator[str]:
    """The newest run, or a log, that is not the test set and not of a retriever of ours."""
    yield from (run for run in reversed(content.runs) if not is_bundled(folder / run))
    yield from (name for name in _named_files(folder) if name != labels and has_results(folder / name))


def has_results(path: Path, *, needs_labels: bool = False) -> bool:
    """Whether a file has results, one query per record, and perhaps labels as well."""
    if path.suffix.lower() in (".csv", ".tsv") or not path.is_file():
        return False
    try:
        with open_source(path) as stream:
            record = head_record(stream)
    except (RankgaugeError, OSError):
        return False
    return record is not None and is_log_record(record, None if needs_labels else "run")


def _is_test_set(folder: Path, path: str) -> bool:
    try:
        return bool(labels_of(folder, path).queries)
    except (RankgaugeError, OSError, ValueError):
        return False


def _named_files(folder: Path) -> Iterator[str]:
    """Files that are called like a test set, golden ones first."""
    found = []
    for name in TEST_FOLDERS:
        inner = folder / name
        for path in sorted(inner.iterdir())[:MAX_FILES] if inner.is_dir() else ():
            match = TEST_NAME.search(path.stem.lower())
            if match is not None and path.suffix.lower() in TEST_SUFFIXES and path.is_file():
                found.append((not path.stem.lower().startswith("gold"), TEST_FOLDERS.index(name), path))
    yield from (path.relative_to(folder).as_posix() for _, _, path in sorted(found))


def searches(folder: Path) -> Iterator[str]:
    """Functions that are called like a search and take a query first; nothing is run."""
    found = []
    for inner in _code_folders(folder):
        for path in sorted(inner.glob("*.py"))[:MAX_FILES]:
            for function in _search_functions(path):
                rank = next(place for place, known in enumerate(SEARCH_NAMES) if function.startswith(known))
                found.append((path.stem not in SEARCH_FILES, rank, f"{_code_name(folder, path)}:{function}"))
    yield from (text for _, _, text in sorted(found))


def _code_folders(folder: Path) -> Iterator[Path]:
    """The usual folders of code, and the packages in the project and in ``src``."""
    usual = [folder / name for name in CODE_FOLDERS if (folder / name).is_dir()]
    packages = [init.parent for place in (folder, folder / "src") for init in sorted(place.glob("*/__init__.py"))]
    yield from dict.fromkeys([*usual, *(path for path in packages if path.name not in ("tests", "test"))])


def _code_name(folder: Path, path: Path) -> str:
    """How a file is named: a module of a package that can be imported, which may import its neighbors; else a path."""
    inner = path.relative_to(folder)
    root = folder / "src" if inner.parts[0] == "src" and _is_installable(folder) else folder
    if (path.parent / "__init__.py").is_file() and path.parent.parent == root:
        return f"{path.parent.name}.{path.stem}"
    return f"./{inner.as_posix()}"


def _is_installable(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file()


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
