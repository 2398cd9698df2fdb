"""Retrieval Quality: how early a search finds the right scenes.

Every scene is ranked for every query by the cosine of their embeddings, rounded to six digits like all scores of
retrievers; scenes that tie keep story order. Reciprocal rank and recall are those of the registry.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.adapters.story.story import (
    AnyStory,
    SourceRecord,
    Story,
    canonical_text,
    check_id,
    read_records,
    read_story,
    records_of,
)
from rankgauge.core import ranking
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import given, number, plural
from rankgauge.core.ids import Ints
from rankgauge.core.result_views import Columns, SummaryTable, Tabular
from rankgauge.core.settings import Section, check_settings, check_values, setting
from rankgauge.errors import Fault, InputError, InputTypeError, UsageError, location, nearest, shown, warn_user
from rankgauge.io.byte_streams import read_bytes
from rankgauge.io.faults import Faults
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import JsonPairs, describe_json
from rankgauge.lists.list_join import join_lists, numbered_ids
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.names import parse_measure
from rankgauge.retrieval.embedders import embedder
from rankgauge.retrieval.engines.vector import cosines, embed_texts
from rankgauge.retrieval.ranked_scores import round_scores

# The second document's names, and the profile that each means.
PROFILES = {"vsa": "vsa", "bow": "bow", "basic": "bow", "basic/bow": "bow"}
NOISE = 1e-12  # a mean this close to the threshold equals it: 1 + 1 + 1/5 + 1/5 is 2.4000000000000004


@dataclass(frozen=True)
class StorySearch:
    """How a story is searched, and from which mean on it passes."""

    profile: str = setting(
        "vsa",
        "Compare texts as hyperdimensional vectors or as bags of words.",
        Section.MEASURES,
        choices=tuple(PROFILES),
        common=True,
    )
    k: int = setting(
        5,
        "Compute recall at K for queries without a topK.",
        Section.MEASURES,
        flag="--k K",
        limits=">=1",
        common=True,
    )
    threshold: float = setting(
        0.6,
        "Pass if the mean reciprocal rank exceeds VALUE.",
        Section.MEASURES,
        flag="--threshold VALUE",
        limits="0<=x<=1",
        common=True,
    )

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_SEARCH = StorySearch()


def retrieval_quality(
    story: AnyStory,
    queries: AnyQueries,
    *,
    profile: str = DEFAULT_SEARCH.profile,
    k: int = DEFAULT_SEARCH.k,
    threshold: float = DEFAULT_SEARCH.threshold,
) -> RetrievalQuality:
    """How well searching a story finds the scenes that labeled queries should find.

    The value is the mean reciprocal rank over all scenes; it passes if it is strictly greater than the threshold.
    ``k``, or a query's own ``topK``, is only the cutoff of recall. Story and queries are files or Python objects.
    """
    embedder_name = check_profile(profile)
    check_values(StorySearch, {"k": k, "threshold": threshold})
    scenes, labeled = read_story(story), read_labeled_queries(queries)
    _check_scenes_exist(scenes, labeled)
    if labeled.unlabeled:
        verbs = ("has", "is") if labeled.unlabeled == 1 else ("have", "are")
        message = f"{plural(labeled.unlabeled, 'query')} {verbs[0]} no relevant scenes and {verbs[1]} not counted"
        warn_user(f"{location(labeled.source, None)}{message}")
    per_query = _search(scenes, labeled, embedder_name, k)
    value = aggregate(np.array([query.rr for query in per_query]), "mean")
    return RetrievalQuality(
        value=value,
        passed=None if value is None else value > threshold and not math.isclose(value, threshold, rel_tol=NOISE),
        threshold=float(threshold),
        profile=embedder_name,
        k=k,
        recall_at_k=aggregate(np.array([query.recall for query in per_query]), "mean"),
        queries=per_query,
        scenes=len(scenes),
    )


def check_profile(name: str) -> str:
    """Return the profile of a name, or raise if there is none."""
    if name not in PROFILES:
        close = nearest(str(name), list(PROFILES))
        raise UsageError(
            f"profile must be one of {', '.join(PROFILES)}, found {shown(str(name))}",
            hint=f"did you mean {close}?" if close else None,
        )
    return PROFILES[name]


def rank_scenes(story: Story, texts: Sequence[str], profile: str) -> tuple[Ints, Floats]:
    """For each text all scenes by index, best first, and the cosine of each scene in story order.

    A text without any word that counts has no direction; its cosine with every scene is 0.
    """
    scene_texts = [scene.text for scene in story.scenes]
    exact = word_cosines(texts, scene_texts) if profile == "bow" else _vector_cosines(texts, scene_texts, profile)
    rounded_cosines = round_scores(exact.reshape(-1))
    # The order rule breaks ties by id in descending order: descending ids in story order keep story order.
    count = len(story)
    ids = numbered_ids(count).take(np.tile(np.arange(count)[::-1], len(texts)))
    offsets = np.arange(len(texts) + 1, dtype=np.int64) * count
    rows = ranking.order(offsets, ids, rounded_cosines).reshape(len(texts), count)
    return rows - offsets[:-1, None], rounded_cosines.reshape(exact.shape)


def _vector_cosines(texts: Sequence[str], scene_texts: list[str], profile: str) -> Floats:
    model = embedder(profile)
    scene_vectors = embed_texts(model, [b""] * len(scene_texts), scene_texts, "document")
    return cosines(embed_texts(model, [b""] * len(texts), list(texts), "query"), scene_vectors)


# The profile ``bow``: texts as counts of their words, compared by the cosine of these counts.
#
# Every word of the story and of the queries is a dimension of its own. A word is a run of letters, digits and
# underscores in the composed form of Unicode (NFC), with case folded: ``Ines's`` is ``ines`` and ``s``. No word is
# left out and none is weighted. Products and lengths are sums of integers, so only the last square root and division
# round.

WORD_PATTERN = re.compile(r"\w+")


def count_words(text: str) -> Counter[str]:
    """How often each word occurs in a text."""
    return Counter(WORD_PATTERN.findall(unicodedata.normalize("NFC", text).casefold()))


def word_cosines(queries: Sequence[str], scenes: Sequence[str]) -> Floats:
    """The cosine of each query with each scene, a row per query; 0 for a text without words."""
    scene_counts = [count_words(text) for text in scenes]
    scenes_with_word: dict[str, list[tuple[int, int]]] = {}
    for scene, counts in enumerate(scene_counts):
        for word, count in counts.items():
            scenes_with_word.setdefault(word, []).append((scene, count))
    squares = np.array([_square(counts) for counts in scene_counts], dtype=np.float64)
    out: Floats = np.zeros((len(queries), len(scenes)))
    for row, counts in zip(out, map(count_words, queries), strict=True):
        for word, count in counts.items():
            for scene, scene_count in scenes_with_word.get(word, ()):
                row[scene] += count * scene_count
        row /= np.sqrt(np.maximum(_square(counts) * squares, 1.0))
    return out


def _square(counts: Counter[str]) -> int:
    return sum(count * count for count in counts.values())


def _search(story: Story, labeled: LabeledQueries, profile: str, k: int) -> tuple[QueryQuality, ...]:
    queries = labeled.queries
    if not queries:
        return ()
    order, similarities = rank_scenes(story, [query.text for query in queries], profile)
    _warn_of_unmatched_queries(labeled, similarities)
    rankings = [[story.ids[scene] for scene in row] for row in order.tolist()]
    joined = join_lists([query.relevant for query in queries], rankings)
    ranks, rrs = joined(parse_measure("FirstRel")), joined(parse_measure("RR"))
    cutoffs = [query.k or k for query in queries]
    recalls = {cutoff: joined(parse_measure(f"R@{cutoff}")) for cutoff in set(cutoffs)}
    return tuple(
        QueryQuality(
            id=query.id,
            text=query.text,
            relevant=query.relevant,
            rank=int(ranks[row]),
            rr=float(rrs[row]),
            k=cutoffs[row],
            recall=float(recalls[cutoffs[row]][row]),
            ranking=tuple(
                RankedScene(story.ids[scene], float(similarities[row, scene])) for scene in order[row].tolist()
            ),
        )
        for row, query in enumerate(queries)
    )


def _warn_of_unmatched_queries(labeled: LabeledQueries, similarities: Floats) -> None:
    """Warn of a query that has no word in common with the story, and so gets the scenes in story order."""
    for query, row in zip(labeled.queries, similarities, strict=True):
        if not row.any():
            place = location(labeled.source, query.line)
            warn_user(f"{place}query {shown(query.id)} matches no scene: its ranking is story order")


def _check_scenes_exist(story: Story, labeled: LabeledQueries) -> None:
    """Raise if a query should find a scene that the story does not have."""
    ids = set(story.ids)
    faults = [_unknown_scene(story, query, id) for query in labeled.queries for id in query.relevant if id not in ids]
    if faults:
        raise InputError.from_faults(labeled.source, faults)


def _unknown_scene(story: Story, query: LabeledQuery, id: str) -> Fault:
    close = nearest(id, story.ids)
    return Fault(
        "unknown-scene",
        query.line,
        f"{shown(id)}, which {story.source} does not have",
        f"a scene of the story as relevant to query {shown(query.id)}",
        f"did you mean {close}?" if close else f"the first scene is {shown(story.ids[0])}",
    )


METRIC = "RQ"
NO_QUERIES = "no labeled queries"


@dataclass(frozen=True)
class RankedScene:
    """A scene in a ranking, and its cosine with the query."""

    scene: str
    cosine: float


@dataclass(frozen=True)
class QueryQuality:
    """The result of one query. ``ranking`` has every scene of the story, best first."""

    id: str
    text: str
    relevant: tuple[str, ...]
    rank: int  # of the first relevant scene
    rr: float
    k: int
    recall: float
    ranking: Sequence[RankedScene]

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the first k of the ranking."""
        return {
            "id": self.id,
            "text": self.text,
            "relevant": list(self.relevant),
            "rank": self.rank,
            "rr": self.rr,
            "k": self.k,
            "recall_at_k": self.recall,
            "top": [{"scene": scene.scene, "cosine": scene.cosine} for scene in self.ranking[: self.k]],
        }


