"""From any format to any other: nothing is lost that the target can hold, and nothing is half-written."""

from __future__ import annotations

import gzip
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, Run, UsageError, convert, read_qrels, read_run
from rankgauge.io import conversion
from rankgauge.io.formats import text_blocks
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.registry import BY_NAME, FORMATS, Format
from tests.io.examples import GRADES, QRELS, RUNS, SCORES

Command = Callable[..., Any]
# formats/test_subtopics.py has judgments by subtopic.
WRITTEN = [format for format in FORMATS if format.write is not None and format.judgments == "grades"]
PAIRS = list(itertools.product(WRITTEN, WRITTEN))
TREC_RUN = b"q1 Q0 a 7 2.5 bm25\nq1 Q0 b 3 1.25 bm25\nq2 Q0 a 1 -1e-07 other\n"


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of small files need not reach the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def plain_qrels(qrels: Qrels) -> dict[tuple[bytes, bytes], float]:
    queries = list(qrels.queries)
    return {(queries[int(qrels.query[row])], doc): float(qrels.grades[row]) for row, doc in enumerate(qrels.docs)} | {
        (query, b""): 0.0 for at, query in enumerate(queries) if qrels.offsets[at] == qrels.offsets[at + 1]
    }


def plain_run(run: Run, *, ranks: bool = False) -> dict[tuple[bytes, bytes], float]:
    run = run.ranked()
    queries = list(run.queries)
    place = [row - int(run.offsets[number]) for row, number in enumerate(run.query.tolist())]
    return {
        (queries[int(run.query[row])], doc): float(place[row] if ranks else run.scores[row])
        for row, doc in enumerate(run.docs)
    }


# White space separates columns in some formats, and in those alone an id cannot have it.
WORDS = st.text(st.characters(exclude_characters="\0\ud800", exclude_categories=["Cs"]), min_size=1, max_size=6).map(
    lambda text: text.encode()
)
BYTES = st.binary(min_size=1, max_size=4).filter(lambda value: b"\0" not in value)
IDS = st.one_of(
    st.sampled_from([b"1", b"d1", b"a b", b'"x"', b"=1+1", b"x,y", b"\xe9", b"a\nb", b"\r", b"all"]), WORDS, BYTES
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DATA = st.dictionaries(st.tuples(IDS, IDS), NUMBERS, min_size=1, max_size=8)
GRADED = st.dictionaries(
    st.tuples(IDS, IDS),
    st.one_of(st.integers(-127, 127).map(float), st.sampled_from([0.5, -0.25])),
    min_size=1,
    max_size=8,
)


def text_of(values: dict[tuple[bytes, bytes], float], kind: Kind) -> bytes:
    """The data as JSON Lines by another writer than ours."""
    import json

    what = "score" if kind == "run" else "relevance"
    lines = [
        json.dumps({"query_id": _text(query), "doc_id": _text(doc), what: value}, ensure_ascii=False)
        for (query, doc), value in values.items()
    ]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def there_and_back(folder: Path, kind: Kind, data: bytes, one: Format, other: Format) -> Path | None:
    """The file behind two conversions; None where a format cannot hold the data, which must be an InputError."""
    (folder / "start").write_bytes(data)
    try:
        convert(folder / "start", folder / "one", kind=kind, from_format="jsonl", to_format=one.name)
        convert(folder / "one", folder / "other", kind=kind, from_format=one.name, to_format=other.name)
    except InputError as error:
        refused = any(text in str(error) for text in ("white space", "not a whole number", "detected as another kind"))
        if not refused or not {"trec", "msmarco", "beir", "quepid", "rank_eval"} & {one.name, other.name}:
            raise
        return None
    return folder / "other"


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda pair: pair.name)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=DATA)
def test_a_run_survives_every_pair_of_formats(
    tmp_path_factory: pytest.TempPathFactory, one: Format, other: Format, values: dict[tuple[bytes, bytes], float]
) -> None:
    if not (one.supports("run") and other.supports("run")):
        return
    folder = tmp_path_factory.mktemp("x")
    path = there_and_back(folder, "run", text_of(values, "run"), one, other)
    if path is not None:
        # A log has the results in their order; scores that do not give it are lost in formats that need them.
        ranks = "msmarco" in (one.name, other.name) or "log" in (one.name, other.name)
        expected = plain_run(read_run(folder / "start", format="jsonl"), ranks=ranks)
        assert plain_run(read_run(path, format=other.name), ranks=ranks) == expected


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda pair: pair.name)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=GRADED)
def test_judgments_survive_every_pair_of_formats(
    tmp_path_factory: pytest.TempPathFactory, one: Format, other: Format, values: dict[tuple[bytes, bytes], float]
) -> None:
    folder = tmp_path_factory.mktemp("x")
    path = there_and_back(folder, "qrels", text_of(values, "qrels"), one, other)
    if path is not None:
        assert plain_qrels(read_qrels(path, format=other.name)) == values


