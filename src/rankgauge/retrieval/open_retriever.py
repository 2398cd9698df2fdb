"""From settings, a name or a section of a configuration to a retriever: every command opens its retrievers here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from rankgauge.config.environment_variables import expand
from rankgauge.config.retriever_sections import RetrieverSection
from rankgauge.config.retriever_settings import CALL_OPTIONS, Bm25Parameters, RetrieverCalls, RetrieverSettings
from rankgauge.core.settings import declared
from rankgauge.errors import RankgaugeError, UsageError, printable, shown
from rankgauge.io.byte_streams import SERVER_HINT
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.formats.detection import YAML_SUFFIXES
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.embedders.embedder import Embedder
from rankgauge.retrieval.embedders.precomputed import PrecomputedEmbedder
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import DocumentTexts, RerankedRetriever, make_reranker
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.named_code import in_folder, is_object_path, load_object, unknown_name
from rankgauge.retrieval.retriever import Decisions, QueryBatch, Retriever
from rankgauge.secrets import error_text

RETRIEVER_MODES = ("lexical", "vector", "hybrid")
OWN_MODE = "own"  # the mode of a retriever that a section describes


def settings_from(options: Mapping[str, Any]) -> RetrieverSettings:
    """Settings from the options of ``runs fetch`` or the keys of a configuration; None means the default."""
    values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if "weights" in values:
        values["weights"] = tuple(values["weights"])
    values["calls"] = RetrieverCalls(**{name: values[name] for name in CALL_OPTIONS if name in values})
    values["bm25"] = Bm25Parameters(**{name: values[name] for name in declared(Bm25Parameters) if name in values})
    names = [entry.name for entry in fields(RetrieverSettings)]
    return RetrieverSettings(**{name: values[name] for name in names if name in values})


def settings_of_section(section: RetrieverSection, given: Mapping[str, Any] | None = None) -> RetrieverSettings:
    """Settings from the section of a configuration; ``given`` options override it."""
    source = {"source": section, "mode": OWN_MODE} if section.is_own else {}
    return settings_from({**section.model_dump(), **source, **(given or {})})


def make_retriever(
    settings: RetrieverSettings,
    documents: Corpus | None,
    queries: QueryBatch | None = None,
    *,
    decisions: Decisions | None = None,
) -> Retriever:
    """Build the retriever that the settings describe: a mode, optionally reranked."""
    builder = _RetrieverBuilder(settings, queries)
    retriever = builder.build_mode(documents)
    if settings.rerank is None:
        return retriever
    texts = DocumentTexts(builder.check_corpus(documents))
    reranker = make_reranker(settings.rerank, builder.load_embedder)
    return RerankedRetriever(retriever, reranker, texts, top=settings.rerank_top, decisions=decisions)


class _RetrieverBuilder:
    """Build the parts of a retriever; the embedder is loaded once."""

    def __init__(self, settings: RetrieverSettings, queries: QueryBatch | None) -> None:
        self.settings, self.queries = settings, queries
        self._embedder: Embedder | None = None

    def load_embedder(self) -> Embedder:
        """The embedder that the settings name."""
        if self._embedder is None:
            self._embedder = embedder(self.settings.embedder)
        return self._embedder

    def check_corpus(self, documents: Corpus | None) -> Corpus:
        """The corpus; an error if there is none."""
        if documents is None:
            raise UsageError(f"{self.settings.mode} retrieval needs a corpus", hint="name it: --corpus")
        return documents

    def build_mode(self, documents: Corpus | None) -> Retriever:
        """One mode over one corpus."""
        mode = self.settings.mode
        if self.settings.source is not None:
            return self._build_own(self.settings.source)
        if mode in RETRIEVER_MODES:
            self._check_no_asking_options()
        if mode == "lexical":
            return self._build_lexical(self.check_corpus(documents))
        if mode == "vector":
            return self._build_vector(self.check_corpus(documents))
        if mode == "hybrid":
            corpus = self.check_corpus(documents)
            return Hybrid(
                [self._build_lexical(corpus), self._build_vector(corpus)],
                method=self.settings.fusion,
                weights=self.settings.weights,
                normalization=self.settings.normalization,
                rrf_k=self.settings.rrf_k,
            )
        if is_own_retriever(mode):
            return self._build_own(mode)
        raise unknown_name("mode", mode, RETRIEVER_MODES, f"{', '.join(RETRIEVER_MODES)}, or module:callable")

    def _build_own(self, source: Any) -> Retriever:
        """A retriever of the user's own; one that answers batches is asked for batches."""
        opened, settings = open_retriever(source), self.settings
        if isinstance(opened.retriever, Retriever) and self._asking_option() is None:
            return opened.retriever
        return CallableRetriever(
            opened.retriever,
            name=opened.name,
            id=settings.id,
            unit=settings.unit,
            scores=settings.scores,
            calls=settings.calls,
            made_by=opened.identity,
        )

    def _check_no_asking_options(self) -> None:
        """Raise if an option was given that only applies to a retriever of the user's own: none is ignored."""
        option = self._asking_option()
        if option is not None:
            settings = declared(RetrieverSettings) | declared(RetrieverCalls)
            raise needless_option(settings[option].option)

    def _asking_option(self) -> str | None:
        """An option of asking that is not at its default."""
        settings, default = self.settings, RetrieverSettings()
        values = {**vars(settings.calls), "id": settings.id, "unit": settings.unit, "scores": settings.scores}
        defaults = {**vars(default.calls), "id": default.id, "unit": default.unit, "scores": default.scores}
        return next((name for name, value in values.items() if value != defaults[name]), None)

    def _build_lexical(self, documents: Corpus) -> Lexical:
        return Lexical(
            documents,
            parameters=self.settings.bm25,
            stemmer=self.settings.stemmer,
            stopwords=self.settings.stopwords,
            index=self._index_folder("lexical"),
        )

    def _build_vector(self, documents: Corpus) -> Vector:
        return Vector(
            documents,
            self._precomputed_embedder(documents) or self.load_embedder(),
            center=self.settings.center,
            index=self._index_folder("vector"),
        )

    def _precomputed_embedder(self, documents: Corpus) -> Embedder | None:
        document_vectors, query_vectors = self.settings.vectors, self.settings.query_vectors
        if document_vectors is None and query_vectors is None:
            return None
        if document_vectors is None or query_vectors is None or self.queries is None:
            raise UsageError("precomputed vectors are needed for both documents and queries")
        document_ids = (document.id for document in documents)
        return PrecomputedEmbedder(document_vectors, document_ids, query_vectors, list(self.queries.ids))

    def _index_folder(self, kind: str) -> Path | None:
        return None if self.settings.index is None else Path(self.settings.index) / kind


