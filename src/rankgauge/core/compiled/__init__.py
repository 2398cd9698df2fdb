"""The compiled scanner, which is optional: without it, or with ``RANKGAUGE_SCANNER=python``, Python does the same.

One C file per concept: ``tokens`` (white space and columns), ``decimals`` (numbers), ``ids`` (hashes, order), ``sort``,
``join`` (the rows of a query), ``block`` (a part of a file), ``scattered`` (queries in many places),
``columns`` (rows that are columns already); for other formats ``cells`` (columns of a table), ``json``, ``records`` and
``mapping`` (JSON), ``delimited`` (CSV). Only ``buffers``, ``dicts``, ``tables`` and ``module`` know Python, and
``json`` for the conversion of long numbers.
"""

from __future__ import annotations

import os
from types import ModuleType

VARIABLE = "RANKGAUGE_SCANNER"
PYTHON, COMPILED = "python", "compiled"
INTERFACE = 7  # what this version expects of the extension: the number in module.c


def _load() -> tuple[ModuleType | None, str]:
    """The extension, and why it is not used if it is not."""
    if os.environ.get(VARIABLE, "").strip().lower() == PYTHON:
        return None, f"{VARIABLE}={PYTHON}"
    try:
        import rankgauge.core.compiled._scanner as extension
    except ImportError as error:
        reason = "no C compiler was found when rankgauge was installed"
        return None, reason if isinstance(error, ModuleNotFoundError) else f"the compiled one cannot be loaded: {error}"
    if getattr(extension, "INTERFACE", None) != INTERFACE:
        return None, "the compiled one is of another version: install rankgauge again"
    return extension, ""


scanner, _reason = _load()
SEED = int.from_bytes(os.urandom(8), "little")  # nobody can prepare ids whose hashes collide


def describe() -> str:
    """Which scanner is in use, and why it is not the compiled one."""
    return COMPILED if scanner is not None else f"{PYTHON} ({_reason})"
