"""Judgments by subtopic in files: read, written and converted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, convert, read_qrels
from rankgauge.core.qrels import Qrels
from rankgauge.core.subtopic_judgments import SubtopicJudgments

words = st.sampled_from(["a", "b", "10"])
graded_rows = st.dictionaries(st.tuples(words, words, words), st.integers(-2, 3), min_size=1, max_size=8)


def write(folder: Path, text: str, name: str = "in") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows_of(qrels: Qrels) -> set[tuple[bytes, ...]]:
    """Query, subtopic, document and grade of each judgment."""
    table = qrels.by_group
    assert isinstance(table, SubtopicJudgments)
    return {
        (
            qrels.queries[int(table.query[row])],
            table.groups[int(table.group[row])],
            table.docs[int(table.ordinal[row])],
            b"%g" % table.level[row],
        )
        for row in range(len(table))
    }


@given(graded_rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_judgments_by_subtopic_survive_and_trec_keeps_the_largest_grade(
    tmp_path: Path, rows: dict[tuple[str, str, str], int]
) -> None:
    lines = [f"{' '.join(ids)} {grade}\n" for ids, grade in rows.items()]
    source = write(tmp_path, "".join(lines))
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


def test_a_document_judged_twice_for_a_subtopic_is_one_clear_error(tmp_path: Path) -> None:
    message = "document 'd' judged again for subtopic 'a' of query 'q' (first on line 1)"
    with pytest.raises(InputError) as error:
        read_qrels(write(tmp_path, "q a d 1\nq a d 1\n"), format="ndeval")
    assert message in error.value.message
