"""The options of a live retriever, which ``rankgauge evaluate`` accepts instead of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS, MAX_FAILURES
from rankgauge.cli.options.groups import Option, option_names, with_options
from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from rankgauge.retrieval.asking.calls import RetrieverCalls

LIVE_FORMATS = ("table", "json")


@dataclass(frozen=True)
class LiveOptions:
    """A retriever, its test cases, and how it is called."""

    retriever: str
    cases: str
    calls: RetrieverCalls
    k: int = 5
    id: str | None = None
    unit: Literal["chunk", "document"] = "chunk"
    scores: Literal["similarity", "distance", "ignore"] | None = None
    max_failures: int = 0

    def run(self, files: Sequence[str | None], measures: Sequence[str], form: str) -> int:
        """Evaluate, print, and return the exit code. Files cannot be combined with a retriever."""
        if any(file is not None for file in files):
            raise UsageError("--retriever takes its judgments from --cases: it cannot be combined with files")
        if form not in LIVE_FORMATS:
            raise UsageError(f"--retriever has no --format {form}, expected one of {', '.join(LIVE_FORMATS)}")
        _check_no_file_options(click.get_current_context())
        from rankgauge.cli.commands.live import evaluate_live

        return evaluate_live(self, measures, form)


OPTIONS: tuple[Option, ...] = (
    click.option("--retriever", metavar="MODULE:OBJECT", help="Evaluate a live retriever instead of files."),
    click.option(
        "--cases",
        type=click.Path(),
        metavar="CASES",
        help='Read test cases: {"query": …, "relevant_ids": […]}, or CSV.',
    ),
    click.option(
        "--k",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Ask for K results per query.",
        metavar="K",
    ),
    *ANSWER_OPTIONS,
    *CALL_OPTIONS,
    MAX_FAILURES,
)
CALL_NAMES = option_names(*CALL_OPTIONS)
RESULT_NAMES = ["k", *option_names(*ANSWER_OPTIONS, MAX_FAILURES)]


def _check_no_file_options(context: click.Context) -> None:
    """Raise if an option was given that only applies to files: none is ignored silently."""
    live = {"retriever", "cases", *CALL_NAMES, *RESULT_NAMES, "measures", "format"}
    for option in context.command.params:
        was_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if was_given and isinstance(option, click.Option) and option.name not in live:
            flag = option.opts[-1]
            raise UsageError(f"{flag} applies to runs in files, not to --retriever", hint=f"leave out {flag}")


def live_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as ``live``: None without a retriever."""

    @wraps(function)
    def command(*args: Any, retriever: str | None, cases: str | None, **options: Any) -> Any:
        calls = {name: options.pop(name) for name in CALL_NAMES}
        results = {name: options.pop(name) for name in RESULT_NAMES}
        if (retriever is None) != (cases is None):
            raise UsageError("--retriever and --cases must be used together")
        if retriever is None or cases is None:
            return function(*args, live=None, **options)
        from rankgauge.retrieval.asking.calls import RetrieverCalls

        return function(*args, live=LiveOptions(retriever, cases, RetrieverCalls(**calls), **results), **options)

    return with_options(command, *OPTIONS)
