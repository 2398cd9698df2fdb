"""``rankgauge pipeline`` and ``rankgauge rq``: the log of a pipeline, and the scenes of a story."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.adapters.pipeline.paired_values import PIPELINE_MEASURE
from rankgauge.adapters.pipeline.pipeline_log import evaluate_pipeline
from rankgauge.adapters.story.retrieval_quality import StorySearch, retrieval_quality
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option_group
from rankgauge.cli.options.outputs import format_option
from rankgauge.cli.printing import collected_notes, print_warnings, write_document
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import UsageError
from rankgauge.render.documents.pipelines import document, story_document


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


@documented(
    "rq",
    """
    # Check the search of a story
    rankgauge rq story.md questions.jsonl
    # Require more, as JSON
    rankgauge rq story.md questions.jsonl --k 10 --threshold 0.4 --format json
    """,
)
@click.argument("story", metavar="STORY", type=click.Path(allow_dash=True))
@click.argument("queries", metavar="QUERIES", type=click.Path(allow_dash=True))
@option_group("search", dict, *declared_options(StorySearch))
@format_option("table", "json")
def rq_command(story: str, queries: str, search: dict[str, Any], format: str) -> int:
    """Check whether searching a story finds the right scenes.

    STORY has scenes in story order: JSON Lines, a JSON document with "scenes" and "ordered_ids", or Markdown or plain
    text with scene headings. QUERIES has JSON objects with "text", "relevant" scene ids and optionally "topK". Each
    query ranks all scenes; ties keep story order. Exit codes: 0 passed, or skipped without labeled queries, 1 failed,
    2 bad input, 64 usage error.
    """
    if story == queries == "-":
        raise UsageError("only one of the files can be standard input")
    with collected_notes() as notes:
        result = retrieval_quality(story, queries, **search)
    write_document(story_document(result), format)
    print_warnings(notes)
    return exit_code("skipped" if result.passed is None else "pass" if result.passed else "fail")
