"""Retrieval Quality: how early a search finds the right scenes.

Every scene is ranked for every query by the cosine of their embeddings, rounded to six digits like all scores of
retrievers; scenes that tie keep story order. Reciprocal rank and recall are those of the registry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankgauge.adapters.story.labeled import AnyQueries, LabeledQueries, LabeledQuery, read_labeled_queries
from rankgauge.adapters.story.result import QueryQuality, RankedScene, RetrievalQuality
from rankgauge.adapters.story.story import AnyStory, Story, read_story
from rankgauge.core import ranking
from rankgauge.core.formatting import plural
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import Fault, InputError, UsageError, location, nearest, shown, warn_user
from rankgauge.lists.joined import join_lists, numbered_ids
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.parse import parse_measure
from rankgauge.retrieval.asking.calls import check_k
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.vector import embed_texts
from rankgauge.retrieval.engines.vectors import cosines
from rankgauge.retrieval.scores import round_scores

PROFILES = ("vsa", "bow")
DS18_PROFILES = {"basic/bow": "bow"}  # the names in DS18
DEFAULT_TOP_K, DEFAULT_THRESHOLD = 5, 0.6
NOISE = 1e-12  # a mean this close to the threshold equals it: 1 + 1 + 1/5 + 1/5 is 2.4000000000000004


def retrieval_quality(
    story: AnyStory,
    queries: AnyQueries,
    *,
    profile: str = "vsa",
    k: int = DEFAULT_TOP_K,
    threshold: float = DEFAULT_THRESHOLD,
) -> RetrievalQuality:
    """How well searching a story finds the scenes that labeled queries should find.

    The value is the mean reciprocal rank over all scenes; it passes if it is strictly greater than the threshold.
    ``k``, or a query's own ``topK``, is only the cutoff of recall. Story and queries are files or Python objects.
    """
    embedder_name = check_profile(profile)
    check_k(k)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be a number from 0 to 1, found {threshold!r}")
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
    profile = DS18_PROFILES.get(name, name)
    if profile not in PROFILES:
        close = nearest(str(name), PROFILES)
        raise UsageError(
            f"profile must be one of {', '.join(PROFILES)}, found {shown(str(name))}",
            hint=f"did you mean {close}?" if close else None,
        )
    return profile


def rank_scenes(story: Story, texts: Sequence[str], profile: str) -> tuple[Ints, Floats]:
    """For each text all scenes by index, best first, and the cosine of each scene in story order.

    A text without any word that counts has no direction; its cosine with every scene is 0.
    """
    model = embedder(profile)
    scene_vectors = embed_texts(model, [b""] * len(story), [scene.text for scene in story.scenes], "document")
    query_vectors = embed_texts(model, [b""] * len(texts), list(texts), "query")
    exact = cosines(query_vectors, scene_vectors)
    rounded_cosines = round_scores(exact.reshape(-1))
    # The order rule breaks ties by id in descending order: descending ids in story order keep story order.
    count = len(story)
    ids = numbered_ids(count).take(np.tile(np.arange(count)[::-1], len(texts)))
    offsets = np.arange(len(texts) + 1, dtype=np.int64) * count
    rows = ranking.order(offsets, ids, rounded_cosines).reshape(len(texts), count)
    return rows - offsets[:-1, None], rounded_cosines.reshape(exact.shape)


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
