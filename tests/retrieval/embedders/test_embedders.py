from __future__ import annotations

import hashlib
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import MissingExtraError, UsageError
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import Embedder
from rankgauge.retrieval.embedders.hashed import HashedWords, HyperdimensionalEmbedder
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.vector import embed_texts
from tests.retrieval.corpora import KITCHEN

TEXTS = ["Baking bread", "baking BREAD", "bread baking", "", "Zürich 東京", "x " * 700]


def vectors(one: Embedder, texts: list[str]) -> np.ndarray[Any, Any]:
    return embed_texts(one, [b"x"] * len(texts), texts, "document")


@pytest.mark.parametrize("name", ["wordllama", "hashed", "vsa"])
def test_a_text_has_the_same_vector_alone_and_in_company(name: str) -> None:
    if name == "wordllama":
        pytest.importorskip("wordllama")
    one = embedder(name)
    together = vectors(one, TEXTS)
    assert all((vectors(one, [text])[0] == together[row]).all() for row, text in enumerate(TEXTS))
    assert not together[3].any()
    assert (together[0] == together[1]).all()  # case does not matter


def test_wordllama_has_the_vectors_of_its_own_code() -> None:
    wordllama = pytest.importorskip("wordllama")
    try:
        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    except FileNotFoundError:  # before 0.3.7, for its own code only: rankgauge reads the files itself
        pytest.skip("this version of wordllama does not find the tokenizer in its own wheel")
    texts = [text for text in TEXTS if text]
    expected = np.asarray(model.embed([text.lower() for text in texts], norm=True), dtype=float)
    assert np.abs(vectors(embedder("wordllama"), texts) - expected).max() < 1e-6


def test_the_identity_of_wordllama_has_the_hashes_of_its_files() -> None:
    pytest.importorskip("wordllama")
    identity = embedder("wordllama").identity()
    assert {len(digest) for digest in identity["files"].values()} == {64}
    assert len(identity["sha256"]) == 64


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (HashedWords(64), "70b27e78c779b9f3"),
        (HyperdimensionalEmbedder(64), "c311c9a8f1b328b0"),
    ],
    ids=["hashed", "vsa"],
)
def test_our_own_embedders_never_change_their_vectors(one: Embedder, expected: str) -> None:
    made = vectors(one, ["knead the dough and bake the bread", "Zürich"]).astype("<f4").tobytes()
    assert hashlib.sha256(made).hexdigest()[:16] == expected


def test_hyperdimensional_vectors_depend_on_the_order_of_neighbors() -> None:
    one = HyperdimensionalEmbedder()
    same, turned = vectors(one, ["dog bites man", "man bites dog"])
    assert 0.5 < float(same @ turned) < 0.95
    plain = HyperdimensionalEmbedder(pairs=0)
    assert (vectors(plain, ["dog bites man"]) == vectors(plain, ["man bites dog"])).all()


def test_an_embedder_can_be_any_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_embedder_module.py").write_text("def embed(texts):\n    return [[len(t), 1] for t in texts]\n")
    monkeypatch.chdir(tmp_path)
    assert vectors(embedder("my_embedder_module:embed"), ["abc"]).shape == (1, 2)
    with pytest.raises(UsageError, match="has no other"):
        embedder("my_embedder_module:other")
    with pytest.raises(UsageError, match="cannot import"):
        embedder("not_there_at_all:embed")


def test_a_misspelled_embedder_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean wordllama"):
        embedder("wordlama")
    with pytest.raises(UsageError, match="did you mean sentence-transformers"):
        embedder("sentence-transformer/all-MiniLM-L6-v2")


def test_a_model_of_sentence_transformers_is_called_with_its_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[list[str], str]] = []

    class Model:
        prompts = {"query": "query: ", "passage": "text: "}  # noqa: RUF012 - a plain class attribute, as in the library

        def __init__(self, name: str, device: str) -> None:
            self.name = name

        def encode(self, texts: list[str], prompt: str, **_: object) -> np.ndarray[Any, Any]:
            calls.append((texts, prompt))
            return np.ones((len(texts), 3), dtype=np.float32)

    class Cross(Model):
        def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> list[float]:
            return [float(len(text)) for _, text in pairs]

    fake = types.SimpleNamespace(SentenceTransformer=Model, CrossEncoder=Cross, __version__="9")
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    one = embedder("sentence-transformers/tiny")
    assert vectors(one, ["a"]).shape == (1, 3)
    embed_texts(one, [b"q"], ["b"], "query")
    assert calls == [(["a"], "text: "), (["b"], "query: ")]
    identity = one.identity()
    assert (identity["embedder"], identity["version"]) == ("sentence-transformers/tiny", "9")
    assert (identity["files"], identity["sha256"]) == (None, None)  # nobody knows where this model is
    from rankgauge.retrieval.embedders.sentence_transformers import CrossEncoderReranker

    assert CrossEncoderReranker("tiny").score("q", [b"a", b"b"], ["x", "xyz"]).tolist() == [1, 3]


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"rankgauge\[sentence-transformers\]"):
        embedder("sentence-transformers/x")


@pytest.mark.parametrize("library", ["bm25s", "Stemmer", "tokenizers", "wordllama"])
def test_every_engine_says_which_extra_it_needs(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    if library == "tokenizers":
        pytest.importorskip("wordllama")
    if library == "wordllama":
        monkeypatch.setattr("rankgauge.retrieval.embedders.wordllama.find_spec", lambda name: None)
    calls: dict[str, Callable[[], object]] = {
        "tokenizers": lambda: embedder("wordllama"),
        "wordllama": lambda: embedder("wordllama"),
    }
    with pytest.raises(MissingExtraError, match=r"pip install 'rankgauge\[retrieval\]'"):
        calls.get(library, lambda: Lexical(KITCHEN))()


def test_wordllama_is_used_without_importing_it() -> None:
    pytest.importorskip("wordllama")
    code = (
        "import sys; from rankgauge.retrieval import embedder; embedder('wordllama'); print('wordllama' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
