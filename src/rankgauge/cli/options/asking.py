"""The options of asking a retriever of the user's own, and ``--no-code``, the same in every command that does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import Option, option
from rankgauge.core.settings import Section
from rankgauge.errors import printable

ANSWER_OPTIONS: tuple[Option, ...] = (
    option(
        "--id",
        section=Section.LIVE,
        rare=True,
        metavar="PATH",
        help="Find the id of a returned document at PATH: metadata.source, …",
    ),
    option(
        "--unit",
        section=Section.LIVE,
        rare=True,
        type=click.Choice(["chunk", "document"]),
        default="chunk",
        show_default=True,
        help="Rank chunks, or collapse them into their documents.",
    ),
    option(
        "--scores",
        section=Section.LIVE,
        rare=True,
        type=click.Choice(["similarity", "distance", "ignore"]),
        help="Sort results by score, highest first or lowest first, or ignore scores.  [default: the order of the "
        "results counts, and scores that contradict it are reported]",
    ),
)
CALL_OPTIONS: tuple[Option, ...] = (
    option(
        "--fetch",
        section=Section.LIVE,
        rare=True,
        type=click.IntRange(min=1),
        metavar="N",
        help="Fetch N results, keep the top k.  [default: k]",
    ),
    option(
        "--concurrency",
        section=Section.LIVE,
        rare=True,
        type=click.IntRange(min=1),
        help="Make at most N calls at once; the next begins when one ends (a closed loop).  [default: 1; with --rate "
        "1000]",
        metavar="N",
    ),
    option(
        "--rate",
        section=Section.LIVE,
        rare=True,
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Send N queries per second, however long answers take (an open loop).",
    ),
    option(
        "--timeout",
        section=Section.LIVE,
        rare=True,
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Time out a call after SECONDS.  [default: never]",
    ),
    option(
        "--retries",
        section=Section.LIVE,
        rare=True,
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
    rare=True,
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Allow N queries to fail; if more do, exit with an error.",
)


def _apply_code_policy(context: click.Context, parameter: click.Parameter, is_refused: bool) -> Any:
    """Apply the policy until the command ends."""
    from rankgauge.retrieval.code_policy import CodePolicy, code_policy

    def announce(kind: str, path: str) -> None:
        origin = " from the working folder" if _is_in_working_folder(path) else ""
        print_message(f"loading code{origin}: {printable(path, None)} ({kind.lstrip('-')})")

    context.with_resource(code_policy(CodePolicy(is_allowed=not is_refused, announce=announce)))


def _is_in_working_folder(path: str) -> bool:
    from rankgauge.retrieval.loading import FILE_SUFFIX

    module = path.rpartition(":")[0]
    if module.endswith(FILE_SUFFIX):
        return Path(module).resolve().is_relative_to(Path.cwd())
    name = module.partition(".")[0]
    return Path(name).is_dir() or Path(f"{name}{FILE_SUFFIX}").is_file()


NO_CODE: Option = option(
    "--no-code",
    section=Section.LIVE,
    rare=True,
    is_flag=True,
    expose_value=False,
    callback=_apply_code_policy,
    help="Refuse module:callable, so that no code of a configuration or the working folder runs.",
)
