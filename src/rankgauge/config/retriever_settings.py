"""Every setting of a retriever, with its default: how it searches, how it is called, how its answers are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import plural
from rankgauge.core.run import ScoreMeaning
from rankgauge.core.settings import Section, check_settings, check_values, declared, setting
from rankgauge.errors import UsageError

Unit = Literal["chunk", "document"]
BM25_VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
HTTP_TIMEOUT = 30.0  # seconds, as are the others
MODEL_TIMEOUT = 120.0  # of a model that judges


@dataclass(frozen=True)
class Bm25Parameters:
    """The parameters of BM25. The variants are those of https://doi.org/10.1007/978-3-030-45442-5_4, as in bm25s."""

    k1: float = setting(1.2, "k1 of BM25.", Section.RETRIEVER, flag="-", limits=">=0")
    b: float = setting(0.75, "b of BM25.", Section.RETRIEVER, flag="-", limits="0<=x<=1")
    variant: str = setting("lucene", "The variant of BM25.", Section.RETRIEVER, flag="-", choices=BM25_VARIANTS)
    delta: float = 0.5  # for bm25l and bm25+ only

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.delta >= 0:
            raise UsageError(f"delta: expected a number of at least 0, found {self.delta!r}")


@dataclass(frozen=True)
class JournalSettings:
    """What happens to the answers that an interrupted command left in its journal.

    By default they are used again if all of them are less than a day old; if one is older, it is an error: what a
    system answers today may differ. True uses them whatever their age, False discards them.
    """

    resume: bool | None = setting(
        None,
        "Reuse the answers of an interrupted run of this command, however old they are, or discard them.  "
        "[default: reuse them for a day, then ask]",
        Section.RETRIEVER,
        flag="--resume/--restart",
        common=True,
    )


@dataclass(frozen=True)
class RetrieverCalls:
    """How a retriever is called: how many results are fetched, how many calls run at once, timeouts and retries.

    ``fetch`` requests more results than k, which is needed if chunks collapse into documents; None requests k.
    ``timeout`` is in seconds; None never times out, except that a request over HTTP has a limit of its own.
    ``retries`` are attempts after the first, each after a longer pause, or after the ``Retry-After`` of the error.

    ``concurrency`` calls run at once, and the next begins when one ends.

    ``journal`` is a file that keeps answers as they arrive: after an interruption, the same evaluation asks only the
    rest. It is deleted when the evaluation is complete. ``resume`` decides about the answers that it holds, as in
    :class:`JournalSettings`. (:func:`fetch_run` has a journal of its own.)
    """

    fetch: int | None = setting(
        None, "Fetch N results, keep the top k.  [default: k]", Section.LIVE, flag="retriever.fetch", limits=">=1"
    )
    concurrency: int = setting(
        1,
        "Make at most N calls at once; the next begins when one ends.",
        Section.LIVE,
        flag="retriever.concurrency",
        limits=">=1",
    )
    timeout: float | None = setting(
        None,
        f"Time out a call after SECONDS.  [default: {HTTP_TIMEOUT:g} over HTTP, {MODEL_TIMEOUT:g} for a model, "
        "otherwise never]",
        Section.LIVE,
        flag="retriever.timeout",
        limits=">0",
    )
    retries: int = setting(
        0,
        "Retry a failed call up to N times, after longer and longer pauses.",
        Section.LIVE,
        flag="retriever.retries",
        limits=">=0",
    )
    journal: str | Path | None = None
    resume: bool | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        check_values(JournalSettings, {"resume": self.resume})

    @property
    def load(self) -> str:
        """How queries are sent, in words."""
        return f"{plural(self.concurrency, 'call')} at once"


DEFAULT_CALLS = RetrieverCalls()
CALL_OPTIONS = tuple(declared(RetrieverCalls))


@dataclass(frozen=True)
class RetrieverSettings:
    """All settings of a retriever."""

    mode: str = "lexical"  # lexical, vector, hybrid, or module:callable
    source: Any = None  # instead of a mode: an object that can be asked, or a section that describes one
    bm25: Bm25Parameters = field(default_factory=Bm25Parameters)
    stemmer: str = setting("english", "The Snowball stemmer of lexical search, or none.", Section.RETRIEVER, flag="-")
    stopwords: str | Sequence[str] = "english"
    embedder: str = setting(
        "wordllama",
        "Embed the texts of vector search with NAME.",
        Section.RETRIEVER,
        flag="--embedder NAME",
        common=True,
    )
    vectors: str | None = setting(
        None,
        "Precomputed document vectors by id instead of an embedder: Parquet, JSON Lines, or .npy with FILE.ids.txt.",
        Section.RETRIEVER,
        flag="-",
    )
    query_vectors: str | None = setting(None, "Precomputed query vectors by id.", Section.RETRIEVER, flag="-")
    # Chosen by a rule on four collections, as is the fusion: docs/concepts/retrieval-defaults.md.
    center: float = setting(
        0.0, "The share of the corpus's mean vector to subtract.", Section.RETRIEVER, flag="-", limits="0<=x<=1"
    )
    fusion: str = setting("rrf", "Combine rankings by this method.", Section.FUSION, flag="--method", common=True)
    weights: tuple[float, ...] | None = None  # None for equal weights
    normalization: str = setting(
        "min-max",
        "Make scores comparable in this way, for a fusion that adds scores.",
        Section.FUSION,
        flag="--normalization",
        common=True,
    )
    rrf_k: float = setting(60.0, "Set the constant of rrf.", Section.FUSION, flag="--rrf-k K", limits=">0", common=True)
    rerank: str | None = setting(
        None,
        "Rerank with sentences, cross-encoder/MODEL, or module:callable.",
        Section.RETRIEVER,
        flag="--rerank NAME",
        common=True,
    )
    rerank_top: int = setting(
        50, "How many of the top documents are reranked.", Section.RETRIEVER, flag="-", limits=">=1"
    )
    index: str | None = setting(
        None,
        "Keep indexes in DIR for the next time.",
        Section.RETRIEVER,
        flag="--index DIR",
        kind="path",
        common=True,
    )
    id: str | None = setting(
        None, "Find the id of a returned document at PATH: metadata.source, …", Section.LIVE, flag="retriever.id"
    )
    unit: Unit = setting(
        "chunk",
        "Rank chunks, or collapse them into their documents.",
        Section.LIVE,
        choices=("chunk", "document"),
        flag="retriever.unit",
    )
    scores: ScoreMeaning | None = setting(
        None,
        "Sort results by score, highest first or lowest first, or ignore scores.  [default: the order of the results "
        "counts, and scores that contradict it are reported]",
        Section.LIVE,
        choices=("similarity", "distance", "ignore"),
        flag="reading.scores",
    )
    calls: RetrieverCalls = DEFAULT_CALLS

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_SETTINGS = RetrieverSettings()
DEFAULT_K = 5  # results per query of a live evaluation: what an answer is written from


@dataclass(frozen=True)
class BenchmarkSettings:
    """How retrievers are run: how many results they return, how many calls are timed, and how many may fail."""

    k: int = setting(
        100, "Fetch at most N documents per query.", Section.RETRIEVER, flag="--k N", limits=">=1", common=True
    )
    latency: int = setting(
        50,
        "Time N calls of each system, one query at a time; 0 measures no latency.",
        Section.RETRIEVER,
        flag="--latency N",
        limits=">=0",
        common=True,
    )
    max_failures: int | None = setting(
        0,
        "Allow N queries to fail; if more do, exit with an error.",
        Section.LIVE,
        flag="--max-failures N",
        limits=">=0",
    )

    def __post_init__(self) -> None:
        check_settings(self)
