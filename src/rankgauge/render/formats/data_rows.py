"""One row per value, for programs: CSV, JSON Lines and TREC's columns; and OpenMetrics, which Prometheus reads."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.formatting import percent
from rankgauge.errors import InputError
from rankgauge.evaluation.scores import Scores
from rankgauge.io.formats.delimited import guard_formula
from rankgauge.io.formats.json_text import json_text
from rankgauge.render.document import Rows, Value
from rankgauge.render.documents.scores import is_count
from rankgauge.secrets import mask_secrets

if TYPE_CHECKING:
    from rankgauge.history.entries import EntrySummary

FAMILIES = {
    "rankgauge_score": "Value of a measure over all queries, in the newest entry.",
    "rankgauge_score_lower": "Lower end of the {confidence} confidence interval of rankgauge_score.",
    "rankgauge_score_upper": "Upper end of the {confidence} confidence interval of rankgauge_score.",
    "rankgauge_score_queries": "Number of queries behind rankgauge_score.",
    "rankgauge_judged_ratio": "Share of the top 10 results that is judged.",
    "rankgauge_latency_seconds": "Latency of a query, if it was measured.",
    "rankgauge_saved_timestamp_seconds": "When the newest entry was saved, as a Unix time.",
}
ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
Sample = tuple[str, Mapping[str, str], float | int | None]  # family, labels, value


def as_csv(rows: Rows) -> str:
    """A header and one line per record; a field that a record does not have is empty.

    A text that a spreadsheet would run as a formula gets a ``'`` before it; numbers stay numbers.
    """
    lines = _CsvLines()
    writer = csv.writer(lines)
    writer.writerow(rows.fields)
    writer.writerows([_exact(record.get(field)) for field in rows.fields] for record in rows.records)
    return "".join(lines.kept)


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


# ------------------------------------------------------------------------------------------------------- OpenMetrics


def openmetrics(entries: Sequence[EntrySummary]) -> str:
    """The newest values of a history; ``entries`` have one of each collection and system.

    There are only gauges and no timestamps, so that the textfile collector of node_exporter takes it too.
    """
    from rankgauge.history.entries import CONFIDENCE

    samples = [sample for entry in entries for sample in _samples(entry)]
    lines = []
    for family, text in FAMILIES.items():
        # By their labels as they are written: names that are masked may be alike.
        own = {_labels(labels): value for name, labels, value in samples if name == family and value is not None}
        if own:
            lines += [f"# TYPE {family} gauge"]
            lines += [f"# UNIT {family} {unit}" for unit in ("seconds", "ratio") if family.endswith(f"_{unit}")]
            lines += [f"# HELP {family} {text.format(confidence=percent(CONFIDENCE))}"]
            lines += [f"{family}{{{labels}}} {value!r}" for labels, value in own.items()]
    return "\n".join([*lines, "# EOF\n"])


def _samples(entry: EntrySummary) -> Iterator[Sample]:
    labels = {"collection": entry.collection, "system": entry.system, "branch": entry.git.branch or ""}
    for measure, mean in entry.means.items():
        own = {**labels, "measure": measure}
        yield "rankgauge_score", own, mean.value
        yield "rankgauge_score_lower", own, mean.low
        yield "rankgauge_score_upper", own, mean.high
        yield "rankgauge_score_queries", own, mean.n
    yield "rankgauge_judged_ratio", labels, entry.facts["coverage"]
    for name, value in ({} if entry.cost is None else entry.cost.percentiles).items():
        own = {**labels, "percentile": name[1:]}
        yield "rankgauge_latency_seconds", own, None if value is None else value / 1000
    yield "rankgauge_saved_timestamp_seconds", labels, int(datetime.fromisoformat(entry.saved).timestamp())


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    """A label's value: text in UTF-8, with what would end it escaped."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return mask_secrets(text).translate(ESCAPES)
