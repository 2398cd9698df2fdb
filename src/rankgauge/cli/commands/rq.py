"""``rankgauge rq``."""

from __future__ import annotations

import click

from rankgauge.adapters.story.quality import DEPTH, PROFILES, THRESHOLD, retrieval_quality
from rankgauge.cli.options.terminal import collected_notes, print_warnings, use_color, write
from rankgauge.errors import UsageError
from rankgauge.render.text import story as render

FAILED = 1


@click.command("rq")
@click.argument("story", metavar="STORY", type=click.Path(allow_dash=True))
@click.argument("queries", metavar="QUERIES", type=click.Path(allow_dash=True))
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="vsa",
    show_default=True,
    help="How texts are compared: hyperdimensional vectors, or a bag of words.",
)
@click.option(
    "--k",
    type=click.IntRange(min=1),
    default=DEPTH,
    show_default=True,
    help="How far recall looks, where a query has no topK of its own.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(min=0, max=1),
    default=THRESHOLD,
    show_default=True,
    help="The mean reciprocal rank that must be exceeded.",
)
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(story: str, queries: str, profile: str, k: int, threshold: float, form: str) -> int:
    """Measure whether searching a story finds the right scenes.

    STORY holds scenes in story order: JSON Lines, a JSON document with "scenes" and "ordered_ids", or Markdown or plain
    text with scene headings. QUERIES holds JSON objects with "text", "relevant" scene ids and perhaps "topK". Each
    query ranks all scenes; ties keep story order. Exit codes: 0 passed, or skipped for want of labelled queries, 1
    failed, 2 bad input, 64 a wrong call.
    """
    if story == queries == "-":
        raise UsageError("standard input can be only one of the files")
    with collected_notes() as notes:
        result = retrieval_quality(story, queries, profile=profile, k=k, threshold=threshold)
    write(render.as_json(result) if form == "json" else render.as_text(result, color=use_color()))
    print_warnings(notes)
    return FAILED if result.passed is False else 0
