"""The plan of a benchmark, from a configuration or from a few options: which systems search which chunkings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.benchmark.chunkings import check_chunkings, over_chunkings
from rankgauge.config.band_sources import collection_bands
from rankgauge.config.configured_settings import config_values, label_reading, reading_values
from rankgauge.config.retriever_settings import BenchmarkSettings, RetrieverSettings
from rankgauge.config.settings import Settings, make_reading
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.settings import check_settings, setting_of
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.io.byte_streams import AnyFile, LoadedFile
from rankgauge.io.corpus.chunking import Chunking
from rankgauge.io.corpus.corpus_files import CORPUS_FILE_NAMES, QUERIES_FILE_NAMES, find_qrels_file
from rankgauge.io.formats.json_text import plain_json
from rankgauge.io.matching import MATCH_KEY
from rankgauge.io.read import as_qrels, runs_and_notes
from rankgauge.io.reading_options import Reading
from rankgauge.io.results import NO_TEXTS_HINT, OpenedInputs, Opening, open_inputs
from rankgauge.io.sources import check_runs, is_plain
from rankgauge.labels.gold.gold_evaluation import GoldInputs
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.labels.gold.gold_labels import labels_with_texts
from rankgauge.measures.registry import GOLD_MEASURES
from rankgauge.report.manifest import SYSTEM_NAME
from rankgauge.retrieval.open_retriever import (
    ASKING_OPTIONS,
    OWN_MODE,
    RETRIEVER_MODES,
    is_own_retriever,
    is_retriever_file,
    named_retrievers,
    retriever_name,
    section_in_folder,
    section_of_file,
    settings_from,
    settings_of_section,
)

if TYPE_CHECKING:
    from rankgauge.config.retriever_sections import RetrieverSection
    from rankgauge.config.schema import Config

STORED_METHOD = "results"  # of a system whose results existed already
RERANKED = "hybrid+rerank"
BENCHMARK_MEASURES = ("kpi",)
SHIPPED = Path(__file__).parents[1] / "data" / "workshop"
DEFAULT_OPTIONS = GoldOptions()
PATH_KEYS = ("vectors", "query_vectors", "index")  # of a retriever


def default_measures(gold: AnyFile | None, *, has_corpus: bool = True) -> tuple[str, ...]:
    """The measures of a plan that names none: the KPI measures, or those of labels by text.

    Without a corpus, an ideal ranking is not known.
    """
    if gold is not None and not has_corpus:
        return tuple(map(str, GoldInputs(gold).measures(None, Conventions())))
    return BENCHMARK_MEASURES if gold is None else GOLD_MEASURES


def default_settings() -> Settings:
    """The usual measures."""
    return Settings(measures=BENCHMARK_MEASURES)


@dataclass(frozen=True)
class PlannedSystem:
    """A retriever, and what it searches."""

    settings: RetrieverSettings
    chunking: str | None = None  # the name of the chunking that it searches; None for the documents themselves

    @property
    def results(self) -> Run | None:
        """Results that exist already, for which nothing is asked; None for a retriever."""
        return self.settings.source if isinstance(self.settings.source, Run) else None

    @property
    def is_own(self) -> bool:
        """Whether it is a retriever of the user's own, whose results may come with their texts."""
        return self.settings.source is not None or is_own_retriever(self.settings.mode)

    @classmethod
    def of(cls, retriever: Any) -> PlannedSystem:
        """From settings, a mode, a run, or any object that can be asked."""
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

    A system is a mode, :class:`~rankgauge.retrieval.RetrieverSettings`, a :class:`~rankgauge.Run`, or any object that
    can be asked: a function of a query and k, or an object with ``retrieve``, ``invoke`` or ``search``. With ``gold``,
    labels by text instead of judgments, systems may search chunks of the documents, each split in another way;
    ``chunkings`` are these by name.
    """

    title: str
    corpus: str | None
    queries: str | LoadedFile
    qrels: str | LoadedFile | None  # None if there is gold
    systems: Mapping[str, PlannedSystem | Any]
    settings: Settings = field(default_factory=default_settings)
    k: int = setting_of(BenchmarkSettings, "k")
    latency: int = setting_of(BenchmarkSettings, "latency")  # single calls to time; 0 measures no latency
    max_failures: int | None = setting_of(BenchmarkSettings, "max_failures")  # if more do, the system has failed
    command: str = "rankgauge benchmark run"  # what reproduces it
    gold: str | LoadedFile | None = None
    matching: GoldOptions = DEFAULT_OPTIONS  # of gold
    chunkings: Mapping[str, Chunking] = field(default_factory=dict)

    @property
    def labels(self) -> str | LoadedFile:
        """The file of labels: judgments, or gold."""
        labels = self.qrels if self.gold is None else self.gold
        assert labels is not None  # one of the two is there
        return labels

    def __post_init__(self) -> None:
        if (self.qrels is None) == (self.gold is None):
            raise UsageError("a benchmark needs judgments, or gold, and not both")
        if self.gold is not None and not self.settings.reading.matches_ids:
            raise UsageError(
                "rules of matching do not apply to labels that are quotes or spans",
                hint="leave out reading.match and reading.match_fields",
            )
        if not self.systems:
            raise UsageError("a benchmark needs at least one retriever")
        planned = {name: PlannedSystem.of(system) for name, system in self.systems.items()}
        if self.gold is not None and self.corpus is None:
            if self.chunkings or not all(system.is_own for system in planned.values()):
                hint = "name them in the configuration: collection: corpus"
                raise UsageError("labels by text need the texts", hint=hint)
            GoldInputs(self.gold).measures(self.settings.measures, self.settings.conventions)  # raises if one needs all
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
        check_settings(self)


def default_systems(
    retriever_options: Mapping[str, Any] | None = None, retrievers: Sequence[str] = RETRIEVER_MODES
) -> dict[str, PlannedSystem]:
    """Systems by name, all with the same options; a reranker among these adds one more system, the last one."""
    options = dict(retriever_options or {})
    reranker = options.pop("rerank", None)
    named = named_retrievers(retrievers)
    systems = {name: PlannedSystem(_mode_settings(text, options)) for name, text in named.items()}
    if reranker is not None:
        first = "hybrid" if "hybrid" in retrievers else retrievers[-1]
        name = RERANKED if first == "hybrid" else f"{retriever_name(first)}+rerank"
        systems[name] = PlannedSystem(_mode_settings(first, {**options, "rerank": reranker}))
    return systems


def _mode_settings(mode: str, options: Mapping[str, Any]) -> RetrieverSettings:
    """The settings of a mode; how a retriever is asked applies to the user's own only."""
    usable = {name: value for name, value in options.items() if is_own_retriever(mode) or name not in ASKING_OPTIONS}
    if is_retriever_file(mode):
        return settings_of_section(section_of_file(mode), {name: usable[name] for name in usable if usable[name]})
    return settings_from({**usable, "mode": mode})


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


