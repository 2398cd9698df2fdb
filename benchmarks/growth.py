"""How time grows with the size of the input, one dimension at a time: ``python -m benchmarks.growth``.

Each line doubles one dimension and keeps the others small. The exponent is the slope of log(seconds) over log(size)
between the last sizes: 1 is linear, 2 is quadratic. Whole commands are called in this process, so that reading,
joining, measuring, testing and rendering all count. Exit code 1 if an exponent is above the limit.

    python -m benchmarks.growth --only groups,measures --steps 5

``--worst`` measures inputs that are made to be slow: ties, duplicates, all rows in one query, one row in each query,
long ids, paths into an answer, headings without text, and quotes that no chunk has but for one word. ``--scale 16``
goes up to 5 million rows in a query, a million queries, and ids of 100,000 characters; the default takes a minute.

    python -m benchmarks.growth --worst --scale 16

With ``--millions``, instead: time and memory of whole processes on files of that many million rows.

    python -m benchmarks.growth --millions 1,10,50     # 50 needs 2 GB of disk
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import math
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.rows import print_rows
from rankgauge.cli.main import run
from rankgauge.config.json_paths import parse_selector
from rankgauge.io import ChunkedCorpus, Chunking, read_corpus, write_chunks

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


Work = Callable[[], object]


def command(*words: object) -> Work:
    """A call of a whole command."""

    def call() -> None:
        texts = [str(word) for word in words]
        code = run(texts)
        if code:
            raise SystemExit(f"exit code {code}: rankgauge {' '.join(texts[:4])} …")

    return call


def _one_query(folder: Path, size: int, score: Callable[[int], float], doc: Callable[[int], int]) -> tuple[Path, Path]:
    qrels, ranking = folder / "qrels", folder / "run"
    qrels.write_text("".join(f"q 0 d{number} {number % 2}\n" for number in range(100)))
    with ranking.open("w") as file:
        file.writelines(f"q Q0 d{doc(row)} {row} {score(row)} r\n" for row in range(size))
    return qrels, ranking


def ties(folder: Path, size: int) -> Work:
    """One query whose documents all have the same score."""
    return command("evaluate", *_one_query(folder, size, lambda row: 1, lambda row: row), "--format", "json")


def duplicates(folder: Path, size: int) -> Work:
    """One query with the same hundred documents again and again."""
    files = _one_query(folder, size, lambda row: -row, lambda row: row % 100)
    return command("evaluate", *files, "--set", "reading.on_duplicate=first", "--format", "json")


def one_query(folder: Path, size: int) -> Work:
    """All rows in one query, shuffled."""
    files = _one_query(folder, size, lambda row: row * 7919 % size, lambda row: row)
    return command("evaluate", *files, "--format", "json")


def single_rows(folder: Path, size: int) -> Work:
    """One row in each query."""
    return command(*Data(queries=size, depth=1, judged=1).write(folder))


def long_ids(folder: Path, size: int) -> Work:
    """Few ids, each of them long."""
    return command(*Data(queries=5, depth=10, judged=5, id_length=size).write(folder))


def selectors(folder: Path, size: int) -> Work:
    """A long path into an answer, and one with a wildcard over many results."""
    deep: object = 1
    for _ in range(size // 1000):
        deep = {"a": deep}
    answer = {"hits": [{"id": number, "tags": ["x"]} for number in range(size)], "deep": deep}
    path = ".".join(["deep", *["a"] * (size // 1000)])

    def select() -> None:
        parse_selector("hits[*].id").select(answer)
        parse_selector("hits[*].tags[*]").select(answer)
        parse_selector(path).select(answer)

    return select


def headings(folder: Path, size: int) -> Work:
    """A file of headings without any text."""
    (folder / "docs").mkdir()
    (folder / "docs/a.md").write_text("# a\n" * size)
    chunks = ChunkedCorpus(read_corpus(folder / "docs"), Chunking("headings"))
    return lambda: write_chunks(chunks, folder / "chunks.jsonl")


def quotes(folder: Path, size: int) -> Work:
    """As many quotes as chunks, all alike but for one word, which is never the same."""
    sentence = "The limit of plan {} is 500 requests per minute, and it can be raised on request."
    words = [hashlib.sha256(str(number).encode()).hexdigest()[:12] for number in range(2 * size)]
    texts = [sentence.format(word) for word in words]
    gold, chunks = folder / "gold.jsonl", folder / "chunks.jsonl"
    gold.write_text(
        "".join(json.dumps({"query_id": f"q{n}", "gold": [text]}) + "\n" for n, text in enumerate(texts[:size]))
    )
    found = [*texts[size:], texts[0]]  # one quote is there, or it would be an error
    chunks.write_text("".join(json.dumps({"_id": f"c{n}", "text": text}) + "\n" for n, text in enumerate(found)))
    return command("labels", "resolve", gold, "--chunks", chunks, "-o", folder / "out")


WORST: dict[str, tuple[int, Callable[[Path, int], Work]]] = {
    "ties": (20_000, ties),
    "duplicates": (20_000, duplicates),
    "one query": (20_000, one_query),
    "single rows": (4_000, single_rows),
    "long ids": (400, long_ids),
    "selectors": (8_000, selectors),
    "headings": (4_000, headings),
    "quotes": (500, quotes),
}


def seconds_of(data: Data) -> float:
    """User seconds of the command, without making its files."""
    return seconds_of_work(lambda folder: command(*data.write(folder)))


def seconds_of_work(make: Callable[[Path], Work]) -> float:
    """User seconds of some work, without making its files."""
    with tempfile.TemporaryDirectory() as folder:
        work = make(Path(folder))
        with _silence():
            start = user_seconds()
            work()
            return user_seconds() - start


def user_seconds() -> float:
    """Of this process and its children; what the system needs to provide memory varies too much."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Throw the output away."""
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
        yield


