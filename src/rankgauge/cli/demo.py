"""``rankgauge demo``."""

from __future__ import annotations

from importlib.resources import files

import click

from rankgauge import __version__
from rankgauge.cli.evaluate import averaged_line
from rankgauge.cli.options import collected_notes, colour, say, width, write
from rankgauge.evaluation import evaluate_all
from rankgauge.io.trec import read_qrels
from rankgauge.render import scores as render

RUNS = ("lexical", "vector")


@click.command("demo")
def command() -> None:
    """See it work on a small collection that comes with it.

    Two real runs, by words (BM25) and by meaning (vectors), over a bicycle workshop's knowledge base.
    """
    home = files("rankgauge") / "data" / "workshop"
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
    for run in scores:
        say(list(run.notes), about=run.run)
    write(
        "\nnext: rankgauge evaluate QRELS RUN…    your own files\n"
        "      rankgauge measures               what can be measured\n"
    )
