"""What loading test cases and logs costs, next to a plain loop over the same file.

    python -m benchmarks.cases

Writes 100,000 cases as JSON Lines to a temporary folder and prints the CPU seconds of
``[(c["query"], c["relevant"]) for c in map(json.loads, file)]``, of ``read_qrels`` (which also checks the ids, keeps
the columns and builds the judgments) and of ``read_cases``, the best of several rounds. Both should take at most
twice the time of the loop. ``each case`` adds the objects of all cases and their judgments, which are made at their
first use. Then the same of a log with ten results for each query, next to a loop that also takes the results.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from rankgauge import read_qrels, read_run
from rankgauge.rag.cases import read_cases

CASES, ROUNDS, RESULTS = 100_000, 5, 10


def write_cases(path: Path, results: int = 0) -> None:
    """Cases with an id, a text, two documents and a column; with results, a log."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(CASES):
            docs = [f"doc-{number % 5000}", f"doc-{number % 777}"]
            case = {"id": f"q{number}", "query": f"how do I set option {number} of the service?", "relevant": docs}
            retrieved = [f"doc-{(number + rank) % 5000}" for rank in range(results)]
            row = {**case, "category": "setup", **({"retrieved": retrieved} if results else {})}
            file.write(json.dumps(row) + "\n")


def plain_loop(path: Path) -> list[tuple[str, list[str], list[str] | None]]:
    """What a program of one's own would do."""
    with path.open(encoding="utf-8") as file:
        return [(case["query"], case["relevant"], case.get("retrieved")) for case in map(json.loads, file)]


def each_case(path: Path) -> int:
    """Every case with its judgments, as an evaluation of a retriever needs them."""
    cases = read_cases(path)
    return sum(len(cases.judgments[case.id].relevant) for case in cases.cases)


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds of the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure(title: str, path: Path, readers: dict[str, Callable[[Path], object]]) -> None:
    """Print the seconds of the loop, and of each reader."""
    loop = seconds(lambda: plain_loop(path))
    print(f"{title}\n{'plain loop':12} {loop:6.2f} s")
    for name, read in readers.items():
        own = seconds(lambda read=read: read(path))  # type: ignore[misc]  # a default that binds the function
        print(f"{name:12} {own:6.2f} s  {own / loop:4.1f} times the loop")


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        cases, log = Path(folder) / "cases.jsonl", Path(folder) / "log.jsonl"
        write_cases(cases)
        readers: dict[str, Callable[[Path], object]] = {"read_qrels": read_qrels, "read_cases": read_cases}
        measure(f"{CASES:,} test cases", cases, {**readers, "each case": each_case})
        write_cases(log, RESULTS)
        measure(f"a log of {CASES:,} queries, {RESULTS} results each", log, {**readers, "read_run": read_run})


if __name__ == "__main__":
    main()
