"""What is imported on first use, so that importing a package costs next to nothing.

A package lists its public names once, in its ``__init__.pyi``, one line per name, which type checkers read too:

    from rankgauge.comparison.compare import compare as compare

Importing this module imports nothing: it runs before the command line can handle an interrupt.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ALGEBRA_BYTES = 96 << 20  # what NumPy, or SciPy, takes when it is imported, with one thread of OpenBLAS
LINE = r"(?m)^from (?P<module>[\w.]+) import (?P<name>\w+) as (?P=name)$"


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__``, which also makes ``__all__``, and ``__dir__`` of a package, from the stub beside its file."""
    homes: dict[str, str] = {}

    def public_names() -> list[str]:
        if not homes:
            import re
            from pathlib import Path

            stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
            homes.update({match["name"]: match["module"] for match in re.finditer(LINE, stub)})
        return sorted(homes)

    def get_attribute(name: str) -> Any:
        if name == "__all__":
            return public_names()
        if name.startswith("__") or name not in public_names():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(homes[name]), name)

    return get_attribute, public_names


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
