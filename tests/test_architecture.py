"""Imports point one way and hide no cycle, optional libraries have one owner, and starting up is cheap."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from rankgauge.io.formats.registry import FORMATS
from rankgauge.io.sources import Source
from tests.io.differential import ways

SOURCE = Path(__file__).parents[1] / "src" / "rankgauge"

# Each room imports only from itself and from rooms before it. `labels` comes after `retrieval`, since judges are asked
# as retrievers are, and before `adapters` and `report`, which may use judgments.
ROOMS = [
    "_version", "secrets", "errors", "core", "stats", "measures", "io", "validation", "evaluation", "distributed",
    "comparison", "config", "retrieval", "lists", "rag", "labels", "adapters", "report", "history", "render",
    "benchmark", "cli",
]  # fmt: skip
ABOVE = ["pytest_plugin", "__main__", ""]  # the package's entry points and its public names: may import any room
# Library → the one file that imports it.
OWNERS: dict[str, str] = {
    "Stemmer": "retrieval/language.py",
    "bm25s": "retrieval/engines/lexical.py",
    "httpx": "retrieval/engines/http_client.py",
    "sentence_transformers": "retrieval/embedders/sentence_transformers.py",
    "tokenizers": "retrieval/embedders/model_files.py",
    "jinja2": "render/html/page.py",
    "ir_datasets": "io/formats/ir_datasets.py",
    "narwhals": "io/formats/frames.py",
    "psycopg": "retrieval/engines/postgres_client.py",
    "psycopg_pool": "retrieval/engines/postgres_client.py",
    "pandas": "core/result_views.py",
    "polars": "core/result_views.py",
    "pyarrow": "io/formats/arrow.py",
    "pyspark": "distributed/spark/session.py",
    "zstandard": "io/byte_streams.py",
}
OPTIONAL = {  # and jinja2, which is always there and slow to import
    "bm25s", "Stemmer", "wordllama", "tokenizers", "safetensors", "psycopg", "psycopg_pool",
    "pyarrow", "narwhals", "zstandard", "pyspark", "ir_datasets", "pandas", "polars", "sentence_transformers",
    "httpx", "jinja2",
}  # fmt: skip


def part_of(path: Path) -> str:
    inside = path.relative_to(SOURCE)
    return inside.parts[0] if len(inside.parts) > 1 else {"__init__": ""}.get(inside.stem, inside.stem)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "rankgauge"}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


def room_of(module: str) -> str:
    """The room of ``rankgauge.core.ids`` is ``core``; that of a public name of the package is the package itself."""
    name = module.split(".")[1] if "." in module else ""
    return name if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists() else ""


def test_each_room_imports_only_from_rooms_before_it() -> None:
    order = [*ROOMS, *ABOVE]
    forbidden = [
        f"{path.relative_to(SOURCE).as_posix()} must not import {name}"
        for path in FILES
        for name in imports(path)
        if name.split(".")[0] == "rankgauge" and order.index(room_of(name)) > order.index(part_of(path))
    ]
    assert forbidden == []


def test_the_rooms_are_the_folders_and_there_are_at_most_twenty() -> None:
    folders = {path.parent.relative_to(SOURCE).parts[0] for path in FILES if path.parent != SOURCE}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert folders | modules == {*ROOMS, *ABOVE} - {""}
    assert len(folders | {"errors"}) <= 20


@pytest.mark.slow
def test_each_optional_library_has_one_owner() -> None:
    owners: dict[str, set[str]] = {}
    for path in FILES:
        for name in imports(path):
            library = name.split(".")[0]
            if library in OPTIONAL:
                owners.setdefault(library, set()).add(str(path.relative_to(SOURCE)))
    assert {library: files.pop() for library, files in owners.items() if len(files) == 1} == OWNERS
    assert not any(len(files) > 1 for files in owners.values())


def test_only_these_files_import_by_name() -> None:
    """Public names, commands, a user's retriever, and what later rooms make: the views of results, live results."""
    by_name = {path.relative_to(SOURCE).as_posix() for path in FILES if "import_module" in path.read_text("utf-8")}
    own = {"cli/command_tree.py", "core/public_names.py", "core/result_views.py", "render/formats/notebook.py"}
    assert by_name == {*own, "io/input_kinds.py", "retrieval/named_code.py"}


def loaded_by(*arguments: str) -> set[str]:
    code = "import sys; sys.argv[1:] = {!r}\n{}\nprint(*sorted(sys.modules), file=sys.stderr)"
    body = "import rankgauge" if not arguments else "from rankgauge.cli.main import run; run()"
    words = [sys.executable, "-c", code.format(list(arguments), body)]
    environment = dict(os.environ)  # without the COLUMNS that readline sets for the processes of a debugger
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


