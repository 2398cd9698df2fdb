"""Which chunk contains which part of which quote: the index against plain comparisons of every pair."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus import CorpusDocument, InMemoryCorpus
from rankgauge.labels.gold.matching import ApproximateMatcher, best_distance, match_quotes
from rankgauge.labels.gold.normalized_text import NormalizedChunk, normalized
from rankgauge.labels.gold.quote_matches import ExactMatcher, QuoteMatches, shortest_piece, splits_word

GUIDE = (
    "Open Settings and choose Security. Then select Reset and confirm with your password. A new recovery code is shown "
    "once; store it in a safe place. The reset takes effect after 24 hours, and all sessions stay signed in until then."
)
WORDS = ["a", "bb", "ab", "ba", "c c", "ab ab ab", "aaaaaaaaaaaa", "xyz1", "-", "\u03a9\u03b2"]


def match(quotes: list[str], *chunks: str, tolerance: float = 0.1) -> QuoteMatches:
    return match_quotes(quotes, InMemoryCorpus({str(number): text for number, text in enumerate(chunks)}), tolerance)


def parts(matches: QuoteMatches) -> list[tuple[int, str]]:
    return [(piece.chunk, matches.quotes[piece.quote][piece.start : piece.end]) for piece in matches.pieces]


def brute_force(quote: str, document: CorpusDocument) -> set[tuple[int, int, int]]:
    """Every part of a quote that begins and ends with the quote or at an edge of the chunk: start, end, place."""
    text, title = normalized(document.text), normalized(document.title)
    edges = (0, len(title) + 1) if title and text else (0,)
    text = f"{title} {text}" if title and text else title or text
    found = set()
    for place in range(1 - len(quote), len(text)):
        end = min(len(quote), len(text) - place)
        for edge in edges:
            start = max(0, edge - place)
            is_equal = quote[start:end] == text[start + place : end + place]
            is_word = (start == 0 and splits_word(text, place)) or (
                end == len(quote) and splits_word(text, end + place)
            )
            if end - start >= shortest_piece(quote) and is_equal and not is_word:
                found.add((start, end + (quote[end : end + 1] == " "), start + place))
                break
    return found


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_the_index_finds_what_a_comparison_of_every_pair_finds(seed: int) -> None:
    rng = random.Random(seed)
    text = " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 80)))
    cuts = sorted(rng.sample(range(len(text) + 1), min(len(text), 5)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    documents = [
        CorpusDocument(str(number).encode(), rng.choice(["", "Title ab"]), chunk) for number, chunk in enumerate(chunks)
    ]
    starts = [rng.randrange(len(text)) for _ in range(4)]
    quotes = [quote for start in starts if normalized(quote := text[start : rng.randint(start + 1, len(text))])]
    if not quotes:
        return
    matches = match_quotes(quotes, InMemoryCorpus(documents), 0)
    for number, quote in enumerate(matches.quotes):
        for row, document in enumerate(documents):
            found = {(p.start, p.end, p.place) for p in matches.pieces if (p.quote, p.chunk) == (number, row)}
            expected = brute_force(quote, document)
            assert {piece[:2] for piece in found} == {piece[:2] for piece in expected}
            assert found <= expected


@given(st.text("abc", max_size=9), st.text("abc", max_size=14))
def test_the_edit_distance_is_that_of_the_plain_dynamic_program(pattern: str, text: str) -> None:
    column = [0] * (len(text) + 1)
    for row, character in enumerate(pattern, 1):
        above, column = column, [row]
        for index, other in enumerate(text, 1):
            column.append(min(above[index] + 1, column[index - 1] + 1, above[index - 1] + (character != other)))
    assert best_distance(pattern, text) == min(column)


def test_a_quote_that_is_split_over_three_chunks_is_found_in_parts() -> None:
    quote = GUIDE[35 : GUIDE.index(", and all")]
    chunks = [GUIDE[:70], GUIDE[70:140], GUIDE[140:]]
    assert parts(match([quote], *chunks)) == [
        (0, "then select reset and confirm with "),
        (1, "your password. a new recovery code is shown once; store it in a safe p"),
        (2, "lace. the reset takes effect after 24 hours"),
    ]


def test_a_sentence_that_shares_words_but_ends_elsewhere_is_not_a_part_of_the_quote() -> None:
    plans = [f"The limit of plan {name} is {limit} requests per minute, for every key." for name, limit in PLANS]
    assert parts(match([plans[0]], *plans)) == [(0, normalized(plans[0]))]


PLANS = (("A", 100), ("B", 200))


def test_edits_count_only_if_the_quote_is_nowhere_exactly() -> None:
    cleaned = GUIDE.replace("Security", "Security [1]").replace("24 hours", "24 h")
    matches = match([GUIDE], "Other text.", cleaned)
    assert [(piece.chunk, piece.distance) for piece in matches.pieces] == [(1, 8)]
    assert matches.approximate == {0}
    assert [piece.chunk for piece in match([GUIDE], GUIDE, cleaned).pieces] == [0]
    assert match([GUIDE], "Other text.", cleaned, tolerance=0).missing == [0]


def test_the_most_similar_text_is_named_for_a_quote_that_is_nowhere() -> None:
    matches = match(["Open Settings and choose Billing, then Invoices."], "Other text.", GUIDE)
    assert matches.missing == [0]
    assert matches.nearest[0].chunk == b"1"
    assert matches.nearest[0].text.startswith("Open Settings and choose ")


def test_a_quote_does_not_begin_or_end_inside_a_word() -> None:
    assert parts(match(["port 80"], "port 8080", "port 80, or port 8080")) == [(1, "port 80")]


def test_a_quote_at_two_places_is_noted_and_the_overlap_of_chunks_is_not() -> None:
    quote = "Store it in a safe place."
    assert match([quote], f"First. {quote} Second.", f"First. {quote} Sec").repeated == frozenset()
    assert match([quote], f"First. {quote} Second.", f"Third. {quote} Fourth.").repeated == {0}
    assert len(match([quote], f"First. {quote} Second. {quote}").repeated) == 1


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_random_edits_within_the_tolerance_are_found(seed: int) -> None:
    rng = random.Random(seed)
    words = [f"{rng.choice('bcdfg')}{rng.choice('aeiou')}{rng.randrange(1000)}" for _ in range(120)]
    text = " ".join(words)
    quote = list(" ".join(words[40:70]))
    for _ in range(len(quote) // 20):
        quote[rng.randrange(len(quote))] = rng.choice("xyz")
    matches = match(["".join(quote)], " ".join(words[:20]), text)
    assert {piece.chunk for piece in matches.pieces} == {1}


@given(
    st.lists(st.sampled_from(["alpha ", "beta", "gamma. ", "delta,", " epsilon", "zeta"]), min_size=8, max_size=30),
    st.lists(st.tuples(st.integers(0, 150), st.sampled_from(["", "x", "yy", " "])), max_size=8),
    st.integers(0, 40),
)
def test_the_lower_bound_of_the_edit_distance_is_one(
    words: list[str], edits: list[tuple[int, str]], skipped: int
) -> None:
    quote, text = normalized("".join(words)), "".join(words)
    for place, replacement in edits:
        text = text[:place] + replacement + text[place + 1 :]
    matcher = ApproximateMatcher([quote], [0], 0.2)
    chunk = NormalizedChunk.of(0, CorpusDocument(b"c", "", text[skipped % 20 :] + " and more text"))
    matcher.add([chunk])
    for candidate in matcher._best[0]:
        for overlap in matcher._overlaps(0, candidate):
            distance = matcher._piece(0, candidate, overlap).distance
            assert distance > int(0.2 * overlap.size) or overlap.least_distance <= distance


def test_progress_counts_chunks_in_both_passes() -> None:
    reports: list[tuple[int, int | None]] = []
    corpus = InMemoryCorpus({"a": "The first sentence is here.", "b": "The second one is there."})
    match_quotes(["This is in no chunk at all."], corpus, progress=lambda *report: reports.append(report))
    assert reports == [(2, None), (2, 2)]


def test_a_quote_whose_parts_are_all_too_common_is_in_no_chunk() -> None:
    assert match(["9" * 50], "some text").missing == [0]
    assert parts(match(["9" * 50], "9" * 50)) == [(0, "9" * 50)]


def near_misses(count: int) -> tuple[list[str], list[str]]:
    """Quotes and chunks that differ in one number only."""
    sentence = "The limit of plan {} is 500 requests per minute, and it can be raised on request."
    numbers = [hashlib.sha256(str(number).encode()).hexdigest()[:12] for number in range(2 * count)]
    texts = [sentence.format(number) for number in numbers]
    return texts[:count], texts[count:]


def test_near_misses_are_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    piece = ExactMatcher._piece

    def counted(self: ExactMatcher, *arguments: Any) -> Any:
        compared.append(1)
        return piece(self, *arguments)

    monkeypatch.setattr(ExactMatcher, "_piece", counted)
    work = {}
    for count in (100, 400):
        quotes, chunks = near_misses(count)
        compared.clear()
        assert len(match([*quotes, chunks[0]], *chunks, tolerance=0.0).missing) == count
        work[count] = len(compared)
    assert work[400] <= 400  # of 160,000 pairs


def test_too_many_shared_places_are_refused_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankgauge.labels.gold.quote_matches.MAX_PLACES", 100)
    quotes = [f"{number} repeats itself again and again" for number in range(20)]
    chunks = ["repeats itself again and again"] * 20  # the end of every quote
    with pytest.raises(InputError, match="repeat the same words in too many combinations: 400 places to compare"):
        match(quotes, *chunks)


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_parts_at_edges_are_found_whatever_quotes_share(seed: int) -> None:
    """Few words, so that quotes share beginnings and ends; chunks that are shorter than a quote lie within it."""
    rng = random.Random(seed)
    words = ["alpha beta", "gamma delta", "epsilon", "zeta eta"]
    texts = [" ".join(rng.choices(words, k=rng.randrange(1, 9))) for _ in range(12)]
    quotes, chunks = list(dict.fromkeys(texts[:6])), [text[rng.randrange(6) :] for text in texts[6:]]
    chunks += [quote[rng.randrange(9) : len(quote) - rng.randrange(9)] for quote in quotes if len(quote) > 20]
    documents = [CorpusDocument(str(number).encode(), "", chunk) for number, chunk in enumerate(chunks)]
    matches = match_quotes(quotes, InMemoryCorpus(documents), 0.0)
    for number, quote in enumerate(quotes):
        for row, document in enumerate(documents):
            found = {
                (piece.start, piece.end, piece.place)
                for piece in matches.pieces
                if (piece.quote, piece.chunk) == (number, row)
            }
            assert found == brute_force(normalized(quote), document), (quote, document.text)
