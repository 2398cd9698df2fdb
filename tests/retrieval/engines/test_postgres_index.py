"""Loading a corpus into a real PostgreSQL, again and again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge.config.servers import PostgresSection
from rankgauge.errors import InputError, RankgaugeWarning, UsageError
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument, InMemoryCorpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.retrieval import named_code
from rankgauge.retrieval.engines.postgres import PostgresEngine
from rankgauge.retrieval.engines.postgres_index import IndexResult, index_corpus
from rankgauge.retrieval.engines.vector import to_unit
from tests.postgres_server import PostgresServer
from tests.retrieval.corpora import KITCHEN
from tests.retrieval.engines import small_vectors

TEXTS = {f"d{number}": f"text number{number} of the corpus" for number in range(25)}


class Database:
    def __init__(self, server: PostgresServer) -> None:
        self.server, self.dsn = server, server.new_database()

    def section(self, **keys: Any) -> PostgresSection:
        return PostgresSection(**{"dsn": self.dsn, "table": "documents", "embedder": small_vectors.NAME, **keys})

    def load(self, texts: dict[str, str] | Corpus, *, rebuild: bool = False, **keys: Any) -> IndexResult:
        corpus = InMemoryCorpus(texts) if isinstance(texts, dict) else texts
        return index_corpus(corpus, self.section(**keys), rebuild=rebuild, batch_size=10)

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.server.rows(self.dsn, statement, *parameters)

    def texts(self) -> dict[str, str]:
        return dict(self.rows("SELECT id, text FROM documents"))


@pytest.fixture(scope="module")
def shared_database(postgres_server: PostgresServer) -> Database:
    return Database(postgres_server)


@pytest.fixture
def database(shared_database: Database) -> Database:
    """A database without the table."""
    small_vectors.embedded.clear()
    shared_database.rows("DROP TABLE IF EXISTS documents")
    return shared_database


class UnreadCorpus(InMemoryCorpus):
    """A corpus that has a hash but must not be read."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        raise AssertionError("the corpus was read")


def changes(result: IndexResult) -> tuple[int, int, int, int]:
    return result.documents, result.added, result.updated, result.deleted


def test_a_second_load_of_the_same_corpus_does_nothing(database: Database) -> None:
    assert changes(database.load(TEXTS)) == (25, 25, 0, 0)
    before = database.rows(
        "SELECT id, text, text_sha256, words, embedding::text, xmin, ctid FROM documents ORDER BY id"
    )
    small_vectors.embedded.clear()
    result = database.load(UnreadCorpus(TEXTS))
    assert result.is_unchanged
    assert changes(result) == (25, 0, 0, 0)
    after = database.rows("SELECT id, text, text_sha256, words, embedding::text, xmin, ctid FROM documents ORDER BY id")
    assert before == after
    assert set(small_vectors.embedded) <= {"text"}  # by which the number of dimensions is found


def test_the_same_documents_in_another_file_change_nothing(database: Database, tmp_path: Path) -> None:
    database.load(TEXTS)
    (tmp_path / "c.tsv").write_text("id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in TEXTS.items()))
    small_vectors.embedded.clear()
    result = database.load(read_corpus(tmp_path / "c.tsv"))
    assert result.is_unchanged
    assert set(small_vectors.embedded) <= {"text"}
    assert PostgresEngine(database.section()).identity()["content"] == read_corpus(tmp_path / "c.tsv").sha256


def test_only_what_changed_is_embedded_and_written(database: Database) -> None:
    database.load(TEXTS)
    changed = {**TEXTS, "d3": "a new text", "d30": "one more"}
    del changed["d7"], changed["d8"]
    small_vectors.embedded.clear()
    assert changes(database.load(changed)) == (24, 1, 1, 2)
    assert set(small_vectors.embedded) - {"text"} == {"a new text", "one more"}
    assert database.texts() == changed
    engine = PostgresEngine(database.section(kind="hybrid-hnsw"))
    assert engine.search("new", 1)[0][0] == "d3"
    assert not engine.search("number7", 5) or "d7" not in dict(engine.search("number7", 5))
    engine.close()


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.text(max_size=8), min_size=1), min_size=1, max_size=4))
def test_after_any_sequence_of_loads_the_table_holds_the_last_corpus(
    database: Database, corpora: list[dict[str, str]]
) -> None:
    for texts in corpora:
        database.load(texts)
        assert database.texts() == {name: text.replace("\0", " ") for name, text in texts.items()}


