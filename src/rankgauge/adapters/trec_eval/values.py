"""The values of each query as trec_eval computes them, one array for each line of a family."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.gains import NEGATIVE_NAN, gain_values, grade_gains, persistence
from rankgauge.adapters.trec_eval.options import Options
from rankgauge.adapters.trec_eval.requests import Request
from rankgauge.core.hits import Hits, divide
from rankgauge.core.ids import Ints
from rankgauge.core.ranking import Compat
from rankgauge.core.tables import GEOMETRIC_FLOOR, Floats, count_by
from rankgauge.measures import trec_names as trec
from rankgauge.measures.families.iprec import ELEVEN_POINTS
from rankgauge.measures.numbers import each

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
