"""How time grows with the size of the input, one dimension at a time: ``python -m benchmarks.growth``.

Each line doubles one dimension and keeps the others small. The exponent is the slope of log(seconds) over log(size)
between the last sizes: 1 is linear, 2 is quadratic. Whole commands are called in this process, so that reading,
joining, measuring, testing and rendering all count. Exit code 1 if an exponent is above the limit.

    python -m benchmarks.growth --only groups,measures --steps 5

With ``--millions``, instead: time and memory of whole processes on files of that many million rows.

    python -m benchmarks.growth --millions 1,10,50     # 50 needs 2 GB of disk
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.rows import print_rows
from rankgauge.cli.main import run

LIMIT = 1.5  # sorting, and data that leaves the caches, make a little more than 1
REPEAT = 2


@dataclass(frozen=True)
class Data:
    """The size of an input in every dimension."""

    queries: int = 50
    depth: int = 10
    judged: int = 5
    runs: int = 1
    measures: int = 0  # besides the default ones
    groups: int = 0
    id_length: int = 8
    command: str = "evaluate"

    def write(self, folder: Path) -> list[str]:
        """Write the files, and return the command line that reads them."""
        pad = "x" * max(0, self.id_length - 8)
        with (folder / "qrels").open("w") as file:
            for query in range(self.queries):
                file.writelines(f"{pad}q{query} 0 {pad}d{doc} {doc % 3}\n" for doc in range(self.judged))
        for number in range(self.runs):
            with (folder / f"run{number}").open("w") as file:
                for query in range(self.queries):
                    # Another order in every run and query, so that differences vary.
                    step = 7 + 2 * ((query * (number + 1)) % 5)
                    docs = ((rank * step + query) % (2 * self.depth) for rank in range(self.depth))
                    file.writelines(
                        f"{pad}q{query} Q0 {pad}d{doc} {rank} {self.depth - rank} r{number}\n"
                        for rank, doc in enumerate(dict.fromkeys(docs), 1)
                    )
        words = [self.command, str(folder / "qrels"), *(str(folder / f"run{number}") for number in range(self.runs))]
        for cutoff in range(1, self.measures + 1):
            words += ["-m", f"P@{cutoff}"]
        if self.groups:
            with (folder / "queries.jsonl").open("w") as file:
                for query in range(self.queries):
                    file.write(f'{{"_id": "{pad}q{query}", "text": "", "kind": "g{query % self.groups}"}}\n')
            words += ["--queries", str(folder / "queries.jsonl"), "--by", "kind"]
        return [*words, "--format", "json"]


Scale = Callable[[Data, int], Data]
DIMENSIONS: dict[str, tuple[int, Scale]] = {
    "rows": (2_000, lambda data, size: replace(data, depth=size)),
    "queries": (2_000, lambda data, size: replace(data, queries=size)),
    "judgments": (2_000, lambda data, size: replace(data, judged=size)),
    "runs": (20, lambda data, size: replace(data, runs=size)),
    "compared runs": (4, lambda data, size: replace(data, runs=size, command="compare")),
    "measures": (500, lambda data, size: replace(data, measures=size)),
    "groups": (500, lambda data, size: replace(data, queries=size, groups=size)),
    "compared groups": (50, lambda data, size: replace(data, queries=3 * size, groups=size, runs=2, command="compare")),
    "id length": (500, lambda data, size: replace(data, id_length=size)),
}


def seconds_of(data: Data) -> float:
    """User seconds of the command, without making its files."""
    with tempfile.TemporaryDirectory() as folder:
        words = data.write(Path(folder))
        with _silence():
            start = user_seconds()
            code = run(words)
            seconds = user_seconds() - start
    if code:
        raise SystemExit(f"exit code {code}: rankgauge {' '.join(words[:4])} …")
    return seconds


def user_seconds() -> float:
    """Of this process and its children; what the system needs to provide memory varies too much."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Throw the output away."""
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
        yield


def growth(name: str, steps: int, start: int | None = None) -> list[tuple[int, float]]:
    """The size and the user seconds of each step, each the best of a few."""
    first, scale = DIMENSIONS[name]
    sizes = [(start or first) * 2**step for step in range(steps)]
    return [(size, min(seconds_of(scale(Data(), size)) for _ in range(REPEAT))) for size in sizes]


def exponent(points: Sequence[tuple[int, float]], overhead: float) -> float:
    """The slope over the last two doublings, without what a command costs on next to no data."""
    (size, seconds), (last_size, last_seconds) = points[-3:][0], points[-1]
    grown = max(last_seconds - overhead, 1e-3) / max(seconds - overhead, 1e-3)
    return math.log(grown) / math.log(last_size / size)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if something grows too fast."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="How time grows with the input.")
    parser.add_argument("--only", metavar="NAME,…", help=", ".join(DIMENSIONS))
    parser.add_argument("--steps", type=int, default=5, metavar="N", help="double N − 1 times; 5")
    parser.add_argument("--millions", metavar="N,…", help="time and memory for these of 1, 10 and 50 million rows")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds of --millions; the best is shown")
    asked = parser.parse_args(arguments)
    if asked.millions:
        print_rows(map(int, asked.millions.split(",")), asked.repeat)
        return 0
    seconds_of(Data())  # imports
    overhead = min(seconds_of(Data()) for _ in range(REPEAT))
    too_fast = []
    for name in asked.only.split(",") if asked.only else DIMENSIONS:
        points = growth(name, asked.steps)
        slope = exponent(points, overhead)
        cells = "  ".join(f"{size:>8,}: {seconds:7.3f} s" for size, seconds in points)
        print(f"{name:<16} exponent {slope:5.2f}   {cells}", flush=True)
        too_fast += [name] if slope > LIMIT else []
    if too_fast:
        print(f"faster than linear: {', '.join(too_fast)}", file=sys.stderr)
    return int(bool(too_fast))


if __name__ == "__main__":
    sys.exit(main())
