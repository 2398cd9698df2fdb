"""``module:callable`` as the thing it names."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rankgauge.errors import UsageError, shown


def is_spec(text: str) -> bool:
    """Whether a text has the form ``module:name``."""
    module, mark, name = text.partition(":")
    return bool(mark and name) and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def load(text: str, what: str) -> Any:
    """The object; modules of the working folder are found too, as ``python -m`` would."""
    if not is_spec(text):
        raise UsageError(
            f"{what} must be module:callable, found {shown(text)}", hint="for example mypackage.search:find"
        )
    module, _, name = text.partition(":")
    here = str(Path.cwd())
    added = here not in sys.path
    if added:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise UsageError(f"{what} {shown(text)}: cannot import {module}: {error}") from None
    finally:
        if added and here in sys.path:
            sys.path.remove(here)
    for part in name.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{what} {shown(text)}: {module} has no {name}")
        found = getattr(found, part)
    return found
