"""The files of a model: how a sentence model's tokens become one vector, tokenizers, and whether to download any.

    modules.json                          the steps: Transformer, Pooling, Normalize
    1_Pooling/config.json                 the modes of pooling
    sentence_bert_config.json             the maximum length, lowercasing
    config_sentence_transformers.json     the prompts of queries and documents
    config.json, tokenizer_config.json    the maximum length, if it is not given above

These are the files of sentence-transformers (https://sbert.net). Whatever they say that is not understood here is an
error: another step or another mode would give other vectors. The only file that imports tokenizers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.byte_streams import read_bytes, sha256_of_file
from rankgauge.io.formats.json_text import parse_plain_json
from rankgauge.io.stored_json import MapOf, Maybe, Shape, described, first_misfit

LIBRARY_HINT = "sentence-transformers/FOLDER runs the model with its own library, which knows more"
COSINE_HINT = "vectors are compared by their cosine, and have all their dimensions"
MODULES_FILE = "modules.json"
POOLING_FOLDER = "1_Pooling"
PROMPTS_FILE = "config_sentence_transformers.json"
TRANSFORMER_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
MODULE_TYPES = ("Transformer", "Pooling", "Normalize")
# A key of Pooling → its mode, in the order in which the vectors of several modes are joined.
POOLING_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
DIMENSION_KEYS = ("word_embedding_dimension", "embedding_dimension")
# Keys that change nothing here, with the values for which this is so; None stands for any value.
HARMLESS_TRANSFORMER_KEYS: dict[str, tuple[Any, ...] | None] = {
    "transformer_task": ("feature-extraction",),
    "module_output_name": ("token_embeddings",),
    "modality_config": ({"text": {"method": "forward", "method_output_name": "last_hidden_state"}},),
    "unpad_inputs": None,
}
HARMLESS_PROMPT_KEYS: dict[str, tuple[Any, ...] | None] = {
    "__version__": None,
    "model_type": ("SentenceTransformer",),
    "similarity_fn_name": ("cosine",),
}
SAME_AS_COSINE = ("dot", "dot_product", "euclidean")  # the same ranking, if all vectors have length 1
PROMPT_NAMES = {"query": ("query",), "document": ("document", "passage", "corpus")}
NO_LIMIT = 10**9  # a tokenizer without a maximum length has a huge one


@dataclass(frozen=True)
class SentenceModel:
    """What the configuration of a folder says. ``pooling`` is empty if no file names a mode."""

    pooling: tuple[str, ...] = ()
    includes_prompt: bool = True
    is_normalized: bool = False
    prompts: Mapping[str, str] = field(default_factory=dict)  # by side
    max_tokens: int | None = None
    truncates_left: bool = False
    is_lowercase: bool = False
    transformer: str = ""  # the folder of tokenizer and weights, within the model's

    def to_dict(self) -> dict[str, Any]:
        """What determines the vectors, as JSON."""
        return {
            "pooling": list(self.pooling),
            "include_prompt": self.includes_prompt,
            "normalize": self.is_normalized,
            "prompts": dict(self.prompts),
            "max_tokens": self.max_tokens,
            "lowercase": self.is_lowercase,
        }

    def pool(self, tokens: Floats, prompt_tokens: int = 0) -> Floats:
        """The vector of a text from those of its tokens, of which the first are the prompt's."""
        begin = 0 if self.includes_prompt else min(prompt_tokens, len(tokens) - 1)
        return np.concatenate([POOLING_MODES[mode](tokens, begin) for mode in self.pooling])

    def finish(self, vector: Floats) -> Floats:
        """A pooled vector, scaled to length 1 if the model does so."""
        length = float(np.sqrt(_sum((vector * vector)[:, None])[0])) if self.is_normalized else 1.0
        return vector / (length or 1.0)


def _sum(rows: Floats) -> Floats:
    """The sum of rows. cumsum adds one by one on every machine; the order of sum depends on the width of registers."""
    return np.cumsum(rows, axis=0)[-1] if len(rows) else np.zeros(rows.shape[1])


def _weighted_mean(tokens: Floats, begin: int) -> Floats:
    weights = np.arange(begin + 1, len(tokens) + 1, dtype=np.float64)
    return _sum(tokens[begin:] * weights[:, None]) / max(float(weights.sum()), 1.0)


# Mode → a function of the tokens' vectors and of the first one that counts.
POOLING_MODES: dict[str, Callable[[Floats, int], Floats]] = {
    "cls": lambda tokens, begin: tokens[0],
    "max": lambda tokens, begin: tokens[begin:].max(axis=0),
    "mean": lambda tokens, begin: _sum(tokens[begin:]) / max(len(tokens) - begin, 1),
    "mean_sqrt_len_tokens": lambda tokens, begin: _sum(tokens[begin:]) / max(len(tokens) - begin, 1) ** 0.5,
    "weightedmean": _weighted_mean,
    "lasttoken": lambda tokens, begin: tokens[-1],
}


