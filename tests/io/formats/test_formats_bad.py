"""What is wrong in a file of any format is said with its place, by the API and on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, read_qrels, read_run
from rankgauge.io.byte_streams import Limits

CSV = b"qid,docno,score\n"
RUNS = [
    (CSV + b"q,a,\n", "file:2: expected a number as score, found ''"),
    (b"q\ta\t1.5\nq\tb\t\n", "file:2: expected a number as score, found ''"),
    (CSV + b"q,a,abc\n", "file:2: expected a number as score, found 'abc'"),
    (CSV + b"q,a,1_000\n", "found '1_000'"),
    (CSV + b"q,a,0x10\n", "found '0x10'"),
    (CSV + b"q,a,nan\n", "NaN cannot be ordered"),
    (CSV.replace(b",", b";") + b"q;a;1,5\n", "a decimal comma"),
    (CSV + "q,a,１２\n".encode(), "found '１２'"),
    (CSV + b"q,,1\n", "file:2: expected a document id, found nothing"),
    (CSV + b",a,1\n", "file:2: expected a query id, found nothing"),
    (CSV + b"q,a\n", "file:2: expected 3 columns, as on the first line, found 2: 'q,a'"),
    (CSV + b"q,a,1,9\n", "found 4"),
    (CSV + b'q,"a,1\n', "wrong quotation marks"),
    (CSV + b'q,"a"b,1\n', "file:2: wrong quotation marks"),
    (CSV + b"q,a,1\n\nq,a,2\n",
     "file:4: expected each document once in the ranking of a query, found document 'a' again for query 'q' "
     "(first on line 2)"),
    (CSV + b"q,a\0,1\n", "NUL byte"),
    (CSV.replace(b"\n", b"\r") + b"q,a,1\r", "carriage returns"),
    (b"qid,docno,score,sim\nq,a,1,2\n", "expected one column for the score, found 2: 'score', 'sim'"),
    (b'{"_id": "d", "text": "x"}\n', "is this a file of queries or documents?"),
    (b"qid,docno,title\nq,a,x\n",
     "expected a column for the score (score, sim, similarity, retrieval_score, rsv, value), found 'qid'"),
    (b"qid,docno,rank\nq,a,1\nq,b,1\n",
     "file:3: expected each rank once per query, found rank 1 again for query 'q'"),
    (b"qid,docno,rank\nq,a,1.5\n", "expected a whole number as rank, found 1.5"),
    (b"q\ta\t1\nq\tb\t3\nq\tc\t2\n", "may be a rank or a score"),
    (b"q\ta\t1\nq\tb\t2\nq\tc\n", "found 2"),
    (b'{"q": {"a": NaN}}', "NaN is not a JSON number"),
    (b'{"q": {"a": -Infinity}}', "-Infinity is not a JSON number"),
    (b'{"q": {"a": 1, "b": 2, "a": 3}}', "found document 'a' again for query 'q'"),
    (b'{"q": {"a": 1}, "q": {"b": 2}}', "expected each query once, found query 'q' again"),
    (b'{"q": {"a": null}}', "expected a number as score, found nothing for document 'a' of query 'q'"),
    (b'{"q": {"a": "1"}}', "expected a number as score, found '1' for document 'a' of query 'q'"),
    (b'{"q": {"a": [1]}}', "found a list for document 'a' of query 'q'"),
    (b'{"q": {"a": 1}, "p": 3}', "found '3' for query 'p'"),
    (b'{"q": ["a", ["b", 1]]}', "a list in which 1 of 2 have a number"),
    (b'{"q": ["a", null]}', "expected a string or a whole number as document id, found nothing for query 'q'"),
    (b'{"q": {"a": 1}', "file:1: not JSON"),
    (b'{"q": {"a": 1}}\n{"p": {"a": 1}}', "file:2: not JSON: Extra data"),
    (b'{"q": {"": 1}}', "document id"),
    (b'{"": {"a": 1}}', "query id is empty"),
    (b'{"q": {"a\\ud800": 1}}', "document id"),
    (b'{"q": {"a\\u0000": 1}}', "document id"),
    (b'{"q": ' + b"[" * 100_000, "nested too deeply"),
    (b'{"q":' * 100_000, "nested too deeply"),
    (b'{"q": {"a": ' + b"9" * 5000 + b"}}", "not JSON"),
    (b'{"q": {"a": ' + b"9" * 400 + b"}}", "expected a number as score"),
    (b'{"qid": "q", "docno": "a", "score": "1"}', "file:1: expected a number as score, found '1'"),
    (b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b"}',
     "file:2: expected a number as score, found nothing"),
    (b'{"qid": "q", "docno": "a", "score": 1}\n[1]', "file:2: expected an object, found a list"),
    (b'{"qid": "q", "docno": "a", "score": 1}\nq Q0', "file:2: not JSON"),
    (b'{"qid": "q", "qid": "p", "docno": "a", "score": 1}',
     "file:1: expected each key once in an object, found 'qid' twice"),
    (b'{"qid": 1.5, "docno": "a", "score": 1}', "a string or a whole number as query id, found '1.5'"),
    (b'{"qid": true, "docno": "a", "score": 1}', "a string or a whole number as query id, found 'True'"),
    (b"\x80\x04\x95\x10\x00\x00\x00", "this is a pickle, which is never read"),
    (b"PK\x03\x04rest", "a zip archive"),
    (b"PAR1 and so on", "cannot be read as Parquet or Arrow"),
    (b"ARROW1 and so on", "cannot be read as Parquet or Arrow"),
    (b"qid docno score\nq a 1\n", "expected 6 columns"),
    (b"\x1b]0;x\x07,a,b\x1b\n", "expected a number as score, found 'b\\x1b'"),
]  # fmt: skip
JUDGMENTS = [
    (b"query-id\tcorpus-id\tscore\nq\ta\tyes\n", "file:2: expected a number as grade, found 'yes'"),
    (b"query-id\tcorpus-id\tscore\nq\ta\t128\n", "file:2: expected a number from -127 to 127 as grade, found 128"),
    (b"query-id\tcorpus-id\tscore\nq\ta\t1e400\n", "found inf"),
    (b"query-id\tcorpus-id\tscore\nq\ta\t1\nq\ta\t0\n",
     "file:3: expected one judgment of each document for a query, found document 'a' judged again for query 'q' "
     "(first on line 2), 1 and 0"),
    (b'{"q": {"a": 2e9}}', "from -127 to 127 as grade, found 2e+09 for document 'a' of query 'q'"),
    (b'{"q": {"a": "yes"}}', "expected a number as grade, found 'yes' for document 'a' of query 'q'"),
    (b"qid,pid,rel,label\nq,a,1,2\n", "expected one column for the grade, found 2: 'rel', 'label'"),
    (b"qid,docid,pid,rel\nq,a,b,1\n", "expected one column for the doc, found 2: 'docid', 'pid'"),
]  # fmt: skip
Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("read", "data", "said"),
    [(read_run, *case) for case in RUNS] + [(read_qrels, *case) for case in JUDGMENTS],
    ids=lambda value: str(value)[:40] if isinstance(value, (str, bytes)) else "",
)
def test_faults_are_reported_with_their_place(
    tmp_path: Path, command: Command, read: Any, data: bytes, said: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read(path)
    assert said in str(error.value)
    kind = "run" if read is read_run else "qrels"
    outcome = command("convert", path, tmp_path / "out.jsonl", "--kind", kind)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert "\x1b" not in outcome.err
    assert "Traceback" not in outcome.err
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"qid,docno,score\n", b"{}", b"[]"])
def test_nothing_is_not_a_run(tmp_path: Path, command: Command, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    outcome = command("convert", path, tmp_path / "out.jsonl", "--kind", "run")
    assert outcome.code == 2
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("data", [b"qid,docno,score\n", b"{}"])
def test_a_file_with_nothing_but_a_frame_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(InputError, match="file: no results in the file"):
        read_run(path)


def test_an_endless_id_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(CSV + b"q," + b"a" * 2000 + b",1\n")
    assert len(read_run(path)) == 1
    with pytest.raises(InputError, match="file:2: expected a document id of at most 1000 bytes, found 2000"):
        read_run(path, limits=Limits(max_line=1000))


def test_twenty_errors_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\n".join(b'{"qid": "q", "docno": "d%d", "score": null}' % n for n in range(50)))
    with pytest.raises(InputError) as error:
        read_run(path)
    assert str(error.value).count("expected a number") == 20
    assert "50 errors in all, the first 20 shown" in str(error.value)
