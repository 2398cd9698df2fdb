"""Answers as lines of a TREC run. They are ordered already, so their place is their rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.io.writers import TAKEN, WHITE
from rankgauge.io.writing import atomic

Ranked = tuple[str, Sequence[str], Sequence[float]]  # a query, its documents best first, their scores


def write_run(run: Run, out: str | Path, *, tag: str | None = None, inputs: Iterable[str | Path] = ()) -> None:
    """Write a run as a TREC file, whole or not at all."""
    name = tag or run.name
    for ids, what in ((run.queries, "query id"), (run.docs, "document id")):
        check_ids(ids, what)
    check_tag(name)
    best = run.ranked()
    docs, scores, ends = best.docs.to_text(), best.scores.tolist(), best.offsets.tolist()
    answers = [
        (query, docs[begin:end], scores[begin:end])
        for query, begin, end in zip(best.queries.to_text(), ends[:-1], ends[1:], strict=True)
    ]
    write_answers(answers, out, name, inputs)


def write_answers(answers: Iterable[Ranked], out: str | Path, tag: str, inputs: Iterable[str | Path] = ()) -> None:
    """Write answers whose ids were checked."""
    with atomic(out, inputs=inputs) as file:
        first = True
        for query, docs, scores in answers:
            lines = [
                f"{query} Q0 {doc} {rank} {number(score)} {tag}\n"
                for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), start=1)
            ]
            data = "".join(lines).encode("utf-8", "surrogateescape")
            if data and first and data.startswith(TAKEN):
                raise InputError(f"a file that begins with the query id {shown(query)} is taken for a packed one")
            first = first and not data
            file.write(data)


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def check_ids(ids: Ids, what: str) -> None:
    """A TREC file cannot hold white space in an id."""
    data = ids.compact()
    if WHITE.search(data.buffer[: int(data.length.sum())].tobytes()):
        bad = next(name for name in ids if WHITE.search(name))
        raise InputError(
            f"{what} {shown(bad)} has white space in it, which separates columns in a TREC run",
            hint="rename it in the corpus, the queries and the judgments",
        )


def check_tag(tag: str) -> None:
    """A tag is one word."""
    if not tag or WHITE.search(tag.encode("utf-8", "surrogateescape")):
        raise InputError(f"the run's tag must be one word, found {shown(tag)}", hint="name it: --tag")
