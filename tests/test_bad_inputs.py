"""Bad, hostile and odd input: what each gets, from Python and from the command line alike."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
import re
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, RankgaugeWarning, Reading, evaluate
from rankgauge.io import Limits

Q = b"1 0 d1 1\n1 0 d2 0\n2 0 d3 2\n"
R = b"1 Q0 d1 1 3.0 t\n1 Q0 d2 2 2.0 t\n2 Q0 d3 1 1.0 t\n"
COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "d\xe9").encode() for form in ("NFC", "NFD"))


@dataclass(frozen=True)
class Case:
    """Two files and what becomes of them.

    ``bad`` is part of the error; ``odd`` part of a reader's warning, which ``--strict`` makes an error; ``note`` is
    the code of a note beside the scores, and ``said`` part of it. With none of these nothing at all is said.
    """

    row: int  # of the table of inputs that other tools fail on
    what: str
    qrels: bytes = Q
    run: bytes = R
    bad: str = ""
    odd: str = ""
    note: str = ""
    said: str = ""
    rr: float = 1.0


LONG = b"2 Q0 " + b"x" * 1_000_000 + b" 2 0.5 t\n"
TOO_LONG = b"2 Q0 " + b"x" * (2 << 20) + b" 2 0.5 t\n"
MARK = b"\xef\xbb\xbf"
BEIR = b"query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n2\td3\t2\n"
DEEP = b"".join(b"1 Q0 x%d %d -%d t\n" % (n, n, n) for n in range(2, 2000))
CASES = [
    Case(0, "nothing wrong"),
    Case(1, "0-byte run", run=b"", bad="run: file is empty"),
    Case(2, "0-byte qrels", qrels=b"", bad="qrels: file is empty"),
    Case(3, "run of blank lines", run=b"\n \n\n", bad="run: no lines with content"),
    Case(3, "qrels of blank lines", qrels=b"\n \n\n", bad="qrels: no lines with content"),
    Case(4, "blank line in qrels", qrels=Q.replace(b"\n", b"\n\n", 1), odd="qrels:2: expected a judgment on each line"),
    Case(4, "blank lines at the end of qrels", qrels=Q + b"\n \n", odd="(2 in total)"),
    Case(5, "blank line in run", run=R.replace(b"\n", b"\n\n", 1)),
    Case(5, "lines are numbered with blank ones", run=R.replace(b"\n", b"\n\n").replace(b"1.0", b"x"), bad="run:5: "),
    Case(6, "byte order mark in run", run=MARK + R, odd="a byte order mark, skipped (trec_eval makes it part"),
    Case(7, "byte order mark in qrels", qrels=MARK + Q, odd="a byte order mark, skipped (trec_eval makes it part"),
    Case(8, "UTF-16 run", run=R.decode().encode("utf-16"), bad="run: looks like UTF-16"),
    Case(8, "UTF-16 qrels", qrels=Q.decode().encode("utf-16"), bad="qrels: looks like UTF-16"),
    Case(9, "CRLF", qrels=Q.replace(b"\n", b"\r\n"), run=R.replace(b"\n", b"\r\n")),
    Case(9, "one line with CRLF", qrels=b"1 0 d1 1\r\n", run=b"1 Q0 d1 1 3.0 t\r\n"),
    Case(10, "lone carriage returns in run", run=R.replace(b"\n", b"\r"), bad="run: carriage returns as line endings"),
    Case(
        10,
        "lone carriage returns in qrels",
        qrels=Q.replace(b"\n", b"\r"),
        bad="qrels: carriage returns as line endings",
    ),
    Case(11, "NUL byte in an id", run=R.replace(b"d2", b"d\x002"), bad="run:2: NUL byte at offset 22"),
    Case(12, "random binary", run=bytes(range(256)) * 4, bad="run:1: NUL byte at offset 0: not a text file"),
    Case(13, "gzipped run", run=gzip.compress(R)),
    Case(13, "gzipped qrels", qrels=gzip.compress(Q)),
    Case(13, "bzip2", qrels=bz2.compress(Q), run=bz2.compress(R)),
    Case(16, "gzip of nothing", run=gzip.compress(b""), bad="run: file is empty"),
    Case(15, "truncated gzip", run=gzip.compress(R)[:-12], bad="run: compressed stream ends early"),
    Case(15, "truncated gzip of qrels", qrels=gzip.compress(Q)[:-12], bad="qrels: compressed stream ends early"),
    Case(18, "long id", run=R + LONG, note="unjudged"),
    Case(18, "too long an id", run=R + TOO_LONG, bad="run: a line of more than 1048576 bytes"),
    Case(20, "5 columns in the run", run=R + b"1 Q0 d9 4 0.5\n", bad="run:4: expected 6 columns"),
    # Extra columns that stand on every line are read, with a warning: many tools write them, and nothing can shift.
    Case(
        21,
        "7 columns in the run",
        run=R.replace(b" t\n", b" t x\n"),
        odd="found 7: the extra ones are ignored (3 in total)",
    ),
    Case(21, "7 columns on one line", run=R + b"2 Q0 d9 4 0.5 t x\n", bad="run:4: expected 6 columns"),
    Case(
        22,
        "3 columns in the qrels",
        qrels=b"1 d1 1\n",
        bad="hint: BEIR's tab-separated judgments? --set reading.qrels_format=beir",
    ),
    Case(23, "5 columns in the qrels", qrels=Q + b"1 0 d4 1 x\n", bad="qrels:4: expected 4 columns"),
    Case(24, "header row in the run", run=b"qid Q0 docno rank score tag\n" + R, bad="looks like a header"),
    Case(25, "BEIR qrels", qrels=BEIR),
    Case(26, "comment line in the run", run=b"# by us\n" + R, bad="hint: a comment line? trec_eval 9 has no comments"),
    Case(
        26, "comment line in the qrels", qrels=b"# by us\n" + Q, bad="hint: a comment line? trec_eval 9 has no comments"
    ),
    Case(26, "a sign within an id", qrels=b"1 0 d#1 1\n", run=b"1 Q0 d#1 1 3.0 t\n"),
    Case(27, "tabs, runs of spaces, other blanks", qrels=Q.replace(b" ", b" \t"), run=R.replace(b" ", b"\v \f")),
    Case(
        28, "document id with a space", run=R.replace(b"d2", b"d 2"), bad="hint: a document id that contains a space?"
    ),
    Case(
        29,
        "no-break space in an id",
        run=R.replace(b"d2", b"d\xc2\xa02"),
        odd=r"run:2: expected ids of visible characters, found document 'd\xa02'",
    ),
    Case(29, "control character in an id", run=R.replace(b"d2", b"d\x1c2"), odd=r"found document 'd\x1c2'"),
    Case(
        29,
        "zero-width space in a judged id",
        qrels=Q.replace(b"d2", b"d2\xe2\x80\x8b"),
        odd=r"qrels:2: expected ids of visible characters, found document 'd2\u200b'",
    ),
    Case(
        29,
        "no-break space in a query id",
        qrels=Q.replace(b"\n2 0", b"\n\xc2\xa02 0"),
        odd=r"found query '\xa02'",
        rr=0.5,
    ),
    Case(30, "trailing spaces", qrels=Q.replace(b"\n", b"  \n"), run=R.replace(b"\n", b" \n")),
    Case(
        31,
        "quoted document ids",
        run=re.sub(rb"(d\d)", rb'"\1"', R),
        note="ids-quotes",
        said="3 document ids of the run would match the judgments without quotation marks: '\"d1\"' is 'd1'",
        rr=0,
    ),
    Case(
        32,
        "document ids in another case",
        run=R.replace(b"d", b"D"),
        note="ids-case",
        said="3 document ids of the run would match the judgments ignoring case: 'D1' is 'd1' there",
        rr=0,
    ),
    Case(
        32,
        "a query id in another case",
        qrels=b"q1 0 a 1\nq2 0 a 1\n",
        run=b"q1 Q0 a 1 1 t\nQ2 Q0 a 1 1 t\n",
        note="ids-case",
        said="1 query id of the run would match the judgments ignoring case: 'Q2' is 'q2' there",
        rr=0.5,
    ),
    Case(
        32,
        "all query ids in another case",
        qrels=b"q1 0 a 1\n",
        run=b"Q1 Q0 a 1 1 t\n",
        bad="hint: 1 query id of the run would match the judgments ignoring case: 'Q1' is 'q1' there",
    ),
    Case(
        33,
        "another Unicode form",
        qrels=b"1 0 %s 1\n" % COMPOSED,
        run=b"1 Q0 %s 1 1 t\n" % DECOMPOSED,
        note="ids-unicode",
        said=r"'de\u0301' is 'd\xe9' there",
        rr=0,
    ),
    Case(34, "Latin-1 bytes in an id", qrels=b"1 0 caf\xe9 1\n", run=b"1 Q0 caf\xe9 1 1 t\n"),
    Case(
        35,
        "leading zeros of documents",
        qrels=b"1 0 7 1\n",
        run=b"1 Q0 007 1 1 t\n",
        note="ids-zeros",
        said="'007' is '7' there",
        rr=0,
    ),
    Case(
        35,
        "leading zeros of queries",
        qrels=b"1 0 a 1\n2 0 a 1\n",
        run=b"1 Q0 a 1 1 t\n02 Q0 a 1 1 t\n",
        note="ids-zeros",
        said="'02' is '2' there",
        rr=0.5,
    ),
    Case(36, "NaN score", run=R.replace(b"2.0", b"nan"), bad="run:2: expected a number as score, found 'nan'"),
    Case(37, "infinite score", run=R.replace(b"3.0", b"inf"), odd="run:1: expected a finite score, found 'inf'"),
    Case(37, "score below all", run=R.replace(b"2.0", b"-inf"), odd="run:2: expected a finite score, found '-inf'"),
    Case(38, "score abc", run=R.replace(b"2.0", b"abc"), bad="run:2: expected a number as score, found 'abc'"),
    Case(39, "decimal comma", run=R.replace(b"2.0", b"2,0"), bad="hint: a decimal comma?"),
    Case(40, "score 1_000", run=R.replace(b"2.0", b"1_000"), bad="found '1_000'"),
    Case(
        41,
        "other digits",
        run=R.replace(b"2.0", "１２".encode()),
        bad="run:2: expected a number as score, found '１２'",
    ),
    Case(42, "hexadecimal score", run=R.replace(b"2.0", b"0x1"), bad="found '0x1'"),
    Case(42, "score 1e400", run=R.replace(b"3.0", b"1e400"), odd="expected a finite score, found '1e400'"),
    Case(
        43,
        "no score between two tabs",
        run=R.replace(b" ", b"\t").replace(b"2.0", b""),
        bad="run:2: expected 6 columns",
    ),
    # The id decides: d2 stands before d1. How much that can matter is said where a cutoff cuts the tie.
    Case(44, "scores that only float32 takes for equal", run=R.replace(b"3.0", b"2.00000001"), rr=0.75),
    Case(45, "scores that are equal", run=R.replace(b"3.0", b"2"), rr=0.75),
    Case(
        46,
        "a rank against its score",
        run=R.replace(b"d1 1 ", b"d1 9 "),
        odd="run:1: expected scores that do not increase with the rank, found score 3 at rank 9, 2 at rank 2 of query",
    ),
    Case(
        46,
        "all ranks against their scores",
        run=b"".join(b"1 Q0 d%d %d %d t\n" % (n, 61 - n, 61 - n) for n in range(1, 61)) + b"2 Q0 d3 1 1.0 t\n",
        odd="found scores that increase with the rank (59 rows in 1 query): score",
    ),
    Case(
        46,
        "ranks that run on where scores are tied",
        run=R.replace(b"3.0", b"2").replace(b"d1 1", b"d1 2").replace(b"d2 2 2", b"d2 1 2"),
        rr=0.75,
    ),
    Case(46, "unsorted rows whose ranks are right", run=b"1 Q0 d2 2 2.0 t\n1 Q0 d1 1 3.0 t\n2 Q0 d3 1 1.0 t\n"),
    Case(47, "ranks from 0", run=R.replace(b"d1 1", b"d1 0").replace(b"d2 2", b"d2 1").replace(b"d3 1", b"d3 0")),
    Case(47, "gaps between ranks", run=R.replace(b"d2 2", b"d2 7")),
    Case(47, "the same rank everywhere", run=R.replace(b"d2 2", b"d2 1")),
    Case(47, "no number as rank", run=R.replace(b"d2 2", b"d2 -")),
    Case(
        48,
        "document twice",
        run=R + b"2 Q0 d3 9 0.1 t\n",
        bad="run:4: expected each document once in the ranking of a query, found document 'd3' again for query '2'",
    ),
    Case(48, "document twice in a query that is taken up again", run=R + b"1 Q0 d1 9 0.1 t\n", bad="(first on line 1)"),
    Case(49, "document twice in a query that is not judged", run=R + b"9 Q0 z 1 1 t\n9 Q0 z 2 0.5 t\n", bad="run:5"),
    # Not an option of evaluation that nobody will see in the numbers: the repair is said, and writes a file.
    Case(
        50,
        "judgment twice, same grade",
        qrels=Q + b"1 0 d1 1\n",
        bad="hint: keep one of the two, as `rankgauge runs validate --fix` does",
    ),
    Case(
        51,
        "judgment twice, other grade",
        qrels=Q + b"1 0 d1 2\n",
        bad="found document 'd1' judged again for query '1' (first on line 1), 1 and 2\nhint: keep one of the two",
    ),
    Case(52, "judgment twice in a query that the run lacks", qrels=Q + b"9 0 a 1\n9 0 a 1\n", bad="qrels:5"),
    Case(
        53, "float grade", qrels=Q.replace(b"d1 1", b"d1 1.9"), bad="qrels:1: expected a whole number from -127 to 127"
    ),
    Case(54, "grade yes", qrels=Q.replace(b"d1 1", b"d1 yes"), bad="found 'yes'"),
    Case(
        55,
        "negative grades",
        qrels=Q.replace(b"d2 0", b"d2 -1"),
        note="negative-grades",
        said="1 judgment with a negative grade",
    ),
    Case(
        56,
        "a query with only -1, first",
        qrels=b"0 0 a -1\n" + Q,
        run=b"0 Q0 a 1 1 t\n" + R,
        note="no-relevant",
        said="1 query without relevant documents: '0'",
        rr=2 / 3,
    ),
    Case(
        57,
        "a query with only -1, later",
        qrels=Q + b"9 0 a -1\n",
        run=R + b"9 Q0 a 1 1 t\n",
        note="no-relevant",
        said="'9'",
        rr=2 / 3,
    ),
    Case(
        58,
        "a query with only -2, later",
        qrels=Q + b"9 0 a -2\n",
        run=R + b"9 Q0 a 1 1 t\n",
        note="no-relevant",
        said="'9'",
        rr=2 / 3,
    ),
    Case(
        59, "grade 2e9", qrels=Q.replace(b"d1 1", b"d1 2000000000"), bad="from -127 to 127 as grade, found '2000000000'"
    ),
    Case(60, "grade beyond 64 bits", qrels=Q.replace(b"d1 1", b"d1 99999999999999999999"), bad="from -127 to 127"),
    Case(61, "no common query", run=b"9 Q0 a 1 1 t\n", bad="no query in common: '9' and '1', '2'"),
    Case(
        62,
        "judged query missing in the run",
        run=b"1 Q0 d1 1 1 t\n",
        note="queries-missing",
        said="1 query judged but not in the run: '2'",
        rr=0.5,
    ),
    Case(
        63,
        "query of the run that is not judged",
        run=R + b"9 Q0 a 1 1 t\n",
        note="queries-unjudged",
        said="1 query of the run without any judgment",
    ),
    Case(
        64,
        "query without relevant documents",
        qrels=Q + b"3 0 a 0\n",
        run=R + b"3 Q0 a 1 1 t\n",
        note="no-relevant",
        said="1 query without relevant documents: '3'",
        rr=2 / 3,
    ),
    Case(
        65,
        "queries whose rows stand apart",
        run=R + b"1 Q0 d5 3 0.5 t\n",
        note="split-query",
        said="run:4: expected the lines of each query to be contiguous, found query '1' again after other",
    ),
    Case(66, "query named all", qrels=Q.replace(b"2 0", b"all 0"), run=R.replace(b"2 Q0", b"all Q0")),
    Case(67, "more than 1000 results", run=R[:16] + DEEP + R[-16:], note="unjudged"),
    Case(
        87,
        "files swapped",
        qrels=R,
        run=Q,
        bad="qrels:1: expected judgments (query iter document grade), found a run: '1 Q0 d1 1 3.0 t'\nhint: are the",
    ),
    Case(
        87,
        "judgments twice",
        run=Q * 9,
        bad="run:1: expected a run (query Q0 document rank score tag), found judgments: '1 0 d1 1'\nhint: are",
    ),
    Case(87, "a run with one short line is no judgments", run=b"1 Q0 d1 1\n" + R, bad="run:1: expected 6 columns"),
    Case(
        91, "terminal escapes in an id", run=R.replace(b"d2", b"\x1b]0;d2\x07"), odd=r"found document '\x1b]0;d2\x07'"
    ),
    Case(95, "a pickle", run=pickle.dumps({"1": {"d1": 1.0}}), bad="run: this is a pickle, which is never read"),
    Case(96, "NaN in JSON", run=b'{"1": {"d1": NaN}}', bad="NaN"),
    Case(96, "a key twice in JSON", run=b'{"1": {"d1": 1, "d1": 2}}', bad="'d1'"),
    Case(96, "JSON without end", run=b'{"1": ' + b"[" * 100_000, bad="run: "),
    Case(
        97,
        "very long query id",
        qrels=Q + b"q" * 1_000_000 + b" 0 a 1\n",
        note="queries-missing",
        said="qqq…'",
        rr=2 / 3,
    ),
]
HARMLESS = {"unjudged", "nothing-judged"}  # what is true of the little data above anyhow


@pytest.fixture(params=CASES, ids=lambda case: f"{case.row} {case.what}")
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.chdir(tmp_path)
    found: Case = request.param
    Path("qrels").write_bytes(found.qrels)
    Path("run").write_bytes(found.run)
    return found


def test_from_python(case: Case) -> None:
    if case.bad:
        with pytest.raises(InputError) as error:
            evaluate("qrels", "run", "RR")
        assert case.bad in str(error.value)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = evaluate("qrels", "run", "RR")
    assert scores["RR"] == pytest.approx(case.rr)
    assert all(issubclass(item.category, RankgaugeWarning) for item in caught)
    messages = [str(item.message) for item in caught]
    assert len(messages) == bool(case.odd)
    assert all(case.odd in message for message in messages)
    notes = {note.code: note.message for note in scores.notes}
    assert case.note in {"", *notes}
    assert case.said in notes.get(case.note, "")
    if not case.note and not case.odd:
        assert set(notes) <= HARMLESS


def test_from_the_command_line(case: Case, command: Callable[..., Any]) -> None:
    done = command("evaluate", "qrels", "run", "-m", "RR", "--format", "json")
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    if case.bad:
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert case.bad in done.err
        assert len(done.err) < 2000
        return
    assert done.code == 0, done.err
    assert json.loads(done.out)["runs"][0]["measures"]["RR"]["value"] == pytest.approx(case.rr)
    said = {line.removesuffix("]").rsplit(" [", 1)[1]: line for line in done.err.splitlines()}
    if case.odd:
        assert case.odd in said["input"]
    if case.note:
        assert case.said in said[case.note]
    if not case.odd and not case.note:
        assert set(said) <= HARMLESS


def test_odd_input_is_an_error_in_strict_mode(case: Case, command: Callable[..., Any]) -> None:
    done = command("evaluate", "qrels", "run", "-m", "RR", "--strict")
    if case.odd:
        with pytest.raises(InputError) as error:
            evaluate("qrels", "run", "RR", reading=Reading(limits=Limits(strict=True)))
        first = case.odd.split("(")[0].strip()  # the count is of errors then
        assert first in str(error.value)
        assert (done.code, done.out) == (2, "")
        assert first in done.err
    else:
        assert done.code == (2 if case.bad else 0)
