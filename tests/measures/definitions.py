"""Plain, slow definitions of the retrieval measures, to check the fast ones against.

Every definition takes one query:

* ``labels``: its ranking from rank 1; ``None`` = not in the judgments, negative = pooled but
  unjudged, otherwise the grade;
* ``judged``: all grades of its judgments; negative ones are neither relevant nor non-relevant.

The value is ``None`` where it is undefined. Sums are plain loops from left to right, because
``sum`` compensates from Python 3.12 on and then differs from trec_eval in the last bits.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

Label = float | None
Labels = Sequence[Label]
Grades = Sequence[float]
Definition = Callable[..., float | None]

ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
INFAP_EPSILON = 0.00001


# Parts


def add(terms: Iterable[float]) -> float:
    """Add from left to right with one rounding per addition."""
    total = 0.0
    for term in terms:
        total += term
    return total


def ratio(numerator: float, denominator: float) -> float:
    """Divide, with 0 where the denominator is 0."""
    return numerator / denominator if denominator else 0.0


def is_judged(label: Label) -> bool:
    """Tell whether the document has a grade that is not negative."""
    return label is not None and label >= 0


def is_relevant(label: Label, rel: float) -> bool:
    """Tell whether the document is judged with a grade of at least ``rel``."""
    return label is not None and label >= 0 and label >= rel


def count_relevant(labels: Labels, rel: float) -> int:
    """Count the relevant ones among labels or grades."""
    count = 0
    for label in labels:
        if is_relevant(label, rel):
            count += 1
    return count


def top(labels: Labels, cutoff: int | None) -> Labels:
    """Return the first ``cutoff`` labels, or all of them."""
    return labels if cutoff is None else labels[:cutoff]


def at_most(count: int, cutoff: int | None) -> int:
    """Return the smaller of the two, where there is a cutoff."""
    return count if cutoff is None else min(count, cutoff)


def hits_so_far(labels: Labels, rel: float) -> Iterator[tuple[int, int]]:
    """Yield (rank, number of relevant documents down to it) for each relevant document."""
    hits = 0
    for rank, label in enumerate(labels, start=1):
        if is_relevant(label, rel):
            hits += 1
            yield rank, hits


def sum_of_precisions(labels: Labels, rel: float) -> float:
    """Add the precision at the rank of each relevant document."""
    return add(hits / rank for rank, hits in hits_so_far(labels, rel))


def positive_gain(label: Label) -> float:
    """Return the grade as a gain, 0 for what is unjudged."""
    return label if label is not None and label > 0 else 0.0


def discounted(gains: Iterable[float]) -> float:
    """Add the gains, each divided by log2(rank + 1)."""
    return add(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


# Precision, recall and what is made of them


def precision(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int,
    rel: float = 1,
    norm: Literal["k", "retrieved"] = "k",
) -> float:
    """P_k; norm='retrieved' divides by the documents there are."""
    divisor = cutoff if norm == "k" else min(cutoff, len(labels))
    return ratio(count_relevant(top(labels, cutoff), rel), divisor)


def recall(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int,
    rel: float = 1,
    norm: Literal["all", "min"] = "all",
) -> float:
    """recall_k; norm='min' is relative_P_k, the share of what k documents can hold."""
    relevant = count_relevant(judged, rel)
    divisor = relevant if norm == "all" else min(cutoff, relevant)
    return ratio(count_relevant(top(labels, cutoff), rel), divisor)


def recall_all(labels: Labels, judged: Grades, *, cutoff: int, rel: float = 1) -> float:
    """Whether every relevant document is among the first k."""
    relevant = count_relevant(judged, rel)
    return float(relevant > 0 and count_relevant(top(labels, cutoff), rel) == relevant)


def context_precision(labels: Labels, judged: Grades, *, cutoff: int | None = None, rel: float = 1) -> float:
    """The sum of v_i * P@i, divided by the sum of v_i."""
    first = top(labels, cutoff)
    return ratio(sum_of_precisions(first, rel), count_relevant(first, rel))


def f_measure(labels: Labels, judged: Grades, *, cutoff: int, rel: float = 1, beta: float = 1.0) -> float:
    """F: the true F-beta of P_k and recall_k."""
    p = precision(labels, judged, cutoff=cutoff, rel=rel)
    r = recall(labels, judged, cutoff=cutoff, rel=rel)
    if p + r == 0:
        return 0.0
    return (1 + beta * beta) * p * r / (beta * beta * p + r)


def average_precision(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int | None = None,
    rel: float = 1,
    norm: Literal["all", "min"] = "all",
) -> float:
    """Compute map and map_cut_k; norm='min' divides by min(R, cutoff)."""
    relevant = count_relevant(judged, rel)
    divisor = relevant if norm == "all" else at_most(relevant, cutoff)
    return ratio(sum_of_precisions(top(labels, cutoff), rel), divisor)


def geometric_average_precision(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """gm_map: per query the average precision; only the aggregate differs."""
    return average_precision(labels, judged, rel=rel)


def r_precision(labels: Labels, judged: Grades, *, rel: float = 1, mult: float = 1.0) -> float:
    """Rprec_mult: the precision at rank mult * R, rounded up from 0.1 on."""
    cutoff = int(mult * count_relevant(judged, rel) + 0.9)
    return ratio(count_relevant(top(labels, cutoff), rel), cutoff)


def yaap(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """yaap: natural log of (1 + S) / (1 + R - S), S the summed precisions."""
    total = sum_of_precisions(labels, rel)
    return math.log((1 + total) / (1 + count_relevant(judged, rel) - total))


# The first relevant document


def first_relevant(labels: Labels, judged: Grades, *, cutoff: int | None = None, rel: float = 1) -> float | None:
    """Return the rank of the first relevant document."""
    for rank, _ in hits_so_far(top(labels, cutoff), rel):
        return float(rank)
    return None


def reciprocal_rank(labels: Labels, judged: Grades, *, cutoff: int | None = None, rel: float = 1) -> float:
    """recip_rank: one over the rank of the first relevant document."""
    rank = first_relevant(labels, judged, cutoff=cutoff, rel=rel)
    return 0.0 if rank is None else 1 / rank


def success(labels: Labels, judged: Grades, *, cutoff: int, rel: float = 1) -> float:
    """success_k: 1 where a relevant document is in the top."""
    return 1.0 if count_relevant(top(labels, cutoff), rel) else 0.0


# Graded gain


def gain_of(label: Label, gain: Literal["linear", "exp"], gains: Mapping[float, float] | None) -> float:
    """Return the gain of one document; what is unjudged has none."""
    if label is None or label < 0:
        return 0.0
    if gains is not None and label in gains:
        return gains[label]
    return 2.0**label - 1 if gain == "exp" else label


def ndcg(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int | None = None,
    gain: Literal["linear", "exp"] = "linear",
    gains: Mapping[float, float] | None = None,
) -> float:
    """Compute ndcg and ndcg_cut_k: the discounted gain over that of the ideal ranking."""
    found = [gain_of(label, gain, gains) for label in labels]
    known = [gain_of(grade, gain, gains) for grade in judged]
    ideal = sorted((value for value in known if value > 0), reverse=True)
    return ratio(discounted(found[:cutoff]), discounted(ideal[:cutoff]))


def ndcg_at(retrieved: Sequence[float], ideal: Sequence[float], rank: int) -> float:
    """Return the ndcg of a ranking's gains down to a rank, against those of an ideal ranking."""
    return ratio(discounted(retrieved[:rank]), discounted(ideal[:rank]))


