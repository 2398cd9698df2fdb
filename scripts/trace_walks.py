"""Trace commands on the bundled collection, and write the files that they enter into docs/concepts/architecture.md.

A file is entered when one of its functions is called for the first time; a file that is only imported is not, nor is
one whose functions are called only while something is imported. With ``--check``, the page is compared instead; with
``--count``, the number of files that each command enters is printed.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from rankgauge.cli.main import run
from rankgauge.core import compiled
from scripts.examples import ROOT, environment

PAGE = ROOT / "docs" / "concepts" / "architecture.md"
PACKAGE = "rankgauge"
SOURCE = ROOT / "src" / PACKAGE
OPTIMIZED = 0x1  # the flag of code that is a function, not the body of a module or class
LEFT_OUT = "cli/"  # parsing of options, messages and exit codes, which are the same for every command


@dataclass(frozen=True)
class Walk:
    """A command line that is traced in the folder of the demo, and how its files are listed.

    Files that the walks named in ``after`` enter are not listed again.
    """

    name: str
    arguments: str
    by_folder: bool = False
    after: tuple[str, ...] = ()


WALKS = (
    Walk("evaluate", "evaluate qrels.trec runs/lexical.trec --config none"),
    Walk("compare", "compare qrels.trec runs/lexical.trec runs/vector.trec --config none", after=("evaluate",)),
    Walk("benchmark", "benchmark run rankgauge.yaml", by_folder=True, after=("evaluate", "compare")),
)
COUNTED = (
    WALKS[0],
    WALKS[1],
    Walk("gate", "gate qrels.trec runs/vector.trec --baseline runs/lexical.trec --config none"),
    WALKS[2],
)


class Entries:
    """A profile function that collects the modules of a package, in the order in which they are entered."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.modules: dict[str, None] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note the module of a function that is called."""
        if event == "call" and frame.f_code.co_flags & OPTIMIZED:
            self._enter(frame.f_globals.get("__name__", ""), frame)
        elif event == "c_call":
            owner = getattr(argument, "__module__", None) or type(getattr(argument, "__self__", None)).__module__
            self._enter(owner, frame)

    def _enter(self, module: str, frame: FrameType) -> None:
        if module not in self.modules and self._is_ours(module) and not self._is_importing(frame):
            self.modules[module] = None

    def _is_ours(self, module: str) -> bool:
        return module == self.package or module.startswith(f"{self.package}.")

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and self._is_ours(frame.f_globals.get("__name__", "")):
                return True
            frame = frame.f_back
        return False


def trace(arguments: Sequence[str]) -> tuple[int, list[str]]:
    """Run a command in this process; returns its exit code and the modules that it entered."""
    entries = Entries(PACKAGE)
    threading.setprofile(entries)
    sys.setprofile(entries)
    try:
        code = run(list(arguments))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return code, list(entries.modules)


def entered_files(walk: Walk, folder: str) -> list[Path]:
    """The files that a command enters in a fresh process, relative to the package, in the order of entry."""
    record = Path(folder, f"{walk.name}.json")
    _run(["scripts.trace_walks", "--trace", str(record), *walk.arguments.split()], folder)
    code, modules = json.loads(record.read_text(encoding="utf-8"))
    if code:
        raise SystemExit(f"exit {code}: rankgauge {walk.arguments}")
    return list(dict.fromkeys(map(_file_of, modules)))


def make_folder(folder: str) -> None:
    """Write the demo and its configuration."""
    _run([PACKAGE, "demo", "--copy", "."], folder)
    _run([PACKAGE, "init"], folder)


def listing(walk: Walk, files: Iterable[Path]) -> str:
    """The files of a walk in Markdown: one line per file or, if there are many, per folder."""
    shown = [file for file in files if not file.as_posix().startswith(LEFT_OUT)]
    rows = _by_folder(shown) if walk.by_folder else ((f"`{file.as_posix()}`", _summary(file)) for file in shown)
    title = "folder, and its files" if walk.by_folder else "file"
    return "\n".join([f"| {title} in order of entry | what it is |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def with_listings(page: str, listings: dict[str, str]) -> str:
    """The page with each listing between its markers."""
    for name, text in listings.items():
        begin, end = f"<!-- walk of {name}: made by `make docs` -->\n", f"<!-- end of the walk of {name} -->\n"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"{PAGE.name} has no markers for the walk of {name}: expected {begin}{end}")
        page = f"{before}{begin}\n{text}\n\n{end}{after}"
    return page


def main(arguments: Sequence[str]) -> int:
    """Write, compare or count; with --trace FILE COMMAND…, be the fresh process."""
    if arguments[:1] == ["--trace"]:
        Path(arguments[1]).write_text(json.dumps(trace(arguments[2:])), encoding="utf-8")
        return 0
    if compiled.scanner is None:
        raise SystemExit(f"commands are traced with the extension, but the scanner is {compiled.describe()}")
    with tempfile.TemporaryDirectory() as folder:
        make_folder(folder)
        if "--count" in arguments:
            for walk in COUNTED:
                print(f"{len(entered_files(walk, folder)):4} files  rankgauge {walk.arguments}", flush=True)
            return 0
        files = {walk.name: entered_files(walk, folder) for walk in WALKS}
    listings = {}
    for walk in WALKS:
        known = {file for name in walk.after for file in files[name]}
        listings[walk.name] = listing(walk, (file for file in files[walk.name] if file not in known))
    page = PAGE.read_text(encoding="utf-8")
    fresh = with_listings(page, listings)
    if "--check" not in arguments:
        PAGE.write_text(fresh, encoding="utf-8")
    elif fresh != page:
        print(f"stale: {PAGE.name}; run python -m scripts.trace_walks", file=sys.stderr)
        return 1
    return 0


def _by_folder(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    folders: dict[Path, list[str]] = {}
    for file in files:
        folders.setdefault(file.parent, []).append("`__init__`" if file.stem == "__init__" else f"`{file.stem}`")
    for folder, names in folders.items():
        yield f"`{folder.as_posix()}/`: {', '.join(names)}", _summary(folder / "__init__.py")


def _file_of(module: str) -> Path:
    """The file of a module; the extension belongs to the package around it."""
    base = SOURCE.joinpath(*module.split(".")[1:])
    candidates = (base / "__init__.py", base.with_suffix(".py"), base.parent / "__init__.py")
    return next(file for file in candidates if file.exists()).relative_to(SOURCE)


def _summary(file: Path) -> str:
    """The first line of a docstring, as a cell of a table."""
    text = ast.get_docstring(ast.parse((SOURCE / file).read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".:").replace("``", "`").replace("|", "\\|")


def _run(module_and_arguments: Sequence[str], folder: str) -> None:
    paths = [str(SOURCE.parent), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {**environment(), "PYTHONPATH": os.pathsep.join(paths), "RANKGAUGE_PROGRESS": "0"}
    done = subprocess.run(
        [sys.executable, "-m", *module_and_arguments],
        cwd=folder, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"exit {done.returncode}: {' '.join(module_and_arguments)}\n{done.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
