"""The rule of docs/concepts/retrieval-defaults.md, from values by query to a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.language import WORD_PATTERN, Vocabulary
from rankgauge.retrieval.tuning import FusionChoice

CENTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
CENTERING_ERRORS = 2.50  # standard errors: two-sided 5%, Bonferroni's correction for four comparisons
NOISE_ERRORS = 1.645  # standard errors: one-sided 5%
LEXICAL_WEIGHTS = (0.5, 0.6, 0.4, 0.7, 0.3, 0.8)  # the simplest first
SIMPLEST = FusionChoice("rrf", (0.5, 0.5))
FIRST_CHOICE = FusionChoice("weighted", (0.8, 0.2), "z-score")  # of the rule without short queries
FORMS = {"full": None, "two words": 2, "one word": 1}  # of a query: the number of its rarest words
PerQuery = Sequence[Floats]  # the values of the queries, by collection


class Shortener:
    """Queries as their rarest words: those whose stems are in the fewest documents of the corpus."""

    def __init__(self, documents: Corpus) -> None:
        self._vocabulary = Vocabulary()
        self._documents_with: Counter[int] = Counter()
        for document in documents:
            self._documents_with.update(set(self._vocabulary.add_text(document.full_text)))

    def shorten(self, text: str, words: int | None) -> str:
        """The rarest words in the order of the query, the first of equally rare ones; the text if it has none."""
        if words is None:
            return text
        first_words: dict[int, str] = {}
        for word in WORD_PATTERN.findall(text.lower()):
            for stem in self._vocabulary.look_up(word).tolist():
                first_words.setdefault(stem, word)
        rarest = sorted(first_words, key=self._documents_with.__getitem__)[:words]
        return " ".join(word for stem, word in first_words.items() if stem in rarest) or text


def candidates() -> list[FusionChoice]:
    """The fusions of the rule, the simplest first."""
    weights = [(lexical, round(1 - lexical, 1)) for lexical in LEXICAL_WEIGHTS]
    choices = [FusionChoice("rrf", pair) for pair in weights]
    return choices + [FusionChoice("weighted", pair, scale) for scale in ("min-max", "z-score") for pair in weights]


def means(values: PerQuery) -> Floats:
    """The mean of each collection."""
    return np.array([part.mean() for part in values])


def difference(values: PerQuery, others: PerQuery) -> tuple[float, float]:
    """The mean over collections of the paired differences, and its standard error."""
    gaps = [part - other for part, other in zip(values, others, strict=True)]
    variance = sum(float(gap.var(ddof=1)) / len(gap) for gap in gaps)
    return float(means(gaps).mean()), variance**0.5 / len(gaps)


def choose_center(values: Mapping[float, PerQuery]) -> float:
    """The share of the mean to subtract."""
    plain = values[0.0]

    def is_clear(share: float) -> bool:
        gap, error = difference(values[share], plain)
        return gap > CENTERING_ERRORS * error and bool((means(values[share]) >= means(plain)).all())

    return max(
        (share for share in values if share and is_clear(share)), key=lambda s: means(values[s]).mean(), default=0.0
    )


@dataclass(frozen=True, eq=False)
class Evidence:
    """The values of each fusion by query: with the default vectors, with weak ones, and those of ``lexical``."""

    fused: Mapping[FusionChoice, PerQuery]
    weak: Mapping[FusionChoice, PerQuery]
    lexical: PerQuery

    def without(self, left_out: int) -> Evidence:
        """The evidence of the other collections."""

        def rest(values: PerQuery) -> PerQuery:
            return [part for number, part in enumerate(values) if number != left_out]

        return Evidence(
            {choice: rest(values) for choice, values in self.fused.items()},
            {choice: rest(values) for choice, values in self.weak.items()},
            rest(self.lexical),
        )

    def eligible(self) -> list[FusionChoice]:
        """The fusions that are not below ``lexical`` on any collection."""
        return [c for c, values in self.fused.items() if (means(values) >= means(self.lexical)).all()]

    def equally_good(self) -> list[FusionChoice]:
        """The eligible fusions that are within noise of the best one."""
        eligible = self.eligible()
        if not eligible:
            return [SIMPLEST]
        best = self.fused[max(eligible, key=lambda choice: means(self.fused[choice]).mean())]
        gaps = {choice: difference(best, self.fused[choice]) for choice in eligible}
        return [choice for choice, (gap, error) in gaps.items() if gap <= NOISE_ERRORS * error]

    def conservative(self) -> FusionChoice:
        """Of the equally good fusions, the best one with weak vectors."""
        return max(self.equally_good(), key=lambda choice: means(self.weak[choice]).mean())

    def held_out(self) -> list[tuple[FusionChoice, float]]:
        """The choice without each collection, and its value on that collection."""
        choices = [self.without(number).conservative() for number in range(len(self.lexical))]
        return [(choice, float(self.fused[choice][number].mean())) for number, choice in enumerate(choices)]

    def choose(self) -> FusionChoice:
        """The fusion that the rule takes."""
        held_out = float(np.mean([value for _, value in self.held_out()]))
        return self.conservative() if held_out > means(self.fused[SIMPLEST]).mean() else SIMPLEST
