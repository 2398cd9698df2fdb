"""What commands cost: each in its own process, in turns, the best of several rounds.

CPU seconds rather than wall time, and the least of several, because the machine does other things too; in turns (A, B,
C, A, B, C …) so that a slow minute meets every tool.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.jobs import Job
from benchmarks.tools import Tool

LAUNCHER = Path(__file__).parent / "launch.py"
UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


@dataclass(frozen=True)
class Cost:
    """One process: its output, CPU seconds, and peak memory in MB."""

    output: str
    cpu: float
    peak: float


class Failed(Exception):
    """The command ended with an error; the message is the last thing it said."""


@dataclass(frozen=True)
class Figures:
    """What one tool needed for one job: the best of the rounds, or why there is nothing."""

    tool: str
    cpu: float | None = None
    peak: float | None = None
    first: float | None = None  # CPU of the round before those that count, in which caches are cold
    rounds: tuple[float, ...] = ()
    means: dict[str, float] = field(default_factory=dict)
    failure: str | None = None


def cost(command: Iterable[str], environment: dict[str, str]) -> Cost:
    """Run a command to its end."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures"
        launched = [sys.executable, "-I", "-S", str(LAUNCHER), str(figures), *command]
        done = subprocess.run(launched, capture_output=True, text=True, env=environment, check=False)
        if not figures.exists():
            raise Failed(done.stderr.strip() or "the launcher failed")
        code, cpu, peak = figures.read_text().split()
    if code != "0":
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Failed(f"exit {code}: {said[-1] if said else 'no message'}")
    return Cost(done.stdout, float(cpu), int(peak) * UNIT / 1e6)


def measure(job: Job, environment: dict[str, str], repeat: int, say: Callable[[str], None]) -> list[Figures]:
    """All tools of a job; the first round also reads the means that they found."""
    found = {tool.name: Figures(tool.name) for tool in job.tools}
    rounds = repeat * job.times
    for number in range(rounds + job.warm_up):
        counts = not (job.warm_up and number == 0)
        say(f"{job.name}: " + (f"round {number + 1 - job.warm_up} of {rounds}" if counts else "check"))
        for tool in job.tools:
            if not found[tool.name].failure:
                found[tool.name] = _one_more(found[tool.name], tool, environment, check=number == 0, counts=counts)
    return list(found.values())


def _one_more(so_far: Figures, tool: Tool, environment: dict[str, str], *, check: bool, counts: bool) -> Figures:
    try:
        one = cost(tool.check if check and tool.check else tool.command, environment)
    except Failed as failure:
        return replace(so_far, failure=str(failure))
    cpu = float(json.loads(one.output)["cpu"]) if tool.times_itself else one.cpu
    if check and tool.read_means:
        so_far = replace(so_far, means=tool.read_means(one.output))
    if not counts:
        return replace(so_far, first=cpu)
    rounds = (*so_far.rounds, cpu)
    peak = one.peak if so_far.peak is None else min(so_far.peak, one.peak)
    return replace(so_far, cpu=min(rounds), peak=peak, rounds=rounds)
