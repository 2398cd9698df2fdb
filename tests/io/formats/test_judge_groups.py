"""Judgments of several judges in files: read, detected, written and converted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, convert, read_qrels
from rankgauge.core.group_judgments import GroupJudgments
from rankgauge.core.qrels import Qrels
from rankgauge.io.formats.registry import detect_format, detect_kind

Command = Callable[..., Any]
PREFS = "q2 b s d1 1\nq1 a s d2 0.5\nq1 a s d1 2\n"
GROUPS = "q1 b d1 1\nq1 a d1 0\nq1 a d2 1\n"

words = st.sampled_from(["a", "b", "10"])
levels = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])
preference_rows = st.dictionaries(st.tuples(words, words, words, words), levels, min_size=1, max_size=8)
graded_rows = st.dictionaries(st.tuples(words, words, words), st.integers(-2, 3), min_size=1, max_size=8)


def write(folder: Path, text: str, name: str = "in") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(qrels: Qrels) -> set[tuple[bytes, ...]]:
    """Query, group, subgroup if there is one, document and level of each judgment."""
    table = qrels.by_group
    assert isinstance(table, GroupJudgments)
    return {
        (
            qrels.queries[int(table.query[row])],
            table.groups[int(table.group[row])],
            *(
                ()
                if table.subgroup is None or table.subgroups is None
                else (table.subgroups[int(table.subgroup[row])],)
            ),
            table.docs[int(table.ordinal[row])],
            b"%g" % table.level[row],
        )
        for row in range(len(table))
    }


@pytest.mark.slow
@given(preference_rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_preferences_survive_and_are_written_in_one_order(
    tmp_path: Path, rows: dict[tuple[str, str, str, str], float]
) -> None:
    lines = [f"{' '.join(ids)} {level:g}\n" for ids, level in rows.items()]
    first = write(tmp_path, "".join(lines))
    convert(first, tmp_path / "one", from_format="prefs", to_format="prefs")
    convert(write(tmp_path, "".join(reversed(lines))), tmp_path / "other", from_format="prefs", to_format="prefs")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    expected = {tuple(line.encode().split()) for line in lines}
    assert rows_of(read_qrels(tmp_path / "one", format="prefs")) == expected


@given(graded_rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_judgments_by_group_survive_and_ndeval_keeps_the_largest_grade(
    tmp_path: Path, rows: dict[tuple[str, str, str], int]
) -> None:
    lines = [f"{' '.join(ids)} {grade}\n" for ids, grade in rows.items()]
    source = write(tmp_path, "".join(lines))
    convert(source, tmp_path / "out", from_format="qrels_jg", to_format="qrels_jg")
    assert rows_of(read_qrels(tmp_path / "out", format="qrels_jg")) == {tuple(line.encode().split()) for line in lines}
    convert(source, tmp_path / "out", from_format="ndeval", to_format="ndeval")
    by_subtopic = read_qrels(tmp_path / "out", format="ndeval")
    assert by_subtopic.judgments == "subtopics"
    assert rows_of(by_subtopic) == {tuple(line.encode().split()) for line in lines}
    convert(source, tmp_path / "reduced.trec", from_format="ndeval")
    largest: dict[tuple[str, str], int] = {}
    for (query, _, doc), grade in rows.items():
        largest[query, doc] = max(grade, largest.get((query, doc), grade))
    reduced = [line.split() for line in (tmp_path / "reduced.trec").read_text().splitlines()]
    assert {(query, doc): int(grade) for query, _, doc, grade in reduced} == largest
    assert len(reduced) == len(largest)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (PREFS, "prefs"),
        ("q1 a s d1 1\nq1 a s 7 1\n", "prefs"),
        ("q1 a s 5 1\nq1 a s 7 1\n", "trec"),  # the fourth column may be a rank
        ("q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.4\n", "trec"),  # a run without its tag
        ("q1 d1 1 0 0.5\n", "trec"),  # prels
        (GROUPS, "trec"),
    ],
)
def test_preferences_are_detected_only_if_they_cannot_be_anything_else(text: str, name: str) -> None:
    assert detect_format(text.encode(), "qrels").name == name


def test_a_file_of_preferences_holds_judgments() -> None:
    assert detect_kind(PREFS.encode()) == "qrels"


def test_grades_become_the_preferences_of_one_judge(tmp_path: Path) -> None:
    source = write(tmp_path, "q1 0 d2 0\nq1 0 d1 2\n")
    convert(source, tmp_path / "out.prefs")
    assert (tmp_path / "out.prefs").read_text() == "q1 0 0 d1 2\nq1 0 0 d2 0\n"
    done = convert(write(tmp_path, "q1 7 d2 0\nq1 8 d1 2\n"), tmp_path / "out.prefs")
    assert (tmp_path / "out.prefs").read_text() == "q1 0 0 d1 2\nq1 0 0 d2 0\n"
    assert done.lost == ("iter",)
    convert(write(tmp_path, "q1 7 d2 0\nq1 8 d1 2\n"), tmp_path / "out.prefs", from_format="qrels_prefs")
    assert (tmp_path / "out.prefs").read_text() == "q1 7 0 d2 0\nq1 8 0 d1 2\n"


@pytest.mark.parametrize(
    ("text", "source", "target", "message"),
    [
        (PREFS, "prefs", "trec", "trec cannot hold preferences\nhint: write prefs, qrels_prefs"),
        (PREFS, "prefs", "jsonl", "jsonl cannot hold preferences"),
        (PREFS, "prefs", "qrels_jg", "qrels_jg cannot hold preferences"),
        (GROUPS, "qrels_jg", "trec", "trec cannot hold the grades of several judges"),
        (GROUPS, "qrels_jg", "csv", "hint: write qrels_jg; --from ndeval keeps the largest grade of each document"),
        (GROUPS, "qrels_jg", "prefs", "--from qrels_prefs reads the grades as preferences"),
        ("q1 a s d1 1\nq1 a t d2 1\n", "prefs", "qrels_prefs", "a group of query 'q1' has several subgroups"),
        (GROUPS, "trec", "prefs", "judged again"),
        (GROUPS, "ndeval", "qrels_jg", "qrels_jg cannot hold judgments by subtopic\nhint: write ndeval"),
    ],
)
def test_a_conversion_that_would_lose_judgments_is_refused(
    tmp_path: Path, command: Command, text: str, source: str, target: str, message: str
) -> None:
    path = write(tmp_path, text)
    outcome = command("convert", path, tmp_path / "out", "--from", source, "--to", target, "--kind", "qrels")
    assert outcome.code in (2, 64)
    assert message in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("q a s d\n", "prefs", "expected 5 columns"),
        ("q a s d 1 2\n", "prefs", "expected 5 columns"),
        ("q a s d high\n", "prefs", "as level, found 'high'"),
        ("q a s d nan\n", "prefs", "as level, found 'nan'"),
        ("q a s d 1\nq a s d 2\n", "prefs", "judged again by group 'a' for query 'q' (first on line 1), 1 and 2"),
        ("q a d 1\nq a d 1\n", "qrels_jg", "judged again by group 'a'"),
        ("q a d 1.5\n", "qrels_jg", "a whole number"),
        ("q a d 1\nq a d 1\n", "ndeval", "document 'd' judged again for subtopic 'a' of query 'q' (first on line 1)"),
        ("\n", "prefs", "no lines with content"),
    ],
)
def test_a_wrong_line_is_one_clear_error(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_qrels(write(tmp_path, text), format=name)
    assert message in error.value.message
