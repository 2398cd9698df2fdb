"""Histories to render as pages: seeded, small, optionally with names that try to inject HTML."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from rankgauge import Qrels, Run, evaluate
from rankgauge.history import EntryFacts, GitState, History
from rankgauge.retrieval.latency import Cost
from tests.render.html.reports import CLOSING, IMAGE, SCRIPT

QUERIES, ENTRIES, CHANGE = 12, 9, 5  # the first system improves at the entry with this index
FIRST_DAY = datetime(2026, 11, 1, 9, tzinfo=UTC)


def ranking(name: str, shift: int, noise: int = 0) -> Run:
    """A run whose relevant documents are further down by ``shift``."""
    docs = {}
    for query in range(QUERIES):
        above = shift + (query + noise) % 2
        docs[f"q{query}"] = [*(f"x{place}" for place in range(above)), "relevant"]
    return Run.from_lists(docs, name=name)


def labels(name: str, grade: int = 1) -> Qrels:
    return Qrels.from_dict({f"q{query}": {"relevant": grade, "x0": 0} for query in range(QUERIES)}, name=name)


def fill(history: History, *, hostile: bool = False) -> None:
    """Two systems on one collection, of which the first improves; one entry of another collection."""
    systems, collections = ((SCRIPT, IMAGE), (CLOSING, IMAGE)) if hostile else (("hybrid", "bm25"), ("tickets", "faq"))
    branch = f"feature/{IMAGE}" if hostile else "main"
    qrels = labels(collections[0])
    for number in range(ENTRIES):
        for system, shift in zip(systems, (0 if number >= CHANGE else 2, 3), strict=True):
            run = ranking(system, shift, number)
            scores = evaluate(qrels, run, ["nDCG@10", "RR", "NumRet"])
            cost = Cost(QUERIES, 5.0 + number, 9.0 + number, 12.0, 1000, 0.5)
            facts = EntryFacts(SCRIPT if hostile else "gate", None, cost, 0.5)
            git = GitState(f"{number:07d}{'a' * 33}", branch, False)
            history.save(scores, facts=facts, date=FIRST_DAY + timedelta(days=number), git=git)
    other = labels(collections[1])
    scores = evaluate(other, ranking(systems[1], 1), ["FirstRel"])
    history.save(scores, date=FIRST_DAY, git=GitState())


def filled(path: Path, *, hostile: bool = False) -> History:
    """A history in a new folder."""
    history = History.open(path)
    fill(history, hostile=hostile)
    return history


def multiply(history: History, entries: int) -> None:
    """Copy the first entry until there are this many."""
    first, count = history.entries()[0].path, history.count()
    data = first.read_bytes()
    for number in range(count + 1, entries + 1):
        first.with_name(f"{first.name[:20]}-copy-{number:08}.jsonl").write_bytes(data)