def test_the_vectors_are_those_of_the_embedder_and_a_text_without_words_has_none(database: Database) -> None:
    database.load(KITCHEN)
    vectors = dict(database.rows("SELECT id, embedding::text FROM documents"))
    assert vectors.pop("blank") is None
    for document in KITCHEN:
        if document.id != b"blank":
            (expected,) = to_unit(small_vectors.embed([document.full_text], "query"))
            stored = np.array(json.loads(vectors[document.id.decode()]), dtype=np.float32)
            assert stored.tolist() == expected.tolist()


def test_an_interrupted_load_goes_on_where_it_stopped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_vectors, "stop_at", TEXTS["d15"])
    with pytest.raises(small_vectors.Interrupted):
        database.load(TEXTS)
    assert len(database.texts()) == 10  # one batch
    with pytest.raises(UsageError, match="incomplete: loading it was interrupted"):
        PostgresEngine(database.section())
    monkeypatch.undo()
    small_vectors.embedded.clear()
    assert changes(database.load(TEXTS)) == (25, 15, 0, 0)
    assert max(small_vectors.embedded.values()) == 1
    assert sum(small_vectors.embedded.values()) <= 16
    assert database.texts() == TEXTS
    methods = database.rows("SELECT indexdef FROM pg_indexes WHERE tablename = 'documents' ORDER BY 1")
    assert [text.split("USING ")[1].split(" ")[0] for (text,) in methods] == ["hnsw", "gin", "btree"]


@pytest.mark.parametrize("comment", [None, "my table", '{"schema": "other"}', "[1]"])
def test_a_table_that_was_not_created_here_is_not_changed(database: Database, comment: str | None) -> None:
    database.rows("CREATE TABLE documents (id text, text text)")
    database.rows("INSERT INTO documents VALUES ('mine', 'precious')")
    if comment is not None:
        database.rows(f"COMMENT ON TABLE documents IS '{comment}'")
    for rebuild in (False, True):
        with pytest.raises(UsageError, match="was not created by rankgauge index"):
            database.load(TEXTS, rebuild=rebuild)
    assert database.texts() == {"mine": "precious"}
    assert database.rows("SELECT count(*) FROM information_schema.columns WHERE table_name = 'documents'") == [(2,)]


@pytest.mark.parametrize("version", [0, 2])
def test_a_table_of_another_version_is_neither_changed_nor_searched(database: Database, version: int) -> None:
    database.load(TEXTS)
    database.rows(f"""COMMENT ON TABLE documents IS '{{"schema": "rankgauge.index/{version}"}}'""")
    message = f"table documents: an index of version {version}, but this rankgauge reads version 1: drop the table"
    for rebuild in (False, True):
        with pytest.raises(InputError, match=message):
            database.load({"d1": "another text"}, rebuild=rebuild)
    with pytest.raises(InputError, match=message):
        PostgresEngine(database.section()).search("text", 3)
    assert database.texts() == TEXTS


@pytest.mark.parametrize(
    "comment", ['{"schema": "rankgauge.index/1"}', '{"schema": "rankgauge.index/1", "language": 5}']
)
def test_a_table_with_a_damaged_record_is_neither_changed_nor_searched(database: Database, comment: str) -> None:
    database.load(TEXTS)
    database.rows(f"COMMENT ON TABLE documents IS '{comment}'")
    message = "table documents: its comment is not a complete record of rankgauge index: expected a .* as language"
    for rebuild in (False, True):
        with pytest.raises(InputError, match=message):
            database.load({"d1": "another text"}, rebuild=rebuild)
    with pytest.raises(InputError, match=message):
        PostgresEngine(database.section()).search("text", 3)
    assert database.texts() == TEXTS


def test_another_language_or_embedder_needs_a_rebuild(database: Database) -> None:
    database.load(TEXTS)
    with pytest.raises(UsageError, match="indexed with another language: 'english', now 'simple'"):
        database.load(TEXTS, language="simple")
    with pytest.raises(UsageError, match=r"indexed with another embedder: 'tests\.\S+' \(sha256 \w{12}\), now none"):
        database.load(TEXTS, embedder=None)
    assert changes(database.load(TEXTS, language="simple", rebuild=True)) == (25, 25, 0, 0)
    assert PostgresEngine(database.section(language="simple")).search("the", 3)  # no stop word in this language


