"""Run the fast tests on every CPython from 3.11 up that is installed here.

python -m scripts.run_on_pythons            # on all of them
python -m scripts.run_on_pythons --newest   # only on the newest one that is not the Python of this process

Interpreters are looked for on PATH, under pyenv and with uv; of each minor version, the newest release is used. The
environments stay in .venv-pythons, and are installed again only if what they are made from changes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-pythons"
OLDEST = (3, 11)
MINORS_FOR_UV = range(OLDEST[1], OLDEST[1] + 10)  # uv is asked for each
SOURCES = ("pyproject.toml", "hatch_build.py", "scripts/compile_scanner.py", "src/rankgauge/core/compiled/*.[ch]")
SECONDS_TO_ANSWER = 20
# Too many libraries have no wheels for other implementations, builds without the interpreter lock and pre-releases.
QUESTION = """
import ensurepip, platform, sys, sysconfig, venv
assert platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
assert sys.version_info.releaselevel == "final"
print(*sys.version_info[:3], sys._base_executable)
"""


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that is installed here."""

    version: tuple[int, int, int]
    path: Path

    @property
    def minor(self) -> str:
        """Such as 3.12."""
        return f"{self.version[0]}.{self.version[1]}"

    def __str__(self) -> str:
        return f"Python {'.'.join(map(str, self.version))} ({self.path})"


def main() -> int:
    """Run the tests on each interpreter, then list the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--newest", action="store_true", help="only the newest, leaving out that of this process")
    parser.add_argument("--workers", default=str(os.cpu_count() or 1), help="processes that run tests")
    options = parser.parse_args()
    interpreters = newest_of_each_minor(filter(None, map(inspect_interpreter, candidates())))
    if options.newest:
        interpreters = [one for one in interpreters if one.version[:2] != sys.version_info[:2]][-1:]
    if not interpreters:
        print(f"no {'other ' * options.newest}CPython from {'.'.join(map(str, OLDEST))} up was found")
        return 0 if options.newest else 1
    print("fast tests on:", *interpreters, sep="\n  ", flush=True)
    results = [(interpreter, *_timed(interpreter, options.workers)) for interpreter in interpreters]
    print("\nfast tests:")
    for interpreter, result, seconds in results:
        print(f"  Python {'.'.join(map(str, interpreter.version))}: {result} ({seconds:.0f} s)")
    return int(any(result != "passed" for _, result, _ in results))


def candidates() -> Iterator[Path]:
    """Everything that may be an interpreter: on PATH, under pyenv, and what uv finds."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for folder in [*folders, *sorted(pyenv.glob("versions/*/bin"))]:
        yield from (path for path in sorted(folder.glob("python3.*")) if _may_be_new_enough(path.name))
    if uv := shutil.which("uv"):
        for minor in MINORS_FOR_UV:
            command = [uv, "python", "find", "--system", "--no-python-downloads", f"3.{minor}"]
            if path := _output(command):
                yield Path(path)


def _may_be_new_enough(name: str) -> bool:
    """Whether a file has the name of an interpreter that is not too old; configuration programs have other names."""
    minor = re.fullmatch(r"python3\.(\d+)(\.exe)?", name)
    return minor is not None and int(minor[1]) >= OLDEST[1]


def inspect_interpreter(path: Path) -> Interpreter | None:
    """The interpreter that answers at a path, behind a virtual environment; None if it does not work or is too old."""
    words = _output([str(path), "-I", "-c", QUESTION]).split(maxsplit=3)
    if len(words) != 4:
        return None
    major, minor, patch = map(int, words[:3])
    return Interpreter((major, minor, patch), Path(words[3])) if (major, minor) >= OLDEST else None


def newest_of_each_minor(interpreters: Iterable[Interpreter]) -> list[Interpreter]:
    """One interpreter of each minor version, the oldest version first."""
    return list({interpreter.minor: interpreter for interpreter in sorted(interpreters)}.values())


def _timed(interpreter: Interpreter, workers: str) -> tuple[str, float]:
    """What became of the tests, and the seconds that they and the installation took."""
    print(f"\n{interpreter}", flush=True)
    start = time.monotonic()
    result = run_tests(interpreter, workers)
    return result, time.monotonic() - start


def run_tests(interpreter: Interpreter, workers: str) -> str:
    """Install what is needed and run the fast tests."""
    python = environment(interpreter)
    if python is None:
        return "the installation failed"
    command = [str(python), "-m", "pytest", "-q", "-n", workers, "--dist", "worksteal", "-m", "not slow"]
    return "passed" if subprocess.run(command, cwd=ROOT, check=False).returncode == 0 else "failed"


def environment(interpreter: Interpreter) -> Path | None:
    """The Python of an environment with the test extra; None if it cannot be installed."""
    folder = FOLDER / interpreter.minor
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed-from"
    expected = f"{interpreter} {_digest()}"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == expected:
        return python
    for command in (
        [str(interpreter.path), "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[test]"],
    ):
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            return None
    stamp.write_text(expected, encoding="utf-8")
    return python


def _digest() -> str:
    """A hash of the files that decide what is installed."""
    paths = sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def _output(command: list[str]) -> str:
    """What a program prints; nothing if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
