"""The options of a live retriever, which ``rankgauge evaluate`` takes instead of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

import click
from click.core import ParameterSource

from rankgauge.errors import UsageError

FORMS = ("table", "json")


@dataclass(frozen=True)
class Live:
    """A retriever, its test cases, and how it is asked."""

    retriever: str
    cases: str
    k: int
    id: str | None
    unit: Literal["chunk", "document"]
    fetch: int | None
    concurrency: int
    timeout: float | None
    retries: int
    max_failures: int

    def run(self, files: Sequence[str | None], measures: Sequence[str], form: str) -> int:
        """Evaluate, print, and return the exit code. Files have no place beside a retriever."""
        if any(file is not None for file in files):
            raise UsageError("--retriever takes its judgments from --cases: name no files beside it")
        if form not in FORMS:
            raise UsageError(f"--retriever has no --format {form}, expected one of {', '.join(FORMS)}")
        _refuse_others(click.get_current_context())
        from rankgauge.cli.commands.live import evaluate_live

        return evaluate_live(
            self.retriever,
            self.cases,
            k=self.k,
            id=self.id,
            unit=self.unit,
            measures=measures,
            fetch=self.fetch,
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            max_failures=self.max_failures,
            form=form,
        )


OPTIONS = (
    click.option("--retriever", metavar="MODULE:OBJECT", help="A live retriever to ask, instead of files."),
    click.option(
        "--cases", type=click.Path(), metavar="CASES", help='Its test cases: {"query": …, "relevant_ids": […]}, or CSV.'
    ),
    click.option("--k", type=click.IntRange(min=1), default=5, show_default=True, help="Results it is asked for."),
    click.option("--id", metavar="PATH", help="Where the id of a document is: metadata.source, …"),
    click.option(
        "--unit",
        type=click.Choice(["chunk", "document"]),
        default="chunk",
        show_default=True,
        help="Whether chunks collapse to their document.",
    ),
    click.option("--fetch", type=click.IntRange(min=1), metavar="N", help="Ask for so many, cut at k.  [default: k]"),
    click.option("--concurrency", type=click.IntRange(min=1), default=1, show_default=True, help="Calls at once."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Give a call up after so long.  [default: never]",
    ),
    click.option(
        "--retries", type=click.IntRange(min=0), default=0, show_default=True, help="Attempts after the first."
    ),
    click.option(
        "--max-failures",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Exit 1 where more queries fail.",
    ),
)


def _refuse_others(context: click.Context) -> None:
    """Raise where an option was given that only files have a use for: none is ignored in silence."""
    known = {*Live.__dataclass_fields__, "measures", "form"}
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and isinstance(option, click.Option) and option.name not in known:
            asked = option.opts[-1]
            raise UsageError(f"{asked} is for runs in files, not for a --retriever", hint=f"leave out {asked}")


def live_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as ``live``: None where no retriever is named."""

    @wraps(function)
    def command(*args: Any, retriever: str | None, cases: str | None, **given: Any) -> Any:
        how = {name: given.pop(name) for name in Live.__dataclass_fields__ if name in given}
        if (retriever is None) != (cases is None):
            raise UsageError("--retriever and --cases go together")
        live = None if retriever is None or cases is None else Live(retriever, cases, **how)
        return function(*args, live=live, **given)

    for option in reversed(OPTIONS):
        command = option(command)
    return command
