"""One evaluation by one tool, in a process of its own; prints the five means, and for dicts the CPU seconds, as JSON.

Run as a file by the Python that has the tool, so it imports nothing of this package, and each tool only where it is
used; by name, so that types do not depend on which peers the checking environment happens to have.

    python -P worker.py TOOL files|dicts QRELS RUN
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

Means = dict[str, float]
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "R@100"]
FEW = 20  # from 10 ranx uses its threads
TREC = dict(zip(MEASURES, ["ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100"], strict=True))
RANX = dict(zip(MEASURES, ["ndcg@10", "map", "mrr", "precision@10", "recall@100"], strict=True))


def rankgauge(qrels: Any, run: Any) -> Means:
    """Paths and dicts alike."""
    from rankgauge import evaluate

    scores = evaluate(qrels, run, MEASURES)
    # NaN for nothing to average: it is not within any tolerance, so it shows as a disagreement.
    return {name: float("nan") if (value := scores[name]) is None else value for name in MEASURES}


def pytrec_eval(qrels: Qrels, run: Run) -> Means:
    """Its evaluator gives values for each query; the mean is left to the caller, as in its own examples."""
    values = import_module("pytrec_eval").RelevanceEvaluator(qrels, set(TREC.values())).evaluate(run)
    return {name: sum(query[theirs] for query in values.values()) / len(values) for name, theirs in TREC.items()}


def pytrec_eval_files(qrels: str, run: str) -> Means:
    """Read by its own two parsers."""
    theirs = import_module("pytrec_eval")
    with open(qrels) as judgments, open(run) as results:  # noqa: PTH123 (as its documentation does)
        return pytrec_eval(theirs.parse_qrel(judgments), theirs.parse_run(results))


def ir_measures_files(qrels: str, run: str) -> Means:
    """Text paths: it reads nothing from a Path."""
    theirs = import_module("ir_measures")
    measures = [theirs.parse_measure(name) for name in MEASURES]
    means = theirs.calc_aggregate(measures, theirs.read_trec_qrels(qrels), theirs.read_trec_run(run))
    return {name: float(means[measure]) for name, measure in zip(MEASURES, measures, strict=True)}


def ranx(qrels: Any, run: Any) -> Means:
    """Dicts as they are, which costs a third of making its own types of them first."""
    means = import_module("ranx").evaluate(qrels, run, list(RANX.values()))
    return {name: float(means[theirs]) for name, theirs in RANX.items()}


def ranx_files(qrels: str, run: str) -> Means:
    """Read by its own reader."""
    theirs = import_module("ranx")
    return ranx(theirs.Qrels.from_file(qrels, kind="trec"), theirs.Run.from_file(run, kind="trec"))


FROM_FILES: dict[str, Callable[[str, str], Means]] = {
    "rankgauge": rankgauge,
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
}
FROM_DICTS: dict[str, Callable[[Qrels, Run], Means]] = {
    "rankgauge": rankgauge,
    "pytrec_eval": pytrec_eval,
    "ranx": ranx,
}


def load(qrels: str, run: str) -> tuple[Qrels, Run]:
    """The files as plain dicts, the same for every tool."""
    judged: Qrels = {}
    found: Run = {}
    with open(qrels) as lines:  # noqa: PTH123 (pathlib is one import more in a process that is timed)
        for line in lines:
            query, _, document, grade = line.split()
            judged.setdefault(query, {})[document] = int(grade)
    with open(run) as lines:  # noqa: PTH123 (as above)
        for line in lines:
            query, _, document, _, score, _ = line.split()
            found.setdefault(query, {})[document] = float(score)
    return judged, found


def main() -> None:
    tool, source, qrels, run = sys.argv[1:]
    if source == "files":
        print(json.dumps({"means": FROM_FILES[tool](qrels, run)}))
        return
    judged, found = load(qrels, run)
    # A few queries first: what is imported, or loaded from a compiler's cache, at the first call is start-up.
    few = list(judged)[:FEW]
    FROM_DICTS[tool]({query: judged[query] for query in few}, {query: found[query] for query in few})
    begin = time.process_time()
    means = FROM_DICTS[tool](judged, found)
    print(json.dumps({"means": means, "cpu": time.process_time() - begin}))


if __name__ == "__main__":
    main()
