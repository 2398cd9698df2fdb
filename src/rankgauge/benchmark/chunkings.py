"""The chunkings of a benchmark: which system searches which, and the files of chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.errors import UsageError, nearest, shown
from rankgauge.io.corpus.chunking.chunks import ChunkedCorpus, write_chunks
from rankgauge.io.corpus.chunking.options import Chunking
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.corpus.reading import read_corpus
from rankgauge.io.writing import write_atomically
from rankgauge.report.manifest_shape import SYSTEM_NAME
from rankgauge.retrieval.named import is_own_retriever

if TYPE_CHECKING:
    from rankgauge.benchmark.plan import PlannedSystem

INPUTS_FOLDER = "inputs"
WHOLE_DOCUMENTS = "documents"  # the name of the chunking of a system that searches the documents as they are


def over_chunkings(systems: Mapping[str, PlannedSystem], chunkings: Mapping[str, Chunking]) -> dict[str, PlannedSystem]:
    """The systems; one that names no chunking becomes one for each, if there are several ways to split."""
    out: dict[str, PlannedSystem] = {}
    for name, system in systems.items():
        if system.chunking is not None or not chunkings:
            out[name] = system
            continue
        if system.settings.source is not None or is_own_retriever(system.settings.mode):
            raise UsageError(
                f"{name} is a retriever of your own, and it is not known which chunks it returns",
                hint=f"name the chunking that it searches: chunking: {next(iter(chunkings))}",
            )
        for chunking in chunkings:
            out[f"{name},chunking={chunking}"] = replace(system, chunking=chunking)
    return out


def check_chunkings(systems: Mapping[str, PlannedSystem], chunkings: Mapping[str, Chunking], gold: str | None) -> None:
    """Raise if a chunking cannot be compared, or if a system names one that is not there."""
    if chunkings and gold is None:
        raise UsageError(
            "chunkings are compared by labels that do not depend on them, and there are none",
            hint="name quotes or spans of the documents in the configuration: collection: gold",
        )
    for name in chunkings:
        if name == WHOLE_DOCUMENTS:
            raise UsageError(f"{shown(name)} is the name of documents that are not split", hint="choose another one")
        if not SYSTEM_NAME.fullmatch(name):
            raise UsageError(
                f"a chunking's name must be usable as a file name, found {shown(name)}",
                hint="use only letters, digits and . _ + - = ,",
            )
    for system, planned in systems.items():
        if planned.experts and gold is not None:
            raise UsageError(f"{system} has experts with corpora of their own, which labels by text do not cover")
        if planned.chunking is not None and planned.chunking not in chunkings:
            close = nearest(planned.chunking, list(chunkings))
            known = f"; there are {', '.join(chunkings)}" if chunkings else ", which the configuration has none of"
            raise UsageError(
                f"{system} searches the chunking {shown(planned.chunking)}{known}",
                hint=f"did you mean {close}?" if close else "describe it in the configuration: chunking",
            )


def chunking_of(system: PlannedSystem) -> str:
    """The chunking that a system searches."""
    return WHOLE_DOCUMENTS if system.chunking is None else system.chunking


def chunks_path(chunking: str) -> str:
    """The path of a file of chunks in the folder of a benchmark."""
    return f"{INPUTS_FOLDER}/chunks-{chunking}.jsonl"


def write_chunkings(
    documents: Corpus, names: Iterable[str], chunkings: Mapping[str, Chunking], folder: Path
) -> dict[str, Corpus]:
    """Split the documents in some ways; the chunks of each as a corpus in the folder, by its name."""
    corpora: dict[str, Corpus] = {}
    for name in dict.fromkeys(names):
        path = folder / chunks_path(name)
        if name in chunkings:
            write_chunks(ChunkedCorpus(documents, chunkings[name]), path)
        else:
            _write_documents(documents, path)
        corpora[name] = read_corpus(path)
    return corpora


def _write_documents(documents: Corpus, path: Path) -> None:
    """Write documents that are not split."""
    with write_atomically(path, inputs=documents.files) as file:
        for document in documents:
            name = document.id.decode("utf-8", "surrogateescape")
            row = {"_id": name, "title": document.title, "text": document.text}
            file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


class CombinedCorpus(Corpus):
    """Several corpora as one; a document that two of them have, which is the same span, comes once."""

    def __init__(self, corpora: Mapping[str, Corpus]) -> None:
        self.corpora = corpora
        self.source = ", ".join(dict.fromkeys(corpus.source for corpus in corpora.values()))

    def __iter__(self) -> Iterator[CorpusDocument]:
        seen: set[bytes] = set()
        for corpus in self.corpora.values():
            for document in corpus:
                if document.id not in seen:
                    seen.add(document.id)
                    yield document

    @property
    def sha256(self) -> str:
        """The hashes of the corpora."""
        return " ".join(corpus.sha256 for corpus in self.corpora.values())
