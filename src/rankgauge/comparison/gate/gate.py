"""Judgments, a run, and what is required of it in; the verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.baseline_file import baseline_from_stream, stored_measures
from rankgauge.comparison.gate.causes import (
    NO_HASHES,
    KnownIds,
    RunAgain,
    blame_drop,
    fitting_baseline,
    fitting_part,
    grade_zero_notes,
    with_current_labels,
)
from rankgauge.comparison.gate.decision import (
    ComparedMeasure,
    compare_measures,
    pair_queries,
    sensitivity_notes,
    unpaired_notes,
)
from rankgauge.comparison.gate.gate_result import GateResult, RequiredValue
from rankgauge.comparison.gate.requirements import DEFAULT_RULE, Requirement, Rule, parse_requirements
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_measures, needed_depth
from rankgauge.evaluation.scores import Scores
from rankgauge.io.byte_streams import (
    AnyFile,
    Limits,
    LoadedFile,
    is_dataset,
    is_folder,
    load_file,
    open_source,
    rereadable,
    source_name,
)
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.pipeline.run_pipeline import read_runs
from rankgauge.io.read import as_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import OpenedInputs, Opening, is_file_name, open_inputs
from rankgauge.io.sources import FileSource, can_read_again, is_plain
from rankgauge.measures.measure import Measure
from rankgauge.validation.label_rot import LabelCheck, compare_hashes, stored_hashes


def gate(
    qrels: AnyQrels,
    run: AnyRun | None = None,
    measures: MeasureNames | None = None,
    *,
    require: str | Iterable[str] = (),
    baseline: AnyRun | Sequence[AnyRun] | Baseline | None = None,
    margin: float = DEFAULT_RULE.margin,
    two_sided: bool = False,
    statistics: Statistics = DEFAULT_RULE.statistics,
    corpus: AnyCorpus | None = None,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
) -> GateResult:
    """Whether a run has the required values and did not drop against a baseline.

    ``require`` holds texts like ``"nDCG@10>=0.35"``. ``baseline`` is a stored baseline, a run, or a list of runs of one
    system, whose mean is the baseline; ``measures`` are those compared with it, by default the baseline's own, else the
    required ones, else the default measures. A drop fails only if it is significant over all of these together,
    one-sided unless ``two_sided``, and at least ``margin``. ``corpus``, a file of documents or their ids, tells a
    retriever that got worse from documents that are gone; if the judgments keep text hashes, labels that no longer fit
    are found, and the run is tested on the queries whose labels do. If labels changed since a baseline was stored, both
    sides are compared with the same labels on the queries they share, and ``growth`` says what the labels did.
    A log holds judgments and a run; its labels apply to the baseline, too. Judgments may be labels by text, and the run
    or the baseline a live retriever. A run of a live retriever that failed for a query fails. If the judgments have no
    relevant document at all, the gate is skipped.
    """
    conventions = conventions or Conventions()
    requirements = parse_requirements(require, conventions)
    if not requirements and baseline is None:
        raise UsageError(
            "a gate needs a requirement or a baseline, and neither is given",
            hint='--require "nDCG@10>=0.35" asks for a value, --baseline baseline.json for no drop',
        )
    rule = Rule(margin, statistics, two_sided)
    reading = replace(reading or Reading(), fingerprint=True)
    baseline_runs, stored = runs_or_baseline(baseline, reading)
    opening = Opening(gated_depth(measures, stored, requirements, conventions))
    opened = open_gated(qrels, run, baseline_runs, reading, opening)
    check_one_system(opened, 1 + len(baseline_runs))
    if opened.is_by_text and not measures and stored is None and not requirements:
        measures = opened.labels.measures(None, conventions)
    opened = opened.judged(reading)
    qrels, runs, baseline_runs = opened.labels, opened.results, opened.results[1:]
    if not all(map(can_read_again, runs)):
        reading = replace(reading, keep_rankings=True)
    if baseline is not None:
        gated = _gated_measures(measures, stored, requirements, conventions)
    else:
        gated = conventions.measures(measures) if measures else ()  # to be stored
    requested = tuple(dict.fromkeys([*gated, *(requirement.measure for requirement in requirements)]))
    judgments, checked, is_checked = checked_judgments(qrels, corpus, reading)
    evaluation = evaluate_measures(judgments, runs, requested, conventions=conventions, reading=reading)
    if len(evaluation.scores) > len(runs):
        raise _several_systems([scores.run for scores in evaluation.scores], len(runs))
    if reading.keep_rankings and evaluation.joined:
        runs = [joined.run for joined in evaluation.joined]
    if evaluation.scores[0].without_relevant.all():
        reason = f"no query of {shown(evaluation.qrels.name)} has a relevant document, so nothing can be tested"
        required = _required_values(evaluation.scores[0], requirements, rule)
        return GateResult("skipped", evaluation, rule, required=required, reason=reason)
    rot = checked if checked is not None and checked.rotted_queries else None
    if rot is not None:
        judged_sha256 = evaluation.qrels.sha256
        evaluation = fitting_part(runs, judgments, rot, requested, conventions, reading)
        stored = None if stored is None else fitting_baseline(stored, judged_sha256, evaluation)
    notes = (*opened.notes, *grade_zero_notes(checked))
    result = GateResult("pass", evaluation, rule, rot=rot, notes=notes)
    if not len(evaluation.scores[0]):
        return replace(result, verdict="rotted")
    result = replace(result, required=_required_values(evaluation.scores[0], requirements, rule))
    if baseline_runs:
        stored = Baseline.of(evaluation, *range(1, len(evaluation.scores)))
    if stored is not None:
        known_ids = None if corpus is None else partial(corpus_ids, corpus, reading.limits)
        again = RunAgain(runs[0], reading) if evaluation.joined else None
        result = compare_with_baselines(replace(result, baseline=stored), len(gated), known_ids, again)
    if result.blame is not None and not is_checked:
        result = replace(result, notes=(*result.notes, NO_HASHES))
    missed = not all(row.met for row in result.required)
    has_failed = missed or result.blame is not None or bool(result.failed_queries)
    return replace(result, verdict="fail" if has_failed else "pass" if rot is None else "rotted")


def gated_depth(
    measures: MeasureNames | None,
    stored: Baseline | None,
    requirements: Sequence[Requirement],
    conventions: Conventions,
) -> int:
    """How many results of a query a gate looks at."""
    required = [requirement.measure for requirement in requirements]
    if stored is not None and not measures:
        return needed_depth([*stored_measures(stored, conventions), *required])
    chosen = conventions.measures(measures) if measures or not required else ()
    return needed_depth([*chosen, *required])


def check_one_system(opened: OpenedInputs, sources: int) -> None:
    """Raise if a log holds several systems: which of them is tested, or is the baseline, would be a guess."""
    if len(opened.results) > sources:
        raise _several_systems([source_name(getattr(one, "name", one)) for one in opened.results], sources)


def _several_systems(names: Sequence[str], sources: int) -> InputError:
    return InputError(
        f"expected one run in each source, found {len(names)} in {sources}: {listing(map(shown, names))}",
        hint="a gate tests one run: write the others to files of their own",
    )


def open_gated(
    qrels: AnyQrels,
    run: AnyRun | None,
    baseline_runs: Sequence[AnyRun],
    reading: Reading,
    opening: Opening,
    queries: Any = None,
) -> OpenedInputs:
    """The labels, the run and the runs of the baseline; those of a log that is tested apply to all."""
    opening = replace(opening, newest="first", log_is_system=run is None)
    results = [*([] if run is None else [run]), *baseline_runs]
    opened = open_inputs(qrels, results, reading, queries, opening)
    if len(opened.results) == len(baseline_runs):
        raise UsageError(
            "a gate needs labels and results", hint="name results after the labels; only a log has both in one file"
        )
    return opened


def _gated_measures(
    measures: MeasureNames | None,
    stored: Baseline | None,
    requirements: Sequence[Requirement],
    conventions: Conventions,
) -> tuple[Measure, ...]:
    """The measures that must not drop."""
    if measures:
        chosen = conventions.measures(measures)
        for measure in chosen:
            if not _is_comparable(measure):
                raise UsageError(
                    f"{measure} cannot be compared with a baseline: only means over queries of which higher or lower "
                    "values are known to be better can",
                    hint="leave it out of -m, or require a value of it",
                )
        return chosen
    if stored is None:
        chosen = tuple(requirement.measure for requirement in requirements) or conventions.measures(None)
    else:
        chosen = stored_measures(stored, conventions)
    chosen = tuple(measure for measure in chosen if _is_comparable(measure))
    if not chosen:
        raise UsageError("no measure of the baseline can be compared: name some with -m")
    return chosen


def _is_comparable(measure: Measure) -> bool:
    return measure.definition.aggregate == "mean" and measure.definition.direction != 0


def _required_values(scores: Scores, requirements: Sequence[Requirement], rule: Rule) -> tuple[RequiredValue, ...]:
    rows = []
    for requirement in requirements:
        value = scores[requirement.measure]
        interval = scores.interval(requirement.measure, confidence=rule.statistics.confidence)
        rows.append(RequiredValue(requirement, value, requirement.is_met(value), interval.low, interval.high))
    return tuple(rows)


# A run beside a baseline, and beside a fixed anchor if there is one. Both are compared at once, and corrected together
# like measures: a slow decline, of which a recent baseline is a part, still drops against the anchor.


def compare_with_baselines(
    result: GateResult, gated: int, known_ids: KnownIds | None, run: RunAgain | None
) -> GateResult:
    """The result with its comparison with the baseline, and with the cause if a measure got worse.

    ``run`` is the tested run, if there is more than its scores.
    """
    stored = result.baseline
    if stored is None:
        return result
    baselines = [stored] if stored.anchor is None else [stored, stored.anchor]
    current = [with_current_labels(baseline, result.evaluation, gated, run) for baseline in baselines]
    several = [pair_queries(scores, baseline, gated) for scores, baseline, _ in current]
    compared = compare_measures(several, result.rule)
    scores, baseline, growth = current[0]
    notes = (*result.notes, *unpaired_notes(scores, baseline, several[0]), *sensitivity_notes(compared[0], result.rule))
    anchored = compared[1] if stored.anchor is not None else ()
    result = replace(result, compared=compared[0], anchored=anchored, notes=notes, growth=growth)
    dropped = [place for place, rows in enumerate(compared) if _is_worse(rows)]
    if not dropped:
        return result
    place = dropped[0]
    blame = blame_drop(
        result.evaluation, baselines[place], compared[place], several[place], result.rule, known_ids, run
    )
    return replace(result, blame=blame)


def _is_worse(rows: tuple[ComparedMeasure, ...]) -> bool:
    return any(row.decision.outcome == "worse" for row in rows)


# The inputs of a gate: judgments that may be empty, and a baseline that may be a run or a stored one.

AnyCorpus = str | Path | Corpus | Mapping[str, Any] | Iterable[str]
TEXT_CORPORA = (str, Path, Corpus, Mapping)  # any other corpus has ids only
SMALL_FILE = 1 << 16  # bytes up to which a file of judgments is checked for being blank


def gate_judgments(source: AnyQrels, reading: Reading) -> Qrels:
    """Judgments; an empty dict or a blank file has no labeled query, which is not an error here."""
    if isinstance(source, Mapping) and not source:
        return Qrels.from_dict({})
    try:
        return as_qrels(source, reading)
    except InputError:
        if isinstance(source, (str, Path, LoadedFile)) and _is_blank(source):
            return Qrels.from_dict({}, name=source_name(source))
        raise


class CheckedJudgments(NamedTuple):
    """Judgments, and which of them fit the texts of the corpus, if they keep hashes."""

    judgments: Qrels
    check: LabelCheck | None
    is_checked: bool  # whether changed texts could be seen, if there is a corpus


def checked_judgments(source: AnyQrels, corpus: AnyCorpus | None, reading: Reading) -> CheckedJudgments:
    """Read judgments and compare their hashes with the corpus; a file is read once."""
    if corpus is None or not isinstance(corpus, TEXT_CORPORA):
        return CheckedJudgments(gate_judgments(source, reading), None, corpus is None)
    if not isinstance(source, (str, Path)) or is_dataset(source) or not Path(source).is_file():
        judgments = gate_judgments(source, reading)
        # Labels by text do not depend on ids.
        return CheckedJudgments(judgments, None, judgments.judgments == "passages")
    file = load_file(source)  # once, for the judgments and for the hashes
    judgments, hashes = gate_judgments(file, reading), stored_hashes(file, reading)
    if not hashes:
        return CheckedJudgments(judgments, None, is_checked=False)
    documents = read_corpus(corpus, limits=reading.limits)
    check = compare_hashes(judgments, hashes, documents, str(source))
    return CheckedJudgments(judgments, check, is_checked=True)


def runs_or_baseline(source: Any, reading: Reading) -> tuple[list[AnyRun], Baseline | None]:
    """What to compare with: runs, or a stored baseline."""
    if source is None:
        return [], None
    if not isinstance(source, (list, tuple)):
        run, stored = _run_or_baseline(source, reading)
        return ([run], None) if stored is None else ([], stored)
    if not source:
        raise UsageError("a baseline needs at least one run, and the list has none")
    opened = [_run_or_baseline(item, reading) for item in source]
    if any(stored is not None for _, stored in opened):
        raise UsageError("a list of runs cannot hold a stored baseline", hint="name the stored baseline alone")
    return [run for run, _ in opened], None


def _run_or_baseline(source: AnyRun, reading: Reading) -> tuple[AnyRun | None, Baseline | None]:
    if isinstance(source, Baseline):
        return None, source
    if not isinstance(source, (str, Path)) or is_dataset(source) or is_folder(source):
        return source, None
    if not is_file_name(str(source)) or (Path(source).is_file() and is_plain(source, "run")):
        return source, None
    with (
        rereadable(source, limits=reading.limits) as file,
        open_source(file, source=str(source), limits=reading.limits, hashed=True) as stream,
    ):
        stored = baseline_from_stream(stream)
        if stored is not None:
            return None, stored
        if can_read_again(source):
            return source, None
        run_file = FileSource(source, stream, "run", reading.run_format)
        run_file.has_many_runs = False
        return read_runs(run_file, replace(reading, columns=None))[0][0], None


def corpus_ids(corpus: AnyCorpus, limits: Limits) -> Ids:
    """The ids of a corpus, from a file or as they are."""
    if isinstance(corpus, TEXT_CORPORA):
        return read_corpus(corpus, limits=limits).ids
    return Ids.from_text(corpus, "document id")


def _is_blank(file: AnyFile) -> bool:
    if isinstance(file, LoadedFile):
        return len(file.stored) < SMALL_FILE and not file.stored.strip()
    path = Path(file)
    return path.is_file() and path.stat().st_size < SMALL_FILE and not load_file(path).stored.strip()
