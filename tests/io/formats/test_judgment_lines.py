"""Which line of a file of judgments counts: every reader decides alike, and as a plain definition says."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import RankgaugeWarning, read_corpus, read_qrels
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError
from rankgauge.io.formats.judgment_lines import Judgment, current_judgments, median_grade, read_judgments
from rankgauge.labels import read_raters, stamp_labels
from rankgauge.labels.pool_files import read_judged
from rankgauge.validation.label_rot import stored_hashes
from tests.labels.pools import judgment

Pair = tuple[str, str]
INCOMPLETE = b'{"query_id":"1","doc_id":"a","relev'

line = st.builds(
    judgment,
    st.sampled_from(["1", "2"]),
    st.sampled_from(["a", "b", "7"]),
    st.one_of(st.none(), st.sampled_from([-1, 0, 1, 2, 3, 0.5])),
    st.sampled_from(["ann", "bob", "None", "7"]),
    status=st.sampled_from([None, "skipped", "withdrawn"]),
    text_sha256=st.sampled_from([None, "aa", "bb"]),
)


def as_written(one: Judgment, has_numbers: bool) -> bytes:
    """A line; whole numbers are ids, too."""
    row = json.loads(one.to_line())
    if has_numbers:
        row |= {key: int(row[key]) for key in ("query_id", "doc_id") if row[key].isdigit()}
    return json.dumps(row).encode() + b"\n"


def grades_of(qrels: Qrels) -> dict[Pair, float]:
    names = qrels.queries.to_text()
    rows = zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True)
    return {(names[query], doc): grade for query, doc, grade in rows}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(line, st.booleans()), min_size=1, max_size=12), st.booleans())
def test_every_reader_takes_the_last_line_of_an_assessor_and_the_median_of_several(
    lines: list[tuple[Judgment, bool]], was_interrupted: bool
) -> None:
    counted: dict[Pair, dict[str, Judgment]] = {}
    for one, _ in lines:
        counted.setdefault((one.query, one.doc), {}).pop(one.assessor, None)
        if one.grade is not None:
            counted[one.query, one.doc][one.assessor] = one
    counted = {pair: by_assessor for pair, by_assessor in counted.items() if by_assessor}
    medians = {
        pair: sorted(float(one.grade or 0) for one in by_assessor.values())[(len(by_assessor) - 1) // 2]
        for pair, by_assessor in counted.items()
    }
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        path = Path(folder) / "j.jsonl"
        path.write_bytes(b"".join(as_written(*one) for one in lines) + (INCOMPLETE if was_interrupted else b""))
        current = current_judgments(read_judgments(path))
        by_pair: dict[Pair, list[float]] = {}
        for one in current:
            by_pair.setdefault((one.query, one.doc), []).append(one.grade or 0.0)
        assert {pair: median_grade(grades) for pair, grades in by_pair.items()} == medians
        assert len(current) == sum(map(len, counted.values()))
        if not medians:
            with pytest.raises(InputError, match="no judgments"):
                read_qrels(path)
            return
        assert grades_of(read_qrels(path)) == medians
        judged = read_judged([path])
        assert judged is not None
        assert grades_of(judged) == medians
        assessors = {assessor for by_assessor in counted.values() for assessor in by_assessor}
        if len(assessors) > 1:
            assert {rater.name: grades_of(rater.qrels) for rater in read_raters([path])} == {
                name: {pair: by_assessor[name].grade for pair, by_assessor in counted.items() if name in by_assessor}
                for name in assessors
            }
        hashes = {
            pair: {one.text_sha256 for one in by_assessor.values() if one.text_sha256 is not None}
            for pair, by_assessor in counted.items()
        }
        assert {(query.decode(), doc.decode()): kept for (query, doc), kept in stored_hashes(path).items()} == {
            pair: kept for pair, kept in hashes.items() if kept
        }


def test_every_reader_leaves_out_a_line_that_a_crash_left_and_warns(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(judgment("1", "a", 2).to_line() + INCOMPLETE)
    for read in (read_qrels, read_judgments):
        with pytest.warns(RankgaugeWarning, match=r"j\.jsonl:2: expected a complete judgment"):
            assert len(read(path)) == 1
    with pytest.warns(RankgaugeWarning, match=r"j\.jsonl:2: expected a complete judgment"):
        assert stamp_labels(path, read_corpus({"a": "text"}), tmp_path / "out.jsonl").stamped == 1
    assert [one.doc for one in read_judgments(tmp_path / "out.jsonl")] == ["a"]


def test_readers_of_whole_lines_refuse_one_that_does_not_say_who_judged(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(judgment("1", "a", 2).to_line() + b'{"query_id":"1","doc_id":"b","relevance":1}\n')
    for read in (read_judgments, lambda one: stamp_labels(one, read_corpus({"a": "text"}), tmp_path / "o")):
        with pytest.raises(InputError, match=r"j\.jsonl:2: expected a judgment with who judged and how"):
            read(path)
