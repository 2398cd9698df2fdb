"""``rankgauge fuse`` and ``rankgauge tune``."""

from __future__ import annotations

from dataclasses import dataclass

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group, out_option
from rankgauge.cli.options.inputs import (
    ASKED_QUERIES,
    NO_CODE,
    LabelSources,
    asking_group,
    asking_with_k,
    check_one_stdin,
    label_options_and_corpus,
    matching_options_and_set,
    named_files,
    open_rankings,
    reading_options_and_set,
)
from rankgauge.cli.options.outputs import format_option
from rankgauge.cli.printing import collected_notes, print_message, print_warnings, write_document
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError, printable, shown
from rankgauge.evaluation.evaluate import DEFAULT_DEPTH, needed_depth
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.formats.trec import write_run
from rankgauge.io.queries import read_query_ids
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.results import Opening
from rankgauge.measures.names import parse_measure
from rankgauge.render.documents.pipelines import tuning_document
from rankgauge.retrieval.fusion import FUSION_METHODS, NORMALIZATIONS, fuse
from rankgauge.retrieval.tuning import Tuning, tune


@dataclass(frozen=True)
class FusionRequest:
    """How runs are combined."""

    fusion: str
    weights: str | None
    normalization: str
    rrf_k: float


@documented(
    "fuse",
    """
    # Combine two runs by reciprocal rank fusion
    rankgauge fuse old.run my.run -o fused.run
    # Weight the second run more
    rankgauge fuse old.run my.run -o fused.run --method rrf --weights 0.3,0.7
    """,
)
@click.argument("runs", type=click.Path(allow_dash=True), nargs=-1, required=True, metavar="RESULTS …")
@out_option("Write the TREC run to FILE.")
@option_group(
    "request",
    FusionRequest,
    declared_options(RetrieverSettings, "fusion", choices=tuple(FUSION_METHODS))[0],
    option(
        "--weights", section=Section.FUSION, metavar="W,W,…", help="Weight the runs: 0.7,0.3.  [default: equal weights]"
    ),
    declared_options(RetrieverSettings, "normalization", choices=tuple(NORMALIZATIONS))[0],
    declared_options(RetrieverSettings, "rrf_k")[0],
)
@option(
    "--k",
    "depth",
    section=Section.OUTPUT,
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep at most N documents per query.  [default: all]",
)
@option("--tag", section=Section.OUTPUT, metavar="NAME", help="Name the run.  [default: the method]")
@ASKED_QUERIES
@asking_group
@NO_CODE
@reading_options_and_set
def fuse_command(
    runs: tuple[str, ...],
    out: str,
    request: FusionRequest,
    depth: int | None,
    tag: str | None,
    queries: str | None,
    asking: Asking,
    reading: Reading,
) -> None:
    """Combine runs into one.

    RESULTS are those of `rankgauge evaluate`, at least two systems; a live retriever is asked the queries of --queries,
    or those of a log. The output is a TREC run whose queries are in the order of the first run. Scores have
    six digits, or more if it takes more to keep their order.
    """
    inputs = named_files(*runs, queries)
    check_one_stdin(*inputs)
    check_writable(out, inputs=inputs)
    weights = None if request.weights is None else parse_weights(request.weights)
    with collected_notes() as notes:
        opened = open_rankings(runs, queries, depth or DEFAULT_DEPTH, asking, reading)
        notes += opened.notes
        if len(opened.results) < 2:
            raise UsageError("fusion needs at least two runs, found one")
        fused = fuse(
            opened.results,
            request.fusion,
            k=depth,
            weights=weights,
            normalization=request.normalization,
            rrf_k=request.rrf_k,
            name=tag,
        )
    write_run(fused, out, inputs=inputs)
    print_warnings(notes)
    results, queries = plural(len(fused), "result"), plural(len(fused.queries), "query")
    print_message(f"wrote {results} of {queries} to {printable(out, None)}")


def parse_weights(text: str) -> list[float]:
    """Parse ``0.7,0.3`` into numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"expected numbers separated by commas, found {shown(text)}") from None


@dataclass(frozen=True)
class TuningRequest:
    """Which queries a fusion is tuned and measured on, and what is written."""

    dev: str | None
    test: str | None
    out: str | None
    format: str


@documented(
    "tune",
    """
    # Tune the weights of two runs
    rankgauge tune qrels.txt old.run my.run
    # Optimize another measure, and write the tuned run
    rankgauge tune qrels.txt old.run my.run -m AP@100 -o tuned.run
    """,
)
@click.argument("qrels", type=click.Path(), metavar="LABELS")
@click.argument("runs", type=click.Path(), nargs=-1, metavar="RESULTS …")
@option_group("tuning", Tuning, *declared_options(Tuning))
@option_group(
    "request",
    TuningRequest,
    option(
        "--dev",
        section=Section.TUNING,
        type=click.Path(),
        metavar="FILE",
        help="Tune on these queries: one id per line, or a file of queries.  [default: half of them, by a hash of "
        "the id]",
    ),
    option(
        "--test",
        section=Section.TUNING,
        type=click.Path(),
        metavar="FILE",
        help="Report on these queries.  [default: all that are not tuned on]",
    ),
    option(
        "-o",
        "--out",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write the tuned run of the test queries to FILE.",
    ),
    format_option("table", "json"),
)
@label_options_and_corpus
@matching_options_and_set
@asking_with_k
@NO_CODE
def tune_command(
    qrels: str,
    runs: tuple[str, ...],
    tuning: Tuning,
    request: TuningRequest,
    sources: LabelSources,
    reading: Reading,
    asking: Asking,
) -> None:
    """Tune the weights of a fusion on held-out queries.

    Every choice is tried on the development queries only; the best one is then measured once on the test queries.
    Report the value on the test queries. Labels and results are those of `rankgauge evaluate`. If the queries have a
    column `unit`, those of one unit are on the same side.
    """
    named, out = sources.split(qrels, runs), request.out
    inputs = [*named.files, *named_files(request.dev, request.test)]
    named.check_asking(also=("k",))
    if out is not None:
        check_writable(out, inputs=inputs)
    with collected_notes(shows_noted=True) as notes:
        depth = max(DEFAULT_DEPTH, needed_depth([parse_measure(tuning.measure)]))
        opening = Opening(depth, depth, needs_rankings=True, asking=asking)
        opened = named.open(reading, opening).judged(reading)
        notes += opened.notes
        judgments = as_qrels(opened.labels, reading)
        result = tune(
            judgments if opened.queries is None else judgments.with_columns(opened.queries.columns),
            [run for one in opened.results for run in runs_and_notes(one, reading)[0]],
            measure=tuning.measure,
            methods=tuning.methods,
            steps=tuning.steps,
            dev=None if request.dev is None else read_query_ids(request.dev).to_text(),
            test=None if request.test is None else read_query_ids(request.test).to_text(),
        )
    if out is not None:
        write_run(result.run, out, inputs=inputs)
    write_document(tuning_document(result), request.format)
    print_warnings(notes)
    if out is not None:
        results, queries = plural(len(result.run), "result"), plural(len(result.run.queries), "test query")
        print_message(f"wrote {results} of {queries} to {printable(out, None)}")
