"""One row per value, for programs: CSV, JSON Lines and TREC's columns."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np

from rankgauge.errors import InputError, shown
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats.delimited import guard_formula
from rankgauge.io.formats.json_text import json_text
from rankgauge.render.document import Rows, Value
from rankgauge.render.documents.scores import is_count

COMMANDS = ("::", "##")  # at the beginning of a line, which a CI runner executes
BREAKS = "\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def as_csv(rows: Rows) -> str:
    """A header and one line per record; a field that a record does not have is empty.

    A text that a spreadsheet would run as a formula gets a ``'`` before it; numbers stay numbers.
    """
    lines = _CsvLines()
    plain, quoted = csv.writer(lines), csv.writer(lines, quoting=csv.QUOTE_ALL)
    plain.writerow(rows.fields)
    for record in rows.records:
        _check_one_line(record.get("query"), "csv")
        cells = [_exact(record.get(field)) for field in rows.fields]
        (quoted if cells[0].lstrip().startswith(COMMANDS) else plain).writerow(cells)
    return "".join(lines.kept)


def _check_one_line(query: Value | None, form: str) -> None:
    """Raise if the id of a query would make several rows of one, or more columns."""
    if isinstance(query, str) and any(character in query for character in BREAKS):
        raise InputError(
            f"the id {shown(query)} has a tab or a line break, which --format {form} cannot hold",
            hint="use --format json or jsonl",
        )


class _CsvLines:
    r"""The lines that csv writes. It quotes a carriage return only if lines end in ``\r\n``; these end in ``\n``."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def write(self, line: str) -> None:
        self.kept.append(line.removesuffix("\r\n") + "\n")


def _exact(value: Value) -> str:
    """The shortest text that reads back as the same number."""
    return "" if value is None else guard_formula(value) if isinstance(value, str) else repr(value)


def as_jsonl(rows: Rows) -> str:
    """One object per record, all with the same keys; null for a field that a record does not have."""
    return "".join(json_text({field: record.get(field) for field in rows.fields}) + "\n" for record in rows.records)


def as_trec(scores: Sequence[Scores], *, per_query: bool) -> str:
    """trec_eval's three columns under our names."""
    if len(scores) != 1:
        raise InputError(f"the trec format holds one run, found {len(scores)}", hint="use --format json or csv")
    run = scores[0]
    lines = []
    if per_query:
        for query in run.queries:
            _check_one_line(query, "trec")
        if "all" in run.queries:
            raise InputError("a query is named 'all', as the summary is", hint="use --format json or csv")
        for row in np.flatnonzero(run.averaged).tolist():
            for measure, value in zip(run.measures, run.values[row].tolist(), strict=True):
                lines.append((measure, run.queries[row], value))
    for measure in run.measures:
        value_ = run.over_queries[measure.name][0]
        lines.append((measure, "all", float("nan") if value_ is None else value_))
    return "".join(
        f"{measure.name:<22s}\t{query}\t{value:.0f}\n"
        if is_count(measure) and value == value
        else f"{measure.name:<22s}\t{query}\t{value:6.4f}\n"
        for measure, query, value in lines
    )
