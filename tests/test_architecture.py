"""Imports point one way, optional libraries have one owner, and starting up is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "rankgauge"

# Each part may import from these, and from itself.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "core": {"errors"},
    "measures": {"core", "errors"},
    "stats": {"errors"},
    "io": {"core", "errors"},
    "notes": {"core", "errors", "measures"},
    "evaluation": {"core", "errors", "io", "measures", "notebook", "notes", "slices", "stats"},
    "trec_eval": {"core", "errors", "io", "measures"},
    "validation": {"core", "errors", "io"},
    "notebook": {"errors"},
    "cache": {"", "errors", "measures"},
    "cached_evaluation": {"cache", "core", "evaluation", "io", "measures", "notes"},
    "config": {
        "cache",
        "cached_evaluation",
        "comparison",
        "core",
        "errors",
        "evaluation",
        "gating",
        "io",
        "measures",
        "stats",
    },
    "lists": {"cache", "config", "core", "errors", "measures", "stats"},
    "rag": {"core", "errors", "evaluation", "io", "measures", "notebook", "stats"},
    "pipeline": {"core", "errors", "evaluation", "io", "measures", "notebook", "stats"},
    "collection": {"core", "errors", "io"},
    "retrieval": {"collection", "core", "errors"},
    "fetching": {"collection", "core", "errors", "io", "retrieval"},
    "tuning": {"core", "errors", "evaluation", "measures", "retrieval"},
    "rq": {"core", "errors", "io", "lists", "measures", "notebook", "retrieval"},
    "audit": {"core", "errors", "evaluation", "measures", "stats"},
    "kpi": {"config", "errors", "measures"},
    "gating": {"core", "errors", "evaluation", "io", "measures", "notes", "stats"},
    "benchmark": {
        "",
        "collection",
        "comparison",
        "config",
        "core",
        "errors",
        "evaluation",
        "experiment",
        "fetching",
        "io",
        "kpi",
        "render",
        "retrieval",
        "validation",
    },
    "experiment": {
        "collection",
        "comparison",
        "core",
        "errors",
        "evaluation",
        "io",
        "kpi",
        "measures",
        "notes",
        "validation",
    },
    "pytest_plugin": {"gating", "render"},
    "render": {
        "",
        "audit",
        "comparison",
        "config",
        "errors",
        "core",
        "evaluation",
        "experiment",
        "gating",
        "io",
        "kpi",
        "measures",
        "notebook",
        "notes",
        "pipeline",
        "rq",
        "slices",
        "stats",
        "validation",
    },
    "cli": {
        "",
        "audit",
        "benchmark",
        "collection",
        "comparison",
        "config",
        "core",
        "errors",
        "evaluation",
        "experiment",
        "fetching",
        "gating",
        "io",
        "kpi",
        "measures",
        "notes",
        "pipeline",
        "rag",
        "render",
        "retrieval",
        "rq",
        "stats",
        "trec_eval",
        "tuning",
        "validation",
    },
    "": {
        "audit",
        "benchmark",
        "experiment",
        "render",
        "cache",
        "cached_evaluation",
        "collection",
        "comparison",
        "config",
        "core",
        "errors",
        "evaluation",
        "fetching",
        "gating",
        "io",
        "kpi",
        "lists",
        "measures",
        "pipeline",
        "rag",
        "retrieval",
        "rq",
        "stats",
        "tuning",
        "validation",
    },  # the package's own names
    "slices": {"core", "errors", "measures", "stats"},
    "comparison": {"core", "errors", "evaluation", "gating", "measures", "notebook", "notes", "slices", "stats"},
    "__main__": {"cli"},
}
# Library → the one file that imports it.
OWNERS: dict[str, str] = {
    "Stemmer": "retrieval/words.py",
    "bm25s": "retrieval/bm25.py",
    "faiss": "retrieval/faiss.py",
    "onnxruntime": "retrieval/embedders/onnx.py",
    "sentence_transformers": "retrieval/embedders/sentence_transformers.py",
    "tokenizers": "retrieval/embedders/pieces.py",
    "jinja2": "render/html/page.py",
    "ir_datasets": "io/datasets.py",
    "narwhals": "io/frames.py",
    "pandas": "notebook.py",
    "polars": "notebook.py",
    "pyarrow": "io/arrow.py",
    "zstandard": "io/sources.py",
}
OPTIONAL = {  # and jinja2, which is always there and slow to import
    "bm25s", "Stemmer", "wordllama", "faiss", "onnxruntime", "tokenizers", "safetensors", "psycopg", "pgvector",
    "pyarrow", "narwhals", "zstandard", "pyspark", "ir_datasets", "pandas", "polars", "sentence_transformers",
    "jinja2",
}  # fmt: skip


def part_of(path: Path) -> str:
    inside = path.relative_to(SOURCE)
    return inside.parts[0] if len(inside.parts) > 1 else {"__init__": ""}.get(inside.stem, inside.stem)


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "rankgauge"}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    here = part_of(path)
    assert here in ALLOWED, f"say in ALLOWED what {here} may import"
    for name in imports(path):
        if name == "rankgauge" or name.startswith("rankgauge."):
            there = name.split(".")[1] if "." in name else ""
            if not (SOURCE / there).is_dir() and not (SOURCE / f"{there}.py").exists():
                there = ""
            assert there == here or there in ALLOWED[here], f"{here} must not import {name}"


def test_each_optional_library_has_one_owner() -> None:
    owners: dict[str, set[str]] = {}
    for path in FILES:
        for name in imports(path):
            library = name.split(".")[0]
            if library in OPTIONAL:
                owners.setdefault(library, set()).add(str(path.relative_to(SOURCE)))
    assert {library: files.pop() for library, files in owners.items() if len(files) == 1} == OWNERS
    assert not any(len(files) > 1 for files in owners.values())


def loaded_by(*arguments: str) -> set[str]:
    code = "import sys; sys.argv[1:] = {!r}\n{}\nprint(*sorted(sys.modules), file=sys.stderr)"
    body = "import rankgauge" if not arguments else "from rankgauge.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code.format(list(arguments), body)], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


HEAVY = {"scipy", "jinja2", "pydantic", "rich", "yaml"}


def test_importing_the_package_imports_next_to_nothing() -> None:
    assert not loaded_by() & (HEAVY | {"numpy", "click"})


@pytest.mark.parametrize("arguments", [["--help"], ["runs", "--help"], ["qrels", "--help"]])
def test_help_imports_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    assert not loaded & (HEAVY | {"numpy"})
    assert not any(name.startswith(("rankgauge.core", "rankgauge.io")) for name in loaded)


def test_a_small_evaluation_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    assert not loaded_by("evaluate", str(tmp_path / "q"), str(tmp_path / "r")) & HEAVY
