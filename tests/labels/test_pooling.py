"""Which documents are pooled: by each strategy, within a budget, without what is judged."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Qrels, Run, fuse
from rankgauge.cli.main import run as run_command
from rankgauge.errors import InputError, UsageError
from rankgauge.io.formats.judgment_lines import Inclusion
from rankgauge.labels import PoolOptions, pool_documents, read_pool
from rankgauge.labels.judging_session import JudgmentFile
from rankgauge.labels.pool_files import read_judged, with_texts, write_pool
from rankgauge.labels.pooling import POOL_STRATEGIES, draw_strata, move_to_front_order, shared_budget
from rankgauge.stats.draws import RandomStream
from tests.labels.pools import judgment

LETTERS = "abcdefghijklmnop"
ranking = st.lists(st.sampled_from(LETTERS), unique=True, max_size=12)
run_results = st.dictionaries(st.sampled_from(["1", "2", "3"]), ranking, min_size=1)


def pooled(runs: list[Run], options: PoolOptions | None = None, judged: Qrels | None = None) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for document in pool_documents(runs, options, judged=judged):
        if document.sampled:
            out.setdefault(document.query.decode(), []).append(document.doc.decode())
    return out


@given(run_results, run_results, st.integers(1, 5))
def test_a_depth_pool_is_the_union_of_the_tops(
    first: dict[str, list[str]], second: dict[str, list[str]], depth: int
) -> None:
    if not any([*first.values(), *second.values()]):
        return
    pool = pooled([Run.from_lists(first), Run.from_lists(second)], PoolOptions(depth=depth))
    for query in {*first, *second}:
        expected = {*first.get(query, [])[:depth], *second.get(query, [])[:depth]}
        assert set(pool.get(query, [])) == expected
        assert len(pool.get(query, [])) == len(expected)


def test_a_budget_takes_the_best_ranks_of_every_query() -> None:
    first = Run.from_lists({"1": list("abcdef"), "2": list("abcdef")})
    second = Run.from_lists({"1": list("xyzuvw"), "2": list("abcdef")})
    pool = pooled([first, second], PoolOptions(depth=6, budget=6))
    assert set(pool["1"][:2]) == {"a", "x"}
    assert len(pool["1"]) == 3
    assert pool["2"] == ["a", "b", "c"]


def test_the_rrf_order_is_that_of_the_fusion() -> None:
    runs = [Run.from_lists({"1": list("abcdef")}, name="a"), Run.from_lists({"1": list("fxbya")}, name="b")]
    fused = fuse(runs, "rrf", k=3)
    assert sorted(pooled(runs, PoolOptions("rrf", depth=6, budget=3))["1"]) == sorted(fused.docs.to_text())


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 30))
def test_a_budget_is_shared_equally_and_spent(sizes: list[int], budget: int) -> None:
    shares = shared_budget(sizes, budget)
    assert sum(shares) == min(budget, sum(sizes))
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    unfilled = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not unfilled or max(shares) - min(unfilled) <= 1


def test_what_is_judged_is_left_out_also_from_several_files(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b -1\n")
    file = JudgmentFile(tmp_path / "judgments.jsonl")
    file.add(judgment("1", "c", 0))
    file.add(judgment("1", "d", None, status="skipped"))
    judged = read_judged([tmp_path / "qrels.txt", tmp_path / "judgments.jsonl"])
    pool = pooled([Run.from_lists({"1": list("abcd")})], judged=judged)
    assert pool == {"1": ["b", "d"]}  # a negative grade and a skipped document are not judged


def test_some_queries_are_drawn_at_random_and_the_same_with_the_same_seed() -> None:
    run = Run.from_lists({str(number): ["a"] for number in range(40)})
    counts: Counter[str] = Counter()
    for seed in range(300):
        drawn = pooled([run], PoolOptions(sample_queries=10, seed=seed))
        assert drawn == pooled([run], PoolOptions(sample_queries=10, seed=seed))
        assert len(drawn) == 10
        counts.update(list(drawn))
    assert all(40 < count < 115 for count in counts.values())  # 75 expected, standard deviation 7.5
    assert len(counts) == 40


def test_documents_record_the_share_of_queries_that_were_drawn(tmp_path: Path) -> None:
    run = Run.from_lists({str(number): ["a", "b"] for number in range(40)})
    for strategy in POOL_STRATEGIES:
        options = PoolOptions(strategy, sample_queries=10, budget=20)
        documents = pool_documents([run], options)
        assert {document.inclusion.query_probability for document in documents} == {0.25}
        assert {document.inclusion.query_probability for document in pool_documents([run], PoolOptions())} == {None}
        write_pool(with_texts(documents), tmp_path / "pool.jsonl")
        assert [item.inclusion for item in read_pool(tmp_path / "pool.jsonl")] == [one.inclusion for one in documents]


def test_each_document_is_drawn_as_often_as_its_probability_says() -> None:
    run = Run.from_lists({"1": [f"d{rank}" for rank in range(30)]})
    counts: Counter[str] = Counter()
    for seed in range(300):
        documents = pool_documents([run], PoolOptions("stratified", depth=30, budget=12, seed=seed))
        assert sum(document.sampled for document in documents) == 12
        assert len(documents) == 30
        counts.update(document.doc.decode() for document in documents if document.sampled)
    for document in documents:
        p = document.inclusion.probability
        assert p is not None
        assert abs(counts[document.doc.decode()] / 300 - p) < 5 * np.sqrt(p * (1 - p) / 300) + 1e-9


@given(st.lists(st.integers(1, 100), min_size=1, max_size=60), st.integers(2, 70), st.booleans())
def test_every_stratum_gives_at_least_two_documents_or_all(ranks: list[int], count: int, single: bool) -> None:
    strata = draw_strata(np.array(ranks), count, RandomStream(1, ("test",)), single=single)
    assert sorted(member for stratum in strata for member in stratum.members) == list(range(len(ranks)))
    assert sum(len(stratum.drawn) for stratum in strata) == min(count, len(ranks))
    for stratum in strata:
        assert len(stratum.drawn) >= min(2, len(stratum.members))
        assert set(stratum.drawn) <= set(stratum.members)
    assert not single or len(strata) == 1


def test_move_to_front_prefers_the_run_that_found_relevant_documents() -> None:
    rank = np.array([[1, 0], [2, 0], [3, 0], [0, 1], [0, 2], [0, 3]])
    nothing = np.full(6, np.nan)
    assert move_to_front_order(rank, nothing).tolist() == [0, 3, 1, 4, 2, 5]  # in turn
    grades = np.array([0, np.nan, np.nan, 2, np.nan, np.nan])
    assert move_to_front_order(rank, grades).tolist()[:3] == [0, 3, 4]


def test_an_adaptive_pool_has_no_probabilities() -> None:
    documents = pool_documents([Run.from_lists({"1": list("abc")})], PoolOptions("move-to-front"))
    assert {document.inclusion for document in documents} == {Inclusion("move-to-front", None)}


def test_a_pool_that_a_budget_cut_has_no_probabilities() -> None:
    run = Run.from_lists({"1": list("abc")})
    assert {d.inclusion.probability for d in pool_documents([run], PoolOptions(budget=2))} == {None}
    assert {d.inclusion.probability for d in pool_documents([run], PoolOptions(budget=3))} == {1.0}


def test_bad_options_are_errors(tmp_path: Path) -> None:
    run = Run.from_lists({"1": list("abc"), "2": list("abc")})
    with pytest.raises(UsageError, match="needs a size"):
        PoolOptions("stratified")
    with pytest.raises(UsageError, match="depth: expected a whole number of at least 1"):
        PoolOptions(depth=0)
    with pytest.raises(UsageError, match="strategy: expected one of"):
        PoolOptions("best")  # type: ignore[arg-type]  # which is not one
    with pytest.raises(UsageError, match="less than two judgments for each of 2 queries"):
        pool_documents([run], PoolOptions("stratified", budget=3))
    with pytest.raises(UsageError, match="must not leave out what is judged"):
        pool_documents([run], PoolOptions("uniform", budget=4), judged=Qrels.from_dict({"1": {"a": 1}}))
    with pytest.raises(InputError, match="no results to pool"):
        pool_documents([Run.from_lists({"1": []})])
    file = JudgmentFile(tmp_path / "j")
    file.add(judgment("1", "a", 1, inclusion=Inclusion("stratified", 0.5, "1–5", 4, 2)))
    with pytest.raises(InputError, match="whose probabilities a sample would change"):
        read_judged([tmp_path / "j"], PoolOptions("stratified", budget=4))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("1 Q0 x 1 2 a\n1 Q0 y 2 1 a\n")
    Path("corpus.jsonl").write_text('{"_id": "x", "title": "T", "text": "the text"}\n')
    Path("queries.tsv").write_text("1\thow to bake\n")
    return tmp_path


def test_the_command_attaches_texts_and_says_which_are_missing(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["pool", "a.run", "-o", "pool.jsonl", "--corpus", "corpus.jsonl", "--queries", "queries.tsv"]
    assert run_command(command) == 0
    err = capsys.readouterr().err
    assert "wrote 2 documents of 1 query to pool.jsonl" in err
    assert "1 document not found in corpus.jsonl: y [no-text]" in err
    first, second = read_pool("pool.jsonl")
    assert (first.query_text, first.title, first.text) == ("how to bake", "T", "the text")
    assert second.text is None
    row = json.loads(Path("pool.jsonl").read_text().splitlines()[0])
    assert not {"rank", "score", "run", "tag"} & set(row)  # the judge must not know them
    from rankgauge.io.corpus.corpus import CorpusDocument

    assert row["text_sha256"] == CorpusDocument(b"x", "T", "the text").text_sha256


def test_a_pool_has_the_texts_that_came_with_the_results(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = [{"id": "x", "text": "returned"}, {"id": "z", "score": 1}]
    Path("log.jsonl").write_text(json.dumps({"query_id": "1", "retrieved": results[:1]}) + "\n")
    Path("search.py").write_text(f"def search(query):\n    return [{results[0]!r}, 'z']\n")
    for system in ("log.jsonl", "./search.py:search"):
        assert run_command(["pool", "a.run", system, "-o", "pool.jsonl", "--queries", "queries.tsv"]) == 0, system
        texts = {item.doc: item.text for item in read_pool("pool.jsonl")}
        assert (texts["x"], texts["y"]) == ("returned", None)
    corpus = ["--corpus", "corpus.jsonl", "--queries", "queries.tsv"]
    assert run_command(["pool", "a.run", "log.jsonl", "-o", "pool.jsonl", *corpus]) == 0
    assert read_pool("pool.jsonl")[0].text == "the text"  # the corpus counts if there is one


def test_documents_of_a_live_retriever_can_be_judged(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("search.py").write_text("def search(query):\n    return [{'id': 'x', 'text': 'returned'}]\n")
    Path("judge.py").write_text("def judge(query, text):\n    return 1 if text == 'returned' else 0\n")
    assert run_command(["pool", "./search.py:search", "-o", "pool.jsonl", "--queries", "queries.tsv"]) == 0
    assert run_command(["judge", "pool.jsonl", "-o", "judgments.jsonl", "--judge", "./judge.py:judge"]) == 0
    assert json.loads(Path("judgments.jsonl").read_text())["relevance"] == 1


def test_a_pool_never_overwrites_an_input(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["pool", "a.run", "-o", "a.run"]) == 2
    assert "would overwrite the input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"doc_id": "x"}', "expected a string or a whole number as query_id, found nothing"),
        ('{"query_id": "1", "doc_id": "x", "text": 5}', "expected text as text, found '5'"),
        ("nonsense", "not JSON"),
    ],
)
def test_a_bad_line_of_a_pool_is_an_error_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text('{"query_id": "1", "doc_id": "a"}\n' + line + "\n")
    with pytest.raises(InputError, match=rf"pool.jsonl:2: .*{message}"):
        read_pool(path)


def test_a_document_that_is_pooled_twice_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text('{"query_id": "1", "doc_id": "a"}\n{"query_id": 1, "doc_id": "a"}\n')
    with pytest.raises(InputError, match=r"pool.jsonl:2: expected each document of a query once"):
        read_pool(path)
