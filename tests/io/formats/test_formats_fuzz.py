"""Whatever the bytes, a reader gives a result or a RankgaugeError."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from rankgauge import RankgaugeError, RankgaugeWarning, read_corpus, read_qrels, read_queries, read_run
from rankgauge.io import looks_like_log, read_log
from rankgauge.io.formats.registry import FORMATS, detect_kind
from tests.io.examples import FILES

Reader = Callable[[Path], Any]
READERS: dict[str, Reader] = {
    "guessed qrels": read_qrels,
    "guessed run": read_run,
    "log": read_log,
    "queries": read_queries,
    "corpus": read_corpus,
    "looks_like_log": looks_like_log,
    "kind": lambda path: detect_kind(path.read_bytes()),
    **{f"{f.name} qrels": partial(read_qrels, format=f.name) for f in FORMATS if f.supports("qrels")},
    **{f"{f.name} run": partial(read_run, format=f.name) for f in FORMATS if f.supports("run")},
}
PIECES = st.sampled_from(
    [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r", b"\t", b" ", b";", b"q1", b"1", b"0.5",
     b"nan", b"null", b"true", b"1e999", b'"q"', b'"retrieved_ids"', b'"relevant_ids"', b'"grades"', b'"scores"',
     b"query_id", b"doc_id", b"score", b'"qid"', b'"docno"', b"relevance", b"rank",
     b"\\ud800", b"\xef\xbb\xbf", b"\xff", b"-", b"Q0"]
)  # fmt: skip


def tried(reader: Reader, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        with contextlib.suppress(RankgaugeError):
            reader(path)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=60).map(b"".join)))
def test_any_bytes_are_read_or_refused(tmp_path: Path, name: str, data: bytes) -> None:
    tried(READERS[name], tmp_path / "file", data)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    draw = random.Random(name)
    table = pa.table({"qid": ["q1", "q2"], "docno": ["a", "b"], "score": [1.5, 2.0], "rel": [1, 2]})
    parquet.write_table(table, tmp_path / "p")
    feather.write_feather(table, str(tmp_path / "f"))
    originals = [data for _, _, data in FILES] + [(tmp_path / "p").read_bytes(), (tmp_path / "f").read_bytes()]
    for original in originals:
        for _ in range(12):
            data = bytearray(original)
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(len(data))
                match draw.randrange(4):
                    case 0:
                        data[at] = draw.randrange(256)
                    case 1:
                        del data[at : at + draw.randint(1, 5)]
                    case 2:
                        data[at:at] = draw.choice([b'"', b"\n", b"{", b"\t", b",", b"\xff", b"0", b"\\"])
                    case _:
                        data[at:at] = data[draw.randrange(len(data)) :][:20]
                if not data:
                    data = bytearray(b" ")
            tried(READERS[name], tmp_path / "file", bytes(data))
