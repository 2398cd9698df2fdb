"""What a benchmark is to do, from a configuration or from a few words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.comparison.compare import Statistics
from rankgauge.config.bands.presets import DEFAULT, preset
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.evaluation.evaluate import Conventions
from rankgauge.report.settings import Settings
from rankgauge.retrieval.corpus.opening import CORPORA, QUERIES, judgments
from rankgauge.retrieval.fetch.modes import MODES, RetrieverSettings, settings_from

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
RERANKED = "hybrid+rerank"
SHIPPED = Path(__file__).parents[1] / "data" / "workshop"
CALLS = 50  # of the pass that measures latency
DEPTH = 100


def usual_settings() -> Settings:
    """The usual measures with their target bands."""
    return Settings(bands=preset(DEFAULT))


@dataclass(frozen=True)
class System:
    """A retriever, and the corpora of its experts where it has any."""

    settings: RetrieverSettings
    experts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BenchmarkPlan:
    """A collection, the systems on it by name, and how they are scored. The first system is the baseline."""

    title: str
    corpus: str | None
    queries: str
    qrels: str
    systems: Mapping[str, System]
    settings: Settings = field(default_factory=usual_settings)
    by: tuple[str, ...] | None = None  # None: every column of the queries that makes a few groups
    k: int = DEPTH
    latency: int = CALLS  # single calls to time; 0 measures no times at all
    command: str = "rankgauge benchmark run"  # what makes it again

    def __post_init__(self) -> None:
        if not self.systems:
            raise UsageError("a benchmark needs at least one retriever")
        for name in self.systems:
            if not NAME.fullmatch(name):
                raise UsageError(
                    f"a retriever's name becomes a file's, found {shown(name)}",
                    hint="letters, digits and . _ + - only",
                )
        if len({name.lower() for name in self.systems}) < len(self.systems):
            raise UsageError(f"two retrievers have the same name: {', '.join(self.systems)}")
        if self.settings.baseline is not None and self.settings.baseline not in self.systems:
            close = nearest(self.settings.baseline, list(self.systems))
            raise UsageError(
                f"no system is called {shown(self.settings.baseline)}; there are {', '.join(self.systems)}",
                hint=f"did you mean {close}?" if close else None,
            )
        if self.k < 1 or self.latency < 0:
            raise UsageError(f"k must be at least 1 and latency at least 0, found {self.k} and {self.latency}")


def usual_systems(given: Mapping[str, Any] | None = None, modes: Sequence[str] = MODES) -> dict[str, System]:
    """The three modes with the same options; a reranker that these name becomes a system of its own, the last one."""
    options = dict(given or {})
    reranker = options.pop("rerank", None)
    systems = {_name(mode): System(settings_from({**options, "mode": mode})) for mode in modes}
    if len(systems) < len(modes):
        raise UsageError(f"two retrievers have the same name: {', '.join(map(_name, modes))}")
    if reranker is not None:
        first = "hybrid" if "hybrid" in modes else modes[-1]
        name = RERANKED if first == "hybrid" else f"{_name(first)}+rerank"
        systems[name] = System(settings_from({**options, "mode": first, "rerank": reranker}))
    return systems


def _name(mode: str) -> str:
    """The name of a system by its mode: a module:callable has the callable's."""
    return mode.rpartition(":")[2]


def shipped_plan(**changed: Any) -> BenchmarkPlan:
    """The collection that comes with the package, three modes and reranking."""
    return replace(plan_of_folder(SHIPPED, systems=usual_systems({"rerank": "sentences"})), **changed)


def plan_of_folder(folder: str | Path, **more: Any) -> BenchmarkPlan:
    """A collection in one folder: corpus, queries and judgments, as BEIR has them."""
    path = Path(folder)
    queries = next((path / name for name in QUERIES if (path / name).is_file()), None)
    if queries is None or not any((path / name).is_file() for name in CORPORA):
        raise InputError.at(folder, None, "expected a folder with corpus.jsonl and queries.jsonl, found none")
    judged = judgments(path, None)
    if judged is None:
        raise InputError.at(folder, None, "expected judgments (qrels/test.tsv or qrels.trec), found none")
    more.setdefault("title", path.resolve().name)
    return BenchmarkPlan(corpus=str(folder), queries=str(queries), qrels=str(judged), **more)


def plan_of_config(path: str | Path) -> BenchmarkPlan:
    """What a ``rankgauge.yaml`` asks for. Paths in it start from where it stands."""
    from rankgauge.config.reading import load_config

    config, home = load_config(path), Path(path).parent
    collection, said = config.collection, config.benchmark
    systems = {name: _system(one.model_dump(), home) for name, one in config.retrievers.items()}
    corpus = None if collection.corpus is None else str(home / collection.corpus)
    if corpus is not None and not Path(corpus).exists():
        raise InputError.at(path, None, f"collection.corpus: there is no {shown(collection.corpus or '')}")
    queries, qrels = _inputs(config, home, corpus)
    return BenchmarkPlan(
        title=collection.name or (Path(corpus).stem if corpus else Path(path).stem),
        corpus=corpus,
        queries=queries,
        qrels=qrels,
        systems=systems or usual_systems(),
        settings=_settings(config, path),
        by=None if said.by is None else tuple(said.by),
        k=said.k,
        latency=said.latency,
        command=f"rankgauge benchmark run {Path(path).name}",
    )


def _system(said: Mapping[str, Any], home: Path) -> System:
    """A retriever of the configuration, its paths made whole."""
    placed = {
        key: str(home / value) if key in ("vectors", "query_vectors", "index") and value is not None else value
        for key, value in said.items()
    }
    experts = {name: str(home / corpus) for name, corpus in (said.get("experts") or {}).items()}
    return System(settings_from(placed), experts)


def _inputs(config: Config, home: Path, corpus: str | None) -> tuple[str, str]:
    """The files of queries and judgments; those of the corpus's folder where the configuration names none."""
    collection = config.collection
    queries = None if collection.queries is None else str(home / collection.queries)
    qrels = None if collection.qrels is None else str(home / collection.qrels)
    if (queries is None or qrels is None) and corpus is not None and Path(corpus).is_dir():
        found = plan_of_folder(corpus, systems=usual_systems())
        queries, qrels = queries or found.queries, qrels or found.qrels
    if queries is None or qrels is None:
        missing = "queries" if queries is None else "qrels"
        raise UsageError(f"a benchmark needs {missing}", hint=f"name them in the configuration: collection: {missing}")
    return queries, qrels


def _settings(config: Config, path: str | Path) -> Settings:
    """How a configuration wants runs scored and compared."""
    from rankgauge.config.bands.loading import configured_bands

    measures, said = config.measures, config.statistics
    if not measures.graded:
        raise UsageError("a benchmark counts grades", hint="take 'graded: false' out, or set a level of relevance")
    given = {name: getattr(said, name) for name in ("test", "correction", "resamples", "seed")}
    return Settings(
        measures=tuple(measures.names or ("kpi",)),
        level=measures.level,
        conventions=Conventions(measures.compat, measures.queries, measures.no_relevant),
        statistics=Statistics(
            confidence=round(1 - said.alpha_level, 12),
            **{name: value for name, value in given.items() if value is not None},
        ),
        baseline=said.baseline,
        bands=configured_bands(path),
    )
