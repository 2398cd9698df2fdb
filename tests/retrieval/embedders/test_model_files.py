"""What the folder of a sentence model says is what is computed; what it says beyond that is an error."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.retrieval.embedders.model_files import (
    POOLING_KEYS,
    POOLING_MODES,
    file_hashes,
    prompts_by_side,
    read_sentence_model,
)
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.open_embedder import embedder
from tests.retrieval.embedders.tiny_models import BGE, PREFIX, TABLE, WORDS, write_config, write_model

SETTINGS = ("1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json")
POOLING, TRANSFORMER, PROMPTS = SETTINGS


def changed(file: str, **values: Any) -> dict[str, Any]:
    """The configuration of a model like BGE, with other values in one file."""
    config = copy.deepcopy(BGE)
    config[file] = {**config.get(file, {}), **values}
    return config


def loop_pooled(tokens: list[str], mode: str, begin: int = 0) -> list[float]:
    """The vector of a text, by plain loops over the vectors of its tokens."""
    rows = [[float(value) for value in TABLE[WORDS.index(token)]] for token in tokens]
    counted = range(begin, len(rows))
    if mode == "cls":
        return rows[0]
    if mode == "lasttoken":
        return rows[-1]
    out = []
    for column in range(5):
        values = [rows[row][column] for row in counted]
        weights = [row + 1 for row in counted]
        if mode == "max":
            out.append(max(values))
        elif mode == "mean":
            out.append(sum(values) / len(values))
        elif mode == "mean_sqrt_len_tokens":
            out.append(sum(values) / math.sqrt(len(values)))
        else:
            out.append(sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights))
    return out


def normalized(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]


def test_an_onnx_folder_like_bge_is_pooled_by_its_first_token_with_the_prompt_of_queries(tmp_path: Path) -> None:
    one = embedder(f"onnx/{write_model(tmp_path, BGE)}")
    document, query = (one.embed([b"x"], ["a b c"], side)[0] for side in ("document", "query"))
    assert document == pytest.approx(normalized(loop_pooled(["[CLS]", "a", "b", "c", "[SEP]"], "cls")))
    assert query == pytest.approx(document)  # the first token is the same here; others are not
    mean = changed(POOLING, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True)
    one = embedder(f"onnx/{write_model(tmp_path, mean)}")
    expected = {
        "document": ["[CLS]", "a", "b", "c", "[SEP]"],
        "query": ["[CLS]", "find", ":", "a", "b", "c", "[SEP]"],
    }
    for side, tokens in expected.items():
        assert one.embed([b"x"], ["a b c"], side)[0] == pytest.approx(normalized(loop_pooled(tokens, "mean")))


@pytest.mark.parametrize(
    ("mode", "include_prompt"),
    [(mode, True) for mode in POOLING_MODES] + [(mode, False) for mode in POOLING_MODES if mode != "cls"],
)
def test_every_mode_of_pooling_of_an_onnx_folder_is_that_of_a_loop(
    mode: str, include_prompt: bool, tmp_path: Path
) -> None:
    config = copy.deepcopy(BGE)
    config["modules.json"] = config["modules.json"][:2]  # not normalized: the length counts, too
    config[POOLING] = {"embedding_dimension": 5, "pooling_mode": mode, "include_prompt": include_prompt}
    one = embedder(f"onnx/{write_model(tmp_path, config)}")
    tokens = ["[CLS]", "find", ":", "b", "c", "c", "[SEP]"]
    expected = loop_pooled(tokens, mode, 0 if include_prompt else 3)
    assert one.embed([b"x"], ["b c c"], "query")[0] == pytest.approx(expected)
    assert one.embed([b"x"], ["b c"], "document")[0] == pytest.approx(loop_pooled(["[CLS]", "b", "c", "[SEP]"], mode))


def test_several_modes_of_an_onnx_folder_are_joined_in_their_order(tmp_path: Path) -> None:
    both = changed(POOLING, pooling_mode_mean_tokens=True, pooling_mode_lasttoken=True)
    one = embedder(f"onnx/{write_model(tmp_path, both)}")
    tokens = ["[CLS]", "c", "[SEP]"]
    expected = normalized([value for mode in ("cls", "mean", "lasttoken") for value in loop_pooled(tokens, mode)])
    assert one.embed([b"x"], ["c"], "document")[0] == pytest.approx(expected)


def test_an_onnx_folder_says_how_long_a_text_may_be_and_whether_it_is_lowercased(tmp_path: Path) -> None:
    config = changed(TRANSFORMER, max_seq_length=4, do_lower_case=True)
    config[POOLING] = {"pooling_mode": "mean"}
    one = embedder(f"onnx/{write_model(tmp_path, config)}")
    expected = normalized(loop_pooled(["[CLS]", "a", "b", "[SEP]"], "mean"))
    assert one.embed([b"x"], ["A b c c c"], "document")[0] == pytest.approx(expected)
    write_config(tmp_path, {"tokenizer_config.json": {"truncation_side": "left"}})
    one = embedder(f"onnx/{tmp_path}")
    expected = normalized(loop_pooled(["[CLS]", "b", "a", "[SEP]"], "mean"))
    assert one.embed([b"x"], ["c c c b A"], "document")[0] == pytest.approx(expected)


def test_an_onnx_folder_in_the_older_form_has_its_tokenizer_in_the_folder_of_the_first_module(tmp_path: Path) -> None:
    config = copy.deepcopy(BGE)
    config["modules.json"][0]["path"] = "0_Transformer"
    config["0_Transformer/sentence_bert_config.json"] = {"max_seq_length": 3}
    write_model(tmp_path, config)
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).rename(tmp_path / "0_Transformer" / name)
    assert embedder(f"onnx/{tmp_path}").identity()["max_tokens"] == 3


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({TRANSFORMER: {"max_seq_length": 256}, "config.json": {"max_position_embeddings": 512}}, 256),
        ({TRANSFORMER: {"max_seq_length": None}, "config.json": {"max_position_embeddings": 514}}, 514),
        (
            {"config.json": {"max_position_embeddings": 514}, "tokenizer_config.json": {"model_max_length": 512}},
            512,
        ),
        ({"tokenizer_config.json": {"model_max_length": 1000000000000000019884624838656}}, None),
        ({"sentence_roberta_config.json": {"max_seq_length": 128}}, 128),
        ({}, None),
    ],
)
def test_the_maximum_length_is_that_of_the_first_file_that_has_one(
    files: dict[str, Any], expected: int | None, tmp_path: Path
) -> None:
    assert read_sentence_model(write_config(tmp_path, files)).max_tokens == expected


@pytest.mark.parametrize(
    ("prompts", "default", "expected"),
    [
        ({}, None, {"query": "", "document": ""}),
        ({"query": "q: "}, None, {"query": "q: ", "document": ""}),
        ({"query": "q: ", "passage": "p: "}, None, {"query": "q: ", "document": "p: "}),
        ({"corpus": "c: ", "document": "d: "}, None, {"query": "", "document": "d: "}),
        ({"any": "x: "}, "any", {"query": "x: ", "document": "x: "}),
        ({"any": "x: ", "query": ""}, "any", {"query": "", "document": "x: "}),
    ],
)
def test_queries_and_documents_get_the_prompts_of_their_names(
    prompts: dict[str, str], default: str | None, expected: dict[str, str]
) -> None:
    assert prompts_by_side("model", prompts, default) == expected


DENSE = {"type": f"{PREFIX}.Dense", "path": "2_Dense"}


@pytest.mark.parametrize(
    ("file", "config", "key", "found"),
    [
        ("modules.json", {"modules.json": [*BGE["modules.json"][:2], DENSE]}, "[2].type", "models.Dense"),
        ("modules.json", {"modules.json": [BGE["modules.json"][1]]}, "[0].type", "models.Pooling"),
        ("modules.json", {"modules.json": [{"type": "my_code.Transformer"}]}, "[0].type", "my_code.Transformer"),
        ("modules.json", {"modules.json": []}, "[0].type", "nothing"),
        ("modules.json", {"modules.json": {}}, "the top", "an object"),
        (
            "modules.json",
            {"modules.json": [BGE["modules.json"][0], {**BGE["modules.json"][1], "path": "../../etc"}]},
            "[1].path",
            "../../etc",
        ),
        (POOLING, changed(POOLING, pooling_mode="attention"), "pooling_mode", "attention"),
        (POOLING, changed(POOLING, pooling_mode=[3]), "pooling_mode", "3"),
        (POOLING, changed(POOLING, pooling_mode_attention=True), "pooling_mode_attention", "true"),
        (POOLING, changed(POOLING, pooling_mode_cls_token=False), "pooling_mode", "nothing"),
        (POOLING, changed(POOLING, pooling_mode_cls_token="yes"), "pooling_mode_cls_token", "yes"),
        (POOLING, changed(POOLING, include_prompt=False), "include_prompt", "false"),
        (TRANSFORMER, changed(TRANSFORMER, max_seq_length="long"), "max_seq_length", "long"),
        (TRANSFORMER, changed(TRANSFORMER, max_seq_length=-4), "max_seq_length", "-4"),
        (TRANSFORMER, changed(TRANSFORMER, query_expansion={"mask": 1}), "query_expansion", "an object"),
        (TRANSFORMER, changed(TRANSFORMER, transformer_task="text-generation"), "transformer_task", "text-generation"),
        (PROMPTS, changed(PROMPTS, prompts={"s2p_query": "x"}), "prompts", "s2p_query"),
        (PROMPTS, changed(PROMPTS, prompts={"query": 3}), "prompts.query", "3"),
        (PROMPTS, changed(PROMPTS, default_prompt_name="other"), "default_prompt_name", "other"),
        (PROMPTS, changed(PROMPTS, model_type="SparseEncoder"), "model_type", "SparseEncoder"),
        (PROMPTS, changed(PROMPTS, truncate_dim=64), "truncate_dim", "64"),
        (PROMPTS, changed(PROMPTS, similarity_fn_name="manhattan"), "similarity_fn_name", "manhattan"),
        ("tokenizer_config.json", {"tokenizer_config.json": {"truncation_side": "top"}}, "truncation_side", "top"),
    ],
)
def test_what_is_not_understood_is_an_error_that_names_the_file_and_the_key(
    file: str, config: dict[str, Any], key: str, found: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        read_sentence_model(write_config(tmp_path, config))
    assert error.value.message.startswith(f"{tmp_path / file}: expected ")
    assert f" at {key}, found " in error.value.message
    assert found in error.value.message.rpartition(", found ")[2]


def test_a_dot_product_is_the_cosine_only_of_normalized_vectors(tmp_path: Path) -> None:
    config = changed(PROMPTS, similarity_fn_name="dot")
    assert read_sentence_model(write_config(tmp_path, config)).is_normalized
    config["modules.json"] = config["modules.json"][:2]
    with pytest.raises(InputError, match=r"cosine.+ at similarity_fn_name, found"):
        read_sentence_model(write_config(tmp_path, config))


def test_keys_that_change_nothing_are_accepted(tmp_path: Path) -> None:
    config = changed(
        TRANSFORMER,
        transformer_task="feature-extraction",
        module_output_name="token_embeddings",
        modality_config={"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
        unpad_inputs=True,
        model_args={},
    )
    for row, kind in enumerate(
        ("base.modules.transformer.Transformer", "sentence_transformer.modules.pooling.Pooling")
    ):
        config["modules.json"][row]["type"] = f"sentence_transformers.{kind}"
    config[PROMPTS] |= {"model_type": "SentenceTransformer", "similarity_fn_name": "cosine"}
    model = read_sentence_model(write_config(tmp_path, config))
    assert (model.pooling, model.max_tokens, model.is_normalized) == (("cls",), 512, True)


def test_every_key_of_pooling_has_a_mode() -> None:
    assert set(POOLING_KEYS.values()) == set(POOLING_MODES)


def test_an_onnx_folder_that_does_not_say_how_to_pool_is_an_error(tmp_path: Path) -> None:
    one = embedder(f"onnx/{write_model(tmp_path, {})}")
    with pytest.raises(InputError, match="nothing says how the tokens' vectors become one") as error:
        one.embed([b"x"], ["a"], "document")
    assert "1_Pooling/config.json" in str(error.value.hint)
    write_config(tmp_path, {POOLING: {"pooling_mode": "mean"}})
    assert embedder(f"onnx/{tmp_path}").embed([b"x"], ["a"], "document").shape == (1, 5)
    with pytest.raises(InputError, match=r"expected model\.onnx"):
        embedder(f"onnx/{tmp_path / 'nowhere'}")


def test_an_onnx_model_that_fails_on_a_text_is_named(tmp_path: Path) -> None:
    one = embedder(f"onnx/{write_model(tmp_path, BGE, table=TABLE[:2])}")  # no vector for most tokens
    with pytest.raises(InputError, match=f"onnx/{tmp_path.name} failed on a text of 3 tokens"):
        one.embed([b"x"], ["a"], "document")


def test_an_onnx_index_is_built_again_if_any_file_of_the_model_changed(tmp_path: Path) -> None:
    folder, index = write_model(tmp_path / "model", BGE), tmp_path / "index"
    corpus = InMemoryCorpus({"d1": "a b", "d2": "c"})

    def is_rebuilt() -> bool:
        return Vector(corpus, embedder(f"onnx/{folder}"), index=index).rebuilt

    assert [is_rebuilt(), is_rebuilt()] == [True, False]
    for change in (
        lambda: write_model(folder, BGE, table=-TABLE),
        lambda: write_config(folder, changed(POOLING, pooling_mode="mean")),
        lambda: write_config(folder, changed(PROMPTS, prompts={"query": "a"})),
        lambda: (folder / "model.onnx_data").write_bytes(b"weights beside the model"),
    ):
        change()
        assert [is_rebuilt(), is_rebuilt()] == [True, False]


def test_hidden_files_do_not_count_and_links_do(tmp_path: Path) -> None:
    write_config(tmp_path / "model", {"a.json": 1, ".git/x": 2, "sub/.cache/y": 3, "sub/b.json": 4})
    (tmp_path / "blob").write_text("weights")
    (tmp_path / "model" / "weights.bin").symlink_to(tmp_path / "blob")
    assert list(file_hashes(tmp_path / "model")) == ["a.json", "sub/b.json", "weights.bin"]


def test_vectors_of_an_onnx_folder_depend_on_the_text_alone(tmp_path: Path) -> None:
    one = embedder(f"onnx/{write_model(tmp_path, BGE)}")
    texts = ["a b c", "", "b"]
    together = one.embed([b"x"] * 3, texts, "query")
    assert all(
        np.array_equal(one.embed([b"x"], [text], "query")[0], row) for text, row in zip(texts, together, strict=True)
    )
    assert one.embed([], [], "query").shape == (0, 0)
