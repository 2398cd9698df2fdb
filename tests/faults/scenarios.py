"""What is written, and what must be there after a fault: each write path of rankgauge is one scenario."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.plan import SHIPPED
from rankgauge.cli.commands.demo import BUNDLED_FILES
from rankgauge.cli.main import run
from rankgauge.history import History
from rankgauge.history.entries import LOG_ENDING
from rankgauge.io.owned_files import TEMPORARY_SUFFIX

SEARCH = """
import os

def find(query, k=10):
    docs = [f"d{(len(query) * 7 + step) % 9}" for step in range(6)]
    return docs[::-1] if os.environ["FAULTS_VERSION"] == "new" else docs

def grade(query, text):
    return 2
"""
CONFIG = """
collection: {corpus: corpus.jsonl, queries: queries.jsonl, qrels: qrels.trec}
measures: [nDCG@10, RR]
retrievers:
  find: {mode: "faults_search:find"}
"""
Content = Mapping[str, bytes]


@dataclass(frozen=True)
class Scenario:
    """A command that replaces its targets. ``read`` is what counts of them: times and versions may differ."""

    targets: tuple[str, ...]
    command: Callable[[], int]
    read: Callable[[Path], Content | None]
    is_valid: Callable[[], bool] = lambda: True
    may_be_absent: bool = False  # for a moment, with everything beside it
    starts_empty: bool = False  # the file is a store that grows, rather than one that is replaced


def write_collection(folder: Path) -> None:
    """The inputs of all scenarios."""
    documents = [{"_id": f"d{n}", "text": f"word{n} word{n % 3} brake"} for n in range(9)]
    queries = [{"_id": f"q{n}", "text": "word" * (n + 1)} for n in range(6)]
    others = [{"_id": f"d{n}", "text": f"other{n}"} for n in range(12)]
    cases = [{"query": "word" * (n + 1), "relevant_ids": [f"d{n}"]} for n in range(6)]
    for name, rows in (("corpus", documents), ("queries", queries), ("other", others), ("cases", cases)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.trec").write_text("".join(f"q{n} 0 d{(n * 2) % 9} 1\n" for n in range(6)))
    for name, sign in (("old", 1), ("new", -1)):
        lines = (f"q{n} Q0 d{d} 1 {sign * d} {name}\n" for n in range(6) for d in range(9))
        (folder / f"{name}.trec").write_text("".join(lines))
    for name, shift in (("old", 0), ("new", 1)):
        gold = [{"query_id": f"q{n}", "gold": [{"text": f"word{n + shift} word{(n + shift) % 3}"}]} for n in range(3)]
        (folder / f"gold-{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
        (folder / f"texts-{name}.jsonl").write_text(
            json.dumps({"_id": "d", "text": f"some words of {name}. more"}) + "\n"
        )
        (folder / f"double-{name}.trec").write_text((folder / f"{name}.trec").read_text() * 2)
        judgments, one_more = (folder / "qrels.trec").read_text(), f"q0 0 d{8 - shift} 1\n"
        (folder / f"more-{name}.qrels").write_text(judgments + one_more)
        (folder / f"double-{name}.qrels").write_text(judgments * 2 + one_more)
    (folder / "double.trec").write_text((folder / "old.trec").read_text().replace(" d1 ", " d9 "))
    (folder / "faults_search.py").write_text(SEARCH)
    (folder / "one.jsonl").write_text('{"query_id": "q0", "doc_id": "d0", "query": "word", "text": "word0"}\n')
    (folder / "benchmark.yaml").write_text(CONFIG)


def version() -> str:
    """``old`` or ``new``: which content a command writes."""
    return os.environ["FAULTS_VERSION"]


def cli(*words: str) -> Callable[[], int]:
    """A command line in which ``VERSION`` is the version."""
    return lambda: run([word.replace("VERSION", version()) for word in words])


def whole_files(*names: str) -> Callable[[Path], Content | None]:
    """The files, byte by byte; None if none is there."""

    def read(folder: Path) -> Content | None:
        return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()} or None

    return read


def without_times(path: str, *keys: str) -> Callable[[Path], Content | None]:
    """A JSON file without some of its keys."""

    def read(folder: Path) -> Content | None:
        if not (folder / path).is_file():
            return None
        data = json.loads((folder / path).read_bytes())
        return {path: json.dumps({key: value for key, value in data.items() if key not in keys}).encode()}

    return read


def log_without_times(path: str) -> Callable[[Path], Content | None]:
    """A log, of which every line is whole, without what differs between two calls of a retriever."""

    def read(folder: Path) -> Content | None:
        if not (folder / path).is_file():
            return None
        rows = [json.loads(line) for line in (folder / path).read_bytes().splitlines()]
        for row in rows:
            row.pop("latency_ms", None)
        return {path: json.dumps(rows).encode()}

    return read


def benchmark_folder(folder: Path) -> Content | None:
    """The run of a benchmark, if every file of it is there."""
    out = folder / "out"
    if not out.exists():
        return None
    for name in (MANIFEST, REPORT, COMPARISON, PAGE):
        assert (out / name).stat().st_size, name
    return {"run": (out / "runs/find.jsonl").read_bytes()}


def read_index(folder: Path) -> Content | None:
    """The files of an index; a damaged one counts as absent, because it is built again."""
    files = {path.name: path.read_bytes() for path in sorted((folder / "index/lexical").glob("*"))}
    return files if "header.json" in files else None


def fetch_with_index() -> int:
    """An index of another corpus, in the same folder."""
    corpus = "other.jsonl" if version() == "new" else "corpus.jsonl"
    return run(
        ["runs", "fetch", "--corpus", corpus, "--queries", "queries.jsonl", "--index", "index", "-o", "run.trec"]
    )


def write_workflow() -> int:
    """A workflow and a configuration in the place of older files."""
    if version() == "old":
        for name in (".gitlab-ci.yml", "rankgauge.yaml"):
            Path(name).write_text("old\n")
        return 0
    return run(["init", "--ci", "gitlab", "--force"])


def copied_collection(folder: Path) -> Content | None:
    """The files of a copied collection, if all are there; each of them is complete."""
    files = {name: folder / "copied" / name for name in BUNDLED_FILES}
    found = {name: path.read_bytes() for name, path in files.items() if path.exists()}
    assert all(content == (SHIPPED / name).read_bytes() for name, content in found.items())
    return found if len(found) == len(files) else None


def in_turn(*commands: Sequence[str]) -> int:
    """Several commands, until one fails."""
    return next((code for words in commands if (code := run(list(words)))), 0)


HISTORY = ("--history", "history")
SAVE = ("--save", "--set", "history.date=2026-11-01", *HISTORY)


def saved(*words: str, command: Sequence[str] = ("evaluate", "qrels.trec", "VERSION.trec")) -> Callable[[], int]:
    """A command that adds an entry to a history; the new one finds that of the old one there."""
    return cli(*command, *SAVE, *words)


def history_content(folder: Path) -> Content | None:
    """The systems in a history with their values, whole; an entry may be there twice. Half of one is an error."""
    if not (folder / "history").exists():
        return None
    history, found = History(folder / "history"), {}
    assert {path.stem for path in history.folder.glob("*.jsonl")} == {entry.name for entry in history.entries()}
    for entry in history.entries():
        scores = history.entry(entry.name).scores
        values = [scores.per_query(measure) for measure in scores.measures]
        found[entry.system] = repr((entry.saved, entry.collection, values)).encode()
    return found or None


def logged_history(folder: Path) -> Content | None:
    """What ``history_content`` says, of which every log is whole; a process that was killed may not have written it."""
    content = history_content(folder)
    for entry in History(folder / "history").entries() if content else []:
        if entry.log is not None:
            rows = [json.loads(line) for line in gzip.decompress(entry.log.read_bytes()).splitlines()]
            first = "d0" if entry.system == "new" else "d8"
            assert [(len(row["retrieved"]), row["retrieved"][0]["id"]) for row in rows] == [(9, first)] * 6
    return content


def has_no_leftovers(with_log: bool) -> bool:
    """Whether there is nothing in a history but entries, and the log of the newest if it was kept."""
    history = History(Path("history"))
    names = {path.name for path in history.folder.iterdir()}
    known = {entry.path.name for entry in history.entries()}
    known |= {entry.log.name for entry in history.entries() if entry.log is not None}
    newest = history.summary("latest")
    names = {name for name in names if name in known or not name.endswith(LOG_ENDING)}  # a kill leaves one for an hour
    return names == known and (newest.log is not None) == with_log and not any(TEMPORARY_SUFFIX in n for n in names)


def write_history_page() -> int:
    """The page of one of two histories, which are both there before."""
    save = [("evaluate", "qrels.trec", f"{name}.trec", *SAVE[:-1], f"history-{name}") for name in ("old", "new")]
    page = ("history", "trend", "--history", f"history-{version()}", "--html", "page.html")
    return in_turn(*(save if version() == "old" else ()), page)


def repaired(*words: str) -> Callable[[], int]:
    """A validation that found errors, which it repaired."""
    call = cli(*words)
    return lambda: 0 if (code := call()) == 1 else code


def sampled_qrels() -> int:
    """Judgments of a random sample as qrels."""
    sample = ("--strategy", "uniform", "--budget", "12", "--corpus", "corpus.jsonl", "--queries", "queries.jsonl")
    name = version()
    return in_turn(
        ("pool", f"{name}.trec", "--depth", "3", *sample, "-o", f"pool-{name}.jsonl"),
        ("judge", f"pool-{name}.jsonl", "-o", f"judged-{name}.jsonl", "--judge", "faults_search:grade"),
        ("convert", f"judged-{name}.jsonl", "sampled.qrels", "--pool", f"pool-{name}.jsonl"),
    )


def stored_judgments(folder: Path) -> Content | None:
    """Who judged what, without the times; a line that has no end does not count."""
    path = folder / "judgments.jsonl"
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    rows = [json.loads(line) for line in lines]
    return {row["assessor"]: str(row["relevance"]).encode() for row in rows} or None


def verified() -> bool:
    """Whether ``benchmark verify`` finds nothing wrong."""
    return run(["benchmark", "verify", "out"]) == 0


FETCH = ("runs", "fetch", "--retriever", "faults_search:find", "--queries", "queries.jsonl", "--batch", "2", "--k", "5")
GATE_LIVE = ("gate", "qrels.trec", "faults_search:find", "--queries", "queries.jsonl", "--require", "AP>=0")
SCENARIOS: dict[str, Scenario] = {
    "convert": Scenario(("out.csv",), cli("convert", "VERSION.trec", "out.csv"), whole_files("out.csv")),
    "convert to gzip": Scenario(
        ("out.jsonl.gz",), cli("convert", "VERSION.trec", "out.jsonl.gz"), whole_files("out.jsonl.gz")
    ),
    "fuse": Scenario(
        ("fused.trec",), cli("fuse", "VERSION.trec", "old.trec", "-o", "fused.trec"), whole_files("fused.trec")
    ),
    "fetch": Scenario(("run.trec",), cli(*FETCH, "-o", "run.trec"), whole_files("run.trec")),
    "live": Scenario(
        ("live.trec",),
        cli("evaluate", "cases.jsonl", "faults_search:find", "-o", "live.trec"),
        whole_files("live.trec"),
    ),
    "fetch manifest": Scenario(
        ("run.trec", "fetch.json"),
        cli(*FETCH, "-o", "run.trec", "--manifest", "fetch.json"),
        without_times("fetch.json", "start", "seconds", "latency"),
    ),
    "pool": Scenario(("pool.jsonl",), cli("pool", "VERSION.trec", "-o", "pool.jsonl"), whole_files("pool.jsonl")),
    "judge": Scenario(
        ("judgments.jsonl",),
        cli("judge", "one.jsonl", "-o", "judgments.jsonl", "--assessor", "VERSION", "--judge", "faults_search:grade"),
        stored_judgments,
    ),
    "gated log": Scenario(
        ("gated.jsonl",),
        cli(*GATE_LIVE, "-o", "gated.jsonl"),
        log_without_times("gated.jsonl"),
    ),
    "page": Scenario(
        ("page.html",), cli("evaluate", "qrels.trec", "VERSION.trec", "--html", "page.html"), whole_files("page.html")
    ),
    "summary": Scenario(
        ("summary.md",),
        cli("gate", "qrels.trec", "VERSION.trec", "--require", "AP>=0", "--summary", "summary.md"),
        whole_files("summary.md"),
    ),
    "benchmark": Scenario(
        ("out",),
        cli("benchmark", "run", "benchmark.yaml", "--latency", "0", "-o", "out"),
        benchmark_folder,
        verified,
        may_be_absent=True,
    ),
    "index": Scenario(("index", "run.trec"), fetch_with_index, read_index, may_be_absent=True),
    "workflow": Scenario((".gitlab-ci.yml",), write_workflow, whole_files(".gitlab-ci.yml")),
    "copied collection": Scenario(("copied",), cli("demo", "--copy", "copied"), copied_collection, starts_empty=True),
    "tune": Scenario(
        ("tuned.trec",),
        cli("tune", "qrels.trec", "old.trec", "VERSION.trec", "-m", "RR", "-o", "tuned.trec"),
        whole_files("tuned.trec"),
    ),
    "sampled judgments": Scenario(
        ("sampled.qrels", "pool-new.jsonl", "judged-new.jsonl"), sampled_qrels, whole_files("sampled.qrels")
    ),
    "labels resolve": Scenario(
        ("resolved.qrels",),
        cli("labels", "resolve", "gold-VERSION.jsonl", "--chunks", "corpus.jsonl", "-o", "resolved.qrels"),
        whole_files("resolved.qrels"),
    ),
    "stamped labels": Scenario(
        ("stamped.jsonl",),
        cli(
            "runs", "validate", "--labels", "more-VERSION.qrels", "--corpus", "corpus.jsonl", "--stamp", "stamped.jsonl"
        ),
        whole_files("stamped.jsonl"),
    ),
    "repaired run": Scenario(
        ("fixed.trec",),
        repaired("runs", "validate", "double-VERSION.trec", "--fix", "fixed.trec"),
        whole_files("fixed.trec"),
    ),
    "repaired judgments": Scenario(
        ("fixed.qrels",),
        repaired("runs", "validate", "--labels", "double-VERSION.qrels", "--fix", "fixed.qrels"),
        whole_files("fixed.qrels"),
    ),
    "page of a difference": Scenario(
        ("page.html",), cli("diff", "VERSION.trec", "double.trec", "--html", "page.html"), whole_files("page.html")
    ),
    "page of a comparison": Scenario(
        ("page.html",),
        cli("compare", "qrels.trec", "VERSION.trec", "double.trec", "--html", "page.html"),
        whole_files("page.html"),
    ),
    "page of a history": Scenario(
        ("page.html", "history-old", "history-new"), write_history_page, whole_files("page.html")
    ),
    "history": Scenario(("history",), saved(), history_content, lambda: has_no_leftovers(with_log=False)),
    "history with logs": Scenario(
        ("history",), saved("--save-run"), logged_history, lambda: has_no_leftovers(with_log=True)
    ),
    "history of gates": Scenario(
        ("history",),
        saved("--require", "AP>=0", command=("gate", "qrels.trec", "VERSION.trec")),
        history_content,
        lambda: has_no_leftovers(with_log=False),
    ),
}
# Which scenarios break the files of each command; every other command writes none.
WRITERS: dict[str, tuple[str, ...]] = {
    "demo": ("copied collection", "benchmark"),
    "init": ("workflow",),
    "evaluate": ("page", "live", "history", "history with logs"),
    "compare": ("page of a comparison",),
    "gate": ("gated log", "summary", "history of gates"),
    "diff": ("page of a difference",),
    "runs fetch": ("fetch", "fetch manifest", "index"),
    "runs validate": ("repaired run", "repaired judgments", "stamped labels"),
    "benchmark run": ("benchmark",),
    "fuse": ("fuse",),
    "tune": ("tune",),
    "pool": ("pool",),
    "judge": ("judge",),
    "labels resolve": ("labels resolve",),
    "convert": ("convert", "convert to gzip", "sampled judgments"),
    "history trend": ("page of a history",),
}
