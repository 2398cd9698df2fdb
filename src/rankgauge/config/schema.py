"""The sections of ``rankgauge.yaml`` and what each key may be.

``retrieval_metrics`` is the block of RETRIEVAL-METRICS-001, §9.2, as it stands; what it says is read as if the sections
said it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.evaluation import NoRelevant, Queries
from rankgauge.measures.parse import parse_measures


def _known(name: str) -> str:
    parse_measures(name)
    return name


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _section(value: Any) -> Any:
    return {} if value is None else value  # a key with nothing behind it


def _named(value: Any) -> Any:
    return {"names": value} if isinstance(value, (str, list)) else _section(value)


Name = Annotated[str, AfterValidator(_known)]
Names = Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)]


class Section(BaseModel):
    """What all sections share: nothing is converted, nothing unknown is let by, nothing changes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Measures(Section):
    """Which measures, and what tools disagree on."""

    names: Names | None = Field(
        default=None, description="Measures or sets of them, in any notation; left out, the usual six."
    )
    graded: bool = Field(default=True, description="Whether grades count; false makes every measure binary.")
    level: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="The grade from which a document is relevant; left out, 1."
    )
    compat: Compat = Field(
        default="trec_eval-9", description="Whether scores are compared as float32 or (10) as float64."
    )
    queries: Queries = Field(
        default="qrels", description="Average over every judged query, or over those in the run too."
    )
    no_relevant: NoRelevant = Field(default="zero", description="What a query without relevant documents counts.")
    on_duplicate: OnDuplicate = Field(default="error", description="What to do with a document that stands twice.")


class Statistics(Section):
    """How sure a number is."""

    confidence_intervals: bool = Field(default=False, description="An interval for each mean, at 1 − alpha_level.")
    significance_testing: bool = Field(default=False, description="A paired test of each run against the first.")
    alpha_level: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="The level of intervals and tests."
    )


class Performance(Section):
    """How the work is done; no number depends on it."""

    batch_size: Annotated[int, Field(ge=1)] = Field(
        default=100, description="Queries held in memory at once, for lists."
    )
    caching_enabled: bool = Field(
        default=False, description="Whether values are kept by the content they were computed from."
    )
    cache_file: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Where; left out, metrics.sqlite in the user's cache folder."
    )
    parallel_processing: bool = Field(
        default=True, description="Whether several large runs may be read by processes; small ones never are."
    )


Text = Annotated[str, Field(min_length=1)]
Weights = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2)]


class Collection(Section):
    """What `rankgauge runs fetch` retrieves from; relative paths start from the configuration file."""

    corpus: Text | None = Field(default=None, description="A file or folder, in any format that --corpus takes.")
    queries: Text | None = Field(default=None, description="The queries; left out, those of the corpus's folder.")


class Retriever(Section):
    """One retriever; each key is the option of `rankgauge runs fetch` of that name, and has its default."""

    mode: Text | None = Field(default=None, description="lexical, vector, hybrid, or module:callable.")
    k1: float | None = None
    b: float | None = None
    variant: Text | None = None
    stemmer: Text | None = None
    stopwords: Text | None = None
    embedder: Text | None = None
    vectors: Text | None = None
    query_vectors: Text | None = None
    search: Text | None = None
    fusion: Text | None = None
    weights: Weights | None = None
    normalise: Text | None = None
    rrf_k: float | None = None
    rerank: Text | None = None
    rerank_top: int | None = None
    gate: Text | None = None
    shadow: bool | None = None
    experts: dict[str, Text] | None = Field(default=None, description="The corpus of each expert, by its name.")
    router: Text | None = None
    id_key: Text | None = None
    index: Text | None = None


class RetrievalMetrics(Section):
    """The block of RETRIEVAL-METRICS-001."""

    enabled_metrics: Names | None = Field(default=None, description="The same as measures.names.")
    graded_relevance: bool = Field(default=True, description="The same as measures.graded.")
    statistical_analysis: Annotated[Statistics, BeforeValidator(_section)] = Field(
        default=Statistics(), description="The same as statistics."
    )
    performance: Annotated[Performance, BeforeValidator(_section)] = Field(
        default=Performance(), description="The same as performance."
    )


class Config(Section):
    """A whole configuration."""

    measures: Annotated[Measures, BeforeValidator(_named)] = Field(
        default=Measures(), description="Which measures; a list of names will do."
    )
    statistics: Annotated[Statistics, BeforeValidator(_section)] = Field(
        default=Statistics(), description="How sure a number is."
    )
    performance: Annotated[Performance, BeforeValidator(_section)] = Field(
        default=Performance(), description="How the work is done."
    )
    collection: Annotated[Collection, BeforeValidator(_section)] = Field(
        default=Collection(), description="What is retrieved from."
    )
    retrievers: dict[str, Retriever] = Field(default={}, description="Retrievers by name.")
    retrieval_metrics: RetrievalMetrics | None = Field(
        default=None, description="The block of RETRIEVAL-METRICS-001, instead of the sections that say the same."
    )

    def merged(self) -> Config:
        """The same with what ``retrieval_metrics`` says in the sections where it belongs."""
        block = self.retrieval_metrics
        if block is None:
            return self
        measures = Measures(names=block.enabled_metrics, graded=block.graded_relevance)
        return Config(
            measures=measures,
            statistics=block.statistical_analysis,
            performance=block.performance,
            collection=self.collection,
            retrievers=self.retrievers,
        )
