"""``python -m tests.faults.driver``: break every write path at every operation, and look at what is left.

Each trial is a forked process on a fresh copy of a folder that holds the old content. It ends as an error, a signal or
a kill at one operation (see ``injection``), or at a limit on the size of files, which also reaches writes of libraries.
Then:

- each target has its old content or its complete new content;
- after an error or a signal there is a message and an exit code, no traceback, and no temporary file;
- after exit code 0 the content is the new one;
- the same command, run again, succeeds and writes the new content.

    python -m tests.faults.driver --limit 0          every operation of every scenario: minutes
    python -m tests.faults.driver --only fetch
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from rankgauge.benchmark.folder import REPLACED_SUFFIX
from rankgauge.cli.process import EXIT_SYSTEM
from tests.faults.injection import KILLED, Action, Fault, Moment, inject
from tests.faults.scenarios import SCENARIOS, Content, Scenario, write_collection

EVENTS: tuple[tuple[Action, Moment], ...] = (
    ("kill", "before"), ("kill", "half"), ("kill", "after"), ("error", "before"), ("full", "half"),
    ("interrupt", "before"),
)  # fmt: skip
INTERRUPTED = 130
SIZE_LIMITS = (0, 1, 100, 1000, 3000, 5000, 10_000, 20_000)
LEFT_BY_A_KILL = (".tmp", ".old", REPLACED_SUFFIX, ".journal", ".partial")  # until they are swept
LOADED_ONCE = (  # rather than in every process
    "rankgauge.retrieval.engines.lexical", "rankgauge.render.html.page", "rankgauge.render.documents.scores",
    "scipy.stats",
    "rankgauge.cli.commands.benchmark", "rankgauge.cli.commands.fetch", "rankgauge.cli.commands.gate",
    "rankgauge.cli.commands.evaluate", "rankgauge.cli.commands.convert", "jinja2", "bm25s", "Stemmer",
    "rankgauge.cli.commands.compare", "rankgauge.cli.commands.pool", "rankgauge.config.config_file",
    "rankgauge.cli.commands.judge", "rankgauge.cli.command_tree", "rankgauge.cli.process",
    "rankgauge.rag.live",
)  # fmt: skip
MESSAGE = re.compile(r"^error: (?P<path>[^:\n]+): cannot write: [^\n]+\nhint: [^\n]+", re.MULTILINE)
Trial = tuple[str, Callable[[], None]]


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    errors: str

    @property
    def was_killed(self) -> bool:
        """By the injected fault."""
        return self.code == KILLED


def in_child(folder: Path, version: str, prepare: Callable[[], None], call: Callable[[], object]) -> Ended:
    """Run a function in a forked process, in a folder."""
    reader, writer = os.pipe()  # a file would be subject to the limits of the process
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            os.chdir(folder)
            os.environ["FAULTS_VERSION"] = version
            os.environ["TMPDIR"] = str(folder.parent)
            tempfile.tempdir = str(folder.parent)
            sys.path.insert(0, str(folder))
            prepare()
            result = call()
            code = result if isinstance(result, int) else 0
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as output:
        printed = output.read().decode("utf-8", "replace")
    return Ended(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed)


def fresh_folder(path: Path, start: Path) -> Path:
    """A copy of the start."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(start, path)
    return path


