"""The sections of ``rankgauge.yaml`` and the values of each key.

``retrieval_metrics`` is the block of RETRIEVAL-METRICS-001, §9.2, unchanged; it is read as if its content were in the
sections.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from rankgauge.comparison.gate.requirements import GateRule, parse_requirement
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.config.bands import BANDS, Uplift
from rankgauge.config.retriever_sections import RetrieverSection
from rankgauge.config.retriever_settings import BenchmarkSettings, RetrieverCalls, RetrieverSettings
from rankgauge.config.section_model import ConfigSection, Text, section_fault, with_settings
from rankgauge.config.settings import OutputSettings, SavedDate, Settings
from rankgauge.errors import UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.query_split import parse_part
from rankgauge.io.byte_streams import Limits
from rankgauge.io.corpus.chunking import Chunking
from rankgauge.io.reading_options import PassageMatching, Reading
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.measures.registry import DEFAULT_MEASURES


def _check_measures(name: str) -> str:
    Conventions().measures(name)
    return name


def _check_measure(name: str) -> str:
    Conventions().measure(name)
    return name


def _check_requirement(text: str) -> str:
    parse_requirement(text)
    return text


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _section(value: Any) -> Any:
    return {} if value is None else value  # a key with nothing behind it


def _named(value: Any) -> Any:
    return {"names": value} if isinstance(value, (str, list)) else _section(value)


Name = Annotated[str, AfterValidator(_check_measures)]
Names = Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)]
Required = Annotated[
    list[Annotated[str, AfterValidator(_check_requirement)]], BeforeValidator(_listed), Field(min_length=1)
]


@with_settings(Conventions)
class MeasuresSection(ConfigSection):
    """Which measures, and what tools disagree on."""

    names: Names | None = Field(
        default=None,
        description=(
            f"Measures or sets of them, in any notation. Default: {', '.join(DEFAULT_MEASURES)}; benchmark: kpi."
        ),
    )

    @field_validator("split", check_fields=False)
    @classmethod
    def _check_split(cls, part: str | None) -> str | None:
        return None if part is None else str(parse_part(part))


@with_settings(RetrieverSettings, only=("scores",))
@with_settings(Reading, Limits, PassageMatching)
class ReadingSection(ConfigSection):
    """How judgments and runs are read; relative paths start from the configuration file."""

    columns: dict[str, Text] | None = Field(
        default=None, description="The names of columns of the runs, by role: query, doc, score, rank or tag."
    )


@with_settings(Statistics)
@with_settings(Settings, only=("confidence_intervals", "significance_testing", "baseline", "by"))
class StatisticsSection(ConfigSection):
    """Confidence intervals and significance tests."""

    baseline: str | None = Field(
        default=None,
        description="The run or retriever to compare with, by name. Default: the first. Refused by gate.",
    )
    by: tuple[str, ...] | None = Field(
        default=None,
        description="Columns of the queries to group by. Default of benchmark: those with few groups.",
    )


class StatisticalAnalysis(ConfigSection):
    """The part of RETRIEVAL-METRICS-001 on statistics."""

    confidence_intervals: bool = Field(default=False, description="The same as statistics.confidence_intervals.")
    significance_testing: bool = Field(default=False, description="The same as statistics.significance_testing.")
    alpha_level: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.05, description="1 − statistics.confidence.")


@with_settings(Settings, only=("batch_size",))
class PerformanceSection(ConfigSection):
    """How the work is done; no number depends on it."""

    caching_enabled: bool = Field(
        default=False, description="Whether RetrievalMetricsSuite keeps values in memory; commands keep none."
    )
    parallel_processing: bool = Field(
        default=True, description="Whether several large runs may be read at the same time."
    )


@with_settings(GateRule, only=("margin", "undecided", "two_sided", "scored_elsewhere"))
@with_settings(Statistics, only=("confidence",), optional=True)
class GateSection(ConfigSection):
    """What `rankgauge gate` requires of a run; relative paths start from the configuration file."""

    require: Required | None = Field(
        default=None, description="Values that means must reach: nDCG@10>=0.35; with by, those of every group, too."
    )
    no_leaks: bool | None = Field(default=None, description="Whether any forbidden document that is returned fails.")
    require_each: Required | None = Field(default=None, description="Values that every query must reach: Success@5>=1.")
    requirements: dict[str, Required] | None = Field(
        default=None, description="With by, the requirements of groups by their labels, in place of require."
    )
    by: Annotated[list[Text], BeforeValidator(_listed), Field(min_length=1)] | None = Field(
        default=None, description="Columns of the queries to group by: every group must hold. Default: statistics.by."
    )
    allow: Text | None = Field(
        default=None, description="With require_each, a file of queries that may miss, each with a reason."
    )
    corpus: Text | None = Field(default=None, description="The documents, to tell lost documents from renamed ones.")
    baseline: Annotated[list[Text], BeforeValidator(_listed), Field(min_length=1)] | None = Field(
        default=None,
        description="Results to compare with: a log, a run, scores, or history:NAME; no measure may drop below them.",
    )
    measures: Names | None = Field(default=None, description="Gated measures. Default: the required ones.")
    confidence: float | None = Field(
        default=None, description="Instead of statistics.confidence: 0.99 lets 1% of unchanged builds fail."
    )


Threshold = Annotated[float, Field(allow_inf_nan=False)] | None


def _uplift(value: Any) -> Any:
    """A number, or a share of the baseline as text: 10%; or a list of two, the ends of a range."""
    if value is None or isinstance(value, Uplift):
        return value
    if isinstance(value, list):
        ends = [_uplift(end) for end in value]
        is_range = len(ends) == 2 and None not in ends and ends[0].relative == ends[1].relative
        if not is_range or ends[0].size >= ends[1].size:
            expected = "two ascending ends of a range: [0.03, 0.05] or [3%, 5%]"
            raise PydanticCustomError("uplift", "{expected}", {"expected": expected})
        return replace(ends[0], high=ends[1].size)
    is_share = isinstance(value, str) and value.strip().endswith("%")
    try:
        size = float(value.strip().removesuffix("%")) / 100 if is_share else float(value)
    except (TypeError, ValueError):
        size = math.nan
    if isinstance(value, bool) or (isinstance(value, str) and not is_share) or not 0 < size < math.inf:
        expected = "a positive number, or a share of the baseline such as 10%"
        raise PydanticCustomError("uplift", "{expected}", {"expected": expected})
    return Uplift(size, relative=is_share)


class Thresholds(ConfigSection):
    """The value at which each band of a measure begins, and the improvement over the baseline that is aimed at."""

    baseline: Threshold = None
    above: Threshold = None
    good: Threshold = None
    strong: Threshold = None
    uplift: Annotated[Uplift | None, PlainValidator(_uplift)] = None

    def present(self) -> dict[str, float]:
        """The thresholds that are set, lowest band first."""
        levels = ((band, getattr(self, band)) for band in BANDS)
        return {band: float(value) for band, value in levels if value is not None}


class Kpi(ConfigSection):
    """Target bands: the content of a file of bands, and of the key ``kpi`` in a configuration."""

    name: Text | None = Field(default=None, description="The name in tables. Default: the file's name.")
    bands: Annotated[dict[Annotated[str, AfterValidator(_check_measure)], Thresholds], Field(min_length=1)] = Field(
        description="Thresholds by measure, in any notation."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Kpi:
        """Each measure once, and its thresholds in the order of its bands."""
        faults: list[InitErrorDetails] = []
        seen: set[Measure] = set()
        for text, thresholds in self.bands.items():
            measure = parse_measure(text)
            expected = "each measure once" if measure in seen else _expected_order(measure, thresholds)
            if expected is not None:
                values = ", ".join(f"{band} {value:g}" for band, value in thresholds.present().items())
                uplift = "" if thresholds.uplift is None else f"uplift {thresholds.uplift}"
                values = ", ".join(filter(None, (values, uplift))) or "nothing"
                found = f"{measure} a second time" if measure in seen else f"{values} for {measure}"
                kind = PydanticCustomError("bands", "{expected}", {"expected": expected})
                faults.append(InitErrorDetails(type=kind, loc=("bands", text), input=found))
            seen.add(measure)
        if faults:
            raise ValidationError.from_exception_data("Kpi", faults)
        return self


def _expected_order(measure: Measure, thresholds: Thresholds) -> str | None:
    """What the thresholds should be, if they are not."""
    values, lower = list(thresholds.present().values()), measure.definition.direction < 0
    if thresholds.uplift is not None:
        if not measure.definition.direction:
            return "no uplift for a measure that is neither better nor worse if it is higher"
        if measure.definition.aggregate == "gmean" and not thresholds.uplift.relative:
            return "an uplift in percent, because geometric means differ by ratios"
    elif not values:
        return f"one or more of {', '.join(BANDS)}, uplift"
    if values == sorted(set(values), reverse=lower):
        return None
    return "descending numbers, because lower is better" if lower else "ascending numbers"


def _bands(value: Any) -> Any:
    """A name or a file unchanged; thresholds checked."""
    return value if value is None or (isinstance(value, str) and value) else Kpi.model_validate(value)


class SparkSection(ConfigSection):
    """Where `rankgauge evaluate --engine spark` runs."""

    master: Text | None = Field(
        default=None, description="The Spark master: local[2], spark://HOST:PORT, … Default: Spark's own."
    )
    settings: dict[str, str] = Field(default={}, description="Properties of Spark, such as spark.executor.memory: 8g.")


class CollectionSection(ConfigSection):
    """The corpus, queries and judgments; relative paths start from the configuration file."""

    corpus: Text | None = Field(default=None, description="A file or folder, in any format that --corpus takes.")
    queries: Text | None = Field(default=None, description="The queries. Default: those in the corpus's folder.")
    qrels: Text | None = Field(default=None, description="The judgments. Default: those in the corpus's folder.")
    gold: Text | None = Field(
        default=None, description="Labels by text, quotes or spans, instead of judgments; `chunking` needs them."
    )
    name: Text | None = Field(default=None, description="Its name in reports. Default: the corpus's name.")


@with_settings(OutputSettings)
class OutputSection(ConfigSection):
    """How much is shown, and in which order."""


@with_settings(SavedDate)
class HistorySection(ConfigSection):
    """What is saved beside a result."""


@with_settings(RetrieverSettings, only=("id", "unit"))
@with_settings(RetrieverCalls)
class LiveSection(ConfigSection):
    """How a live retriever among the results is called, and how its answers are read."""


@with_settings(BenchmarkSettings)
class BenchmarkSection(ConfigSection):
    """How `rankgauge benchmark run` runs the retrievers."""


class RetrievalMetrics(ConfigSection):
    """The block of RETRIEVAL-METRICS-001."""

    enabled_metrics: Names | None = Field(default=None, description="The same as measures.names.")
    graded_relevance: bool = Field(default=True, description="The same as measures.graded.")
    statistical_analysis: Annotated[StatisticalAnalysis, BeforeValidator(_section)] = Field(
        default=StatisticalAnalysis(), description="The same as statistics."
    )
    performance: Annotated[PerformanceSection, BeforeValidator(_section)] = Field(
        default=PerformanceSection(), description="The same as performance."
    )


@with_settings(Chunking)
class ChunkingSection(ConfigSection):
    """A way to split the documents."""

    @model_validator(mode="after")
    def _possible(self) -> ChunkingSection:
        try:
            self.chunking()
        except UsageError as error:
            raise section_fault(("overlap",), "an overlap smaller than the size", error.message) from None
        return self

    def chunking(self) -> Chunking:
        """What the section describes."""
        return self.as_settings(Chunking)


class Config(ConfigSection):
    """A whole configuration."""

    measures: Annotated[MeasuresSection, BeforeValidator(_named)] = Field(
        default=MeasuresSection(), description="Which measures; a plain list of names is accepted."
    )
    statistics: Annotated[StatisticsSection, BeforeValidator(_section)] = Field(
        default=StatisticsSection(), description="Confidence intervals and significance tests."
    )
    reading: Annotated[ReadingSection, BeforeValidator(_section)] = Field(
        default=ReadingSection(), description="How judgments and runs are read."
    )
    performance: Annotated[PerformanceSection, BeforeValidator(_section)] = Field(
        default=PerformanceSection(), description="How the work is done."
    )
    gate: Annotated[GateSection, BeforeValidator(_section)] = Field(
        default=GateSection(), description="What is required of a run in CI."
    )
    columns: dict[str, Literal["higher", "lower"]] = Field(
        default={}, description="Which values of columns of scores are better, by the names of the columns."
    )
    kpi: Annotated[str | Kpi | None, PlainValidator(_bands)] = Field(
        default=None, description="Target bands: a preset, none, a file, or thresholds. Default: none."
    )
    collection: Annotated[CollectionSection, BeforeValidator(_section)] = Field(
        default=CollectionSection(), description="The corpus, queries and judgments."
    )
    chunking: dict[str, ChunkingSection] = Field(
        default={}, description="Ways to split the documents, by name; each retriever is run on every one of them."
    )
    retrievers: dict[str, RetrieverSection] = Field(default={}, description="Retrievers by name.")
    retriever: Annotated[LiveSection, BeforeValidator(_section)] = Field(
        default=LiveSection(), description="How live retrievers among the results are called."
    )
    benchmark: Annotated[BenchmarkSection, BeforeValidator(_section)] = Field(
        default=BenchmarkSection(), description="How the retrievers are run."
    )
    output: Annotated[OutputSection, BeforeValidator(_section)] = Field(
        default=OutputSection(), description="How much is shown, and in which order."
    )
    history: Annotated[HistorySection, BeforeValidator(_section)] = Field(
        default=HistorySection(), description="What is saved beside a result."
    )
    spark: Annotated[SparkSection, BeforeValidator(_section)] = Field(
        default=SparkSection(), description="Where `evaluate --engine spark` runs."
    )
    retrieval_metrics: RetrievalMetrics | None = Field(
        default=None, description="The block of RETRIEVAL-METRICS-001, instead of the sections that say the same."
    )

    def merged(self) -> Config:
        """The configuration with the content of ``retrieval_metrics`` in the sections that have it."""
        block = self.retrieval_metrics
        if block is None:
            return self
        analysis = block.statistical_analysis
        return Config(
            measures=MeasuresSection.model_validate({"names": block.enabled_metrics, "graded": block.graded_relevance}),
            statistics=StatisticsSection.model_validate(
                {
                    "confidence_intervals": analysis.confidence_intervals,
                    "significance_testing": analysis.significance_testing,
                    "confidence": round(1 - analysis.alpha_level, 12),
                }
            ),
            reading=self.reading,
            performance=block.performance,
            gate=self.gate,
            columns=self.columns,
            kpi=self.kpi,
            collection=self.collection,
            chunking=self.chunking,
            retrievers=self.retrievers,
            retriever=self.retriever,
            benchmark=self.benchmark,
            output=self.output,
            history=self.history,
            spark=self.spark,
        )
