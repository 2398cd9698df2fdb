"""The compiled extension: built without warnings, fuzzed at every entry point, and safe whatever Python code does."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts.compile_scanner import compile_scanner
from scripts.fuzz_extension import __main__ as fuzz_extension
from scripts.fuzz_extension.probe import FUZZERS, Extension
from scripts.sanitized import MEMORY_FLAGS, run_sanitized

from rankgauge.core import compiled
from rankgauge.core.ids import Ids
from rankgauge.io.formats.white_space import pad
from tests.needs import ROOT, require

NOTHING = Ids.from_bytes([]).parts
CASES = os.environ.get("RANKGAUGE_FUZZ_CASES", "200")  # for each entry point


@pytest.fixture
def extension() -> Any:
    require("compiler", compiled.scanner is not None)
    return compiled.scanner


def has_compiler(name: str) -> bool:
    return shutil.which(name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["cc", "clang"])
def test_the_build_prints_no_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    if compiler == "clang" and not has_compiler("clang"):
        pytest.skip("clang is not here")
    require("compiler", has_compiler(compiler))
    monkeypatch.setenv("CC", compiler)
    compile_scanner(ROOT, ["-Werror"], tmp_path / "_scanner.abi3.so")


def test_every_entry_point_is_declared_and_has_a_fuzzer(extension: Any) -> None:
    stub = ast.parse((ROOT / "src/rankgauge/core/compiled/_scanner.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            declared |= {f"{node.name}.{method}" for method in methods - {"__new__"}}
    assert declared == set(Extension(Path(extension.__file__)).entry_points) == set(FUZZERS)


def test_an_entry_point_that_is_never_reached_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], extension: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["fuzz_extension", "--cases", "1", "--extension", extension.__file__])
    assert fuzz_extension.main() == 0
    monkeypatch.setitem(FUZZERS, "order", lambda probe: None)
    assert fuzz_extension.main() == 1
    assert "never returned: order" in capsys.readouterr().out
    monkeypatch.delitem(FUZZERS, "order")
    assert fuzz_extension.main() == 1
    assert "no fuzzer for order" in capsys.readouterr().out


@pytest.mark.slow
def test_no_entry_point_disturbs_the_sanitizers() -> None:
    require("compiler", has_compiler("cc"))
    files = str(int(CASES) // 2)
    fuzzers = {
        "scripts.fuzz_extension": ["--cases", CASES, "--seed", "5"],
        "scripts.fuzz_scanner": ["--cases", files, "--seed", "5"],
    }
    assert run_sanitized(fuzzers) == 0


@pytest.mark.slow
def test_rows_for_which_there_is_no_memory_leave_the_hits_as_they_were(tmp_path: Path) -> None:
    require("compiler", has_compiler("cc"))
    extension = Extension(compile_scanner(ROOT, [*MEMORY_FLAGS, "-O0"], tmp_path / "_scanner.abi3.so"))
    judged = Ids.from_bytes([b"a"]).parts
    docs = Ids.from_bytes([b"a", *(b"%d" % row for row in range(5000))]).parts
    arguments = docs, np.array([0, 1, 5001]), np.array([0, -1]), -np.arange(5001.0)
    for allocations in range(10):
        scanner = extension.module.Scanner(judged, judged, np.array([0, 1]), False, 100, 1)
        extension.allocations_left.value = allocations
        with pytest.raises(MemoryError) if allocations < 7 else nullcontext():
            scanner.join(*arguments)
        extension.allocations_left.value = -1
        assert len(scanner.hits()) == (0 if allocations < 7 else 40)


def test_a_scan_whose_result_cannot_be_returned_leaves_the_hits_as_they_were(extension: Any) -> None:
    testing = pytest.importorskip("_testcapi")  # part of most installations of Python
    judged, text = Ids.from_bytes([b"a"]).parts, pad(b"a Q0 a 1 1 t\n")
    failures = 0
    for allocations in range(20):
        scanner = extension.Scanner(judged, judged, np.array([0, 1]), False, 100, 1)
        testing.set_nomemory(allocations, allocations + 1)
        try:
            scanner.scan(text, True)
        except MemoryError:
            failures += 1
        else:
            continue
        finally:
            testing.remove_mem_hooks()
        assert scanner.hits() == b""
    assert failures


def in_process(code: str) -> str:
    """What a Python process prints; a crash is its own, and a failure here."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


def test_documents_may_disappear_while_they_are_looked_up(extension: Any) -> None:
    class Vanishing(str):
        def __eq__(self, other: object) -> bool:
            docs.clear()
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    docs: list[str] = ["a", *(f"d{number}" for number in range(30))]
    with pytest.raises(IndexError):
        extension.join_dicts([{Vanishing("a"): 1.0}], docs, np.array([0, 31]), False)
    for values in ({Vanishing("a"): 1.0, "b": 1.0}, {Vanishing("a"): 1.0, **{f"d{n}": 1.0 for n in range(30)}}):
        docs = ["b", "a"]  # the rank of a tied document is found by its name
        with pytest.raises(IndexError):
            extension.join_dicts([values], docs, np.array([0, 2]), False)


