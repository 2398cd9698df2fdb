"""Every format is told by its content and holds the same judgments and the same run."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rankgauge import Qrels, RankgaugeWarning, Run, UsageError, evaluate, read_qrels, read_run
from rankgauge.errors import InputError
from rankgauge.evaluation.evaluate import evaluate_runs
from rankgauge.io.conversion import convert
from rankgauge.io.formats.detection import HEAD_BYTES
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.registry import FORMATS, detect_format, detect_kind
from tests.io.examples import FILES, GRADES, QRELS, RANKED, RUNS, SCORES


def written(folder: Path, data: bytes, name: str = "file") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def grades_of(qrels: Qrels) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {query: {} for query in qrels.queries.to_text()}
    queries = qrels.queries.to_text()
    for row, doc in enumerate(qrels.docs.to_text()):
        out[queries[int(qrels.query[row])]][doc] = float(qrels.grades[row])
    return out


def scores_of(run: Run) -> dict[str, dict[str, float]]:
    queries = run.queries.to_text()
    out: dict[str, dict[str, float]] = {query: {} for query in queries}
    for row, doc in enumerate(run.docs.to_text()):
        out[queries[int(run.query[row])]][doc] = float(run.scores[row])
    return out


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", QRELS)
def test_judgments_are_the_same_in_every_format(tmp_path: Path, name: str, packed: bool) -> None:
    path = written(tmp_path, gzip.compress(QRELS[name]) if packed else QRELS[name], "misleading.csv")
    assert grades_of(read_qrels(path)) == GRADES
    assert grades_of(read_qrels(path, format=name)) == GRADES
    assert read_qrels(path).sha256 == Qrels.from_dict(GRADES).sha256


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_in_every_format(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, RUNS[name], "misleading.json")
    assert scores_of(read_run(path)) == SCORES
    assert scores_of(read_run(path, format=name)) == SCORES


def test_ranks_without_scores_make_the_order(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, RANKED["msmarco"]))
    assert scores_of(run) == {"q1": {"d1": 2, "d9": 1}, "q2": {"d3": 1}}
    table = read_run(written(tmp_path, b"qid,docno,rank\nq,a,3\nq,b,1\nq,c,20\n"))
    assert list(table.ranked().docs) == [b"b", b"a", b"c"]


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ((1, 2, 3), "msmarco"),
        ((0, 1, 2), "msmarco"),
        ((1, 5, 9), "msmarco"),
        ((30, 20, 10), "tsv"),
        ((7, 7, 5), "tsv"),
        ((3, 2, 1), None),
        ((3, 1, 2), None),
        ((5, 7, 6), None),
        ((10, 11, 12), None),
    ],
)
def test_three_columns_end_in_ranks_or_scores_or_nobody_can_tell(numbers: tuple[int, ...], name: str | None) -> None:
    data = b"".join(b"q\td%d\t%d\n" % (at, number) for at, number in enumerate(numbers))
    if name is None:
        with pytest.raises(InputError, match="may be a rank or a score"):
            detect_format(data, "run")
    else:
        assert detect_format(data, "run").name == name


def test_a_line_cut_at_the_end_of_the_head_does_not_mislead() -> None:
    lines = [b"q\tdocument-%d\t%d\n" % (rank, rank) for rank in range(1, 9000)]
    data = b"".join(lines)
    for size in (HEAD_BYTES, HEAD_BYTES + 1, HEAD_BYTES + 7, len(data)):
        assert detect_format(data[:size], "run").name == "msmarco"


@pytest.mark.parametrize(("kind", "name", "data"), FILES)
def test_the_format_is_detected_from_the_content(kind: Kind, name: str, data: bytes) -> None:
    expected = "trec" if (kind, name) == ("qrels", "msmarco") else name  # they are the same
    assert detect_format(data, kind).name == expected
    assert detect_format(b"\xef\xbb\xbf" + data, kind).name == expected
    assert detect_format(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), kind).name == expected


@pytest.mark.parametrize(("kind", "name", "data"), FILES)
def test_the_kind_is_detected_from_the_content_or_must_be_given(kind: Kind, name: str, data: bytes) -> None:
    if name == "json" or (kind, name) == ("run", "tsv"):  # three columns without names may be either
        with pytest.raises(UsageError, match="judgments or a run"):
            detect_kind(data)
    else:
        assert detect_kind(data) == kind


@pytest.mark.parametrize(
    "data",
    [
        b"q1,d1,2\nq1,d2,0\nq2,d3,1\n",
        b"q1,0,d1,2\nq1,0,d2,0\nq2,0,d3,1",
        b'"query_id";"doc_id";"rel"\n"q1";d1;2\nq1;"d2";0\n\nq2;d3;1\n',
        b"rel,doc,title,query\n2,d1,x,q1\n0,d2,y,q1\n1,d3,z,q2\n",
        b'[{"query_id": "q1", "doc_id": "d1", "relevance": 2}, {"query_id": "q1", "doc_id": "d2", "relevance": 0},\n'
        b' {"query_id": "q2", "doc_id": "d3", "relevance": 1}]',
        b'{"q1": [["d1", 2], ["d2", 0]], "q2": ["d3"]}',
        b'{"q1": [{"doc_id": "d1", "grade": 2}, {"doc_id": "d2", "grade": 0}], "q2": {"d3": 1}}',
        b"query_id,doc_id,relevance,score\nq1,d1,2,9.5\nq1,d2,0,9\nq2,d3,1,8\n",
    ],
)
def test_variants_are_read_too(tmp_path: Path, data: bytes) -> None:
    assert grades_of(read_qrels(written(tmp_path, data))) == GRADES


def test_beir_may_lack_its_header_if_the_format_is_given(tmp_path: Path) -> None:
    path = written(tmp_path, QRELS["beir"].split(b"\n", 1)[1])
    assert grades_of(read_qrels(path, format="beir")) == GRADES
    with pytest.raises(InputError, match=r"--set reading\.qrels_format=beir"):
        read_qrels(path)


def test_a_grade_may_have_a_fraction_outside_trec_files(tmp_path: Path) -> None:
    assert grades_of(read_qrels(written(tmp_path, b"qid,pid,rel\nq,a,0.5\n"))) == {"q": {"a": 0.5}}
    with pytest.raises(InputError, match="a whole number"):
        read_qrels(written(tmp_path, b"q 0 a 0.5\n"))


def test_whole_numbers_are_ids_by_their_digits(tmp_path: Path) -> None:
    assert scores_of(read_run(written(tmp_path, b'{"qid": 1, "pid": 23, "score": 0.5}'))) == {"1": {"23": 0.5}}


def test_ids_keep_their_bytes(tmp_path: Path) -> None:
    for data in (
        b"qid,docno,score\ncaf\xe9,a\xc2\xa0b,1\n",
        b'qid,docno,score\n"caf\xe9",a\xc2\xa0b,1\n',
        b'{"caf\xe9": {"a\xc2\xa0b": 1}}',
        b'{"qid": "caf\xe9", "docno": "a\\u00a0b", "score": 1}',
    ):
        with pytest.warns(match=r"found document 'a\\xa0b'"):
            run = read_run(written(tmp_path, data))
        assert (list(run.queries), list(run.docs)) == ([b"caf\xe9"], [b"a\xc2\xa0b"])


def test_a_quoted_cell_may_hold_anything(tmp_path: Path) -> None:
    data = 'qid,docno,score\n"q ""1""","a,b\nc\u2028d",1\nq2,x,0.5\n'.encode()
    with pytest.warns(match="ids of visible characters"):
        run = read_run(written(tmp_path, data))
    assert list(run.queries) == [b'q "1"', b"q2"]
    assert list(run.docs) == ["a,b\nc\u2028d".encode(), b"x"]
    bad = written(tmp_path, data + b"q2,y,nan\n")
    with pytest.raises(InputError, match=r"file:5: expected a number as score, found 'nan'"):
        read_run(bad)


