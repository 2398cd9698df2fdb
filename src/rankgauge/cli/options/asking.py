"""The options of asking a retriever of the user's own, the same in every command that does."""

from __future__ import annotations

import click

from rankgauge.cli.options.groups import Option

ANSWER_OPTIONS: tuple[Option, ...] = (
    click.option("--id", metavar="PATH", help="Find the id of a returned document at PATH: metadata.source, …"),
    click.option(
        "--unit",
        type=click.Choice(["chunk", "document"]),
        default="chunk",
        show_default=True,
        help="Rank chunks, or collapse them into their documents.",
    ),
    click.option(
        "--scores",
        type=click.Choice(["similarity", "distance", "ignore"]),
        help="Sort results by score, highest first or lowest first, or ignore scores.  [default: the order of the "
        "results counts, and scores that contradict it are reported]",
    ),
)
CALL_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--fetch", type=click.IntRange(min=1), metavar="N", help="Fetch N results, keep the top k.  [default: k]"
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        help="Make at most N calls at once; the next begins when one ends (a closed loop).  [default: 1; with --rate "
        "1000]",
        metavar="N",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Send N queries per second, however long answers take (an open loop).",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Time out a call after SECONDS.  [default: never]",
    ),
    click.option(
        "--retries",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Retry a failed call up to N times, after longer and longer pauses.",
        metavar="N",
    ),
)
MAX_FAILURES: Option = click.option(
    "--max-failures",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Allow N queries to fail; if more do, exit with an error.",
)