@pytest.mark.parametrize("name", [format.name for format in WRITTEN if format.supports("qrels")])
def test_what_is_written_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").write_bytes(QRELS["csv"])
    convert(tmp_path / "in", tmp_path / "out", to_format=name)
    assert plain_qrels(read_qrels(tmp_path / "out")) == plain_qrels(Qrels.from_dict(GRADES))
    if BY_NAME[name].supports("run"):
        (tmp_path / "in").write_bytes(RUNS["jsonl"])
        convert(tmp_path / "in", tmp_path / "out", to_format=name)
        assert plain_run(read_run(tmp_path / "out"), ranks=True) == plain_run(Run.from_dict(SCORES), ranks=True)


@pytest.mark.parametrize("name", ["parquet", "arrow", "jsonl", "csv", "tsv", "trec"])
def test_iter_rank_and_tag_are_kept_if_the_format_has_them(tmp_path: Path, name: str) -> None:
    data = TREC_RUN.replace(b"Q0", b"7")
    (tmp_path / "in").write_bytes(data)
    done = convert(tmp_path / "in", tmp_path / "middle", to_format=name)
    assert (done.kind, done.source, done.target, done.rows, done.lost) == ("run", "trec", name, 3, ())
    convert(tmp_path / "middle", tmp_path / "out.trec", kind="run")
    assert (tmp_path / "out.trec").read_bytes() == data


def test_parts_that_the_format_cannot_hold_are_reported(tmp_path: Path, command: Command) -> None:
    (tmp_path / "in").write_bytes(TREC_RUN)
    outcome = command("convert", tmp_path / "in", tmp_path / "out.json")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == (
        "warning: json cannot hold: rank [lost]\nwarning: json cannot hold: tag [lost]\n"
        "wrote 3 results from trec to json\n"
    )
    assert "score (ranks keep the order)" in command("convert", tmp_path / "in", tmp_path / "o", "--to", "msmarco").err
    log = b'{"id": "q", "retrieved_ids": ["a"], "relevant_ids": ["a"], "category": "x"}\n'
    (tmp_path / "log").write_bytes(log + b'{"id": "p", "retrieved_ids": [], "relevant_ids": []}\n')
    outcome = command("convert", tmp_path / "log", tmp_path / "q.trec", "--kind", "qrels")
    assert "cannot hold: 1 query without any row" in outcome.err
    assert "cannot hold: column category" in outcome.err
    assert (tmp_path / "q.trec").read_bytes() == b"q 0 a 1\n"


def test_a_run_without_ranks_and_tag_gets_them(tmp_path: Path) -> None:
    (tmp_path / "my run.json").write_bytes(b'{"q": {"a": 1, "b": 3, "c": 3}}')
    convert(tmp_path / "my run.json", tmp_path / "out.trec", kind="run")
    assert (
        tmp_path / "out.trec"
    ).read_bytes() == b"q Q0 c 1 3 my_run.json\nq Q0 b 2 3 my_run.json\nq Q0 a 3 1 my_run.json\n"


