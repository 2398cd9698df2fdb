"""What is written, and what must be there after a fault: each write path of rankgauge is one scenario."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT
from rankgauge.benchmark.plan import SHIPPED
from rankgauge.cli.commands.demo import BUNDLED_FILES
from rankgauge.cli.main import run

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
    (folder / "rankgauge.yaml").write_text(CONFIG)


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
    """A workflow in the place of an older file."""
    if version() == "old":
        Path(".gitlab-ci.yml").write_text("old\n")
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


HISTORY = ("--history", "history.db")
OTHER_HISTORY = ("--history", "other.db")
SAVE = ("--save", "--save-run", "--set", "history.date=2026-11-01")
SAVE_OLD, SAVE_NEW = (("evaluate", "qrels.trec", f"{name}.trec", *SAVE, *HISTORY) for name in ("old", "new"))
EXPORT = ("history", "export", "-o", "exported")


def after_saving(*words: str, before: Sequence[Sequence[str]] = (SAVE_OLD,)) -> Callable[[], int]:
    """A command on a history, in which other commands have saved something."""
    return lambda: in_turn(*(before if version() == "old" else [words]))


def history_content(folder: Path) -> Content | None:
    """The systems in a history, with the size of what is stored, and their tags; an entry may be there twice."""
    if not (folder / "history.db").exists():
        return None
    with closing(sqlite3.connect(folder / "history.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return None
        rows = connection.execute(
            "SELECT system, group_concat(DISTINCT tag), length(scores), length(run) FROM entries "
            "JOIN contents ON contents.entry = id LEFT JOIN tags ON tags.entry = id GROUP BY id ORDER BY id"
        ).fetchall()
    return {system: repr(row).encode() for system, *row in rows} or None


def exported_tags(folder: Path) -> Content | None:
    """The tags in an exported entry, of which every line is there."""
    path = folder / "exported" / "2026-11-01.jsonl"
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return {"tags": repr(lines[0]["entry"]["tags"]).encode(), "lines": str(len(lines)).encode()}


def write_metrics() -> int:
    """The newest values of a history."""
    save = SAVE_NEW if version() == "new" else SAVE_OLD
    return in_turn(save, ("history", "export", "--openmetrics", "-o", "metrics.prom", *HISTORY))


def write_history_page() -> int:
    """The page of one of two histories."""
    save = ((*SAVE_OLD[:-1], "old.db"), (*SAVE_NEW[:-1], "new.db")) if version() == "old" else ()
    return in_turn(*save, ("history", "trend", "--history", f"{version()}.db", "--html", "page.html"))


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
GATE = ("gate", "qrels.trec", "VERSION.trec", "-m", "AP", "-m", "nDCG@5")
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
        without_times("fetch.json", "seconds", "latency"),
    ),
    "pool": Scenario(("pool.jsonl",), cli("pool", "VERSION.trec", "-o", "pool.jsonl"), whole_files("pool.jsonl")),
    "judge": Scenario(
        ("judgments.jsonl",),
        cli("judge", "one.jsonl", "-o", "judgments.jsonl", "--assessor", "VERSION", "--judge", "faults_search:grade"),
        stored_judgments,
    ),
    "baseline": Scenario(
        ("base.json",), cli(*GATE, "--write-baseline", "base.json"), without_times("base.json", "created")
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
        cli("benchmark", "run", "rankgauge.yaml", "--latency", "0", "-o", "out"),
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
    "page of a history": Scenario(("page.html",), write_history_page, whole_files("page.html")),
    "metrics of a history": Scenario(("metrics.prom", "history.db"), write_metrics, whole_files("metrics.prom")),
    "history": Scenario(("history.db",), after_saving(*SAVE_NEW), history_content),
    "history tag": Scenario(
        ("history.db",), after_saving("history", "tag", "latest", "good", *HISTORY), history_content
    ),
    "history prune": Scenario(
        ("history.db",),
        after_saving("history", "prune", "--keep", "0", "--system", "old", *HISTORY, before=(SAVE_OLD, SAVE_NEW)),
        history_content,
    ),
    "history import": Scenario(
        ("history.db",),
        after_saving(
            *("history", "import", "exported", *HISTORY),
            before=(SAVE_OLD, (*SAVE_NEW[:-2], *OTHER_HISTORY), (*EXPORT, *OTHER_HISTORY)),
        ),
        history_content,
    ),
    "history export": Scenario(
        ("exported", "history.db"),
        after_saving(
            *EXPORT,
            *HISTORY,
            before=(SAVE_OLD, (*EXPORT, *HISTORY), ("history", "tag", "latest", "good", *HISTORY)),
        ),
        exported_tags,
    ),
}
# Which scenarios break the files of each command; every other command writes none.
WRITERS: dict[str, tuple[str, ...]] = {
    "demo": ("copied collection", "benchmark"),
    "init": ("workflow",),
    "evaluate": ("page", "live", "history"),
    "compare": ("page of a comparison",),
    "gate": ("baseline", "summary"),
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
    "history tag": ("history tag",),
    "history export": ("history export", "metrics of a history"),
    "history import": ("history import",),
    "history prune": ("history prune",),
    "history check": ("history tag",),  # one transaction, as there
}
