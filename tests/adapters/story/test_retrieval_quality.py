from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
import unicodedata
import warnings
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, RankgaugeWarning, UsageError, read_corpus
from rankgauge import evaluate as evaluate_run
from rankgauge.adapters import retrieval_quality
from rankgauge.adapters.story.retrieval_quality import LabeledQuery, QueryQuality, read_labeled_queries
from rankgauge.adapters.story.story import read_story
from rankgauge.core import ranking
from rankgauge.retrieval import Vector
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.retriever import QueryBatch
from tests.adapters.story.stories import BUNDLED, query, story_ranked_by

PROFILES = ["vsa", "bow"]


def order(result: Any, id: str) -> list[str]:
    return [scene.scene for scene in result[id].ranking]


def test_the_recall_of_the_specification_is_two_thirds() -> None:
    story = story_ranked_by("danger", ["4", "8", "3", "1", "2", "7", "5", "6"])
    found = retrieval_quality(story, [query("danger", "3", "4", "7")], profile="bow")
    assert order(found, "danger")[:5] == ["4", "8", "3", "1", "2"]
    assert found.recall_at_k == 2 / 3
    assert (found.k, found.value) == (5, 1.0)


def test_the_mrr_of_the_specification_is_eleven_eighteenths() -> None:
    story = story_ranked_by("one", ["a", "b", "c"])
    queries = [{"id": str(rank), "text": "one", "relevant": [id]} for rank, id in [(1, "a"), (3, "c"), (2, "b")]]
    found = retrieval_quality(story, queries, profile="bow")
    assert [q.rr for q in found.queries] == [1.0, 1 / 3, 0.5]
    assert found.value == pytest.approx(11 / 18)
    assert found.passed


def test_the_value_is_a_mean_of_reciprocals_and_not_of_ranks() -> None:
    ids = [str(n) for n in range(1, 11)]
    queries = [{"text": "one", "relevant": ["1"]}, {"text": "one", "relevant": ["10"]}]
    found = retrieval_quality(story_ranked_by("one", ids), queries, profile="bow", threshold=0.5)
    assert (found.value, [q.rank for q in found.queries]) == (0.55, [1, 10])


def test_ranks_are_over_all_scenes_and_k_is_only_for_recall() -> None:
    ids = [str(n) for n in range(1, 11)]
    found = retrieval_quality(story_ranked_by("one", ids), [query("one", "8", "9")], profile="bow", k=2)
    assert (found.value, found.recall_at_k, found["one"].rank) == (1 / 8, 0.0, 8)
    assert len(found["one"].ranking) == 10


@pytest.mark.parametrize("key", ["topK", "top_k", "k", "TopK"])
def test_a_query_may_have_its_own_cutoff(key: str) -> None:
    story = story_ranked_by("one", ["a", "b", "c", "d"])
    queries = [query("one", "a", "d"), {**query("one", "a", "d"), "id": "own", key: 4}]
    found = retrieval_quality(story, queries, profile="bow", k=2)
    assert [(q.k, q.recall) for q in found.queries] == [(2, 0.5), (4, 1.0)]
    assert found.recall_at_k == 0.75
    assert [len(q["top"]) for q in found.to_dict()["queries"]] == [2, 4]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("ids", list(permutations("abc")))
def test_scenes_that_tie_keep_story_order(profile: str, ids: tuple[str, ...]) -> None:
    story = [*({"id": id, "text": "A storm at sea"} for id in ids), {"id": "z", "text": "storm"}]
    found = retrieval_quality(story, [query("storm", ids[0])], profile=profile)
    assert order(found, "storm") == ["z", *ids]


@pytest.mark.parametrize("profile", PROFILES)
def test_case_and_white_space_of_a_text_do_not_matter(profile: str) -> None:
    plain = retrieval_quality({"a": "caf\u00e9 noir", "b": "x"}, [query("caf\u00e9", "a")], profile=profile)
    other = retrieval_quality({"a": " Cafe\u0301\n\tNOIR ", "b": "x"}, [query("CAFE\u0301", "a")], profile=profile)
    assert other["CAFE\u0301"].ranking == plain["caf\u00e9"].ranking


