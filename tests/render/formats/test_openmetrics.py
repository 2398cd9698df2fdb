"""The text format of OpenMetrics, by its grammar."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.history import EntrySummary
from rankgauge.render.formats.openmetrics import openmetrics
from rankgauge.retrieval.latency import Cost

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (-?[0-9.]+(?:e[+-]?[0-9]+)?)")
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


def entry(collection: str, system: str, branch: str | None, value: float | None) -> EntrySummary:
    mean = {"value": value, "n": 48, "low": value, "high": None}
    facts = {
        "git": {"commit": None, "branch": branch, "dirty": None},
        "means": {"nDCG@10": mean, "P(rel=2)@5": mean},
        "coverage": 0.5,
        "cost": asdict(Cost(calls=3, p50=12.5, p95=20.0)),
    }
    named = {"saved": "2026-11-02T10:11:12Z", "system": system, "collection": collection, "labels": ""}
    return EntrySummary(Path("2026-11-02.jsonl"), {**facts, **named})


def families(text: str) -> dict[str, list[tuple[str, str]]]:
    """The samples of each family; each line is checked against the grammar."""
    *lines, end, empty = text.split("\n")
    assert (end, empty) == ("# EOF", "")
    found: dict[str, list[tuple[str, str]]] = {}
    current = ""
    for line in lines:
        if line.startswith("# TYPE "):
            current = line.split(" ")[2]
            assert current not in found
            assert line == f"# TYPE {current} gauge"
            found[current] = []
        elif line.startswith("#"):
            assert re.fullmatch(rf"# (?:UNIT {current} (?:seconds|ratio)|HELP {current} [^\\\n]+)", line)
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == current
            found[current].append((match[2], line.rpartition(" ")[2]))
    return found


@settings(max_examples=30)
@given(st.lists(st.tuples(NAMES, NAMES, st.none() | NAMES, VALUES), max_size=3, unique_by=lambda row: row[:2]))
def test_every_text_is_valid(rows: list[tuple[str, str, str | None, float | None]]) -> None:
    found = families(openmetrics([entry(*row) for row in rows]))
    values = [value for *_, value in rows if value is not None]
    scores = found.get("rankgauge_score", [])
    assert [float(text) for _, text in scores] == [value for value in values for _ in range(2)]
    for samples in found.values():
        assert len({labels for labels, _ in samples}) == len(samples)


def test_what_is_written() -> None:
    found = families(openmetrics([entry('a"b\\c\nd', "s", None, 0.25)]))
    labels = r'collection="a\"b\\c\nd",system="s",branch=""'
    assert found["rankgauge_score"][0] == (f'{labels},measure="nDCG@10"', "0.25")
    assert "rankgauge_score_upper" not in found
    assert found["rankgauge_latency_seconds"] == [
        (f'{labels},percentile="50"', "0.0125"),
        (f'{labels},percentile="95"', "0.02"),
    ]
    assert found["rankgauge_saved_timestamp_seconds"] == [(labels, "1793614272")]
    assert openmetrics([]) == "# EOF\n"


def test_names_that_are_masked_do_not_make_a_series_twice() -> None:
    tokens = [f"ghp_{digit * 24}" for digit in "12"]
    text = openmetrics([entry("labels", token, None, 0.25) for token in tokens])
    assert all(token not in text for token in tokens)
    assert len(families(text)["rankgauge_judged_ratio"]) == 1
