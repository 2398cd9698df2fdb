"""JSON Lines, JSON objects and CSV are read in blocks, by the extension or without, as a plain reader reads them.

The plain readers decode each object with Python's json module and split each line with its csv module.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, evaluate, read_run
from rankgauge.core import compiled
from rankgauge.core.batch import Batch, concatenate_batches
from rankgauge.errors import InputError, RankgaugeError, RankgaugeWarning, Severity
from rankgauge.io.byte_streams import DEFAULT_LIMITS, ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats import delimited, json_lines, json_mapping, text_blocks
from rankgauge.io.formats.json_mapping import EntryRows, MappingReader
from rankgauge.io.formats.json_text import JsonPairs, describe_json, parse_json, read_records
from rankgauge.io.formats.named_columns import Wanted, batch_of_table, find_columns, is_header, scores_from_ranks
from rankgauge.io.formats.text_blocks import TextBlocks, open_text
from rankgauge.io.pipeline.run_pipeline import attempts
from rankgauge.io.text_checks import check_text

Read = Callable[[Faults], Batch]
NUMBERS = """
1 0 -0 -0.0 1.5 17.046234 0.1 1e5 1E-7 1e400 -1e-400 9007199254740993 12345678901234567890123 1.2345678901234567e-30
0.12345678901234567891 4.9e-324 true false 3.0 2147483648
""".split()
ODD_NUMBERS = ["01", "1.", ".5", "+1", "-", "NaN", "Infinity", "-Infinity", "null", '"1"', "[1]", '{"a": 1}', "9" * 400]
IDS = ['"q1"', '"q2"', '"d1"', '"d2"', '"d:3"', '"\u00e9"', '"d4"', '"d5"', '"x y"', '"clueweb09-en0000-00-00001"']
ODD_IDS = [
    '"\\u00e9"', '"\\ud83d\\ude00"', '"a\\tb\\"\\\\\\/"', '"\\ud800"', '"\\udc80"', '"\\u0000"', '""', '" x "',
    '"a\tb"', "7", "-0", "-12", "1.5", "true", "null", "[]", '"\\x"', '"\\u12"', "x",
    '"\\ud800\\u0041"', '"\u200b"', "1" * 310,
]  # fmt: skip
WEIGHED = [*IDS] * 4
KEYS = ['"query_id"', '"doc_id"', '"score"']
ODD_KEYS = [
    '"rank"',
    '"tag"',
    '"iter"',
    '"extra"',
    '"qu\\u0065ry_id"',
    '"query_id"',
    '"query"',
    '"score"',
    '"sim"',
    '"k\\n"',
]
LINE_ENDS = st.sampled_from(["\n"] * 6 + ["\r\n", " \n", "\n\n", "\t\n \n", "\x0b\n", "\n\r"])
SEPARATORS = st.sampled_from([", "] * 5 + [",", " ,\t"])
COLONS = st.sampled_from([": "] * 5 + [":", " : "])


@st.composite
def objects(draw: st.DrawFn) -> str:
    """A JSON object with the columns of a run; some are odd, some are not objects."""
    if draw(st.integers(0, 30)) == 0:
        return draw(st.sampled_from(["[]", "5", "null", "{", "}", "{}", '{"a"}', '{"a": 1,}', "x", '{"a": 1} 2', '""']))
    oddness = draw(st.sampled_from([0, 0, 1, 4]))
    cells = [
        (key, draw(st.sampled_from([*values * 4, *odd] if oddness else values)))
        for key, values, odd in zip(KEYS, (WEIGHED, WEIGHED, NUMBERS * 4), (ODD_IDS, ODD_IDS, ODD_NUMBERS), strict=True)
    ]
    for _ in range(draw(st.integers(0, oddness))):
        cells.append(
            (draw(st.sampled_from(ODD_KEYS)), draw(st.sampled_from([*IDS, *ODD_IDS, *NUMBERS, '{"b": 1, "b": 2}'])))
        )
    if oddness == 4:
        cells = draw(st.permutations(cells))[draw(st.integers(0, 1)) :]
    separator, colon = draw(SEPARATORS), draw(COLONS)
    return "{" + separator.join(f"{key}{colon}{value}" for key, value in cells) + "}"


@st.composite
def lines_of_objects(draw: st.DrawFn) -> bytes:
    lines = [text + draw(LINE_ENDS) for text in draw(st.lists(objects(), min_size=1, max_size=12))]
    return damaged(draw, "".join(lines).encode())


@st.composite
def json_arrays(draw: st.DrawFn) -> bytes:
    texts = draw(st.lists(objects(), min_size=1, max_size=8))
    return damaged(draw, (" [\n" + draw(st.sampled_from([",", " ,\n"])).join(texts) + "]\n").encode())


@st.composite
def json_mappings(draw: st.DrawFn) -> bytes:
    queries = []
    for _ in range(draw(st.integers(1, 6))):
        ids, numbers = ([*WEIGHED, *ODD_IDS], [*NUMBERS * 4, *ODD_NUMBERS]) if draw(st.booleans()) else (IDS, NUMBERS)
        pairs = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(numbers)), max_size=6))
        structure = draw(st.sampled_from(["object"] * 6 + ["ids", "pairs", "records", "odd"]))
        value = {
            "object": "{" + ", ".join(f"{doc}: {number}" for doc, number in pairs) + "}",
            "ids": "[" + ",".join(doc for doc, _ in pairs) + "]",
            "pairs": "[" + ",".join(f"[{doc}, {number}]" for doc, number in pairs) + "]",
            "records": "[" + ",".join(f'{{"id": {doc}, "score": {number}}}' for doc, number in pairs) + "]",
            "odd": draw(st.sampled_from(ODD_NUMBERS)),
        }[structure]
        queries.append(f"{draw(st.sampled_from([*WEIGHED, *ODD_IDS]))}: {value}")
    text = "{" + ",\n".join(queries) + draw(st.sampled_from(["}", "}\n", ",}", ""]))
    return damaged(draw, text.encode())


CELLS = ["q1", "q2", "d1", "d2", "d3", "1.5", "2", " 3 ", "0.25", "7", "1e5"]
ODD_CELLS = [
    '"q1"', '"d 1"', '"a""b"', '"a,b"', '"a\nb"', 'a"b', '"', '"x"y', "", "'=x", "'@y", "1,5", "nan", "inf",
    "-Infinity", "1e400", "a\rb", "\u00e9", " d", '""', '"2"', '"1\n2"', '" 4 "', "0.12345678901234567891", "x" * 40,
]  # fmt: skip
HEADERS = [
    "query_id,doc_id,score", "qid,docno,rank", '"query_id","doc_id","score"', "qid,docno,score,tag", "a,b,c",
    "query_id,doc_id,score,rank,extra", "query_id,doc_id", "doc_id, query_id ,score", "query_id,doc_id,score,score",
]  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """CSV or, with other delimiters, almost CSV."""
    width = draw(st.sampled_from([3, 3, 3, 6, 4]))
    lines = [draw(st.sampled_from(HEADERS))] if draw(st.integers(0, 4)) else []
    width = lines[0].count(",") + 1 if lines else width
    cells = [*CELLS * 4, *ODD_CELLS] if draw(st.booleans()) else CELLS
    for _ in range(draw(st.integers(0, 12))):
        size = draw(st.sampled_from([width] * 8 + [width - 1, width + 1]))
        lines.append(",".join(draw(st.sampled_from(cells)) for _ in range(size)))
    text = "".join(line + draw(LINE_ENDS) for line in lines)
    delimiter = draw(st.sampled_from([",", ",", ";", "\t"]))
    return damaged(draw, text.replace(",", delimiter).encode())


def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """The data, some of it changed in a few bytes, or without its end."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        at = draw(st.integers(0, len(data)))
        return (
            data[:at]
            + draw(st.sampled_from([b'"', b"\\", b"\xff", b"\r", b"\n", b"{", b",", b"\xed\xa0\x80"]))
            + data[at:]
        )
    if kind == 1:
        return data[: draw(st.integers(0, len(data)))]
    return b"\xef\xbb\xbf" + data if kind == 2 else data