def test_vectors_of_an_embedder_that_cannot_be_hashed_are_not_used_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_code, "_module_sha256", lambda module: None)
    assert changes(database.load(TEXTS)) == (25, 25, 0, 0)
    with pytest.raises(UsageError, match=r"cannot be used again: embedder tests\.\S+ cannot be hashed"):
        database.load(TEXTS)
    assert changes(database.load(TEXTS, rebuild=True)) == (25, 25, 0, 0)
    with pytest.warns(RankgaugeWarning, match=r"may be those of an older model: embedder tests\.\S+ cannot be hashed"):
        PostgresEngine(database.section(kind="vector"))


def test_without_an_embedder_there_are_no_vectors(database: Database) -> None:
    database.load(TEXTS, embedder=None)
    columns = database.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'documents'")
    assert {name for (name,) in columns} == {"id", "text", "text_sha256", "words"}
    assert len(PostgresEngine(database.section()).search("corpus", 100)) == 25


def test_rows_deleted_by_someone_else_are_loaded_again(database: Database) -> None:
    database.load(TEXTS)
    database.rows("DELETE FROM documents WHERE id = 'd5'")
    assert changes(database.load(TEXTS)) == (25, 1, 0, 0)


def test_bad_documents_are_named_and_nothing_is_created(database: Database, tmp_path: Path) -> None:
    (tmp_path / "twice.jsonl").write_text('{"_id": "a", "text": "x"}\n' * 2)
    with pytest.raises(InputError, match=r"twice\.jsonl:2: expected each document id once, found 'a' again"):
        database.load(read_corpus(tmp_path / "twice.jsonl"))
    with pytest.raises(InputError, match=r"document id '\\xff' is not UTF-8"):
        database.load(InMemoryCorpus([CorpusDocument(b"\xff", "", "x")]))
    assert database.rows("SELECT to_regclass('documents')") == [(None,)]
    long_text = " ".join(f"word{number}" for number in range(150_000))
    with pytest.raises(InputError, match=r"document 'long': string is too long for tsvector"):
        database.load(InMemoryCorpus({"short": "a", "long": long_text}), embedder=None)
    assert database.texts() == {}


def test_a_vector_too_large_for_hnsw_is_stored_without_that_index(database: Database) -> None:
    database.load({"a": "red apple", "b": "green pear"}, embedder="hashed")
    assert PostgresEngine(database.section(embedder="hashed", kind="vector")).search("apple", 1)[0][0] == "a"
    with pytest.raises(UsageError, match="has no HNSW index"):
        PostgresEngine(database.section(embedder="hashed", kind="vector-hnsw"))


def test_one_table_is_loaded_by_one_process_at_a_time(database: Database) -> None:
    import psycopg

    with psycopg.connect(database.dsn) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtextextended('rankgauge index documents', 0))")
        with pytest.raises(UsageError, match="another process is loading table documents"):
            database.load(TEXTS)
    assert changes(database.load(TEXTS))[0] == 25


def test_the_command_says_what_changed(
    database: Database, tmp_path: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database.dsn.replace("postgres@", "postgres:s3cret@"))
    target, corpus = tmp_path / "postgres.yaml", tmp_path / "corpus.jsonl"
    section = {"dsn": "${DATABASE_URL}", "table": "documents", "embedder": small_vectors.NAME}
    target.write_text(json.dumps({"postgres": section}))
    corpus.write_text("".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in TEXTS.items()))
    done = command("index", corpus, "--to", target)
    code, added = done.err.splitlines()
    assert code.startswith("loading code")
    assert code.endswith(f"{small_vectors.NAME} (embedder)")
    assert (done.code, added) == (0, "table documents holds 25 documents: 25 added, 0 updated, 0 deleted")
    assert command("index", corpus, "--to", target).err.endswith("\ntable documents holds 25 documents, unchanged\n")
    done = command("index", corpus, "--to", target, "--rebuild", "--batch", 7)
    assert done.err.endswith("\ntable documents holds 25 documents: 25 added, 0 updated, 0 deleted\n")
    target.write_text("mode: lexical\n")
    done = command("index", corpus, "--to", target)
    assert (done.code, "expected the section postgres, found none" in done.err) == (64, True)
    target.write_text(json.dumps({"postgres": {**section, "tabel": "x"}}))
    done = command("index", corpus, "--to", target)
    assert (done.code, "did you mean 'table'?" in done.err) == (2, True)
    target.write_text(json.dumps({"postgres": {**section, "dsn": "${DATABASE_URL}&nonsense=1"}}))
    done = command("index", corpus, "--to", target)
    assert done.code == 64
    assert "s3cret" not in done.err
