"""Bad, hostile and odd input: what each gets, from Python and from the command line alike."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeWarning, evaluate

Q = b"1 0 d1 1\n1 0 d2 0\n2 0 d3 2\n"
R = b"1 Q0 d1 1 3.0 t\n1 Q0 d2 2 2.0 t\n2 Q0 d3 1 1.0 t\n"
BAD, ODD, FINE = "an error", "a warning", "fine"

# (what it is, judgments, run, what happens, what is said)
CASES: list[tuple[str, bytes, bytes, str, str]] = [
    ("0-byte run", Q, b"", BAD, "run: file is empty"),
    ("0-byte qrels", b"", R, BAD, "qrels: file is empty"),
    ("run of blank lines", Q, b"\n \n\n", BAD, "no lines with anything on them"),
    ("blank line in qrels", Q.replace(b"\n", b"\n\n", 1), R, FINE, ""),
    ("blank line in run", Q, R.replace(b"\n", b"\n\n", 1), FINE, ""),
    ("byte order mark in run", Q, b"\xef\xbb\xbf" + R, ODD, "a byte order mark, skipped"),
    ("byte order mark in qrels", b"\xef\xbb\xbf" + Q, R, ODD, "a byte order mark, skipped"),
    ("UTF-16 run", Q, R.decode().encode("utf-16"), BAD, "UTF-16"),
    ("CRLF", Q.replace(b"\n", b"\r\n"), R.replace(b"\n", b"\r\n"), FINE, ""),
    ("one line with CRLF", b"1 0 d1 1\r\n", b"1 Q0 d1 1 3.0 t\r\n", FINE, ""),
    ("lone carriage returns", Q, R.replace(b"\n", b"\r"), BAD, "carriage-return line ends"),
    ("NUL byte in an id", Q, R.replace(b"d2", b"d\x002"), BAD, "NUL byte at offset"),
    ("random binary", Q, bytes(range(256)) * 4, BAD, "run"),
    ("gzipped run", Q, gzip.compress(R), FINE, ""),
    ("gzipped qrels", gzip.compress(Q), R, FINE, ""),
    ("0-byte gzip", Q, gzip.compress(b""), BAD, "file is empty"),
    ("truncated gzip", Q, gzip.compress(R)[:-12], BAD, "compressed stream ends early"),
    ("huge line", Q, R + b"2 Q0 " + b"x" * (2 << 20) + b" 2 0.5 t\n", BAD, "1048576"),
    ("long id", Q, R + b"2 Q0 " + b"x" * 1_000_000 + b" 2 0.5 t\n", FINE, ""),
    ("5 columns in the run", Q, R + b"1 Q0 d9 4 0.5\n", BAD, "run:4: expected 6 columns"),
    ("7 columns in the run", Q, R.replace(b" t\n", b" t x\n"), ODD, "found 7: the rest is ignored"),
    ("3 columns in the qrels", b"1 d1 1\n", R, BAD, "qrels:1: expected 4 columns"),
    ("5 columns in the qrels", Q + b"1 0 d4 1 x\n", R, BAD, "qrels:4: expected 4 columns"),
    ("header row in the run", Q, b"qid Q0 docno rank score tag\n" + R, BAD, "looks like a header"),
    ("BEIR qrels", b"query-id\tcorpus-id\tscore\n1\td1\t1\n2\td3\t2\n", R, FINE, ""),
    ("comment line", Q, b"# by us\n" + R, BAD, "run:1: "),
    ("a sign within an id", b"1 0 d#1 1\n", b"1 Q0 d#1 1 3.0 t\n", FINE, ""),
    ("tabs, runs of spaces, other blanks", Q.replace(b" ", b" \t"), R.replace(b" ", b"\v \f"), FINE, ""),
    ("document id with a space", Q, R.replace(b"d2", b"d 2"), BAD, "a document id with a space"),
    ("no-break space in an id", Q, R.replace(b"d2", "d\xa02".encode()), FINE, ""),
    ("trailing spaces", Q.replace(b"\n", b"  \n"), R.replace(b"\n", b" \n"), FINE, ""),
    ("Latin-1 bytes in an id", "1 0 caf\xe9 1\n".encode("latin-1"), "1 Q0 caf\xe9 1 1 t\n".encode("latin-1"), FINE, ""),
    ("NaN score", Q, R.replace(b"2.0", b"nan"), BAD, "run:2: expected a number as score, found 'nan'"),
    ("infinite score", Q, R.replace(b"3.0", b"inf"), ODD, "expected a finite score"),
    ("score abc", Q, R.replace(b"2.0", b"abc"), BAD, "found 'abc'"),
    ("decimal comma", Q, R.replace(b"2.0", b"2,0"), BAD, "a decimal comma?"),
    ("score 1_000", Q, R.replace(b"2.0", b"1_000"), BAD, "found '1_000'"),
    ("other digits", Q, R.replace(b"2.0", "１２".encode()), BAD, "run:2"),
    ("hexadecimal score", Q, R.replace(b"2.0", b"0x1"), BAD, "found '0x1'"),
    ("score 1e400", Q, R.replace(b"3.0", b"1e400"), ODD, "expected a finite score"),
    ("rank that contradicts the score", Q, R.replace(b"d1 1 ", b"d1 9 "), FINE, ""),
    ("document twice in the run", Q, R + b"1 Q0 d1 9 0.1 t\n", BAD, "run:4: expected each document once"),
    ("document twice beyond any cutoff", Q, R + b"9 Q0 z 1 1 t\n9 Q0 z 2 0.5 t\n", BAD, "run:5"),
    ("judgment twice, same grade", Q + b"1 0 d1 1\n", R, BAD, "with the same grade"),
    ("judgment twice, other grade", Q + b"1 0 d1 2\n", R, BAD, "1 and 2"),
    ("judgment twice in a query that the run lacks", Q + b"9 0 a 1\n9 0 a 1\n", R, BAD, "qrels:5"),
    ("float grade", Q.replace(b"d1 1", b"d1 1.9"), R, BAD, "qrels:1: expected a whole number"),
    ("grade yes", Q.replace(b"d1 1", b"d1 yes"), R, BAD, "found 'yes'"),
    ("negative grades", Q.replace(b"d2 0", b"d2 -1"), R, FINE, ""),
    ("a query with only negative grades", Q + b"0 0 a -1\n", R + b"0 Q0 a 1 1 t\n", FINE, ""),
    ("grade 2e9", Q.replace(b"d1 1", b"d1 2000000000"), R, BAD, "from -127 to 127"),
    ("grade beyond 64 bits", Q.replace(b"d1 1", b"d1 99999999999999999999"), R, BAD, "from -127 to 127"),
    ("no common query", Q, b"9 Q0 a 1 1 t\n", BAD, "no query in common: '9' against '1', '2'"),
    ("judged query missing in the run", Q, b"1 Q0 d1 1 1 t\n", FINE, ""),
    ("query of the run that is not judged", Q, R + b"9 Q0 a 1 1 t\n", FINE, ""),
    ("query without relevant documents", Q + b"3 0 a 0\n", R, FINE, ""),
    ("queries whose rows stand apart", Q, R + b"1 Q0 d5 3 0.5 t\n", FINE, ""),
    ("very long query id", Q + b"q" * 1_000_000 + b" 0 a 1\n", R, FINE, ""),
    ("files swapped", R, Q, BAD, "swapped"),
]  # fmt: skip


@pytest.fixture(params=CASES, ids=lambda case: case[0])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path, str, str]:
    _, qrels, run, outcome, said = request.param
    (tmp_path / "qrels").write_bytes(qrels)
    (tmp_path / "run").write_bytes(run)
    return tmp_path / "qrels", tmp_path / "run", outcome, said


def test_from_python(case: tuple[Path, Path, str, str]) -> None:
    qrels, run, outcome, said = case
    if outcome == BAD:
        with pytest.raises(InputError) as error:
            evaluate(qrels, run)
        assert said in str(error.value)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert evaluate(qrels, run, "RR")["RR"] is not None
    messages = [str(item.message) for item in caught if issubclass(item.category, RankgaugeWarning)]
    assert len(messages) == len(caught)
    assert any(said in message for message in messages) if outcome == ODD else not messages


def test_from_the_command_line(case: tuple[Path, Path, str, str], command: Callable[..., Any]) -> None:
    qrels, run, outcome, said = case
    done = command("evaluate", qrels, run, "--format", "json")
    assert "Traceback" not in done.err
    if outcome == BAD:
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
    else:
        assert done.code == 0, done.err
    assert said in done.err
