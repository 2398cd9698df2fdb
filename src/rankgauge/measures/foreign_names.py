"""Names of measures in other tools: what to write here instead, or that there is no such measure.

A name that is known elsewhere is not a misspelling of a name here: the nearest name would be a different measure.
Names are compared without case, hyphens, underscores and a final ``Metric``.
"""

from __future__ import annotations

SUBTOPICS = "of the measures over subtopics, only ndeval's are here"
BROWSING = "of the C/W/L measures, only RBP and ERR are here"
TEXTS = "it reads texts with a model; measures here compare document ids"
IDEAL_RANKINGS = "it compares a run with an ideal ranking by rank-biased overlap, which no measure here does"
CATALOG = "it needs features or frequencies of items, not judgments"
PREDICTIONS = "it evaluates scores or a whole classification, not the top of a ranking"
UNNORMALIZED = "only the normalized form is here, nDCG"

NOT_IMPLEMENTED: dict[str, str] = {
    # ir_measures and ndeval
    "nDCG_IA": SUBTOPICS,
    "D#_nDCG": SUBTOPICS,
    "BPM": BROWSING,
    "INST": BROWSING,
    "INSQ": BROWSING,
    "SDCG": BROWSING,
    "NERR8": BROWSING,
    "NERR9": BROWSING,
    "NERR10": BROWSING,
    "NERR11": BROWSING,
    "TBG": "it needs the lengths of documents and a model of reading time",
    "U_measure": "it needs the lengths of documents and a model of reading time",
    "Compat": IDEAL_RANKINGS,
    "compatibility": IDEAL_RANKINGS,
    # ranx, scikit-learn
    "dcg_burges": UNNORMALIZED,
    "dcg_score": UNNORMALIZED,
    "AUC": PREDICTIONS,
    "AUROC": PREDICTIONS,
    "ROC_AUC": PREDICTIONS,
    "roc_auc_score": PREDICTIONS,
    "GAUC": PREDICTIONS,
    "LogLoss": PREDICTIONS,
    "MAE": PREDICTIONS,
    "RMSE": PREDICTIONS,
    "fallout": PREDICTIONS,
    "RetrievalFallOut": PREDICTIONS,
    "RetrievalAUROC": PREDICTIONS,
    # ragas, deepeval, and other tools that ask a language model
    "faithfulness": TEXTS,
    "groundedness": TEXTS,
    "hallucination": TEXTS,
    "answer_relevancy": TEXTS,
    "answer_relevance": TEXTS,
    "response_relevancy": TEXTS,
    "answer_correctness": TEXTS,
    "answer_similarity": TEXTS,
    "semantic_similarity": TEXTS,
    "factual_correctness": TEXTS,
    "noise_sensitivity": TEXTS,
    "aspect_critic": TEXTS,
    "context_recall": f"{TEXTS}; R@10 is the nearest for ids",
    "LLMContextRecall": f"{TEXTS}; R@10 is the nearest for ids",
    "contextual_recall": f"{TEXTS}; R@10 is the nearest for ids",
    "context_entity_recall": TEXTS,
    "context_relevancy": f"{TEXTS}; P@10 is the nearest for ids",
    "context_relevance": f"{TEXTS}; P@10 is the nearest for ids",
    "contextual_relevancy": f"{TEXTS}; P@10 is the nearest for ids",
    "context_precision": f"{TEXTS}; AP@10 is the nearest for ids, although it also counts what was not retrieved",
    "contextual_precision": f"{TEXTS}; AP@10 is the nearest for ids, although it also counts what was not retrieved",
    "LLMContextPrecisionWithReference": f"{TEXTS}; AP@10 is the nearest for ids",
    "LLMContextPrecisionWithoutReference": f"{TEXTS}; AP@10 is the nearest for ids",
    "NonLLMContextPrecisionWithReference": f"{TEXTS}; AP@10 is the nearest for ids",
    "context_utilization": f"{TEXTS}; AP@10 is the nearest for ids",
    "BLEU": TEXTS,
    "ROUGE": TEXTS,
    "BERTScore": TEXTS,
    # recommender systems
    "ILD": CATALOG,
    "intra_list_diversity": CATALOG,
    "intra_list_similarity": CATALOG,
    "diversity": CATALOG,
    "coverage": CATALOG,
    "item_coverage": CATALOG,
    "catalog_coverage": CATALOG,
    "novelty": CATALOG,
    "serendipity": CATALOG,
    "unexpectedness": CATALOG,
    "popularity": CATALOG,
    "average_popularity": CATALOG,
    "personalization": CATALOG,
    "gini": CATALOG,
    "gini_index": CATALOG,
    "shannon_entropy": CATALOG,
    "EPC": CATALOG,
    "EPD": CATALOG,
}

EQUIVALENTS: dict[str, str] = {
    # ranx and BEIR; {at} is the cutoff of the request
    "r_precision": "Rprec",
    "ndcg_burges": "nDCG(gain='exp'){at}",
    "R_cap": "R(norm='min'){at}",
    "recall_cap": "R(norm='min'){at}",
    "hole": "Unjudged{at}",
    "top_k_accuracy": "Success{at}",
    # ndeval and NTCIR
    "alpha-nDCG": "alpha_nDCG{at}",
    "alpha-DCG": "alpha_DCG{at}",
    "ERR-IA": "ERR_IA{at}",
    "nERR-IA": "nERR_IA{at}",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA{at}",
    "S_recall": "StRecall{at}",
    "subtopic_recall": "StRecall{at}",
    "I_rec": "StRecall{at}",
    # ragas
    "IDBasedContextPrecision": "SetP",
    "IDBasedContextRecall": "SetR",
    "NonLLMContextRecall": "SetR",
    # recommender systems
    "HR": "Success{at}",
    "hit_ratio": "Success{at}",
    # scikit-learn and torchmetrics
    "ndcg_score": "nDCG{at}",
    "average_precision_score": "AP{at}",
    "RetrievalMAP": "AP{at}",
    "RetrievalMRR": "RR{at}",
    "RetrievalNormalizedDCG": "nDCG{at}",
    "RetrievalPrecision": "P{at}",
    "RetrievalRecall": "R{at}",
    "RetrievalHitRate": "Success{at}",
    "RetrievalRPrecision": "Rprec",
}
DEFAULT_CUTOFF = "10"  # in an example, if the request has none


def reason_not_implemented(name: str) -> str | None:
    """Why a measure of another tool is not here; None if the name is not known."""
    return _REASONS.get(_normalize(name))


def equivalent(name: str, at: str | None) -> str | None:
    """What a measure of another tool is called here, with the cutoff of the request; None if the name is not known."""
    template = _EQUIVALENTS.get(_normalize(name))
    return None if template is None else template.replace("{at}", f"@{at or DEFAULT_CUTOFF}")


def _normalize(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").removesuffix("metric")


_REASONS = {_normalize(name): reason for name, reason in NOT_IMPLEMENTED.items()}
_EQUIVALENTS = {_normalize(name): template for name, template in EQUIVALENTS.items()}
