"""Runs that a command reads from files, or gets from live retrievers that are asked every query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.asking import ANSWER_OPTIONS, CALL_OPTIONS, MAX_FAILURES
from rankgauge.cli.options.declared import Option, is_given, option, option_group
from rankgauge.core.run import Run
from rankgauge.core.settings import Section
from rankgauge.errors import Note, UsageError, shown
from rankgauge.evaluation.evaluate import unique_names
from rankgauge.io.options import Reading

if TYPE_CHECKING:
    from rankgauge.io.queries import Queries

QUERIES: Option = option(
    "--queries",
    section=Section.LIVE,
    type=click.Path(),
    metavar="FILE",
    help="Read the texts of the queries, in any format; a live retriever is asked these.",
)


@dataclass(frozen=True)
class Asking:
    """How live retrievers are asked."""

    options: dict[str, Any]
    max_failures: int

    @classmethod
    def of(cls, max_failures: int, **options: Any) -> Asking:
        """From the values of the options."""
        return cls({name: value for name, value in options.items() if is_given(name)}, max_failures)


asking_group = option_group("asking", Asking.of, *ANSWER_OPTIONS, *CALL_OPTIONS, MAX_FAILURES)


def is_live(name: str) -> bool:
    """Whether an argument names a retriever, not a run: ``module:callable``, ``FILE.py:name``, ``FILE.yaml``."""
    from rankgauge.retrieval.named import is_own_retriever

    return is_own_retriever(name)


def read_rankings(
    names: Sequence[str], queries: Queries | None, k: int, asking: Asking, reading: Reading
) -> tuple[list[Run], list[Note]]:
    """The runs of files, and what live retrievers answer, in the given order; with caveats about answers."""
    from rankgauge.io.read import as_run

    runs: list[Run] = []
    notes: list[Note] = []
    for name in names:
        if not is_live(name):
            runs.append(as_run(name, reading))
            continue
        if queries is None:
            raise UsageError(f"retriever {shown(name)} needs queries to answer", hint="name them: --queries FILE")
        run, more = _ask(name, queries, k, asking)
        runs.append(run)
        notes += more
    return runs, notes


def run_names(runs: Sequence[Run]) -> list[str]:
    """The names of runs, each once."""
    return unique_names([run.name for run in runs])


def _ask(name: str, queries: Queries, k: int, asking: Asking) -> tuple[Run, list[Note]]:
    from rankgauge.retrieval.asking.failures import is_too_many, recorded_answers, too_many_failures
    from rankgauge.retrieval.asking.remarks import answer_notes
    from rankgauge.retrieval.base import QueryBatch, retrieve_run
    from rankgauge.retrieval.fetch.modes import make_retriever, settings_from
    from rankgauge.retrieval.named import asking_options

    batch = QueryBatch.from_queries(queries)
    settings = settings_from({**asking_options(name), **asking.options, "mode": name})
    with recorded_answers() as answers:
        run = retrieve_run(make_retriever(settings, None, batch), batch, k)
    failures = {query: facts.error for query, facts in answers.items() if facts.error is not None}
    if is_too_many(len(failures), asking.max_failures):
        hint = "allow failures: --max-failures N"
        raise too_many_failures(failures, len(batch), asking.max_failures, hint=hint)
    sizes = dict(zip(run.queries.to_text(), (run.offsets[1:] - run.offsets[:-1]).tolist(), strict=True))
    answered = [query for query, facts in answers.items() if facts.error is None]
    return run, list(answer_notes([answers[query] for query in answered], [sizes[query] for query in answered]))
