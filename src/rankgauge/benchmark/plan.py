"""The plan of a benchmark, from a configuration or from a few options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.benchmark.chunkings import check_chunkings, over_chunkings
from rankgauge.config.bands.loading import collection_bands
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.config.settings import Settings, config_values
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.io.corpus.chunking.options import Chunking
from rankgauge.io.corpus.collection import QUERIES_FILE_NAMES, find_qrels_file
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES
from rankgauge.labels.gold.options import GoldOptions
from rankgauge.measures.sets import GOLD_MEASURES
from rankgauge.report.manifest_shape import SYSTEM_NAME
from rankgauge.retrieval.fetch.modes import OWN_MODE, RETRIEVER_MODES, settings_from, settings_of_section
from rankgauge.retrieval.named import (
    ASKING_OPTIONS,
    is_own_retriever,
    is_retriever_file,
    section_in_folder,
    section_of_file,
)

if TYPE_CHECKING:
    from rankgauge.config.retrievers import RetrieverSection
    from rankgauge.config.schema import Config

RERANKED = "hybrid+rerank"
BENCHMARK_MEASURES = ("kpi",)
SHIPPED = Path(__file__).parents[1] / "data" / "workshop"
BUDGET_MEASURES = tuple(f"{name}(budget=2000)" for name in ("TokenRecall", "TokenPrecision", "TokenIoU"))
DEFAULT_OPTIONS = GoldOptions()
CALLS = 50  # of the pass that measures latency
DEPTH = 100
PATH_KEYS = ("vectors", "query_vectors", "index")  # of a retriever


def default_measures(gold: str | None, chunkings: Sized = ()) -> tuple[str, ...]:
    """The measures of a plan that names none: the KPI measures, or those of labels by text.

    Several chunkings are compared at equal budgets of tokens: the first k chunks of each are different amounts of text.
    """
    return BENCHMARK_MEASURES if gold is None else GOLD_MEASURES if len(chunkings) < 2 else BUDGET_MEASURES


def default_settings() -> Settings:
    """The usual measures."""
    return Settings(measures=BENCHMARK_MEASURES)


@dataclass(frozen=True)
class PlannedSystem:
    """A retriever, what it searches, and the corpora of its experts if it has any."""

    settings: RetrieverSettings
    experts: Mapping[str, str] = field(default_factory=dict)
    chunking: str | None = None  # the name of the chunking that it searches; None for the documents themselves

    @classmethod
    def of(cls, retriever: Any) -> PlannedSystem:
        """From settings, a mode, or any object that can be asked."""
        if isinstance(retriever, PlannedSystem):
            return retriever
        if isinstance(retriever, RetrieverSettings):
            return cls(retriever)
        if isinstance(retriever, str):
            return cls(_mode_settings(retriever, {}))
        return cls(RetrieverSettings(mode=OWN_MODE, source=retriever))


@dataclass(frozen=True)
class BenchmarkPlan:
    """A collection, the systems on it by name, and how they are scored. The first system is the baseline.

    A system is a mode, :class:`~rankgauge.retrieval.RetrieverSettings`, or any object that can be asked: a function of
    a query and k, or an object with ``retrieve``, ``invoke`` or ``search``. With ``gold``, labels by text instead of
    judgments, systems may search chunks of the documents, each split in another way; ``chunkings`` are these by name.
    """

    title: str
    corpus: str | None
    queries: str
    qrels: str | None  # None if there is gold
    systems: Mapping[str, PlannedSystem | Any]
    settings: Settings = field(default_factory=default_settings)
    k: int = DEPTH
    latency: int = CALLS  # single calls to time; 0 measures no latency
    max_failures: int = 0  # queries of a system that may fail; if more do, the system has failed
    command: str = "rankgauge benchmark run"  # what reproduces it
    gold: str | None = None
    matching: GoldOptions = DEFAULT_OPTIONS  # of gold
    chunkings: Mapping[str, Chunking] = field(default_factory=dict)

    @property
    def labels(self) -> str:
        """The file of labels: judgments, or gold."""
        return str(self.qrels if self.gold is None else self.gold)

    def __post_init__(self) -> None:
        if (self.qrels is None) == (self.gold is None):
            raise UsageError("a benchmark needs judgments, or gold, and not both")
        if self.gold is not None and self.corpus is None:
            raise UsageError("labels by text need the texts", hint="name them in the configuration: collection: corpus")
        if not self.systems:
            raise UsageError("a benchmark needs at least one retriever")
        planned = {name: PlannedSystem.of(system) for name, system in self.systems.items()}
        object.__setattr__(self, "systems", planned)
        check_chunkings(planned, self.chunkings, self.gold)
        for name in self.systems:
            if not SYSTEM_NAME.fullmatch(name):
                raise UsageError(
                    f"a retriever's name must be usable as a file name, found {shown(name)}",
                    hint="use only letters, digits and . _ + - = ,",
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


def default_systems(
    retriever_options: Mapping[str, Any] | None = None, modes: Sequence[str] = RETRIEVER_MODES
) -> dict[str, PlannedSystem]:
    """The three modes with the same options; a reranker among them becomes a system of its own, the last one."""
    options = dict(retriever_options or {})
    reranker = options.pop("rerank", None)
    systems = {_name(mode): PlannedSystem(_mode_settings(mode, options)) for mode in modes}
    if len(systems) < len(modes):
        raise UsageError(f"two retrievers have the same name: {', '.join(map(_name, modes))}")
    if reranker is not None:
        first = "hybrid" if "hybrid" in modes else modes[-1]
        name = RERANKED if first == "hybrid" else f"{_name(first)}+rerank"
        systems[name] = PlannedSystem(_mode_settings(first, {**options, "rerank": reranker}))
    return systems


def _mode_settings(mode: str, options: Mapping[str, Any]) -> RetrieverSettings:
    """The settings of a mode; how a retriever is asked applies to the user's own only."""
    usable = {name: value for name, value in options.items() if is_own_retriever(mode) or name not in ASKING_OPTIONS}
    if is_retriever_file(mode):
        return settings_of_section(section_of_file(mode), {name: usable[name] for name in usable if usable[name]})
    return settings_from({**usable, "mode": mode})


