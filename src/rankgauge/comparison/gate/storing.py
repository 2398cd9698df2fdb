"""Store runs as the baseline of later gates: a new file, or one more run of a stored baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.stored import BASELINE_HINT, read_baseline
from rankgauge.errors import InputError, MeasureError
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, Evaluation, evaluate_measures
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure


def write_baseline(
    path: str | Path,
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    append: bool = False,
    keep_run: bool = False,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Scores:
    """Store a run's values query by query, as the baseline of later gates.

    With ``append`` the run is added to the baseline in the file, if there is one: several runs of the same system show
    how much it differs from itself. Judgments, conventions and measures must be the same; the measures of the file are
    the default. With ``keep_run`` the run itself is stored too, so that it can be scored again if labels change.
    """
    evaluation = store_run(
        path,
        qrels,
        run,
        measures,
        append=append,
        keep_run=keep_run,
        conventions=conventions,
        reading=reading,
    )
    return evaluation.scores[0]


def store_run(
    path: str | Path,
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    append: bool = False,
    keep_run: bool = False,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> Evaluation:
    """Store the values of a run as a baseline, and return all that was read."""
    conventions = conventions or Conventions()
    reading = replace(reading or Reading(), fingerprint=True, keep_rankings=keep_run)
    existing = existing_baseline(path) if append else None
    requested = conventions.measures(measures)
    if existing is not None and not measures:
        requested = stored_measures(existing, conventions)
    evaluation = evaluate_measures(qrels, [run], requested, conventions=conventions, reading=reading)
    files = [source for source in (qrels, run) if isinstance(source, (str, Path))]
    with_run(existing, evaluation).write(path, inputs=files, keep_runs=keep_run)
    return evaluation


def append_baseline(
    path: str | Path, evaluation: Evaluation, *, inputs: Iterable[str | Path] = (), keep_run: bool = False
) -> None:
    """Add the first run of an evaluation to the baseline in a file, if there is one."""
    if not keep_run:  # one that cannot be read twice is in memory anyway
        evaluation = replace(evaluation, joined=tuple(replace(joined, run=None) for joined in evaluation.joined))
    with_run(existing_baseline(path), evaluation).write(path, inputs=inputs, keep_runs=keep_run)


def existing_baseline(path: str | Path) -> Baseline | None:
    """The baseline in a file; None if there is no such file."""
    if not Path(path).exists():
        return None
    existing = read_baseline(path)
    if existing is None:
        raise InputError.at(str(path), None, "not a stored baseline, so no run can be added to it", hint=BASELINE_HINT)
    return existing


def with_run(existing: Baseline | None, evaluation: Evaluation) -> Baseline:
    """A baseline with the first run of an evaluation added; raises if it was made in another way."""
    added = Baseline.of(evaluation, 0)
    if existing is None:
        return added
    existing.check_comparable(evaluation.scores[0], evaluation.qrels, "this run cannot be added")
    if set(added.measures) != set(existing.measures):
        raise InputError.at(
            existing.source,
            None,
            f"this run cannot be added: the baseline has {', '.join(existing.measures)}, and this run has "
            f"{', '.join(added.measures)}",
            hint="leave out -m for the measures of the baseline",
        )
    return existing.with_runs_of(added)


def stored_measures(stored: Baseline, conventions: Conventions) -> tuple[Measure, ...]:
    """The measures of a stored baseline."""
    try:
        return tuple(parse_measures(stored.measures, compat=conventions.compat))
    except MeasureError as error:
        raise InputError.at(stored.source, None, error.message, hint=error.hint) from None
