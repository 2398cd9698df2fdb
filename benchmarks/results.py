"""Figures beside their yardstick, and the file that keeps them with all that is needed to read them later."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.agree import disagreements
from benchmarks.jobs import Job
from benchmarks.measure import Figures

HERE = Path(__file__).parent
LATEST = HERE / "results" / "latest.json"


@dataclass(frozen=True)
class Row:
    """One tool in one job. A ratio of 0.5 is half of what the yardstick needed."""

    tool: str
    cpu: float | None
    peak: float | None
    cpu_ratio: float | None
    peak_ratio: float | None
    agrees: bool | None
    warning: str | None
    first: float | None
    rounds: tuple[float, ...]
    means: dict[str, float]


@dataclass(frozen=True)
class Result:
    """One job."""

    job: str
    yardstick: str
    rows: tuple[Row, ...]


def result(job: Job, figures: Sequence[Figures]) -> Result:
    """Compare each tool with the yardstick of its job."""
    differs = disagreements(job, figures)
    base = next((one for one in figures if one.tool == job.yardstick), Figures(job.yardstick))
    rows = tuple(
        Row(
            tool=one.tool,
            cpu=one.cpu,
            peak=one.peak,
            cpu_ratio=_ratio(one.cpu, base.cpu),
            peak_ratio=_ratio(one.peak, base.peak),
            agrees=one.tool not in differs if one.means else None,
            warning=one.failure or differs.get(one.tool),
            first=one.first,
            rounds=one.rounds,
            means=one.means,
        )
        for one in figures
    )
    return Result(job.name, job.yardstick, rows)


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def about(versions: dict[str, str | None], peers_python: str) -> dict[str, Any]:
    """Where, when and with what it was measured."""
    return {
        "schema": "rankgauge.benchmarks/1",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "peers_python": peers_python,
        "commit": _commit(),
        "versions": {"rankgauge": metadata.version("rankgauge"), "numpy": metadata.version("numpy"), **versions},
        "units": {"cpu": "seconds, user and system", "peak": "MB", "ratio": "to the yardstick of the job"},
    }


def save(results: Sequence[Result], context: dict[str, Any]) -> Path:
    """Write ``results/latest.json``, under another name first so that a stop never leaves half a file."""
    LATEST.parent.mkdir(exist_ok=True)
    partial = LATEST.with_suffix(".partial")
    partial.write_text(json.dumps({**context, "jobs": [asdict(one) for one in results]}, indent=2) + "\n")
    return partial.replace(LATEST)


def _cpu() -> str:
    """The processor's name: on Linux ``platform`` knows only its architecture."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit, with ``-dirty`` where files differ from it."""
    command = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() or None
    except (OSError, subprocess.CalledProcessError):
        return None
