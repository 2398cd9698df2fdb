"""Searching a real PostgreSQL with pgvector, compared with what the test computes itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge.config.servers import PostgresSection
from rankgauge.errors import InputError, MissingExtraError, UsageError
from rankgauge.io.corpus.corpus import InMemoryCorpus
from rankgauge.io.read import read_run
from rankgauge.rag.live import evaluate_retriever
from rankgauge.retrieval.engines import postgres_client
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.postgres import PostgresEngine, search_statement
from rankgauge.retrieval.engines.postgres_client import PostgresError
from rankgauge.retrieval.engines.postgres_index import index_corpus
from rankgauge.retrieval.engines.vector import cosines, to_unit
from rankgauge.retrieval.retriever import QueryBatch
from tests.needs import ROOT
from tests.postgres_server import PostgresServer
from tests.retrieval.corpora import made_up, made_up_queries
from tests.retrieval.engines.small_vectors import NAME, embed

CORPUS = made_up(400)
QUERIES = list(dict.fromkeys(text for text in made_up_queries(CORPUS, 12).texts if text))
KINDS = ("lexical", "vector", "vector-hnsw", "hybrid", "hybrid-hnsw")
Answer = list[tuple[str, float]]


class Indexed:
    """A database with a corpus in it, and engines on it."""

    def __init__(self, server: PostgresServer) -> None:
        self.server, self.dsn = server, server.new_database()
        self.engines: dict[str, PostgresEngine] = {}
        index_corpus(CORPUS, self.section(kind="hybrid"))

    def section(self, **keys: Any) -> PostgresSection:
        return PostgresSection(**{"dsn": self.dsn, "table": "documents", "embedder": NAME, **keys})

    def engine(self, **keys: Any) -> PostgresEngine:
        name = json.dumps(keys, sort_keys=True)
        if name not in self.engines:
            self.engines[name] = PostgresEngine(self.section(**keys))
        return self.engines[name]

    def close(self) -> None:
        while self.engines:
            self.engines.popitem()[1].close()

    def rows(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self.server.rows(self.dsn, statement, *parameters)


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Indexed:
    return Indexed(postgres_server)


@pytest.fixture
def indexed(database: Indexed) -> Iterator[Indexed]:
    yield database
    database.close()


def best_first(answer: Answer) -> Answer:
    """By score as trec_eval compares it, then by the bytes of the id, both descending."""
    return sorted(answer, key=lambda result: (np.float32(result[1]), result[0].encode()), reverse=True)


@pytest.mark.parametrize(("match", "function"), [("all", "websearch_to_tsquery"), ("any", "plainto_tsquery")])
def test_lexical_search_returns_what_a_plain_query_returns(indexed: Indexed, match: str, function: str) -> None:
    engine = indexed.engine(kind="lexical", match=match)
    for query in QUERIES:
        parsed = indexed.rows(f"SELECT {function}('english', %s)::text", query)[0][0]
        parsed = parsed.replace("&", "|") if match == "any" else parsed
        expected = indexed.rows(
            "SELECT id, ts_rank_cd(to_tsvector('english', text), %s::tsquery) FROM documents "
            "WHERE to_tsvector('english', text) @@ %s::tsquery",
            parsed,
            parsed,
        )
        assert expected
        for k in (3, 1000):
            assert engine.search(query, k) == best_first(expected)[:k]


def test_a_search_for_any_word_finds_more_than_one_for_all_words(indexed: Indexed) -> None:
    query = f"{QUERIES[0].split()[0]} {QUERIES[1].split()[0]}"
    both = [len(indexed.engine(kind="lexical", match=match).search(query, 1000)) for match in ("all", "any")]
    assert both[0] < both[1]


def brute_force(query: str, distance: str) -> dict[str, float]:
    documents = list(CORPUS)
    vectors, (wanted,) = to_unit(embed([d.text for d in documents], "query")), to_unit(embed([query], "query"))
    similarity = cosines(wanted[None], vectors)[0]
    scores = -np.linalg.norm(vectors - wanted, axis=1) if distance == "l2" else similarity
    return {document.id.decode(): float(score) for document, score in zip(documents, scores, strict=True)}


@pytest.mark.parametrize("distance", ["cosine", "l2", "inner-product"])
def test_exact_vector_search_equals_comparing_all_vectors(indexed: Indexed, distance: str) -> None:
    engine = indexed.engine(kind="vector", distance=distance)
    for query in QUERIES:
        expected, answer = brute_force(query, distance), engine.search(query, 20)
        assert answer == best_first(answer)
        assert [score for _, score in answer] == pytest.approx([expected[name] for name, _ in answer], abs=2e-6)
        left_out = max(score for name, score in expected.items() if name not in dict(answer))
        assert len(answer) == 20
        assert left_out <= answer[-1][1] + 2e-6


def plan(indexed: Indexed, kind: str) -> str:
    import psycopg

    section = indexed.section(kind=kind)
    vector = postgres_client.VectorParameter(to_unit(embed([QUERIES[0]], "query"))[0])
    values = {"query": QUERIES[0], "vector": vector, "depth": 10, "k": 10, "rrf_k": 60}
    with postgres_client.connected(section) as connection:
        connection.execute("SET enable_seqscan = off")
        statement = psycopg.sql.SQL("EXPLAIN ") + search_statement(section, "vector")
        return "\n".join(row[0] for row in connection.execute(statement, values).fetchall())


def test_the_hnsw_index_is_used_where_it_is_named_and_nowhere_else(indexed: Indexed) -> None:
    assert "documents_embedding_idx" in plan(indexed, "vector-hnsw")
    assert "documents_embedding_idx" in plan(indexed, "hybrid-hnsw")
    assert "documents_embedding_idx" not in plan(indexed, "vector")
    assert "documents_embedding_idx" not in plan(indexed, "hybrid")
    assert "documents_words_idx" in plan(indexed, "hybrid")


def test_hnsw_finds_nearly_all_of_the_nearest_and_scores_them_exactly(indexed: Indexed) -> None:
    exact, index = indexed.engine(kind="vector"), indexed.engine(kind="vector-hnsw", ef_search=200)
    found = 0
    for query in QUERIES:
        answer = index.search(query, 10)
        assert answer == best_first(answer)
        scores = brute_force(query, "cosine")
        assert [score for _, score in answer] == pytest.approx([scores[name] for name, _ in answer], abs=2e-6)
        threshold = exact.search(query, 10)[-1][1]
        found += sum(score >= threshold for _, score in answer)
    assert found >= 0.95 * 10 * len(QUERIES)


def test_ef_search_limits_the_results_as_in_pgvector_and_its_default_does_not(indexed: Indexed) -> None:
    assert len(indexed.engine(kind="vector-hnsw", ef_search=15).search(QUERIES[0], 100)) <= 15
    assert len(indexed.engine(kind="vector-hnsw").search(QUERIES[0], 100)) == 100


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(QUERIES), st.integers(1, 60), st.sampled_from([1, 30]), st.sampled_from([0.5, 60.0]))
def test_hybrid_is_the_rank_fusion_of_both_lists(
    indexed: Indexed, query: str, k: int, candidates: int, rrf_k: float
) -> None:
    keys = {"candidates": candidates, "rrf_k": rrf_k, "match": "any"}
    engines = [indexed.engine(kind=kind, **keys) for kind in ("lexical", "vector", "hybrid")]
    depth = max(k, candidates)
    fused: dict[str, float] = {}
    for engine in engines[:2]:
        for rank, (name, _) in enumerate(engine.search(query, depth), 1):
            fused[name] = fused.get(name, 0.0) + 1 / (rrf_k + rank)
    expected = best_first(list(fused.items()))[:k]
    answer = engines[2].search(query, k)
    assert [name for name, _ in answer] == [name for name, _ in expected]
    assert [score for _, score in answer] == pytest.approx([score for _, score in expected], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_keeps_the_scores_because_ties_have_its_order(indexed: Indexed, kind: str) -> None:
    engine = indexed.engine(kind=kind)
    texts = {f"q{number}": text for number, text in enumerate(QUERIES)}
    run = CallableRetriever(engine).retrieve(QueryBatch.from_dict(texts), 50)
    answers = [engine.search(text, 50) for text in QUERIES]
    assert run.docs.to_text() == [name for answer in answers for name, _ in answer]
    assert run.scores.tolist() == [score for answer in answers for _, score in answer]
    assert len(set(run.scores.tolist())) < len(run.scores)  # there are ties


NO_WORDS = ["", "   ", "\0", "the of and", "?!", "\ud800"]
HOSTILE = [
    "'; DROP TABLE documents; --", '"', "'", "\\", "$1", "%s %(query)s {id}", "a\0b", "<-> & | ! ( ) : *", "((((", "😀",
    "-", "or", '"unbalanced', "x" * 100_000, "w1 " * 2000, "\udcff\ud800", "' || pg_sleep(10) || '", "{}", "[1,2]",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_queries_get_answers_and_queries_without_words_get_none(indexed: Indexed, kind: str) -> None:
    engine = indexed.engine(kind=kind)
    for query in HOSTILE:
        assert isinstance(engine.search(query, 5), list)
    for query in NO_WORDS[:3]:
        assert engine.search(query, 5) == []
    if kind == "lexical":
        assert [engine.search(query, 5) for query in NO_WORDS] == [[]] * len(NO_WORDS)
    assert indexed.rows("SELECT count(*) FROM documents") == [(len(list(CORPUS)),)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=40))
def test_any_text_is_a_query(indexed: Indexed, query: str) -> None:
    answer = indexed.engine(kind="hybrid").search(query, 5)
    assert answer == best_first(answer)


def test_hybrid_looks_deeper_than_the_results_it_returns(indexed: Indexed) -> None:
    shallow, deep = (indexed.engine(kind="hybrid", match="any", candidates=count) for count in (1, 100))
    assert any(shallow.search(query, 3) != deep.search(query, 3) for query in QUERIES)


HOSTILE_NAMES = [
    'x"); DROP TABLE documents; --',
    "select",
    "Ünï code",
    "a'b",
    "%s %% %(k)s",
    "{table}",
    "lexical",
    "query",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_and_ids_are_only_names_and_ids(indexed: Indexed, name: str) -> None:
    ids = ["'; DROP TABLE documents; --", '"', "%s", "a\tb", "ü", "back\\slash", "{id}"]
    corpus = InMemoryCorpus({document: f"common text number{at}" for at, document in enumerate(ids)})
    keys = {
        "id_column": f"{name} id",
        "text_column": name,
        "tsvector_column": f"{name}-w",
        "vector_column": f"{name}.v",
    }
    index_corpus(corpus, indexed.section(table=name, kind="hybrid", **keys))
    for kind in KINDS:
        answer = indexed.engine(table=name, kind=kind, **keys).search("common text", 50)
        assert sorted(document for document, _ in answer) == sorted(ids)
    for number, document in enumerate(ids):
        assert indexed.engine(table=name, kind="lexical", **keys).search(f"number{number}", 5)[0][0] == document


def test_a_table_of_the_user_with_other_columns_and_types_is_searched(indexed: Indexed) -> None:
    indexed.rows("CREATE SCHEMA app")
    indexed.rows("CREATE TABLE app.pages (page int PRIMARY KEY, body text, query text, meaning halfvec(24))")
    for number, text in enumerate(["red apple", "green pear", "red pear"]):
        vector = str(embed([text], "query")[0].tolist())
        indexed.rows("INSERT INTO app.pages VALUES (%s, %s, 'x', %s::vector::halfvec)", number, text, vector)
    indexed.rows("INSERT INTO app.pages VALUES (8, NULL, NULL, NULL), (9, '', '', array_fill(0, ARRAY[24])::halfvec)")
    own = {"id_column": "page", "text_column": "body", "tsvector_column": None, "vector_column": "meaning"}
    engines = {kind: indexed.engine(table="app.pages", kind=kind, **own) for kind in ("lexical", "vector", "hybrid")}
    assert [name for name, _ in engines["lexical"].search("red", 5)] == ["2", "0"]
    assert engines["vector"].search("red apple", 1)[0][0] == "0"
    assert {name for name, _ in engines["vector"].search("red apple", 5)} == {"0", "1", "2"}
    assert {name for name, _ in engines["hybrid"].search("pear", 5)} == {"0", "1", "2"}
    with pytest.raises(UsageError, match=r"has no HNSW index on meaning with halfvec_cosine_ops"):
        indexed.engine(table="app.pages", kind="vector-hnsw", **own)
    indexed.rows("CREATE INDEX ON app.pages USING hnsw (meaning halfvec_cosine_ops)")
    assert indexed.engine(table="app.pages", kind="vector-hnsw", **own).search("red apple", 5)[0][0] == "0"
    assert indexed.engine(table="app.pages", kind="lexical", **own).identity()["content"] is None


def test_a_condition_has_fields_of_cases_as_parameters(indexed: Indexed) -> None:
    columns = "id text, text text, words tsvector, embedding vector(24), tenant text, tags jsonb"
    indexed.rows(f"CREATE TABLE rows ({columns})")
    tenants = {"a": "x", "b": "y'; DROP TABLE rows; --", "c": "50% {off}"}
    insert = "INSERT INTO rows VALUES (%s, 'red', to_tsvector('red'), %s::vector, %s, '{\"n\": 1}')"
    for name, tenant in tenants.items():
        indexed.rows(insert, name, str(embed(["red"], "query")[0].tolist()), tenant)
    indexed.rows("CREATE INDEX ON rows USING hnsw (embedding vector_cosine_ops)")
    where = "tenant = {case.tenant} AND tenant NOT LIKE '%{{never}}'"
    for kind in KINDS:
        engine = indexed.engine(table="rows", kind=kind, where=where)
        assert engine.case_fields == {"tenant"}
        for name, tenant in tenants.items():
            assert [found for found, _ in engine.search("red", 5, {"tenant": tenant})] == [name]
        assert engine.search("red", 5, {"tenant": "nobody"}) == []
        cases = [{"query": "red", "relevant_ids": ["b"], "tenant": tenants["b"]}]
        assert evaluate_retriever(engine, cases, 1).scores["RR"] == 1.0
    engine = indexed.engine(table="rows", where="tenant = ANY({case.tenants}) AND tags @> {case.tags}::jsonb")
    found = engine.search("red", 5, {"tenants": ["x", "50% {off}"], "tags": {"n": 1}})
    assert sorted(name for name, _ in found) == ["a", "c"]
    with pytest.raises(ValueError, match="not a field of a test case"):
        indexed.section(where="text = {query}")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"table": "document"}, "table 'document' not found"),
        ({"table": "nowhere.documents"}, "table 'nowhere.documents' not found"),
        ({"id_column": "idd"}, "has no column 'idd': it has id, text,"),
        ({"tsvector_column": "text"}, "column 'text' is of type text, expected tsvector"),
        ({"kind": "vector", "vector_column": "text"}, "column 'text' is of type text, expected vector or halfvec"),
        ({"language": "klingon"}, "no text search configuration 'klingon'"),
        ({"kind": "vector", "embedder": "hashed"}, "holds vectors of another embedder"),
        ({"kind": "vector-hnsw", "distance": "l2"}, "has no HNSW index on embedding with vector_l2_ops"),
        ({"dsn": "${NO_SUCH_VARIABLE}"}, "the environment variable NO_SUCH_VARIABLE is not set"),
    ],
)
def test_a_wrong_section_is_refused_before_any_query(indexed: Indexed, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        indexed.engine(**keys)


def test_vectors_of_another_size_are_refused(indexed: Indexed) -> None:
    indexed.rows("CREATE TABLE small (id int, embedding vector(3))")
    engine = indexed.engine(table="small", kind="vector")
    with pytest.raises(InputError, match="query vectors have 24 dimensions, column embedding has 3"):
        engine.search("words", 3)


@pytest.mark.parametrize(
    "dsn", ["postgresql://me:s3cret@/x?host=/nowhere", "s3cret", "host=/nowhere password='s3cret'"]
)
def test_no_error_shows_the_password(indexed: Indexed, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_DSN", dsn)
    with pytest.raises(UsageError) as error:
        indexed.engine(dsn="${SECRET_DSN}")
    assert "s3cret" not in str(error.value)


def test_the_identity_has_the_variable_and_no_password(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_DSN", indexed.dsn.replace("postgres@", "postgres:s3cret@"))
    engine = indexed.engine(dsn="${SECRET_DSN}")
    identity = engine.identity()
    assert "s3cret" not in json.dumps(identity)
    assert identity["dsn"] == "${SECRET_DSN}"
    assert identity["content"] == CORPUS.sha256
    literal = indexed.engine(dsn=indexed.dsn.replace("postgres@", "postgres:s3cret@")).identity()
    assert "s3cret" not in json.dumps(literal)


def test_a_slow_query_is_canceled_by_the_server(indexed: Indexed) -> None:
    indexed.rows("CREATE VIEW slow AS SELECT id, words FROM documents WHERE pg_sleep(30) IS NOT NULL")
    engine = indexed.engine(table="slow", statement_timeout=0.2)
    with pytest.raises(TimeoutError, match="statement timeout"):
        engine.search(QUERIES[0], 3)


def test_a_failed_query_is_one_line(indexed: Indexed) -> None:
    indexed.rows("CREATE TABLE gone AS SELECT id, words FROM documents")
    engine = indexed.engine(table="gone")
    indexed.rows("DROP TABLE gone")
    with pytest.raises(PostgresError) as error:
        engine.search(QUERIES[0], 3)
    assert str(error.value) == 'relation "gone" does not exist'


def test_a_restarted_server_is_found_again_without_a_failed_query(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = indexed.engine(kind="lexical")
    before = engine.search(QUERIES[0], 5)
    monkeypatch.setattr(postgres_client, "CHECK_AFTER_SECONDS", 0.0)
    indexed.server.stop()
    indexed.server.start()
    assert engine.search(QUERIES[0], 5) == before


def test_after_a_restart_only_the_first_query_fails_however_many_connections_broke(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = indexed.engine(kind="lexical", pool_size=4)
    monkeypatch.setattr(postgres_client, "CHECK_AFTER_SECONDS", 1e9)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda query: engine.search(query, 5), QUERIES * 10))
    connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rankgauge'"
    assert indexed.rows(connections)[0][0] > 1
    indexed.server.stop()
    indexed.server.start()
    with pytest.raises(PostgresError):
        engine.search(QUERIES[0], 5)
    for query in QUERIES:
        assert engine.search(query, 5)


def test_without_a_server_a_query_fails_in_time(indexed: Indexed) -> None:
    engine = indexed.engine(kind="lexical", connect_timeout=1)
    engine.search(QUERIES[0], 5)
    indexed.server.stop()
    try:
        for _ in range(2):
            with pytest.raises((PostgresError, TimeoutError)):
                engine.search(QUERIES[0], 5)
    finally:
        indexed.server.start()


def test_without_psycopg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"rankgauge\[postgres\]"):
        PostgresEngine(PostgresSection(dsn="x", table="t"))


@pytest.mark.slow
def test_live_evaluation_fetch_and_benchmark_ask_the_engine_alike(
    indexed: Indexed, tmp_path: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_DSN", indexed.dsn.replace("postgres@", "postgres:s3cret@"))
    file = tmp_path / "both.yaml"
    postgres = {"dsn": "${SECRET_DSN}", "table": "documents", "kind": "hybrid", "embedder": NAME}
    file.write_text(json.dumps({"postgres": postgres, "concurrency": 4}))
    texts = {f"q{number}": text for number, text in enumerate(QUERIES)}
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps({"_id": q, "text": t}) + "\n" for q, t in texts.items()))
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": d.id.decode(), "text": d.text}) + "\n" for d in CORPUS)
    )
    engine = indexed.engine(kind="hybrid")
    answers = {name: engine.search(text, 20) for name, text in texts.items()}
    qrels = {name: {answer[2][0]: 1} for name, answer in answers.items()}
    (tmp_path / "qrels.trec").write_text("".join(f"{q} 0 {next(iter(d))} 1\n" for q, d in qrels.items()))
    done = command(
        "runs", "fetch", "--retriever", file, "--queries", tmp_path / "queries.jsonl", "--k", 20,
        "-o", tmp_path / "run.trec", "--manifest", tmp_path / "manifest.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    fetched = read_run(tmp_path / "run.trec")
    assert fetched.docs.to_text() == [name for answer in answers.values() for name, _ in answer]
    live = evaluate_retriever(engine, [{"query": t, "relevant_ids": list(qrels[q])} for q, t in texts.items()], k=20)
    assert live.run.docs.to_text() == fetched.docs.to_text()
    done = command(
        "benchmark", "run", "--corpus", tmp_path, "--retriever", file, "-o", tmp_path / "benchmark",
    )  # fmt: skip
    assert done.code == 0, done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if b"s3cret" in path.read_bytes()]
    assert "s3cret" not in done.err + done.out


def test_the_guide_has_every_key_of_the_section() -> None:
    page = (ROOT / "docs" / "guides" / "postgres.md").read_text(encoding="utf-8")
    assert [key for key in PostgresSection.model_fields if f"`{key}" not in page and f" {key}:" not in page] == []
