"""Two files of scores with a million rows each: `compare`, next to polars that only reads the same files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankgauge import Reading
from rankgauge.comparison import compare_evaluation
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.given_scores import evaluate_scores, only_scores

ROWS, REPEATS, SEED = 1_000_000, 3, 20261
RESAMPLES = 100  # the cost of a test is another one


def write(path: Path, rows: int, rng: np.random.Generator) -> None:
    """A wide table with two measures of ours, one foreign column and a group."""
    values = rng.random((rows, 3)).round(6).tolist()
    lines = (f"q{row:07},{a},{b},{c},g{row % 7}\n" for row, (a, b, c) in enumerate(values))
    path.write_text("query,nDCG@10,RR,faithfulness,kind\n" + "".join(lines))


def fastest(work: Callable[[], object]) -> float:
    """The shortest of several times, in seconds."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the times and their ratio."""
    import polars

    from rankgauge.comparison.statistics_options import Statistics

    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("before.csv", "after.csv")]
        for path in paths:
            write(path, ROWS, rng)

        def read() -> object:
            return only_scores(None, paths, Reading())

        def compared() -> object:
            systems = only_scores(None, paths, Reading())
            assert systems is not None
            evaluation = evaluate_scores(systems, "RR", Conventions())
            return compare_evaluation(evaluation, statistics=Statistics(resamples=RESAMPLES))

        columns = fastest(lambda: [polars.read_csv(path) for path in paths])
        rows = fastest(lambda: [polars.read_csv(path).rows() for path in paths])
        ours, whole = fastest(read), fastest(compared)
    print(f"two files of {ROWS:,} rows: polars reads them in {columns:.2f} s, into Python rows in {rows:.2f} s")
    print(f"rankgauge reads them in {ours:.2f} s ({ours / rows:.1f} x polars with rows), compares in {whole:.2f} s")


if __name__ == "__main__":
    main()
