"""The options of a live retriever, which ``rankgauge evaluate`` accepts instead of files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import click

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS, MAX_FAILURES, NO_CODE
from rankgauge.cli.options.declared import CONFIG_OPTIONS, Option, is_given, option, option_names, with_options
from rankgauge.cli.options.reading import READING_OPTIONS
from rankgauge.cli.options.settings import CONVENTION_OPTIONS
from rankgauge.cli.options.view import QUERIES
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from rankgauge.cli.options.gold import LabelSources


@dataclass(frozen=True)
class LiveOptions:
    """A retriever, its test cases, how it is called, and where its run is written."""

    retriever: str
    cases: str | None
    calls: RetrieverCalls
    out: str | None = None
    k: int = 5
    id: str | None = None
    unit: Literal["chunk", "document"] = "chunk"
    scores: Literal["similarity", "distance", "ignore"] | None = None
    max_failures: int = 0

    def check(self, sources: LabelSources, *files: str | None) -> None:
        """Raise if files, or options that apply only to files, are given as well: none is ignored silently."""
        if any(file is not None for file in files):
            raise UsageError("--retriever takes its judgments from --cases or --gold: it cannot be combined with files")
        if (sources.gold is None) == (self.cases is None):
            raise UsageError("--retriever needs either --cases or --gold, which has the queries as well")
        if len(sources.chunks) > 1:
            raise UsageError("one retriever has one --chunks")
        for parameter in click.get_current_context().command.params:
            name = parameter.name or ""
            if isinstance(parameter, click.Option) and is_given(name) and name in FILE_OPTIONS:
                flag = parameter.opts[-1]
                raise UsageError(
                    f"{flag} applies to runs in files, not to --retriever",
                    hint="write the run with -o RUN, and evaluate the file",
                )


OPTIONS: tuple[Option, ...] = (
    option("--retriever", section=Section.LIVE, metavar="NAME", help="Evaluate a live retriever instead of files."),
    option(
        "--cases",
        section=Section.LIVE,
        type=click.Path(),
        metavar="CASES",
        help='Read test cases: {"query": …, "relevant_ids": […]}, or CSV.',
    ),
    option(
        "-o",
        "--out",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="RUN",
        help="Write the live retriever's TREC run to RUN; the same command resumes.",
    ),
    option(
        "--k",
        section=Section.LIVE,
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Ask for K results per query.",
        metavar="K",
    ),
    *ANSWER_OPTIONS,
    *CALL_OPTIONS,
    MAX_FAILURES,
    NO_CODE,
)
CALL_NAMES = option_names(*CALL_OPTIONS)
RESULT_NAMES = ["out", "k", *option_names(*ANSWER_OPTIONS, MAX_FAILURES)]
FILE_OPTIONS = {*option_names(*CONVENTION_OPTIONS, *CONFIG_OPTIONS, QUERIES, *READING_OPTIONS)}


def live_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as ``live``: None without a retriever."""

    @wraps(function)
    def command(*args: Any, retriever: str | None, cases: str | None, **options: Any) -> Any:
        calls = {name: options.pop(name) for name in CALL_NAMES}
        results = {name: options.pop(name) for name in RESULT_NAMES}
        if retriever is None and cases is not None:
            raise UsageError("--cases is for a --retriever")
        if retriever is None:
            unused = next((name for name in (*CALL_NAMES, *RESULT_NAMES) if is_given(name)), None)
            if unused is not None:
                raise UsageError(
                    f"--{unused.replace('_', '-')} applies to a live retriever", hint="name it: --retriever"
                )
            return function(*args, live=None, **options)
        from rankgauge.retrieval.named import asking_options

        given = {name: value for name, value in {**calls, **results}.items() if is_given(name)}
        values = {**calls, **results, **asking_options(retriever), **given}
        kept = {name: values[name] for name in RESULT_NAMES}
        live = LiveOptions(retriever, cases, RetrieverCalls(**{name: values[name] for name in CALL_NAMES}), **kept)
        return function(*args, live=live, **options)

    return with_options(command, *OPTIONS)
