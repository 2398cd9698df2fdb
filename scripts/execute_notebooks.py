"""Run the notebooks of docs/notebooks/ and store what they show: ``python -m scripts.execute_notebooks [FILE …]``.

Each runs in an empty folder, and an attempt to reach the network is an error. Outputs are stored without
times and random ids, so that the same code gives the same bytes. With ``--check`` nothing is written: a notebook whose
outputs are not the stored ones is an error, whatever the styles of the views are.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import os
import re
import sys
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TIMEOUT = 120  # seconds of one cell
LATENCY = r"[^;<>]*: latency p50 [^;<>]* max [^;<>]* ms"  # of a live retriever, in a sentence or a line of its own
TIMES = re.compile(rf'<p class="legend">{LATENCY}</p>|{LATENCY};')
STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
# An event of Python for every address that a library asks for; the kernel's own messages do not pass here.
WITHOUT_NETWORK = """
import sys
def refuse(event, details):
    if event in ("socket.connect", "socket.getaddrinfo"):
        host = details[1][0] if event == "socket.connect" and isinstance(details[1], tuple) else details[0]
        if isinstance(host, (str, bytes)) and host not in ("127.0.0.1", "::1", "localhost"):
            raise OSError(f"this notebook asked for {host}")
sys.addaudithook(refuse)
del refuse, sys
"""


def main() -> int:
    """Run the notebooks named as arguments, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="compare with the stored outputs, and write nothing")
    options = parser.parse_args()
    os.environ["RANKGAUGE_PROGRESS"] = "0"  # of a kernel on a slow machine
    paths = options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb"))
    stored = [nbformat.read(path, as_version=4) for path in paths]
    changed = 0
    for path, before, after in zip(paths, stored, asyncio.run(_executed_all(stored)), strict=True):
        old, new = (nbformat.writes(notebook) + "\n" for notebook in (before, after))
        is_same = _comparable(old) == _comparable(new) if options.check else path.read_text(encoding="utf-8") == new
        changed += not is_same
        if options.check and not is_same:
            before_lines, after_lines = (_comparable(text).splitlines() for text in (old, new))
            names = (f"{path.name}, stored", f"{path.name}, now")
            print("\n".join(difflib.unified_diff(before_lines, after_lines, *names, lineterm="")))
        elif not is_same:
            path.write_text(new, encoding="utf-8")
            print(f"changed {path}")
    return 1 if options.check and changed else 0


async def _executed_all(notebooks: list[Any]) -> list[Any]:
    return await asyncio.gather(*map(_executed, notebooks))


async def _executed(notebook: Any) -> Any:
    """A copy with the outputs of a run; raises if a cell fails or writes to standard error."""
    copy = deepcopy(notebook)
    copy.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_NETWORK))
    with tempfile.TemporaryDirectory() as folder:
        # Sockets in a folder: a free port may be taken by another process before the kernel has it.
        place = {} if os.name == "nt" else {"transport": "ipc", "ip": str(Path(folder, ".kernel"))}
        manager = AsyncKernelManager(kernel_name="python3", **place)
        options = {"extra_arguments": ["--log-level=ERROR"], "resources": {"metadata": {"path": folder}}}
        await NotebookClient(copy, km=manager, timeout=TIMEOUT, **options).async_execute()
    del copy.cells[0]
    return normalized(copy)


def normalized(notebook: Any) -> Any:
    """The same without anything that differs between two runs."""
    notebook.metadata = nbformat.from_dict(METADATA)
    count = 0
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                raise RuntimeError(f"cell {number} wrote {output.get('text') or output.get('evalue')}")
            if "execution_count" in output:
                output.execution_count = count
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = TIMES.sub("", output.data["text/html"])
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})
    return notebook


def _comparable(text: str) -> str:
    """A notebook as text without the styles of its views."""
    return STYLE.sub("", text)


if __name__ == "__main__":
    sys.exit(main())
