"""Each fault, put into a clean file, is named once, with its line; a clean file has none."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rankgauge import validate_qrels, validate_run
from rankgauge.validation import ValidationOptions
from rankgauge.validation.codes import CODES
from tests.validation.generated import (
    DEPTH,
    QUERIES,
    Mutation,
    document,
    insert,
    put,
    qrels_lines,
    remove,
    run_lines,
    swap,
    text,
    then,
)

E_ACUTE = unicodedata.normalize("NFD", document("q1", 4))
Case = tuple[str, Mutation, int | None, Mapping[str, Any]]

RUNS: list[Case] = [
    ("empty", lambda lines: [], None, {}),
    ("empty", lambda lines: ["", " "], None, {}),
    ("swapped", lambda lines: qrels_lines(), 1, {}),
    ("columns", put(3, 6, ""), 3, {}),
    ("columns", insert(37, "q3 0 doc 1"), 37, {}),
    ("columns", put(3, 3, "two words"), 3, {}),
    ("columns", insert(1, "# made by us"), 1, {}),
    ("columns", put(3, 6, "bm25 more"), 3, {}),
    ("extra-columns", lambda lines: [line + " more" for line in lines], 1, {}),
    ("header", insert(1, "query_id Q0 docno rank score tag"), 1, {}),
    ("header", insert(1, "qid docid score"), 1, {}),
    ("blank-line", insert(7, ""), 7, {}),
    ("blank-line", insert(37, " \t"), 37, {}),
    ("byte-order-mark", lambda lines: ["\ufeff" + lines[0], *lines[1:]], 1, {}),
    ("crlf", lambda lines: [line + "\r" for line in lines], 1, {}),
    ("crlf", lambda lines: [*lines[:4], lines[4] + "\r", *lines[5:]], 5, {}),
    ("invisible-character", put(8, 3, "doc\xa0x"), 8, {}),
    ("invisible-character", put(8, 3, "doc\u200bx"), 8, {}),
    ("invisible-character", put(8, 3, "doc\x1bx"), 8, {}),
    ("invisible-character", put(8, 3, "doc\ufeffx"), 8, {}),
    ("invisible-character", lambda lines: [line.replace("q2 ", "q2\u2060 ") for line in lines], 13, {}),
    ("ids-case", put(2, 3, document("q1", 2).upper()), 2, {"qrels": True}),
    ("ids-case", put(4, 3, document("q1", 4).upper()), 4, {"qrels": True}),
    ("ids-case", lambda lines: [line.replace("q2 ", "Q2 ") for line in lines], 13, {"qrels": True}),
    ("ids-case", lambda lines: [line.replace("q2 ", "Q2 ") for line in lines], 13, {"queries": QUERIES}),
    ("ids-quotes", put(2, 3, f'"{document("q1", 2)}"'), 2, {"qrels": True}),
    ("ids-zeros", put(5, 3, f"00{document('q1', 5)}"), 5, {"qrels": True}),
    ("ids-unicode", put(4, 3, E_ACUTE), 4, {"qrels": True}),
    ("score", put(3, 5, "nan"), 3, {}),
    ("score", put(1, 5, "abc"), 1, {}),
    ("score", put(12, 5, "1,5"), 12, {}),
    ("infinite-score", put(1, 5, "inf"), 1, {}),
    ("infinite-score", put(12, 5, "-1e400"), 12, {}),
    ("duplicate-document", put(6, 3, document("q1", 2)), 6, {}),
    ("rank", put(6, 4, "six"), 6, {}),
    ("rank", put(6, 4, "6.5"), 6, {}),
    ("duplicate-rank", put(6, 4, "5"), 6, {}),
    ("rank-order", swap(5, 6, 5), 6, {}),
    ("rank-gap", remove(6), 6, {}),
    ("rank-gap", put(12, 4, "13"), 12, {}),
    ("rank-start", remove(13), 13, {}),
    ("rank-start", lambda lines: [f"q0 Q0 doc-{rank} {rank} {9 - rank} bm25" for rank in range(5)] + lines, 1, {}),
    ("tie-at-cutoff", put(11, 5, "90.5"), 11, {}),  # "…-11" stands above "…-10": ids descend
    ("tie-at-cutoff", put(11, 5, "90.50000001"), 11, {}),
    ("tie-at-cutoff", put(4, 5, "97.5"), 4, {"cutoffs": [3, 5]}),
    ("mixed-tags", put(20, 6, "bm26"), 20, {}),
    ("split-query", lambda lines: [*lines[:11], *lines[12:], lines[11]], 36, {}),
    ("too-deep", insert(13, "q1 Q0 more 13 1 bm25"), 13, {"max_depth": DEPTH}),
    ("shallow-query", remove(24), 13, {"min_depth": DEPTH}),
    ("no-common-query", lambda lines: [f"x{line}" for line in lines], None, {"qrels": True}),
    ("no-common-query", lambda lines: [f"x{line}" for line in lines], None, {"queries": QUERIES}),
    ("queries-missing", remove(*range(13, 25)), None, {"qrels": True}),
    ("queries-missing", remove(*range(13, 25)), None, {"queries": QUERIES}),
    ("queries-unjudged", insert(37, "q9 Q0 doc 1 1 bm25"), 37, {"qrels": True}),
    ("queries-unknown", insert(37, "q9 Q0 doc 1 1 bm25"), 37, {"queries": QUERIES}),
    ("no-common-document", lambda lines: [line.replace(" Q0 ", " Q0 x") for line in lines], None, {"qrels": True}),
]  # fmt: skip

QRELS: list[Case] = [
    ("empty", lambda lines: [], None, {}),
    ("swapped", lambda lines: run_lines(), 1, {}),
    ("columns", put(3, 4, ""), 3, {}),
    ("columns", put(3, 4, "1 more"), 3, {}),
    ("header", insert(1, "query-id iter corpus-id relevance"), 1, {}),
    ("blank-line", insert(7, ""), 7, {}),
    ("byte-order-mark", lambda lines: ["\ufeff" + lines[0], *lines[1:]], 1, {}),
    ("crlf", lambda lines: [line + "\r" for line in lines], 1, {}),
    ("invisible-character", put(8, 3, "doc\xa0x"), 8, {}),
    ("ids-case", put(2, 3, document("q1", 2).upper()), 2, {"runs": True}),
    ("ids-case", lambda lines: [line.replace("q2 ", "Q2 ") for line in lines], 13, {"runs": True}),
    ("ids-quotes", put(2, 3, f"'{document('q1', 2)}'"), 2, {"runs": True}),
    ("ids-zeros", put(5, 3, f"0{document('q1', 5)}"), 5, {"runs": True}),
    ("ids-unicode", put(4, 3, E_ACUTE), 4, {"runs": True}),
    ("grade", put(3, 4, "1.9"), 3, {}),
    ("grade", put(3, 4, "yes"), 3, {}),
    ("grade", put(3, 4, "128"), 3, {}),
    ("duplicate-judgment", insert(5, f"q1 0 {document('q1', 3)} 1"), 5, {}),
    ("conflicting-judgment", insert(5, f"q1 0 {document('q1', 3)} 2"), 5, {}),
    ("duplicate-judgment", insert(5, f"q1 0 {document('q1', 3)} 1"), 5, {"by_subtopic": True, "runs": True}),
    ("subtopic-judgments", lambda lines: sorted(lines + [line.replace(" 0 ", " 1 ") for line in lines]), 13, {}),
    ("no-relevant", insert(37, "q9 0 doc -1"), 37, {}),
    ("shallow-pool", remove(24), 13, {"min_judged": DEPTH}),
    ("zero-grade", put(3, 4, "0"), 3, {}),
    ("negative-grade", put(3, 4, "-2"), 3, {}),
    ("split-query", lambda lines: [*lines[:11], *lines[12:], lines[11]], 36, {}),
    ("no-common-query", lambda lines: [f"x{line}" for line in lines], None, {"runs": True}),
    ("no-common-query", lambda lines: [f"x{line}" for line in lines], None, {"queries": QUERIES}),
    ("queries-unknown", insert(37, "q9 0 doc 1"), 37, {"queries": QUERIES}),
    ("ids-case", lambda lines: [line.replace("q2 ", "Q2 ") for line in lines], 13, {"queries": QUERIES}),
    ("no-common-document", lambda lines: [line.replace(" 0 ", " 0 x") for line in lines], None, {"runs": True}),
    ("query-unretrieved", insert(37, "q9 0 doc 1"), 37, {"runs": True}),
    ("judged-unretrieved", insert(37, "q3 0 other 1"), 37, {"runs": True}),
]  # fmt: skip

# A query whose only judgment is negative has no relevant document: two faults, both true.
TOGETHER = {"no-relevant": {"negative-grade"}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "run").write_bytes(text(run_lines()))
    (tmp_path / "qrels").write_bytes(text(qrels_lines()))
    return tmp_path / "run", tmp_path / "qrels"


def with_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a validation, with those that are options bundled."""
    data = {key: value for key, value in arguments.items() if key in ("qrels", "runs", "queries")}
    return {**data, "options": ValidationOptions(**{k: v for k, v in arguments.items() if k not in data})}