def read_sentence_model(folder: Path) -> SentenceModel:
    """What the configuration of a folder says; an error names the file and the key that is not understood."""
    steps = _read_modules(folder)
    pooling_file = None if steps.pooling is None else folder / steps.pooling / "config.json"
    pooling, includes_prompt = _read_pooling(pooling_file)
    reading = _read_transformer(folder / steps.transformer)
    prompts = _read_prompts(folder / PROMPTS_FILE, steps.is_normalized)
    # Versions of the library differ in which token is then the first, and truncation may cut the prompt off.
    is_unclear = "cls" in pooling or reading.truncates_left
    if pooling_file is not None and not includes_prompt and any(prompts.values()) and is_unclear:
        reason = "pooling of the first token" if "cls" in pooling else "a tokenizer that truncates on the left"
        raise _misfit(pooling_file, "include_prompt", f"true with {reason}", "false", hint=LIBRARY_HINT)
    return SentenceModel(pooling, includes_prompt, steps.is_normalized, prompts, *reading, steps.transformer)


def prompts_by_side(source: str | Path, prompts: Mapping[str, str], default: str | None) -> dict[str, str]:
    """The prompt of queries and that of documents, by the names that sentence-transformers gives them.

    A side without a prompt of its own gets the default one. If there are only prompts of other names, which one is
    meant is not known.
    """
    if default is not None and default not in prompts:
        raise _misfit(source, "default_prompt_name", f"one of {_names(prompts)}", shown(default))
    known = [name for names in PROMPT_NAMES.values() for name in names if name in prompts]
    if prompts and not known and default is None:
        raise _misfit(
            source,
            "prompts",
            "a prompt named query, document, passage or corpus",
            _names(prompts),
            hint='add one, or an empty one if queries have none: "query": ""',
        )
    chosen = {side: next((name for name in names if name in prompts), default) for side, names in PROMPT_NAMES.items()}
    return {side: "" if name is None else prompts[name] for side, name in chosen.items()}


