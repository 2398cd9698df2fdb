"""Sentence models of a few numbers, in folders like those of sentence-transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

WORDS = ["[UNK]", "[CLS]", "[SEP]", "find", ":", "a", "b", "c", "A"]
TABLE: NDArray[np.float32] = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)
PREFIX = "sentence_transformers.models"
BGE: dict[str, Any] = {
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": f"{PREFIX}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{PREFIX}.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{PREFIX}.Normalize"},
    ],
    "1_Pooling/config.json": {
        "word_embedding_dimension": 5,
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    },
    "sentence_bert_config.json": {"max_seq_length": 512, "do_lower_case": False},
    "config_sentence_transformers.json": {
        "__version__": {"sentence_transformers": "2.7.0"},
        "prompts": {"query": "find : "},
        "default_prompt_name": None,
    },
}


def write_config(folder: Path, config: dict[str, Any]) -> Path:
    """The files of a configuration, by their paths."""
    for name, content in config.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def write_model(folder: Path, config: dict[str, Any], *, table: NDArray[np.float32] = TABLE) -> Path:
    """A model in ONNX that looks up the vector of each token, and a tokenizer that adds [CLS] and [SEP]."""
    onnx, tokenizers = (pytest.importorskip(name) for name in ("onnx", "tokenizers"))
    pytest.importorskip("onnxruntime")
    write_config(folder, config)
    make = onnx.helper
    graph = make.make_graph(
        [make.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [make.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["batch", "length"])],
        [make.make_tensor_value_info("last_hidden_state", onnx.TensorProto.FLOAT, ["batch", "length", table.shape[1]])],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    words = tokenizers.models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
