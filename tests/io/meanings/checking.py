"""Each data set through every way in, and what differs from the plain loop."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from rankgauge import InputError, RankgaugeError, RankgaugeWarning, evaluate
from tests.io.meanings.plain_loop import FLAGS, DataSet, Refused, Row, expected

Files = tuple[Any, Any]  # labels, and results; None: the labels have them


def ways_in(data: DataSet, folder: Path) -> Iterator[tuple[str, Files]]:
    """The data set as files, and in Python."""
    if not data.has_separate_results:
        rows = data.rows
        (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield "log", (folder / "log.jsonl", None)
        (folder / "log.json").write_text(json.dumps(rows, indent=1))
        yield "log in a list", (folder / "log.json", None)
        (folder / "log.yaml").write_text(yaml.safe_dump(rows, sort_keys=False))
        yield "log in YAML", (folder / "log.yaml", None)
        return
    cases = [{key: value for key, value in row.items() if key not in ("retrieved", "refused")} for row in data.rows]
    results = [_result_row(row) for row in (*data.rows, *data.extra) if "retrieved" in row]
    (folder / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in results))
    document: Any = cases if data.beside is None else {"defaults": data.beside, "tests": cases}
    (folder / "cases.json").write_text(json.dumps(document))
    yield "cases", (folder / "cases.json", folder / "results.jsonl")
    (folder / "cases.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    yield "cases in YAML", (folder / "cases.yaml", folder / "results.jsonl")
    names = {*FLAGS, "forbidden"}
    if data.beside is None:
        (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        yield "cases by line", (folder / "cases.jsonl", folder / "results.jsonl")
        yield "cases in Python", (cases, folder / "results.jsonl")
        if data.label_key != "grades" and all(data.label_key in case for case in cases):
            (folder / "cases.csv").write_text(_table(cases), newline="")
            yield "cases in a table", (folder / "cases.csv", folder / "results.jsonl")
        if not any(names & row.keys() for row in data.rows):
            labels = {row["query_id"]: row[data.label_key] for row in data.rows}
            (folder / "labels.json").write_text(json.dumps(labels))
            yield "labels in JSON", (folder / "labels.json", folder / "results.jsonl")
            yield "labels in a dict", (labels, folder / "results.jsonl")


def _result_row(row: Row) -> Row:
    return {key: row[key] for key in ("query_id", "retrieved", "refused") if key in row}


def _table(cases: list[Row]) -> str:
    text = io.StringIO(newline="")
    names = list(dict.fromkeys(name for case in cases for name in case))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for case in cases:
        writer.writerow([_cell(case.get(name)) for name in names])
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value)
    return "" if value is None else str(value)


def measured(files: Files, measures: list[str]) -> dict[str, float | None]:
    """What rankgauge says; raises Refused for bad input."""
    labels, results = files
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        try:
            scores = evaluate(labels, results, measures)
        except InputError as error:
            raise Refused(str(error)) from None
    return {name: scores[name] for name in measures}


def disagreements(data: DataSet) -> Iterator[str]:
    """What differs between the plain loop and a way in."""
    try:
        values: dict[str, float | None] | None = expected(data)
    except Refused:
        values = None
    has_forbidden = any(row.get("forbidden") for row in data.rows)
    measures = ["RR", "FalseAnswer", *(["Leak"] if has_forbidden else [])]
    with tempfile.TemporaryDirectory() as name:
        for way, files in ways_in(data, Path(name)):
            said = ""
            try:
                found: dict[str, float | None] | None = measured(files, measures)
            except Refused as error:
                found, said = None, f" ({error})"
            except RankgaugeError as error:
                yield f"seed {data.seed}, {way}: {error!r}"
                continue
            wanted = None if values is None else {measure: values[measure] for measure in measures}
            if not _is_same(found, wanted):
                yield f"seed {data.seed}, {way}: expected {wanted}, found {found}{said}\n{data.rows}"


def _is_same(found: dict[str, float | None] | None, wanted: dict[str, float | None] | None) -> bool:
    if found is None or wanted is None:
        return found is None and wanted is None
    return all(_are_equal(found[name], value) for name, value in wanted.items())


def _are_equal(found: float | None, wanted: float | None) -> bool:
    if found is None or wanted is None:
        return found is None and wanted is None
    return abs(found - wanted) < 1e-9
