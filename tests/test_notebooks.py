"""The notebooks of the documentation run as they are, without a network, and show what is stored in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.needs import require

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NETWORK = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as error:
    assert "this notebook asked for 192.0.2.1" in str(error), error
else:
    raise AssertionError("reached")
pair = socket.socketpair()
"""


def execute(*arguments: str) -> subprocess.CompletedProcess[str]:
    present = all(find_spec(name) is not None for name in ("nbclient", "ipykernel"))
    require("notebooks", present, remedy="pip install nbclient ipykernel")
    command = [sys.executable, "-m", "scripts.execute_notebooks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_they_show_what_is_stored_and_another_output_is_noticed(tmp_path: Path) -> None:
    changed = tmp_path / "changed.ipynb"
    changed.write_text(json.dumps(_notebook("print(1)", "2\n")), encoding="utf-8")
    done = execute("--check", *map(str, NOTEBOOKS), str(changed))
    assert done.returncode == 1, done.stderr
    assert re.findall(r"^--- (.*), stored$", done.stdout, re.MULTILINE) == ["changed.ipynb"], done.stdout + done.stderr
    assert re.search(r'^-.*"2\\n"$', done.stdout, re.MULTILINE)
    assert json.loads(changed.read_text(encoding="utf-8"))["cells"][0]["outputs"][0]["text"] == "2\n"


@pytest.mark.slow
def test_they_cannot_reach_anything() -> None:
    require("notebooks", find_spec("nbclient") is not None)
    code = f"from scripts.execute_notebooks import WITHOUT_NETWORK\nexec(WITHOUT_NETWORK)\n{NETWORK}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_that_differs_between_two_runs_is_stored(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["cells"][0]["source"][0].startswith("# ")
    counts = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    for number, cell in enumerate(notebook["cells"], start=1):
        assert cell["id"] == f"cell-{number:02}"
        assert cell["metadata"] == {}
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr"
            text = json.dumps(output.get("data", output.get("text")))
            assert not re.search(r"0x[0-9a-f]{6}|/tmp|/home|\bms\b|site-packages|<script", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_of_a_notebook_lead_somewhere(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for target in re.findall(r"\]\(([^)#]+)", "".join(cell["source"])) if cell["cell_type"] == "markdown" else []:
            assert target.startswith("http") or (path.parent / target).exists(), target


def _notebook(source: str, output: str) -> dict[str, Any]:
    outputs = [{"name": "stdout", "output_type": "stream", "text": output}]
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": 1, "id": "cell-01", "metadata": {}}
    cell |= {"source": source, "outputs": outputs}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