def _name(mode: str) -> str:
    """The name of a system by its mode: that of the object for module:object, that of the file for a file."""
    return Path(mode).stem if is_retriever_file(mode) else mode.rpartition(":")[2]


def shipped_plan(**changed: Any) -> BenchmarkPlan:
    """The bundled collection and the three modes."""
    return replace(plan_of_folder(SHIPPED, systems=default_systems()), **changed)


def plan_of_folder(folder: str | Path, **more: Any) -> BenchmarkPlan:
    """A collection in one folder: corpus, queries and judgments, as BEIR has them, and its own target bands if any."""
    path = Path(folder)
    queries = next((path / name for name in QUERIES_FILE_NAMES if (path / name).is_file()), None)
    if queries is None or not any((path / name).is_file() for name in CORPUS_FILE_NAMES):
        raise InputError.at(folder, None, "corpus.jsonl or queries.jsonl not found in this folder")
    judged = find_qrels_file(path, None)
    if judged is None:
        raise InputError.at(folder, None, "judgments (qrels/test.tsv or qrels.trec) not found in this folder")
    more.setdefault("title", path.resolve().name)
    more.setdefault("settings", replace(default_settings(), bands=collection_bands(path)))
    return BenchmarkPlan(corpus=str(folder), queries=str(queries), qrels=str(judged), **more)


def plan_of_config(path: str | Path) -> BenchmarkPlan:
    """The benchmark that a ``rankgauge.yaml`` describes. Paths in it start from its folder."""
    from rankgauge.config.reading import load_config

    return plan_of(load_config(path), path)


def plan_of(config: Config, path: str | Path) -> BenchmarkPlan:
    """The benchmark of a configuration that was read from ``path``."""
    home, collection = Path(path).parent, config.collection
    systems = {
        f"{name},{values}" if values else name: _system(section, home)
        for name, swept in config.retrievers.items()
        for values, section in swept.swept().items()
    }
    chunkings = {name: section.chunking() for name, section in config.chunking.items()}
    corpus = None if collection.corpus is None else str(home / collection.corpus)
    if corpus is not None and not Path(corpus).exists():
        raise InputError.at(path, None, f"collection.corpus: {shown(collection.corpus or '')} not found")
    queries, qrels = _inputs(config, home, corpus)
    return BenchmarkPlan(
        title=collection.name or (Path(corpus).stem if corpus else Path(path).stem),
        corpus=corpus,
        queries=queries,
        qrels=qrels,
        systems=over_chunkings(systems or default_systems(), chunkings),
        settings=Settings.of(
            {
                "measures": default_measures(collection.gold, chunkings),
                "bands": None if corpus is None else collection_bands(corpus),
                **config_values(config, home),
            }
        ),
        k=config.benchmark.k,
        latency=config.benchmark.latency,
        max_failures=config.benchmark.max_failures,
        command=f"rankgauge benchmark run {Path(path).name}",
        gold=None if collection.gold is None else str(home / collection.gold),
        matching=GoldOptions(collection.coverage, collection.tolerance),
        chunkings=chunkings,
    )


def _system(section: RetrieverSection, home: Path) -> PlannedSystem:
    """A retriever of the configuration, with its paths resolved."""
    paths = {key: str(home / path) for key in PATH_KEYS if (path := getattr(section, key)) is not None}
    experts = {name: str(home / corpus) for name, corpus in (section.experts or {}).items()}
    return PlannedSystem(settings_of_section(section_in_folder(section, home), paths), experts, section.chunking)


def _inputs(config: Config, home: Path, corpus: str | None) -> tuple[str, str | None]:
    """The files of queries and judgments; those in the corpus's folder if the configuration names none."""
    collection = config.collection
    for name in ("coverage", "tolerance"):
        if collection.gold is None and name in collection.model_fields_set:
            raise UsageError(
                f"collection.{name} applies to labels by text", hint="name them in the configuration: collection: gold"
            )
    if collection.gold is not None:
        if collection.qrels is not None:
            raise UsageError("collection.gold and collection.qrels are two kinds of labels", hint="keep one of the two")
        return str(home / (collection.queries or collection.gold)), None  # gold has the texts of its queries
    queries = None if collection.queries is None else str(home / collection.queries)
    qrels = None if collection.qrels is None else str(home / collection.qrels)
    if (queries is None or qrels is None) and corpus is not None and Path(corpus).is_dir():
        folder = plan_of_folder(corpus, systems=default_systems())
        queries, qrels = queries or folder.queries, qrels or folder.qrels
    if queries is None or qrels is None:
        missing = "queries" if queries is None else "qrels"
        raise UsageError(f"a benchmark needs {missing}", hint=f"name them in the configuration: collection: {missing}")
    return queries, qrels
