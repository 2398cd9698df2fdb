"""What loading test cases costs, next to a plain loop over the same file.

    python -m benchmarks.cases

Writes 100,000 cases as JSON Lines to a temporary folder and prints the CPU seconds of
``[(c["query"], c["relevant"]) for c in map(json.loads, file)]``, of ``read_qrels`` (which also checks the ids, keeps
the columns and builds the judgments) and of ``read_cases``, the best of several rounds. Labels should take at most
twice the time of the loop.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from rankgauge import read_qrels
from rankgauge.rag.cases import read_cases

CASES, ROUNDS = 100_000, 5


def write_cases(path: Path) -> None:
    """Cases with an id, a text, two documents and a column."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(CASES):
            docs = [f"doc-{number % 5000}", f"doc-{number % 777}"]
            case = {"id": f"q{number}", "query": f"how do I set option {number} of the service?", "relevant": docs}
            file.write(json.dumps({**case, "category": "setup"}) + "\n")


def plain_loop(path: Path) -> list[tuple[str, list[str]]]:
    """What a program of one's own would do."""
    with path.open(encoding="utf-8") as file:
        return [(case["query"], case["relevant"]) for case in map(json.loads, file)]


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds of the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        write_cases(path)
        loop = seconds(lambda: plain_loop(path))
        print(f"{'plain loop':12} {loop:6.2f} s")
        for name, read in (("read_qrels", read_qrels), ("read_cases", read_cases)):
            own = seconds(lambda read=read: read(path))  # type: ignore[misc]  # a default that binds the function
            print(f"{name:12} {own:6.2f} s  {own / loop:4.1f} times the loop")


if __name__ == "__main__":
    main()