def file_hashes(folder: Path) -> dict[str, str]:
    """The hash of every file of a folder by its path in it, without hidden ones."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: sha256_of_file(path) for name, path in names.items() if not _is_hidden(name)}


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


class _Steps(NamedTuple):
    """The folders of Transformer and of Pooling, if there is one, and whether vectors are normalized."""

    transformer: str
    pooling: str | None
    is_normalized: bool


class _TextReading(NamedTuple):
    """The maximum number of tokens, whether longer texts lose their beginning, and whether texts are lowercased."""

    max_tokens: int | None
    truncates_left: bool
    is_lowercase: bool


def _read_modules(folder: Path) -> _Steps:
    path = folder / MODULES_FILE
    if not path.is_file():
        return _Steps("", POOLING_FOLDER, False)
    modules = _read_json(path, [{"type": str, "path?": str}])
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    for row, (kind, module) in enumerate(zip(kinds, modules, strict=True)):
        expected = MODULE_TYPES[min(row, 2)]
        if kind != expected or not module["type"].startswith("sentence_transformers."):
            raise _misfit(path, f"[{row}].type", expected, shown(module["type"]), hint=LIBRARY_HINT)
        inner = PurePosixPath(module.get("path", ""))
        if inner.is_absolute() or ".." in inner.parts:
            raise _misfit(path, f"[{row}].path", "a folder within the model's", shown(str(inner)))
    if not modules:
        raise _misfit(path, "[0].type", "Transformer", "nothing")
    folders = [module.get("path", "") for module in modules]
    return _Steps(folders[0], folders[1] if len(folders) > 1 else None, len(folders) > 2)


def _read_pooling(path: Path | None) -> tuple[tuple[str, ...], bool]:
    """The modes of pooling, none if there is no file, and whether the tokens of a prompt count."""
    if path is None or not path.is_file():
        return (), True
    config = _read_json(path, {"include_prompt?": bool})
    _check_keys(path, config, ("pooling_mode", "include_prompt", *POOLING_KEYS, *DIMENSION_KEYS), {})
    named = config.get("pooling_mode")
    if named is None:
        for key in POOLING_KEYS:
            if not isinstance(config.get(key, False), bool):
                raise _misfit(path, key, "true or false", described(config[key]))
        modes = tuple(mode for key, mode in POOLING_KEYS.items() if config.get(key))
    else:
        modes = tuple(named) if isinstance(named, list) else (named,)
    unknown = [mode for mode in modes if not isinstance(mode, str) or mode not in POOLING_MODES]
    if unknown or not modes:
        found = described(unknown[0]) if unknown else "nothing"
        raise _misfit(path, "pooling_mode", f"one of {', '.join(POOLING_MODES)}", found, hint=LIBRARY_HINT)
    return modes, config.get("include_prompt", True)


def _read_transformer(folder: Path) -> _TextReading:
    path = next((folder / name for name in TRANSFORMER_FILES if (folder / name).is_file()), folder / "none")
    config = _read_json(path, {"max_seq_length?": Maybe(int), "do_lower_case?": bool})
    _check_keys(path, config, ("max_seq_length", "do_lower_case"), HARMLESS_TRANSFORMER_KEYS)
    tokenizer_path = folder / "tokenizer_config.json"
    tokenizer = _read_json(tokenizer_path, {"model_max_length?": Maybe(float), "truncation_side?": str})
    model = _read_json(folder / "config.json", {"max_position_embeddings?": Maybe(int)})
    limits = [tokenizer.get("model_max_length"), model.get("max_position_embeddings")]
    given = [int(limit) for limit in limits if limit is not None and 0 < limit < NO_LIMIT]
    limit = config.get("max_seq_length") or min(given, default=None)
    if limit is not None and limit < 1:
        raise _misfit(path, "max_seq_length", "a number of tokens", str(limit))
    side = tokenizer.get("truncation_side", "right")
    if side not in ("left", "right"):
        raise _misfit(tokenizer_path, "truncation_side", "left or right", shown(side))
    return _TextReading(limit, side == "left", config.get("do_lower_case", False))


def _read_prompts(path: Path, is_normalized: bool) -> dict[str, str]:
    """The prompt of each side."""
    shape = {"prompts?": Maybe(MapOf(Maybe(str))), "default_prompt_name?": Maybe(str)}
    config = _read_json(path, shape)
    harmless = dict(HARMLESS_PROMPT_KEYS)
    if is_normalized:
        harmless["similarity_fn_name"] = ("cosine", *SAME_AS_COSINE)
    _check_keys(path, config, ("prompts", "default_prompt_name"), harmless, COSINE_HINT)
    prompts = {name: text or "" for name, text in (config.get("prompts") or {}).items()}
    return prompts_by_side(path, prompts, config.get("default_prompt_name"))


def _read_json(path: Path, shape: Shape) -> Any:
    """The JSON in a file, of a shape; an empty object if there is no such file."""
    if not path.is_file():
        return {}
    value = parse_plain_json(str(path), None, read_bytes(path)[0])
    misfit = first_misfit(value, shape)
    if misfit is not None:
        raise _misfit(path, misfit.path or "the top", misfit.expected, misfit.found)
    return value


def _check_keys(
    path: Path,
    config: Mapping[str, Any],
    known: Iterable[str],
    harmless: Mapping[str, tuple[Any, ...] | None],
    hint: str = LIBRARY_HINT,
) -> None:
    """Raise if a key says something that is not understood; an empty value says nothing."""
    for key, value in config.items():
        if key in known or value is None or value is False or value in ({}, [], ""):
            continue
        values = harmless.get(key, ())
        if values is not None and value not in values:
            expected = " or ".join(described(choice) for choice in values) or "no such key"
            raise _misfit(path, key, expected, described(value), hint=hint)


def _misfit(source: str | Path, key: str, expected: str, found: str, *, hint: str | None = None) -> InputError:
    return InputError.at(source, None, f"expected {expected} at {key}, found {found}", hint=hint)


def _names(prompts: Mapping[str, str]) -> str:
    return ", ".join(shown(name) for name in prompts) or "no prompts"


# Tokenizers of models.


def load_tokenizer(path: Path, extra: str) -> Any:
    """Load a tokenizer from its JSON file; it neither pads nor truncates."""
    stay_offline()
    try:
        # Its threads are unsafe with a later fork, which it warns about unless this is set.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer
    except ModuleNotFoundError:
        raise MissingExtraError(
            "this embedder needs the library tokenizers", hint=f"pip install 'rankgauge[{extra}]'"
        ) from None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise InputError.at(path, None, f"not a tokenizer: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


# Whether the libraries of Hugging Face may use the network: only if a model of theirs was named.
#
# Their downloader is installed with the tokenizer that the default embedder uses. It reads this variable when it is
# imported.

OFFLINE = "HF_HUB_OFFLINE"
_set_here: set[str] = set()


def stay_offline() -> None:
    """Let nothing be downloaded by a library that needs no download; the user's own setting has precedence."""
    if OFFLINE not in os.environ:
        os.environ[OFFLINE] = "1"
        _set_here.add(OFFLINE)


def allow_downloads() -> None:
    """Undo ``stay_offline``: the user named a model, which may have to be downloaded."""
    if OFFLINE in _set_here:
        os.environ.pop(OFFLINE, None)
        _set_here.clear()
