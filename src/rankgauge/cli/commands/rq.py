"""``rankgauge rq``: whether searching a story finds the right scenes."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.adapters.story.retrieval_quality import StorySearch, retrieval_quality
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option_group
from rankgauge.cli.options.outputs import format_option
from rankgauge.cli.printing import collected_notes, print_warnings, write_document
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import UsageError
from rankgauge.render.documents.pipelines import story_document


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
