"""``rankgauge tune``."""

from __future__ import annotations

import json

import click

from rankgauge.cli.options.terminal import collected_notes, print_warnings, write
from rankgauge.errors import printable
from rankgauge.io.queries import read_query_ids
from rankgauge.io.reading import read_qrels, read_run
from rankgauge.io.trec_writer import write_run
from rankgauge.io.writing import check_not_an_input
from rankgauge.retrieval.fusion.tune import TuningResult, tune


@click.command("tune")
@click.argument("qrels", type=click.Path())
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN RUN [RUN …]")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, metavar="NAME", help="What to make largest.")
@click.option(
    "--method",
    "methods",
    type=click.Choice(["rrf", "weighted"]),
    multiple=True,
    help="What to try; again for more.  [default: both]",
)
@click.option(
    "--steps", type=click.IntRange(1, 100), default=10, show_default=True, help="Weights are tried in steps of 1/STEPS."
)
@click.option(
    "--dev",
    type=click.Path(),
    metavar="QUERIES",
    help="The queries to tune on: an id a line, or a query file.  [default: half of them, by a hash of the id]",
)
@click.option("--test", type=click.Path(), metavar="QUERIES", help="The queries to report on.  [default: the others]")
@click.option("-o", "--out", type=click.Path(), metavar="OUT", help="Write the tuned run of the test queries.")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(
    qrels: str,
    runs: tuple[str, ...],
    measure: str,
    methods: tuple[str, ...],
    steps: int,
    dev: str | None,
    test: str | None,
    out: str | None,
    form: str,
) -> None:
    """Tune the weights of a fusion on held-out queries.

    Every choice is tried on the development queries alone; the best one is then measured once on the test queries.
    The value there is the one to believe.
    """
    inputs = [path for path in (qrels, *runs, dev, test) if path is not None]
    if out is not None:
        check_not_an_input(out, inputs)
    with collected_notes() as notes:
        found = tune(
            read_qrels(qrels),
            [read_run(path) for path in runs],
            measure=measure,
            methods=methods or ("rrf", "weighted"),
            steps=steps,
            dev=None if dev is None else read_query_ids(dev).to_text(),
            test=None if test is None else read_query_ids(test).to_text(),
        )
    if out is not None:
        write_run(found.run, out, inputs=inputs)
    write(json.dumps(found.to_dict(), indent=2) + "\n" if form == "json" else table(found))
    print_warnings(notes)
    if out is not None:
        click.echo(f"wrote {len(found.run)} results of {len(found.run.queries)} test queries to {out}", err=True)


def table(found: TuningResult) -> str:
    """A line for each run and for the fusions."""
    width = max(len(printable(score.name)) for score in found.scores)
    out = [f"{found.measure:<{width}}      dev     test"]
    for score in found.scores:
        values = "".join(f"  {'–' if value is None else f'{value:.4f}':>7}" for value in (score.dev, score.test))
        out.append(f"{printable(score.name):<{width}}{values}")
    out += [
        "",
        f"tuned on {len(found.split.dev)} queries, tested on {len(found.split.test)}; tried {found.choices_tried} ways",
    ]
    return "\n".join([*out, f"chosen: {found.choice}", ""])
