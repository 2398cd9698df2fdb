"""What is imported on first use, so that importing a package costs next to nothing.

A package lists its public names once, in its ``__init__.pyi``, one line per name, which type checkers read too:

    from rankgauge.comparison.compare import compare as compare

Importing this module imports nothing: it runs before the command line can handle an interrupt.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

ALGEBRA_BYTES = 96 << 20  # what NumPy, or SciPy, takes when it is imported, with one thread of OpenBLAS
LINE = r"(?m)^from (?P<module>[\w.]+) import (?P<name>\w+) as (?P=name)$"


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__``, which also makes ``__all__``, and ``__dir__`` of a package, from the stub beside its file.

    A name that another package lists is an ImportError that says where it is: Python drops the message of an
    AttributeError from ``from … import …``.
    """
    homes: dict[str, str] = {}

    def public_names() -> list[str]:
        if not homes:
            from pathlib import Path

            homes.update(listed_names(Path(file).with_suffix(".pyi")))
        return sorted(homes)

    def get_attribute(name: str) -> Any:
        if name == "__all__":
            return public_names()
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in public_names():
            from importlib import import_module

            return getattr(import_module(homes[name]), name)
        other = None if is_module(name, file) else package_of(name)
        if other is not None:
            raise ImportError(
                f"cannot import name {name!r} from {package!r}: write `from {other} import {name}`", name=package
            )
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get_attribute, public_names


def listed_names(stub: Path) -> dict[str, str]:
    """The names that a stub lists, and the module of each."""
    import re

    return {match["name"]: match["module"] for match in re.finditer(LINE, stub.read_text(encoding="utf-8"))}


def is_module(name: str, file: str) -> bool:
    """Whether a package has a module or a package of this name; ``file`` is that of its ``__init__``."""
    from pathlib import Path

    path = Path(file).with_name(name)
    return path.is_dir() or path.with_suffix(".py").exists()


def package_of(name: str) -> str | None:
    """The package that lists a public name; the top one comes before all others."""
    from pathlib import Path

    top = Path(__file__).parents[1]
    for stub in sorted(top.rglob("__init__.pyi")):
        if name in listed_names(stub):
            return ".".join([top.name, *stub.relative_to(top).parts[:-1]])
    return None


def has_memory_limit() -> bool:
    """Whether the address space of this process is limited (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def check_memory_for_algebra() -> None:
    """Raise MemoryError if a limit leaves no room for another OpenBLAS: loading it would hang, or end the process."""
    if not has_memory_limit():
        return
    import mmap

    try:
        mmap.mmap(-1, ALGEBRA_BYTES).close()
    except OSError:
        raise MemoryError from None
