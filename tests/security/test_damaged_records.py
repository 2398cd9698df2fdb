"""JSON that rankgauge wrote, with one value changed: it is read, or refused with a message."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, RankgaugeError, RankgaugeWarning, evaluate
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.comparison.gate.gate import gate
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.core.ids import Ids
from rankgauge.history import EntryFacts, GitState, History
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.render.documents.history import Listing, listing_document
from rankgauge.render.formats import rendered
from rankgauge.report import manifest as manifests
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.retriever import QueryBatch
from tests.security.test_outside_folder import original as original

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}, "q3": {"d1": 1}}
RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}, "q3": {"d9": 1.0}}
VALUES: list[Any] = [
    None, True, -1, 0, 0.5, 10**13, 1e308, -(2**63), "", "x", "../x", "\0", "é", "9" * 50,
    [], [None], [[]], {}, {"a": None},
]  # fmt: skip
SAMPLE, ALL = 60, 1_000_000


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in JSON."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in members:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of JSON with one value changed."""
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def variants(data: Any, limit: int) -> list[Any]:
    """Every value replaced by values of other types, or a sample of that, always the same."""
    chosen = [(path, value) for path in places(data) for value in VALUES]
    random.Random(0).shuffle(chosen)
    return [changed(data, path, value) for path, value in chosen[:limit]]


