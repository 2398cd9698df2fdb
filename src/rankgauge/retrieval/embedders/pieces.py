"""Tokenizers of models. The only file that imports tokenizers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, MissingExtraError
from rankgauge.retrieval.embedders.offline import stay_offline


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
