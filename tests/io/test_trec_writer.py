"""The one writer of TREC files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rankgauge import InputError, Run, convert
from rankgauge.io.trec_writer import number_text, write_answers, write_run

SOURCE = Path(__file__).parents[2] / "src" / "rankgauge"
RUN = Run.from_dict({"q1": {"a": 1.0, "b": 2.5, "c": 2.5}, "q2": {"d": -3.0}}, name="mine")
LINES = b"q1 Q0 c 1 2.5 mine\nq1 Q0 b 2 2.5 mine\nq1 Q0 a 3 1 mine\nq2 Q0 d 1 -3 mine\n"


def test_a_run_answers_and_rows_make_the_same_lines(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "run")
    write_answers([("q1", ["c", "b", "a"], [2.5, 2.5, 1.0]), ("q2", ["d"], [-3.0])], tmp_path / "answers", "mine")
    (tmp_path / "rows.jsonl").write_text(
        '{"query_id": "q1", "doc_id": "a", "score": 1, "tag": "mine"}\n'
        '{"query_id": "q1", "doc_id": "b", "score": 2.5, "tag": "mine"}\n'
        '{"query_id": "q1", "doc_id": "c", "score": 2.5, "tag": "mine"}\n'
        '{"query_id": "q2", "doc_id": "d", "score": -3, "tag": "mine"}\n'
    )
    convert(tmp_path / "rows.jsonl", tmp_path / "converted.trec", kind="run")
    for name in ("run", "answers", "converted.trec"):
        assert (tmp_path / name).read_bytes() == LINES, name


@pytest.mark.parametrize(
    ("value", "text"), [(3.0, b"3"), (0.1, b"0.1"), (-0.0, b"-0.0"), (1e20, b"1e+20"), (0.0, b"0")]
)
def test_numbers_read_back_as_the_same_number(value: float, text: bytes) -> None:
    assert number_text(value) == text
    assert str(float(text)) == str(value)


def test_ids_with_white_space_and_other_tags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="document id 'a b' contains white space"):
        write_run(Run.from_dict({"q": {"a b": 1.0}}, name="x"), tmp_path / "out")
    with pytest.raises(InputError, match="a run's tag must be one word, found 'two words'"):
        write_run(RUN, tmp_path / "out", tag="two words")
    with pytest.raises(InputError, match="'BZh' would be detected as another kind of file"):
        write_run(Run.from_dict({"BZh": {"a": 1.0}}, name="x"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_no_other_file_writes_the_lines_of_a_run() -> None:
    """The constant Q0 between a query and a document is in the lines of a TREC run."""
    writers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Constant) and node.value in (b"Q0", " Q0 ", b" Q0 "))
    }
    assert writers == {"io/trec_writer.py"}
