"""``rankgauge demo``: a benchmark on the bundled collection, a copy of it, or two logs of an assistant."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from rankgauge.benchmark.plan import SHIPPED, shipped_plan
from rankgauge.cli.command_tree import documented
from rankgauge.cli.commands.benchmark import run_and_show
from rankgauge.cli.options.declared_options import is_given
from rankgauge.cli.options.outputs import write_page
from rankgauge.cli.printing import print_message, write_document
from rankgauge.config.settings import Settings
from rankgauge.errors import InputError, UsageError, write_errors
from rankgauge.io.atomic_files import write_together
from rankgauge.io.owned_files import sweep
from rankgauge.render.documents.benchmark import summary_document
from rankgauge.report.report import build_report

BUNDLED_FILES = ("corpus.jsonl", "queries.jsonl", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", "README.md")
RAG_LOGS, RAG_FILES = SHIPPED.parent / "rag", ("monday.jsonl", "today.jsonl")
BUNDLED_RUNS = ("lexical", "vector")
RETRIEVAL_LIBRARIES = ("bm25s", "Stemmer", "wordllama")  # of the extra ``retrieval``
DEMO_FOLDER = "rankgauge-demo"


@documented(
    "demo",
    """
    # Run the demo, and open rankgauge-demo/report.html
    rankgauge demo
    # Copy the bundled collection, to try commands on it
    rankgauge demo --copy workshop
    # Write two logs of an assistant's retrieval, and compare them
    rankgauge demo --rag
    """,
)
@click.option(
    "-o", "--out", type=click.Path(), default=DEMO_FOLDER, show_default=True, metavar="DIR", help="Write to DIR."
)
@click.option(
    "--copy", "folder", type=click.Path(), metavar="DIR", help="Only copy the files of the bundled collection to DIR."
)
@click.option("--rag", is_flag=True, help="Only write two logs of an assistant, monday.jsonl and today.jsonl.")
def demo_command(out: str, folder: str | None, rag: bool) -> int | None:
    """Run a benchmark on the bundled collection.

    Lexical search (BM25), vector search, and a hybrid of both, over a bicycle workshop's knowledge base: which is best,
    with what confidence, and which queries changed. No system was tuned on it.

    With --rag, two logs of an assistant for two companies: 60 questions, 20 of them without an answer.
    """
    if rag:
        if folder is not None:
            raise UsageError("--rag and --copy write different files", hint="run the command once for each")
        write_rag_logs(Path(out) if is_given("out") else Path())
        return None
    if folder is not None:
        copy_collection(Path(folder))
        return None
    if all(find_spec(name) is not None for name in RETRIEVAL_LIBRARIES):
        return run_and_show(shipped_plan(), out)
    compare_bundled_runs(out)
    return None


def write_rag_logs(folder: Path) -> None:
    """Write the two logs into a folder; a file of the same name with other content is kept."""
    contents = {folder / name: (RAG_LOGS / name).read_bytes() for name in RAG_FILES}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise InputError(f"{path} exists", hint="name another folder: rankgauge demo --rag -o DIR")
    write_together(contents)
    before, now = (shlex.quote(str(path)) for path in contents)
    print_message(f"wrote {before} and {now}: 60 questions of two companies, 20 of them without an answer")
    print_message(f"next: rankgauge gate {now} --baseline {before} --no-leaks")


def copy_collection(folder: Path) -> None:
    """Copy the files of the collection into a new or empty folder."""
    contents = {folder / name: (SHIPPED / name).read_bytes() for name in BUNDLED_FILES}
    for part in (folder, folder / "runs"):
        sweep(part)  # what a copy left that was killed
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and (path not in contents or path.is_symlink() or path.read_bytes() != contents[path]):
            raise InputError(f"{folder} exists and is not empty", hint="name a new folder")
    write_together(contents)
    print_message(f"wrote {len(BUNDLED_FILES)} files to {folder}")
    print_message(f"next: cd {shlex.quote(str(folder))} && rankgauge compare qrels.trec runs/*.trec")


def compare_bundled_runs(out: str) -> None:
    """Compare the two bundled runs, if the retrieval libraries are not installed."""
    report = build_report(
        SHIPPED / "qrels.trec",
        {name: SHIPPED / "runs" / f"{name}.trec" for name in BUNDLED_RUNS},
        Settings(by=("category", "difficulty")),
        title=SHIPPED.name,
        queries=SHIPPED / "queries.jsonl",
        reproduce="rankgauge demo",
    )
    print_message("note: the extra 'retrieval' is not installed: comparing the two bundled runs")
    path = Path(out) / "report.html"
    with write_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_page(report, path)
    ending = {
        "Wrote": [f"{path}   ← open this"],
        "Next": [
            "pip install 'rankgauge[retrieval]'   run the whole demo: three systems",
            "rankgauge compare --help   compare your own run files",
        ],
    }
    write_document(summary_document(report, ending))
