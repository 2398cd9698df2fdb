"""What the HTML report costs on top of a comparison, and how large it is: ``python -m benchmarks.page``.

Five runs of 100 results per query are compared without and with ``--html``, in turns, each in a process of its own. The
rows show CPU seconds (the best round) and the size of the page.

    python -m benchmarks.page --queries 1000,6980 --repeat 3
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SYSTEMS = ("bm25", "splade", "dense", "hybrid", "rerank")
CORPUS, DEPTH, SHARE_FOUND = 8_800_000, 100, 0.85


def main() -> None:
    """Measure each number of queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", default="1000,6980")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = [("queries", "compare, s", "with --html, s", "more, s", "page, KB")]
    for queries in map(int, options.queries.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(_measured(Path(folder), queries, options.repeat))
    for row in rows:
        print(*(f"{cell:>15}" for cell in row))


def _measured(folder: Path, queries: int, repeat: int) -> tuple[str, ...]:
    write(folder, queries)
    command = ["compare", "qrels.txt", *(f"{name}.run" for name in SYSTEMS)]
    rounds = [(_seconds(folder, command), _seconds(folder, [*command, "--html", "page.html"])) for _ in range(repeat)]
    plain, page = (min(times) for times in zip(*rounds, strict=True))
    size = (folder / "page.html").stat().st_size
    return f"{queries:,}", f"{plain:.2f}", f"{page:.2f}", f"{page - plain:.2f}", f"{size / 1000:.0f}"


def _seconds(folder: Path, arguments: list[str]) -> float:
    """CPU seconds of one command."""
    before = os.times()
    command = [sys.executable, "-m", "rankgauge", *arguments]
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def write(folder: Path, queries: int) -> None:
    """One relevant document per query; each system ranks it higher than the one before."""
    rng = np.random.default_rng(1)
    relevant = rng.integers(0, CORPUS, queries).tolist()
    pools = [rng.choice(CORPUS, 2 * DEPTH, replace=False) for _ in range(queries)]
    lines = (f"{1_000_000 + query} 0 {doc} 1\n" for query, doc in enumerate(relevant))
    (folder / "qrels.txt").write_text("".join(lines))
    for number, system in enumerate(SYSTEMS):
        with (folder / f"{system}.run").open("w") as file:
            for query, (pool, doc) in enumerate(zip(pools, relevant, strict=True)):
                order = np.argsort(np.arange(2 * DEPTH) / 2 + rng.exponential(DEPTH / 3, 2 * DEPTH))
                docs = [other for other in pool[order[:DEPTH]].tolist() if other != doc]
                if rng.random() < SHARE_FOUND:
                    docs.insert(min(int(rng.exponential(8 - number)), DEPTH - 1), doc)
                file.writelines(
                    f"{1_000_000 + query} Q0 {other} {rank} {30 - rank / 20:.6f} {system}\n"
                    for rank, other in enumerate(docs[:DEPTH], 1)
                )


if __name__ == "__main__":
    main()
