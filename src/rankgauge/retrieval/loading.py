"""Find things by name: objects named ``module:name`` or ``FILE.py:name``, and the error for an unknown name."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from rankgauge.errors import UsageError, nearest, printable, shown
from rankgauge.retrieval.code_policy import check_code
from rankgauge.secrets import error_message, error_text

FILE_SUFFIX = ".py"
_FILES: dict[Path, ModuleType] = {}  # the modules loaded from files, by resolved path


def is_object_path(text: str) -> bool:
    """Whether a text has the form ``module:name`` or ``FILE.py:name``."""
    module, _, name = text.rpartition(":")
    is_name = bool(module and name) and all(part.isidentifier() for part in name.split("."))
    return is_name and (module.endswith(FILE_SUFFIX) or all(part.isidentifier() for part in module.split(".")))


def load_object(path: str, kind: str) -> Any:
    """Import the object ``module:name`` or ``FILE.py:name``.

    Modules of the working directory are found too, as with ``python -m``, and modules beside a file, as with
    ``python FILE.py``.
    """
    if not is_object_path(path):
        raise UsageError(
            f"{kind} must be module:callable, found {shown(path)}",
            hint="for example mypackage.search:find, or ./search.py:find",
        )
    check_code(path, kind)
    module, _, name = path.rpartition(":")
    try:
        loaded: Any = _load_file(Path(module)) if module.endswith(FILE_SUFFIX) else _load_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{kind} {shown(path)}: cannot import {printable(module)}: {_reason(error)}") from error
    for part in name.split("."):
        if not hasattr(loaded, part):
            close = nearest(part, [known for known in dir(loaded) if not known.startswith("_")])
            raise UsageError(
                f"{kind} {shown(path)}: {printable(module)} has no {name}",
                hint=f"did you mean {close}?" if close else None,
            )
        loaded = getattr(loaded, part)
    return loaded


def in_folder(text: str, folder: Path) -> str:
    """An object path with its file, if it names one, found from a folder."""
    return str(folder / text) if text.rpartition(":")[0].endswith(FILE_SUFFIX) else text


def _load_module(name: str) -> ModuleType:
    _find_modules_in(Path.cwd())
    return import_module(name)


def _load_file(path: Path) -> ModuleType:
    """A module from a file, once; its name is that of the file, which no installed module has."""
    resolved = path.resolve()
    if resolved not in _FILES:
        if not resolved.is_file():
            raise FileNotFoundError(f"{printable(str(path), None)} not found")
        _find_modules_in(resolved.parent)
        spec = spec_from_file_location(resolved.name, resolved)
        if spec is None or spec.loader is None:
            raise ImportError("not a Python file")
        module = module_from_spec(spec)
        sys.modules[resolved.name] = module  # classes look for their module there
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[resolved.name]
            raise
        _FILES[resolved] = module
    return _FILES[resolved]


def _find_modules_in(folder: Path) -> None:
    """Let imports find the modules of a folder; it stays: what was loaded may import more while it is called."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _reason(error: BaseException) -> str:
    """Why an import failed, with the line of the user's code, unless the module itself was not found."""
    if isinstance(error, ImportError | FileNotFoundError):
        return printable(error_message(error), None)
    if isinstance(error, SyntaxError):
        return printable(f"{Path(error.filename or '?').name}:{error.lineno}: SyntaxError: {error.msg}")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return printable(f"{Path(frame.filename).name}:{frame.lineno}: {error_text(error)}", None)


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