@dataclass(frozen=True)
class RetrievalQuality(Tabular):
    """The mean reciprocal rank of the labeled queries, and whether it is above the threshold.

    Without labeled queries there is no value, and nothing passes or fails.
    """

    value: float | None
    passed: bool | None
    threshold: float
    profile: str
    k: int
    recall_at_k: float | None
    queries: tuple[QueryQuality, ...]
    scenes: int

    @property
    def skipped(self) -> str | None:
        """Why there is no value; None if there is one."""
        return None if self.queries else NO_QUERIES

    def to_dict(self) -> dict[str, Any]:
        """For JSON; ``skipped`` is there only if the metric was skipped."""
        result: dict[str, Any] = {
            "metric": METRIC,
            "value": self.value,
            "pass": self.passed,
            "threshold": self.threshold,
            "profile": self.profile,
            "k": self.k,
            "recall_at_k": self.recall_at_k,
            "queries": [query.to_dict() for query in self.queries],
        }
        return result if self.skipped is None else {**result, "skipped": self.skipped}

    def __repr__(self) -> str:
        return f"RetrievalQuality({self})"

    def __str__(self) -> str:
        if self.value is None or self.recall_at_k is None:
            return f"{METRIC} skipped: {self.skipped}"
        verdict = "passed" if self.passed else "FAILED"
        above = "above" if self.passed else "not above"
        cutoffs = {query.k for query in self.queries}
        recall = f"recall@{self.k}" if cutoffs == {self.k} else "recall@k"
        return (
            f"{METRIC} {verdict}: MRR {number(self.value)}, {above} {given(self.threshold)}; "
            f"{recall} {number(self.recall_at_k)}; "
            f"{plural(len(self.queries), 'query')} over {plural(self.scenes, 'scene')}, {self.profile}"
        )

    def summary_table(self) -> SummaryTable:
        """One row per query."""
        rows = [
            [query.id, query.text, query.rank, query.rr, query.recall, query.k, query.ranking[0].scene]
            for query in self.queries
        ]
        return SummaryTable(["query", "text", "rank", "RR", "recall", "k", "first scene"], rows, str(self))

    def frame_columns(self) -> Columns:
        """The queries, with the first scene of each ranking."""
        table = self.summary_table()
        names = ["query", "text", "rank", "rr", "recall", "k", "first"]
        return {name: [row[column] for row in table.rows] for column, name in enumerate(names)}

    def __getitem__(self, query: str) -> QueryQuality:
        """The result of one query, by its id."""
        for result in self.queries:
            if result.id == query:
                return result
        raise KeyError(f"no labeled query {shown(query)}")


