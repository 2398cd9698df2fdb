"""A repaired copy has none of the faults that have a repair, and gives the same numbers."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import RankgaugeWarning, Reading, evaluate, read_qrels, validate_qrels, validate_run
from rankgauge.validation import ValidationOptions
from rankgauge.validation.codes import CODES
from rankgauge.validation.repair import Repair, repair_text
from tests.validation.generated import Mutation, document, insert, put, qrels_lines, remove, run_lines, swap, text, then

# The mutations whose repair must not change any number; the same for judgments.
SAME: dict[str, Mutation] = {
    "extra-columns": lambda lines: [line + " and more" for line in lines],
    "blank-line": insert(7, " "),
    "byte-order-mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "crlf": lambda lines: [line + "\r" for line in lines],
    "duplicate-document": put(18, 3, document("q2", 2)),
    "rank": put(6, 4, "six"),
    "duplicate-rank": put(7, 4, "6"),
    "rank-order": swap(9, 10, 5),
    "rank-gap": put(24, 4, "99"),
    "rank-start": remove(25),
}
JUDGED: dict[str, Mutation] = {
    "header": insert(1, "query_id iter doc_id grade"),
    "blank-line": insert(7, ""),
    "byte-order-mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "crlf": lambda lines: [line + "\r" for line in lines],
    "duplicate-judgment": insert(5, f"q1 0 {document('q1', 3)} 1"),
}


def fix(path: Path, *, depth: int | None = None) -> Repair:
    return repair_text(
        path.read_bytes(), "run", validate_run(path, options=ValidationOptions(max_depth=depth)), max_depth=depth
    )


@pytest.mark.parametrize("code", SAME)
def test_each_fault_with_a_repair_is_repaired_and_the_copy_is_clean(tmp_path: Path, code: str) -> None:
    run, copy = tmp_path / "run", tmp_path / "copy"
    run.write_bytes(text(SAME[code](run_lines())))
    assert validate_run(run).codes == (code,)
    repair = fix(run)
    assert repair.text is not None
    assert [finding.code for finding in repair.resolved] == [code]
    assert not repair.remaining
    copy.write_bytes(repair.text)
    assert not validate_run(copy).findings


@st.composite
def messy_runs(draw: st.DrawFn) -> bytes:
    """Runs with wrong ranks, ties, repeated documents, rows in any order, extra columns, blank lines, CRLF."""
    lines = []
    extra = draw(st.booleans())
    for _ in range(draw(st.integers(1, 25))):
        query, number = draw(st.sampled_from(["q1", "q2", "q3"])), draw(st.integers(1, 9))
        rank = draw(st.sampled_from(["1", "2", "3", "4", "0", "-1", "x", "2.5"]))
        score = draw(st.sampled_from(["3", "2.5", "2.50000001", "1", "-1"]))
        rank, more = ("1" if rank == "x" else rank, " more") if extra else (rank, "")
        lines.append(f"{query} Q0 {document(query, number)} {rank} {score} tag{more}")
        lines += draw(st.sampled_from([[], [], [], [" "]]))
    begin, end = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["\n", "\r\n"]))
    return begin.encode() + end.join([*lines, ""]).encode()


@pytest.mark.slow
@given(messy_runs())
@settings(max_examples=200)
def test_a_repaired_run_has_no_fault_that_can_be_repaired_and_scores_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("repair")
    run, qrels, copy = folder / "run", folder / "qrels", folder / "copy"
    run.write_bytes(data)
    qrels.write_bytes(text(qrels_lines()))
    repair = fix(run)
    assert repair.text is not None
    copy.write_bytes(repair.text)
    assert not {code for code in validate_run(copy).codes if CODES[code].repair}
    assert fix(copy).text == repair.text
    judged = read_qrels(qrels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        wanted = evaluate(judged, run, "all_trec", reading=Reading(on_duplicate="first"))
    assert evaluate(judged, copy, "all_trec").over_queries == wanted.over_queries


@given(st.lists(st.sampled_from(sorted(JUDGED)), unique=True, min_size=1))
@settings(max_examples=20)
def test_repaired_judgments_are_clean_and_the_same(tmp_path_factory: pytest.TempPathFactory, codes: list[str]) -> None:
    folder = tmp_path_factory.mktemp("repair")
    qrels, clean = folder / "qrels", folder / "clean"
    order = [
        code for code in ("duplicate-judgment", "blank-line", "header", "byte-order-mark", "crlf") if code in codes
    ]
    qrels.write_bytes(text(then(*(JUDGED[code] for code in order))(qrels_lines())))
    repair = repair_text(qrels.read_bytes(), "qrels", validate_qrels(qrels))
    clean.write_bytes(text(qrels_lines()))
    assert repair.text == clean.read_bytes()


def test_what_has_no_repair_stays_byte_for_byte_and_is_reported(tmp_path: Path) -> None:
    run = tmp_path / "run"
    lines = then(put(3, 5, "nan"), put(20, 6, "other"), put(30, 4, "5"), insert(9, "q1 Q0"))(run_lines())
    run.write_bytes(text(lines))
    repair = fix(run)
    assert repair.text is not None
    assert repair.text.decode().splitlines() == put(31, 4, "6")(lines)
    assert [finding.code for finding in repair.resolved] == ["duplicate-rank"]
    assert [finding.code for finding in repair.remaining] == ["score", "columns", "mixed-tags"]


def test_only_the_queries_whose_ranks_are_wrong_are_numbered_anew(tmp_path: Path) -> None:
    run = tmp_path / "run"
    tied = then(put(20, 5, "93.5"), put(30, 4, "5"))  # a tie in q2, whose ranks stay; a wrong rank in q3
    run.write_bytes(text(tied(run_lines())))
    assert fix(run).text == text(put(20, 5, "93.5")(run_lines()))


def test_depth_is_cut_by_the_order_rule(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_bytes(text(swap(2, 12, 5)(run_lines())))  # the document on line 12 has the second-best score
    repair = fix(run, depth=3)
    assert repair.text is not None
    lines = repair.text.decode().splitlines()
    assert len(lines) == 9
    assert [line.split(" ")[2] for line in lines[:3]] == [document("q1", rank) for rank in (1, 3, 12)]
    assert [line.split(" ")[3] for line in lines[:3]] == ["1", "3", "2"]


def test_rows_keep_their_order_and_their_white_space(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_bytes(b" q\tQ0  a 7 1.0\ttag \nq Q0 b\t7  2.0 tag\n")
    assert fix(run).text == b" q\tQ0  a 2 1.0\ttag \nq Q0 b\t1  2.0 tag\n"


@pytest.mark.parametrize("data", [b"", text(qrels_lines())])
def test_a_file_that_holds_no_run_is_not_repaired(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "run").write_bytes(data)
    assert fix(tmp_path / "run").text is None


def test_every_repair_of_the_table_is_tested() -> None:
    known = {code for code, kind in CODES.items() if kind.repair}
    assert known == {*SAME, *JUDGED, "too-deep"}


def test_columns_are_not_cut_off_if_their_number_is_uncertain(tmp_path: Path) -> None:
    joined_lines = text(run_lines()).replace(b"\n", b"", 1)  # the first line is two lines in one
    path = tmp_path / "run"
    path.write_bytes(joined_lines)
    repair = repair_text(joined_lines, "run", validate_run(path))
    assert repair.text == joined_lines
    assert "extra-columns" in [finding.code for finding in repair.remaining]