def test_subtopics_are_kept_if_the_format_has_them(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"q 1 a 1\nq 2 a 2\n")
    convert(tmp_path / "in", tmp_path / "out.csv")
    assert len(read_qrels(tmp_path / "out.csv", by_subtopic=True)) == 2
    with pytest.raises(InputError, match="judged again"):
        convert(tmp_path / "in", tmp_path / "out.json")


@pytest.mark.parametrize(
    ("data", "target", "said"),
    [
        (b'{"q": {"my doc": 1}}', "out.trec", "document id 'my doc' contains white space"),
        (b'{"my q": {"a": 1}}', "out.trec", "query id 'my q' contains white space"),
        (b'{"q": {"a": 0.5}}', "out.trec", "grade 0.5 of document 'a' for query 'q' is not a whole number"),
        (b'{"BZh": {"a": 1}}', "out.trec", "would be detected as another kind of file"),
    ],
)
def test_what_cannot_be_written_names_the_id(
    tmp_path: Path, command: Command, data: bytes, target: str, said: str
) -> None:
    (tmp_path / "in").write_bytes(data)
    (tmp_path / target).write_bytes(b"before")
    outcome = command("convert", tmp_path / "in", tmp_path / target, "--kind", "qrels")
    assert outcome.code == 2
    assert said in outcome.err
    assert (tmp_path / target).read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("name", "said"), [("nowhere", "cannot read: No such file"), (".", "expected judgments or a run")]
)
def test_an_input_that_cannot_be_read_says_why(command: Command, tmp_path: Path, name: str, said: str) -> None:
    outcome = command("convert", tmp_path / name, tmp_path / "out.csv")
    assert outcome.code in (2, 64)
    assert said in outcome.err
    assert not list(tmp_path.iterdir())


def test_infinity_has_no_json(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"q Q0 a 1 inf x\n")
    for target in ("out.json", "out.jsonl"):
        with pytest.raises(InputError, match="is infinite"), pytest.warns(match="finite score"):
            convert(tmp_path / "in", tmp_path / target)


def test_formulas_are_escaped_on_request(tmp_path: Path, command: Command) -> None:
    (tmp_path / "in").write_bytes(b"=cmd() Q0 @a 1 2 +x\n")
    convert(tmp_path / "in", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"query_id,doc_id,rank,tag,score\n=cmd(),@a,1,+x,2\n"
    assert command("convert", tmp_path / "in", tmp_path / "out.csv", "--escape-formulas").code == 0
    assert (tmp_path / "out.csv").read_bytes() == b"query_id,doc_id,rank,tag,score\n'=cmd(),'@a,1,'+x,2\n"
    outcome = command("convert", tmp_path / "in", tmp_path / "out.json", "--escape-formulas")
    assert outcome.code == 64


def test_a_name_that_ends_in_gz_is_packed(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(TREC_RUN)
    convert(tmp_path / "in", tmp_path / "out.trec.gz")
    assert gzip.decompress((tmp_path / "out.trec.gz").read_bytes()) == TREC_RUN
    with pytest.raises(UsageError, match="only gzip is written"):
        convert(tmp_path / "in", tmp_path / "out.trec.xz", to_format="trec")


def test_standard_input_and_output(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").write_bytes(TREC_RUN)
    assert command("convert", tmp_path / "in", "-", "--to", "trec").out.encode() == TREC_RUN
    with (tmp_path / "in").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert command("convert", "-", "-", "--to", "trec", "--kind", "run").out.encode() == TREC_RUN
    assert command("convert", "-", "-", "--to", "trec").code == 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "jsn"], "unknown format 'jsn'"),
        (["--from", "beir", "--kind", "run", "--to", "csv"], "format beir has no runs"),
        (["--kind", "qrels", "--to", "judgments"], "can be read but not written"),
        (["--column", "query", "--to", "csv"], "--column takes ROLE=NAME"),
        (["--kind", "corpus"], "Invalid value for '--kind'"),
        ([], "has no known suffix"),
    ],
)
def test_wrong_calls_exit_64(command: Command, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "in").write_bytes(TREC_RUN)
    outcome = command("convert", tmp_path / "in", tmp_path / "out", *arguments)
    assert (outcome.code, outcome.out) == (64, "")
    assert said in outcome.err
    assert not (tmp_path / "out").exists()