def test_scenes_are_ordered_by_the_one_order_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    order_rule = ranking.order

    def recorded(*args: Any) -> Any:
        calls.append(args)
        return order_rule(*args)

    monkeypatch.setattr(ranking, "order", recorded)
    retrieval_quality({"a": "storm", "b": "sea"}, [query("storm", "a")])
    assert len(calls) == 1


TEXT = st.lists(
    st.sampled_from("anna storm sea night anna's boat the a of Straße STRASSE naïve nai\u0308ve".split()), max_size=6
)


def plain_counts(words: list[str]) -> dict[str, int]:
    """The counts of words in a text, by a loop over its characters."""
    found: dict[str, int] = {}
    word = ""
    for character in unicodedata.normalize("NFC", " ".join(words)).casefold() + " ":
        if character.isalnum():
            word += character
        elif word:
            found[word] = found.get(word, 0) + 1
            word = ""
    return found


def plain_cosine(a: dict[str, int], b: dict[str, int]) -> float:
    lengths = math.sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))
    return sum(count * b.get(word, 0) for word, count in a.items()) / lengths if lengths else 0.0


@given(st.lists(TEXT.filter(bool), min_size=1, max_size=6), TEXT.filter(bool))
def test_a_bag_of_words_is_ranked_by_its_cosine_worked_out_by_hand(scenes: list[list[str]], asked: list[str]) -> None:
    similar = [round(plain_cosine(plain_counts(asked), plain_counts(scene)), 6) for scene in scenes]
    story = {str(n): " ".join(scene) for n, scene in enumerate(scenes)}
    found = _quietly(story, [{"id": "q", "text": " ".join(asked), "relevant": ["0"]}], "bow")["q"]
    expected = sorted(range(len(scenes)), key=lambda scene: -similar[scene])
    assert [int(hit.scene) for hit in found.ranking] == expected
    assert [hit.cosine for hit in found.ranking] == [similar[scene] for scene in expected]


def test_different_words_never_collide_in_a_bag_of_words() -> None:
    words = sorted({*"sea letter agreed states".split(), *(f"word{n}" for n in range(3000))})
    found = _quietly({word: word for word in words}, [query("sea", "sea")], "bow").queries[0]
    assert [(hit.scene, hit.cosine) for hit in found.ranking if hit.cosine] == [("sea", 1.0)]


def test_a_bag_of_words_counts_stop_words_and_the_title(tmp_path: Path) -> None:
    story = tmp_path / "story.jsonl"
    story.write_text('{"id": "a", "title": "The sea", "text": "storm"}\n{"id": "b", "text": "the the fog"}\n')
    found = retrieval_quality(story, [query("the", "a")], profile="bow").queries[0]
    assert [(hit.scene, hit.cosine) for hit in found.ranking] == [
        ("b", round(2 / math.sqrt(5), 6)),
        ("a", round(1 / math.sqrt(3), 6)),
    ]


@pytest.mark.parametrize("name", ["basic", "basic/bow"])
def test_the_names_of_the_document_are_the_bag_of_words(name: str) -> None:
    files = BUNDLED / "story.md", BUNDLED / "queries.jsonl"
    assert retrieval_quality(*files, profile=name) == retrieval_quality(*files, profile="bow")


