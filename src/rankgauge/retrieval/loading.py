"""Find things by name: objects named ``module:name``, their parameters, and the error for an unknown name."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rankgauge.errors import UsageError, nearest, shown


def is_object_path(text: str) -> bool:
    """Whether a text has the form ``module:name``."""
    module, colon, name = text.partition(":")
    return bool(colon and name) and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def load_object(path: str, kind: str) -> Any:
    """Import the object ``module:name``; modules of the working directory are found too, as with ``python -m``."""
    if not is_object_path(path):
        raise UsageError(
            f"{kind} must be module:callable, found {shown(path)}", hint="for example mypackage.search:find"
        )
    module, _, name = path.partition(":")
    working_directory = str(Path.cwd())
    if working_directory not in sys.path:
        sys.path.insert(0, working_directory)  # it stays: what was loaded may import more while it is called
    try:
        loaded: Any = import_module(module)
    except ImportError as error:
        raise UsageError(f"{kind} {shown(path)}: cannot import {module}: {error}") from None
    for part in name.split("."):
        if not hasattr(loaded, part):
            raise UsageError(f"{kind} {shown(path)}: {module} has no {name}")
        loaded = getattr(loaded, part)
    return loaded


def has_parameter(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of that name (``**`` parameters do not count)."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def unknown_name(
    kind: str, name: str, candidates: Sequence[str], choices: str | None = None, *, misspelled: str | None = None
) -> UsageError:
    """The error for a name that is none of the candidates.

    It suggests the candidate nearest to ``misspelled``, by default the name; ``choices`` describes all valid names.
    """
    close = nearest(misspelled or name, candidates)
    return UsageError(
        f"unknown {kind} {shown(name)}" + (f"; did you mean {close}?" if close else ""),
        hint=f"choose one of {choices or ', '.join(candidates)}",
    )
