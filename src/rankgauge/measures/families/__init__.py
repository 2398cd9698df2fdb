"""One file per family of measures; importing this registers them all."""

from rankgauge.measures.families import (
    answers,
    average_precision,
    counts,
    diversity,
    ndcg,
    precision_recall,
    user_models,
)

__all__ = ["answers", "average_precision", "counts", "diversity", "ndcg", "precision_recall", "user_models"]
