"""Ask a retriever every query, and write the run."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, encode_id
from rankgauge.core.run import Run
from rankgauge.errors import InputError, UsageError
from rankgauge.io.queries import Queries
from rankgauge.io.writing import atomic, refuse_inputs
from rankgauge.retrieval.base import Questions, Retriever, answer
from rankgauge.retrieval.decisions import Decisions, text
from rankgauge.retrieval.fetch.journal import Answer, Journal
from rankgauge.retrieval.fetch.trec import check_ids, check_tag, write_answers

BATCH = 64
Progress = Callable[[int, int, float], None]  # queries answered, queries in all, seconds since the start


@dataclass(frozen=True, eq=False)
class Fetched:
    """What came of it. ``resumed`` is how many answers the journal had already."""

    name: str
    answers: Sequence[Answer]
    resumed: int
    seconds: float

    @cached_property
    def run(self) -> Run:
        """The run, as it was written."""
        return run_of(self.answers, self.name)

    @property
    def decisions(self) -> dict[str, dict[str, Any]]:
        """What gate, router and reranker decided, by query."""
        return {one.query: one.decision for one in self.answers if one.decision}


def fetch(
    retriever: Retriever,
    queries: Questions,
    out: str | Path,
    *,
    k: int = 100,
    tag: str | None = None,
    batch: int = BATCH,
    inputs: Iterable[str | Path] = (),
    decisions: Decisions | None = None,
    progress: Progress | None = None,
    restart: bool = False,
) -> Fetched:
    """Write a TREC run of every query, in the queries' order.

    Killed at any moment and called again with the same arguments, it goes on from its journal (``OUT.journal``) and
    writes the same bytes.
    """
    if k < 1 or batch < 1:
        raise UsageError(f"k and batch must be at least 1, found {k} and {batch}")
    target, name = Path(out), tag or retriever.name
    inputs = list(inputs)
    refuse_inputs(target, inputs)
    if target.is_dir():
        raise InputError.at(target, None, "cannot write: it is a folder")
    check_ids(queries.ids, "query id")
    check_tag(name)
    begin = time.monotonic()
    path = target.with_name(target.name + ".journal")
    if restart:
        path.unlink(missing_ok=True)
    with Journal(path, header(retriever, queries, k)) as journal:
        done = len(journal.answers)
        names = queries.ids.to_text()
        left = np.array([row for row, query in enumerate(names) if query not in journal.answers], dtype=np.int64)
        batch = min(batch, getattr(retriever, "batch", batch))
        for at in range(0, len(left), batch):
            asked = queries.take(left[at : at + batch])
            run = answer(retriever, asked, k)
            journal.add(_answers(run, asked, decisions))
            if progress is not None:
                progress(done + at + len(asked), len(names), time.monotonic() - begin)
        answers = [journal.answers[query] for query in names]
        # Opened only now: a process that is killed before leaves its journal, and no half-made file beside it.
        write_answers(((one.query, one.docs, one.scores) for one in answers), target, name, inputs)
        journal.remove()
    return Fetched(name, answers, done, time.monotonic() - begin)


def questions_of(queries: Queries) -> Questions:
    """Queries with their texts; one without a text is an empty question."""
    if not any(queries.texts):
        raise UsageError("the queries have no texts to retrieve with", hint="a column named text, query or question")
    return Questions(queries.ids, [text or "" for text in queries.texts])


def header(retriever: Retriever, queries: Questions, k: int) -> dict[str, Any]:
    """What a journal must agree on: the retriever with its corpus and model, the queries, k."""
    digest = hashlib.sha256(b"rankgauge queries 1\n" + queries.ids.content())
    for one in queries.texts:
        data = one.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return {"retriever": dict(retriever.identity()), "queries": digest.hexdigest(), "k": k}


def _answers(run: Run, asked: Questions, decisions: Decisions | None) -> list[Answer]:
    if list(run.queries) != list(asked.ids):
        raise InputError(f"retriever {run.name} answered other queries than it was asked")
    check_ids(run.docs, "document id")
    docs, scores = run.docs.to_text(), run.scores.tolist()
    out = []
    for place, query in enumerate(run.queries):
        begin, end = int(run.offsets[place]), int(run.offsets[place + 1])
        decision = decisions.take(query) if decisions is not None else {}
        out.append(Answer(text(query), docs[begin:end], scores[begin:end], int(run.status[place]), decision))
    return out


def run_of(answers: Sequence[Answer], name: str) -> Run:
    """The run of a journal's answers, in their order."""
    return Run(
        name=name,
        queries=Ids.from_bytes([encode_id(one.query, "query id") for one in answers]),
        offsets=np.concatenate([[0], np.cumsum([len(one.docs) for one in answers])]).astype(np.int64),
        docs=Ids.from_bytes([encode_id(doc, "document id") for one in answers for doc in one.docs]),
        scores=np.array([score for one in answers for score in one.scores], dtype=np.float64),
        status=np.array([one.status for one in answers], dtype=np.uint8),
    )


def write_decisions(
    found: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, Mapping[str, Any]],
    out: str | Path,
    *,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write what was decided for each query as JSON Lines, with what the query file knows (the best expert, …)."""
    with atomic(out, inputs=inputs) as file:
        for query, decision in found.items():
            known = {name: values[query] for name, values in columns.items() if query in values and name in KNOWN}
            row = {"query_id": query, **known, **decision}
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


# What the pipeline metrics compare decisions with.
KNOWN = ("optimal_expert", "best_expert", "expected_expert", "needs_retrieval", "retrieval_needed", "needed")
