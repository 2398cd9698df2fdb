from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.config.environment_variables import expand
from rankgauge.config.request_templates import PLACEHOLDERS, RequestTemplate, escape_braces
from rankgauge.errors import UsageError

VALUES: dict[str, Any] = {"query": 'say "{k}" and ${HOME}', "k": 10, "vector": [0.5, 1.0]}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{query}", VALUES["query"]),
        ("{k}", 10),
        ("{vector}", [0.5, 1.0]),
        ("top {k}: {query}", f"top 10: {VALUES['query']}"),
        ("[{vector}]", "[[0.5, 1.0]]"),
        ("{{k}} is {k}, {{{k}}}", "{k} is 10, {10}"),
        ({"a": ["{k}", {"b": None, "c{k}": 1.5}], "d": True}, {"a": [10, {"b": None, "c10": 1.5}], "d": True}),
        ("", ""),
        ([], []),
    ],
)
def test_placeholders_are_replaced_by_values_of_their_own_type(template: Any, expected: Any) -> None:
    assert RequestTemplate(template).fill(VALUES) == expected


def test_the_placeholders_of_a_template_are_known() -> None:
    assert RequestTemplate({"a{k}": ["x", {"b": "{vector} {{query}}"}]}).placeholders == {"k", "vector"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ask {qury}", "expected one of {query}, {k}, {vector}, {case.FIELD} at character 5, found '{qury}'"),
        ("{", "expected one of {query}, {k}, {vector}, {case.FIELD} at character 1, found '{'"),
        ("{k", "expected one of {query}, {k}, {vector}, {case.FIELD} at character 1, found '{k'"),
        ("a}", "expected one of {query}, {k}, {vector}, {case.FIELD} at character 2, found '}'"),
        ("{ k }", "expected one of {query}, {k}, {vector}, {case.FIELD} at character 1, found '{ k }'"),
    ],
)
def test_any_other_brace_is_an_error_that_names_its_character(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        RequestTemplate({"a": [text]})
    assert caught.value.message == message
    assert caught.value.hint == "write {{ and }} for braces themselves"


TEXTS = st.text(st.sampled_from('ab{}$ \\"é'), max_size=10)
BRACED = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


def escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escape_braces(value)
    if isinstance(value, dict):
        return {escape_braces(key): escaped(inner) for key, inner in value.items()}
    return [escaped(inner) for inner in value] if isinstance(value, list) else value


@given(BRACED)
def test_escaped_json_is_filled_as_it_was(value: Any) -> None:
    assert RequestTemplate(escaped(value)).fill({}) == value


@given(st.lists(st.sampled_from([*PLACEHOLDERS, "a", "{", "}", "é"]), min_size=2, max_size=8), st.text(), st.integers())
def test_a_text_is_its_parts_in_their_order(parts: list[str], query: str, k: int) -> None:
    values = {"query": query, "k": k, "vector": [1]}
    texts = {"query": query, "k": str(k), "vector": "[1]"}
    template = "".join(f"{{{part}}}" if part in PLACEHOLDERS else escape_braces(part) for part in parts)
    assert RequestTemplate(template).fill(values) == "".join(texts.get(part, part) for part in parts)


@given(TEXTS)
def test_any_text_is_a_template_or_an_error(text: str) -> None:
    with contextlib.suppress(UsageError):  # and nothing else
        RequestTemplate(text)


def test_an_environment_variable_is_not_a_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TEST", "a{k}b}")
    template = RequestTemplate({"x": "${TOKEN_OF_TEST} {k} $${TOKEN_OF_TEST}"}, expand)
    assert template.fill({"k": 3}) == {"x": "a{k}b} 3 ${TOKEN_OF_TEST}"}
    assert RequestTemplate("${TOKEN_OF_TEST}").fill({}) == "${TOKEN_OF_TEST}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ${NOT_SET_IN_TEST}", "the environment variable NOT_SET_IN_TEST is not set"),
        ("a ${", r"expected \$\{NAME\}, an environment variable, at character 3, found '\$\{'"),
        ("a ${B C}", r"expected \$\{NAME\}, an environment variable, at character 3, found '\$\{B C\}'"),
    ],
)
def test_a_variable_that_is_missing_or_not_one_is_an_error(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        expand(text)


@given(st.lists(st.sampled_from(["$", "{", "}", "x", "${SET_IN_TEST}", "$${SET_IN_TEST}"]), max_size=6))
def test_what_refers_to_no_variable_stays_as_it_is(parts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SET_IN_TEST", "value")
        text = "".join(parts)
        with contextlib.suppress(UsageError):
            found = expand(text)
            assert found.count("value") <= text.count("${SET_IN_TEST}")
            assert "${" in text or found == text
