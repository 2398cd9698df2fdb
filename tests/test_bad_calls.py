"""Bad calls, odd types, strange files: what two plain files cannot show, from Python and from the command line."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, InputError, Reading, UsageError, compare, evaluate, validate_qrels, validate_run
from rankgauge.io.byte_streams import Limits
from rankgauge.measures.names import parse_measures
from rankgauge.validation import ValidationOptions

Q = b"1 0 d1 1\n1 0 d2 0\n2 0 d3 2\n"
R = b"1 Q0 d1 1 3.0 t\n1 Q0 d2 2 2.0 t\n2 Q0 d3 1 1.0 t\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_bytes(Q)
    Path("run").write_bytes(R)


@pytest.mark.usefixtures("files")
def test_a_bomb_is_stopped_at_the_limit(command: Callable[..., Any]) -> None:  # rows 17 and 19
    Path("run").write_bytes(gzip.compress(R + b"3 Q0 d 1 1 t\n" * 10_000))
    done = command("evaluate", "qrels", "run", "--set", "reading.max_bytes=10000")
    assert (done.code, done.out) == (2, "")
    assert "run: more than 10000 bytes\nhint: raise the limit: --set reading.max_bytes=SIZE" in done.err
    with pytest.raises(InputError, match="more than 10000 bytes"):
        evaluate("qrels", "run", reading=Reading(limits=Limits(max_bytes=10_000)))
    Path("run").write_bytes(R + b"2 Q0 " + b"x" * 100 + b" 2 0.5 t\n")
    done = command("evaluate", "qrels", "run", "--set", "reading.max_line=99")
    assert (done.code, done.out) == (2, "")
    assert "run:4: expected a document id of at most 99 bytes, found 100\nhint: raise the limit" in done.err


@pytest.mark.usefixtures("files")
def test_bytes_that_are_no_utf8_come_out_as_they_went_in() -> None:  # row 34
    Path("qrels").write_bytes(b"caf\xe9 0 a 1\n")
    Path("run").write_bytes(b"caf\xe9 Q0 a 1 1 t\n")
    assert evaluate("qrels", "run", "RR").queries == ("caf\udce9",)
    done = cli("evaluate", "qrels", "run", "-m", "RR", "-q", "--format", "trec")
    assert done.stdout.splitlines()[0] == b"RR                    \tcaf\xe9\t1.0000"


@pytest.mark.usefixtures("files")
def test_scores_are_compared_as_float32_unless_version_10_is_asked_for(command: Callable[..., Any]) -> None:  # row 44
    Path("run").write_bytes(R.replace(b"3.0", b"2.00000001"))
    scores = evaluate("qrels", "run", "P@1")
    assert scores["P@1"] == 0.5
    assert "straddle rank 1 in 1 query: '1'" in {note.code: note.message for note in scores.notes}["tie-at-cutoff"]
    assert evaluate("qrels", "run", "P@1", conventions=Conventions("trec_eval-10"))["P@1"] == 1
    done = command("evaluate", "qrels", "run", "-m", "P@1", "--set", "measures.compat=trec_eval-10", "--format", "json")
    assert json.loads(done.out)["runs"][0]["measures"]["P@1"]["value"] == 1


@pytest.mark.parametrize(
    ("row", "run", "code"),
    [
        (46, R.replace(b"d1 1 ", b"d1 9 "), "rank-order"),
        (47, R.replace(b"d2 2", b"d2 1"), "duplicate-rank"),
        (47, R.replace(b"d2 2", b"d2 7"), "rank-gap"),
        (47, R.replace(b"d3 1", b"d3 0"), "rank-start"),
        (67, R, "too-deep"),
    ],
)
@pytest.mark.usefixtures("files")
def test_validation_is_stricter(row: int, run: bytes, code: str, command: Callable[..., Any]) -> None:
    Path("run").write_bytes(run)
    assert code in validate_run("run", options=ValidationOptions(max_depth=1)).codes
    done = command("runs", "validate", "run", "--max-depth", 1)
    assert done.code == 1
    assert f"{code} (" in done.out


@pytest.mark.usefixtures("files")
def test_a_judgment_that_stands_twice_with_one_grade_has_a_repair(command: Callable[..., Any]) -> None:  # row 50
    Path("qrels").write_bytes(Q + b"1 0 d1 1\n")
    assert command("runs", "validate", "--labels", "qrels", "--fix", "fixed").code == 1
    assert validate_qrels("fixed").ok
    assert evaluate("fixed", "run", "RR")["RR"] == 1
    assert command("evaluate", "fixed", "run").code == 0


@pytest.mark.usefixtures("files")
def test_a_query_named_all_has_no_place_in_three_columns(command: Callable[..., Any]) -> None:  # row 66
    Path("qrels").write_bytes(Q.replace(b"2 0", b"all 0"))
    Path("run").write_bytes(R.replace(b"2 Q0", b"all Q0"))
    done = command("evaluate", "qrels", "run", "-q", "-m", "RR", "--format", "trec")
    assert (done.code, done.out) == (2, "")
    assert "a query is named 'all', as the summary is" in done.err
    done = command("evaluate", "qrels", "run", "-q", "-m", "RR", "--format", "json")
    assert json.loads(done.out)["runs"][0]["per_query"] == {"1": {"RR": 1}, "all": {"RR": 1}}


def test_a_query_with_nothing_counts_zero(tmp_path: Path, command: Callable[..., Any]) -> None:  # row 68
    judged: dict[str, dict[str, int]] = {"1": {"a": 1}, "2": {"b": 1}}
    found: dict[str, dict[str, float]] = {"1": {"a": 1.0}, "2": {}}
    assert evaluate(judged, found, "RR").per_query("RR") == {"1": 1, "2": 0}
    (tmp_path / "q").write_text(json.dumps(judged))
    (tmp_path / "r").write_text(json.dumps(found))
    done = command("evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR", "--format", "trec")
    assert done.out == "RR                    \tall\t0.5000\n"


@pytest.mark.parametrize(
    ("row", "judged", "found", "said"),
    [
        (69, {1: {"a": 1}}, {"1": {"a": 1.0}}, "query id must be a string, found int: '1'"),
        (69, {"1": {"a": 1}}, {1: {"a": 1.0}}, "query id must be a string, found int: '1'"),
        (69, {"1": {"a": 1}}, {"1": {7: 1.0}}, "document id of query '1' must be a string, found int: '7'"),
        (70, {"1": {"a": 1}}, {"1": {"a": None}}, "score of document 'a' for query '1' must be a number, found None"),
        (70, {"1": {"a": 1}}, {"1": {"b": 2.0, "a": "1"}}, "score of document 'a' for query '1' must be a number"),
        (70, {"1": {"a": 1}}, {"1": {"b": 2.0, "a": 10**400}}, "score of document 'a' for query '1' must be a number"),
        (70, {"1": 5}, {"1": {"a": 1.0}}, "judgments of query '1' must map .*, found int: '5'"),
        (70, {"1": [["a", 1, 2]]}, {"1": {"a": 1.0}}, "judgments of query '1' must map .*, found list: "),
        (70, {"1": {"a": 1}, "2": 7}, {"1": {"a": 1.0}}, "judgments of query '2' must map documents to grades"),
        (70, {"1": {"a": 1}}, {"1": None}, "results of query '1' must map documents to scores, or list documents"),
        (70, {"1": {"a": 1}}, {"1": ["a"], "2": None}, "results of query '2' must map .*, found None"),
        (70, {"1": {"a": 1}}, {"1": ["a", None]}, "document id of query '1' must be a string, found NoneType"),
        (70, {"1": {"a": 1}}, {"1": [None]}, "results of query '1' must be ids or \\(id, score\\) pairs, found 'None'"),
        (70, {"1": {"a": 1}}, {"1": [("a", None)]}, "score of document 'a' for query '1' must be a number, found None"),
        (70, {"1": {"a": "1"}}, {"1": {"a": 1.0}}, "grade of document 'a' for query '1' must be a number, found str"),
    ],
)
def test_a_wrong_type_is_named_with_its_place(row: int, judged: Any, found: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        evaluate(judged, found, "RR")
    assert isinstance(error.value, TypeError)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (b'{"1": {"a": null}}', "expected a number as score, found nothing for document 'a' of query '1'"),
        (b'{"1": {"a": "1"}}', "expected a number as score, found '1' for document 'a' of query '1'"),
    ],
)
def test_a_wrong_type_in_json_is_named_with_its_place(
    tmp_path: Path, command: Callable[..., Any], found: bytes, said: str
) -> None:  # row 70
    (tmp_path / "q").write_bytes(b"1 0 a 1\n")
    (tmp_path / "r").write_bytes(found)
    done = command("evaluate", tmp_path / "q", tmp_path / "r")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("measures", [5, object(), iter(())])
def test_measures_that_are_no_names_are_a_usage_error(measures: Any) -> None:
    with pytest.raises(UsageError, match=r"measures must be names, found|no measure is named"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, measures)


@pytest.mark.parametrize("runs", [None, 5, object()])
def test_runs_that_are_no_list_are_named(runs: Any) -> None:
    with pytest.raises(InputError, match="runs must be a list of runs, found"):
        compare({"1": {"a": 1}}, runs)


def test_a_grade_may_be_true_and_measures_any_iterable() -> None:  # rows 71 and 72
    assert evaluate({"1": {"a": True}}, {"1": {"a": 1.0}}, (name for name in ["RR", "AP"]))["AP"] == 1
    assert evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, {"RR"})["RR"] == 1


@pytest.mark.parametrize(
    ("row", "measure", "said"),
    [
        (73, "nGCD@10", "unknown measure 'nGCD'\nhint: did you mean nDCG@10?"),
        (74, "P@0", "cutoff of P must be a whole number from 1 to 1000000000, found 0"),
        (75, "P@-1", "cutoff of P must be a whole number from 1 to 1000000000, found '-1'"),
        (76, "P@1e3", "cutoff of P must be a whole number from 1 to 1000000000, found '1e3'"),
        (76, "P@2.5", "cutoff of P must be a whole number from 1 to 1000000000, found 2.5"),
        (76, "P@abc", "cutoff 'abc' is neither a number nor a column of the queries"),
        (77, "P@9223372036854775808", "cutoff of P must be a whole number from 1 to 1000000000"),
        (79, "recip_rank.10", "recip_rank takes no parameter, found '10'\nhint: write RR@10"),
        (79, "map.5", "map takes no parameter, found '5'\nhint: write AP@5"),
        (81, "P(rel=abc)@5", "cannot read the parameters of 'P': 'rel=abc'"),
        (79, " ", "a measure has no name"),
        (77, "P@" + "9" * 5000, "cutoff of P must be a whole number from 1 to 1000000000"),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_wrong_measure_is_a_wrong_call(row: int, measure: str, said: str, command: Callable[..., Any]) -> None:
    with pytest.raises(UsageError) as error:
        evaluate("qrels", "run", measure)
    assert said in str(error.value)
    done = command("evaluate", "qrels", "run", "-m", measure)
    assert (done.code, done.out) == (64, "")
    assert said in done.err


@pytest.mark.parametrize("grade", ["abc", "-1", "nan"])
@pytest.mark.usefixtures("files")
def test_a_grade_that_is_not_one_is_a_usage_error(grade: str, command: Callable[..., Any]) -> None:  # row 81
    done = command("evaluate", "qrels", "run", "-l", grade)
    assert (done.code, done.out) == (64, "")
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("files")
def test_cutoffs_are_merged_and_none_is_lost(command: Callable[..., Any]) -> None:  # rows 78 and 80
    assert [str(m) for m in evaluate("qrels", "run", "P@3 P.3,4 P@3").measures] == ["P@3", "P@4"]
    done = command("evaluate", "qrels", "run", "-m", "P.3", "-m", "P.4", "-m", "P@3", "--format", "json")
    assert list(json.loads(done.out)["runs"][0]["measures"]) == ["P@3", "P@4"]


@pytest.mark.usefixtures("files")
def test_gains_below_one_are_sorted_rightly(command: Callable[..., Any]) -> None:  # row 82
    Path("qrels").write_bytes(b"1 0 a 1\n1 0 b 2\n")
    Path("run").write_bytes(b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    measure = "nDCG(gains={1: 0.5, 2: 0.9})"
    log = 1.584962500721156
    expected = pytest.approx((0.5 + 0.9 / log) / (0.9 + 0.5 / log))
    assert evaluate("qrels", "run", measure)[measure] == expected
    done = command("evaluate", "qrels", "run", "-m", measure, "--format", "json")
    assert [entry["value"] for entry in json.loads(done.out)["runs"][0]["measures"].values()] == [expected]


@pytest.mark.usefixtures("files")
def test_nothing_judged_is_a_zero_and_never_nan(command: Callable[..., Any]) -> None:  # row 83
    Path("run").write_bytes(R.replace(b"d1", b"x1").replace(b"d2", b"x2"))
    names = ["P(judged_only=True)@5", "AP(judged_only=True)", "nDCG(judged_only=True)@5"]
    scores = evaluate("qrels", "run", names)
    assert [scores.per_query(name)["1"] for name in names] == [0, 0, 0]
    done = command("evaluate", "qrels", "run", *(part for name in names for part in ("-m", name)), "--format", "json")
    assert "NaN" not in done.out
    assert {entry["value"] for entry in json.loads(done.out)["runs"][0]["measures"].values()} <= {0.1, 0.5}


NOT_A_RUN = "a folder without Parquet files (*.parquet or *.pq)\nhint: a run is a file, or a folder of Parquet files"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("nowhere", "run"), "cannot read: No such file or directory"),
        (("qrels", "nowhere"), "cannot read: No such file or directory"),
        ((".", "run"), "cannot read: Is a directory"),
        (("qrels", "."), NOT_A_RUN),
    ],
)
@pytest.mark.usefixtures("files")
def test_a_path_that_cannot_be_read_says_why(
    given: tuple[str, str], reason: str, command: Callable[..., Any]
) -> None:  # row 84
    path = next(name for name in given if name in ("nowhere", "."))
    with pytest.raises(InputError) as error:
        evaluate(*given)
    is_missing_run = given[1] == "nowhere"  # it could be meant as anything that holds results
    hint = "\nhint: results are a run, a log, a folder" if is_missing_run else ""
    assert str(error.value).startswith(f"{path}: {reason}{hint}")
    done = command("evaluate", *given)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {path}: {reason}{hint}")
    assert ("results are a run" in done.err) == is_missing_run


@pytest.mark.parametrize("way", ["python", "command line"])
@pytest.mark.parametrize("side", ["qrels", "run"])
@pytest.mark.usefixtures("files")
def test_either_file_may_be_a_pipe(side: str, way: str, command: Callable[..., Any]) -> None:  # row 85
    os.mkfifo("pipe")
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(Path(side).read_bytes(),))
    writer.start()
    qrels, run = ("pipe" if name == side else name for name in ("qrels", "run"))
    if way == "python":
        assert evaluate(qrels, run, "RR")["RR"] == 1
    else:
        assert command("evaluate", qrels, run, "-m", "RR", "--format", "trec").out.endswith("\t1.0000\n")
    writer.join()


def test_standard_input_is_one_file_only(command: Callable[..., Any]) -> None:  # row 85
    done = command("evaluate", "-", "-")
    assert (done.code, done.err) == (64, "error: only one of the files can be standard input\n")


@pytest.mark.usefixtures("files")
def test_a_long_query_id_is_short_in_a_table_and_whole_in_json(command: Callable[..., Any]) -> None:  # row 97
    name = "q" * 10_000
    Path("qrels").write_text(f"{name} 0 a 1\n")
    Path("run").write_text(f"{name} Q0 a 1 1 t\n")
    assert evaluate("qrels", "run", "RR").queries == (name,)
    assert name in command("evaluate", "qrels", "run", "-q", "-m", "RR", "--format", "json").out
    assert "q" * 200 not in command("evaluate", "qrels", "run", "-q", "-m", "RR").out


@pytest.mark.slow
@pytest.mark.parametrize("locale", ["C", "tr_TR.UTF-8", "de_DE.ISO-8859-1"])
@pytest.mark.usefixtures("files")
def test_the_locale_does_not_matter(locale: str) -> None:  # row 103
    Path("qrels").write_bytes("İé 0 d1 1\n".encode())
    Path("run").write_bytes("İé Q0 d1 1 1.5 t\n".encode())
    done = cli("evaluate", "qrels", "run", "-m", "RR", "-q", "--format", "trec", LC_ALL=locale, PYTHONUTF8="0")
    assert done.stdout.splitlines()[0] == "RR                    \tİé\t1.0000".encode()


@pytest.mark.usefixtures("files")
def test_what_was_read_is_what_is_hashed(command: Callable[..., Any]) -> None:  # row 104
    wanted = hashlib.sha256(R).hexdigest()
    assert evaluate("qrels", "run", "RR", reading=Reading(fingerprint=True)).run_sha256 == wanted
    assert json.loads(command("evaluate", "qrels", "run", "--format", "json").out)["runs"][0]["sha256"] == wanted


def cli(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own, where bytes and the environment matter."""
    command = [sys.executable, "-m", "rankgauge", *arguments]
    return subprocess.run(command, capture_output=True, check=True, env={**os.environ, **environment})


def test_a_cutoff_with_thousands_of_digits_is_the_largest() -> None:
    assert parse_measures("P." + "9" * 5000) == parse_measures("P.9999999999")
