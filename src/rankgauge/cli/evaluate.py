"""``rankgauge evaluate``."""

from __future__ import annotations

import click

from rankgauge.cli.options import collected_notes, colour, say, say_of_runs, width, write
from rankgauge.core.ranking import COMPATS, Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.evaluation import NoRelevant, Queries, Scores, evaluate_all
from rankgauge.notes import Note
from rankgauge.render import scores as render


@click.command("evaluate")
@click.argument("qrels", type=click.Path())
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN [RUN …]")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="A measure or a set of them, in any notation: nDCG@10, map, P.5,10, 'AP(rel=2)@100', rag@5, all_trec.",
)
@click.option("-q", "--per-query", is_flag=True, help="The value for each query too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "trec"]),
    default="table",
    show_default=True,
    help="json and csv hold full precision.",
)
@click.option(
    "-l",
    "--level",
    type=click.FloatRange(min=0),
    metavar="GRADE",
    help="The grade from which a document is relevant, for measures that do not say their own.  [default: 1]",
)
@click.option(
    "--queries",
    type=click.Choice(["qrels", "both"]),
    default="qrels",
    show_default=True,
    help="Average over every judged query, or (trec_eval's default) over those that the run has too.",
)
@click.option(
    "--no-relevant",
    type=click.Choice(["zero", "skip"]),
    default="zero",
    show_default=True,
    help="What a query without relevant documents counts.",
)
@click.option(
    "--on-duplicate",
    type=click.Choice(["error", "first"]),
    default="error",
    show_default=True,
    help="What to do with a document that stands twice in a result.",
)
@click.option(
    "--compat",
    type=click.Choice(COMPATS),
    default="trec_eval-9",
    show_default=True,
    help="Compare scores as trec_eval 9 does (float32) or as 10 does (float64).",
)
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    form: str,
    level: float | None,
    queries: Queries,
    no_relevant: NoRelevant,
    on_duplicate: OnDuplicate,
    compat: Compat,
) -> None:
    """Score runs against judgments.

    QRELS holds lines of "query iter document grade", a RUN lines of "query Q0 document rank score tag"; either may be
    compressed with gzip, or "-" for standard input.
    """
    with collected_notes() as notes:
        scores = evaluate_all(
            [qrels],
            runs,
            measures or None,
            compat=compat,
            queries=queries,
            no_relevant=no_relevant,
            rel=level,
            on_duplicate=on_duplicate,
        )
    show(scores, notes, form=form, per_query=per_query)


def show(scores: list[Scores], notes: list[Note], *, form: str, per_query: bool) -> None:
    """Print scores on standard output and what must be known of them on standard error."""
    match form:
        case "json":
            write(render.as_json(scores, per_query=per_query, notes=notes))
        case "csv":
            write(render.as_csv(scores, per_query=per_query))
        case "trec":
            write(render.as_trec(scores, per_query=per_query))
        case _:
            write(render.as_table(scores, per_query=per_query, colour=colour(), width=width()) + "\n")
            write("\n" + averaged_line(scores) + f"\nconventions: {scores[0].conventions}\n")
    say(notes)
    say_of_runs(scores)


def averaged_line(scores: list[Scores]) -> str:
    """Over how many queries the means are."""
    total = len(scores[0])
    counts = [int(run.averaged.sum()) for run in scores]
    if len(set(counts)) == 1:
        return f"averaged over {counts[0]} of {total} queries"
    listed = ", ".join(f"{run.run}: {count}" for run, count in zip(scores, counts, strict=True))
    return f"averaged over, of {total} queries, {listed}"
