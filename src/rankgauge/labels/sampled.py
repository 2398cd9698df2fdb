"""Measures from a random sample of each query's pool: every judged document represents 1/probability documents.

Unlike infAP, which assumes that every document of a pool was equally likely, the strata may have different
probabilities. Aslam and Pavlu, A practical sampling strategy for efficient retrieval evaluation, 2007 (statAP).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankgauge.core.run import Run
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.formats.judgments import median_grade
from rankgauge.labels.reading import current_judgments
from rankgauge.labels.records import Inclusion, Judgment


@dataclass(frozen=True)
class SampledValues:
    """Estimates for one query: average precision, precision in the top k, and the number of relevant documents."""

    query: str
    ap: float
    precision: float
    relevant: float


@dataclass(frozen=True)
class _SampledDocument:
    """A judged document: whether it is relevant, and the stratum that it was drawn from."""

    is_relevant: bool
    stratum: str
    size: int
    drawn: int

    @property
    def probability(self) -> float:
        return self.drawn / self.size

    def joint_probability(self, other: _SampledDocument) -> float:
        """That of both being in the sample."""
        if self.stratum != other.stratum:
            return self.probability * other.probability
        return self.probability * (self.drawn - 1) / (self.size - 1)


def sampled_values(
    judgments: Sequence[Judgment], run: Run, *, k: int = 10, rel: float = 1.0
) -> tuple[SampledValues, ...]:
    """Estimate the measures of a run from judgments of a sampled pool, query by query.

    The sum of precisions at the relevant documents is a sum over pairs of relevant documents, and each pair in the
    sample counts 1 / (probability of the pair): the estimate of that sum, and of the number of relevant documents, is
    unbiased. Judgments without a probability, such as those of a move-to-front pool, are refused.
    """
    if k < 1:
        raise UsageError(f"k must be at least 1, found {k!r}")
    samples = _samples(judgments, rel)
    top = run.ranked()
    docs, offsets = top.docs.to_text(), top.offsets.tolist()
    rankings = {query: docs[offsets[row] : offsets[row + 1]] for row, query in enumerate(top.queries.to_text())}
    return tuple(_values(query, sample, rankings.get(query, []), k) for query, sample in sorted(samples.items()))


def _samples(judgments: Sequence[Judgment], rel: float) -> dict[str, dict[str, _SampledDocument]]:
    """The judged documents of each query, with the number of documents of each stratum that have a judgment."""
    grades: dict[tuple[str, str], list[float]] = {}
    inclusions: dict[tuple[str, str], Inclusion] = {}
    for judgment in current_judgments(judgments):
        pair = (judgment.query, judgment.doc)
        grades.setdefault(pair, []).append(judgment.grade or 0.0)
        inclusions[pair] = _checked(judgment)
    counts: dict[tuple[str, str], int] = {}
    sizes: dict[tuple[str, str], int | None] = {}
    for (query, _), inclusion in inclusions.items():
        key = (query, inclusion.stratum or "")
        counts[key] = counts.get(key, 0) + 1
        if sizes.setdefault(key, inclusion.stratum_size) != inclusion.stratum_size:
            found = " and ".join(str(size) for size in (sizes[key], inclusion.stratum_size))
            raise InputError(
                f"the stratum {shown(key[1])} of query {shown(query)} has two sizes (stratum_size): {found}",
                hint="the judgments of a query must come from one pool",
            )
    out: dict[str, dict[str, _SampledDocument]] = {}
    for (query, doc), inclusion in inclusions.items():
        drawn = counts[query, inclusion.stratum or ""]
        size = drawn if inclusion.stratum is None else max(drawn, inclusion.stratum_size or drawn)
        if drawn == 1 < size:
            raise InputError(
                f"one judgment in the stratum {shown(inclusion.stratum or '')} of query {shown(query)}, expected two",
                hint="judge the whole pool: a stratum with one judgment says nothing about its pairs of documents",
            )
        is_relevant = median_grade(grades[query, doc]) >= rel
        out.setdefault(query, {})[doc] = _SampledDocument(is_relevant, inclusion.stratum or "", size, drawn)
    if not out:
        raise InputError("there are no judgments to estimate from")
    return out


def _checked(judgment: Judgment) -> Inclusion:
    """How a document came to be judged; raise unless its probability is known."""
    inclusion = judgment.inclusion
    if inclusion is None or inclusion.probability is None or inclusion.strategy == "given":
        strategy = "unknown" if inclusion is None else inclusion.strategy
        raise InputError(
            f"document {shown(judgment.doc)} of query {shown(judgment.query)} has no inclusion probability "
            f"(strategy: {strategy}), so that nothing can be estimated for documents that were not judged",
            hint="pool with --strategy stratified or uniform, or evaluate with these judgments alone",
        )
    return inclusion


def _values(query: str, sample: dict[str, _SampledDocument], ranking: Sequence[str], k: int) -> SampledValues:
    found = [(rank, sample[doc]) for rank, doc in enumerate(ranking, 1) if doc in sample and sample[doc].is_relevant]
    relevant = sum(1 / document.probability for document in sample.values() if document.is_relevant)
    precisions = 0.0
    for position, (rank, document) in enumerate(found):
        pairs = sum(1 / document.joint_probability(earlier) for _, earlier in found[:position])
        precisions += (1 / document.probability + pairs) / rank
    at_k = sum(1 / document.probability for rank, document in found if rank <= k) / k
    return SampledValues(query, precisions / relevant if relevant else 0.0, at_k, relevant)
