"""Known formats that are neither judgments nor runs, and judgments by subtopic: one error that names them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, evaluate, read_qrels, read_run
from rankgauge.core.ids import Ids, Interner, repeated
from rankgauge.io.formats.detection import is_prel, is_svmlight
from rankgauge.io.formats.subtopics import is_by_subtopic

LETOR = (
    "2 qid:10 1:0.03 2:0.00 3:0.10 #docid = GX001-24 inc = 1 prob = 0.02\n0 qid:10 1:0.5 2:1 3:1 #docid = GX001-25\n"
)
MSLR = "2 qid:1 1:3 2:3 3:0\n1 qid:1 1:3 2:0 3:0\n"
NO_QUERIES = "+1 1:0.5 7:1\n-1 2:0.5\n"
PRELS = "20001 GX000-01 0 1 0.25\n20001 GX000-02 1 0 1.0\n20002 GX000-03 2 1 0.125\n"
# Two queries of three documents; the second has three subtopics.
NDEVAL = "".join(f"{query} {subtopic} d{doc} {(query + subtopic + doc) % 3}\n"
                 for query in (1, 2) for doc in range(3) for subtopic in range(1, query + 2))  # fmt: skip
RUN = "1 Q0 d0 1 3 t\n1 Q0 d1 2 2 t\n2 Q0 d2 1 1 t\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "name", "hint"),
    [
        (LETOR, "an SVMlight (LETOR) file", "the query is after qid:"),
        (MSLR, "an SVMlight (LETOR) file", "the query is after qid:"),
        (NO_QUERIES, "an SVMlight (LETOR) file", "a run needs the scores of your model"),
        (PRELS, "prels (topic document grade method probability)", "awk '{print $1, 0, $2, $3}'"),
        ("\n" + PRELS * 1000, "prels (topic document grade method probability)", "are not implemented"),
    ],
)
def test_a_known_format_is_one_error_as_judgments_and_as_a_run(tmp_path: Path, text: str, name: str, hint: str) -> None:
    path = write(tmp_path, text)
    (tmp_path / "qrels").write_text("1 0 d0 1\n", encoding="utf-8")
    line = 2 if text.startswith("\n") else 1
    for read, kind in (
        (lambda: read_qrels(path), "judgments (query iter document grade)"),
        (lambda: read_qrels(path, format="trec"), "judgments (query iter document grade)"),
        (lambda: read_run(path), "a run (query Q0 document rank score tag)"),
        (lambda: evaluate(tmp_path / "qrels", path), "a run (query Q0 document rank score tag)"),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert error.value.message.startswith(f"{path}:{line}: expected {kind}, found {name}")
        assert "\n" not in error.value.message
        assert hint in (error.value.hint or "")


def test_the_four_columns_that_the_hint_names_can_be_read(tmp_path: Path) -> None:
    fields = [line.split() for line in PRELS.splitlines()]
    qrels = read_qrels(write(tmp_path, "".join(f"{row[0]} 0 {row[1]} {row[2]}\n" for row in fields)))
    assert len(qrels) == 3


@pytest.mark.parametrize("line", ["1 Q0 10 1 0.9", "1 0 10 1 0.9", "1 Q0 doc 1 0.9", "1 0 doc 1 2", "q d 1 1 7.5"])
def test_a_run_without_its_tag_is_not_prels(line: str) -> None:
    assert not is_prel(line.encode().split())
    assert not is_svmlight(line.encode().split())


def test_lines_of_a_known_format_among_judgments_are_wrong_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file:2: expected 4 columns"):
        read_qrels(write(tmp_path, "1 0 a 1\n" + PRELS))


def test_judgments_by_subtopic_are_one_error_and_can_be_read_by_subtopic(tmp_path: Path) -> None:
    path = write(tmp_path, NDEVAL)
    with pytest.raises(InputError) as error:
        read_qrels(path)
    assert error.value.message == (
        f"{path}:2: expected one judgment of each document for a query, found one for each subtopic, as in ndeval's "
        "judgments: document 'd0' of query '1' for '1' and '2' (9 such rows)"
    )
    assert "--set reading.qrels_format=ndeval reads it" in (error.value.hint or "")
    assert "rankgauge trec_eval -R qrels_jg" in (error.value.hint or "")
    run = tmp_path / "run"
    run.write_text(RUN, encoding="utf-8")
    qrels = read_qrels(path, by_subtopic=True)
    # What the hint says: the largest grade of each document.
    largest = {"1": {"d0": 2, "d1": 1, "d2": 2}, "2": {"d0": 2, "d1": 2, "d2": 2}}
    expected = evaluate(largest, run, "nDCG")["nDCG"]
    assert evaluate(qrels, run, "nDCG")["nDCG"] == expected
    read_as_ndeval = read_qrels(path, format="ndeval")
    assert read_as_ndeval.sha256 == qrels.sha256
    assert evaluate(read_as_ndeval, run, "nDCG")["nDCG"] == expected
    with pytest.raises(InputError, match="found judgments: '1 1 d0 2'"):
        read_run(path)


def duplicates_are_by_subtopic(rows: list[tuple[str, str, str]]) -> bool:
    """The answer for (query, second column, document)."""
    query, subtopic, doc = (Ids.from_bytes([row[column].encode() for row in rows]) for column in range(3))
    number = Interner()(query)
    return is_by_subtopic(number, subtopic, doc, repeated(doc, number)[1])


ids = st.sampled_from("abcdefgh")


@given(st.dictionaries(st.tuples(ids, ids), ids, min_size=1))
def test_an_iteration_that_varies_is_not_a_subtopic(judgments: dict[tuple[str, str], str]) -> None:
    assert not duplicates_are_by_subtopic([(query, iteration, doc) for (query, doc), iteration in judgments.items()])


@given(st.dictionaries(st.tuples(ids, ids), ids, min_size=1), st.data())
def test_a_row_that_is_there_twice_is_a_duplicate(judgments: dict[tuple[str, str], str], data: st.DataObject) -> None:
    rows = [(query, iteration, doc) for (query, doc), iteration in judgments.items()]
    rows += data.draw(st.lists(st.sampled_from(rows), min_size=1))
    assert not duplicates_are_by_subtopic(rows)


def test_few_documents_judged_in_two_iterations_are_duplicates(tmp_path: Path) -> None:
    lines = [f"{query} {doc % 3} d{doc} 1\n" for query in range(5) for doc in range(20)]
    again = [f"{query} 7 d4 1\n" for query in range(5)]
    with pytest.raises(InputError) as error:
        read_qrels(write(tmp_path, "".join(lines + again)))
    assert error.value.message.count("judged again") == 5


@given(st.integers(1, 5), st.integers(2, 5), st.integers(2, 5))
def test_every_document_under_every_subtopic_is_by_subtopic(queries: int, subtopics: int, docs: int) -> None:
    rows = [(f"q{q}", f"{s}", f"d{d}") for q in range(queries) for s in range(subtopics) for d in range(docs)]
    assert duplicates_are_by_subtopic(rows)
