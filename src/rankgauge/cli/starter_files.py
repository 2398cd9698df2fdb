"""What ``rankgauge init`` finds in a folder, and the files that it writes for it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import RankgaugeError, UsageError, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, read_bytes
from rankgauge.io.corpus.corpus_files import (
    CORPUS_FILE_NAMES,
    QRELS_FILE_NAMES,
    QUERIES_FILE_NAMES,
    SUFFIXES,
    read_corpus,
    read_head,
)
from rankgauge.io.faults import Faults
from rankgauge.io.formats.json_text import read_records
from rankgauge.io.formats.named_columns import QUERY_ID_NAMES, normalize_name

# What is in a folder: documents, queries, judgments, test cases and runs, by their names and first lines.

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
    runs = _run_files(folder, qrels)
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


def _run_files(folder: Path, qrels: str | None) -> tuple[str, ...]:
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


# What ``rankgauge init`` writes for what a folder holds.

CONFIG_FILE, SEARCH_FILE, EXAMPLE_FOLDER = "rankgauge.yaml", "search.py", "example"
CASES_FILE, NUMBERED_CASES = "cases.jsonl", "cases-with-ids.jsonl"
LOWEST = "nDCG@10 >= 0.01"
TO_BE_REPLACED = ", to be replaced"  # ends the name of a collection that is not the user's
MEASURES = "nDCG@10, AP@100, RR@10, R@50, R@100, Success@10"
MAX_TITLES = 50  # queries made from titles of documents
TITLE_WORDS = 8  # of a document without a title


@dataclass(frozen=True)
class StartPlan:
    """A configuration, what CI runs with it, and what to do next."""

    template: str  # of the configuration
    next_steps: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)  # by placeholder
    new_files: Mapping[str, bytes] = field(default_factory=dict)  # besides the configuration
    remarks: tuple[str, ...] = ()


def plan_for(content: FolderContent, folder: Path) -> StartPlan:
    """The plan for what a folder holds; test cases without ids get a copy with ids."""
    uses_cases = content.cases is not None and (content.queries is None or content.qrels is None)
    numbered = numbered_cases(folder / content.cases) if uses_cases and content.cases is not None else None
    if numbered is None:
        return _plan(content, folder)
    plan = _plan(replace(content, cases=NUMBERED_CASES), folder)
    remark = f"a run names queries by id, and {content.cases} has none: {NUMBERED_CASES} is the same with ids"
    return replace(plan, new_files={**plan.new_files, NUMBERED_CASES: numbered}, remarks=(remark,))


def _plan(content: FolderContent, folder: Path) -> StartPlan:
    benchmark = f"rankgauge benchmark run {CONFIG_FILE}"
    queries, qrels = content.queries or content.cases, content.qrels or content.cases
    if content.corpus is not None and queries is not None and qrels is not None:
        return _collection(content.corpus, queries, qrels, (benchmark,))
    if content.qrels is not None and content.runs:
        return _runs(content.qrels, content.runs)
    if queries is not None and qrels is not None:
        return StartPlan(
            "own.yaml",
            (f"replace the body of search() in {SEARCH_FILE} with your own search", benchmark),
            {"NAME": "my collection", "QUERIES": queries, "QRELS": qrels, "REQUIREMENT": LOWEST},
            new_files={} if (folder / SEARCH_FILE).exists() else {SEARCH_FILE: starter_file(f"{SEARCH_FILE}.txt")},
        )
    if content.corpus is not None and content.queries is not None:
        return _unlabeled(content.corpus, content.queries)
    if content.corpus is not None:
        return _titles(content.corpus, folder, benchmark)
    return _example(benchmark, document_files(folder))


def numbered_cases(path: Path) -> bytes | None:
    """Test cases with an id in each; None if they have ids already."""
    data, _ = read_bytes(path)
    records = read_records(Faults(str(path)), data)
    if {normalize_name(name) for name in records.names} & {normalize_name(name) for name in QUERY_ID_NAMES}:
        return None
    text = data.decode("utf-8", "surrogateescape")
    cases = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, filter(str.strip, text.splitlines()))
    lines = [json.dumps({"id": f"c{number}", **case}, ensure_ascii=False) for number, case in enumerate(cases, 1)]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _collection(corpus: str, queries: str, qrels: str, next_steps: tuple[str, ...], name: str = "") -> StartPlan:
    names = {"NAME": name or "my collection", "CORPUS": corpus, "QUERIES": queries, "QRELS": qrels}
    return StartPlan("collection.yaml", next_steps, {**names, "REQUIREMENT": LOWEST})


def _runs(qrels: str, runs: tuple[str, ...]) -> StartPlan:
    run = runs[-1]
    command = f"compare {qrels} {' '.join(runs[-2:])}" if len(runs) > 1 else f"evaluate {qrels} {run} --ci"
    names = {"GATED": shlex.join([qrels, run]), "REQUIREMENT": LOWEST}
    return StartPlan("gate.yaml", (f"rankgauge {command}",), names)


def _unlabeled(corpus: str, queries: str) -> StartPlan:
    """Queries without judgments: retrieve and judge first."""
    fetch = f"rankgauge runs fetch --config {CONFIG_FILE} --retriever"
    texts = f"--corpus {corpus} --queries {queries}"
    steps = (
        f"{fetch} lexical -o lexical.run",
        f"{fetch} vector -o vector.run",
        f"rankgauge pool lexical.run vector.run --depth 5 {texts} -o pool.jsonl",
        "rankgauge judge pool.jsonl -o judgments.jsonl",
        "rankgauge evaluate judgments.jsonl lexical.run vector.run",
    )
    plan = _collection(corpus, queries, "judgments.jsonl", steps)
    return replace(plan, remarks=("there are no judgments yet: judge a small pool first",))


def _titles(corpus: str, folder: Path, benchmark: str) -> StartPlan:
    """Documents alone: one query per title, so that everything can be tried."""
    cases: dict[str, str] = {}
    for document in islice(read_corpus(folder / corpus), MAX_TITLES):
        words = (document.title or document.text).split()[:TITLE_WORDS]
        cases.setdefault(" ".join(words), document.id.decode("utf-8", "replace"))
    lines = [
        json.dumps({"id": f"t{number}", "query": text, "relevant_ids": [name]}, ensure_ascii=False)
        for number, (text, name) in enumerate(cases.items(), 1)
        if text
    ]
    steps = (benchmark, f"replace the queries in {CASES_FILE} with what people really ask")
    plan = _collection(corpus, CASES_FILE, CASES_FILE, steps, name=f"titles of the documents{TO_BE_REPLACED}")
    remark = f"{CASES_FILE} asks for documents by their titles: easy queries, whose scores say little"
    files = {CASES_FILE: ("\n".join(lines) + "\n").encode()}
    return replace(plan, new_files=files, remarks=(remark,))


def _example(benchmark: str, loose_files: Sequence[str]) -> StartPlan:
    """Nothing: a small collection to be replaced. Reports are written to the folder itself, so it is not a corpus."""
    from rankgauge.benchmark.plan import SHIPPED

    names = ("corpus.jsonl", "queries.jsonl", "qrels.trec")
    corpus, queries, qrels = (f"{EXAMPLE_FOLDER}/{name}" for name in names)
    steps = (benchmark, f"name your own files in {CONFIG_FILE}, and delete the folder {EXAMPLE_FOLDER}")
    plan = _collection(corpus, queries, qrels, steps, name=f"the bundled example{TO_BE_REPLACED}")
    remarks = []
    if loose_files:
        unused = f"{listing(loose_files)} {'is' if len(loose_files) == 1 else 'are'} not used"
        remarks.append(f"{unused}: move documents into a folder of their own, and name it as corpus in {CONFIG_FILE}")
    files = {f"{EXAMPLE_FOLDER}/{name}": (SHIPPED / name).read_bytes() for name in names}
    return replace(plan, new_files=files, remarks=tuple(remarks))


def is_bundled(path: Path) -> bool:
    """Whether a file is one of the bundled collection: its judgments or a run, of a retriever of ours."""
    from rankgauge.benchmark.plan import SHIPPED

    ours = [SHIPPED / "qrels.trec", *sorted((SHIPPED / "runs").iterdir())]
    size = path.stat().st_size
    return any(own.stat().st_size == size and own.read_bytes() == path.read_bytes() for own in ours)


def starter_file(name: str) -> bytes:
    """A file of the package that is written as it is, or after its placeholders are filled."""
    from importlib.resources import files

    return (files("rankgauge") / "data" / "starter" / name).read_bytes()


# Where CI can get rankgauge from: where this copy came from, if a machine elsewhere can reach it.

DISTRIBUTION_NAME = "rankgauge"
REMOTE_SCHEMES = ("https", "http", "ssh", "git")
SOURCE_LABELS = ("source", "source code", "repository", "homepage")  # of the project's links
SAFE_REQUIREMENT = re.compile(r"[^\s\"'`$\\#]+( @ [^\s\"'`$\\#]+)?")  # in double quotes of a shell, within YAML


@dataclass(frozen=True)
class Install:
    """What ``pip install`` is given, and a comment on it."""

    requirement: str
    comment: str
    is_reachable: bool = True


def given_install(requirement: str) -> Install:
    """The requirement of ``--install``."""
    if not SAFE_REQUIREMENT.fullmatch(requirement):
        raise UsageError(
            f"--install takes what pip installs, found {shown(requirement)}",
            hint="a requirement, a URL, or the path of a wheel in the repository: git+https://HOST/PROJECT.git",
        )
    return Install(requirement, "From `rankgauge init --install`.")


def default_install(extras: str) -> Install:
    """Where this copy was installed from; else the project's own link; else its name, with a caveat."""
    name = DISTRIBUTION_NAME + extras
    try:
        installed = distribution(DISTRIBUTION_NAME)
    except PackageNotFoundError:
        return _unknown(name)
    origin = installed.read_text("direct_url.json")
    if origin is None:
        return Install(name, "From the package index, as the copy that wrote this file.")
    data = json.loads(origin)
    url = urlsplit(str(data.get("url", "")))
    if url.scheme in REMOTE_SCHEMES:
        plain = urlunsplit(url._replace(netloc=url.netloc.rpartition("@")[2]))  # without a user's name and password
        version = data.get("vcs_info")
        link = f"{version['vcs']}+{plain}@{version['commit_id']}" if version else plain
        return Install(f"{name} @ {link}", "From where the copy that wrote this file was installed.")
    repository = repository_link(installed)
    if repository is not None:
        return Install(f"{name} @ git+{repository}", "From the project's own repository.")
    return _unknown(name)


