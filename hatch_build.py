"""Build hook: compile the scanner if there is a C compiler; otherwise the package is pure Python and works all the same.

``RANKGAUGE_BUILD=pure`` leaves the scanner out, ``RANKGAUGE_BUILD=required`` fails if it cannot be compiled.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "rankgauge", "core", "compiled")
SOURCE = FOLDER / "module.c"  # it includes the other files
ABI_TAG = "cp311-abi3"
# No instruction that every machine does not have, and no multiplication fused with an addition, which rounds differently.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]


class CannotCompileError(Exception):
    """Why the scanner cannot be compiled here."""


class ScannerHook(BuildHookInterface):  # type: ignore[type-arg]  # its configuration is of no interest here
    """Compiles the scanner into the source tree, from where editable installs use it and wheels take it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what kind of wheel this is."""
        root, mode = Path(self.root), os.environ.get("RANKGAUGE_BUILD", "")
        for old in [*(root / FOLDER).glob("_scanner*.so"), *(root / FOLDER).glob("_scanner*.pyd")]:
            old.unlink()
        if mode == "pure":
            return
        try:
            built = compile_scanner(root, extra=shlex.split(os.environ.get("CFLAGS", "")))
        except CannotCompileError as error:
            if mode == "required":
                raise
            self.app.display_warning(f"the scanner is not compiled, files are read with NumPy instead: {error}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"{ABI_TAG}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(built.relative_to(root).as_posix())


def compile_scanner(root: Path, extra: list[str], out: Path | None = None) -> Path:
    """Compile the extension and return its path."""
    include = Path(sysconfig.get_paths()["include"])
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CannotCompileError("this Python has no limited API")
    if not (include / "Python.h").exists():
        raise CannotCompileError(f"{include / 'Python.h'} is missing")
    if sys.platform == "win32":
        return _compile_on_windows(root, include)
    out = out or root / FOLDER / "_scanner.abi3.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        compiler = ["cc"]
    linking = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    linking += shlex.split(os.environ.get("ARCHFLAGS", "")) if sys.platform == "darwin" else []
    command = [*compiler, *FLAGS, *extra, *linking, f"-I{include}", str(root / SOURCE), "-o", str(out), "-lm"]
    _run(command)
    return out


def _compile_on_windows(root: Path, include: Path) -> Path:
    """With Microsoft's compiler, which setuptools knows how to find."""
    try:
        from setuptools._distutils.ccompiler import new_compiler
        from setuptools._distutils.errors import CCompilerError, DistutilsError
    except ImportError as error:
        raise CannotCompileError(str(error)) from None
    try:
        compiler = new_compiler()
        library = Path(sys.base_prefix, "libs")
        objects = compiler.compile(
            [str(root / SOURCE)], str(root / "build"), include_dirs=[str(include)], extra_preargs=["/O2", "/fp:strict"]
        )
        out = root / FOLDER / "_scanner.pyd"
        compiler.link_shared_object(
            objects, str(out), library_dirs=[str(library)], export_symbols=["PyInit__scanner"], target_lang="c"
        )
    except (CCompilerError, DistutilsError) as error:
        raise CannotCompileError(str(error)) from None
    return out


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotCompileError(f"no C compiler ({command[0]}: {error.strerror})") from None
    if done.returncode:
        raise CannotCompileError(f"{shlex.join(command)}\n{done.stderr.strip()}")
