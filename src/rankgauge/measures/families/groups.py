"""Measures of judgments by several groups: the mean of any measure over the groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.grouped_qrels import GroupedQrels
from rankgauge.core.hits import PerQuery


def mean_over_groups(qrels: GroupedQrels, layers: Sequence[PerQuery]) -> PerQuery:
    """The mean of a measure over the judgment groups of each query; ``layers`` are its values in each layer.

    Formula: (1/|groups|) · Σ over groups of the measure with the judgments of that group
    Reference: trec_eval: map_avgjg, P_avgjg_k, Rprec_mult_avgjg_x
    """
    sums = np.zeros(len(qrels.queries))
    for members, values in zip(qrels.members, layers, strict=True):
        sums[members] += values
    return sums / qrels.count
