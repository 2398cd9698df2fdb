"""Compile the scanner with nothing but a C compiler. The build hook uses it, and so do tests with a sanitizer.

python -m scripts.compile_scanner     # into the source tree
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

FOLDER = Path("src", "rankgauge", "core", "compiled")
SOURCE = FOLDER / "module.c"  # it includes the other files
# Only instructions that every machine has, and no multiplication fused with an addition, which rounds differently.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"]


class CannotCompileError(Exception):
    """Why the scanner cannot be compiled here."""


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
    temporary = out.with_name(f".{out.name}.{os.getpid()}")  # two installations may compile at the same time
    command = [*compiler, *FLAGS, *extra, *linking, f"-I{include}", str(root / SOURCE), "-o", str(temporary), "-lm"]
    try:
        _run(command)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return out


def load(path: Path) -> ModuleType:
    """An extension that was compiled into a file of its own."""
    name = "rankgauge.core.compiled._scanner"
    spec = spec_from_loader(name, ExtensionFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile_on_windows(root: Path, include: Path) -> Path:
    """With Microsoft's compiler, which setuptools knows how to find."""
    try:
        # Only the build on Windows has setuptools, and it has no types.
        from setuptools._distutils.ccompiler import new_compiler  # type: ignore[import-untyped]  # as above
        from setuptools._distutils.errors import CCompilerError, DistutilsError  # type: ignore[import-untyped]  # as above
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


if __name__ == "__main__":
    print(compile_scanner(Path(__file__).parents[1], shlex.split(os.environ.get("CFLAGS", ""))))