def test_a_query_with_nothing_stays_in_json(tmp_path: Path) -> None:
    assert grades_of(read_qrels(written(tmp_path, b'{"q": {}, "p": {"a": 1}}'))) == {"p": {"a": 1}, "q": {}}
    run = read_run(written(tmp_path, b'{"q": [], "p": {"a": 1}}'))
    assert list(run.queries) == [b"p", b"q"]


def test_columns_may_be_named_by_the_caller(tmp_path: Path) -> None:
    path = written(tmp_path, b"nr,stueck,sterne\nq1,d1,2\nq1,d2,0\nq2,d3,1\n")
    columns = {"query": "nr", "doc": "stueck", "grade": "sterne"}
    assert grades_of(read_qrels(path, format="csv", columns=columns)) == GRADES
    with pytest.raises(UsageError, match="unknown column role 'querry'"):
        read_qrels(path, format="csv", columns={"querry": "nr"})
    with pytest.raises(InputError, match="expected a column 'sternn' for the grade"):
        read_qrels(path, format="csv", columns=columns | {"grade": "sternn"})
    with pytest.raises(UsageError, match="whose columns have no names"):
        read_qrels(written(tmp_path, QRELS["trec"]), columns=columns)


def test_an_unknown_format_offers_the_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, RUNS["trec"])
    with pytest.raises(UsageError, match="unknown format 'trek'") as error:
        read_run(path, format="trek")
    assert error.value.hint == "did you mean trec?"
    with pytest.raises(UsageError, match="format beir has no runs"):
        read_run(path, format="beir")


def test_evaluating_takes_any_format(tmp_path: Path) -> None:
    expected = evaluate(GRADES, SCORES, "all_trec").over_queries
    for name in RUNS:
        qrels, run = written(tmp_path, QRELS["beir"], "q"), written(tmp_path, RUNS[name], "r")
        assert evaluate(qrels, read_run(run), "all_trec").over_queries == expected


def test_odd_input_is_read_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(RankgaugeWarning, match="without leading or trailing spaces"):
        read_run(written(tmp_path, b"qid,docno,score\nq, a, 1\n"))
    with pytest.warns(RankgaugeWarning, match="finite score, found inf for document 'a' of query 'q'"):
        read_run(written(tmp_path, b'{"q": {"a": 1e999}}'))
    with pytest.warns(RankgaugeWarning, match="byte order mark"):
        read_run(written(tmp_path, b"\xef\xbb\xbf" + RUNS["csv"]))


def test_every_format_says_what_it_is() -> None:
    for format in FORMATS:
        assert format.summary
        assert format.columns


@pytest.mark.parametrize("name", [format.name for format in FORMATS if format.has_tag_column])
def test_the_tags_of_a_table_with_named_columns_separate_its_runs(tmp_path: Path, name: str) -> None:
    rows = b"query_id,doc_id,score,tag\nq1,d1,2,a\nq1,d2,1,b\n"
    source = written(tmp_path, rows, "runs.csv")
    convert(source, tmp_path / "runs", to_format=name)
    evaluation = evaluate_runs({"q1": {"d1": 1}}, [tmp_path / "runs"], ["Success@1"])
    assert [(scores.run, scores["Success@1"]) for scores in evaluation.scores] == [("a", 1.0), ("b", 0.0)]
