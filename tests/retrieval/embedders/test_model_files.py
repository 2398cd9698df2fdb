"""The prompts of queries and documents, and the hashes of the files of a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.errors import InputError
from rankgauge.retrieval.embedders.model_files import file_hashes, prompts_by_side


@pytest.mark.parametrize(
    ("prompts", "default", "expected"),
    [
        ({}, None, {"query": "", "document": ""}),
        ({"query": "q: "}, None, {"query": "q: ", "document": ""}),
        ({"query": "q: ", "passage": "p: "}, None, {"query": "q: ", "document": "p: "}),
        ({"corpus": "c: ", "document": "d: "}, None, {"query": "", "document": "d: "}),
        ({"any": "x: "}, "any", {"query": "x: ", "document": "x: "}),
        ({"any": "x: ", "query": ""}, "any", {"query": "", "document": "x: "}),
    ],
)
def test_queries_and_documents_get_the_prompts_of_their_names(
    prompts: dict[str, str], default: str | None, expected: dict[str, str]
) -> None:
    assert prompts_by_side("model", prompts, default) == expected


@pytest.mark.parametrize(
    ("prompts", "default", "message"),
    [
        ({"s2p_query": "x"}, None, "expected a prompt named query, document, passage or corpus at prompts, found 's2p"),
        ({"query": "x"}, "other", "expected one of 'query' at default_prompt_name, found 'other'"),
    ],
)
def test_prompts_that_are_not_understood_are_an_error(
    prompts: dict[str, str], default: str | None, message: str
) -> None:
    with pytest.raises(InputError) as error:
        prompts_by_side("model", prompts, default)
    assert error.value.message.startswith(f"model: {message}")


def test_hidden_files_do_not_count_and_links_do(tmp_path: Path) -> None:
    for name in ("a.json", ".git/x", "sub/.cache/y", "sub/b.json"):
        path = tmp_path / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content")
    (tmp_path / "blob").write_text("weights")
    (tmp_path / "model" / "weights.bin").symlink_to(tmp_path / "blob")
    assert list(file_hashes(tmp_path / "model")) == ["a.json", "sub/b.json", "weights.bin"]
