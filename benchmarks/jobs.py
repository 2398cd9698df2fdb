"""The jobs: what is measured, on which data, against what."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass

from benchmarks.data import SHAPES, Shape
from benchmarks.tools import SCRIPT, Tool, find

DEFAULT = ("marco", "robust", "small", "forms", "dicts", "commands", "startup")
FORMS = ("million", "shuffled", "exponents")
NAMES = (*DEFAULT, "big")


@dataclass(frozen=True)
class Job:
    """Several tools that do the same, the one they are compared with, and how often."""

    name: str
    tools: tuple[Tool, ...]
    yardstick: str
    data: tuple[Shape, ...] = ()
    times: int = 1  # rounds for each one asked for: what takes a fifth of a second needs more of them
    warm_up: bool = True


def listed(wanted: Collection[str], tools: Collection[str], peers_python: str) -> list[Job]:
    """The jobs asked for, with those tools that are there."""
    jobs = []
    for name in ("marco", "robust", "small", "big"):
        if name in wanted:
            jobs.append(_from_files(SHAPES[name], tools, peers_python))
    if "forms" in wanted:
        jobs += [_from_files(SHAPES[name], tools, peers_python) for name in FORMS]
    if "dicts" in wanted:
        jobs += [_from_dicts(SHAPES[name], tools, peers_python) for name in ("marco", "robust")]
    if "commands" in wanted and "rankgauge" in tools:
        jobs += [_commands(SHAPES[name]) for name in ("marco", "robust")]
    if "startup" in wanted and "rankgauge" in tools:
        jobs += _start_up()
    return [job for job in jobs if job.tools]


def _from_files(shape: Shape, tools: Collection[str], peers_python: str) -> Job:
    """The whole process, from two files to five means."""
    big = shape.name == "big"
    # By what it takes for marco, ranx would need some 18 GB for big.
    runs = [find(name, shape, peers_python) for name in tools if not (big and name == "ranx")]
    # A round of big takes minutes and its start-up does not show, so there the round that checks counts too.
    return Job(
        f"{shape.name}, files", tuple(runs), "pytrec_eval", (shape,), 2 if shape.name == "small" else 1, warm_up=not big
    )


def _from_dicts(shape: Shape, tools: Collection[str], peers_python: str) -> Job:
    """The evaluation alone; the dicts are loaded before the clock starts."""
    names = [name for name in ("rankgauge", "pytrec_eval", "ranx") if name in tools]
    runs = [find(name, shape, peers_python, "dicts") for name in names]
    return Job(f"{shape.name}, dicts", tuple(runs), "pytrec_eval", (shape,))


def _commands(shape: Shape) -> Job:
    """Other commands that read the same run, against an evaluation."""
    files = (str(shape.qrels), str(shape.run))
    calls = {("evaluate",): files, ("trec_eval",): files, ("runs", "validate"): files[1:]}
    tools = [Tool(" ".join(("rankgauge", *words)), (str(SCRIPT), *words, *read)) for words, read in calls.items()]
    return Job(f"{shape.name}, commands", tuple(tools), "rankgauge evaluate", (shape,))


def _start_up() -> list[Job]:
    """What the command line costs before it does anything, against the import that it cannot do without."""
    small = SHAPES["small"]

    def importing(module: str) -> Tool:
        return Tool(f"import {module}", (sys.executable, "-c", f"import {module}"))

    helped = Tool("rankgauge --help", (str(SCRIPT), "--help"))
    scored = Tool("rankgauge evaluate", (str(SCRIPT), "evaluate", str(small.qrels), str(small.run)))
    return [
        Job("start-up, help", (helped, importing("click")), "import click", times=5),
        Job("start-up, small", (scored, importing("numpy")), "import numpy", (small,), times=5),
    ]
