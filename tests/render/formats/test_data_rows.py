from __future__ import annotations

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from rankgauge.io.formats.delimited import unguard_formula
from rankgauge.render.document import Record, Rows, Value
from rankgauge.render.formats.data_rows import as_csv, as_jsonl
from tests.render.formats.texts import texts

FIELDS = ("name", "of,which", "value")
values: st.SearchStrategy[Value] = st.one_of(
    st.none(), texts, st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
records = st.lists(st.dictionaries(st.sampled_from(FIELDS), values), max_size=5)


@given(records)
def test_csv_reads_back_as_the_same_cells_and_the_same_numbers(found: list[Record]) -> None:
    rows = list(csv.reader(io.StringIO(as_csv(Rows(FIELDS, found)), newline="")))
    assert rows[0] == list(FIELDS)
    assert len(rows) == len(found) + 1
    for row, record in zip(rows[1:], found, strict=True):
        for text, value in zip(row, (record.get(field) for field in FIELDS), strict=True):
            if isinstance(value, float):
                assert repr(float(text)) == repr(value)
            else:
                assert unguard_formula(text) == ("" if value is None else str(value))


@given(records)
def test_json_lines_read_back_as_the_same_objects(found: list[Record]) -> None:
    lines = as_jsonl(Rows(FIELDS, found)).split("\n")
    assert lines.pop() == ""
    wanted = [{field: record.get(field) for field in FIELDS} for record in found]
    assert repr([json.loads(line) for line in lines]) == repr(wanted)


def test_lines_end_as_everywhere_and_only_what_must_is_quoted() -> None:
    found: list[Record] = [{"name": "a b", "value": 0.1}, {"name": "c\rd"}]
    assert as_csv(Rows(("name", "value"), found)) == 'name,value\na b,0.1\n"c\rd",\n'
