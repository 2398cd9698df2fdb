"""The rule that chose the defaults of retrieval does what docs/concepts/retrieval-defaults.md says."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.defaults.rule import SIMPLEST, Evidence, PerQuery, Shortener, candidates, choose_center, difference

from rankgauge.config.retriever_settings import RetrieverSettings
from rankgauge.io.corpus.corpus import InMemoryCorpus

NOISE = [np.random.default_rng(seed).normal(0, 0.01, 40) for seed in range(4)]


def values(*collection_means: float, spread: float = 0.0) -> PerQuery:
    """Values of forty queries per collection around the given means."""
    return [mean + spread * noise for mean, noise in zip(collection_means, NOISE, strict=True)]


def evidence(fused: dict[int, PerQuery], weak: dict[int, float]) -> Evidence:
    """Evidence in which the numbered candidates have these values and all others lose."""
    choices = candidates()
    return Evidence(
        {choice: fused.get(number, values(0.1, 0.1, 0.1, 0.1)) for number, choice in enumerate(choices)},
        {choice: values(*[weak.get(number, 0.0)] * 4) for number, choice in enumerate(choices)},
        values(0.3, 0.3, 0.3, 0.3),
    )


def test_the_error_of_a_difference_is_that_of_the_mean_over_collections() -> None:
    ours, others = values(0.5, 0.4, 0.3, 0.2, spread=1), values(0.4, 0.4, 0.4, 0.4)
    gap, error = difference(ours, others)
    draws = np.random.default_rng(0).integers(0, 40, (4, 20_000, 40))
    gaps = [part - other for part, other in zip(ours, others, strict=True)]
    bootstrap = np.mean([part[rows].mean(axis=1) for part, rows in zip(gaps, draws, strict=True)], axis=0)
    assert gap == pytest.approx(bootstrap.mean(), abs=error / 20)
    assert error == pytest.approx(bootstrap.std(), rel=0.05)


def test_a_short_query_is_the_rarest_words_of_the_full_one_in_its_order() -> None:
    pytest.importorskip("Stemmer")
    texts = ["heat and flow of shocks", "heat, flow", "heat flows at the wing"]
    shorten = Shortener(InMemoryCorpus({f"d{n}": {"title": "", "text": text} for n, text in enumerate(texts)})).shorten
    query = "The heat of shock waves, heated wings"  # "waves" is in no document, "heat" in three, the others in one
    assert [shorten(query, words) for words in (None, 1, 2, 3)] == [query, "shock", "shock wings", "heat shock wings"]
    assert shorten("the unknown", 1) == "the unknown"


def test_nothing_is_subtracted_unless_it_is_clearly_better_everywhere() -> None:
    plain = values(0.4, 0.4, 0.4, 0.4)
    assert choose_center({0.0: plain, 0.5: values(0.5, 0.5, 0.5, 0.5, spread=1)}) == 0.5
    assert choose_center({0.0: plain, 0.5: values(0.5, 0.5, 0.5, 0.39)}) == 0  # below on one collection
    assert choose_center({0.0: plain, 0.5: values(0.402, 0.402, 0.402, 0.402, spread=9)}) == 0  # within noise
    assert choose_center({0.0: plain, 0.5: values(0.5, 0.5, 0.5, 0.5), 1.0: values(0.6, 0.6, 0.6, 0.6)}) == 1


def test_of_equally_good_fusions_the_one_that_loses_least_with_weak_vectors_is_chosen() -> None:
    near = values(0.500, 0.500, 0.500, 0.500, spread=9)
    best, below = values(0.501, 0.501, 0.501, 0.501), values(0.9, 0.9, 0.9, 0.29)
    choices = candidates()
    found = evidence({0: values(0.4, 0.4, 0.4, 0.4), 3: near, 7: best, 9: below}, {0: 0.9, 3: 0.2, 7: 0.1, 9: 0.9})
    assert found.eligible() == [choices[0], choices[3], choices[7]]
    assert found.equally_good() == [choices[3], choices[7]]
    assert found.choose() == choices[3]


def test_without_a_gain_on_collections_left_out_the_simplest_fusion_stays() -> None:
    # Each candidate is best on three collections and falls short on the fourth, where it is then judged.
    fused = {number: values(*[0.31 if c == number else 0.9 for c in range(4)]) for number in range(1, 5)}
    found = evidence({0: values(0.5, 0.5, 0.5, 0.5), **fused}, dict.fromkeys(range(5), 0.2))
    assert found.choose() == SIMPLEST
    assert evidence({}, {}).choose() == SIMPLEST  # nothing is eligible


def test_the_default_is_the_choice_of_the_rule() -> None:
    # The rule needs collections that are not part of the project; docs/concepts/retrieval-defaults.md has its outcome.
    assert RetrieverSettings(mode="hybrid").fusion == SIMPLEST.method
    assert RetrieverSettings(mode="hybrid").weights is None  # equal, as in the simplest fusion
    assert SIMPLEST.weights == (0.5, 0.5)
    assert RetrieverSettings(mode="hybrid").rrf_k == SIMPLEST.rrf_k == 60
