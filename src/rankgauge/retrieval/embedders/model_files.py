"""The files of a model: the prompts of queries and documents, hashes, tokenizers, and whether to download any.

The only file that imports tokenizers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.byte_streams import sha256_of_file

PROMPT_NAMES = {"query": ("query",), "document": ("document", "passage", "corpus")}


def prompts_by_side(source: str | Path, prompts: Mapping[str, str], default: str | None) -> dict[str, str]:
    """The prompt of queries and that of documents, by the names that sentence-transformers gives them.

    A side without a prompt of its own gets the default one. If there are only prompts of other names, which one is
    meant is not known.
    """
    if default is not None and default not in prompts:
        raise InputError.at(
            source, None, f"expected one of {_names(prompts)} at default_prompt_name, found {shown(default)}"
        )
    known = [name for names in PROMPT_NAMES.values() for name in names if name in prompts]
    if prompts and not known and default is None:
        expected = "a prompt named query, document, passage or corpus"
        raise InputError.at(
            source,
            None,
            f"expected {expected} at prompts, found {_names(prompts)}",
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


def _names(prompts: Mapping[str, str]) -> str:
    return ", ".join(shown(name) for name in prompts) or "no prompts"


# Tokenizers of models.


def load_tokenizer(path: Path) -> Any:
    """Load a tokenizer from its JSON file; it neither pads nor truncates."""
    stay_offline()
    try:
        # Its threads are unsafe with a later fork, which it warns about unless this is set.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer
    except ModuleNotFoundError:
        raise MissingExtraError(
            "this embedder needs the library tokenizers", hint="pip install 'rankgauge[retrieval]'"
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