def repository_link(installed: Distribution) -> str | None:
    """The link to the project's repository, if its metadata has one."""
    pairs = [entry.partition(",")[::2] for entry in installed.metadata.get_all("Project-URL") or ()]
    links = {label.strip().lower(): link.strip() for label, link in pairs}
    return next((links[label] for label in SOURCE_LABELS if label in links), None)


def _unknown(name: str) -> Install:
    comment = (
        "CHANGE THIS: rankgauge was installed from a local folder, which CI cannot reach. Name a URL, or a wheel in "
        "this repository."
    )
    return Install(name, comment, is_reachable=False)


# Starter files with their placeholders filled: ``<NAME>``, and lines that end in ``<IF NAME>``.

PLACEHOLDER = re.compile(r"<([A-Z]+)>")
CONDITION = re.compile(r" <IF ([A-Z]+)>$")
PLAIN_YAML = re.compile(r"[A-Za-z_./][\w./+-]*( [\w./+,-]+)*")  # which YAML reads as text without quotes


WRITTEN_AS_IS = (
    "REQUIREMENT",
    "EACH",
    "LEAKS",
    "MEASURES",
    "GATED",
    "LOG",
    "BASELINE",
)  # in quotes already, plain, or in a comment


def config_text(plan: StartPlan) -> str:
    """The configuration of a plan."""
    text = (starter_file(plan.template) + starter_file("settings.yaml")).decode()
    names = {"MEASURES": MEASURES, **plan.names}
    names = {name: value if name in WRITTEN_AS_IS else _yaml(value) for name, value in names.items()}
    return fill(text, names)


def fill(text: str, names: Mapping[str, str]) -> str:
    """Put values in the place of their names; a line whose condition has no value is left out."""
    lines = []
    for line in text.splitlines():
        condition = CONDITION.search(line)
        if condition is None or condition[1] in names:
            lines.append(PLACEHOLDER.sub(lambda match: names[match[1]], CONDITION.sub("", line)))
    return "\n".join(lines) + "\n"


def _yaml(value: str) -> str:
    return value if PLAIN_YAML.fullmatch(value) else json.dumps(value, ensure_ascii=False)
