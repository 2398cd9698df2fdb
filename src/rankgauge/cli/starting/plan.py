"""What ``rankgauge init`` writes for what a folder holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from rankgauge.cli.starting.folder import FolderContent, document_files
from rankgauge.core.formatting import listing
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.formats.json_records import read_records
from rankgauge.io.formats.names import QUERY_ID_NAMES, normalize_name

CONFIG_FILE, SEARCH_FILE, EXAMPLE_FOLDER = "rankgauge.yaml", "search.py", "example"
CASES_FILE, NUMBERED_CASES = "cases.jsonl", "cases-with-ids.jsonl"
FETCHED_RUN = "run.trec"
LOWEST, NONE = "nDCG@10 >= 0.01", "nDCG@10 >= 0"
MAX_TITLES = 50  # queries made from titles of documents
TITLE_WORDS = 8  # of a document without a title
RETRIEVAL_EXTRAS = "[retrieval,http]"


@dataclass(frozen=True)
class StartPlan:
    """A configuration, what CI runs with it, and what to do next."""

    template: str  # of the configuration
    next_steps: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)  # by placeholder
    qrels: str | None = None  # without judgments there is no gate
    run: str = FETCHED_RUN
    retriever: str | None = None
    extras: str = RETRIEVAL_EXTRAS
    new_files: Mapping[str, bytes] = field(default_factory=dict)  # besides the configuration
    remark: str | None = None


def plan_for(content: FolderContent, folder: Path) -> StartPlan:
    """The plan for what a folder holds; test cases without ids get a copy with ids."""
    uses_cases = content.cases is not None and (content.queries is None or content.qrels is None)
    numbered = numbered_cases(folder / content.cases) if uses_cases and content.cases is not None else None
    if numbered is None:
        return _plan(content, folder)
    plan = _plan(replace(content, cases=NUMBERED_CASES), folder)
    remark = f"a run names queries by id, and {content.cases} has none: {NUMBERED_CASES} is the same with ids"
    return replace(plan, new_files={**plan.new_files, NUMBERED_CASES: numbered}, remark=remark)


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
            {"NAME": "my collection", "QUERIES": queries, "QRELS": qrels, "REQUIREMENT": NONE},
            qrels,
            retriever="mine",
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
    return StartPlan("collection.yaml", next_steps, {**names, "REQUIREMENT": LOWEST}, qrels, retriever="hybrid")


def _runs(qrels: str, runs: tuple[str, ...]) -> StartPlan:
    run = runs[-1]
    command = f"compare {qrels} {' '.join(runs[-2:])}" if len(runs) > 1 else f"evaluate {qrels} {run} --ci"
    names = {"QRELS": qrels, "RUN": run, "REQUIREMENT": LOWEST}
    remark = f"the workflow gates {run}: let a step before it write that file, or commit it"
    return StartPlan("runs.yaml", (f"rankgauge {command}",), names, qrels, run, extras="", remark=remark)


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
    return replace(plan, qrels=None, remark="there are no judgments yet: judge a small pool first")


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
    plan = _collection(corpus, CASES_FILE, CASES_FILE, steps, name="titles of the documents, to be replaced")
    remark = f"{CASES_FILE} asks for documents by their titles: easy queries, whose scores say little"
    files = {CASES_FILE: ("\n".join(lines) + "\n").encode()}
    return replace(plan, new_files=files, remark=remark)


def _example(benchmark: str, loose_files: Sequence[str]) -> StartPlan:
    """Nothing: a small collection to be replaced. Reports are written to the folder itself, so it is not a corpus."""
    from rankgauge.benchmark.plan import SHIPPED

    names = ("corpus.jsonl", "queries.jsonl", "qrels.trec")
    corpus, queries, qrels = (f"{EXAMPLE_FOLDER}/{name}" for name in names)
    steps = (benchmark, f"name your own files in {CONFIG_FILE}, and delete the folder {EXAMPLE_FOLDER}")
    plan = _collection(corpus, queries, qrels, steps, name="the bundled example, to be replaced")
    remark = None
    if loose_files:
        unused = f"{listing(loose_files)} {'is' if len(loose_files) == 1 else 'are'} not used"
        remark = f"{unused}: move documents into a folder of their own, and name it as corpus in {CONFIG_FILE}"
    files = {f"{EXAMPLE_FOLDER}/{name}": (SHIPPED / name).read_bytes() for name in names}
    return replace(plan, new_files=files, remark=remark)


def starter_file(name: str) -> bytes:
    """A file of the package that is written as it is, or after its placeholders are filled."""
    from importlib.resources import files

    return (files("rankgauge") / "data" / "starter" / name).read_bytes()
