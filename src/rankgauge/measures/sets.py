"""Lists of measures: the default of every command, and the sets that can be requested by name."""

from __future__ import annotations

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@10")  # of evaluate, compare and gate
GOLD_MEASURES = ("alpha_nDCG@10", "StRecall@10", "TokenRecall(budget=2000)", "TokenPrecision(budget=2000)")  # --gold

NAMED_SETS: dict[str, tuple[str, ...]] = {
    "kpi": ("nDCG@10", "AP@100", "RR@10", "R@50", "R@100", "Success@10"),
    "beir": tuple(f"{name}@{k}" for name in ("nDCG", "AP", "R", "P") for k in (1, 3, 5, 10, 100, 1000)),
}
CUTOFF_SETS: dict[str, tuple[str, ...]] = {"rag": ("P", "R", "F1", "RR", "AP", "nDCG", "Success")}  # as in rag@5
DEFAULT_SET_CUTOFF = 5  # of a set that is requested without one
TREC_SETS: dict[str, str] = {
    "official": "the measures that trec_eval prints by default",
    "all_trec": "all measures of trec_eval",
    "set": "trec_eval's measures of the retrieved set",
    "prefs": "trec_eval's usual measures of preferences",
    "all_prefs": "all of trec_eval's measures of preferences",
    "qrels_jg": "trec_eval's measures of judgments by group",
}