def gains_of(labels: Labels, judged: Grades, gains: Mapping[float, float] | None) -> tuple[list[float], list[float]]:
    """Return the gains of a ranking and those of the ideal one."""
    ideal = sorted((gain_of(grade, "linear", gains) for grade in judged), reverse=True)
    return [gain_of(label, "linear", gains) for label in labels], [gain for gain in ideal if gain > 0]


def ndcg_over_relevant(labels: Labels, judged: Grades, *, gains: Mapping[float, float] | None = None) -> float:
    """ndcg_rel: ndcg so far, averaged over all documents with a positive gain."""
    retrieved, ideal = gains_of(labels, judged, gains)
    ranks = [rank for rank, gain in enumerate(retrieved, start=1) if gain > 0]
    total = add(ndcg_at(retrieved, ideal, rank) for rank in ranks)
    found = discounted(retrieved)
    total += ratio((len(ideal) - len(ranks)) * found, discounted(ideal))
    return ratio(total, len(ideal))


def ndcg_at_changes(
    labels: Labels, judged: Grades, *, rel: float = 1, gains: Mapping[float, float] | None = None
) -> float:
    """Rndcg: ndcg averaged over the ranks where the ideal gain changes, its end and the run's."""
    retrieved, ideal = gains_of(labels, judged, gains)
    if not ideal or not count_relevant(judged, rel):
        return 0.0
    ranks = [rank for rank in range(1, len(ideal)) if ideal[rank] != ideal[rank - 1]]
    ranks.append(len(ideal))
    if len(labels) > len(ideal) + 1:
        ranks.append(len(labels))
    return add(ndcg_at(retrieved, ideal, rank) for rank in ranks) / len(ranks)


