"""Texts as numbered pieces of a model's vocabulary. The only file that imports tokenizers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, MissingExtraError


def tokenizer(path: Path, extra: str) -> Any:
    """A tokenizer from its JSON file; it neither pads nor truncates."""
    try:
        # Its threads and a later fork do not go together; it warns of that unless told.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(
            "this embedder needs the library tokenizers", hint=f"pip install 'rankgauge[{extra}]'"
        ) from None
    try:
        made = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise InputError.at(path, None, f"no tokenizer: {error}") from None
    made.no_padding()
    made.no_truncation()
    return made
