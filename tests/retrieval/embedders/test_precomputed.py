"""Precomputed vectors are found by their ids; the order of rows counts only if a hash shows that it is the same."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus import CorpusDocument, InMemoryCorpus
from rankgauge.retrieval.embedders.precomputed import PrecomputedEmbedder
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.retriever import QueryBatch

Command = Callable[..., Any]
IDS = [b"d1", b"d2", b"\xc3\xa4 x", b"7"]
VECTORS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.0]])


def write_jsonl(path: Path, ids: list[bytes] = IDS, vectors: Any = VECTORS) -> Path:
    rows = ({"_id": name.decode(), "embedding": list(row)} for name, row in zip(ids, vectors, strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_parquet(path: Path, ids: list[bytes] = IDS, vectors: Any = VECTORS, kind: str = "list") -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    number = pyarrow.float64()
    kinds = {"list": pyarrow.list_(number), "large": pyarrow.large_list(number), "fixed": pyarrow.list_(number, 3)}
    columns = {
        "text": pyarrow.array(["unread"] * len(ids)),
        "vector": pyarrow.array([list(row) for row in vectors], kinds[kind]),
        "id": pyarrow.array([name.decode() for name in ids]),
    }
    parquet.write_table(pyarrow.table(columns), path, row_group_size=3)
    return path


def write_npy(path: Path, ids: list[bytes] = IDS, vectors: Any = VECTORS) -> Path:
    np.save(path, vectors)
    path.with_name(f"{path.stem}.ids.txt").write_bytes(b"".join(name + b"\n" for name in ids))
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "x.jsonl": write_jsonl,
    "x.parquet": write_parquet,
    "large.parquet": partial(write_parquet, kind="large"),
    "fixed.parquet": partial(write_parquet, kind="fixed"),
    "x.npy": write_npy,
}


def loaded(path: Path, ids: list[bytes] | None = None) -> PrecomputedEmbedder:
    return PrecomputedEmbedder(path, IDS if ids is None else ids, path, [])


@pytest.mark.parametrize("name", list(WRITERS))
def test_vectors_are_found_by_their_ids_in_any_order(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](tmp_path / name)
    wanted = [2, 0, 3]
    found = loaded(path, []).embed([IDS[row] for row in wanted], [""] * 3, "document")
    assert found.tolist() == VECTORS[wanted].tolist()
    with pytest.raises(InputError, match=f"{name}: no vector for query 'q9'; there are 4 vectors"):
        loaded(path).embed([b"q9"], [""], "query")


@pytest.mark.parametrize("name", list(WRITERS))
@given(order=st.permutations(range(4)))
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_shuffled_corpus_gets_the_same_run(name: str, order: list[int], tmp_path: Path) -> None:
    documents, queries = WRITERS[name](tmp_path / name), write_jsonl(tmp_path / "q.jsonl", [b"q1"], VECTORS[3:])
    corpus = InMemoryCorpus([CorpusDocument(IDS[row], "", "") for row in order])
    one = PrecomputedEmbedder(documents, (document.id for document in corpus), queries, [])
    run = Vector(corpus, one).retrieve(QueryBatch.from_dict({"q1": "x"}), 4)
    cosines = {IDS[row]: sum(a * b for a, b in zip(VECTORS[row], VECTORS[3], strict=True)) for row in range(4)}
    assert dict(zip(run.docs, run.scores.tolist(), strict=True)) == pytest.approx(cosines, abs=1e-6)


def test_row_order_counts_only_with_the_hash_of_these_ids(tmp_path: Path) -> None:
    path = tmp_path / "d.npy"
    np.save(path, VECTORS)
    with pytest.raises(InputError, match=r"d\.npy: nothing says which document each row belongs to") as error:
        loaded(path)
    digest = hashlib.sha256(b"".join(name + b"\n" for name in IDS)).hexdigest()
    hint = str(error.value.hint)
    assert "write the ids of its rows, one per line, to d.ids.txt; or, if the rows are in the order of" in hint
    assert hint.endswith(f"echo {digest} > {tmp_path / 'd.ids.sha256'}")
    (tmp_path / "d.ids.sha256").write_text(f"{digest}  ids.txt\n")  # as sha256sum prints it
    assert PrecomputedEmbedder(path, IDS, path, IDS).embed(IDS[1:2], [""], "document").tolist() == [[0.0, 1.0, 0.0]]
    shuffled = random.Random(4).sample(IDS, 4)
    for side, ids in (("documents", (shuffled, IDS)), ("queries", (IDS, shuffled))):
        with pytest.raises(InputError, match=f"its rows are not in the order of the {side}") as error:
            PrecomputedEmbedder(path, ids[0], path, ids[1])
        assert "d.ids.txt" in str(error.value.hint)
    with pytest.raises(InputError, match="expected 3 rows, one per document of the corpus, found 4"):
        loaded(path, IDS[:3])
    (tmp_path / "d.ids.sha256").write_text("nonsense")
    with pytest.raises(InputError, match=r"d\.ids\.sha256:1: expected the SHA-256 of the ids in hexadecimal"):
        loaded(path)


def test_the_command_line_does_not_give_a_shuffled_corpus_wrong_vectors(tmp_path: Path, command: Command) -> None:
    rows = [f'{{"_id": "d{number}", "text": "x"}}\n' for number in range(4)]
    (tmp_path / "q.jsonl").write_text('{"_id": "q1", "text": "x"}\n')
    np.save(tmp_path / "d.npy", np.eye(4))
    write_jsonl(tmp_path / "qv.jsonl", [b"q1"], np.eye(4)[:1])
    (tmp_path / "d.ids.sha256").write_text(hashlib.sha256(b"d0\nd1\nd2\nd3\n").hexdigest())
    files = ["--corpus", tmp_path / "c.jsonl", "-o", tmp_path / "r"]
    arguments: list[Any] = ["runs", "fetch", "--retriever", "vector", *files]
    arguments += ["--queries", tmp_path / "q.jsonl", "--k", 1]
    arguments += ["--set", f"retriever.vectors={tmp_path / 'd.npy'}"]
    arguments += ["--set", f"retriever.query_vectors={tmp_path / 'qv.jsonl'}"]
    (tmp_path / "c.jsonl").write_text("".join(rows))
    assert command(*arguments).code == 0
    assert (tmp_path / "r").read_text().split()[2] == "d0"
    (tmp_path / "c.jsonl").write_text("".join(reversed(rows)))
    done = command(*arguments, "--restart")
    assert done.code == 2
    assert "its rows are not in the order of the documents" in done.err
    (tmp_path / "d.ids.txt").write_text("d0\nd1\nd2\nd3\n")
    assert command(*arguments).code == 0
    assert (tmp_path / "r").read_text().split()[2] == "d0"
    done = command(*arguments[:6], "-o", tmp_path / "d.ids.txt", *arguments[8:])
    assert done.code in (2, 64)  # an input
    assert (tmp_path / "d.ids.txt").read_text() == "d0\nd1\nd2\nd3\n"


def test_the_identity_has_the_hashes_of_the_files_and_of_the_ids(tmp_path: Path) -> None:
    path = write_npy(tmp_path / "d.npy")
    before = loaded(path).identity()
    assert before["files"]["document"] == {
        "vectors": hashlib.sha256(path.read_bytes()).hexdigest(),
        "ids": hashlib.sha256((tmp_path / "d.ids.txt").read_bytes()).hexdigest(),
    }
    write_npy(path, IDS[::-1])
    assert loaded(path).identity()["sha256"] != before["sha256"]
    write_npy(path, IDS, -VECTORS)
    assert loaded(path).identity()["sha256"] != before["sha256"]


def test_json_lines_may_be_compressed_and_have_empty_lines_and_numbers_as_ids(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1, "vector": [1, 2]}\n\n{"id": "b", "vector": [3, 4.5]}'))
    assert loaded(path, []).embed([b"b", b"1"], ["", ""], "document").tolist() == [[3.0, 4.5], [1.0, 2.0]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.jsonl", '{"id": "a"}', r"v\.jsonl:1: expected a vector \(vector, embedding\), found 'id'"),
        ("v.jsonl", '{"vector": [1]}', r"v\.jsonl:1: expected a document id \("),
        ("v.jsonl", '{"id": "a", "vector": [1]}\n{"id": "b"}', "v.jsonl:2: expected a list of numbers at vector"),
        ("v.jsonl", '{"id": "a", "vector": [1, "2"]}', "v.jsonl:1: expected a list of numbers at vector"),
        ("v.jsonl", '{"id": "a", "vector": []}', "v.jsonl:1: expected a list of numbers at vector"),
        ("v.jsonl", '{"id": null, "vector": [1]}', "v.jsonl:1: "),
        (
            "v.jsonl",
            '{"id": "a", "vector": [1]}\n{"id": "b", "vector": [1, 2]}',
            "jsonl:2: expected 1 number at vector",
        ),
        ("v.jsonl", '{"id": "a", "vector": [1]}\n{"id": "a", "vector": [2]}', "'a' for vectors 1 and 2"),
        ("v.jsonl", '{"id": "a", "vector": [1' + "0" * 400 + "]}", "too large"),
        ("v.jsonl", "[1]", "v.jsonl:1: expected an object"),
        ("v.jsonl", "", "v.jsonl: no vectors"),
        ("v.npy", "no table", r"not a \.npy table"),
        ("missing.npy", None, "missing.npy: "),
    ],
)
def test_a_file_of_vectors_that_is_wrong_says_where(
    name: str, content: str | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        loaded(tmp_path / name)


def test_a_table_that_is_wrong_says_where(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "v.parquet"

    def message_for(**columns: Any) -> str:
        parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(InputError) as error:
            loaded(path)
        return error.value.message.removeprefix(f"{path}:")

    assert message_for(id=["a"], vector=["x"]) == " expected lists of numbers in column 'vector', found 'string'"
    assert message_for(id=["a", "b"], vector=[[1.0], [1.0, 2.0]]) == "2: expected 1 numbers in column 'vector', found 2"
    assert message_for(id=["a", "b"], vector=[[1.0], None]) == "2: expected 1 numbers in column 'vector', found 0"
    assert message_for(id=["a"], vector=[[1.0, None]]) == " expected numbers in column 'vector', found a null"
    assert message_for(id=["a", None], vector=[[1.0], [2.0]]) == "2: expected a document id, found nothing"
    assert message_for(name=["a"], vector=[[1.0]]).startswith(" expected a document id (")


def test_a_table_of_the_wrong_form_or_with_other_ids_is_an_error(tmp_path: Path) -> None:
    path = write_npy(tmp_path / "d.npy", IDS[:3])
    with pytest.raises(InputError, match=r"d\.ids\.txt: expected 4 ids, one per row of the table, found 3"):
        loaded(path)
    write_npy(path, [*IDS[:3], b""])
    with pytest.raises(InputError, match=r"d\.ids\.txt:4: expected an id, found an empty line"):
        loaded(path)
    write_npy(path, [*IDS[:3], IDS[0]])
    with pytest.raises(InputError, match="expected each document id once, found 'd1' for vectors 1 and 4"):
        loaded(path)
    for table in (VECTORS[0], VECTORS.astype(str)):
        np.save(path, table)
        with pytest.raises(InputError, match="expected a table of numbers with one row per vector, found"):
            loaded(path)
    write_npy(path, IDS, np.where(VECTORS == 0.8, np.nan, VECTORS))
    with pytest.raises(InputError, match="expected finite numbers for document '7', found NaN or infinity"):
        loaded(path).embed(IDS, [""] * 4, "document")
