"""``rankgauge rq``."""

from __future__ import annotations

import click

from rankgauge.adapters.story.quality import DEFAULT_THRESHOLD, DEFAULT_TOP_K, PROFILES, retrieval_quality
from rankgauge.cli.documented import documented
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write_document
from rankgauge.errors import UsageError
from rankgauge.render.documents.steps import story_document

EXIT_FAILED = 1


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
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="vsa",
    show_default=True,
    help="Compare texts as hyperdimensional vectors or as bags of words.",
)
@click.option(
    "--k",
    type=click.IntRange(min=1),
    default=DEFAULT_TOP_K,
    show_default=True,
    metavar="K",
    help="Compute recall at K for queries without a topK.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(min=0, max=1),
    default=DEFAULT_THRESHOLD,
    show_default=True,
    metavar="VALUE",
    help="Pass if the mean reciprocal rank exceeds VALUE.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Choose what to print; json has full precision.",
)
def command(story: str, queries: str, profile: str, k: int, threshold: float, form: str) -> int:
    """Check whether searching a story finds the right scenes.

    STORY has scenes in story order: JSON Lines, a JSON document with "scenes" and "ordered_ids", or Markdown or plain
    text with scene headings. QUERIES has JSON objects with "text", "relevant" scene ids and optionally "topK". Each
    query ranks all scenes; ties keep story order. Exit codes: 0 passed, or skipped without labeled queries, 1 failed,
    2 bad input, 64 usage error.
    """
    if story == queries == "-":
        raise UsageError("only one of the files can be standard input")
    with collected_notes() as notes:
        result = retrieval_quality(story, queries, profile=profile, k=k, threshold=threshold)
    write_document(story_document(result), form)
    print_warnings(notes)
    return EXIT_FAILED if result.passed is False else 0