def outcome(read: Read) -> Any:
    """All that a reader says, to the last bit, in the order in which an error would list it."""
    faults = Faults("file", limit=None)
    try:
        rows = read(faults)
        if rows.has_ranks_only:
            rows = scores_from_ranks(faults, rows)
    except RankgaugeError as error:
        return type(error), str(error), error.hint
    columns = (rows.query, rows.doc, rows.rank, rows.tag)
    ids = [list(column) if column is not None and len(column) else None for column in columns]  # no rows, no columns
    severities: tuple[Severity, ...] = ("error", "warning", "note")
    examples = [fault for severity in severities for fault in faults.examples_of(severity)]
    return ids, rows.value.tobytes(), rows.empty, dict(faults.counts), examples, faults.has_lines and rows.line.tolist()


def plain_records(faults: Faults, data: bytes) -> Batch:
    table = read_records(faults, data)
    if not faults.has_lines:
        values = parse_json("file", None, check_text(Faults("file"), data))
        numbers = [number for number, value in enumerate(values, 1) if isinstance(value, JsonPairs)]
        table = replace(table, line=np.array(numbers, dtype=np.int64))
    return batch_of_table(faults, table, Wanted("run"))


def plain_cells(delimiter_of: Callable[[bytes], bytes]) -> Callable[[Faults, bytes], Batch]:
    """A file without quotation marks is split, any other line by line with the csv module."""

    def read(faults: Faults, data: bytes) -> Batch:
        data = check_text(faults, data)
        first = next((line for line in data.split(b"\n") if line.strip()), b"")
        if first.rstrip(b"\r"):
            check_header(data, delimiter_of(first.rstrip(b"\r")))
        cells = delimited.split_cells(faults, data, delimiter_of(first.rstrip(b"\r")))
        first_row = [column[0].decode("utf-8", "surrogateescape") for column in cells.cells]
        if is_header(first_row, "run"):
            named = delimited.with_header(cells)
        else:
            names = delimited.POSITIONS["run"].get(len(first_row))
            if names is None:
                find_columns(faults.source, first_row, "run")
                message = f"expected a header, found {len(first_row)} columns"
                raise InputError.at(faults.source, int(cells.line[0]), message)
            named = delimited.Cells(names, cells.line, cells.cells)
        return batch_of_table(faults, replace(named, is_guarded=True), Wanted("run"))

    return read