# A retriever of the user's own, by the text or the section of a configuration that names it.
#
# ``module:object`` and ``FILE.py:object`` are the object itself. A section with ``call`` is what that function returns
# for its ``params``, one with ``http`` or ``postgres`` is a server. :mod:`rankgauge.retrieval.asking` asks it.

ASKING_OPTIONS = ("id", "unit", "scores", *CALL_OPTIONS)


@dataclass(frozen=True)
class OpenRetriever:
    """A retriever that can be asked, its name, and what determines its answers beyond its code."""

    retriever: Any
    name: str | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)


def is_retriever_file(text: str) -> bool:
    """Whether a text names a file with the section of a retriever."""
    return text.endswith(YAML_SUFFIXES)


def is_own_retriever(text: str) -> bool:
    """Whether a text names a retriever of the user's own, and not a built-in mode."""
    return is_object_path(text) or is_retriever_file(text)


def retriever_name(text: str) -> str:
    """The name of a retriever by its text: that of the object for module:object, that of the file for a file."""
    return Path(text).stem if is_retriever_file(text) else text.rpartition(":")[2]


def named_retrievers(texts: Sequence[str], configured: Sequence[str] = ()) -> dict[str, str]:
    """The texts of retrievers by their names; a name of the configuration comes before all other meanings.

    Raises if a text names no retriever, or if two retrievers would have the same name.
    """
    names: dict[str, str] = {}
    for text in texts:
        if text not in configured:
            _check_retriever_text(text, configured)
        name = text if text in configured else retriever_name(text)
        other = next((known for known in names if known.lower() == name.lower()), None)
        if other is not None and names[other] == text:
            raise UsageError(f"retriever {shown(text)} is named twice", hint="name each retriever once")
        if other is not None:
            raise UsageError(
                f"two retrievers have the same name: {shown(names[other])} and {shown(text)}",
                hint="give them other names in a configuration: retrievers",
            )
        names[name] = text
    return names


