"""``evaluate``, with a cache: judgments and run are read, and joined only where a value is not known yet.

It pays where a join is dear and repeated: several measures of large runs, asked for again and again. Reading and
hashing the files are not saved, so for small files it saves nothing worth having.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import Floats
from rankgauge.evaluation.cache import MetricsCache, content_key
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Conventions, Names, Scores, evaluate
from rankgauge.evaluation.notes import Note
from rankgauge.io.join.inputs import as_qrels, as_run
from rankgauge.measures.parse import DEFAULT, parse_measure, parse_measures
from rankgauge.measures.spec import Measure


def evaluate_cached(
    qrels: AnyQrels,
    run: AnyRun,
    measures: Names | None = None,
    *,
    cache: MetricsCache,
    conventions: Conventions | None = None,
    rel: float | None = None,
    on_duplicate: OnDuplicate = "error",
    fingerprint: bool = False,
) -> Scores:
    """Score one run, taking from the cache what it has. The scores are those of ``evaluate`` to the last bit.

    Measures that were declared outside rankgauge are never cached: their code may change under the same name.
    """
    conventions = conventions or Conventions()
    judged, found = as_qrels(qrels), as_run(run, on_duplicate=on_duplicate)
    asked = parse_measures(measures or DEFAULT, compat=conventions.compat)
    content = content_key(judged.sha256, _content(found), asdict(conventions), rel)
    about = content_key(content, "about", sorted({m.cutoff for m in asked if isinstance(m.cutoff, int)}))
    keys = [content_key(content, measure.name, _column(judged, measure)) for measure in asked]
    known = [cache.get(key) for key in (about, *keys)] if all(map(_ours, asked)) else [None]
    if all(value is not None for value in known):
        header, *stored = [value for value in known if value is not None]
        columns = [_column_of(value) for value in stored]
        return Scores(
            run=found.name,
            run_sha256=found.sha256 if fingerprint else None,
            qrels=judged.name,
            qrels_sha256=judged.sha256 if fingerprint else None,
            queries=tuple(judged.queries.to_text()),
            measures=tuple(measure for _, measure, _ in columns),
            values=np.column_stack([values for _, _, values in columns]),
            conventions=conventions,
            columns=judged.columns,
            asked=tuple(name for name, _, _ in columns),
            **_read(header),
        )
    made = evaluate(
        judged, found, asked, **asdict(conventions), rel=rel, on_duplicate=on_duplicate, fingerprint=fingerprint
    )
    if all(map(_ours, asked)):
        cache.put({about: _written(made), **{key: _entry(made, place) for place, key in enumerate(keys)}})
    return made


def _ours(measure: Measure) -> bool:
    return measure.definition.kernel.__module__.startswith("rankgauge.")


def _content(run: Run) -> str:
    """A hash of the rows that are held. That of the file may be the same for a run that was cut since."""
    return replace(run, source_sha256=None).sha256


def _column(qrels: Qrels, measure: Measure) -> list[object] | None:
    """The cutoff of each query where it is in a column, which the hash of the judgments does not cover."""
    if not isinstance(measure.cutoff, str) or measure.cutoff not in qrels.columns:
        return None
    listed: list[object] = qrels.columns[measure.cutoff].tolist()
    return listed


def _entry(scores: Scores, place: int) -> bytes:
    """The values of one measure: its name as asked, its name as evaluated, and a float for each query."""
    names = f"{scores.asked[place]}\n{scores.measures[place]}\n".encode()
    return names + np.ascontiguousarray(scores.values[:, place], dtype="<f8").tobytes()


def _column_of(entry: bytes) -> tuple[Measure, Measure, Floats]:
    asked, name, values = entry.split(b"\n", 2)
    return parse_measure(asked.decode()), parse_measure(name.decode()), np.frombuffer(values, dtype="<f8")


def _written(scores: Scores) -> bytes:
    about = {
        "status": scores.status.tolist(),
        "averaged": scores.averaged.tolist(),
        "without_relevant": scores.without_relevant.tolist(),
        "notes": [[note.code, note.message] for note in scores.notes],
    }
    return json.dumps(about).encode()


def _read(header: bytes) -> dict[str, Any]:
    about = json.loads(header)
    return {
        "status": np.array(about["status"], dtype=np.uint8),
        "averaged": np.array(about["averaged"], dtype=bool),
        "without_relevant": np.array(about["without_relevant"], dtype=bool),
        "notes": tuple(Note(code, message) for code, message in about["notes"]),
    }