# Labeled queries: a search text and the scenes that it should find.
#
#     {"id": "q1", "text": "scenes with Anna in danger", "relevant": ["s3", "s4", "s7"], "topK": 5}
#
# One per line, in an array, or in a document under ``queries``. A query without relevant scenes is not labeled.

QUERY_ID_KEYS = ("query_id", "qid", "question_id", "id", "_id")
QUERY_TEXT_KEYS = ("text", "query", "question", "search")
RELEVANT_KEYS = (
    *("relevant_scene_ids", "relevant_scenes", "expected_scene_ids", "expected_scenes", "scene_ids"),
    *("relevant_ids", "reference_context_ids", "relevant_doc_ids", "golden_chunk_ids", "golden_ids", "gold_ids"),
    *("golden_doc_ids", "expected_ids", "ground_truth_ids", "reference_ids", "positive_ids"),
    *("relevant", "relevant_docs", "expected", "golden", "gold", "ground_truth"),
)
TOP_K_KEYS = ("top_k", "k")
QUERIES_KEY = "queries"
QUERIES_SOURCE = "queries"


@dataclass(frozen=True)
class LabeledQuery:
    """A search text, the scenes that it should find, and its own cutoff for recall if it has one."""

    id: str
    text: str
    relevant: tuple[str, ...]
    k: int | None = None
    line: int | None = None


