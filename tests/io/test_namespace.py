"""The public names of rankgauge.io and rankgauge.validation."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rankgauge.io
import rankgauge.validation

SOURCE = Path(__file__).parents[2] / "src" / "rankgauge"
IO = """
Collection Conversion Corpus CorpusDocument InMemoryCorpus Limits Queries Reading convert looks_like_log open_collection
qrels_from_frame read_corpus read_log read_qrels read_queries read_run run_from_frame write_run
""".split()
VALIDATION = """
CODES Code Finding Place Repair Validation ValidationOptions repair_text validate_qrels validate_run
""".split()


def test_the_public_names_are_these() -> None:
    assert dir(rankgauge.io) == IO
    assert dir(rankgauge.validation) == VALIDATION
    assert all(getattr(rankgauge.io, name).__name__ == name for name in IO)
    assert all(hasattr(rankgauge.validation, name) for name in VALIDATION)


@pytest.mark.parametrize("module", ["rankgauge.io", "rankgauge.validation"])
def test_an_unknown_name_is_an_attribute_error(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        getattr(__import__(module, fromlist=["x"]), "nothing")  # noqa: B009 - a name that does not exist


def test_topics_and_sgml_are_parsed_in_one_place() -> None:
    """A tag of a TREC file as a constant in another file would be a second parser."""
    tags = {"<top>", "<num>", "<docno>", "<doc>"}
    files = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            if isinstance(text, str) and text.strip().lower() in tags:
                files.add(path.relative_to(SOURCE).as_posix())
    assert files == {"io/corpus/sgml.py", "io/corpus/reading.py"}