@dataclass(frozen=True)
class OwnImports:
    """The modules of this package that a module imports, besides those that only type checkers see."""

    at_the_top: set[str]
    in_functions: set[str]


def own_imports(path: Path, *, with_types: bool = False) -> OwnImports:
    found = OwnImports(set(), set())
    todo: list[tuple[ast.AST, bool]] = [(tree_of(path), False)]
    while todo:
        node, is_inside = todo.pop()
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_for_types and not with_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name if name in MODULES else node.module for name in names} & MODULES.keys()
            (found.in_functions if is_inside else found.at_the_top).update(modules)
        is_inside = is_inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        statements = (ast.stmt, ast.excepthandler, ast.match_case)
        todo += [(child, is_inside) for child in ast.iter_child_nodes(node) if isinstance(child, statements)]
    return found


def test_imports_in_functions_hide_no_cycle_and_each_saves_an_import() -> None:
    imported = {module: own_imports(path) for module, path in MODULES.items()}
    graph = {module: found.at_the_top | found.in_functions for module, found in imported.items()}
    TopologicalSorter(graph).prepare()  # raises an error that lists the cycle, if there is one
    for module, found in imported.items():
        anyway = set[str]()
        todo = [module] if found.in_functions else []
        while todo:
            new = imported[todo.pop()].at_the_top - anyway
            anyway |= new
            todo += new
        needless = found.in_functions & anyway
        assert not needless, f"{module} imports {needless} anyway, with what it imports at its top"


# Modules that only one module imports, a neighbor in the same folder, and why each is not a part of that one.
APART = {
    "comparison.gate.decision": "what the difference of one measure is called; its importer pairs queries and measures",
    "evaluation.passage_conventions": "cold: only judgments by text need it, and every evaluation imports its importer",
    "io.formats.json_lines": "a row of the table of formats",
    "io.formats.key_finder": "which key has which role is a question of its own; its importer makes a log",
    "io.pipeline.dict_lookup": "a shortcut: the compiled side of the join",
    "io.pipeline.trec_scan": "a shortcut: the compiled side of the join",
    "render.documents.audits": "cold; the table of documents finds it by name",
    "render.formats.text_chart": "cold: only --plot needs it, and every evaluation imports its importer",
    "retrieval.asking.libraries": "the optional side of an interface: objects of other libraries",
    "cli.commands.benchmark": "a command of its own; `demo` runs one on the bundled collection",
    "validation.clean_scan": "a shortcut: the compiled side of validation",
}
STUB = re.compile(r"(?m)^from rankgauge\.([\w.]+) import ")


def test_no_module_is_imported_by_one_neighbor_only() -> None:
    """A part of one module is in that module; what is public is a concept of its own."""
    importers: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        found = own_imports(path, with_types=True)
        for name in found.at_the_top | found.in_functions:
            importers.setdefault(name.removeprefix("rankgauge."), set()).add(module)
    public = {name for stub in SOURCE.rglob("__init__.pyi") for name in STUB.findall(stub.read_text("utf-8"))}
    apart = {
        name
        for name, modules in importers.items()
        if len(modules) == 1
        and MODULES[f"rankgauge.{name}"].name != "__init__.py"
        and MODULES[min(modules)].name != "__init__.py"
        and MODULES[f"rankgauge.{name}"].parent == MODULES[min(modules)].parent
    }
    assert apart - public == set(APART)


def test_no_file_name_is_used_more_than_three_times() -> None:
    counts = Counter(path.name for path in FILES if path.name != "__init__.py")
    assert {name: count for name, count in counts.items() if count > 3} == {}


RETURNED_TUPLES = {  # functions that may return three or more values without names
    "history/entries.py:order": "a key to sort by, of which nobody reads a part",
    "cli/command_tree.py:resolve_command": "overrides a method of click",
    "cli/options/declared_options.py:_parse_decls": "overrides a method of click",
    "render/html/history_page.py:order": "a key to sort by, of which nobody reads a part",
}


def test_three_or_more_returned_values_have_names() -> None:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{path.relative_to(SOURCE).as_posix()}:{node.name}"
                assert name in RETURNED_TUPLES or not is_bare_tuple(node.returns), f"{name} returns bare values"


def is_bare_tuple(annotation: ast.expr | None) -> bool:
    """Whether it is a tuple of three or more values, or one that may be missing."""
    if isinstance(annotation, ast.BinOp):
        return is_bare_tuple(annotation.left) or is_bare_tuple(annotation.right)
    if not isinstance(annotation, ast.Subscript) or ast.unparse(annotation.value) != "tuple":
        return False
    values = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    return len(values) > 2 and not any(isinstance(value, ast.Constant) and value.value is ... for value in values)


