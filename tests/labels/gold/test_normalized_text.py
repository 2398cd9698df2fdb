"""The form in which texts are compared, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.labels.gold.normalized_text import NormalizedText, normalized

ODD_CHARACTERS = "aB \n-\u2013\u201c\ufb01\u00df\u0130\u00e9\u0301\u00b4\u00ad\u00bd\uac00\u1100\u1161\u11a8\u3000*_`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Two\n\n words ", "two words"),
        ("e\ufb03cient \uff21", "efficient a"),
        ("Stra\u00dfe", "strasse"),
        ("\u201csoft\u00ad\u201d \u2014 it\u2019s", '"soft" - it\'s'),
        ("**bold** and `max_size`", "bold and maxsize"),
        ("cafe\u0301", "caf\u00e9"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
    ],
)
def test_white_space_case_unicode_and_markup_do_not_count(text: str, expected: str) -> None:
    assert normalized(text) == expected


@settings(max_examples=60)
@given(st.text() | st.text(alphabet=ODD_CHARACTERS))
def test_a_normalized_text_stays_as_it_is_and_every_character_has_a_place(text: str) -> None:
    places = NormalizedText.of(text)
    assert places.text == normalized(text) == normalized(places.text)
    assert len(places.starts) == len(places.ends) == len(places.text)
    assert all(0 <= start <= end <= len(text) for start, end in zip(places.starts, places.ends, strict=True))


def test_the_original_text_behind_a_part_is_known() -> None:
    text = "The  **e\ufb03cient**\nway."
    places = NormalizedText.of(text)
    start = places.text.index("efficient")
    assert places.source(start, start + len("efficient")) == "e\ufb03cient"
    assert places.source(0, len(places.text)) == text