@pytest.mark.parametrize("limit", [SAMPLE, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_manifest(original: Path, tmp_path: Path, limit: int) -> None:
    folder = Path(shutil.copytree(original, tmp_path / "out"))
    manifest = json.loads((folder / MANIFEST).read_bytes())
    only_shown = ("platform", "research goal")
    used = {key: value for key, value in manifest.items() if key not in only_shown}
    exit_codes = []
    for variant in variants(used, limit):
        (folder / MANIFEST).write_bytes(manifests.to_bytes({**manifest, **variant}))
        try:
            verify_benchmark(folder)
        except RankgaugeError as error:
            exit_codes.append(error.exit_code)
    assert set(exit_codes) == {2}
    assert len(exit_codes) > min(limit, 100) // 4


def report_of_scores() -> Any:
    """What ``evaluate -q --format json`` writes."""
    return {"schema": "rankgauge.scores/1", "runs": [evaluate(QRELS, RUN, ["RR", "P@1"]).to_dict(per_query=True)]}


@pytest.mark.parametrize("limit", [SAMPLE, pytest.param(ALL, marks=pytest.mark.slow)])
def test_scores_as_a_baseline(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "scores.json"
    exit_codes = []
    for rule in (GateRule(), GateRule(scored_elsewhere="accept")):
        for variant in variants(report_of_scores(), limit):
            path.write_text(json.dumps(variant))
            try:
                gate(QRELS, RUN, ["RR"], baseline=path, rule=rule)
            except RankgaugeError as error:
                exit_codes.append(error.exit_code)
    assert set(exit_codes) <= {2, 64}
    assert len(exit_codes) > 10


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize("limit", [SAMPLE, pytest.param(1000, marks=pytest.mark.slow)])
def test_an_entry_of_a_history(tmp_path: Path, limit: int) -> None:
    """It is read as it is, or left out with a warning, or refused; the entry beside it is read."""
    history = History.open(tmp_path / "history")
    scores = evaluate(QRELS, RUN, ["RR", "P@1"])
    entry, intact = (history.save(scores, facts=EntryFacts(verdict="pass"), git=GitState()) for _ in range(2))
    first, *rows = map(json.loads, entry.path.read_bytes().splitlines())
    exit_codes = []
    for number, line in enumerate((first, *rows)):
        for variant in variants(line, limit):
            lines = [first, *rows]
            lines[number] = variant
            entry.path.write_text("".join(json.dumps(one) + "\n" for one in lines))
            entries = history.entries()
            assert intact.name in [one.name for one in entries]
            rendered(listing_document(Listing(entries, len(entries))), "table")
            try:
                history.entry(entry.name)
                history.trend("RR")
                history.check()
            except RankgaugeError as error:
                exit_codes.append(error.exit_code)
    assert set(exit_codes) <= {2, 64}
    assert len(exit_codes) > 10


def test_a_damaged_entry_is_one_warning(tmp_path: Path) -> None:
    history = History.open(tmp_path / "history")
    damaged, intact = (history.save(evaluate(QRELS, RUN, "RR"), git=GitState()) for _ in range(2))
    damaged.path.write_bytes(damaged.path.read_bytes()[:100])
    with pytest.warns(RankgaugeWarning, match="left out: .*:1: is no entry of a history") as caught:
        assert [entry.name for entry in history.entries()] == [intact.name]
    assert len(caught) == 1


@pytest.mark.parametrize("limit", [SAMPLE, pytest.param(ALL, marks=pytest.mark.slow)])
def test_a_journal(tmp_path: Path, limit: int) -> None:
    out, journal = tmp_path / "run.trec", tmp_path / "run.trec.journal"
    queries = QueryBatch(Ids.from_text(["q1", "q2"]), ["one", "two"])

    def find(query: str, k: int) -> list[str]:
        if query == "two":
            raise RuntimeError("not now")
        return ["d1", "d2"]

    def fetch(function: Callable[[str, int], list[str]]) -> None:
        fetch_run(CallableRetriever(function, name="find"), queries, out, k=2, options=FetchOptions(batch_size=1))

    with pytest.raises(RankgaugeError):
        fetch(find)
    lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
    texts = [json.dumps(line, sort_keys=True, separators=(",", ":")).encode() for line in lines]
    for number, line in enumerate(lines):
        for variant in variants(line, limit):
            changed_lines = [*texts]
            changed_lines[number] = json.dumps(variant, sort_keys=True, separators=(",", ":")).encode()
            journal.write_bytes(b"\n".join(changed_lines) + b"\n")
            try:
                fetch(lambda query, k: ["d1"])
            except InputError:
                continue
            assert len(out.read_bytes().splitlines()[0].split()) == 6


@pytest.mark.parametrize(
    ("array", "damaged"),
    [
        ("docs", np.array([0, 1, 2**31 - 1], dtype=np.int32)),
        ("docs", np.array([0, 1, -1], dtype=np.int32)),
        ("docs", np.zeros(3)),
        ("offsets", np.array([0, 10**12, 3], dtype=np.int64)),
        ("offsets", np.zeros(0, dtype=np.int64)),
        ("offsets", np.zeros((2, 2), dtype=np.int64)),
        ("weight", np.zeros(1, dtype=np.float32)),
        ("absent", np.zeros(1, dtype=np.float32)),
        ("ids.length", np.array([2**62, 2**62, 2**62], dtype=np.int64)),
        ("ids.length", np.array([-1, 5], dtype=np.int64)),
        ("stems.bytes", np.zeros(1, dtype=np.uint8)),
    ],
)
def test_an_index_whose_arrays_do_not_fit_is_built_again(tmp_path: Path, array: str, damaged: Any) -> None:
    pytest.importorskip("bm25s")
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"_id": "d1", "text": "red apple"}\n{"_id": "d2", "text": "green apple"}\n')
    queries = QueryBatch(Ids.from_text(["q"]), ["green"])
    expected = Lexical(read_corpus(corpus), index=tmp_path / "index").retrieve(queries, 2)
    assert not Lexical(read_corpus(corpus), index=tmp_path / "index").rebuilt
    np.save(tmp_path / "index" / f"{array}.npy", damaged)
    lexical = Lexical(read_corpus(corpus), index=tmp_path / "index")
    assert lexical.rebuilt
    assert list(lexical.retrieve(queries, 2).docs) == list(expected.docs)
    assert not Lexical(read_corpus(corpus), index=tmp_path / "index").rebuilt
