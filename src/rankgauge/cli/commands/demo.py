"""``rankgauge demo``."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.errors import InputError, write_errors
from rankgauge.io.owned import sweep
from rankgauge.io.writing import write_together

BUNDLED_FILES = ("corpus.jsonl", "queries.jsonl", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", "README.md")
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
    """,
)
@click.option(
    "-o", "--out", type=click.Path(), default=DEMO_FOLDER, show_default=True, metavar="DIR", help="Write to DIR."
)
@click.option(
    "--copy", "folder", type=click.Path(), metavar="DIR", help="Only copy the files of the bundled collection to DIR."
)
def command(out: str, folder: str | None) -> int | None:
    """Run a benchmark on the bundled collection.

    Lexical search (BM25), vector search, and a hybrid of both, over a bicycle workshop's knowledge base: which is best,
    with what confidence, and which queries changed. No system was tuned on it.
    """
    if folder is not None:
        copy_collection(Path(folder))
        return None
    if all(find_spec(name) is not None for name in RETRIEVAL_LIBRARIES):
        from rankgauge.benchmark.plan import shipped_plan
        from rankgauge.cli.commands.benchmark_run import run_and_show

        return run_and_show(shipped_plan(), out)
    compare_bundled_runs(out)
    return None


def copy_collection(folder: Path) -> None:
    """Copy the files of the collection into a new or empty folder."""
    from rankgauge.benchmark.plan import SHIPPED

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
    from rankgauge.benchmark.plan import SHIPPED
    from rankgauge.cli.options.html import write_page
    from rankgauge.cli.options.terminal import write_document
    from rankgauge.config.settings import Settings
    from rankgauge.render.documents.benchmark import summary_document
    from rankgauge.report.building import build_report

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
