"""Print every number of the rule in docs/concepts/retrieval-defaults.md, as Markdown, and what it chooses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.defaults.rule import CENTERS, SIMPLEST, Evidence, PerQuery, candidates, choose_center, difference, means
from rankgauge import evaluate
from rankgauge.core.run import Run
from rankgauge.io.corpus.collection import Collection, open_collection
from rankgauge.retrieval.base import QueryBatch, retrieve_run
from rankgauge.retrieval.fetch.modes import RetrieverSettings, make_retriever
from rankgauge.retrieval.fusion.fusion import fuse
from rankgauge.retrieval.fusion.grid import FusionChoice

ROOT = Path(__file__).parents[2]
COLLECTIONS = ("cranfield", "medline", "cisi", "vaswani")
DEPTH = 100


def runs_of(collections: Sequence[Collection], settings: RetrieverSettings) -> list[Run]:
    """The run of a retriever on each collection."""
    out = []
    for collection in collections:
        retriever = make_retriever(settings, collection.documents)
        out.append(retrieve_run(retriever, QueryBatch.from_queries(collection.queries), DEPTH))
    return out


def values_of(collections: Sequence[Collection], runs: Sequence[Run]) -> PerQuery:
    """nDCG@10 of every judged query."""
    out = []
    for collection, run in zip(collections, runs, strict=True):
        assert collection.qrels is not None
        by_query = evaluate(collection.qrels, run, "nDCG@10").per_query("nDCG@10")
        out.append(np.array([by_query[query] for query in sorted(by_query)], dtype=np.float64))
    return out


def fusions(
    collections: Sequence[Collection], lexical: Sequence[Run], vector: Sequence[Run]
) -> dict[FusionChoice, PerQuery]:
    """The values of every candidate."""

    def fused(choice: FusionChoice) -> list[Run]:
        pairs = zip(lexical, vector, strict=True)
        return [
            fuse(p, choice.method, k=DEPTH, weights=choice.weights, normalization=choice.normalization) for p in pairs
        ]

    return {choice: values_of(collections, fused(choice)) for choice in candidates()}


def row(name: object, values: PerQuery, *more: str) -> None:
    numbers = [f"{value:.4f}" for value in (*means(values), means(values).mean())]
    print(f"| {' | '.join([str(name), *numbers, *more])} |")


def heading(*columns: str) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def signed(gap: float, error: float) -> str:
    return f"{gap:+.4f} ± {error:.4f}"


def show_fusion(evidence: Evidence, weak_vector: PerQuery, names: Sequence[str]) -> None:
    eligible, equally_good = evidence.eligible(), evidence.equally_good()
    heading("fusion, lexical weight", *names, "mean", "− lexical ± error", "with weak vectors", "step")
    row("lexical alone", evidence.lexical, "–", f"bow alone: {means(weak_vector).mean():.4f}", "–")
    for choice, values in evidence.fused.items():
        step = "within noise" if choice in equally_good else "eligible" if choice in eligible else "below lexical"
        scale = choice.normalization if choice.method == "weighted" else "rrf"
        weak = f"{means(evidence.weak[choice]).mean():.4f}"
        row(f"{scale} {choice.weights[0]:g}", values, signed(*difference(values, evidence.lexical)), weak, step)
    heading("left out", "choice on the other three", "its nDCG@10 there", "rrf, equal weights", "lexical")
    for number, (choice, value) in enumerate(evidence.held_out()):
        others = [evidence.fused[SIMPLEST][number].mean(), evidence.lexical[number].mean()]
        print(f"| {names[number]} | {choice} | {value:.4f} | {others[0]:.4f} | {others[1]:.4f} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    data = Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder of the collections")
    options = parser.parse_args()
    collections = [open_collection(options.data / name) for name in COLLECTIONS]

    def runs(**settings: Any) -> list[Run]:
        return runs_of(collections, RetrieverSettings(**settings))

    vector = {share: runs(mode="vector", center=share) for share in CENTERS}
    values = {share: values_of(collections, vector[share]) for share in CENTERS}
    heading("center", *COLLECTIONS, "mean", "− 0 ± error")
    for share in CENTERS:
        row(f"{share:g}", values[share], signed(*difference(values[share], values[0.0])))
    center = choose_center(values)
    print(f"\ncenter: {center:g}")
    lexical = runs(mode="lexical")
    weak = runs(mode="vector", embedder="bow", center=0)
    evidence = Evidence(
        fusions(collections, lexical, vector[center]),
        fusions(collections, lexical, weak),
        values_of(collections, lexical),
    )
    show_fusion(evidence, values_of(collections, weak), COLLECTIONS)
    print(f"\nfusion: {evidence.choose()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