def _quietly(story: Any, queries: Any, profile: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        return retrieval_quality(story, queries, profile=profile)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_the_bundled_story_is_ranked_as_exact_arithmetic_ranks_it(profile: str) -> None:
    story = read_story(BUNDLED / "story.jsonl")
    found = retrieval_quality(story, BUNDLED / "queries.jsonl", profile=profile)
    texts = [*(scene.text for scene in story.scenes), *(q.text for q in found.queries)]
    words = sorted({word for text in texts for word in plain_counts([text])})

    def exact(text: str) -> list[Fraction]:
        if profile == "bow":
            counts = plain_counts([text])
            return [Fraction(counts.get(word, 0)) for word in words]
        return [Fraction(x) for x in embedder(profile).embed([b""], [text], "query")[0].tolist()]

    def cosine(a: list[Fraction], b: list[Fraction]) -> float:
        dot = sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
        lengths = sum((x * x for x in a), Fraction(0)) * sum((x * x for x in b), Fraction(0))
        return math.copysign(math.sqrt(dot * dot / lengths), dot)

    scenes = {scene.id: exact(scene.text) for scene in story.scenes}
    for q in found.queries[:4]:
        asked = exact(q.text)
        similar = {id: cosine(asked, scene) for id, scene in scenes.items()}
        assert [hit.scene for hit in q.ranking] == sorted(similar, key=lambda name: -round(similar[name], 6))
        assert all(hit.cosine == pytest.approx(similar[hit.scene], abs=1e-6) for hit in q.ranking)


@pytest.mark.parametrize("profile", PROFILES)
def test_values_are_those_of_evaluate(profile: str) -> None:
    found = retrieval_quality(BUNDLED / "story.md", BUNDLED / "queries.jsonl", profile=profile)
    run = {q.id: {hit.scene: hit.cosine for hit in q.ranking} for q in found.queries}
    # There a tie is broken by id: only a query whose relevant scenes tie with none has the same values.
    apart = [q for q in found.queries if _alone([hit.cosine for hit in q.ranking if hit.scene in q.relevant], q)]
    assert len(apart) > 5
    values = evaluate_run({q.id: list(q.relevant) for q in apart}, run, ["RR", "R@5"])
    assert values.per_query("RR") == {q.id: q.rr for q in sorted(apart, key=lambda q: q.id)}
    assert all(values.per_query("R@5")[q.id] == q.recall for q in apart if q.k == 5)


def test_cosines_are_those_of_the_vector_retriever() -> None:
    story = read_story(BUNDLED / "story.md")
    found = retrieval_quality(story, BUNDLED / "queries.jsonl", profile="vsa")
    documents = read_corpus({scene.id: scene.text for scene in story.scenes})
    run = Vector(documents, embedder("vsa")).retrieve(
        QueryBatch.from_dict({q.id: q.text for q in found.queries}), len(story)
    )
    docs, scores = run.docs.to_text(), run.scores.tolist()
    for row, q in enumerate(found.queries):
        mine = slice(run.offsets[row], run.offsets[row + 1])
        assert dict(zip(docs[mine], scores[mine], strict=True)) == {hit.scene: hit.cosine for hit in q.ranking}


def _alone(relevant: list[float], q: QueryQuality) -> bool:
    times = Counter(hit.cosine for hit in q.ranking)
    return all(times[cosine] == 1 for cosine in relevant)


def test_a_value_equal_to_the_threshold_does_not_pass() -> None:
    story = story_ranked_by("one", ["a", "b", "c", "d", "e"])
    half = [{"text": "one", "relevant": ["b"]}]
    assert retrieval_quality(story, half, profile="bow", threshold=0.5).passed is False
    assert retrieval_quality(story, half, profile="bow", threshold=0.499).passed is True
    # (1 + 1 + 1/5 + 1/5) / 4 is 0.6; in floating point it comes to a little more.
    queries = [{"text": "one", "relevant": [id]} for id in "aaee"]
    found = retrieval_quality(story, queries, profile="bow")
    assert found.value is not None
    assert found.value > 0.6
    assert found.passed is False


@pytest.mark.parametrize(
    "queries", [None, [], [{"text": "storm"}], [{"text": "storm", "relevant": []}, {"text": "x", "relevant": None}]]
)
def test_without_labeled_queries_the_metric_is_skipped(queries: Any) -> None:
    found = _quietly({"a": "storm"}, queries, "vsa")
    assert found.to_dict() == {
        "metric": "RQ",
        "value": None,
        "pass": None,
        "threshold": 0.6,
        "profile": "vsa",
        "k": 5,
        "recall_at_k": None,
        "queries": [],
        "skipped": "no labeled queries",
    }
    assert str(found) == "RQ skipped: no labeled queries"


def test_a_query_without_labels_is_not_counted_and_warned_of() -> None:
    with pytest.warns(RankgaugeWarning, match="queries: 1 query has no relevant scenes and is not counted"):
        found = retrieval_quality({"a": "storm"}, [query("storm", "a"), {"text": "calm"}])
    assert (found.value, len(found.queries)) == (1.0, 1)


def test_a_query_that_matches_no_scene_gets_story_order_and_a_warning() -> None:
    with pytest.warns(RankgaugeWarning, match="query 'q' matches no scene: its ranking is story order"):
        found = retrieval_quality({"a": "storm", "b": "sea"}, [{"id": "q", "text": "to be or not", "relevant": ["b"]}])
    assert found["q"].rank == 2


def test_an_unknown_scene_is_named() -> None:
    queries = [query("storm", "scene-1", "scene-99"), query("sea", "nowhere")]
    with pytest.raises(InputError) as error:
        retrieval_quality({"scene-1": "storm", "scene-9": "sea"}, queries)
    assert "relevant to query 'storm', found 'scene-99', which story does not have" in str(error.value)
    assert "relevant to query 'sea', found 'nowhere'" in str(error.value)
    assert "did you mean scene-9?" in str(error.value)


def test_the_result_has_the_keys_of_the_specification() -> None:
    found = retrieval_quality({"a": "storm", "b": "sea"}, [query("storm", "a", "b", topK=1)], profile="basic/bow")
    assert json.loads(json.dumps(found.to_dict())) == {
        "metric": "RQ",
        "value": 1.0,
        "pass": True,
        "threshold": 0.6,
        "profile": "bow",
        "k": 5,
        "recall_at_k": 0.5,
        "queries": [
            {
                "id": "storm",
                "text": "storm",
                "relevant": ["a", "b"],
                "rank": 1,
                "rr": 1.0,
                "k": 1,
                "recall_at_k": 0.5,
                "top": [{"scene": "a", "cosine": 1.0}],
            }
        ],
    }
    assert found.to_pandas()["first"].tolist() == ["a"]
    assert "storm" in found._repr_html_()
    with pytest.raises(KeyError, match="no labeled query 'x'"):
        found["x"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"profile": "vsaa"}, "did you mean vsa"),
        ({"k": 0}, "k: expected a whole number of at least 1"),
        ({"k": True}, "k: expected"),
        ({"threshold": float("nan")}, "threshold: expected a number from 0 to 1"),
        ({"threshold": 1.5}, "threshold: expected"),
    ],
)
def test_a_usage_error_names_the_option(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        retrieval_quality({"a": "storm"}, [query("storm", "a")], **wrong)


DIGESTS = {"vsa": "e3caf0c3bf0b563a", "bow": "eb3d12ca25820048"}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_numbers_never_change(profile: str) -> None:
    found = retrieval_quality(BUNDLED / "story.md", BUNDLED / "queries.jsonl", profile=profile)
    text = json.dumps([[*((hit.scene, hit.cosine) for hit in q.ranking)] for q in found.queries])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[profile]


def test_the_numbers_do_not_depend_on_the_process() -> None:
    code = (
        "import json, sys; from rankgauge.adapters import retrieval_quality; "
        "print(json.dumps(retrieval_quality(sys.argv[1], sys.argv[2]).to_dict()))"
    )
    files = [str(BUNDLED / "story.jsonl"), str(BUNDLED / "queries.jsonl")]
    made = {
        subprocess.run(
            [sys.executable, "-c", code, *files],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads, "OPENBLAS_CORETYPE": kind},
        ).stdout
        for seed, threads, kind in [("1", "1", "Haswell"), ("2", "4", "Prescott")]
    }
    assert made == {json.dumps(retrieval_quality(*files).to_dict()) + "\n"}