def _check_retriever_text(text: str, configured: Sequence[str]) -> None:
    """Raise if a text is none of the engines, and does not have the form of a retriever of the user's own."""
    if text in RETRIEVER_MODES or is_own_retriever(text):
        return
    if text.startswith(("http://", "https://")):
        raise UsageError(
            f"{shown(text)} is a URL, which does not say how the server is asked",
            hint=SERVER_HINT,
        )
    known = list(dict.fromkeys([*configured, *RETRIEVER_MODES]))
    more = "FILE.yaml" if configured else "FILE.yaml, or give the rankgauge.yaml that has this name"
    raise unknown_name("retriever", text, known, f"{', '.join(known)}, module:object, ./FILE.py:name, {more}")


def needless_option(flag: str) -> UsageError:
    """The error for an option of asking without anything that is asked."""
    return UsageError(
        f"{flag} applies to a retriever of your own",
        hint=f"leave out {flag}, or name one: --retriever module:object",
    )


def section_of_file(path: str) -> RetrieverSection:
    """The section in a file; files that it names are found from its folder."""
    from rankgauge.config.config_file import load_retriever_section

    section = load_retriever_section(path)
    if section.sweep is not None:
        raise UsageError(
            f"{printable(path, None)}: a sweep is several retrievers",
            hint="put it under retrievers in a configuration for `rankgauge benchmark run`",
        )
    if section.chunking is not None:
        raise UsageError(
            f"{printable(path, None)}: only a benchmark splits documents",
            hint="leave out chunking, or put the retriever into a configuration for `rankgauge benchmark run`",
        )
    return section_in_folder(section, Path(path).parent)


def asking_options(text: str) -> dict[str, Any]:
    """The options of asking that the file of a retriever sets; none if the text names no file."""
    section = section_of_file(text).model_dump() if is_retriever_file(text) else {}
    return {name: section[name] for name in ASKING_OPTIONS if section.get(name) is not None}


def section_in_folder(section: RetrieverSection, folder: Path) -> RetrieverSection:
    """A section whose files, such as that of a Python object, are found from a folder."""
    found: dict[str, Any] = {
        key: in_folder(text, folder) for key in ("mode", "call") if (text := getattr(section, key)) is not None
    }
    if section.http is not None and isinstance(section.http.verify, str):
        found["http"] = section.http.model_copy(update={"verify": str(folder / section.http.verify)})
    return section.model_copy(update=found)


def open_retriever(source: Any, kind: str = "retriever") -> OpenRetriever:
    """The retriever that a text or a section names; any other object is the retriever itself."""
    if isinstance(source, OpenRetriever):
        return source
    if isinstance(source, str):
        if is_retriever_file(source):
            return open_retriever(section_of_file(source), f"{kind} {printable(source, None)}")
        return OpenRetriever(load_object(source, kind), source.rpartition(":")[2])
    if not isinstance(source, RetrieverSection):
        return OpenRetriever(source)
    if source.call is not None:
        return _made(source.call, source.params or {}, kind)
    engine = _server(source)
    if engine is not None:
        return OpenRetriever(engine, engine.name)
    if source.mode is not None and is_object_path(source.mode):
        return open_retriever(source.mode, kind)
    raise UsageError(
        f"{kind} has none of the keys that make a retriever: expected call, http, postgres, or mode: module:callable",
        hint="built-in modes need a corpus: use `rankgauge runs fetch` or `rankgauge benchmark run`",
    )


def _server(section: RetrieverSection) -> Any:
    """The engine of a section that describes a server; None for any other section."""
    if section.http is not None:
        from rankgauge.retrieval.engines.http import HttpEngine

        return HttpEngine(section.http, timeout=section.as_settings(RetrieverCalls).timeout)
    if section.postgres is not None:
        from rankgauge.retrieval.engines.postgres import PostgresEngine

        return PostgresEngine(section.postgres)
    return None


def _made(call: str, params: Mapping[str, Any], kind: str) -> OpenRetriever:
    """What a function returns for its parameters, in whose texts ``${NAME}`` is an environment variable."""
    make = load_object(call, kind)
    try:
        retriever = make(**_expanded(dict(params)))
    except (RankgaugeError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise UsageError(f"{kind} {shown(call)}: it could not be made: {printable(error_text(error), None)}") from error
    if retriever is None:
        raise UsageError(
            f"{kind} {shown(call)} returned None instead of a retriever", hint="name a retriever itself with mode"
        )
    return OpenRetriever(retriever, call.rpartition(":")[2], {"call": Path(call).name, "params": dict(params)})


def _expanded(value: Any) -> Any:
    """A value with the environment variables of all its texts."""
    if isinstance(value, str):
        return expand(value)
    if isinstance(value, dict):
        return {key: _expanded(inner) for key, inner in value.items()}
    return [_expanded(inner) for inner in value] if isinstance(value, list) else value
