"""The tools and how each is called; what a job is made of."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.data import Shape
from benchmarks.worker import MEASURES, TREC

WORKER = Path(__file__).parent / "worker.py"
SCRIPT = Path(sys.executable).parent / "rankgauge"
EXACT, FOUR_DIGITS = 1e-6, 5.1e-5  # trec_eval prints four

Source = Literal["files", "dicts"]
# Tool → what to install for it, in the order of the table. The rest come with rankgauge or with the system.
PEERS = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir_measures", "ranx": "ranx"}
NAMES = ("rankgauge", "rankgauge-api", *PEERS, "trec_eval", "wc")


@dataclass(frozen=True)
class Tool:
    """One way to do a job."""

    name: str
    command: tuple[str, ...]
    check: tuple[str, ...] | None = None  # where what is timed does not print the means in full
    read_means: Callable[[str], dict[str, float]] | None = None
    tolerance: float = EXACT
    times_itself: bool = False


def default_peers_python() -> str:
    """The Python that has the peers: that of ``make bench`` if there is one, else this one."""
    own = Path(__file__).parent / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def find(name: str, shape: Shape, peers_python: str, source: Source = "files") -> Tool:
    """The tool, to be run on the files of a data set."""
    files = (str(shape.qrels), str(shape.run))
    match name:
        case "rankgauge" if source == "files":
            command = (str(SCRIPT), "evaluate", *files, *(word for m in MEASURES for word in ("-m", m)))
            return Tool(name, command, check=(*command, "--format", "json"), read_means=_from_cli)
        case "trec_eval":
            measures = ("-m", "ndcg_cut.10", "-m", "map", "-m", "recip_rank", "-m", "P.10", "-m", "recall.100")
            binary = os.environ["TREC_EVAL"]
            return Tool(name, (binary, "-c", *measures, *files), read_means=_from_trec, tolerance=FOUR_DIGITS)
        case "wc":
            return Tool(name, ("wc", "-l", *files))
    python = sys.executable if name.startswith("rankgauge") else peers_python
    command = (python, "-P", str(WORKER), name.removesuffix("-api"), source, *files)
    return Tool(name, command, read_means=_from_worker, times_itself=source == "dicts")


def missing(name: str, versions: dict[str, str | None], peers_python: str) -> str | None:
    """Why a tool cannot run here, if it cannot, and what to do about it."""
    if name in PEERS and versions[PEERS[name]] is None:
        return f"{name} is not there: {peers_python} -m pip install {PEERS[name]}"
    if name == "trec_eval" and not shutil.which(os.environ.get("TREC_EVAL", "")):
        return "trec_eval is not there: set TREC_EVAL to its binary"
    if name == "rankgauge" and not SCRIPT.exists():
        return f"{SCRIPT} is not there: {sys.executable} -m pip install -e ."
    return None


def _from_worker(output: str) -> dict[str, float]:
    means: dict[str, float] = json.loads(output)["means"]
    return means


def _from_cli(output: str) -> dict[str, float]:
    return {name: float(found["value"]) for name, found in json.loads(output)["runs"][0]["measures"].items()}


def _from_trec(output: str) -> dict[str, float]:
    printed = {name: value for name, _, value in (line.split() for line in output.splitlines())}
    return {name: float(printed[theirs]) for name, theirs in TREC.items()}
