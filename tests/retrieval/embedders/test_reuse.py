"""Vectors and answers are used again only if the embedder that made them is known to be the same."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import InputError, RankgaugeWarning, held_warnings
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import CallableEmbedder, Embedder
from rankgauge.retrieval.embedders.sentence_transformers import model_hashes
from rankgauge.retrieval.engines import vector as vector_module
from rankgauge.retrieval.engines.rerank import make_reranker
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.retriever import QueryBatch
from tests.retrieval.corpora import KITCHEN

Command = Callable[..., Any]
MODEL_FILES = {
    "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
    "config_sentence_transformers.json": {"prompts": {"query": "find : "}},
}
CODE = "def embed(texts):\n    return [[len(text) % {0}, text.count('a') + 1] for text in texts]\n"
QUERIES = QueryBatch.from_dict({"q1": "bread", "q2": "soup", "q3": "cake"})


def write_config(folder: Path, config: dict[str, Any]) -> Path:
    """The files of a model's configuration, by their paths."""
    for name, content in config.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def embed_length(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class Model:
    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return [[self.scale * len(text), 1.0] for text in texts]

    def embed(self, texts: list[str]) -> list[list[float]]:
        return self(texts)


class DescribedModel(Model):
    def identity(self) -> dict[str, float]:
        return {"scale": self.scale}


class _Nothing(set[Path]):
    def add(self, element: Path, /) -> None:
        pass


@pytest.fixture(autouse=True)
def _other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process saved counts as saved by an earlier one."""
    monkeypatch.setattr(vector_module, "_saved_here", _Nothing())


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "module_that_is_edited"
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def is_rebuilt(one: Embedder, index: Path, note: str = "") -> bool:
    """Whether an index is built again; there must be such a note."""
    with held_warnings() as notes:
        rebuilt = Vector(KITCHEN, one, index=index).rebuilt
    assert note in "".join(notes)
    return rebuilt


@pytest.mark.parametrize("name", ["wordllama", "hashed", "vsa"])
def test_every_embedder_has_a_hash(name: str) -> None:
    if name == "wordllama":
        pytest.importorskip("wordllama")
    one, again = embedder(name), embedder(name)
    assert len(one.identity()["sha256"]) == 64
    assert one.identity() == again.identity()


def test_an_edited_file_does_not_serve_the_vectors_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # compiled code is kept by time and size
    path, index = tmp_path / "e.py", tmp_path / "index"
    path.write_text(CODE.format(7))
    os.utime(path, (10**9, 10**9))
    assert is_rebuilt(embedder(f"{path}:embed"), index)
    note = f"stored vectors are used again: the hash of embedder {path}:embed is that of its file: what it imports"
    assert not is_rebuilt(embedder(f"{path}:embed"), index, note)
    path.write_text(CODE.format(5))  # as long as before, and in the same second
    os.utime(path, (10**9, 10**9))
    new = Vector(KITCHEN, embedder(f"{path}:embed"), index=index)
    assert new.rebuilt
    assert np.array_equal(new.vectors, Vector(KITCHEN, embedder(f"{path}:embed")).vectors)
    assert np.array_equal(new.vectors, Vector(KITCHEN, CallableEmbedder(lambda t: _loop(t, 5), "loop")).vectors)


def _loop(texts: list[str], modulus: int) -> list[list[int]]:
    return [[len(text) % modulus, text.count("a") + 1] for text in texts]


def test_the_command_line_answers_with_the_edited_embedder(tmp_path: Path, command: Command) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n{"_id": "d2", "text": "b b"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "x"}\n')
    results = []
    for expression in ("[1, len(t)]", "[1, -len(t)]"):
        (tmp_path / "e.py").write_text(f"def embed(texts):\n    return [{expression} for t in texts]\n")
        done = command(
            *["runs", "fetch", "--retriever", "vector", "--embedder", f"{tmp_path / 'e.py'}:embed", "--k", 2],
            *["--corpus", tmp_path / "corpus.jsonl", "--queries", tmp_path / "queries.jsonl"],
            *["--index", tmp_path / "index", "-o", tmp_path / "r", "--manifest", tmp_path / "m.json"],
        )
        assert done.code == 0, done.err
        results.append((tmp_path / "r").read_text())
        recorded = json.loads((tmp_path / "m.json").read_text())["retriever"]["embedder"]
        assert recorded == json.loads((tmp_path / "index" / "vector" / "header.json").read_text())["embedder"]
        assert len(recorded["sha256"]) == len(recorded["code"]["files"]["e.py"]) == 64
    assert results[0] == results[1]  # the same cosines, from other vectors
    assert np.load(tmp_path / "index" / "vector" / "vectors.npy")[1, 1] < 0


def test_an_edited_module_does_not_serve_the_vectors_of_the_old_one(tmp_path: Path, module: str) -> None:
    path, index = tmp_path / f"{module}.py", tmp_path / "index"
    path.write_text(CODE.format(7))
    assert is_rebuilt(embedder(f"{module}:embed"), index)
    assert not is_rebuilt(embedder(f"{module}:embed"), index)
    path.write_text(CODE.format(11))
    for _ in range(2):  # this process still has the old code, and no file that shows it
        assert is_rebuilt(embedder(f"{module}:embed"), index, "cannot be hashed")
    del sys.modules[module]
    assert is_rebuilt(embedder(f"{module}:embed"), index)
    assert not is_rebuilt(embedder(f"{module}:embed"), index)


def test_a_function_that_another_module_defines_has_the_hashes_of_both(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(CODE.format(7))
    (tmp_path / "e.py").write_text(f"from {module} import embed\n")
    before = embedder(f"{tmp_path / 'e.py'}:embed").identity()
    assert set(before["code"]["files"]) == {"e.py", module}
    (tmp_path / f"{module}.py").write_text(CODE.format(11))
    del sys.modules[module]
    (tmp_path / "e.py").write_text(f"from {module} import embed  # again\n")
    after = embedder(f"{tmp_path / 'e.py'}:embed").identity()
    assert before["code"]["files"][module] != after["code"]["files"][module]


def test_files_of_the_same_name_have_their_own_hashes(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "e.py" for folder in ("one", "two")]
    for modulus, path in zip((3, 5), paths, strict=True):
        path.parent.mkdir()
        path.write_text(CODE.format(modulus))
    one, two, again = (embedder(f"{path}:embed").identity()["code"] for path in (*paths, paths[0]))
    assert one == again
    assert one != two


def test_whatever_a_name_finds_in_a_file_is_hashed_with_the_file(tmp_path: Path) -> None:
    path, index = tmp_path / "e.py", tmp_path / "index"
    path.write_text(
        CODE.format(7) + "from functools import partial\nbound = partial(embed)\nshort = lambda t: embed(t)\n"
    )
    for name in ("bound", "short"):
        assert is_rebuilt(embedder(f"{path}:{name}"), index)
        assert not is_rebuilt(embedder(f"{path}:{name}"), index)


@pytest.mark.parametrize(
    "function",
    [lambda texts: embed_length(texts), partial(embed_length), Model(2.0), Model(2.0).embed],
    ids=["lambda", "partial", "instance", "bound method"],
)
def test_vectors_of_an_embedder_that_cannot_be_hashed_are_computed_again_with_a_note(
    function: Callable[..., Any], tmp_path: Path
) -> None:
    one = CallableEmbedder(function, "mine")
    assert one.identity()["sha256"] is None
    assert is_rebuilt(one, tmp_path / "index")
    note = "the vectors are computed again: embedder mine cannot be hashed, so a change"
    assert is_rebuilt(one, tmp_path / "index", note)
    known = CallableEmbedder(function, "mine", version="2026-11")
    assert [is_rebuilt(known, tmp_path / "index") for _ in range(2)] == [True, False]
    assert is_rebuilt(CallableEmbedder(function, "mine", version="2026-12"), tmp_path / "index")


def test_a_closure_cannot_be_hashed_but_a_function_of_a_module_can() -> None:
    def scaled(scale: float) -> Callable[[list[str]], list[list[float]]]:
        return lambda texts: [[scale * len(text), 1.0] for text in texts]

    assert CallableEmbedder(scaled(2), "mine").identity()["sha256"] is None
    code = CallableEmbedder(embed_length, "mine").identity()["code"]
    assert code["callable"] == f"{__name__}:embed_length"
    assert len(code["files"][__name__]) == 64


def test_an_object_can_say_itself_what_determines_its_vectors(tmp_path: Path) -> None:
    small, large = (CallableEmbedder(DescribedModel(scale), "mine") for scale in (1.0, 2.0))
    assert small.identity()["code"]["identity"] == {"scale": 1.0}
    assert [is_rebuilt(one, tmp_path / "v") for one in (small, small, large)] == [True, False, True]


def test_an_embedder_without_a_hash_in_its_identity_is_never_used_again(tmp_path: Path) -> None:
    class Plain:
        name, reads_texts = "plain", True

        def embed(self, ids: list[bytes], texts: list[str], side: str) -> np.ndarray[Any, Any]:
            return np.ones((len(texts), 2))

        def identity(self) -> dict[str, str]:
            return {"embedder": "plain", "model": "latest"}

    assert is_rebuilt(Plain(), tmp_path / "index")
    assert is_rebuilt(Plain(), tmp_path / "index", "embedder plain cannot be hashed")


def fetch_interrupted(one: Embedder, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a journal with the answer to the first query."""
    retriever = Vector(KITCHEN, one)
    answer = retriever.retrieve

    def stop(queries: QueryBatch, k: int) -> Any:
        if b"q2" in list(queries.ids):
            raise KeyboardInterrupt
        return answer(queries, k)

    monkeypatch.setattr(retriever, "retrieve", stop)
    with pytest.raises(KeyboardInterrupt):
        fetch_run(retriever, QUERIES, out, k=2, options=FetchOptions(batch_size=1))


def test_answers_with_an_edited_embedder_are_not_mixed_with_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "e.py", tmp_path / "r"
    path.write_text(CODE.format(7))
    fetch_interrupted(embedder(f"{path}:embed"), out, monkeypatch)
    path.write_text(CODE.format(5))
    with pytest.raises(InputError, match=r"belongs to another fetch: retriever\.embedder\.code\.files\.e\.py was"):
        fetch_run(Vector(KITCHEN, embedder(f"{path}:embed")), QUERIES, out, k=2)
    path.write_text(CODE.format(7))
    with pytest.warns(RankgaugeWarning, match="stored answers are used again: the hash of embedder"):
        assert fetch_run(Vector(KITCHEN, embedder(f"{path}:embed")), QUERIES, out, k=2).reused.count == 1


def test_answers_with_an_embedder_that_cannot_be_hashed_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = CallableEmbedder(Model(1.0), "mine")
    fetch_interrupted(one, tmp_path / "r", monkeypatch)
    with pytest.warns(RankgaugeWarning, match="every query is asked again: embedder mine cannot be hashed"):
        done = fetch_run(Vector(KITCHEN, CallableEmbedder(Model(-1.0), "mine")), QUERIES, tmp_path / "r", k=2)
    assert done.reused.count == 0
    plain = fetch_run(Vector(KITCHEN, CallableEmbedder(Model(-1.0), "mine")), QUERIES, tmp_path / "plain", k=2)
    assert (tmp_path / "r").read_bytes() == (tmp_path / "plain").read_bytes()
    assert plain.run.sha256 == done.run.sha256


def test_the_code_of_a_reranker_is_part_of_its_identity(tmp_path: Path) -> None:
    path = tmp_path / "rank.py"
    hashes = []
    for sign in ("", "-"):
        path.write_text(f"def rank(query, texts):\n    return [{sign}len(text) for text in texts]\n")
        reranker = make_reranker(f"{path}:rank", lambda: embedder("hashed"))
        hashes.append(reranker.identity()["sha256"])
    assert hashes[0] != hashes[1]


class FakeSentenceTransformer:
    """What rankgauge uses of the library; the weights are those of the file, read when the model is made."""

    def __init__(self, model: str, device: str) -> None:
        folder = Path(model)
        self.prompts = json.loads((folder / "config_sentence_transformers.json").read_text())["prompts"]
        self.weight = len((folder / "model.safetensors").read_bytes())

    def encode(self, texts: list[str], prompt: str, **_: object) -> np.ndarray[Any, Any]:
        return np.array([[self.weight, len(prompt + text)] for text in texts], dtype=np.float32)


def test_replaced_weights_of_a_sentence_transformers_folder_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = types.SimpleNamespace(SentenceTransformer=FakeSentenceTransformer, __version__="9")
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    folder, index = write_config(tmp_path / "model", MODEL_FILES), tmp_path / "index"
    (folder / "model.safetensors").write_bytes(b"\1" * 3)

    def rebuilt() -> bool:
        return is_rebuilt(embedder(f"sentence-transformers/{folder}"), index)

    assert [rebuilt(), rebuilt()] == [True, False]
    (folder / "model.safetensors").write_bytes(b"\2" * 3)
    assert [rebuilt(), rebuilt()] == [True, False]
    write_config(folder, {"config_sentence_transformers.json": {"prompts": {"query": "other: "}}})
    assert [rebuilt(), rebuilt()] == [True, False]
    identity = embedder(f"sentence-transformers/{folder}").identity()
    assert identity["prompts"] == {"query": "other: ", "document": ""}
    assert {"model.safetensors", "1_Pooling/config.json"} <= set(identity["files"])


def test_a_downloaded_model_is_hashed_where_it_was_downloaded_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    repository = tmp_path / "models--sentence-transformers--tiny"
    write_config(repository / "snapshots" / "abc", {"config.json": {}})
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert list(model_hashes("tiny") or {}) == ["config.json"]
    assert model_hashes("sentence-transformers/tiny") == model_hashes("tiny")
    assert model_hashes("sentence-transformers/other") is None
    assert model_hashes("not a name") is None
