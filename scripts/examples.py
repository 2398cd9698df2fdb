"""The examples of README.md and docs/: how they are found in a page, and in which environment they run.

A ``console`` block has commands after ``$``, each with what it prints. An ``output`` block has what the ``python``
block before it prints. A block below "Save this as `NAME`:" is a file. In a table with the columns ``example`` and
``result``, an example is a command or a Python expression.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WIDTH = "80"  # columns of the terminal that pages show
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTING = re.compile(
    r"^```python\n(?P<code>(?:(?!^```).)*)^```\n\n```output\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)
SAVED = re.compile(r"^Save this as `([\w./-]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
TABLE = "| asks for | answered by | example | result |"
TUTORIAL = ROOT / "docs" / "tutorial"  # its pages share one working folder


def pages() -> list[Path]:
    """Every page that can have examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sessions() -> list[list[Path]]:
    """All pages; those that a reader follows in one folder are together, in order."""
    tutorial = [page for page in pages() if page.parent == TUTORIAL]
    return [[page] for page in pages() if page not in tutorial] + [tutorial]


def save_files(page: Path, folder: Path) -> None:
    """Write the files that a page tells its reader to save."""
    for name, content in SAVED.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(content, encoding="utf-8")


def blocks(page: Path, kind: str) -> list[str]:
    """The blocks of a page in one language."""
    return [text for name, text in BLOCK.findall(page.read_text(encoding="utf-8")) if name == kind]


def printed(page: Path) -> dict[str, str]:
    """What pages say that their Python blocks print, by block."""
    return {match["code"]: match["output"] for match in PRINTING.finditer(page.read_text(encoding="utf-8"))}


def session(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, and what the page says that each prints."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@dataclass(frozen=True)
class TableExample:
    """A row of a table: its example, which may be empty, and the text and the code of its result."""

    row: str
    answer: str
    example: str
    result: str

    @property
    def codes(self) -> list[str]:
        """What is printed or returned."""
        return CODE.findall(self.result)

    @property
    def exit_code(self) -> int:
        """The exit code of a command."""
        stated = re.search(r"exit (\d+)", CODE.sub("", self.result))
        return int(stated[1]) if stated else 0


def table_examples(page: Path) -> dict[str, list[TableExample]]:
    """The rows of the tables of a page, by second-level heading."""
    sections: dict[str, list[TableExample]] = {}
    heading, is_table = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        heading = line.removeprefix("## ") if line.startswith("## ") else heading
        is_table = line == TABLE or (is_table and line.startswith("|"))
        if is_table and line != TABLE and not line.startswith("|--"):
            asked, answer, example, result = (cell.strip() for cell in line.strip("|").split("|"))
            sections.setdefault(heading, []).append(TableExample(asked, answer, example.strip("`"), result))
    return sections


def shown(expected: str, stdout: str, stderr: str) -> str:
    """What a page shows of a command: its output, or its messages if it prints nothing else."""
    return stdout if not expected or stdout else stderr


def environment() -> dict[str, str]:
    """Environment variables for examples: a terminal of 80 columns, without color."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": WIDTH}
