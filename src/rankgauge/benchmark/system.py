"""The turn of one system in a benchmark: build its retriever, fetch its run, and time single calls."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rankgauge.benchmark.chunkings import chunking_of
from rankgauge.benchmark.folder import run_path
from rankgauge.benchmark.listener import BenchmarkListener
from rankgauge.benchmark.plan import BenchmarkPlan, PlannedSystem
from rankgauge.benchmark.record import IndexRecord, SystemResult
from rankgauge.core.formatting import plural
from rankgauge.errors import Note, RetrieverError, held_warnings
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.report.report import Cost
from rankgauge.retrieval.base import QueryBatch, Retriever
from rankgauge.retrieval.fetch.fetch import FetchOptions, fetch_run
from rankgauge.retrieval.fetch.latency import Latency, measure_latency
from rankgauge.retrieval.fetch.modes import make_retriever
from rankgauge.retrieval.store import content_sha256
from rankgauge.secrets import error_text

INDEX_FOLDERS = {"lexical": ("lexical",), "vector": ("vector",), "hybrid": ("lexical", "vector")}  # by mode


@dataclass(frozen=True, eq=False)
class SystemRunner:
    """What all systems of a benchmark share: the plan, the queries, the corpus, and where files are written."""

    plan: BenchmarkPlan
    folder: Path
    queries: QueryBatch
    documents: Corpus | None
    indexes: Path
    listener: BenchmarkListener
    restart: bool
    chunks: Mapping[str, Corpus] = field(default_factory=dict)  # by chunking, if systems search these
    digests: dict[Path, str | None] = field(default_factory=dict)  # of the content of indexes, by their folders

    def run(self, name: str, system: PlannedSystem) -> SystemResult:
        """Build the retriever of a system, fetch its run, and time single calls of it."""
        progress = self.listener.started(name)
        documents = self.chunks[chunking_of(system)] if self.chunks else self.documents
        index = self._index_folder(system, documents)
        parts = [index / part for part in _index_parts(system)]
        is_new = all(not part.exists() for part in parts)
        start = time.monotonic()
        settings = replace(system.settings, index=str(index))
        experts = {expert: read_corpus(path) for expert, path in system.experts.items()}
        with held_warnings() as messages:
            retriever = make_retriever(settings, documents, self.queries, experts=experts)
        seconds = round(time.monotonic() - start, 3)
        fetched = fetch_run(
            retriever,
            self.queries,
            self.folder / run_path(name),
            k=self.plan.k,
            options=FetchOptions(tag=name, restart=self.restart, max_failures=self.plan.max_failures),
            progress=progress,
        )
        if fetched.resumed:
            reused = f"{plural(fetched.resumed, 'answer')} from an interrupted benchmark reused"
            self.listener.warned(name, Note("resumed", reused))
        for message in dict.fromkeys(messages):
            self.listener.warned(name, Note("retriever", message))
        for note in fetched.notes:
            self.listener.warned(name, note)
        if not any(answer.docs for answer in fetched.answers):
            raise RetrieverError("it returned no documents for any query")
        latency = self._latency(name, retriever) if self.plan.latency else Latency()
        files = [path for part in parts for path in part.rglob("*") if path.is_file()]
        cost = Cost(
            **asdict(latency),
            index_bytes=sum(path.stat().st_size for path in files) if files else None,
            index_seconds=seconds if is_new and files and self.plan.latency else None,
        )
        return SystemResult(fetched, retriever, cost, self._index_records(parts))

    def _index_records(self, parts: Sequence[Path]) -> tuple[IndexRecord, ...]:
        """The indexes in some folders, with the hash of each; a folder of the user's own is named without its path."""
        records = []
        for folder in parts:
            if folder not in self.digests:
                self.digests[folder] = content_sha256(folder)
            is_shared = folder.is_relative_to(self.indexes)
            name = folder.relative_to(self.indexes) if is_shared else Path(*folder.parts[-2:])
            digest = self.digests[folder]
            records += [] if digest is None else [IndexRecord(name.as_posix(), digest)]
        return tuple(records)

    def _latency(self, name: str, retriever: Retriever) -> Latency:
        """The latency of single calls; if a call fails now, the run is kept without it."""
        try:
            return measure_latency(retriever, self.queries, self.plan.k, self.plan.latency)
        except (Exception, SystemExit) as error:
            self.listener.warned(name, Note("no-latency", f"latency could not be measured: {error_text(error)}"))
            return Latency()

    def _index_folder(self, system: PlannedSystem, documents: Corpus | None) -> Path:
        """A folder for the indexes of all systems that can share them."""
        settings = system.settings
        if settings.index is not None:
            return Path(settings.index) / (chunking_of(system) if self.chunks else "")
        lexical = (settings.bm25, settings.stemmer, settings.stopwords)
        vectors = (
            settings.embedder, settings.vectors, settings.query_vectors, settings.center, settings.search,
        )  # fmt: skip
        searched = (documents.sha256,) if self.chunks and documents is not None else ()
        return self.indexes / hashlib.sha256(repr((lexical, vectors, *searched)).encode()).hexdigest()[:16]


def _index_parts(system: PlannedSystem) -> list[str]:
    """The folders of the indexes that a system reads; a callable has none here."""
    folders = INDEX_FOLDERS.get(system.settings.mode, ())
    return [f"{expert}/{folder}" for expert in system.experts for folder in folders] if system.experts else [*folders]
