"""The inputs of a gate: judgments that may be empty, and a baseline that may be a run or a stored one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.stored import baseline_from_stream
from rankgauge.comparison.versions.crossing import rescored
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, UsageError
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun
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
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.options import Reading
from rankgauge.io.pipeline.runs import read_runs
from rankgauge.io.read import as_qrels, documents_of
from rankgauge.io.sources import FileSource, can_read_again
from rankgauge.validation.label_rot import LabelCheck, compare_hashes, stored_hashes

AnyCorpus = str | Path | Corpus | Mapping[str, Any] | Iterable[str]
TEXT_CORPORA = (str, Path, Corpus, Mapping)  # any other corpus has ids only
SMALL_FILE = 1 << 16  # bytes up to which a file of judgments is checked for being blank


@dataclass(frozen=True, eq=False)
class RunAgain:
    """A run that was scored and is read again, for what is not in its scores."""

    source: AnyRun
    reading: Reading

    def rescored(self, qrels: Qrels, like: Scores) -> Scores:
        """Its scores with other judgments; measures and conventions stay."""
        return rescored(self.source, qrels, like, replace(self.reading, fingerprint=False, keep_rankings=False))

    def documents(self) -> Iterator[Ids]:
        """All documents in it, in several columns."""
        return documents_of(self.source, self.reading)


def gate_judgments(source: AnyQrels, reading: Reading) -> Qrels:
    """Judgments; a blank file has no labeled query, which is not an error here."""
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