class Campaign:
    """All trials of one scenario."""

    def __init__(self, name: str, scenario: Scenario, workspace: Path) -> None:
        self.name, self.scenario, self.workspace = name, scenario, workspace
        self.start, self.trial = workspace / "start", workspace / "trial"
        shutil.rmtree(self.start, ignore_errors=True)
        self.start.mkdir(parents=True)
        write_collection(self.start)
        if not scenario.starts_empty:
            self._succeed(self.start, "old")
        self.old = scenario.read(self.start)
        self.inputs = {path.name for path in self.start.iterdir()} | {"__pycache__"}
        fresh_folder(self.trial, self.start)
        operations = self.trial.with_suffix(".operations")
        fault = Fault()

        def counted() -> int:
            code = scenario.command()
            text = "\n".join(line.replace("\n", " ") for line in fault.operations)
            descriptor = os.open(operations, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.write(descriptor, text.encode())
            return code

        ended = in_child(self.trial, "new", lambda: inject(fault), counted)
        assert ended.code == 0, ended.errors
        self.operations = operations.read_text(encoding="utf-8").splitlines()
        self.new = scenario.read(self.trial)
        assert self.new is not None
        assert self.new != self.old, "the scenario changes nothing"
        assert self.operations, "no operation was seen"

    def _succeed(self, folder: Path, version: str) -> None:
        ended = in_child(folder, version, lambda: None, self.scenario.command)
        assert ended.code == 0, f"{self.name}: {ended.errors}"

    def trials(self) -> Iterator[Trial]:
        """Every fault at every operation, and every size limit."""
        for index, operation in enumerate(self.operations):
            for action, moment in EVENTS:
                if moment == "half" and not operation.startswith("write "):
                    continue
                fault = Fault(index, moment, action)
                yield f"{action} {moment} {operation}", lambda fault=fault: inject(fault)  # type: ignore[misc]  # bound
        for size in SIZE_LIMITS:
            yield f"files of at most {size} bytes", lambda size=size: limit_files(size)  # type: ignore[misc]  # bound

    def check(self, prepare: Callable[[], None]) -> None:
        """One trial."""
        folder, scenario = fresh_folder(self.trial, self.start), self.scenario
        ended = in_child(folder, "new", prepare, scenario.command)
        self._check_content(folder, ended)
        names = {path.name for path in folder.iterdir()}
        if not ended.was_killed:
            assert "Traceback" not in ended.errors, ended.errors
            if ended.code == INTERRUPTED:
                assert "interrupted\n" in ended.errors, ended.errors
            elif ended.code:
                self._check_message(ended)
            left = {name for name in names - self.inputs if name.startswith(".") and name.endswith(".tmp")}
            assert not left, f"left behind: {left}"
        for name in names - self.inputs - set(scenario.targets):
            assert name.endswith(LEFT_BY_A_KILL), f"left behind: {name}"
        self._succeed(folder, "new")
        assert self._read(folder) == self.new, "the next run wrote something else"
        left = {path.name for path in folder.iterdir()} - self.inputs - set(scenario.targets)
        assert not left, f"not removed by the next run: {left}"
        is_valid = in_child(folder, "new", lambda: None, lambda: 0 if scenario.is_valid() else 1)
        assert is_valid.code == 0, is_valid.errors

    def _check_message(self, ended: Ended) -> None:
        """A failure of the system names a file, and says what to do."""
        found = MESSAGE.search(ended.errors)
        assert found is not None, ended.errors
        assert ended.code == EXIT_SYSTEM, f"exit code {ended.code}: {ended.errors}"
        names = (*self.scenario.targets, "standard output", "temporary file", tempfile.gettempdir(), ".")
        assert any(name in found["path"] for name in names), found["path"]

    def _check_content(self, folder: Path, ended: Ended) -> None:
        content = self._read(folder)
        allowed = [self.old, self.new, *([None] if self.scenario.may_be_absent else [])]
        if not ended.was_killed and ended.code == 0:
            allowed = [self.new]
        if content == self.old and self.scenario.starts_empty:
            return
        assert content in allowed, f"half-written: {sorted(content or {})} (exit code {ended.code})\n{ended.errors}"

    def _read(self, folder: Path) -> Content | None:
        return self.scenario.read(folder)


def limit_files(size: int) -> None:
    """Let no file of this process grow beyond a size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if one found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.driver")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), help="only this scenario; repeatable")
    parser.add_argument("--limit", type=int, default=0, help="trials of each scenario, chosen at random; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    for name in LOADED_ONCE:
        import_module(name)
    gc.freeze()  # a collection in a fork would copy all of it
    found = total = 0
    with tempfile.TemporaryDirectory(prefix="faults-") as workspace:
        for name in asked.only or SCENARIOS:
            campaign = Campaign(name, SCENARIOS[name], Path(workspace).resolve() / "work")
            trials = list(campaign.trials())
            chosen = (
                trials if not asked.limit else random.Random(asked.seed).sample(trials, min(asked.limit, len(trials)))
            )
            for label, prepare in chosen:
                try:
                    campaign.check(prepare)
                except AssertionError as error:
                    found += 1
                    sys.stdout.write(f"{name}: {label}: {error}\n")
            total += len(chosen)
            sys.stdout.write(f"{name}: {len(chosen)} of {len(trials)} trials, {len(campaign.operations)} operations\n")
            sys.stdout.flush()
    sys.stdout.write(f"{len(asked.only or SCENARIOS)} write paths, {total} trials, {found} findings\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
