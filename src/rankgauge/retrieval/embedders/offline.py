"""Whether the libraries of Hugging Face may use the network: only if a model of theirs was named.

Their downloader is installed with the tokenizer that the default embedder uses. It reads this variable when it is
imported.
"""

from __future__ import annotations

import os

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
