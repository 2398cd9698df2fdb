"""Judgments by several judges: the mean of a measure over the judgment groups of each query."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.ids import Ints
from rankgauge.measures.families.average_precision import ap
from rankgauge.measures.families.precision_recall import precision, rprec
from rankgauge.measures.registry import measure, needs

if TYPE_CHECKING:
    from rankgauge.core.judgment_layers import Layer


def mean_over_groups(hits: Hits, value: Callable[[Layer], PerQuery]) -> PerQuery:
    """The mean over the groups of each query of a value, which is computed with the judgments of one group each.

    The value may have several columns.
    """
    from rankgauge.core.group_judgments import GroupJudgments
    from rankgauge.core.judgment_layers import group_sets, layers

    assert isinstance(hits.by_group, GroupJudgments)
    sets = group_sets(hits.by_group)
    parts = [(layer.members, value(layer)) for layer in layers(hits, hits.by_group, sets)]
    sums = np.zeros((len(hits), *(parts[0][1].shape[1:] if parts else ())))
    for members, values in parts:
        sums[members] += values
    means: PerQuery = (sums.T / np.maximum(sets.count, 1)).T
    return means


def _condensed(layer: Layer, judged_only: bool) -> Hits:
    return layer.hits.judged_only() if judged_only else layer.hits


def _cutoff(cutoff: int | Ints, layer: Layer) -> int | Ints:
    """The cutoff of each query of a layer."""
    return cutoff if isinstance(cutoff, int) else cutoff[layer.members]


@measure("GroupAP", at="cutoff")
@needs("groups")
def group_ap(
    hits: Hits,
    *,
    cutoff: int | None = None,
    rel: float = 1,
    norm: Literal["all", "min"] = "all",
    judged_only: bool = False,
) -> PerQuery:
    """The mean over judgment groups of average precision, each computed with the judgments of one group.

    Formula: (1/|groups|) · Σ over groups of AP
    Reference: trec_eval: map_avgjg
    """

    def value(layer: Layer) -> PerQuery:
        depth = None if cutoff is None else _cutoff(cutoff, layer)
        return ap.kernel(_condensed(layer, judged_only), cutoff=depth, rel=rel, norm=norm)

    return mean_over_groups(hits, value)


@measure("GroupP", at="cutoff")
@needs("groups")
def group_precision(
    hits: Hits,
    *,
    cutoff: int,
    rel: float = 1,
    norm: Literal["k", "retrieved"] = "k",
    judged_only: bool = False,
) -> PerQuery:
    """The mean over judgment groups of the precision at k, each computed with the judgments of one group.

    Formula: (1/|groups|) · Σ over groups of P@k
    Reference: trec_eval: P_avgjg_k
    """

    def value(layer: Layer) -> PerQuery:
        return precision.kernel(_condensed(layer, judged_only), cutoff=_cutoff(cutoff, layer), rel=rel, norm=norm)

    return mean_over_groups(hits, value)


@measure("GroupRprec")
@needs("groups")
def group_rprec(hits: Hits, *, rel: float = 1, mult: float = 1, judged_only: bool = False) -> PerQuery:
    """The mean over judgment groups of R-precision, each computed with the judgments of one group.

    R is the number of documents that the group judged relevant; mult= sets the cutoff to a multiple of R.

    Formula: (1/|groups|) · Σ over groups of Rprec
    Reference: trec_eval: Rprec_mult_avgjg_x
    """
    return mean_over_groups(hits, lambda layer: rprec.kernel(_condensed(layer, judged_only), rel=rel, mult=mult))
