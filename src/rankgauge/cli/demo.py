"""``rankgauge demo``."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from rankgauge import __version__
from rankgauge.cli.evaluate import averaged_line
from rankgauge.cli.options import collected_notes, colour, say, say_of_runs, width, write
from rankgauge.errors import InputError
from rankgauge.evaluation import evaluate_all
from rankgauge.io.reading import read_qrels
from rankgauge.render import scores as render

FILES = ("corpus.jsonl", "queries.jsonl", "qrels.trec", "runs/lexical.trec", "runs/vector.trec", "README.md")
RUNS = ("lexical", "vector")


@click.command("demo")
@click.option(
    "--copy", "folder", type=click.Path(), metavar="DIR", help="Only copy the collection's files, to try commands on."
)
def command(folder: str | None) -> None:
    """See it work on a small collection that comes with it.

    Two real runs, by words (BM25) and by meaning (vectors), over a bicycle workshop's knowledge base.
    """
    home = files("rankgauge") / "data" / "workshop"
    if folder is not None:
        copy(home, Path(folder))
        return
    with collected_notes() as notes:
        qrels = read_qrels(str(home / "qrels.trec"), name="workshop")
        scores = evaluate_all([qrels], [str(home / "runs" / f"{name}.trec") for name in RUNS], "kpi")
    passages = (home / "corpus.jsonl").read_bytes().count(b"\n")
    write(
        f"rankgauge {__version__} · shipped collection 'workshop': {passages} passages, "
        f"{len(qrels.queries)} queries, {len(qrels)} judgments (grades 0–{qrels.max_grade:.0f}) · offline\n\n"
    )
    write(render.as_table(scores, per_query=False, colour=colour(), width=width()) + "\n\n")
    write(f"{averaged_line(scores)}\nconventions: {scores[0].conventions}\n")
    say(notes)
    say_of_runs(scores)
    write(
        "\nnext: rankgauge evaluate QRELS RUN…    your own files\n"
        "      rankgauge measures               what can be measured\n"
    )


def copy(home: Traversable, folder: Path) -> None:
    """Write the collection's files into a folder that must not have them yet."""
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is there and not empty", hint="name a new folder")
    for name in FILES:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((home / name).read_bytes())
    click.echo(f"wrote {len(FILES)} files into {folder}", err=True)
