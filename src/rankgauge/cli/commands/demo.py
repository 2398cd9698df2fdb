"""``rankgauge demo``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from rankgauge.errors import InputError

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", "README.md")
RUNS = ("lexical", "vector")
ENGINES = ("bm25s", "Stemmer", "wordllama")  # of the extra that retrieves
FOLDER = "rankgauge-demo"


@click.command("demo")
@click.option("-o", "--out", type=click.Path(), default=FOLDER, show_default=True, metavar="DIR")
@click.option(
    "--copy", "folder", type=click.Path(), metavar="DIR", help="Only copy the collection's files, to try out."
)
def command(out: str, folder: str | None) -> int | None:
    """See it work on a small collection that comes with it.

    Search by words (BM25), by meaning (vectors), both together, and reranked, over a bicycle workshop's knowledge base:
    which is best, how sure that is, and which queries moved. Nothing was tuned; what comes out is shown.
    """
    if folder is not None:
        copy(Path(folder))
        return None
    if all(find_spec(name) is not None for name in ENGINES):
        from rankgauge.benchmark.plan import shipped_plan
        from rankgauge.cli.commands.benchmark_run import run_and_show

        return run_and_show(shipped_plan(), out)
    compare_shipped(out)
    return None


def copy(folder: Path) -> None:
    """Write the collection's files into a folder that must not have them yet."""
    from rankgauge.benchmark.plan import SHIPPED

    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is there and not empty", hint="name a new folder")
    for name in FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((SHIPPED / name).read_bytes())
    click.echo(f"wrote {len(FILES)} files into {folder}", err=True)


def compare_shipped(out: str) -> None:
    """Compare the two runs that come with the collection, where the engines that would make them are not installed."""
    from rankgauge.benchmark.plan import SHIPPED
    from rankgauge.cli.options.common import colour, write
    from rankgauge.cli.options.html import write_page
    from rankgauge.config.bands.presets import DEFAULT, preset
    from rankgauge.render.text import benchmark as render
    from rankgauge.report.building import build_report
    from rankgauge.report.settings import Settings

    report = build_report(
        SHIPPED / "qrels.trec",
        {name: SHIPPED / "runs" / f"{name}.trec" for name in RUNS},
        Settings(by=("category", "difficulty"), bands=preset(DEFAULT)),
        title=SHIPPED.name,
        topics=SHIPPED / "queries.jsonl",
        reproduce="rankgauge demo",
    )
    click.echo("note: retrieval is not installed, so the two runs that come with the collection are compared", err=True)
    write(render.as_text(report, colour=colour()))
    path = Path(out) / "report.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_page(report, path)
    write(
        f"\nwrote        {path}   ← open this\n"
        "next         pip install 'rankgauge[retrieval]'   and the demo retrieves itself: three modes and reranking\n"
        "             rankgauge compare --help             you have run files already\n"
    )