def plan_of_results(
    labels: Any, results: Sequence[Any], *, queries: Any = None, reading: Reading | None = None, **more: Any
) -> BenchmarkPlan:
    """A benchmark of results on labels, of every kind that :func:`~rankgauge.evaluate` takes, in their order.

    Live retrievers among them are asked when the plan is run. ``queries`` is a file with the queries' texts and
    columns, if the labels have none. ``more`` are further fields of the plan; its ``systems`` come after the results.
    """
    reading = reading or Reading()
    check_runs(results)
    opening = Opening(0, needs_rankings=True, asks=False)
    return plan_of_opened(labels, open_inputs(labels, results, reading, queries, opening), queries, reading, **more)


def plan_of_opened(
    labels: Any, opened: OpenedInputs, queries: str | None, reading: Reading, **more: Any
) -> BenchmarkPlan:
    """The benchmark of labels and results that were opened without asking.

    A file of judgments is copied into its folder as it is; labels that come with queries or results are written there.
    """
    systems = {**_result_systems(opened, reading, more.pop("asking", {})), **more.pop("systems", {})}
    more.setdefault("title", Path(str(labels)).stem if isinstance(labels, (str, Path)) else "results")
    has_corpus = more.setdefault("corpus", None) is not None
    runs = {name: system.results for name, system in systems.items() if system.results is not None}
    if opened.is_by_text:
        bare = next((name for name, run in runs.items() if run.extras is None or not run.extras.texts), None)
        if bare is not None and not has_corpus:
            raise UsageError(
                f"{shown(bare)} has no texts, which labels by text need",
                hint="name the documents: --corpus PATH, or keep the texts with the results: -o results.jsonl",
            )
        gold = LoadedFile("gold.jsonl", labels_with_texts(opened.labels.labels(reading)))
        more.setdefault("settings", Settings(measures=default_measures(gold, has_corpus=has_corpus)))
        return BenchmarkPlan(queries=queries or gold, qrels=None, gold=gold, systems=systems, **more)
    judgments = as_qrels(opened.labels, replace(reading, forbidden=None))
    is_file = isinstance(labels, (str, Path)) and Path(labels).is_file()
    is_copied = is_file and (is_plain(labels, "qrels") or judgments.judgments != "grades")
    qrels = str(labels) if is_copied else LoadedFile("qrels.json", _judgments_json(judgments))
    if opened.label_set is not None and not is_copied:
        from rankgauge.benchmark.label_inputs import LABELS_FILE, label_file_of

        by_rule = label_file_of(opened.label_set, reading)
        assert by_rule is not None
        qrels = LoadedFile(LABELS_FILE, by_rule.to_bytes())
        more.setdefault("settings", replace(default_settings(), reading=reading))
    texts = {} if opened.queries is None else opened.queries.known_texts()
    if queries is None and not texts and len(runs) < len(systems):
        name = next(name for name in systems if name not in runs)
        raise UsageError(f"retriever {shown(name)} needs the texts of the queries to ask", hint=NO_TEXTS_HINT)
    topics = queries or LoadedFile("queries.jsonl", _query_lines(judgments, texts))
    return BenchmarkPlan(queries=topics, qrels=qrels, systems=systems, **more)