@dataclass(frozen=True)
class LabeledQueries:
    """The queries that have labels, in their order, and the number of those that have none."""

    queries: tuple[LabeledQuery, ...]
    unlabeled: int = 0
    source: str = QUERIES_SOURCE


AnyQueries = str | Path | LabeledQueries | Iterable[Mapping[str, Any]] | None


def read_labeled_queries(queries: AnyQueries) -> LabeledQueries:
    """Read labeled queries from a JSON Lines or JSON file, or from dicts. An empty file has none."""
    if isinstance(queries, LabeledQueries):
        return queries
    if isinstance(queries, (str, Path)):
        return _labeled_queries(_records(str(queries), read_bytes(queries)[0]), str(queries))
    if queries is None:
        return LabeledQueries(())
    if isinstance(queries, (Mapping, bytes, bytearray)) or not isinstance(queries, Iterable):
        raise InputTypeError(
            f"{QUERIES_SOURCE}: expected a list of dicts, found {type(queries).__name__}",
            hint='queries are a file, or a list of {"text": "…", "relevant": ["…"]}',
        )
    return _labeled_queries(records_of(queries, QUERIES_SOURCE), QUERIES_SOURCE)


def _records(source: str, data: bytes) -> list[SourceRecord]:
    head = Head(data)
    if not head.text.strip():
        return []
    if not head.is_json:
        raise InputError.at(
            source,
            1,
            f"expected JSON, found {shown(head.line)}",
            hint='write one {"text": "…", "relevant": ["…"]} per line',
        )
    records, document = read_records(Faults(source), data, QUERIES_KEY)
    if document is None:
        return records
    inner = document.first((QUERIES_KEY,))
    if isinstance(inner, JsonPairs) or not isinstance(inner, list):
        raise document.error(f"expected a list under {QUERIES_KEY}, found {describe_json(inner)}")
    return records_of(inner, source)


def _labeled_queries(records: list[SourceRecord], source: str) -> LabeledQueries:
    queries: list[LabeledQuery] = []
    ids: set[str] = set()
    for row, record in enumerate(records, 1):
        query = _query(record, row)
        if query.id in ids:
            raise record.error(f"expected each query id once, found {shown(query.id)} again")
        ids.add(query.id)
        queries.append(query)
    labeled = tuple(query for query in queries if query.relevant)
    return LabeledQueries(labeled, len(queries) - len(labeled), source)


def _query(record: SourceRecord, row: int) -> LabeledQuery:
    value = record.first(QUERY_ID_KEYS)
    id = str(row) if value is None else check_id(value, "query id", record)
    text = record.first(QUERY_TEXT_KEYS)
    if not isinstance(text, str) or not text.strip():
        keys = ", ".join(QUERY_TEXT_KEYS)
        raise record.error(f"expected a search text ({keys}) of query {shown(id)}, found {describe_json(text or None)}")
    return LabeledQuery(id, canonical_text(text), _relevant(record, id), _top_k(record, id), record.line)


def _relevant(record: SourceRecord, id: str) -> tuple[str, ...]:
    """The relevant ids of a query, each once; a single id needs no list."""
    value = record.only(RELEVANT_KEYS, "the relevant scenes")
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        value = [value]
    if isinstance(value, (JsonPairs, Mapping)) or not isinstance(value, (list, tuple, set, frozenset)):
        raise record.error(
            f"expected a list of scene ids as relevant to query {shown(id)}, found {describe_json(value)}"
        )
    ids = [check_id(scene, f"scene id of query {shown(id)}", record) for scene in value]
    return tuple(dict.fromkeys(sorted(ids) if isinstance(value, (set, frozenset)) else ids))


def _top_k(record: SourceRecord, id: str) -> int | None:
    value = record.only(TOP_K_KEYS, "topK")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise record.error(
            f"expected a whole number of at least 1 as topK of query {shown(id)}, found {describe_json(value)}"
        )
    return value