def test_a_score_may_disappear_with_its_document(extension: Any) -> None:
    code = """
        import numpy as np
        from rankgauge.core.compiled import scanner

        class Doc(str):
            def __eq__(self, other):
                docs[:] = ["a"]  # this document is then held by the lookup alone
                return str.__eq__(self, other)
            __hash__ = str.__hash__
            def __del__(self):
                row.clear()

        row = {"a": float("1.5")}
        docs = [Doc("a")]
        print(scanner.join_dicts([row], docs, np.array([0, 1]), False))
    """
    assert in_process(ast.unparse(ast.parse(f"if True:{code}"))) == "None"


def test_dicts_may_disappear_while_garbage_is_collected(extension: Any) -> None:
    code = """
        import gc
        from rankgauge.core.compiled import scanner

        class Garbage:
            def __init__(self):
                self.itself = self
            def __del__(self):
                rows.clear()

        rows = [{"a": 1.0}, {"b": 2.0}]
        held = [[] for _ in range(200)]  # no list is left that could be used again
        gc.disable()
        Garbage()
        gc.set_threshold(1)
        gc.enable()
        try:
            print(scanner.gather_dicts(rows)[0])
        except IndexError:
            print(["a", "b"])
    """
    assert in_process(ast.unparse(ast.parse(f"if True:{code}"))) == "['a', 'b']"


def test_a_scanner_in_use_serves_no_other_thread(extension: Any) -> None:
    """Numbers that only Python reads let other threads run in the middle of a block."""
    text = pad(b"".join(b"q Q0 d%d 0 1.%030d t\n" % (row, row) for row in range(20_000)))
    scanner = extension.Scanner(NOTHING, NOTHING, np.array([0]), False, 100, 1)
    thread = threading.Thread(target=scanner.scan, args=(text, True))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    refused = set()
    try:
        thread.start()
        while thread.is_alive():
            for call in (
                scanner.hits,
                lambda: scanner.scan(text[-30:], True),
                lambda: scanner.scan_scattered(text[-30:]),
                lambda: scanner.check(text[-30:], True, np.array([1]), 0, 1),
                lambda: scanner.join(NOTHING, np.array([0]), np.array([], np.int64), np.array([])),
            ):
                try:
                    call()
                except RuntimeError as error:
                    assert str(error) == "a scanner serves one thread at a time"  # noqa: PT017  # one of many calls
                    refused.add(call.__code__.co_firstlineno if hasattr(call, "__code__") else 0)
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert len(refused) == 5
    scanner.hits()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before Python 3.12 no buffer runs Python code")
def test_a_buffer_cannot_use_the_scanner_that_asks_for_it(extension: Any) -> None:
    class Text:
        def __buffer__(self, flags: int) -> memoryview:
            with pytest.raises(RuntimeError, match="one thread"):
                scanner.check(pad(b""), True, np.array([7]), 0, 1)
            return memoryview(pad(b"q Q0 d 1 1 t\n").tobytes())

    scanner = extension.Scanner(NOTHING, NOTHING, np.array([0]), False, 100, 1)
    assert scanner.check(Text(), True, np.array([1, 2, 3]), 0, 5)[2] == 1


def arrays(room: int) -> tuple[np.ndarray[Any, Any], ...]:
    return np.zeros(5 * room, np.int64), np.zeros(room), np.zeros(100, np.uint8)


@pytest.mark.parametrize(
    ("place", "message"),
    [((0, 2**63 - 1, True), "a place in it"), ((0, -1, True), "a place in it"), ((99, 0, True), "a place in it")],
)
def test_lines_that_could_not_be_counted_are_refused(
    extension: Any, place: tuple[int, int, bool], message: str
) -> None:
    text = pad(b'{"a": 1}\n{"a": 2}\n')
    with pytest.raises(ValueError, match=message):
        extension.records(text, place, False, (b"a",), b"\x01", *arrays(3))
    with pytest.raises(ValueError, match=message):
        extension.delimited(text, place, b",", True, b"\x01", *arrays(3))


def test_only_arrays_of_the_expected_type_are_filled_in(extension: Any) -> None:
    text, place = pad(b"a\nb\n"), (0, 0, True)
    cells, values, texts = arrays(3)
    assert extension.delimited(text, place, b",", True, b"\x01", cells, values, texts)[2] == 2
    for wrong in (
        (np.array([None] * 15), values, texts),
        (cells.astype(np.float64), values, texts),
        (cells, values.astype(np.int64), texts),
        (cells, values, np.array([None] * 100)),
        (cells, np.zeros((3, 2))[:, 0], texts),
        (cells, values, bytes(100)),
    ):
        with pytest.raises((ValueError, BufferError), match=r"of another type|contiguous|[Rr]ead-only|not writable"):
            extension.delimited(text, place, b",", True, b"\x01", *wrong)
    objects = np.array([None] * 4)
    with pytest.raises(ValueError, match="of another type"):
        extension.split(text, 1, objects)
    assert objects.tolist() == [None] * 4
    with pytest.raises(TypeError, match="a column is a tuple"):
        extension.gather([1, 2, 3])


def test_a_text_is_not_overwritten_while_it_is_read(extension: Any) -> None:
    text = np.concatenate([pad(b'{"a": "%b"}\n' % (b"x" * 50))])
    cells, values, _ = arrays(3)
    with pytest.raises(ValueError, match="a text with zeros behind it"):
        extension.records(text, (0, 0, True), False, (b"a",), b"\x01", cells, values, text)
    with pytest.raises(ValueError, match="an array with a place for each"):
        extension.split(cells, 1, cells)