def test_columns_are_named_on_the_command_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"nr,stueck,punkte\nq,a,2\n")
    named = [f"--column={pair}" for pair in ("query=nr", "doc=stueck", "score=punkte")]
    outcome = command("convert", tmp_path / "in.csv", tmp_path / "out.jsonl", "--kind", "run", "--from", "csv", *named)
    assert outcome.code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b'{"query_id": "q", "doc_id": "a", "score": 2}\n'


def test_the_input_is_never_overwritten(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "in.trec"
    source.write_bytes(TREC_RUN)
    (tmp_path / "link.trec").symlink_to(source)
    os.link(source, tmp_path / "hard.trec")
    (tmp_path / "folder").mkdir()
    for target in (
        source, tmp_path / "link.trec", tmp_path / "hard.trec", tmp_path / "folder" / ".." / "in.trec",
        os.path.relpath(source),
    ):  # fmt: skip
        outcome = command("convert", source, target)
        assert outcome.code == 2
        assert "would overwrite the input" in outcome.err
        assert source.read_bytes() == TREC_RUN
    assert command("convert", tmp_path / "link.trec", source).code == 2


PARTS_TEXT = "".join(
    f"q{query} {'Q0' if query % 2 else 'x'} d{doc} {doc} {9 - doc / 7:.4f} tag\n"
    for query in range(12)
    for doc in range(1, 2 + query % 5)
)


@pytest.mark.parametrize("block", [64, 1 << 22])
@pytest.mark.parametrize("source", ["trec", "csv", "json", "jsonl", "msmarco", "scattered"])
@pytest.mark.parametrize("target", ["trec", "csv", "tsv", "json", "jsonl", "msmarco"])
def test_a_run_that_is_written_in_parts_is_that_which_is_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str, block: int
) -> None:
    path, text = tmp_path / "given", PARTS_TEXT
    if source == "scattered":
        text = "".join(sorted(text.splitlines(keepends=True), key=lambda line: line.split()[2]))
    path.write_text(text)
    if source not in ("trec", "scattered"):
        convert(path, tmp_path / "other", to_format=source)
        path = tmp_path / "other"
    if source == "json":
        path.write_text(path.read_text().replace("{\n", '{\n"empty": {},\n', 1))
    found = []
    for in_parts in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(text_blocks, "BLOCK_BYTES", block)
            if not in_parts:
                patch.setattr(conversion, "can_read_again", lambda source: False)
            done = convert(path, tmp_path / "out", kind="run", to_format=target)
        found.append((done, (tmp_path / "out").read_bytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("strange", [False, True])
@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_a_binary_run_that_is_written_in_parts_has_the_rows_of_one_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, strange: bool
) -> None:
    """An id that is not UTF-8 makes its column one of bytes, so that it has to be known before the first part."""
    path = tmp_path / "given.trec"
    path.write_bytes(PARTS_TEXT.encode() + (b"last Q0 \xe9 1 0.5 tag\n" if strange else b""))
    tables, parts = [], []
    for in_parts in (True, False):
        with monkeypatch.context() as patch:
            patch.setattr(text_blocks, "BLOCK_BYTES", 64)
            if not in_parts:
                patch.setattr(conversion, "can_read_again", lambda source: False)
            done = convert(path, tmp_path / "out", kind="run", to_format=target)
        if target == "parquet":
            file = pq.ParquetFile(tmp_path / "out")
            tables.append((done, file.read()))
            parts.append(file.num_row_groups)
        else:
            reader = pyarrow.ipc.open_file(tmp_path / "out")
            tables.append((done, reader.read_all()))
            parts.append(reader.num_record_batches)
    assert tables[0] == tables[1]
    assert (parts[0] > 1, parts[1]) == (not strange, 1)
