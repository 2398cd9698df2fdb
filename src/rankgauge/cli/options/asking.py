"""The options of asking a retriever of the user's own, the same in every command that does."""

from __future__ import annotations

import click

from rankgauge.cli.options.groups import Option, Section, option

ANSWER_OPTIONS: tuple[Option, ...] = (
    option(
        "--id",
        section=Section.LIVE,
        metavar="PATH",
        help="Find the id of a returned document at PATH: metadata.source, …",
    ),
    option(
        "--unit",
        section=Section.LIVE,
        type=click.Choice(["chunk", "document"]),
        default="chunk",
        show_default=True,
        help="Rank chunks, or collapse them into their documents.",
    ),
    option(
        "--scores",
        section=Section.LIVE,
        type=click.Choice(["similarity", "distance", "ignore"]),
        help="Sort results by score, highest first or lowest first, or ignore scores.  [default: the order of the "
        "results counts, and scores that contradict it are reported]",
    ),
)
CALL_OPTIONS: tuple[Option, ...] = (
    option(
        "--fetch",
        section=Section.LIVE,
        type=click.IntRange(min=1),
        metavar="N",
        help="Fetch N results, keep the top k.  [default: k]",
    ),
    option(
        "--concurrency",
        section=Section.LIVE,
        type=click.IntRange(min=1),
        help="Make at most N calls at once; the next begins when one ends (a closed loop).  [default: 1; at a rate "
        "1000]",
        metavar="N",
    ),
    option(
        "--rate",
        section=Section.LIVE,
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Send N queries per second, however long answers take (an open loop).",
    ),
    option(
        "--timeout",
        section=Section.LIVE,
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Time out a call after SECONDS.  [default: never]",
    ),
    option(
        "--retries",
        section=Section.LIVE,
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Retry a failed call up to N times, after longer and longer pauses.",
        metavar="N",
    ),
)
MAX_FAILURES: Option = option(
    "--max-failures",
    section=Section.LIVE,
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Allow N queries to fail; if more do, exit with an error.",
)