def _result_systems(opened: OpenedInputs, reading: Reading, asking: Mapping[str, Any]) -> dict[str, PlannedSystem]:
    """The systems of results by names that files can have: those of their runs and retrievers, numbered if need be."""
    named: list[tuple[str, PlannedSystem]] = []
    for row, result in enumerate(opened.results):
        if row not in opened.live:
            named += [(run.name, PlannedSystem.of(run)) for run in runs_and_notes(result, reading)[0]]
        elif isinstance(result, str):
            named.append((retriever_name(result), PlannedSystem(_mode_settings(result, asking))))
        else:
            name = getattr(result, "name", None) or getattr(result, "__name__", type(result).__name__)
            named.append((str(name), PlannedSystem.of(result)))
    systems: dict[str, PlannedSystem] = {}
    for name, system in named:
        base = re.sub(r"[^A-Za-z0-9._+=,-]", "_", name)
        base = base if SYSTEM_NAME.fullmatch(base) else f"results{base}"
        taken = {known.lower() for known in systems}
        free = (base, *(f"{base}-{number}" for number in range(2, len(named) + 1)))
        systems[next(one for one in free if one.lower() not in taken)] = system
    return systems


def _judgments_json(judgments: Qrels) -> bytes:
    """Judgments as JSON, which holds every id, every grade, and queries without any: one query per line."""
    docs, grades = judgments.docs.to_text(), judgments.grades.tolist()
    spans = zip(judgments.queries.to_text(), pairwise(judgments.offsets.tolist()), strict=True)
    graded = {query: dict(zip(docs[begin:end], grades[begin:end], strict=True)) for query, (begin, end) in spans}
    lines = [f"{_json(query)}: {_json(row)}" for query, row in graded.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8", "surrogateescape")


def _query_lines(judgments: Qrels, texts: Mapping[str, str]) -> bytes:
    """The judged queries with their texts and columns, one per line."""
    columns = {name: column.tolist() for name, column in judgments.columns.items() if name != MATCH_KEY}
    rows = []
    for row, query in enumerate(judgments.queries.to_text()):
        text = {"text": texts[query]} if query in texts else {}
        values = {name: column[row] for name, column in columns.items()}
        known = {name: value for name, value in values.items() if isinstance(value, (str, int, float))}
        rows.append(_json({**plain_json(known), "_id": query, **text}))
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def plan_of_config(path: str | Path) -> BenchmarkPlan:
    """The benchmark that a ``rankgauge.yaml`` describes. Paths in it start from its folder."""
    from rankgauge.config.config_file import load_config

    return plan_of(load_config(path), path)


def plan_of(config: Config, path: str | Path, retrievers: Sequence[str] = ()) -> BenchmarkPlan:
    """The benchmark of a configuration that was read from ``path``, of all its retrievers or of those that are named.

    A name is one of the configuration, an engine, or a retriever of the user's own.
    """
    home, collection = Path(path).parent, config.collection
    named = named_retrievers(retrievers or tuple(config.retrievers), list(config.retrievers))
    systems: dict[str, PlannedSystem] = {}
    for name, text in named.items():
        if text not in config.retrievers:
            systems[name] = PlannedSystem.of(text)
            continue
        for values, section in config.retrievers[text].swept().items():
            systems[f"{name},{values}" if values else name] = _system(section, home)
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
                "measures": default_measures(collection.gold, has_corpus=corpus is not None),
                "bands": None if corpus is None else collection_bands(corpus),
                **config_values(config, home),
                "reading": label_reading(make_reading(reading_values(config))),
            }
        ),
        **asdict(config.benchmark.as_settings(BenchmarkSettings)),
        command=f"rankgauge benchmark run {Path(path).name}",
        gold=None if collection.gold is None else str(home / collection.gold),
        matching=config.reading.as_settings(GoldOptions),
        chunkings=chunkings,
    )


