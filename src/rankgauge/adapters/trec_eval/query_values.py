"""The values of each query as trec_eval computes them, one array for each line of a family."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.command_line import TREC_FILE_ERROR, Options, Request, TrecEvalError
from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats, count_by
from rankgauge.core.hits import Hits, divide
from rankgauge.core.ids import Ints
from rankgauge.core.ranking import Compat
from rankgauge.measures import trec_names as trec
from rankgauge.measures.aggregates import each
from rankgauge.measures.families.precision_recall import ELEVEN_POINTS

UTILITY_WEIGHTS = (1.0, -1.0, 0.0, 0.0)


def family_values(request: Request, hits: Hits, options: Options) -> list[Floats]:
    """The values of every query, for each label of the request."""
    level = options.level
    match request.name:
        case "iprec_at_recall":
            return interpolated(hits, request.numbers, level, options.compat)
        case "11pt_avg":
            points = request.numbers or ELEVEN_POINTS
            total = np.zeros(len(hits))
            for column in reversed(interpolated(hits, points, level, options.compat)):
                total = total + column
            return [total / len(points)]
        case "Rprec_mult":
            return precision_at_multiples(hits, request.numbers, level)
        case "utility":
            return [utility(hits, request.numbers or UTILITY_WEIGHTS, level, options.collection_size)]
        case "set_F":
            return [set_f(hits, request.numbers[0] if request.numbers else 1.0, level)]
        case "Rndcg" if not request.pairs:
            has_gain = count_by(hits.judged_query[hits.judged > 0], len(hits)) > 0
            is_undefined = ~has_gain & (hits.relevant_judged(level) > 0)
            return [np.where(is_undefined, NEGATIVE_NAN, kernel_values(request, hits, level))]
        case "dcg" | "ideal_dcg":
            return [gain_values(request, hits, level)]
    if grade_gains(request):
        return [gain_values(request, hits, level)]
    if request.family.kind == "p":
        return [kernel_values(request, hits, level, p=persistence(request))]
    if request.family.kind == "cutoffs":
        return [kernel_values(request, hits, level, cutoff=trec.bounded(int(depth))) for depth in request.numbers]
    values = kernel_values(request, hits, level)
    if request.family.make is not None and request.family.make.aggregate == "gmean":
        values = each(np.maximum(values, GEOMETRIC_FLOOR), math.log)
    return [values]


def kernel_values(request: Request, hits: Hits, level: int, **parameters: float) -> Floats:
    """The values that the measure behind the family computes."""
    definition = request.family.make
    if definition is None:
        return np.zeros(len(hits))
    arguments = {**definition.parameters, **request.family.extra, **parameters}
    arguments.pop("judged_only", None)
    if arguments.get("rel") is not None:
        arguments["rel"] = level
    return definition.kernel(hits, **arguments)


def interpolated(hits: Hits, points: tuple[float, ...], level: int, compat: Compat) -> list[Floats]:
    """Interpolated precision at each recall point.

    Points are taken from the last to the first. One that does not descend stops the search: it and all before it
    get the largest precision of the ranking.
    """
    relevant, total = hits.relevant(level), hits.relevant_judged(level)
    precision = relevant.position / relevant.rank

    def best_from(number: Ints) -> Floats:
        best = np.zeros(len(hits))
        chosen = relevant.position >= number[relevant.query]
        np.maximum.at(best, relevant.query[chosen], precision[chosen])
        return best

    overall = np.where(hits.retrieved == 0, NEGATIVE_NAN, best_from(np.zeros(len(hits), dtype=np.int64)))
    is_beyond, is_stopped = np.ones(len(hits), dtype=bool), np.zeros(len(hits), dtype=bool)
    reached = relevant.count
    columns = []
    for point in reversed(points):
        with np.errstate(invalid="ignore"):
            share = point * total.astype(np.float64)
        number = to_long(share + 0.9) if compat == "trec_eval-9" else to_long(round_half_away(share))
        is_beyond &= number > relevant.count
        is_stopped |= ~is_beyond & ((number <= 0) | (number > reached))
        reached = np.where(is_beyond | is_stopped, reached, number)
        columns.append(np.where(is_beyond, 0.0, np.where(is_stopped, overall, best_from(number))))
    return columns[::-1]


def precision_at_multiples(hits: Hits, multiples: tuple[float, ...], level: int) -> list[Floats]:
    """Precision at multiples of R. A cutoff that is not positive stops the search: the ones before it get 0."""
    total = hits.relevant_judged(level).astype(np.float64)
    is_stopped: NDArray[np.bool_] = np.zeros(len(hits), dtype=bool)
    columns = []
    for multiple in reversed(multiples):
        with np.errstate(invalid="ignore"):
            cutoff = to_long(multiple * total + 0.9)
        is_stopped |= cutoff <= 0
        values = divide(hits.top(cutoff).relevant(level).count, cutoff)
        columns.append(np.where(is_stopped, 0.0, values))
    return columns[::-1]


def utility(hits: Hits, weights: tuple[float, ...], level: int, collection: int) -> Floats:
    """Gains and costs of the retrieved set."""
    relevant, total = hits.relevant(level).count, hits.relevant_judged(level)
    rest = np.int64(collection) + relevant - hits.retrieved - total
    with np.errstate(all="ignore"):
        value: Floats = (
            weights[0] * relevant
            + weights[1] * (hits.retrieved - relevant)
            + weights[2] * (total - relevant)
            + weights[3] * rest
        )
    return value


def set_f(hits: Hits, weight: float, level: int) -> Floats:
    """The weighted harmonic mean of precision and recall; any weight is accepted."""
    count = hits.relevant(level).count
    precision, recall = divide(count, hits.retrieved), divide(count, hits.relevant_judged(level))
    with np.errstate(all="ignore"):
        return np.where(count > 0, (weight + 1.0) * precision * recall / (weight * precision + recall), 0.0)


def to_long(numbers: Floats) -> Ints:
    """Whole numbers as C converts them: cut towards 0; what does not fit is the smallest one."""
    is_fitting = np.abs(numbers) < 2.0**63
    return np.where(is_fitting, np.where(is_fitting, numbers, 0.0).astype(np.int64), -trec.LARGEST_LONG - 1)


def to_whole(number: float) -> int:
    """One number as C converts it to a long."""
    return int(to_long(np.array([number]))[0])


def round_half_away(numbers: Floats) -> Floats:
    """The nearest whole number; halves away from 0."""
    with np.errstate(invalid="ignore"):
        whole = np.trunc(numbers)
        return np.where(np.abs(numbers - whole) >= 0.5, whole + np.sign(numbers), whole)


# Measures with gains set on the command line, query by query: what trec_eval makes of any gains for any labels.

NOT_POOLED, POOLED_UNJUDGED = -1, -2  # trec_eval's labels of documents without a grade
LARGEST_DIFFERENCE = 2**31 - 1  # between two gains that trec_eval can compare
RBP_PERSISTENCE = 0.9
NEGATIVE_NAN = -math.nan  # 0/0 on most machines


def check_gains(request: Request, largest_grade: int) -> None:
    """Raise if gains are less than 1 apart: trec_eval treats them as equal, in an order that its sort decides."""
    gains = grade_gains(request)
    if not gains:
        return
    near = {round(gain) + step for _, gain in gains if math.isfinite(gain) for step in (-1, 0, 1)}
    grades = {0, largest_grade, *(grade for grade in near if 0 <= grade <= largest_grade)}
    ordered = sorted({gain for _, gain in gains} | {float(grade) for grade in grades - {grade for grade, _ in gains}})
    for low, high in pairwise(ordered):
        if not high - low >= 1:
            raise TrecEvalError(
                TREC_FILE_ERROR,
                f"gains {low:g} and {high:g} are less than 1 apart, which trec_eval cannot distinguish",
                hint="rankgauge evaluate -m 'nDCG(gains={…})' accepts any gains",
            )
    if not ordered[-1] - ordered[0] <= LARGEST_DIFFERENCE:
        raise TrecEvalError(TREC_FILE_ERROR, f"gains {ordered[0]:g} and {ordered[-1]:g} are too far apart")


def grade_gains(request: Request) -> list[tuple[int, float]]:
    """The gains that were set, by grade."""
    return [(trec.whole(name), gain) for name, gain in request.pairs if request.family.kind == "gains" or name != "p"]


class QueryGains:
    """The gains of one query: at each rank of its ranking, and of its ideal ranking.

    ``judged`` are the judgments that make the ideal ranking; see :func:`counted_queries`.
    """

    def __init__(self, hits: Hits, query: int, judged: Floats, gains: list[tuple[int, float]]) -> None:
        grades, counts = np.unique(judged[judged >= 0].astype(np.int64), return_counts=True)
        levels = [[gain, grade, 0] for grade, gain in gains]
        for grade, count in zip(grades.tolist(), counts.tolist(), strict=True):
            level = next((level for level in levels if level[1] == grade), None)
            if level is None:
                levels.append([float(grade), grade, count])
            else:
                level[2] = count
        levels.sort(key=lambda level: level[0])
        self.gain_of_label: dict[int, float] = {}
        for gain, label, _ in levels:
            self.gain_of_label.setdefault(int(label), gain)
        default = int(grades.max(initial=0))  # the largest grade with its own number as gain, judged or not
        while any(grade == default for grade, _ in gains):
            default -= 1
        self.largest = max([level[0] for level in levels] + [1.0, float(default)])
        self.smallest = min([level[0] for level in levels] + [0.0])
        self.ideal = [gain for gain, _, count in reversed(levels) if gain > 0 for _ in range(int(count))]
        labels = [NOT_POOLED] * int(hits.retrieved[query])
        for row in range(int(hits.offsets[query]), int(hits.offsets[query + 1])):
            grade = int(hits.grade[row])
            labels[int(hits.rank[row]) - 1] = grade if grade >= 0 else POOLED_UNJUDGED
        self.labels = labels
        self.results = [self.gain_of_label.get(label, 0.0) for label in labels]

    def dcg(self) -> list[float]:
        """The discounted gain of the ranking up to each rank, from rank 0."""
        return _discounted(self.results)

    def ideal_dcg(self) -> list[float]:
        """The discounted gain of the ideal ranking up to each rank, from rank 0."""
        return _discounted(self.ideal)


def gain_values(request: Request, hits: Hits, level: int) -> Floats:
    """The value of a measure with gains for every query."""
    gains = grade_gains(request)
    relevant = hits.relevant_judged(level)
    counted = counted_queries(hits)
    out = np.zeros(len(hits))
    with np.errstate(all="ignore"):
        for query in range(len(hits)):
            judged = hits.judged[hits.judged_offsets[counted[query]] : hits.judged_offsets[counted[query] + 1]]
            if request.name == "rbp":
                out[query] = rbp(QueryGains(hits, query, judged, gains), persistence(request))
            elif request.name != "Rndcg" or relevant[query]:
                out[query] = GAIN_MEASURES[request.name](QueryGains(hits, query, judged, gains))
    return out


def counted_queries(hits: Hits) -> list[int]:
    """The query whose judgments trec_eval counts by grade, for each query.

    If the largest grade of a query is -1, trec_eval clears no count, so those of the query before still hold.
    """
    counted: list[int] = []
    for query in range(len(hits)):
        judged = hits.judged[hits.judged_offsets[query] : hits.judged_offsets[query + 1]]
        is_kept = counted and len(judged) and judged.max() == NOT_POOLED
        counted.append(counted[-1] if is_kept else query)
    return counted


def persistence(request: Request) -> float:
    """The p of rbp: the last one that was set."""
    return next((value for name, value in reversed(request.pairs) if name == "p"), RBP_PERSISTENCE)


def ndcg(query: QueryGains) -> float:
    """The discounted gain divided by the ideal one."""
    ideal = query.ideal_dcg()[-1]
    return query.dcg()[-1] / ideal if ideal > 0 else 0.0


def ndcg_rel(query: QueryGains) -> float:
    """The mean of ndcg at the ranks with a gain; the final value for each gain that was not retrieved."""
    dcg, ideal = query.dcg(), query.ideal_dcg()
    ranks = [rank for rank, gain in enumerate(query.results, start=1) if gain > 0]
    total = 0.0
    for rank in ranks:
        total += _quotient(dcg[rank], ideal[min(rank, len(query.ideal))])
    total += _quotient(float(len(query.ideal) - len(ranks)) * dcg[-1], ideal[-1])
    return _quotient(total, len(query.ideal)) if total > 0 else 0.0


def rndcg(query: QueryGains) -> float:
    """The mean of ndcg at the ranks at which the ideal gain drops."""
    dcg, ideal = query.dcg(), query.ideal_dcg()
    size, retrieved = len(query.ideal), len(query.results)
    drops = [rank for rank in range(1, size + 1) if rank == size or query.ideal[rank] != query.ideal[rank - 1]]
    points = [(dcg[min(rank, retrieved)], ideal[rank]) for rank in drops]
    if retrieved > size + 1 and size:
        points.append((dcg[-1], ideal[-1]))
    total = 0.0
    for upper, lower in points:
        total += upper / lower
    return total / len(points) if points else NEGATIVE_NAN


def g(query: QueryGains) -> float:
    """Gain discounted by the effort beyond that of the ideal ranking."""
    total = cost = gained = 0.0
    for index, gain in enumerate(query.results):
        gained += gain
        cost += max(query.ideal[index], 1.0) if index < len(query.ideal) else 1.0
        if gain != 0:
            total += _quotient(gain, _log2(2 + cost - gained))
    ideal = _sum(query.ideal)
    return total / ideal if ideal > 0 else 0.0


def rbp(query: QueryGains, p: float) -> float:
    """Rank-biased precision, with gains scaled to at most 1."""
    total, weight = 0.0, 1.0
    is_scaled = query.smallest < 0 or query.largest > 1
    for label in query.labels:
        gain = query.gain_of_label.get(label)
        if gain is not None and is_scaled:
            gain = (gain - query.smallest) / (query.largest - query.smallest)
        if gain:
            total += gain * weight
        weight *= p
    return (1.0 - p) * total


GAIN_MEASURES: dict[str, Callable[[QueryGains], float]] = {
    "G": g,
    "dcg": lambda query: query.dcg()[-1],
    "ideal_dcg": lambda query: query.ideal_dcg()[-1],
    "ndcg": ndcg,
    "ndcg_rel": ndcg_rel,
    "Rndcg": rndcg,
}


def _discounted(gains: list[float]) -> list[float]:
    terms = (gain / math.log2(rank + 1) if gain else 0.0 for rank, gain in enumerate(gains, start=1))
    return list(accumulate(terms, initial=0.0))


def _sum(values: list[float]) -> float:
    return list(accumulate(values, initial=0.0))[-1]


def _quotient(upper: float, lower: float) -> float:
    return float(np.float64(upper) / np.float64(lower))


def _log2(number: float) -> float:
    if number > 0:
        return math.log2(number)
    return NEGATIVE_NAN if number else -math.inf