def names(cases: list[Case]) -> list[str]:
    return [f"{number}-{code}" for number, (code, *_) in enumerate(cases)]


@pytest.mark.parametrize(("code", "mutation", "line", "options"), RUNS, ids=names(RUNS))
def test_a_fault_put_into_a_run_is_named_once_with_its_line(
    files: tuple[Path, Path], code: str, mutation: Mutation, line: int | None, options: Mapping[str, Any]
) -> None:
    run, qrels = files
    given = with_options({**options, "qrels": qrels} if "qrels" in options else options)
    assert not validate_run(run, **given).findings
    run.write_bytes(text(mutation(run_lines())))
    found = validate_run(run, **given)
    assert found.codes == (code,)
    # Columns behind the sixth are harmless only where every line has them.
    assert found[code].count == (len(run_lines()) if code == "extra-columns" else 1)
    assert [place.line for place in found[code].places][:1] == [line]
    assert found[code].severity == CODES[code].severity
    assert "run" in CODES[code].kinds


@pytest.mark.parametrize(("code", "mutation", "line", "options"), QRELS, ids=names(QRELS))
def test_a_fault_put_into_judgments_is_named_once_with_its_line(
    files: tuple[Path, Path], code: str, mutation: Mutation, line: int | None, options: Mapping[str, Any]
) -> None:
    run, qrels = files
    given = with_options({**options, "runs": [run]} if "runs" in options else options)
    assert not validate_qrels(qrels, **given).findings
    qrels.write_bytes(text(mutation(qrels_lines())))
    found = validate_qrels(qrels, **given)
    assert set(found.codes) == {code} | TOGETHER.get(code, set())
    assert found[code].count == 1
    assert [place.line for place in found[code].places] == [line]
    assert "qrels" in CODES[code].kinds


