"""The newest values of a history as OpenMetrics, which Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rankgauge.core.formatting import percent
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
