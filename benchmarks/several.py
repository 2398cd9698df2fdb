"""Many runs in one evaluation: read one after the other, and by threads.

    python -m benchmarks.several [--repeat 3] [--only 143,450]

Each line is a process of its own: CPU and wall seconds of ``evaluate_runs`` without imports, the best of the rounds,
and peak memory. The way that rankgauge chooses for runs of this size is marked with an asterisk.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.data import SHAPES, Shape, make
from benchmarks.measure import cost
from rankgauge.io.pipeline.parallel import thread_count

EVALUATE = """
import json, sys, time
from rankgauge import Reading, evaluate_runs
from rankgauge.io.pipeline import parallel
way, qrels, *runs = sys.argv[1:]
parallel.MIN_BYTES_PER_RUN = 1
evaluate_runs(qrels, runs[:1], "nDCG@10")  # imports
wall, cpu = time.perf_counter(), time.process_time()
evaluation = evaluate_runs(qrels, runs, "nDCG@10", reading=Reading(parallel=way == "threads"))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps({"wall": wall, "cpu": cpu, "means": [scores["nDCG@10"] for scores in evaluation.scores]}))
"""
WAYS = ("in turn", "threads")
QUERIES = 50


@dataclass(frozen=True)
class Collection:
    """Runs of 50 queries and this depth, each from another rank on; or the whole run of a shape several times."""

    shape: Shape
    runs: int
    depth: int | None = None

    def write(self, folder: Path) -> list[str]:
        """Write judgments and runs, and return their paths."""
        if self.depth is None:
            return [str(self.shape.qrels), *[str(self.shape.run)] * self.runs]
        with self.shape.qrels.open("rb") as lines:
            (folder / "qrels").write_bytes(b"".join(islice(lines, QUERIES * self.shape.judged)))
        with self.shape.run.open("rb") as lines:
            queries = [list(islice(lines, self.shape.depth)) for _ in range(QUERIES)]
        paths = [folder / f"run{number}" for number in range(self.runs)]
        for number, path in enumerate(paths):
            begin = number % (self.shape.depth - self.depth)
            path.write_bytes(b"".join(line for rows in queries for line in rows[begin : begin + self.depth]))
        return [str(folder / "qrels"), *map(str, paths)]


COLLECTIONS = (
    Collection(SHAPES["robust"], 143, 550),
    Collection(SHAPES["robust"], 450, 80),
    Collection(SHAPES["robust"], 1000, 100),
    Collection(SHAPES["marco"], 4),
)


def main() -> None:
    """Make the data, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds; the best is shown")
    parser.add_argument("--only", metavar="N,…", help="numbers of runs: 143, 450, 1000, 4")
    options = parser.parse_args()
    print(f"{'runs':>6}{'MB each':>9}{'way':>11}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}")
    for collection in COLLECTIONS:
        if options.only and str(collection.runs) not in options.only.split(","):
            continue
        make(collection.shape)
        with tempfile.TemporaryDirectory() as folder:
            _measure(*collection.write(Path(folder)), repeat=options.repeat)


def _measure(qrels: str, *runs: str, repeat: int) -> None:
    sizes = [Path(run).stat().st_size for run in runs]
    chosen = WAYS[thread_count(sizes, os.cpu_count() or 1) > 1]
    rounds = []
    for _ in range(repeat):
        costs = [cost([sys.executable, "-c", EVALUATE, way, qrels, *runs], dict(os.environ)) for way in WAYS]
        rounds.append([(json.loads(one.output), one.peak) for one in costs])
    means = {json.dumps(figures["means"]) for measured in rounds for figures, _ in measured}
    if len(means) != 1:
        raise SystemExit("the ways give different means")
    for way, measured in zip(WAYS, zip(*rounds, strict=True), strict=True):
        cpu, wall = (min(figures[name] for figures, _ in measured) for name in ("cpu", "wall"))
        peak = min(peak for _, peak in measured)
        name = f"{way} *" if way == chosen else way
        size = sum(sizes) / len(sizes) / 1e6
        print(f"{len(runs):>6}{size:>9.2f}{name:>11}{cpu:>8.2f}{wall:>8.2f}{peak:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
