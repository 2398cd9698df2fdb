"""The table of ways in: how a data set becomes a source of results, or of judgments."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rankgauge.core.run import Run
from tests.io.differential.data_sets import DataSet, Row

Make = Callable[[DataSet, Path], Any]  # the source; a path below the folder, or an object


@dataclass(frozen=True)
class Way:
    """One way in."""

    name: str
    make: Make
    covers: tuple[str, ...]  # formats of the registry, and kinds of objects that are not files
    needs_plain_ids: bool = False
    is_text: bool = False  # whether the file can be damaged byte by byte
    has_order: bool = False  # whether it keeps the order of the list, and no scores
    runs: int = 1


def trec(data: DataSet, rows: Sequence[Row]) -> bytes:
    rng = data.rng("trec")
    blank = rng.choice([" ", " ", "\t", "  "])
    ranks = _ranks(rng, rows)
    lines = [
        blank.join([query, "Q0", doc, rank, _number(rng, score), "tag"])
        for (query, doc, score), rank in zip(rows, ranks, strict=True)
    ]
    return _lines(rng, lines)


def delimited(data: DataSet, rows: Sequence[Row], delimiter: str, tags: Sequence[str] = ()) -> bytes:
    rng = data.rng(f"delimited {delimiter}")
    columns = {
        "query_id": [row[0] for row in rows],
        "doc_id": [row[1] for row in rows],
        "score": [_number(rng, row[2]) for row in rows],
    }
    if rng.random() < 0.3:
        columns["rank"] = _ranks(rng, rows)
    if rng.random() < 0.2:
        columns["note"] = [rng.choice(["", "x", "a, b", 'a "b"', "two\nlines"]) for _ in rows]
    if tags:
        columns["run_name"] = list(tags)
    names = list(columns)
    has_header = bool(tags) or len(names) != 3 or not data.is_plain or delimiter == ";" or rng.random() < 0.6
    if has_header:
        rng.shuffle(names)
    out = io.StringIO(newline="")
    quoting: Literal[0, 1] = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    if any("\r" in cell for row in rows for cell in row[:2]):
        quoting = csv.QUOTE_ALL  # the module quotes a carriage return only if it is part of the line ending
    writer = csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n"]), quoting=quoting)
    if has_header:
        writer.writerow(names)
    writer.writerows(zip(*(columns[name] for name in names), strict=True))
    return out.getvalue().encode("utf-8")


def json_lines(data: DataSet, rows: Sequence[Row], tags: Sequence[str] = ()) -> bytes:
    rng = data.rng("json lines")
    lines = [json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in _records(rng, rows, tags)]
    return _lines(rng, lines)


def json_array(data: DataSet, rows: Sequence[Row], tags: Sequence[str] = ()) -> bytes:
    rng = data.rng("json array")
    blank = rng.choice(["", " ", "\r", "\n", "\r\n  ", "\t"])
    items = [json.dumps(record) for record in _records(rng, rows, tags)]
    end = rng.choice(["", "\n", "\r\n", " "])
    return (f"[{blank}" + f"{blank},{blank}".join(items) + f"{blank}]{end}").encode()


def json_mapping(
    data: DataSet, results: dict[str, dict[str, Any]], ranked: dict[str, dict[str, Any]] | None = None
) -> bytes:
    rng = data.rng("json mapping")
    shape = rng.choice(["objects", "objects", "pairs", "records"])
    document: dict[str, Any] = results
    if shape == "pairs":
        document = {query: list(docs.items()) for query, docs in (ranked or results).items()}
    elif shape == "records":
        document = {
            query: [{"id": d, "score": s} for d, s in docs.items()] for query, docs in (ranked or results).items()
        }
    return (json.dumps(document, indent=rng.choice([None, None, 1]), ensure_ascii=rng.random() < 0.5)).encode()


def log(data: DataSet) -> bytes:
    """A log without its relevant documents: the run of a file that holds both."""
    rng = data.rng("log")
    lines, is_split = [], rng.random() < 0.5
    for query, docs in data.ranked.items():
        record: dict[str, Any] = {"query_id": query, "relevant_ids": list(data.grades.get(query, {})) or ["none"]}
        if is_split:
            record |= {"retrieved_ids": list(docs), "scores": list(docs.values())}
        else:
            record |= {"retrieved": [{"id": doc, "score": score} for doc, score in docs.items()]}
        lines.append(json.dumps(record))
    return _lines(rng, lines)


def log_of_systems(data: DataSet) -> bytes:
    """The runs of ``two_runs`` in one log, in the order of its queries or one after the other; some in one object."""
    rng = data.rng("systems")
    records: list[dict[str, Any]] = [
        {
            "query_id": query,
            "mode": name,
            "retrieved": [{"id": doc, "score": sign * score, "text": doc} for doc, score in docs.items()],
        }
        for query in data.by_query
        for name, sign, docs in (("first", 1, data.ranked[query]), ("second", -1, data.ranked_by_negative[query]))
    ]
    if rng.random() < 0.5:
        records.sort(key=lambda record: record["mode"])
    if rng.random() < 0.3:
        return json.dumps({"cases": records}, indent=rng.choice([None, 1])).encode()
    return _lines(rng, [json.dumps(record) for record in records])


def arrow_table(rows: Sequence[Row], tags: Sequence[str] = ()) -> Any:
    import pyarrow

    columns = {
        "query_id": [row[0] for row in rows],
        "doc_id": [row[1] for row in rows],
        "score": [row[2] for row in rows],
    }
    return pyarrow.table(columns | ({"run_name": list(tags)} if tags else {}))


def _parquet(path: Path, table: Any, rng: random.Random) -> Path:
    from pyarrow import parquet

    parquet.write_table(
        table,
        path,
        compression=rng.choice(["none", "none", "snappy"]),
        row_group_size=rng.choice([1, 7, 1000]),
        use_dictionary=rng.random() < 0.5,
        write_statistics=False,
    )
    return path


def _records(rng: random.Random, rows: Sequence[Row], tags: Sequence[str]) -> list[dict[str, Any]]:
    keys = rng.choice([("query_id", "doc_id", "score"), ("qid", "docno", "sim")])
    records: list[dict[str, Any]] = [dict(zip(keys, row, strict=True)) for row in rows]
    for record, tag in zip(records, tags, strict=False):
        record["run_name"] = tag
    if rng.random() < 0.3:
        extra = rng.choice(["note", "a\ud800", "k\n", "é", "rank"])
        for record in rng.sample(records, rng.randrange(1, len(records) + 1)):
            record[extra] = 1 if extra == "rank" else rng.choice([None, 1, "x", [1, {"a": 2}], {"b": []}])
    if rng.random() < 0.3:
        for record in records:
            items = list(record.items())
            rng.shuffle(items)
            record.clear()
            record.update(items)
    return records


def _ranks(rng: random.Random, rows: Sequence[Row]) -> list[str]:
    """The position of each row in its query; now and then something else."""
    kind = rng.choice(["position", "position", "position", "constant", "random", "text"])
    counts: dict[str, int] = {}
    ranks = []
    for query, _, _ in rows:
        counts[query] = counts.get(query, 0) + 1
        rank = {"position": counts[query], "constant": 1, "random": rng.randrange(1, 20), "text": "-"}[kind]
        ranks.append(str(rank))
    return ranks


def _number(rng: random.Random, value: float) -> str:
    text = repr(value)
    return text.upper() if "e" in text and rng.random() < 0.3 else text


def _lines(rng: random.Random, lines: Sequence[str]) -> bytes:
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    text = end.join(lines) + (end if rng.random() < 0.8 else "")
    return (("\ufeff" if rng.random() < 0.1 else "") + text).encode("utf-8", "surrogatepass")


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _text(name: str, covers: str, make: Callable[[DataSet], bytes], *, plain: bool = False) -> Way:
    suffix = name.replace(" ", "-")
    return Way(name, lambda data, folder: _write(folder / f"run.{suffix}", make(data)), (covers,), plain, is_text=True)


def _folder(data: DataSet, folder: Path) -> Path:
    rng = data.rng("folder")
    path = folder / "table"
    (path / "more").mkdir(parents=True)
    cut = rng.randrange(1, len(data.rows) + 1)
    _parquet(path / "a.parquet", arrow_table(data.rows[:cut]), rng)
    if data.rows[cut:]:
        _parquet(path / "more" / "b.parquet", arrow_table(data.rows[cut:]), rng)
    return path


def two_runs(data: DataSet) -> tuple[list[Row], list[str]]:
    """The rows twice, under two names; the second time with other scores."""
    rows = [row for query, doc, score in data.rows for row in ((query, doc, score), (query, doc, -score))]
    return rows, ["first", "second"] * len(data.rows)


def _ipc(path: Path, table: Any, rng: random.Random) -> Path:
    from pyarrow import ipc

    is_file = rng.random() < 0.5
    with (ipc.new_file if is_file else ipc.new_stream)(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return path


def _pandas(data: DataSet, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(data.rows, columns=["query_id", "doc_id", "score"])


def _polars(data: DataSet, folder: Path) -> Any:
    import polars

    return polars.DataFrame(data.rows, schema=["query_id", "doc_id", "score"], orient="row")


def _lazy_polars(data: DataSet, folder: Path) -> Any:
    return _polars(data, folder).lazy()


@cache
def _duckdb_connection() -> Any:
    """One connection for all data sets: in older versions, a relation ends with the last reference to its own."""
    import duckdb

    return duckdb.connect()


def _duckdb(data: DataSet, folder: Path) -> Any:
    return _duckdb_connection().from_arrow(arrow_table(data.rows))


def _msmarco(data: DataSet) -> bytes:
    rows = [(query, doc, rank) for query, docs in data.by_query.items() for rank, doc in enumerate(docs, 1)]
    return "".join(f"{query}\t{doc}\t{rank}\n" for query, doc, rank in rows).encode()


def _ranks_only(data: DataSet) -> bytes:
    records = [
        {"query_id": query, "doc_id": doc, "rank": rank}
        for query, docs in data.by_query.items()
        for rank, doc in enumerate(docs, 1)
    ]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _lists(data: DataSet, folder: Path) -> dict[str, list[str]]:
    return {query: list(docs) for query, docs in data.by_query.items()}


RUNS: tuple[Way, ...] = (
    _text("trec", "trec", lambda data: trec(data, data.rows), plain=True),
    _text("csv", "csv", lambda data: delimited(data, data.rows, ",")),
    _text("semicolons", "csv", lambda data: delimited(data, data.rows, ";")),
    _text("tsv", "tsv", lambda data: delimited(data, data.rows, "\t")),
    _text("jsonl", "jsonl", lambda data: json_lines(data, data.rows)),
    _text("json array", "jsonl", lambda data: json_array(data, data.rows)),
    _text("json", "json", lambda data: json_mapping(data, data.by_query, data.ranked)),
    _text("log", "log", log),
    Way("gz", lambda d, f: _write(f / "run.gz", gzip.compress(json_lines(d, d.rows), 1)), ("gz",)),
    Way("bz2", lambda d, f: _write(f / "run.bz2", bz2.compress(delimited(d, d.rows, ","), 1)), ("bz2",)),
    Way("parquet", lambda d, f: _parquet(f / "run.parquet", arrow_table(d.rows), d.rng("parquet")), ("parquet",)),
    Way("arrow", lambda d, f: _ipc(f / "run.arrow", arrow_table(d.rows), d.rng("arrow")), ("arrow",)),
    Way("folder", _folder, ("folder",)),
    Way("dict", lambda d, f: d.by_query, ("dict",)),
    Way("run", lambda d, f: Run.from_dict(d.by_query), ("Run",)),
    Way("pandas", _pandas, ("frame",)),
    Way("polars", _polars, ("frame",)),
    Way("pyarrow", lambda d, f: arrow_table(d.rows), ("frame",)),
    Way("lazy polars", _lazy_polars, ("lazy table",)),
    Way("duckdb", _duckdb, ("lazy table",)),
    Way("msmarco", _text("msmarco", "msmarco", _msmarco).make, ("msmarco",), True, is_text=True, has_order=True),
    Way("ranks only", _text("ranks.jsonl", "jsonl", _ranks_only).make, (), is_text=True, has_order=True),
    Way("lists", _lists, ("lists",), has_order=True),
    Way(
        "two runs in CSV",
        lambda d, f: _write(f / "two.csv", delimited(d, two_runs(d)[0], ",", two_runs(d)[1])),
        ("several runs",),
        is_text=True,
        runs=2,
    ),
    Way(
        "two runs in JSON Lines",
        lambda d, f: _write(f / "two.jsonl", json_lines(d, *two_runs(d))),
        (),
        is_text=True,
        runs=2,
    ),
    Way("two runs in a log", lambda d, f: _write(f / "log", log_of_systems(d)), (), is_text=True, runs=2),
    Way(
        "two runs in Parquet",
        lambda d, f: _parquet(f / "two.parquet", arrow_table(*two_runs(d)), d.rng("two")),
        (),
        runs=2,
    ),
    Way("one of two runs in a log", lambda d, f: f"{_write(f / 'log', log_of_systems(d))}#first", ("system",)),
    Way(
        "one of two runs in CSV",
        lambda d, f: f"{_write(f / 'two.csv', delimited(d, two_runs(d)[0], ',', two_runs(d)[1]))}#first",
        (),
    ),
)


# -- judgments ------------------------------------------------------------------------------------------------


def _judged(data: DataSet) -> list[tuple[str, str, int]]:
    return [(query, doc, grade) for query, docs in data.grades.items() for doc, grade in docs.items()]


def _trec_qrels(data: DataSet) -> bytes:
    rng = data.rng("trec qrels")
    return _lines(rng, [f"{query} 0 {doc} {grade}" for query, doc, grade in _judged(data)])


def _qrels_table(data: DataSet, delimiter: str, header: tuple[str, str, str] | None) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    if header is not None:
        writer.writerow(header)
    writer.writerows(_judged(data))
    return out.getvalue().encode()


def _qrels_records(data: DataSet) -> list[dict[str, Any]]:
    return [{"query_id": query, "doc_id": doc, "relevance": grade} for query, doc, grade in _judged(data)]


def _judgment_lines(data: DataSet) -> bytes:
    records = [record | {"assessor": "a", "how": "terminal"} for record in _qrels_records(data)]
    return _lines(data.rng("judgments"), [json.dumps(record) for record in records])


def _qrels_log(data: DataSet) -> bytes:
    lines = [json.dumps({"query_id": query, "relevant_ids": [], "grades": docs}) for query, docs in data.grades.items()]
    return _lines(data.rng("qrels log"), lines)


def _qrels_arrow(data: DataSet) -> Any:
    import pyarrow

    queries, docs, grades = zip(*_judged(data), strict=True)
    return pyarrow.table({"query_id": queries, "doc_id": docs, "relevance": grades})


def _qrels_pandas(data: DataSet, folder: Path) -> Any:
    import pandas

    return pandas.DataFrame(_judged(data), columns=["query_id", "doc_id", "relevance"])


def _rank_eval(data: DataSet) -> bytes:
    requests = [
        {"id": query, "ratings": [{"_index": "i", "_id": doc, "rating": grade} for doc, grade in docs.items()]}
        for query, docs in data.grades.items()
    ]
    return json.dumps({"requests": requests}, indent=1).encode("utf-8", "surrogateescape")


BEIR = ("query-id", "corpus-id", "score")
NAMED = ("query_id", "doc_id", "relevance")
QRELS: tuple[Way, ...] = (
    _text("trec qrels", "trec", _trec_qrels, plain=True),
    _text("csv qrels", "csv", lambda data: _qrels_table(data, ",", NAMED)),
    _text("tsv qrels", "tsv", lambda data: _qrels_table(data, "\t", NAMED)),
    _text("beir qrels", "beir", lambda data: _qrels_table(data, "\t", BEIR)),
    _text("quepid qrels", "quepid", lambda data: _qrels_table(data, ",", ("query", "docid", "rating"))),
    _text("rank_eval qrels", "rank_eval", _rank_eval),
    _text("json qrels", "json", lambda data: json_mapping(data, dict(data.grades)).replace(b'"score"', b'"grade"')),
    _text(
        "jsonl qrels",
        "jsonl",
        lambda data: _lines(data.rng("jsonl qrels"), [json.dumps(record) for record in _qrels_records(data)]),
    ),
    _text("judgments", "judgments", _judgment_lines),
    _text("log qrels", "log", _qrels_log),
    Way(
        "parquet qrels",
        lambda d, f: _parquet(f / "qrels.parquet", _qrels_arrow(d), d.rng("parquet qrels")),
        ("parquet",),
    ),
    Way("arrow qrels", lambda d, f: _ipc(f / "qrels.arrow", _qrels_arrow(d), d.rng("arrow qrels")), ("arrow",)),
    Way("dict qrels", lambda d, f: d.grades, ("dict",)),
    Way("pandas qrels", _qrels_pandas, ("frame",)),
)