def check_header(data: bytes, delimiter: bytes) -> None:
    """Raise if the first line is a header that lacks a column: that is said before anything about later lines."""
    lines, mark = data.decode("utf-8", "surrogateescape").split("\n"), delimiter.decode()
    while not lines[0].removesuffix("\r"):
        del lines[0]
    cells = lines[0].removesuffix("\r").split(mark)
    if '"' in lines[0]:
        try:
            cells = next(csv.reader((line + "\n" for line in lines), delimiter=mark, strict=True))
        except csv.Error:
            return
    if is_header(cells, "run") or len(cells) not in delimited.POSITIONS["run"]:
        find_columns("file", [cell.strip() for cell in cells] if is_header(cells, "run") else cells, "run")


class PlainEntryRows(EntryRows):
    def _add_plain(self, entries: Any) -> bool:
        return False


def plain_mapping(faults: Faults, data: bytes) -> Batch:
    document = parse_json(faults.source, None, check_text(faults, data, has_lines=False))
    faults.has_lines = False
    if not isinstance(document, JsonPairs):
        raise InputError.at(faults.source, None, f"expected an object of queries, found {describe_json(document)}")
    entry_rows = PlainEntryRows(faults, "run")
    reader = MappingReader(faults, open_text(stream_of(b"{}"), Faults("file"), has_lines=False), "run")
    for key, value in document:
        reader._add_query(entry_rows, key, value)
    return entry_rows.batch()


FORMATS: dict[str, tuple[Any, Any]] = {
    "jsonl": (plain_records, json_lines.read_batches),
    "json": (plain_mapping, json_mapping.read_batches),
    "csv": (plain_cells(delimited.comma_or_semicolon), delimited.csv_batches),
    "tsv": (plain_cells(lambda line: b"\t"), delimited.tsv_batches),
}


def stream_of(data: bytes) -> ByteStream:
    return ByteStream("file", io.BytesIO(data), DEFAULT_LIMITS)


def in_batches(batches: Any, data: bytes) -> Read:
    def read(faults: Faults) -> Batch:
        def attempt(names: tuple[str, ...], _: bool) -> Batch:
            faults.reset(Faults("file", limit=None))
            return concatenate_batches(list(batches(stream_of(data), Wanted("run", names=names), faults)))

        return attempts(attempt)

    return read