def _system(section: RetrieverSection, home: Path) -> PlannedSystem:
    """A retriever of the configuration, with its paths resolved."""
    paths = {key: str(home / path) for key in PATH_KEYS if (path := getattr(section, key)) is not None}
    return PlannedSystem(settings_of_section(section_in_folder(section, home), paths), section.chunking)


def _inputs(config: Config, home: Path, corpus: str | None) -> tuple[str | LoadedFile, str | LoadedFile | None]:
    """The files of queries and judgments; those in the corpus's folder if the configuration names none."""
    collection = config.collection
    for name in ("coverage", "tolerance"):
        if collection.gold is None and name in config.reading.model_fields_set:
            raise UsageError(
                f"reading.{name} applies to labels by text", hint="name them in the configuration: collection: gold"
            )
    if collection.gold is not None:
        if collection.qrels is not None:
            raise UsageError("collection.gold and collection.qrels are two kinds of labels", hint="keep one of the two")
        return str(home / (collection.queries or collection.gold)), None  # gold has the texts of its queries
    queries: str | LoadedFile | None = None if collection.queries is None else str(home / collection.queries)
    qrels: str | LoadedFile | None = None if collection.qrels is None else str(home / collection.qrels)
    if (queries is None or qrels is None) and corpus is not None and Path(corpus).is_dir():
        folder = plan_of_folder(corpus, systems=default_systems())
        queries, qrels = queries or folder.queries, qrels or folder.qrels
    if queries is None or qrels is None:
        missing = "queries" if queries is None else "qrels"
        raise UsageError(f"a benchmark needs {missing}", hint=f"name them in the configuration: collection: {missing}")
    return queries, qrels
