"""What an embedder is: the protocol, what identifies one, so that its vectors may be used again, and one by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.named_code import code_identity, has_parameter
from rankgauge.retrieval.retriever import Identity


class Embedder(Protocol):
    """Turn each text into a vector. The length of a vector does not matter: it is scaled to 1 wherever it is used.

    The vector of a text depends only on the text, never on its batch. An embedder that does not read texts
    (precomputed vectors) uses the ids.
    """

    name: str
    reads_texts: bool

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """One row per text; ``side`` is ``document`` or ``query``, which some models treat differently."""

    def identity(self) -> Identity:
        """Everything that determines the vectors, as JSON, and its hash as ``sha256``.

        Without a hash, or with None, stored vectors of the embedder are never used again.
        """


def hashed_identity(kind: str, name: str, *, is_complete: bool = True, **parts: Any) -> dict[str, Any]:
    """What identifies a model: its name, what determines its output, and a hash of both.

    ``kind`` is ``embedder`` or ``reranker``. The hash is None if the parts do not determine the output.
    """
    identity = {kind: name, **parts}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest() if is_complete else None
    return {**identity, "sha256": digest}


def identity_of(embedder: Embedder) -> dict[str, Any]:
    """The identity of an embedder, with a hash or None in any case."""
    return {"sha256": None, **embedder.identity()}


def embedders_in(identity: Any) -> Iterator[Mapping[str, Any]]:
    """The identities of all embedders and rerankers within an identity."""
    if isinstance(identity, Mapping):
        if "sha256" in identity and any(isinstance(identity.get(kind), str) for kind in ("embedder", "reranker")):
            yield identity
        for inner in identity.values():
            yield from embedders_in(inner)
    elif isinstance(identity, list | tuple):
        for inner in identity:
            yield from embedders_in(inner)


def unhashed_note(identity: Any) -> str | None:
    """Why nothing that was made with these embedders may be used again; None if all of them have a hash."""
    names = [_label(part) for part in embedders_in(identity) if part["sha256"] is None]
    if not names:
        return None
    return f"{_list(names)} cannot be hashed, so a change of its code or its model would not be noticed"


def code_note(identity: Any) -> str | None:
    """What the hashes of embedders do not cover, if some of them are code; None if none is."""
    names = [_label(part) for part in embedders_in(identity) if (part.get("code") or {}).get("files")]
    if not names:
        return None
    return f"the hash of {_list(names)} is that of its file: what it imports and the files it reads are not included"


def _label(identity: Mapping[str, Any]) -> str:
    kind = "embedder" if isinstance(identity.get("embedder"), str) else "reranker"
    return f"{kind} {identity[kind]}"


def _list(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))


# Any function from a list of texts to a table of numbers, as an embedder.


class CallableEmbedder:
    """Call ``function(texts)``, or ``function(texts, side)`` if it has a parameter ``side``.

    A function or class of a module is identified by the file of the module. Anything else (a lambda, a bound method)
    cannot be hashed, and its stored vectors are not used again unless ``version`` is given: change it whenever the
    vectors change. ``path`` is the ``module:name`` that the function was loaded by.
    """

    reads_texts = True

    def __init__(self, function: Callable[..., Any], name: str, version: str = "", path: str | None = None) -> None:
        self.name, self.version, self._function = name, version, function
        self._takes_side = has_parameter(function, "side")
        self._code = code_identity(function, path)

    def identity(self) -> Identity:
        """The given name and version, and the hashes of the code."""
        is_complete = bool(self.version or self._code["files"])
        return hashed_identity("embedder", self.name, is_complete=is_complete, version=self.version, code=self._code)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[Any]:
        """What the function returns, as a table."""
        vectors = self._function(texts, side=side) if self._takes_side else self._function(texts)
        try:
            return np.asarray(vectors, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"embedder {self.name} must return one row of numbers per text, found {type(vectors).__name__}"
            ) from None