def check(format: str, data: bytes, block_bytes: int, block_rows: int) -> None:
    if b"\0" in data:
        return  # the source says so, whatever the format
    plain, batches = FORMATS[format]
    expected = outcome(lambda faults: plain(faults, data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK_BYTES", block_bytes)
        for module in (json_lines, delimited, json_mapping):
            patch.setattr(module, "BLOCK_ROWS", block_rows)
        for extension in {compiled.scanner, None}:
            patch.setattr(compiled, "scanner", extension)
            assert outcome(in_batches(batches, data)) == expected


BLOCKS = st.sampled_from([16, 50, 200, 1 << 12])
ROOMS = st.sampled_from([4, 7, 1 << 10])


@settings(max_examples=200, deadline=None)
@given(data=lines_of_objects(), block_bytes=BLOCKS, block_rows=ROOMS)
def test_json_lines_are_read_as_a_plain_reader_reads_them(data: bytes, block_bytes: int, block_rows: int) -> None:
    check("jsonl", data, block_bytes, block_rows)


@settings(max_examples=100, deadline=None)
@given(data=json_arrays(), block_bytes=BLOCKS, block_rows=ROOMS)
def test_arrays_of_objects_are_read_as_a_plain_reader_reads_them(
    data: bytes, block_bytes: int, block_rows: int
) -> None:
    check("jsonl", data, block_bytes, block_rows)


@settings(max_examples=200, deadline=None)
@given(data=json_mappings(), block_bytes=BLOCKS, block_rows=ROOMS)
def test_mappings_are_read_as_a_plain_reader_reads_them(data: bytes, block_bytes: int, block_rows: int) -> None:
    check("json", data, block_bytes, block_rows)


@settings(max_examples=200, deadline=None)
@given(data=tables(), format=st.sampled_from(["csv", "csv", "tsv"]), block_bytes=BLOCKS, block_rows=ROOMS)
@example(data=b"qid,docno,rank\nq1,q1,inf\n", format="csv", block_bytes=16, block_rows=4)
def test_tables_are_read_as_a_plain_reader_reads_them(
    data: bytes, format: str, block_bytes: int, block_rows: int
) -> None:
    check(format, data, block_bytes, block_rows)


def test_a_block_grows_until_something_in_it_is_complete() -> None:
    blocks = TextBlocks(stream_of(b"0123456789"), 4)
    assert blocks.advance()
    assert blocks.part(0, blocks.size) == b"0123"
    assert blocks.advance()
    assert blocks.part(0, blocks.size) == b"01234567"
    blocks.used = 6
    assert blocks.advance()
    assert blocks.part(0, blocks.size) == b"6789"
    assert blocks.is_last
    blocks.used = 4
    assert not blocks.advance()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("run.json", b'{"q1": {"d2": 2, "d1": 1.5}, "q2": {}, "q3": ["d1", "d2"]}'),
        (
            "run.jsonl",
            b'{"query_id": "q1", "doc_id": "d2", "score": 2}\n{"query_id": "q3", "doc_id": "d1", "score": 1}\n',
        ),
        ("run.csv", b'query_id,doc_id,score\nq1,"d2",2\nq3,d1,1\nq1,d1,1\n'),
        ("run.tsv", b"query_id\tdoc_id\trank\nq1\td2\t1\nq1\td1\t2\nq3\td1\t1\n"),
        ("stray.csv", b"query_id,doc_id,score\nq1,d\r2,2\nq1,d1,1\nq3,d1,1\n"),
    ],
)
def test_an_evaluation_of_a_file_in_blocks_is_that_of_the_run_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 48)
    (tmp_path / name).write_bytes(data)
    qrels = Qrels.from_dict({query: {"d1": 1, "d2": 2} for query in ("q1", "q2", "q3", "q4")})
    measures = ["nDCG@10", "AP", "RR"]
    in_blocks = evaluate(qrels, tmp_path / name, measures)
    in_memory = evaluate(qrels, read_run(tmp_path / name), measures)
    assert in_blocks.to_dict() == in_memory.to_dict()


def test_a_key_that_appears_late_decides_for_all_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "SAMPLED_LINES", 1)
    late = b'{"query": "x", "query_id": "q1", "doc_id": "d2", "score": 2}\n'
    (tmp_path / "run.jsonl").write_bytes(b'{"query": "x", "doc_id": "d1", "score": 1}\n' + late)
    with pytest.raises(InputError, match=r"run\.jsonl:1: expected a string or a whole number as query id"):
        evaluate(Qrels.from_dict({"q1": {"d2": 1}}), tmp_path / "run.jsonl", ["AP"])


def test_a_carriage_return_is_a_blank_of_json() -> None:
    data = b'{"q1": [{"id": "clueweb09-en0000-00-00001", "score"\r: 1}]}'
    check("json", data, 16, 4)
    rows = list(json_mapping.read_batches(stream_of(data), Wanted("run"), Faults("run.json")))
    assert sum(map(len, rows)) == 1


@pytest.mark.parametrize("block", [16, 1 << 20])
@pytest.mark.parametrize("format", ["msmarco", "tsv"])
def test_a_first_row_longer_than_a_block_is_read_once_and_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, block: int
) -> None:
    """Before it, a byte order mark and blank lines, which were read already when the block grew."""
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", block)
    monkeypatch.setattr(text_blocks, "WHOLE_BYTES", block)
    query = "q" * 40
    path = tmp_path / "run"
    path.write_text(f"\ufeff\n\n{query}\td1\t1\n{query}\td2\tx\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        with pytest.raises(InputError, match=r"run:4: .* found 'x'"):
            read_run(path, format=format)
        path.write_text(f"\ufeff\n\n{query}\td1\t1\n", encoding="utf-8")
        assert list(read_run(path, format=format).queries) == [query.encode()]