def test_the_labels_of_a_query_may_be_in_any_order() -> None:
    story = story_ranked_by("one", ["a", "b", "c"])
    results = [retrieval_quality(story, [query("one", *ids)], profile="bow") for ids in permutations("bc")]
    assert len({(r.value, r.recall_at_k) for r in results}) == 1
    assert np.isclose(results[0].value or 0, 0.5)


QUERIES = [{"id": "q1", "text": "storm at sea", "relevant": ["s1", "s2"], "topK": 3}, {"id": "q2", "text": "x"}]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, QUERIES)),
        json.dumps(QUERIES),
        json.dumps({"queries": QUERIES}),
        json.dumps({"story": "x", "queries": QUERIES}, indent=2),
    ],
    ids=["lines", "array", "document", "indented"],
)
def test_every_format_gives_the_same_queries(text: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    found = read_labeled_queries(tmp_path / "q")
    assert [(q.id, q.text, q.relevant, q.k) for q in found.queries] == [("q1", "storm at sea", ("s1", "s2"), 3)]
    assert found.unlabeled == 1
    assert read_labeled_queries(found) is found


@pytest.mark.parametrize("text", ["", "\n \n", "[]", '{"queries": []}'])
def test_an_empty_file_holds_no_queries(text: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    assert read_labeled_queries(tmp_path / "q").queries == ()


@pytest.mark.parametrize(
    "key", ["relevant", "relevant_ids", "relevantSceneIds", "relevant_scenes", "expected_scenes", "scene_ids"]
)
def test_the_labels_have_several_keys(key: str) -> None:
    assert read_labeled_queries([{"query": "storm", key: [1, "s2", "s2"]}]).queries == (
        LabeledQuery("1", "storm", ("1", "s2")),
    )


def test_a_single_label_needs_no_list_and_a_set_is_sorted() -> None:
    found = read_labeled_queries([{"text": "a", "relevant": "s1"}, {"text": "b", "relevant": {"s3", "s2"}}])
    assert [q.relevant for q in found.queries] == [("s1",), ("s2", "s3")]


def test_the_bundled_queries_are_twelve_and_all_labeled() -> None:
    found = read_labeled_queries(BUNDLED / "queries.jsonl")
    assert (len(found.queries), found.unlabeled) == (12, 0)


WRONG: list[tuple[str, str]] = [
    ("storm", ":1: expected JSON, found 'storm'"),
    ('{"text": "a", "relevant": ["s1"]}\n{"relevant": ["s1"]}', ":2: expected a search text"),
    ('{"text": " ", "relevant": ["s1"]}', "of query '1', found ' '"),
    ('{"text": 3, "relevant": ["s1"]}', "of query '1', found '3'"),
    ('{"text": "a", "relevant": {"s1": 1}}', "expected a list of scene ids as relevant to query '1', found an object"),
    ('{"text": "a", "relevant": [null]}', "or a whole number as scene id of query '1', found nothing"),
    ('{"text": "a", "relevant": ["x"], "relevant_ids": ["y"]}', "expected one key for the relevant scenes, found 2"),
    ('{"text": "a", "relevant": ["x"], "topK": 0}', "expected a whole number of at least 1 as topK of query '1'"),
    ('{"text": "a", "relevant": ["x"], "topK": 2.5}', "expected a whole number of at least 1"),
    ('{"text": "a", "relevant": ["x"], "topK": true}', "expected a whole number of at least 1"),
    ('{"text": "a", "relevant": ["x"], "topK": 2, "k": 3}', "expected one key for topK, found 2: 'topK', 'k'"),
    ('{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}', ":2: expected each query id once, found '1' again"),
    ('{"queries": {"a": 1}}', "expected a list under queries, found an object"),
    ('{"queries": [3]}', "expected an object as entry 1, found '3'"),
    ('{"text": "a"}\nx', ":2: not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_error_in_the_queries_names_its_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    with pytest.raises(InputError) as error:
        read_labeled_queries(tmp_path / "q")
    assert str(error.value).startswith(f"{tmp_path / 'q'}:")
    assert message in str(error.value)


@pytest.mark.parametrize("queries", [{"text": "a"}, b"x", 3])
def test_queries_that_are_not_a_list_are_an_error(queries: Any) -> None:
    with pytest.raises(InputError, match="queries: expected a list of dicts"):
        read_labeled_queries(queries)
