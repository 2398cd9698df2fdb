"""Gold that passages share counts once: in the token measures, every position of a chunk is gold or it is not."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.labels import GoldInputs, evaluate_gold

MEASURES = ["TokenRecall", "TokenPrecision", "TokenIoU"]
# Words of 16 characters: one is enough to be the part of a quote of two that the edge of a chunk leaves.
WORDS = [hashlib.sha256(bytes([number])).hexdigest()[:16] for number in range(32)]
Range = tuple[int, int]


def scores(quotes: list[Any], chunks: dict[str, str], ranking: list[str], *names: str) -> list[float]:
    inputs = GoldInputs([{"query_id": "q", "gold": quotes}], chunks)
    values = evaluate_gold(inputs, {"q": ranking}, list(names) or MEASURES).values
    return [float(value) for value in values[0]]


def test_a_quote_inside_another_does_not_change_precision() -> None:
    words = [f"w{number}" for number in range(24)]
    chunk, quote = " ".join(words), " ".join(words[:12])
    nested = " ".join(words[:11])
    assert scores([quote], {"c": chunk}, ["c"]) == [1, 0.5, 0.5]
    assert scores([quote, nested], {"c": chunk}, ["c"]) == [1, 0.5, 0.5]
    assert scores([nested, quote], {"c": chunk}, ["c"]) == [1, 0.5, 0.5]


def test_a_chunk_that_is_the_gold_text_has_an_iou_of_1_however_quotes_are_nested() -> None:
    words = [f"w{number}" for number in range(24)]
    quotes = [" ".join(words[first:last]) for first, last in ((0, 24), (2, 20), (3, 18), (4, 17), (5, 6), (23, 24))]
    assert scores(quotes, {"c": " ".join(words)}, ["c"]) == [1, 1, 1]
    # A quote that occurs twice within another one.
    assert scores(["to be or not to be", "to be"], {"c": "To be, or not to be"}, ["c"], "TokenRecall") == [1]
    assert scores(["to be or not to be", "to be"], {"c": "To be or not to be"}, ["c"]) == [1, 1, 1]
    # A short overlap, which only the chunk shows.
    assert scores(["Open the", "the door"], {"c": "Open the door"}, ["c"]) == [1, 1, 1]


def test_what_quotes_share_does_not_depend_on_where_chunks_are_cut() -> None:
    quotes = ["Select the account and then choose Reset", "choose Reset", "and then choose Reset from the long menu"]
    text = "Select the account and then choose Reset from the long menu"
    for cut in range(1, len(text)):
        chunks = {"a": text[:cut], "b": text[cut:]}
        recall = scores(quotes, chunks, ["a", "b"], "TokenRecall(unit='characters')")[0]
        inputs = GoldInputs([{"query_id": "q", "gold": quotes}], chunks)
        precision = evaluate_gold(inputs, {"q": ["a", "b"]}, ["TokenPrecision(unit='characters')"])
        retrieved = precision["TokenPrecision(unit='characters')"] or 0
        length = sum(len(chunk.strip()) for chunk in chunks.values())
        assert recall * len(text) == pytest.approx(retrieved * length), cut  # all gold is the text, once


ranges = st.tuples(st.integers(0, 29), st.integers(1, 12)).map(lambda pair: (pair[0], min(30, sum(pair))))


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Range], list[list[int]], list[int]]:
    """Quotes of a document, chunks of it that may overlap, and a ranking of some chunks.

    Behind the document come copies of parts of it, so that quotes occur, or begin, again.
    """
    document = list(range(30))
    for number, (first, last) in enumerate(draw(st.lists(ranges, max_size=2))):
        document += [30 + number, *range(first, last)]
    quotes = draw(st.lists(ranges, min_size=1, max_size=5, unique=True))
    starts = st.tuples(st.integers(0, len(document) - 1), st.integers(1, 14))
    chunks = [document[first : first + size] for first, size in draw(st.lists(starts, min_size=1, max_size=6))]
    order = draw(st.permutations(range(len(chunks))))
    return quotes, chunks, order[: draw(st.integers(1, len(chunks)))]


def matched_words(quote: Range, chunk: list[int]) -> set[int]:
    """The words of a quote that a chunk contains: all of them, or what its edges leave of two or more."""
    words = list(range(*quote))
    found: set[int] = set()
    for shift in range(-len(words) + 1, len(chunk)):
        pairs = [(word, chunk[row + shift]) for row, word in enumerate(words) if 0 <= row + shift < len(chunk)]
        if all(word == other for word, other in pairs) and (len(pairs) == len(words) or len(words) > 1):
            found |= {word for word, _ in pairs}
    return found


@pytest.mark.slow
@given(collections())
def test_token_measures_equal_a_count_of_positions(collection: tuple[list[Range], list[list[int]], list[int]]) -> None:
    quotes, chunks, ranking = collection
    texts = {f"c{number}": " ".join(WORDS[word] for word in chunk) for number, chunk in enumerate(chunks)}
    gold = {word for quote in quotes for word in range(*quote)}
    retrieved = [word for number in ranking for word in chunks[number]]
    shared = {word for number in ranking for quote in quotes for word in matched_words(quote, chunks[number])}
    assert scores([" ".join(WORDS[slice(*quote)]) for quote in quotes], texts, [f"c{n}" for n in ranking]) == (
        pytest.approx(
            [
                len(shared) / len(gold),
                len(shared) / len(retrieved),
                len(shared) / (len(gold) + len(retrieved) - len(shared)),
            ]
        )
    )


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=14),
    st.lists(st.tuples(st.integers(0, 13), st.integers(1, 14)), max_size=4),
)
def test_quotes_within_a_quote_change_nothing_even_if_words_repeat(words: list[str], parts: list[Range]) -> None:
    text = " ".join(words)
    nested = [" ".join(words[first : first + size]) for first, size in parts if first < len(words)]
    chunks = {"c": f"{text} x", "half": " ".join(words[len(words) // 2 :])}
    names = [f"{name}(unit='{unit}')" for name in MEASURES for unit in ("tokens", "characters")]
    assert scores([text, *nested], chunks, ["c"], *names) == scores([text], chunks, ["c"], *names)
    recall, precision, iou = scores([text, *nested], chunks, ["half", "c"])
    assert recall == 1
    assert max(precision, iou) <= 1


def test_a_word_that_a_chunk_cuts_takes_a_place_in_the_budget_and_is_not_gold() -> None:
    quote = "Opening the door quietly at night"
    chunks = {"c": "ning the door quietly at night, and more"}
    for budget, found in ((1, 0), (2, 1), (3, 2), (6, 5), (9, 5)):
        assert scores([quote], chunks, ["c"], f"TokenRecall(budget={budget})") == [pytest.approx(found / 6)]
