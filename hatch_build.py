"""Build hook: compile the scanner if there is a C compiler; without one the package is pure Python, and works as well.

``RANKGAUGE_BUILD=pure`` leaves the scanner out, ``RANKGAUGE_BUILD=required`` fails if it cannot be compiled.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ABI_TAG = "cp311-abi3"


class ScannerHook(BuildHookInterface):  # type: ignore[type-arg]  # its configuration is of no interest here
    """Compiles the scanner into the source tree, from where editable installs use it and wheels take it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what kind of wheel this is."""
        root, mode = Path(self.root), os.environ.get("RANKGAUGE_BUILD", "")
        compiling = _load(root / "scripts" / "compile_scanner.py")
        if mode == "pure":
            _remove_old(root / compiling.FOLDER)
            return
        try:
            built = compiling.compile_scanner(root, extra=shlex.split(os.environ.get("CFLAGS", "")))
        except compiling.CannotCompileError as error:
            _remove_old(root / compiling.FOLDER)
            if mode == "required":
                raise
            self.app.display_warning(f"the scanner is not compiled, files are read with NumPy instead: {error}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"{ABI_TAG}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(built.relative_to(root).as_posix())


def _remove_old(folder: Path) -> None:
    """Delete what an earlier build left: it may not be what the sources say."""
    for old in [*folder.glob("_scanner*.so"), *folder.glob("_scanner*.pyd")]:
        old.unlink(missing_ok=True)


def _load(path: Path) -> ModuleType:
    """A module by its path: builds do not run in the root of the project."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