def growth(name: str, steps: int, scale: int = 1) -> list[tuple[int, float]]:
    """The size and the user seconds of each step, each the best of a few."""
    first = WORST[name][0] if name in WORST else DIMENSIONS[name][0]
    sizes = [first * scale * 2**step for step in range(steps)]
    return [(size, min(_seconds(name, size) for _ in range(REPEAT))) for size in sizes]


def _seconds(name: str, size: int) -> float:
    if name in WORST:
        return seconds_of_work(lambda folder: WORST[name][1](folder, size))
    return seconds_of(DIMENSIONS[name][1](Data(), size))


def exponent(points: Sequence[tuple[int, float]], overhead: float) -> float:
    """The slope over the last two doublings, without what a command costs on next to no data."""
    (size, seconds), (last_size, last_seconds) = points[-3:][0], points[-1]
    grown = max(last_seconds - overhead, 1e-3) / max(seconds - overhead, 1e-3)
    return math.log(grown) / math.log(last_size / size)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if something grows too fast."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description="How time grows with the input.")
    parser.add_argument("--only", metavar="NAME,…", help=", ".join([*DIMENSIONS, *WORST]))
    parser.add_argument("--worst", action="store_true", help="inputs that are made to be slow, in place of plain ones")
    parser.add_argument("--scale", type=int, default=1, metavar="N", help="begin with N times the size; 1")
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
    for name in asked.only.split(",") if asked.only else WORST if asked.worst else DIMENSIONS:
        points = growth(name, asked.steps, asked.scale)
        slope = exponent(points, 0.0 if name == "selectors" else overhead)  # which is not a command
        cells = "  ".join(f"{size:>8,}: {seconds:7.3f} s" for size, seconds in points)
        print(f"{name:<16} exponent {slope:5.2f}   {cells}", flush=True)
        too_fast += [name] if slope > LIMIT else []
    if too_fast:
        print(f"faster than linear: {', '.join(too_fast)}", file=sys.stderr)
    return int(bool(too_fast))


if __name__ == "__main__":
    sys.exit(main())