def test_a_docstring_says_what_a_thing_is_and_not_that_it_is_the_same() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, documented):
                text = ast.get_docstring(node, clean=False) or ""
                assert not text.startswith("The same"), f"{path.relative_to(SOURCE)}: {text}"


MODULES_OF_AN_EVALUATION = 92  # with 16 packages; each costs about a third of a millisecond
HEAVY = {"scipy", "jinja2", "pydantic", "rich", "yaml"}


def test_importing_the_package_imports_next_to_nothing() -> None:
    assert not loaded_by() & (HEAVY | {"numpy", "click"})


@pytest.mark.parametrize("arguments", [["--help"], ["runs", "--help"], ["labels", "--help"]])
def test_help_imports_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    assert not loaded & (HEAVY | {"numpy"})
    assert not any(
        name.startswith(("rankgauge.core.", "rankgauge.io")) for name in loaded - {"rankgauge.core.public_names"}
    )


def test_a_small_evaluation_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    loaded = loaded_by("evaluate", str(tmp_path / "q"), str(tmp_path / "r"))
    slow = HEAVY | {"hashlib", "numpy.ma", "secrets", "csv", "html", "lzma", "shutil", "subprocess"}
    assert loaded & slow == set()
    assert not any(name.startswith(("rankgauge.stats.paired_tests", "rankgauge.comparison.compare")) for name in loaded)
    own = {name for name in loaded if name.startswith("rankgauge.")}
    assert len(own) <= MODULES_OF_AN_EVALUATION, sorted(own)


MAX_PARAMETERS = 8
DATA_PARAMETERS = {  # of public functions, whose data does not count
    "comparison/compare.py:compare": 2,
    "comparison/gate/gate.py:gate": 5,  # judgments, run, baseline, queries and corpus
    "distributed/spark/evaluation.py:evaluate": 2,
    "measures/registry.py:measure": 1,
    "rag/live.py:evaluate_retriever": 2,
    "rag/live.py:evaluate_retriever_async": 2,
    "retrieval/tuning.py:tune": 2,
}


def test_no_function_takes_more_than_eight_parameters_besides_its_data() -> None:
    too_many = []
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                count = sum(argument.arg not in ("self", "cls") for argument in arguments)
                name = f"{path.relative_to(SOURCE).as_posix()}:{node.name}"
                if count - DATA_PARAMETERS.get(name, 0) > MAX_PARAMETERS:
                    too_many.append(f"{name} takes {count} parameters")
    assert too_many == []


@pytest.mark.slow
def test_no_class_name_is_defined_twice() -> None:
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), []).append(path.relative_to(SOURCE).as_posix())
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


EXCEPTION = re.compile(r"#\s*(?:noqa|type: ignore|ruff: noqa)\b(?P<codes>[:\[][\w\]\-, ]*)?(?P<rest>.*)$")


@pytest.mark.parametrize("folder", ["src", "tests", "scripts", "benchmarks"])
def test_every_exception_to_a_rule_has_its_reason_beside_it(folder: str) -> None:
    bare = []
    for path in sorted((SOURCE.parents[1] / folder).rglob("*.py")):
        if ".venv" in path.parts or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = EXCEPTION.search(line)
            if match is not None and len(match["rest"].strip(" -–#()")) < 5 and " - " not in line[match.start() :]:
                bare.append(f"{path}:{number}: {line.strip()}")
    assert not bare, "\n".join(bare)


# Formats that are chosen by name only: TREC's lines with other columns.
CHOSEN_ONLY = {"ndeval"}
WAYS_OF_SOURCES = {
    "FileSource": {"gz", "bz2"},
    "FolderSource": {"folder"},
    "TableSource": {"frame", "lazy table"},
    "SystemSource": {"system"},
    "DatasetSource": set[str](),  # its library downloads collections: tests/io/formats/test_ir_datasets.py
}


@pytest.mark.parametrize(("kind", "table"), [("run", ways.RUNS), ("qrels", ways.QRELS)])
def test_every_format_is_in_the_table_of_the_differential_test(kind: str, table: tuple[ways.Way, ...]) -> None:
    covered = {name for way in table for name in way.covers}
    formats = {format.name for format in FORMATS if kind in format.columns} - CHOSEN_ONLY
    assert formats - covered == ({"msmarco"} if kind == "qrels" else set())  # its judgments are TREC's


def test_every_source_is_in_the_table_of_the_differential_test() -> None:
    assert {source.__name__ for source in Source.__subclasses__()} == set(WAYS_OF_SOURCES)
    covered = {name for way in ways.RUNS for name in way.covers}
    objects = {"Run", "dict", "lists", "several runs"}
    assert covered >= objects.union(*WAYS_OF_SOURCES.values())
