"""``rankgauge pipeline``: routing, gate and reranking from the log of a pipeline."""

from __future__ import annotations

import click

from rankgauge.adapters.pipeline.paired_values import PIPELINE_MEASURE
from rankgauge.adapters.pipeline.pipeline_log import evaluate_pipeline
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.outputs import format_option
from rankgauge.cli.printing import collected_notes, print_warnings, write_document
from rankgauge.render.documents.pipelines import document


@documented(
    "pipeline",
    """
    # Evaluate the steps of a pipeline
    rankgauge pipeline log.jsonl
    # Judge its rankings by a file, with another measure
    rankgauge pipeline log.jsonl --qrels qrels.txt -m RR@10
    """,
)
@click.argument("log", metavar="LOG", type=click.Path())
@click.option("--qrels", type=click.Path(), metavar="QRELS", help="Use these judgments if the log has no relevant_ids.")
@click.option(
    "-m",
    "--measure",
    default=PIPELINE_MEASURE,
    show_default=True,
    metavar="NAME",
    help="Measure quality with NAME, in any notation.",
)
@format_option("table", "json")
def pipeline_command(log: str, qrels: str | None, measure: str, format: str) -> None:
    """Evaluate routing, gate and reranking from a log.

    LOG has one JSON object per query: "expert" and "optimal_expert"; "skipped" and "needs_retrieval"; "retrieved_ids",
    "reranked_ids" and "relevant_ids". A step whose keys are missing is left out, with the reason.
    """
    with collected_notes() as notes:
        report = evaluate_pipeline(log, qrels=qrels, measure=measure)
    write_document(document(report), format)
    print_warnings(notes)
