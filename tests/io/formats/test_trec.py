"""TREC files: what is read, and what each wrong line says."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rankgauge import InputError, RankgaugeWarning, Reading, evaluate, read_qrels, read_run

QRELS = b"1 0 a 1\n1 0 b 0\n2 0 c 2\n"
RUN = b"1 Q0 a 1 2.5 tag\n1 Q0 x 2 1.5 tag\n2 Q0 c 1 0.5 tag\n"


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_bytes(QRELS)
    return path


def written(folder: Path, data: bytes, name: str = "run.txt") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def test_a_run_keeps_its_rows_and_takes_its_name_from_the_tag(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, RUN))
    assert run.name == "tag"
    assert list(run.queries) == [b"1", b"2"]
    assert list(run.docs) == [b"a", b"x", b"c"]
    assert run.scores.tolist() == [2.5, 1.5, 0.5]
    assert run.offsets.tolist() == [0, 2, 3]


def test_the_hash_of_a_run_is_that_of_its_file(tmp_path: Path) -> None:
    import hashlib

    assert read_run(written(tmp_path, RUN)).sha256 == hashlib.sha256(RUN).hexdigest()


@pytest.mark.parametrize(
    "data",
    [
        RUN.replace(b" ", b"\t"),
        RUN.replace(b" ", b"  \t "),
        RUN.replace(b"\n", b"\r\n"),
        RUN.replace(b"\n", b" \n"),
        RUN.replace(b"\n", b"\n\n \n"),
        b" " + RUN.replace(b"\n", b"\n "),
        RUN.rstrip(b"\n"),
        RUN.replace(b" ", b"\v"),
        gzip.compress(RUN, mtime=0),  # its time would be part of the name of the test, and differ between workers
        b"2 Q0 c 1 0.5 tag\n1 Q0 x 2 1.5 tag\n1 Q0 a 1 2.5 tag\n",
        b"1 Q0 x 2 1.5 tag\n2 Q0 c 1 0.5 tag\n1 Q0 a 1 2.5 tag\n",
        RUN.replace(b"2.5", b"+2.5e0").replace(b"1.5", b"15e-1"),
    ],
)
def test_white_space_order_and_notation_do_not_matter(tmp_path: Path, qrels: Path, data: bytes) -> None:
    plain = evaluate(qrels, written(tmp_path, RUN), "all_trec")
    assert evaluate(qrels, written(tmp_path, data, "other"), "all_trec").over_queries == plain.over_queries


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "run.txt: file is empty"),
        (b"\n \n", "no lines with content"),
        (
            b"1 Q0 a 1 2.0\n",
            "run.txt:1: expected 6 columns (query Q0 document rank score tag), found 5: '1 Q0 a 1 2.0'",
        ),
        (RUN + b"1 0 a 1\n", "run.txt:4: expected 6 columns"),
        (b"1 0 a 1\n", "are the judgments and the run swapped?"),
        (b"# made by us\n" + RUN, "a comment line"),
        (b"query Q0 docid rank score tag\n" + RUN, "run.txt:1: expected a number as score, found 'score'"),
        (b"query Q0 docid rank score tag\n" + RUN, "looks like a header"),
        (RUN.replace(b"1.5", b"nan"), "run.txt:2: expected a number as score, found 'nan'"),
        (RUN.replace(b"1.5", b"abc"), "found 'abc'"),
        (RUN.replace(b"1.5", b"1,5"), "decimal comma"),
        (RUN.replace(b"1.5", b"1_000"), "found '1_000'"),
        (RUN.replace(b"1.5", b"0x10"), "found '0x10'"),
        (RUN.replace(b"1.5", "１２".encode()), "found '１２'"),
        (RUN.replace(b"Q0 x", b"Q0 my doc"), "a document id that contains a space"),
        (
            RUN + b"1 Q0 a 9 0.1 tag\n",
            "run.txt:4: expected each document once in the ranking of a query, "
            "found document 'a' again for query '1' (first on line 1)",
        ),
        (RUN.replace(b"Q0 x", b"Q0 x\0y"), "NUL byte at offset 23"),
        (RUN.decode().encode("utf-16"), "UTF-16"),
        (RUN.decode().encode("utf-16-le"), "UTF-16"),
        (RUN.replace(b"\n", b"\r"), "carriage returns as line endings"),
        (gzip.compress(RUN, mtime=0)[:-9], "compressed stream ends early"),
    ],
)
def test_faults_in_a_run_are_reported_with_their_place(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_run(written(tmp_path, data))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "qrels.txt: file is empty"),
        (b"1 a 1\n", "qrels.txt:1: expected 4 columns (query iter document grade), found 3"),
        (b"1\ta\t1\n", "BEIR"),
        (RUN, "are the judgments and the run swapped?"),
        (b"1 0 a 1 x\n", "found 5"),
        (b"1 0 a 1.9\n", "expected a whole number from -127 to 127 as grade, found '1.9'"),
        (b"1 0 a yes\n", "found 'yes'"),
        (b"1 0 a +\n", "found '+'"),
        (b"1 0 a -\n", "found '-'"),
        (b"1 0 a 2000000000\n", "found '2000000000'"),
        (b"1 0 a 128\n", "found '128'"),
        (b"1 0 a 99999999999999999999\n", "found '99999999999999999999'"),
        (
            b"1 0 a 1\n1 0 b 0\n1 0 a 1\n",
            "qrels.txt:3: expected one judgment of each document for a query, "
            "found document 'a' judged again for query '1' (first on line 1)",
        ),
        (b"1 0 a 1\n1 7 a 2\n", "found document 'a' judged again for query '1' (first on line 1), 1 and 2"),
        (b"# hello\n1 0 a 1\n", "a comment line"),
    ],
)
def test_faults_in_judgments_are_reported_with_their_place(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_qrels(written(tmp_path, data, "qrels.txt"))
    assert said in str(error.value)


def test_grades_with_signs_and_zeros_are_whole_numbers(tmp_path: Path) -> None:
    qrels = read_qrels(written(tmp_path, b"1 0 a +1\n1 0 b -2\n1 0 c 007\n1 0 d 0\r\n", "q"))
    assert qrels.grades.tolist() == [1, -2, 7, 0]


def test_the_same_document_for_two_subtopics(tmp_path: Path) -> None:
    path = written(tmp_path, b"1 1 a 1\n1 2 a 2\n", "q")
    assert len(read_qrels(path, by_subtopic=True)) == 2
    with pytest.raises(InputError, match="judged again"):
        read_qrels(written(tmp_path, b"1 1 a 1\n1 1 a 2\n", "q"), by_subtopic=True)


def test_twenty_errors_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_run(written(tmp_path, b"1 Q0 a\n" * 50))
    assert str(error.value).count("expected 6 columns") == 20
    assert "50 errors in all, the first 20 shown" in str(error.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xef\xbb\xbf" + RUN, "a byte order mark, skipped"),
        (RUN.replace(b" tag", b" tag and more"), "found 8: the extra ones are ignored"),
        (RUN.replace(b"2.5", b"inf"), "expected a finite score"),
        (RUN.replace(b"2.5", b"1e400"), "expected a finite score"),
        (RUN.replace(b"Q0 x", b"Q0 \x1b[31mx"), r"found document '\\x1b\[31mx'$"),
        (RUN.replace(b"a 1 ", b"a 3 "), r"found score 2\.5 at rank 3, 1\.5 at rank 2 of query '1'$"),
    ],
)
def test_odd_input_is_read_with_a_warning(tmp_path: Path, qrels: Path, data: bytes, said: str) -> None:
    with pytest.warns(RankgaugeWarning, match=said):
        run = read_run(written(tmp_path, data))
    assert evaluate(qrels, run, "RR")["RR"] == 1.0


def test_ids_are_bytes(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "1 Q0 caf\xe9 1 1 tag\n1 Q0 a\xa0b 2 0.5 tag\n".encode("latin-1")))
    assert list(run.docs) == [b"caf\xe9", b"a\xa0b"]


def test_a_repeated_document_may_be_kept_once(tmp_path: Path, qrels: Path) -> None:
    path = written(tmp_path, RUN + b"1 Q0 a 9 0.1 tag\n")
    assert len(read_run(path, on_duplicate="first")) == 3
    assert evaluate(qrels, path, "RR", reading=Reading(on_duplicate="first"))["RR"] == 1.0


@pytest.mark.parametrize(("path", "reason"), [("nowhere.txt", "cannot read: "), (".", "a folder without Parquet")])
def test_a_path_that_cannot_be_read_says_why(path: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_run(path)
