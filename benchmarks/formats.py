"""What a run costs in each text format, beside what a program needs that only reads the file.

    python -m benchmarks.formats [--repeat 3] [--peers-python PATH]

A million rows as JSON Lines, as one JSON object, and as CSV with and without quotation marks. rankgauge reads, checks,
ranks and scores them (nDCG@10 and AP); the others only read: a loop over ``json.loads``, ``json.load``, orjson,
msgspec, ``polars.read_csv``, ``pyarrow.csv.read_csv``. Whole processes with their imports, in turns; the best round.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import data
from benchmarks.measure import Cost, Failed, cost
from benchmarks.tools import default_peers_python

SHAPE = data.SHAPES["million"]
FOLDER = data.HERE / "formats"
EVALUATE = "import sys, rankgauge; print(rankgauge.evaluate(sys.argv[1], sys.argv[2], ['nDCG@10', 'AP']))"
LOOP = "import sys, json\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"
READERS: dict[str, dict[str, str]] = {
    "jsonl": {
        "json.loads loop": LOOP,
        "orjson loop": LOOP.replace("json", "orjson"),
        "msgspec loop": "import sys, msgspec\nfor line in open(sys.argv[1], 'rb'): msgspec.json.decode(line)",
    },
    "json": {
        "json.load": "import sys, json\njson.load(open(sys.argv[1]))",
        "orjson.loads": "import sys, orjson\norjson.loads(open(sys.argv[1], 'rb').read())",
    },
    "csv": {
        "polars": "import sys, polars\npolars.read_csv(sys.argv[1])",
        "pyarrow": "import sys, pyarrow.csv\npyarrow.csv.read_csv(sys.argv[1])",
    },
}
READERS["quoted.csv"] = READERS["csv"]
STANDARD = ("json.loads loop", "json.load")  # of the Python that runs this
Row = tuple[str, str, str]  # query, document and score, as text


def main() -> None:
    """Make the data, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds; the best is shown")
    parser.add_argument("--peers-python", default=default_peers_python(), metavar="PATH", help="has the libraries")
    options = parser.parse_args()
    data.make(SHAPE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| format | program | CPU s | × the first | peak MB |\n|---|---|---|---|---|")
    for format, readers in READERS.items():
        path = FOLDER / f"run.{format}"
        if not path.exists():
            _write(format, path)
        commands = {
            name: [sys.executable if name in STANDARD else options.peers_python, "-c", code, str(path)]
            for name, code in readers.items()
        }
        commands["rankgauge"] = [sys.executable, "-c", EVALUATE, str(SHAPE.qrels), str(path)]
        _print_costs(format, commands, options.repeat)


def _print_costs(format: str, commands: dict[str, list[str]], repeat: int) -> None:
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            try:
                costs[name].append(cost(command, dict(os.environ)))
            except Failed as failure:
                print(f"{name} on {format}: {failure}", file=sys.stderr)
    yardstick = min(one.cpu for one in next(found for found in costs.values() if found))
    for name, found in costs.items():
        if found:
            cpu, peak = min(one.cpu for one in found), min(one.peak for one in found)
            print(f"| {format} | {name} | {cpu:.2f} | {cpu / yardstick:.2f} | {peak:.0f} |")


def _rows() -> Iterator[Row]:
    with SHAPE.run.open() as lines:
        for line in lines:
            query, _, doc, _, score, _ = line.split()
            yield query, doc, score


def _write(format: str, path: Path) -> None:
    temporary = path.with_suffix(".new")
    writers: dict[str, Callable[[], Iterator[str]]] = {
        "jsonl": lambda: (f'{{"query_id": "{q}", "doc_id": "{d}", "score": {float(s)}}}\n' for q, d, s in _rows()),
        "json": _mapping,
        "csv": lambda: _csv("query_id,doc_id,score\n", "{},{},{}\n"),
        "quoted.csv": lambda: _csv('"query_id","doc_id","score"\n', '"{}","{}",{}\n'),
    }
    with temporary.open("w") as out:
        out.writelines(writers[format]())
    temporary.replace(path)


def _mapping() -> Iterator[str]:
    results: dict[str, dict[str, float]] = {}
    for query, doc, score in _rows():
        results.setdefault(query, {})[doc] = float(score)
    yield json.dumps(results)


def _csv(header: str, line: str) -> Iterator[str]:
    yield header
    yield from (line.format(*row) for row in _rows())


if __name__ == "__main__":
    main()
