"""The sections of ``rankgauge.yaml`` and what each key may be.

``retrieval_metrics`` is the block of RETRIEVAL-METRICS-001, §9.2, as it stands; what it says is read as if the sections
said it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from rankgauge.comparison.compare import Correction
from rankgauge.comparison.gate.requirements import parse_requirement
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.evaluation.evaluate import NoRelevant, Queries
from rankgauge.measures.parse import parse_measure, parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.stats.tests import PairedTest


def _known(name: str) -> str:
    parse_measures(name)
    return name


def _one(name: str) -> str:
    parse_measure(name)
    return name


def _requirement(text: str) -> str:
    parse_requirement(text)
    return text


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _section(value: Any) -> Any:
    return {} if value is None else value  # a key with nothing behind it


def _named(value: Any) -> Any:
    return {"names": value} if isinstance(value, (str, list)) else _section(value)


Name = Annotated[str, AfterValidator(_known)]
Names = Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)]
Required = Annotated[list[Annotated[str, AfterValidator(_requirement)]], BeforeValidator(_listed), Field(min_length=1)]
Text = Annotated[str, Field(min_length=1)]


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
    test: PairedTest | None = Field(default=None, description="How `rankgauge compare` tests a difference.")
    correction: Correction | None = Field(default=None, description="How it corrects p for the number of comparisons.")
    resamples: Annotated[int, Field(ge=100)] | None = Field(default=None, description="How often it tries out chance.")
    seed: int | None = Field(default=None, description="The same seed gives the same p.")
    baseline: Text | None = Field(default=None, description="The run that it compares with, by its name.")


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


class Gate(Section):
    """What `rankgauge gate` asks of a run; a relative path starts from the configuration file."""

    require: Required | None = Field(default=None, description="Values that measures must have: nDCG@10>=0.35.")
    against: Text | None = Field(default=None, description="A stored baseline or a run that it must not drop against.")
    measures: Names | None = Field(
        default=None, description="Those gated or stored; left out, the baseline's, else those required."
    )
    margin: Annotated[float, Field(ge=0)] = Field(default=0.0, description="A smaller drop never fails.")
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="How often it may fail though nothing changed."
    )


Threshold = Annotated[float, Field(allow_inf_nan=False)] | None


class Thresholds(Section):
    """The value at which each band of a measure begins."""

    baseline: Threshold = None
    good: Threshold = None
    strong: Threshold = None

    def given(self) -> dict[str, float]:
        """Those that there are, the lowest band first."""
        return {band: float(value) for band, value in self if value is not None}


class Kpi(Section):
    """Target bands: what a file of them holds, and what may stand in a configuration."""

    name: Text | None = Field(default=None, description="What tables call them; left out, the file's name.")
    bands: Annotated[dict[Annotated[str, AfterValidator(_one)], Thresholds], Field(min_length=1)] = Field(
        description="Thresholds by measure, in any notation."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Kpi:
        """Each measure once, and its thresholds in the order of its bands."""
        faults: list[InitErrorDetails] = []
        seen: set[Measure] = set()
        for text, thresholds in self.bands.items():
            measure = parse_measure(text)
            wanted = "each measure once" if measure in seen else _unordered(measure, thresholds)
            if wanted is not None:
                said = ", ".join(f"{band} {value:g}" for band, value in thresholds.given().items()) or "nothing"
                found = f"{measure} a second time" if measure in seen else f"{said} for {measure}"
                kind = PydanticCustomError("bands", "{wanted}", {"wanted": wanted})
                faults.append(InitErrorDetails(type=kind, loc=("bands", text), input=found))
            seen.add(measure)
        if faults:
            raise ValidationError.from_exception_data("Kpi", faults)
        return self


def _unordered(measure: Measure, thresholds: Thresholds) -> str | None:
    """What the thresholds should be and are not."""
    values, lower = list(thresholds.given().values()), measure.definition.better == "lower"
    if not values:
        return "one or more of baseline, good, strong"
    if values == sorted(set(values), reverse=lower):
        return None
    return "numbers that descend, as a lower value is better" if lower else "numbers that rise"


def _bands(value: Any) -> Any:
    """A name or a file as it is, thresholds checked."""
    return value if value is None or (isinstance(value, str) and value) else Kpi.model_validate(value)


Weights = Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=2)]


class Collection(Section):
    """What is retrieved from; relative paths start from the configuration file."""

    corpus: Text | None = Field(default=None, description="A file or folder, in any format that --corpus takes.")
    queries: Text | None = Field(default=None, description="The queries; left out, those of the corpus's folder.")
    qrels: Text | None = Field(default=None, description="The judgments; left out, those of the corpus's folder.")
    name: Text | None = Field(default=None, description="What to call it; left out, the corpus's name.")


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
    centre: Annotated[float, Field(ge=0, le=1)] | None = None
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


class Benchmark(Section):
    """What `rankgauge benchmark run` does with the retrievers."""

    k: Annotated[int, Field(ge=1)] = Field(default=100, description="Documents a query, at most.")
    by: Annotated[list[Text], BeforeValidator(_listed)] | None = Field(
        default=None, description="Columns of the queries to look into; left out, those that make a few groups."
    )
    latency: Annotated[int, Field(ge=0)] = Field(
        default=50, description="Single calls to time, for each retriever; 0 for no times at all."
    )


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
    gate: Annotated[Gate, BeforeValidator(_section)] = Field(
        default=Gate(), description="What is asked of a run in CI."
    )
    kpi: Annotated[str | Kpi | None, PlainValidator(_bands)] = Field(
        default=None, description="Target bands: a preset, none, a file, or thresholds; left out, trec-2025."
    )
    collection: Annotated[Collection, BeforeValidator(_section)] = Field(
        default=Collection(), description="What is retrieved from."
    )
    retrievers: dict[str, Retriever] = Field(default={}, description="Retrievers by name.")
    benchmark: Annotated[Benchmark, BeforeValidator(_section)] = Field(
        default=Benchmark(), description="What is done with them."
    )
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
            gate=self.gate,
            kpi=self.kpi,
            collection=self.collection,
            retrievers=self.retrievers,
            benchmark=self.benchmark,
        )
