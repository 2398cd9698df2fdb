"""``rankgauge tune``."""

from __future__ import annotations

from dataclasses import dataclass

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.cli.options.view import QUERIES
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import printable
from rankgauge.io.queries import read_queries, read_query_ids
from rankgauge.io.read import read_qrels, read_run
from rankgauge.io.trec_writer import write_run
from rankgauge.io.writing import check_writable
from rankgauge.render.documents.steps import tuning_document
from rankgauge.retrieval.fusion.grid import TUNED_METHODS
from rankgauge.retrieval.fusion.tune import tune


@dataclass(frozen=True)
class TuningRequest:
    """What to tune for, which fusions to try, and on which queries."""

    measure: str
    methods: tuple[str, ...]
    steps: int
    dev: str | None
    test: str | None


@documented(
    "tune",
    """
    # Tune the weights of two runs
    rankgauge tune qrels.txt old.run my.run
    # Optimize another measure, and write the tuned run
    rankgauge tune qrels.txt old.run my.run -m AP@100 -o tuned.run
    """,
)
@click.argument("qrels", type=click.Path())
@click.argument("runs", type=click.Path(), nargs=-1, required=True, metavar="RUN RUN [RUN …]")
@option_group(
    "request",
    TuningRequest,
    option(
        "-m",
        "--measure",
        section=Section.MEASURES,
        default="nDCG@10",
        show_default=True,
        metavar="NAME",
        help="Optimize this measure.",
    ),
    option(
        "--method",
        "methods",
        section=Section.TUNING,
        type=click.Choice(TUNED_METHODS),
        multiple=True,
        help="Try a method of fusion; repeatable.  [default: both]",
    ),
    option(
        "--steps",
        section=Section.TUNING,
        rare=True,
        type=click.IntRange(1, 100),
        default=10,
        show_default=True,
        metavar="N",
        help="Try weights in steps of 1/N.",
    ),
    option(
        "--dev",
        section=Section.TUNING,
        type=click.Path(),
        metavar="FILE",
        help="Tune on these queries: one id per line, or a file of queries.  [default: half of them, by a hash of the "
        "id]",
    ),
    option(
        "--test",
        section=Section.TUNING,
        type=click.Path(),
        metavar="FILE",
        help="Report on these queries.  [default: all that are not tuned on]",
    ),
)
@option(
    "-o",
    "--out",
    section=Section.OUTPUT,
    type=click.Path(),
    metavar="FILE",
    help="Write the tuned run of the test queries to FILE.",
)
@option(
    "--format",
    "format",
    section=Section.OUTPUT,
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Print a table or JSON.",
)
@QUERIES
def command(
    qrels: str, runs: tuple[str, ...], request: TuningRequest, out: str | None, format: str, queries: str | None
) -> None:
    """Tune the weights of a fusion on held-out queries.

    Every choice is tried on the development queries only; the best one is then measured once on the test queries.
    Report the value on the test queries. If the queries have a column `unit`, those of one unit are on the same side.
    """
    inputs = [path for path in (qrels, *runs, request.dev, request.test, queries) if path is not None]
    if out is not None:
        check_writable(out, inputs=inputs)
    with collected_notes() as notes:
        judgments = read_qrels(qrels)
        result = tune(
            judgments if queries is None else judgments.with_columns(read_queries(queries).columns),
            [read_run(path) for path in runs],
            measure=request.measure,
            methods=request.methods or TUNED_METHODS,
            steps=request.steps,
            dev=None if request.dev is None else read_query_ids(request.dev).to_text(),
            test=None if request.test is None else read_query_ids(request.test).to_text(),
        )
    if out is not None:
        write_run(result.run, out, inputs=inputs)
    write_document(tuning_document(result), format)
    print_warnings(notes)
    if out is not None:
        results, queries = plural(len(result.run), "result"), plural(len(result.run.queries), "test query")
        print_message(f"wrote {results} of {queries} to {printable(out, None)}")
