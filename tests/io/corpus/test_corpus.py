from __future__ import annotations

import gzip
import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from rankgauge.errors import InputError, InputTypeError
from rankgauge.io.byte_streams import Limits
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, InMemoryCorpus, unique_ids
from rankgauge.io.corpus.corpus_files import open_collection, read_corpus
from rankgauge.io.formats import arrow

ROWS = [("d1", "First", "one\ntwo"), ("d2", "", 'a "quoted", text'), ("d3", "Zürich", "東京")]


def rows(documents: Corpus) -> list[tuple[str, str, str]]:
    return [(document.id.decode(), document.title, document.text) for document in documents]


def jsonl(names: tuple[str, str, str] = ("_id", "title", "text")) -> bytes:
    lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in ROWS]
    return ("\n".join(lines) + "\n").encode()


def quoted(mark: str) -> bytes:
    out = mark.join(["doc_id", "title", "text"]) + "\n"
    for row in ROWS:
        out += mark.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n"
    return out.encode()


def columnar(path: Path, form: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    columns = dict(zip(("doc_id", "title", "text"), (list(column) for column in zip(*ROWS, strict=True)), strict=True))
    table = pyarrow.table({**columns, "more": [1] * len(ROWS)})
    if form == "parquet":
        files.write_table(table, path, row_group_size=1)
        return
    kind = pyarrow.ipc.new_file if form == "arrow" else pyarrow.ipc.new_stream
    with kind(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=1)


@pytest.mark.parametrize(
    "form", ["jsonl", "jsonl.gz", "other names", "csv", "tsv", "parquet", "arrow", "arrow stream", "bom", "json array"]
)
def test_a_corpus_is_read_from_any_format(form: str, tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    match form:
        case "jsonl":
            path.write_bytes(jsonl())
        case "bom":
            path.write_bytes(b"\xef\xbb\xbf" + jsonl())
        case "json array":
            path.write_bytes(b"[" + b",\n".join(jsonl().splitlines()) + b"]")
        case "jsonl.gz":
            path.write_bytes(gzip.compress(jsonl()))
        case "other names":
            path.write_bytes(jsonl(("docno", "headline", "contents")))
        case "csv" | "tsv":
            path.write_bytes(quoted("," if form == "csv" else "\t"))
        case _:
            columnar(path, form)
    documents = read_corpus(path)
    assert rows(documents) == ROWS
    assert rows(documents) == ROWS  # again, from the start
    assert documents.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_large_corpus_in_columns_is_read_a_batch_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    monkeypatch.setattr(arrow, "BATCH_ROWS", 10)
    table = pyarrow.table({"doc_id": [f"d{number}" for number in range(95)], "text": ["words"] * 95})
    files.write_table(table, tmp_path / "c.parquet")
    found = read_corpus(tmp_path / "c.parquet")
    assert [document.id for document in found] == [f"d{number}".encode() for number in range(95)]
    assert [document.line for document in found] == list(range(1, 96))


def test_compressed_or_damaged_columns_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    columnar(path, "parquet")
    data = path.read_bytes()
    path.write_bytes(gzip.compress(data))
    with pytest.raises(InputError, match="a compressed Parquet"):
        read_corpus(path)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(read_corpus(path))


def test_two_columns_without_a_header_are_id_and_text(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("d1\tone\nd2\ttwo words\n")
    assert rows(read_corpus(tmp_path / "c.tsv")) == [("d1", "", "one"), ("d2", "", "two words")]


def test_trec_sgml_is_read_document_by_document(tmp_path: Path) -> None:
    (tmp_path / "disk").write_bytes(
        b"<DOC>\n<DOCNO> FT911-1 </DOCNO>\n<HEADLINE>Caf\xe9 &amp; bar</HEADLINE>\n"
        b"<TEXT>\n<P>Some text</P>.\n</TEXT>\n</DOC>\n"
        b"<DOC><DOCNO>2</DOCNO>no body tag</DOC>"
    )
    assert rows(read_corpus(tmp_path / "disk")) == [
        ("FT911-1", "Café & bar", "Some text ."),
        ("2", "", "no body tag"),
    ]
    (tmp_path / "torn").write_bytes(b"<DOC><DOCNO>2</DOCNO>")
    with pytest.raises(InputError, match="expected </DOC>"):
        list(read_corpus(tmp_path / "torn"))


def test_a_folder_of_texts_is_a_corpus_named_by_paths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.md").write_text("intro\n\n# The title #\n\nbody")
    (tmp_path / "a.txt").write_text("# not a title here")
    (tmp_path / "ignored.pdf").write_bytes(b"%PDF")
    documents = read_corpus(tmp_path)
    assert rows(documents) == [("a.txt", "", "# not a title here"), ("sub/b.md", "The title", "intro\n\n\n\nbody")]
    before = documents.sha256
    (tmp_path / "a.txt").write_text("changed")
    assert read_corpus(tmp_path).sha256 != before


def test_a_beir_folder_is_a_whole_collection(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(jsonl())
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n')
    (tmp_path / "qrels").mkdir()
    for name in ("test", "dev"):
        (tmp_path / "qrels" / f"{name}.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    found = open_collection(tmp_path)
    assert rows(found.documents) == ROWS
    assert found.queries.texts == ["one"]
    assert found.qrels is not None
    assert len(found.qrels) == 1
    assert open_collection(tmp_path, split="dev").qrels is not None
    with pytest.raises(InputError, match="for the split train, found dev, test"):
        open_collection(tmp_path, split="train")
    with pytest.raises(InputError, match="expected a folder"):
        open_collection(tmp_path / "nowhere")


def test_documents_in_memory_have_a_hash_of_their_content() -> None:
    one, same = (
        InMemoryCorpus({"a": "x", "b": {"title": "t", "text": "y"}}),
        InMemoryCorpus({"a": "x", "b": {"title": "t", "text": "y"}}),
    )
    assert one.sha256 == same.sha256 != InMemoryCorpus({"a": "x", "b": "t y"}).sha256
    assert [document.full_text for document in one] == ["x", "t y"]
    assert read_corpus({"a": "x"}).source == "documents"
    with pytest.raises(InputTypeError, match="document 'a' must be a string"):
        InMemoryCorpus({"a": 3})
    with pytest.raises(InputTypeError, match="a corpus must be a path"):
        read_corpus(3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file is empty"),
        (b'{"_id": "a", "text": "x"}\n{"_id": \n', ":2: not JSON"),
        (b'{"_id": "a", "text": "x"}\n[1]\n', ":2: expected an object"),
        (b'{"_id": null, "text": "x"}\n', ":1: document id"),
        (b'{"name": "a"}\n', "expected a document id"),
        (b"one,two,three\n1,2,3\n", "expected a header with a document id"),
        (b"id,text\na,b,c\n", ":2: expected 2 columns, found 3"),
        (b'id,text\na,"b\n', "wrong quotation marks"),
        (b"\x00\x01\x02 binary", "neither text nor Parquet"),
        (b"<DOC>no number</DOC>", "expected <DOCNO>"),
    ],
)
def test_the_error_for_an_unreadable_corpus_says_where_and_why(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        list(read_corpus(tmp_path / "c"))
    assert str(tmp_path / "c") in str(error.value)


def test_standard_input_and_empty_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_corpus(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no files that end in"):
        read_corpus(tmp_path)


def test_an_id_that_appears_twice_is_reported_with_both_lines() -> None:
    with pytest.raises(InputError, match=r"c:3: expected each document id once, found 'a' again \(first on line 1\)"):
        unique_ids("c", [b"a", b"b", b"a"], [1, 2, 3])
    with pytest.raises(InputError, match="no documents"):
        unique_ids("c", [])


def test_a_long_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    text = "x" * 5000
    path.write_text("".join(json.dumps({"_id": f"d{n}", "text": f"{text}{n}"}) + "\n" for n in range(700)))
    found = list(read_corpus(path))
    assert len(found) == 700
    assert found[699] == CorpusDocument(b"d699", "", f"{text}699", 700)


def test_the_ids_of_a_corpus_are_read_without_its_texts_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(jsonl())
    assert list(read_corpus(path).ids) == [b"d1", b"d2", b"d3"]
    path.write_bytes(jsonl() + jsonl())
    with pytest.raises(InputError, match=r"c.jsonl:4: expected each document id once, found 'd1' again"):
        _ = read_corpus(path).ids


def test_limits_of_the_input_hold_for_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(jsonl())
    with pytest.raises(InputError, match="more than 10 bytes"):
        list(read_corpus(path, limits=Limits(max_bytes=10)))


def test_a_collection_of_ir_datasets_is_refused_as_a_corpus() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_corpus("irds:beir/scifact")


@pytest.mark.slow
@pytest.mark.parametrize("tag", ["<DOC>", "</DOC>", "<TITLE>", "<"])
def test_a_hostile_sgml_file_takes_no_longer_than_its_size(tag: str, tmp_path: Path) -> None:
    (tmp_path / "c").write_text("<DOC><DOCNO>1</DOCNO>" + tag * 200_000 + "</DOC>")
    started = time.perf_counter()
    with suppress(InputError):
        list(read_corpus(tmp_path / "c"))
    assert time.perf_counter() - started < 5  # a search for each closing tag would take minutes
