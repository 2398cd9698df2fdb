"""JSON that rankgauge wrote, with one value changed: it is read, or refused with a message; a cache is just missed."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, MetricsCache, RankgaugeError, evaluate
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.comparison.gate.baseline_file import write_baseline
from rankgauge.comparison.gate.gate import gate
from rankgauge.core.ids import Ids
from rankgauge.evaluation.value_cache import evaluate_cached
from rankgauge.io.corpus.corpus_files import read_corpus
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


@pytest.mark.parametrize("limit", [SAMPLE, pytest.param(ALL, marks=pytest.mark.slow)])
def test_a_baseline(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(path, QRELS, RUN, "RR")
    exit_codes = []
    for variant in variants(json.loads(path.read_bytes()), limit):
        path.write_text(json.dumps(variant))
        try:
            gate(QRELS, RUN, baseline=path)
        except RankgaugeError as error:
            exit_codes.append(error.exit_code)
    assert set(exit_codes) <= {2, 64}
    assert len(exit_codes) > 10


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


@pytest.mark.parametrize("bad", [b"", b"\xff", b"null", b"[" * 100_000, b'{"status": []}', 10**13, "text", 0.5])
def test_a_damaged_entry_of_a_cache_is_a_miss_and_is_replaced(tmp_path: Path, bad: object) -> None:
    path = tmp_path / "cache.sqlite"
    expected = evaluate(QRELS, RUN, ["RR", "AP"])

    def cached() -> tuple[Any, int]:
        with MetricsCache(path) as cache:
            return evaluate_cached(QRELS, RUN, ["RR", "AP"], cache=cache), cache.info().misses

    cached()
    with closing(sqlite3.connect(path)) as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM entries")]
    assert len(keys) == 3
    for key in keys:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE entries SET value = ? WHERE key = ?", (bad, key))
            if bad == b"\xff":
                connection.execute("UPDATE entries SET value = CAST(value AS TEXT) WHERE key = ?", (key,))
        scores, _ = cached()
        assert np.array_equal(scores.values, expected.values)
        assert cached()[1] == 0


def test_a_value_of_a_cache_that_was_changed_or_belongs_to_another_key_is_computed_again(tmp_path: Path) -> None:
    """What must hold: no wrong number. A changed bit, or the value of another measure, is a miss and is replaced."""
    path = tmp_path / "cache.sqlite"
    expected = evaluate(QRELS, RUN, ["RR", "AP"])

    def cached_values() -> Any:
        with MetricsCache(path) as cache:
            return evaluate_cached(QRELS, RUN, ["RR", "AP"], cache=cache).values

    cached_values()
    with closing(sqlite3.connect(path)) as connection:
        entries = dict(connection.execute("SELECT key, value FROM entries"))
    poisoned = [(key, other) for key in entries for name, other in entries.items() if name != key]
    for key, value in entries.items():
        for place in range(0, len(value), max(1, len(value) // 40)):
            poisoned.append((key, value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]))
    for key, value in poisoned:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE entries SET value = ? WHERE key = ?", (value, key))
        assert np.array_equal(cached_values(), expected.values)
    with closing(sqlite3.connect(path)) as connection:
        assert dict(connection.execute("SELECT key, value FROM entries")) == entries


@pytest.mark.parametrize("kind", ["garbage", "empty folder", "link to notes", "link to a database", "database"])
def test_a_cache_that_is_something_else_is_refused_and_left_as_it_is(
    kind: str, tmp_path: Path, command: Callable[..., Any]
) -> None:
    """What must hold: one message that names the file and what to do, exit code 2, and not a byte changed."""
    path, other = tmp_path / "cache.sqlite", tmp_path / "other"
    if kind == "empty folder":
        path.mkdir()
    elif kind in ("garbage", "link to notes"):
        other.write_bytes(b"my notes, not a database\n" * 100)
    else:
        with closing(sqlite3.connect(other)) as connection, connection:
            connection.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB)")
            connection.execute("INSERT INTO entries VALUES ('k', 'v')")
    if kind.startswith("link"):
        path.symlink_to(other)
    elif other.exists():
        other.rename(path)
    before = None if path.is_dir() else path.read_bytes()
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    (tmp_path / "c.yaml").write_text(f"performance: {{caching_enabled: true, cache_file: {path}}}\n")
    done = command("evaluate", tmp_path / "q", tmp_path / "r", "--config", tmp_path / "c.yaml", "-m", "RR")
    assert (done.code, done.out) == (2, ""), done.err
    assert done.err.startswith("error: ")
    assert "cache.sqlite" in done.err
    assert done.err.count("\nhint: ") == 1
    assert "Traceback" not in done.err
    assert (None if path.is_dir() else path.read_bytes()) == before
    assert path.is_symlink() == kind.startswith("link")


def test_a_cache_whose_table_is_damaged_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with MetricsCache(path) as cache:
        cache.put({"a": b"1"})
    data = path.read_bytes()
    for damage in (b"\xff\xfe BLE", b"CREATE\xffTABL", b"\0" * 12):
        path.write_bytes(data.replace(b"CREATE TABLE"[: len(damage)], damage[:12]))
        with pytest.raises(InputError, match=r"cannot use .* as a cache") as error, MetricsCache(path) as cache:
            cache.get("a")
        assert "delete the file" in (error.value.hint or "")


def test_an_entry_of_a_metric_that_is_damaged_is_a_miss(tmp_path: Path) -> None:
    with MetricsCache(tmp_path / "cache.sqlite") as cache:
        cache.cache_metric("q1", "ndcg", 10, 0.5, content="c")
    for bad in (b"", b"1234567", b"123456789", 3):
        with closing(sqlite3.connect(tmp_path / "cache.sqlite")) as connection, connection:
            connection.execute("UPDATE entries SET value = ?", (bad,))
        with MetricsCache(tmp_path / "cache.sqlite") as cache:
            assert cache.get_cached_metric("q1", "ndcg", 10, content="c") is None


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
