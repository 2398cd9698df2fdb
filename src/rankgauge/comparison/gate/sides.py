"""What a gate is given: judgments that may be empty, runs that may be pipes, a baseline that may be either."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rankgauge.comparison.gate.baseline import Baseline
from rankgauge.comparison.gate.stored import read_baseline
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun
from rankgauge.io.join.inputs import as_qrels, as_run
from rankgauge.io.join.joining import Reading
from rankgauge.io.queries import read_corpus
from rankgauge.io.reading import read_run
from rankgauge.io.sources import Limits, name_of, rereadable

AnyCorpus = str | Path | Iterable[str]
SMALL = 1 << 16  # bytes up to which a file of judgments is looked into for having nothing in it


def judgments(given: AnyQrels, format: str | None, limits: Limits) -> Qrels:
    """Judgments; a file with nothing in it holds no labelled query, which is no error here."""
    if isinstance(given, (str, Path)) and _is_blank(Path(given)):
        return Qrels.from_dict({}, name=name_of(given))
    return as_qrels(given, format=format, limits=limits)


def kept(given: AnyRun, reading: Reading) -> AnyRun:
    """A run that can be looked at twice: what can be read only once is read now."""
    if not isinstance(given, (str, Path)) or str(given).startswith("irds:"):
        return given
    with rereadable(given, limits=reading.limits) as file:
        return given if file == Path(given) else _read(file, str(given), reading)


def other_side(given: AnyRun | None, reading: Reading) -> tuple[AnyRun | None, Baseline | None]:
    """What to compare with: a run, or a stored baseline."""
    if not isinstance(given, (str, Path)) or str(given).startswith("irds:"):
        return given, None
    with rereadable(given, limits=reading.limits) as file:
        stored = read_baseline(file, source=str(given), limits=reading.limits)
        if stored is not None:
            return None, stored
        return (given if file == Path(given) else _read(file, str(given), reading)), None


def documents(run: AnyRun, reading: Reading) -> Ids:
    """Every document of a run."""
    if isinstance(run, (str, Path)) and not str(run).startswith("irds:"):
        return _read(run, str(run), reading).docs
    return as_run(run, on_duplicate=reading.on_duplicate).docs


def corpus_ids(corpus: AnyCorpus, limits: Limits) -> Ids:
    """The ids of a corpus, from a file or as they are."""
    if isinstance(corpus, (str, Path)):
        return read_corpus(corpus, limits=limits).ids
    return Ids.from_text(corpus, "document id")


def _is_blank(path: Path) -> bool:
    return path.is_file() and path.stat().st_size < SMALL and not path.read_bytes().strip()


def _read(path: str | Path, source: str, reading: Reading) -> Run:
    return read_run(
        path, format=reading.format, on_duplicate=reading.on_duplicate, limits=reading.limits, source=source
    )