def g_measure(labels: Labels, judged: Grades, *, gains: Mapping[float, float] | None = None) -> float:
    """G: each gain over the log of what the ideal ranking had gained more by then."""
    retrieved, ideal = gains_of(labels, judged, gains)
    cost, found, total = 0.0, 0.0, 0.0
    for index, gain in enumerate(retrieved):
        cost += max(ideal[index], 1.0) if index < len(ideal) else 1.0
        found += gain
        if gain > 0:
            total += gain / math.log2(2 + cost - found)
    return ratio(total, add(ideal))


def binary_g(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """binG: each relevant document over the log of the non-relevant ones above it."""
    terms = (1 / math.log2(3 + (rank - 1) - hits) for rank, hits in hits_so_far(labels, rel))
    return ratio(add(terms), count_relevant(judged, rel))


def expected_reciprocal_rank(labels: Labels, judged: Grades, *, cutoff: int | None = None, max_rel: float) -> float:
    """ERR: one over the rank at which a reader, satisfied by grades, is expected to stop."""
    reading, total = 1.0, 0.0
    for rank, label in enumerate(top(labels, cutoff), start=1):
        stop = (2.0 ** positive_gain(label) - 1) / 2.0**max_rel
        total += stop * reading / rank
        reading *= 1 - stop
    return total


def rank_biased_precision(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    max_rel: float = 1,
) -> float:
    """RBP: the gain a reader meets who goes on with probability p after each document."""
    reading, total = 1.0, 0.0
    for label in top(labels, cutoff):
        if rel is None:
            total += positive_gain(label) / max_rel * reading
        elif is_relevant(label, rel):
            total += reading
        reading *= p
    return (1 - p) * total


def rank_biased_residual(labels: Labels, judged: Grades, *, p: float = 0.9) -> float:
    """rbp_resid: the weight of the unjudged and of the unretrieved; 0 where all are judged."""
    reading, unjudged = 1.0, 0.0
    for label in labels:
        if not is_judged(label):
            unjudged += reading
        reading *= p
    return reading + (1 - p) * unjudged if unjudged else 0.0


def q_measure(
    labels: Labels,
    judged: Grades,
    *,
    cutoff: int | None = None,
    rel: float = 1,
    beta: float = 1.0,
) -> float:
    """Q: average precision whose precision also counts the gain, against the ideal gain."""
    ideal = sorted((grade for grade in judged if is_relevant(grade, rel)), reverse=True)
    terms = []
    for rank, hits in hits_so_far(top(labels, cutoff), rel):
        found = add(positive_gain(label) for label in labels[:rank] if is_relevant(label, rel))
        terms.append((hits + beta * found) / (rank + beta * add(ideal[:rank])))
    return ratio(add(terms), at_most(len(ideal), cutoff))


# The retrieved documents as a set


def set_precision(labels: Labels, judged: Grades, *, rel: float = 1, relative: bool = False) -> float:
    """Compute set_P and set_relative_P: the share of relevant ones among the retrieved."""
    retrieved = len(labels)
    divisor = min(retrieved, count_relevant(judged, rel)) if relative else retrieved
    return ratio(count_relevant(labels, rel), divisor)


def set_recall(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """set_recall: the share of the relevant documents that was retrieved."""
    return ratio(count_relevant(labels, rel), count_relevant(judged, rel))


def set_average_precision(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """set_map: the set's precision times its recall."""
    found = count_relevant(labels, rel)
    return ratio(found * found, len(labels) * count_relevant(judged, rel))


def set_f(
    labels: Labels,
    judged: Grades,
    *,
    rel: float = 1,
    beta: float = 1.0,
    weight: float | None = None,
) -> float:
    """set_F.x: x is the weight, where not given the square of beta."""
    x = beta * beta if weight is None else weight
    p = set_precision(labels, judged, rel=rel)
    r = set_recall(labels, judged, rel=rel)
    return ratio((x + 1) * p * r, r + x * p)


def utility(
    labels: Labels,
    judged: Grades,
    *,
    rel: float = 1,
    relevant: float = 1.0,
    nonrelevant: float = -1.0,
    missed: float = 0.0,
    rest: float = 0.0,
    collection: int = 0,
) -> float:
    """utility.p1,p2,p3,p4: a value for each cell of retrieved by relevant."""
    found, retrieved = count_relevant(labels, rel), len(labels)
    known = count_relevant(judged, rel)
    return (
        relevant * found
        + nonrelevant * (retrieved - found)
        + missed * (known - found)
        + rest * (collection + found - retrieved - known)
    )


# Incomplete judgments


def bpref(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """bpref: how seldom judged non-relevant documents stand above relevant ones."""
    relevant = count_relevant(judged, rel)
    bound = min(count_relevant(judged, 0) - relevant, relevant)
    above, total = 0, 0.0
    for label in labels:
        if is_relevant(label, rel):
            total += 1 - min(above, relevant) / bound if above else 1.0
        elif is_judged(label):
            above += 1
    return ratio(total, relevant)


def geometric_bpref(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """gm_bpref: per query bpref; only the aggregate differs."""
    return bpref(labels, judged, rel=rel)


def inferred_average_precision(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """infAP: average precision where the precision above a hit is estimated from a sample."""
    relevant, nonrelevant, unjudged, total = 0, 0, 0, 0.0
    for above, label in enumerate(labels):
        if is_relevant(label, rel):
            pooled = relevant + nonrelevant + unjudged
            total += inferred_precision(above, pooled, relevant, nonrelevant)
            relevant += 1
        elif is_judged(label):
            nonrelevant += 1
        elif label is not None:
            unjudged += 1
    return ratio(total, count_relevant(judged, rel))


def inferred_precision(above: int, pooled: int, relevant: int, nonrelevant: int) -> float:
    """Estimate the precision at a relevant document with ``above`` documents above it."""
    if above == 0:
        return 1.0
    share = (relevant + INFAP_EPSILON) / (relevant + nonrelevant + 2 * INFAP_EPSILON)
    return 1 / (above + 1) + above / (above + 1) * (pooled / above) * share


def judged_share(labels: Labels, judged: Grades, *, cutoff: int | None = None) -> float:
    """Judged: the share of judged documents among those in the top."""
    shown = top(labels, cutoff)
    return ratio(count_relevant(shown, 0), len(shown))


def unjudged_share(labels: Labels, judged: Grades, *, cutoff: int) -> float:
    """unj_k: the number of unjudged documents in the top, over k."""
    shown = top(labels, cutoff)
    return (len(shown) - count_relevant(shown, 0)) / cutoff


def pair_accuracy(labels: Labels, judged: Grades, *, cutoff: int | None = None, rel: float = 1) -> float | None:
    """Accuracy: how often a relevant document of the top stands before any other of it."""
    shown = top(labels, cutoff)
    if not count_relevant(shown, rel):
        return 0.0
    right, pairs, others = 0, 0, len(shown) - count_relevant(shown, rel)
    for rank, hits in hits_so_far(shown, rel):
        right += others - (rank - hits)
        pairs += others
    return right / pairs if pairs else None


# Precision at a level of recall


def needed_documents(recall: float, relevant: int, round: Literal["up", "nearest"]) -> int:
    """Return how many relevant documents make the recall: trec_eval 9's rule, or 10's."""
    exact = recall * relevant
    if round == "up":
        return int(exact + 0.9)
    whole = math.floor(exact)
    return whole + 1 if exact - whole >= 0.5 else whole


def interpolated_precision(
    labels: Labels,
    judged: Grades,
    *,
    recall: float,
    rel: float = 1,
    round: Literal["up", "nearest"] = "up",
) -> float:
    """iprec_at_recall: the best precision at any rank with at least that recall."""
    needed = needed_documents(recall, count_relevant(judged, rel), round)
    best = 0.0
    for rank, hits in hits_so_far(labels, rel):
        if hits >= needed:
            best = max(best, hits / rank)
    return best


def average_interpolated_precision(
    labels: Labels,
    judged: Grades,
    *,
    rel: float = 1,
    recalls: Sequence[float] | None = None,
    round: Literal["up", "nearest"] = "up",
) -> float:
    """11pt_avg: the mean interpolated precision, added from the largest recall down."""
    points = sorted(ELEVEN_POINTS if recalls is None else recalls, reverse=True)
    values = (interpolated_precision(labels, judged, recall=point, rel=rel, round=round) for point in points)
    return ratio(add(values), len(points))


# Counts


def number_of_queries(labels: Labels, judged: Grades) -> float:
    """num_q: this one."""
    return 1.0


def number_retrieved(labels: Labels, judged: Grades, *, cutoff: int | None = None, rel: float | None = None) -> float:
    """num_ret, and num_rel_ret where rel is given."""
    shown = top(labels, cutoff)
    return float(len(shown) if rel is None else count_relevant(shown, rel))


def number_relevant(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """num_rel: the relevant documents there are."""
    return float(count_relevant(judged, rel))


def number_nonrelevant(labels: Labels, judged: Grades, *, rel: float = 1) -> float:
    """num_nonrel_judged_ret: the retrieved documents that are judged and not relevant."""
    return float(count_relevant(labels, 0) - count_relevant(labels, rel))


DEFINITIONS: dict[str, Definition] = {
    "P": precision,
    "R": recall,
    "RecallAll": recall_all,
    "ContextPrecision": context_precision,
    "AP": average_precision,
    "GMAP": geometric_average_precision,
    "GMBpref": geometric_bpref,
    "nDCG": ndcg,
    "nDCGRel": ndcg_over_relevant,
    "RnDCG": ndcg_at_changes,
    "G": g_measure,
    "BinG": binary_g,
    "RR": reciprocal_rank,
    "FirstRel": first_relevant,
    "Success": success,
    "Rprec": r_precision,
    "F": f_measure,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetAP": set_average_precision,
    "SetF": set_f,
    "Bpref": bpref,
    "infAP": inferred_average_precision,
    "IPrec": interpolated_precision,
    "IPrecAvg": average_interpolated_precision,
    "Utility": utility,
    "YAAP": yaap,
    "ERR": expected_reciprocal_rank,
    "RBP": rank_biased_precision,
    "RBPResidual": rank_biased_residual,
    "Q": q_measure,
    "Judged": judged_share,
    "Unjudged": unjudged_share,
    "NumQ": number_of_queries,
    "NumRet": number_retrieved,
    "NumRel": number_relevant,
    "NumNonrelJudgedRet": number_nonrelevant,
    "Accuracy": pair_accuracy,
}
