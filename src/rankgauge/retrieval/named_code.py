"""Code by name: ``module:name`` and ``FILE.py:name``, loaded and hashed; and the error for an unknown name."""

from __future__ import annotations

import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from rankgauge.errors import InputError, UsageError, nearest, printable, shown
from rankgauge.io.byte_streams import SERVER_HINT, is_url, sha256_of_file
from rankgauge.retrieval.code_policy import check_code, own_folder
from rankgauge.secrets import error_message, error_text

FILE_SUFFIX = ".py"


class _CodeFile(NamedTuple):
    """A module from a file, and the hash of the bytes that were run."""

    module: ModuleType
    sha256: str


_FILES: dict[Path, _CodeFile] = {}  # by resolved path
_HASHES: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()  # of other modules, as they were when first seen


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
    if is_url(path):
        raise UsageError(f"{kind} {shown(path)} is a URL", hint=SERVER_HINT)
    if not is_object_path(path):
        raise UsageError(
            f"{kind} must be module:callable, found {shown(path)}",
            hint="for example mypackage.search:find, or ./search.py:find",
        )
    check_code(path, kind)
    module, _, name = path.rpartition(":")
    try:
        with own_folder():
            loaded: Any = _load_file(Path(module)) if module.endswith(FILE_SUFFIX) else _load_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
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
    """A module from a file, again if the file changed; its name is that of the file, which no installed module has.

    The bytes that are hashed are those that are run: Python's own cache of compiled files compares times and sizes.
    """
    resolved = path.resolve()
    if not resolved.is_file():
        raise FileNotFoundError(f"{printable(str(path), None)} not found")
    data = resolved.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if resolved not in _FILES or _FILES[resolved].sha256 != digest:
        _find_modules_in(resolved.parent)
        spec = spec_from_file_location(resolved.name, resolved)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            raise ImportError("not a Python file")
        module = module_from_spec(spec)
        before = sys.modules.get(resolved.name)
        sys.modules[resolved.name] = module  # classes look for their module there
        try:
            exec(spec.loader.source_to_code(data, str(resolved)), module.__dict__)
        except BaseException:
            if before is None:
                del sys.modules[resolved.name]
            else:
                sys.modules[resolved.name] = before
            raise
        _FILES[resolved] = _CodeFile(module, digest)
    return _FILES[resolved].module


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


def code_identity(source: Any, path: str | None = None) -> dict[str, Any]:
    """Which code an object is: its name, the hashes of the files that determine it, and what it says of itself.

    An object that was loaded by a ``path`` is determined by the file that the path names, and by that of its
    definition. Any other object must be a function or a class that its module has under its name, or say in a method
    ``identity()`` what determines it: a lambda, a bound method or an instance may hold what no file shows, and its
    ``files`` are None. What a file imports is not included.
    """
    definition = source if hasattr(source, "__qualname__") else type(source)
    module, name = str(getattr(definition, "__module__", None)), str(definition.__qualname__)
    own = getattr(source, "identity", None)
    says = own() if callable(own) and not inspect.isclass(source) else None
    hashes = {module: _module_sha256(sys.modules.get(module))}
    if path is not None:
        named = Path(path.rpartition(":")[0]).name
        hashes = {**({module: hashes[module]} if hashes[module] else {}), named: _module_sha256(_named_module(path))}
    elif not _is_in_module(definition, module, name) or (definition is not source and says is None):
        hashes = {}
    files = hashes if hashes and None not in hashes.values() else None
    return {"callable": f"{module}:{name}", "files": files, **({} if says is None else {"identity": dict(says)})}


def _named_module(path: str) -> ModuleType | None:
    """The module of an object path, if it was loaded."""
    name = path.rpartition(":")[0]
    loaded = _FILES.get(Path(name).resolve())
    return sys.modules.get(name) if loaded is None else loaded.module


def _is_in_module(definition: Any, module: str, name: str) -> bool:
    """Whether a module has this very object under its name."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is definition


def _module_sha256(module: ModuleType | None) -> str | None:
    """The hash of a module's file; None if it has none, or if the file changed since the module was first seen."""
    loaded = next((file.sha256 for file in _FILES.values() if file.module is module), None)
    path = getattr(module, "__file__", None)
    if loaded is not None or module is None or path is None:
        return loaded
    try:
        digest = sha256_of_file(path)
    except InputError:  # in an archive, for one
        return None
    return digest if _HASHES.setdefault(module, digest) == digest else None


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
