"""The comparison itself: one data set, every way in, several circumstances."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from rankgauge.core.qrels import Qrels
from rankgauge.io.formats.score_tables import is_scores
from rankgauge.io.reading_options import DEFAULT_READING
from tests.io.differential import outcomes
from tests.io.differential.data_sets import DataSet, damaged, draw
from tests.io.differential.outcomes import USUAL, Circumstances, Outcome, draw_circumstances
from tests.io.differential.ways import QRELS, RUNS, Way

Disagreement = str


def disagreements(seed: int, only: str | None = None) -> Iterator[Disagreement]:
    """What differs between two ways to read the data set of a seed."""
    data = draw(seed)
    with tempfile.TemporaryDirectory() as name:
        yield from _runs(data, Path(name), only)
        yield from _judgments(data, Path(name), only)


def _ways(data: DataSet, table: tuple[Way, ...], only: str | None) -> list[Way]:
    return [way for way in table if (data.is_plain or not way.needs_plain_ids) and only in (None, way.name)]


def _runs(data: DataSet, folder: Path, only: str | None) -> Iterator[Disagreement]:
    if _are_names_repeated(data):
        return  # names of measures, in a dict or JSON, which is an error there alone
    qrels = Qrels.from_dict(data.grades)
    rng = data.rng("circumstances")
    scored = outcomes.evaluated(qrels, data.by_query, USUAL).numbers
    ordered = outcomes.evaluated(qrels, {query: list(docs) for query, docs in data.by_query.items()}, USUAL).numbers
    for way in _ways(data, RUNS, only):
        source = way.make(data, folder)
        usual = outcomes.evaluated(qrels, source, USUAL)
        if usual.error.startswith("internal error"):
            yield _describe(data, way, "expected", way.name, scored, usual)
        expected = ordered if way.has_order else scored
        found = usual.numbers
        if way.runs > 1:
            found = Outcome(found.error, queries=found.queries[:1], values=found.values[:1])
        if found != expected:
            yield _describe(data, way, "the dict", f"{way.name}", expected, usual)
        yield from _agree(data, way, usual, partial(outcomes.evaluated, qrels, source))
        if isinstance(source, Path) and source.is_file():
            yield from _other_routes(data, way, qrels, source, usual)
            if way.is_text:
                source.write_bytes(damaged(rng, source.read_bytes()))
                if is_scores(source, DEFAULT_READING):
                    continue  # without a column of documents it is another kind of file, which only some ways take
                usual = outcomes.evaluated(qrels, source, USUAL)
                yield from _agree(data, way, usual, partial(outcomes.evaluated, qrels, source))
                yield from _other_routes(data, way, qrels, source, usual)


def _are_names_repeated(data: DataSet) -> bool:
    """Whether every query has the same results, of which none is judged."""
    names = {frozenset(results) for results in data.by_query.values()}
    judged = {doc for docs in data.grades.values() for doc in docs}
    return len(data.by_query) > 1 and len(names) == 1 and judged.isdisjoint(*names)


def _other_routes(data: DataSet, way: Way, qrels: Qrels, path: Path, usual: Outcome) -> Iterator[Disagreement]:
    """A file that is read into memory first, and one that comes from standard input."""
    rng = data.rng(f"route {way.name} {usual.error}")
    at = draw_circumstances(rng, is_compiled=rng.random() < 0.5)
    if way.runs == 1 and rng.random() < 0.6:
        in_memory = outcomes.read_and_evaluated(qrels, path, at)
        if in_memory != usual.without_notes and len(usual.names) < 2:
            yield _describe(data, way, f"read into memory under {at}", "scored from the file", in_memory, usual)
    if rng.random() < 0.2:
        piped = outcomes.from_standard_input(qrels, path, at)
        if piped != usual:
            yield _describe(data, way, f"from standard input under {at}", "scored from the file", piped, usual)


def _judgments(data: DataSet, folder: Path, only: str | None) -> Iterator[Disagreement]:
    expected = outcomes.judgments(data.grades, USUAL).numbers
    for way in _ways(data, QRELS, only):
        source = way.make(data, folder)
        usual = outcomes.judgments(source, USUAL)
        if usual.numbers != expected:
            yield _describe(data, way, "the dict", way.name, expected, usual)
        yield from _agree(data, way, usual, partial(outcomes.judgments, source))
        if way.is_text:
            source.write_bytes(damaged(data.rng(way.name), source.read_bytes()))
            usual = outcomes.judgments(source, USUAL)
            yield from _agree(data, way, usual, partial(outcomes.judgments, source))


def _agree(data: DataSet, way: Way, usual: Outcome, read: Callable[[Circumstances], Outcome]) -> Iterator[Disagreement]:
    """The same with and without the extension, in other circumstances."""
    rng = data.rng(f"circumstances of {way.name} {usual.error}")
    for is_compiled in (True, False) if way.is_text else (rng.random() < 0.5,):
        at = draw_circumstances(rng, is_compiled=is_compiled)
        if (found := read(at)) != usual:
            yield _describe(data, way, str(at), "usually", found, usual)


def _describe(data: DataSet, way: Way, one: str, other: str, found: Outcome, usual: Outcome) -> Disagreement:
    return f"seed {data.seed}, {way.name}:\n  {one}:\n    {_words(found)}\n  {other}:\n    {_words(usual)}"


def _words(outcome: Outcome) -> str:
    values = [hash(value) & 0xFFFFFFFF for value in outcome.values]
    said = [*outcome.warnings, *outcome.notes]
    return f"{outcome.error or [outcome.names, [len(q) for q in outcome.queries], values]} {said or ''}"