# What only other formats than TREC's can have, and what is said of a file that has no rows at all.
ELSEWHERE = {
    "unreadable", "id", "empty-id", "nul", "long-id", "blank-around-id", "record", "shape", "duplicate-query",
    "order-against-scores", "contradiction", "guarded-id", "incomplete-line", "assessors-differ", "latency",
    "labels-differ", "flag",
}  # fmt: skip


def test_every_fault_of_the_table_is_put_into_a_file() -> None:
    assert {code for code in CODES if "run" in CODES[code].kinds} - ELSEWHERE == {case[0] for case in RUNS}
    assert {code for code in CODES if "qrels" in CODES[code].kinds} - ELSEWHERE == {case[0] for case in QRELS}


def test_ranks_that_start_late_are_one_finding_with_the_number_of_queries(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(text([f"q{n} Q0 d 0 1 t" for n in range(20)]))
    found = validate_run(tmp_path / "run")["rank-start"]
    assert found.count == 1
    assert [(place.line, place.found) for place in found.places] == [
        (1, "ranks from 0 in query 'q0' (20 queries in all)")
    ]


@pytest.mark.parametrize(
    ("line", "action"),
    [("20001 GX000-01 0 1 0.25", "write four columns"), ("2 qid:10 1:0.03 2:0.00", "write judgments from it")],
)
def test_a_known_format_that_cannot_be_read_says_what_to_do(
    command: Callable[..., Any], tmp_path: Path, line: str, action: str
) -> None:
    (tmp_path / "file").write_bytes(text([line]))
    outcome = command("runs", "validate", "--labels", tmp_path / "file")
    assert outcome.code == 2
    assert action in outcome.out
    assert "check the path" not in outcome.out


def test_an_unjudged_query_is_reported_if_queries_are_given_too(files: tuple[Path, Path]) -> None:
    run, qrels = files
    run.write_bytes(text(insert(37, "q9 Q0 doc 1 1 bm25")(run_lines())))
    assert validate_run(run, qrels, [*QUERIES, "q9"]).codes == ("queries-unjudged",)
    assert validate_run(run, qrels, [*QUERIES, "q8"]).codes == (
        "queries-missing",
        "queries-unknown",
        "queries-unjudged",
    )


def test_several_faults_are_each_named(files: tuple[Path, Path]) -> None:
    run, _ = files
    both = then(put(3, 5, "nan"), put(20, 4, "7"), put(30, 6, "other"))
    run.write_bytes(text(both(run_lines())))
    assert validate_run(run).codes == ("score", "duplicate-rank", "mixed-tags")


def test_strictness_makes_errors_of_warnings_and_leaves_notes(files: tuple[Path, Path]) -> None:
    run, _ = files
    run.write_bytes(text(then(put(20, 6, "bm26"), lambda lines: [line + "\r" for line in lines])(run_lines())))
    assert [finding.severity for finding in validate_run(run).findings] == ["warning", "note"]
    assert [finding.severity for finding in validate_run(run, options=ValidationOptions(strict=True)).findings] == [
        "error",
        "note",
    ]
    assert validate_run(run).ok
    assert not validate_run(run, options=ValidationOptions(strict=True)).ok


def test_judgments_of_several_assessors_are_reported_where_they_differ(tmp_path: Path) -> None:
    row = '{"query_id": "q1", "doc_id": "d1", "relevance": %d, "assessor": "%s"}\n'
    path = tmp_path / "judgments.jsonl"
    path.write_text(row % (1, "a") + row % (3, "b"))
    assert validate_qrels(path, options=ValidationOptions(format="judgments")).codes == ("assessors-differ",)
    path.write_text(row % (1, "a") + '{"query_id": "q2", "doc')
    assert validate_qrels(path, options=ValidationOptions(format="judgments")).codes == ("incomplete-line",)
