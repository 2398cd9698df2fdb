"""Print every number of the rule in docs/concepts/retrieval-defaults.md, as Markdown, and what it chooses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.defaults.rule import (
    CENTERS,
    FIRST_CHOICE,
    FORMS,
    SIMPLEST,
    Evidence,
    PerQuery,
    Shortener,
    candidates,
    choose_center,
    difference,
    means,
)
from rankgauge import evaluate
from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.core.run import Run
from rankgauge.io.corpus.corpus_files import Collection, open_collection
from rankgauge.retrieval.fusion import fuse
from rankgauge.retrieval.open_retriever import make_retriever
from rankgauge.retrieval.retriever import QueryBatch, retrieve_run
from rankgauge.retrieval.tuning import FusionChoice

ROOT = Path(__file__).parents[2]
COLLECTIONS = ("cranfield", "medline", "cisi", "vaswani")
DEPTH = 100
Forms = Mapping[str, Run]  # a run for each form of the queries


def runs_of(collections: Sequence[Collection], settings: RetrieverSettings) -> list[Forms]:
    """The runs of a retriever on each collection, one for each form of the queries."""
    out: list[Forms] = []
    for collection in collections:
        retriever, shortener = make_retriever(settings, collection.documents), Shortener(collection.documents)
        queries = QueryBatch.from_queries(collection.queries)
        texts = {form: [shortener.shorten(text, words) for text in queries.texts] for form, words in FORMS.items()}
        out.append({form: retrieve_run(retriever, QueryBatch(queries.ids, texts[form]), DEPTH) for form in FORMS})
    return out


def values_of(
    collections: Sequence[Collection], runs: Sequence[Forms], forms: Sequence[str] = tuple(FORMS)
) -> PerQuery:
    """nDCG@10 of every judged query, averaged over its forms."""
    out = []
    for collection, by_form in zip(collections, runs, strict=True):
        assert collection.qrels is not None
        values = [evaluate(collection.qrels, by_form[form], "nDCG@10").per_query("nDCG@10") for form in forms]
        out.append(np.array([[by_query[query] for query in sorted(by_query)] for by_query in values]).mean(axis=0))
    return out


def fused_runs(choice: FusionChoice, lexical: Sequence[Forms], vector: Sequence[Forms]) -> list[Forms]:
    """The runs of a candidate."""
    return [
        {
            form: fuse(
                (words[form], vectors[form]),
                choice.method,
                k=DEPTH,
                weights=choice.weights,
                normalization=choice.normalization,
            )
            for form in FORMS
        }
        for words, vectors in zip(lexical, vector, strict=True)
    ]


def fusions(
    collections: Sequence[Collection], lexical: Sequence[Forms], vector: Sequence[Forms]
) -> dict[FusionChoice, PerQuery]:
    """The values of every candidate."""
    return {choice: values_of(collections, fused_runs(choice, lexical, vector)) for choice in candidates()}


def row(name: object, values: PerQuery, *more: str) -> None:
    numbers = [f"{value:.4f}" for value in (*means(values), means(values).mean())]
    print(f"| {' | '.join([str(name), *numbers, *more])} |")


def heading(*columns: str) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def signed(gap: float, error: float) -> str:
    return f"{gap:+.4f} ± {error:.4f}".replace("-", "−")


def label(choice: FusionChoice) -> str:
    """A candidate in a table: what is added, and the lexical weight."""
    return f"{choice.normalization if choice.method == 'weighted' else 'rrf'} {choice.weights[0]:g}"


def show_fusion(evidence: Evidence, weak_vector: PerQuery, names: Sequence[str]) -> None:
    eligible, equally_good = evidence.eligible(), evidence.equally_good()
    heading("fusion, lexical weight", *names, "mean", "− lexical ± error", "with weak vectors", "step")
    row("lexical alone", evidence.lexical, "–", f"hashed alone: {means(weak_vector).mean():.4f}", "–")
    for choice, values in evidence.fused.items():
        step = "within noise" if choice in equally_good else "eligible" if choice in eligible else "below lexical"
        weak = f"{means(evidence.weak[choice]).mean():.4f}"
        row(label(choice), values, signed(*difference(values, evidence.lexical)), weak, step)
    heading("left out", "choice on the other three", "its nDCG@10 there", "rrf, equal weights", "lexical")
    for number, (choice, value) in enumerate(evidence.held_out()):
        others = [evidence.fused[SIMPLEST][number].mean(), evidence.lexical[number].mean()]
        print(f"| {names[number]} | {label(choice)} | {value:.4f} | {others[0]:.4f} | {others[1]:.4f} |")


def show_forms(
    collections: Sequence[Collection], systems: Mapping[str, Sequence[Forms]], lexical: Sequence[Forms]
) -> None:
    """The values by form of the queries, and of one-word queries with a single lexical result; they decide nothing."""
    single = []
    for collection, by_form in zip(collections, lexical, strict=True):
        run, qrels = by_form["one word"], collection.qrels
        assert qrels is not None
        sizes = dict(zip(run.queries.to_text(), np.diff(run.offsets).tolist(), strict=True))
        single.append(np.array([sizes.get(query) == 1 for query in sorted(qrels.queries.to_text())]))
    heading("system", *FORMS, f"one word, one lexical result ({sum(int(part.sum()) for part in single)} queries)")
    for name, runs in systems.items():
        form_means = [means(values_of(collections, runs, [form])).mean() for form in FORMS]
        one_word = np.concatenate(values_of(collections, runs, ["one word"]))
        numbers = [*form_means, one_word[np.concatenate(single)].mean()]
        print(f"| {' | '.join([name, *(f'{value:.4f}' for value in numbers)])} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    data = Path(os.environ.get("RANKGAUGE_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder of the collections")
    options = parser.parse_args()
    collections = [open_collection(options.data / name) for name in COLLECTIONS]

    def runs(**settings: Any) -> list[Forms]:
        return runs_of(collections, RetrieverSettings(**settings))

    vector = {share: runs(mode="vector", center=share) for share in CENTERS}
    values = {share: values_of(collections, vector[share], ["full"]) for share in CENTERS}
    heading("center", *COLLECTIONS, "mean", "− 0 ± error")
    for share in CENTERS:
        row(f"{share:g}", values[share], signed(*difference(values[share], values[0.0])))
    center = choose_center(values)
    print(f"\ncenter: {center:g}")
    lexical = runs(mode="lexical")
    weak = runs(mode="vector", embedder="hashed", center=0)
    evidence = Evidence(
        fusions(collections, lexical, vector[center]),
        fusions(collections, lexical, weak),
        values_of(collections, lexical),
    )
    show_fusion(evidence, values_of(collections, weak), COLLECTIONS)
    chosen = evidence.choose()
    print(f"\nfusion: {chosen}")
    shown = {label(choice): fused_runs(choice, lexical, vector[center]) for choice in (chosen, SIMPLEST, FIRST_CHOICE)}
    show_forms(collections, {"lexical": lexical, "vector": vector[center], **shown}, lexical)
    return 0


if __name__ == "__main__":
    sys.exit(main())
