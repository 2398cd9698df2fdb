"""Runs that are larger than memory: Parquet and TREC, grouped by query and scattered, beside pyarrow and duckdb.

    python -m benchmarks.outofcore [--rows 5] [--repeat 1] [--only parquet,trec] [--alone]    # rows in millions

Each line is a process of its own: CPU seconds, user and system, and peak memory. ``pyarrow`` only reads the three
columns; ``duckdb`` computes nDCG@10 alone, then also looks for documents that appear twice. 50 million rows need 5 GB
of disk, 100 million 10 GB; the folder is deleted afterwards. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from benchmarks.measure import cost

DEPTH, CHUNK, DOCUMENTS, JUDGED_QUERIES = 100, 1_000_000, 8_800_000, 20_000
EVALUATE = """
import os, sys, time
from rankgauge import evaluate
from rankgauge.io import Reading
last = [0.0]
def progress(at, total):
    if time.monotonic() - last[0] > 5:
        last[0] = time.monotonic()
        with open(os.environ["PROGRESS_FILE"], "a") as out:
            print(f"  {at / total:.0%} of {total / 1e6:,.0f} MB", file=out)
print(repr(evaluate(sys.argv[1], sys.argv[2], "nDCG@10", reading=Reading(progress=progress))["nDCG@10"]))
"""
READ = """
import sys
from pyarrow import parquet
file = parquet.ParquetFile(sys.argv[2], pre_buffer=False)
for batch in file.iter_batches(columns=["query_id", "doc_id", "score"], use_threads=False):
    pass
"""
DUCKDB = """
import sys, duckdb
db = duckdb.connect()
db.execute("SET threads = 1")
qrels, run = sys.argv[1:3]
types = "{'q': 'VARCHAR', 'i': 'VARCHAR', 'd': 'VARCHAR', 'g': 'INT'}"
db.execute(f"CREATE TABLE qrels AS FROM read_csv('{qrels}', delim=' ', header=false, columns={types})")
print(db.sql(f'''
    WITH ranked AS (SELECT query_id AS q, doc_id AS d,
            row_number() OVER (PARTITION BY query_id ORDER BY score DESC, doc_id DESC) AS r FROM '{run}'),
        gained AS (SELECT q, sum(g / log2(r + 1)) AS dcg FROM ranked JOIN qrels USING (q, d) WHERE r <= 10 GROUP BY q),
        ideals AS (SELECT q, g, row_number() OVER (PARTITION BY q ORDER BY g DESC) AS r FROM qrels),
        best AS (SELECT q, sum(g / log2(r + 1)) AS ideal FROM ideals WHERE r <= 10 GROUP BY q)
    SELECT avg(coalesce(dcg, 0) / ideal) FROM best LEFT JOIN gained USING (q)''').fetchall()[0][0])
if len(sys.argv) > 3:
    groups = f"SELECT 1 FROM '{run}' GROUP BY query_id, doc_id HAVING count(*) > 1"
    print(db.sql(f"SELECT count(*) FROM ({groups})").fetchall()[0][0])
"""


def main() -> None:
    """Make the data, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=5, metavar="MILLIONS")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="rounds; the best is shown")
    parser.add_argument("--only", default="parquet,trec", help="formats")
    parser.add_argument("--orders", default="grouped,scattered")
    parser.add_argument("--alone", action="store_true", help="rankgauge without the others")
    parser.add_argument("--folder", metavar="DIR", help="where the data goes")
    options = parser.parse_args()
    rows = int(options.rows * 1e6)
    # The standard error of what is measured is kept for messages, so progress goes to that of this process.
    environment = {**os.environ, "PROGRESS_FILE": f"/proc/{os.getpid()}/fd/2"}
    print(f"{'million rows':>14}{'format':>10}{'order':>11}{'tool':>20}{'CPU s':>9}{'peak MB':>9}")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        write_qrels(folder / "qrels", rows)
        for format in options.only.split(","):
            for order in options.orders.split(","):
                print(f"making {rows:,} rows of {format}, {order}", file=sys.stderr)
                path = folder / f"{order}.{format}"
                write_run(path, rows, format, is_scattered=order == "scattered")
                for tool, code, *more in list(tools(format))[: 1 if options.alone else None]:
                    command = [sys.executable, "-c", code, str(folder / "qrels"), str(path), *more]
                    costs = [cost(command, environment) for _ in range(options.repeat)]
                    cpu, peak = min(one.cpu for one in costs), min(one.peak for one in costs)
                    print(f"{options.rows:>14}{format:>10}{order:>11}{tool:>20}{cpu:>9.1f}{peak:>9.0f}", flush=True)
                path.unlink()


def tools(format: str) -> Iterator[tuple[str, ...]]:
    """The name of each program and its code."""
    yield "rankgauge", EVALUATE
    if format == "parquet":
        from importlib.util import find_spec

        yield "pyarrow reads", READ
        if find_spec("duckdb") is None:
            print("duckdb is missing: pip install duckdb", file=sys.stderr)
            return
        yield "duckdb", DUCKDB
        yield "duckdb, duplicates", DUCKDB, "duplicates"


def write_qrels(path: Path, rows: int) -> None:
    """Fourteen judgments for each of some queries, four of which are in the run."""
    queries = rows // DEPTH
    with path.open("w", encoding="ascii") as out:
        for query in range(0, queries, max(1, queries // JUDGED_QUERIES)):
            known = [(f"doc{document(query, row)}", 1 + row % 3) for row in (0, 3, 17, 60)]
            for doc, grade in [*known, *((f"x{number}", 1) for number in range(10))]:
                out.write(f"q{query} 0 {doc} {grade}\n")


def document(query: int, row: int) -> int:
    """The number of the document in a row of a query: none comes twice."""
    return (query * 7919 + row * 104729) % DOCUMENTS


def write_run(path: Path, rows: int, format: str, *, is_scattered: bool) -> None:
    """A run with a hundred rows per query; scattered, all rows are permuted."""
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])
    if format == "parquet":
        with parquet.ParquetWriter(path, schema) as writer:
            for table in tables(rows, is_scattered=is_scattered):
                writer.write_table(table)
        return
    with path.open("wb") as out:
        for table in tables(rows, is_scattered=is_scattered):
            score = pc.cast(table["score"], pa.string())
            lines = pc.binary_join_element_wise(table["query_id"], "Q0", table["doc_id"], "1", score, "tag\n", " ")
            for chunk in lines.chunks:
                out.write(chunk.buffers()[2])


def tables(rows: int, *, is_scattered: bool) -> Iterator[pa.Table]:
    """The rows, chunk by chunk."""
    step = next(number for number in range(829_000_003, 829_100_003, 2) if np.gcd(number, rows) == 1)
    for begin in range(0, rows, CHUNK):
        row = np.arange(begin, min(rows, begin + CHUNK), dtype=np.int64)
        row = row * step % rows if is_scattered else row
        query, place = row // DEPTH, row % DEPTH
        score = (30 - place * 0.25 + (query * 31 + place * 17) % 1000 / 1000).round(4)
        ids = {"query_id": ("q", query), "doc_id": ("doc", (query * 7919 + place * 104729) % DOCUMENTS)}
        columns = {
            name: pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")
            for name, (prefix, numbers) in ids.items()
        }
        yield pa.table({**columns, "score": score})


if __name__ == "__main__":
    main()
