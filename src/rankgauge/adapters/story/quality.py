"""Retrieval Quality: how early a search finds the right scenes.

Every scene is ranked for every query by the cosine of their embeddings, rounded to six digits as all retrieval here;
scenes that tie keep story order. Reciprocal rank and recall are those of the registry.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np

from rankgauge.adapters.story.labeled import AnyQueries, Labelled, LabelledQuery, read_labelled
from rankgauge.adapters.story.result import Found, QueryQuality, RetrievalQuality
from rankgauge.adapters.story.story import AnyStory, Story, read_story
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import Fault, InputError, RankgaugeWarning, UsageError, nearest, place, shown
from rankgauge.lists.joined import join_lists
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.parse import parse_measure
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.vector import embedded
from rankgauge.retrieval.engines.vectors import cosines
from rankgauge.retrieval.scores import rounded

PROFILES = ("vsa", "bow")
ALIASES = {"basic/bow": "bow", "basic": "bow"}  # DS18's own words
DEPTH, THRESHOLD = 5, 0.6
NOISE = 1e-12  # a mean this close to the threshold is equal to it: 1 + 1 + 1/5 + 1/5 is 2.4000000000000004


def retrieval_quality(
    story: AnyStory,
    queries: AnyQueries,
    *,
    profile: str = "vsa",
    k: int = DEPTH,
    threshold: float = THRESHOLD,
) -> RetrievalQuality:
    """How well searching a story finds the scenes that labelled queries should find.

    The value is the mean reciprocal rank over all scenes; it passes where it is strictly greater than the threshold.
    ``k``, or a query's own ``topK``, only says how far recall looks. Story and queries are files or Python objects.
    """
    kind = checked_profile(profile)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UsageError(f"k must be a whole number of at least 1, found {k!r}")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be a number from 0 to 1, found {threshold!r}")
    scenes, labelled = read_story(story), read_labelled(queries)
    _refuse_strangers(scenes, labelled)
    if labelled.unlabelled:
        many = labelled.unlabelled > 1
        said = f"{labelled.unlabelled} queries have no" if many else "1 query has no"
        message = f"{place(labelled.source, None)}{said} relevant scenes and {'count' if many else 'counts'} nothing"
        warnings.warn(message, RankgaugeWarning, stacklevel=2)
    found = _searched(scenes, labelled, kind, k)
    value = aggregate(np.array([query.rr for query in found]), "mean")
    return RetrievalQuality(
        value=value,
        passed=None if value is None else value > threshold and not math.isclose(value, threshold, rel_tol=NOISE),
        threshold=float(threshold),
        profile=kind,
        k=k,
        recall_at_k=aggregate(np.array([query.recall for query in found]), "mean"),
        queries=found,
        scenes=len(scenes),
    )


def checked_profile(name: str) -> str:
    """The profile behind a name."""
    kind = ALIASES.get(name, name)
    if kind not in PROFILES:
        close = nearest(str(name), PROFILES)
        raise UsageError(
            f"profile must be one of {', '.join(PROFILES)}, found {shown(str(name))}",
            hint=f"did you mean {close}?" if close else None,
        )
    return kind


def ranked(story: Story, texts: Sequence[str], profile: str) -> tuple[Ints, Floats]:
    """For each text all scenes, best first, and the cosine of each scene in story order.

    A text without a single word that counts has no direction; its cosine with anything is 0.
    """
    one = embedder(profile)
    scenes = embedded(one, [b""] * len(story), [scene.text for scene in story.scenes], "document")
    asked = embedded(one, [b""] * len(texts), list(texts), "query")
    similar = cosines(asked, scenes)
    similar = rounded(similar.reshape(-1)).reshape(similar.shape)
    return np.argsort(-similar, axis=1, kind="stable").astype(np.int64), similar


def _searched(story: Story, labelled: Labelled, profile: str, k: int) -> tuple[QueryQuality, ...]:
    asked = labelled.queries
    if not asked:
        return ()
    order, similar = ranked(story, [query.text for query in asked], profile)
    _tell_of_the_undecided(labelled, similar)
    rankings = [[story.ids[at] for at in row] for row in order.tolist()]
    joined = join_lists([query.relevant for query in asked], rankings)
    ranks, rrs = joined(parse_measure("FirstRel")), joined(parse_measure("RR"))
    depths = [query.k or k for query in asked]
    recalls = {depth: joined(parse_measure(f"R@{depth}")) for depth in set(depths)}
    return tuple(
        QueryQuality(
            id=query.id,
            text=query.text,
            relevant=query.relevant,
            rank=int(ranks[row]),
            rr=float(rrs[row]),
            k=depths[row],
            recall=float(recalls[depths[row]][row]),
            ranking=tuple(Found(story.ids[at], float(similar[row, at])) for at in order[row].tolist()),
        )
        for row, query in enumerate(asked)
    )


def _tell_of_the_undecided(labelled: Labelled, similar: Floats) -> None:
    """A query that has no word in common with the story is answered with the story's order: say so."""
    for query, row in zip(labelled.queries, similar, strict=True):
        if not row.any():
            warnings.warn(
                f"{place(labelled.source, query.line)}query {shown(query.id)} is like no scene at all: "
                "its ranking is story order",
                RankgaugeWarning,
                stacklevel=4,
            )


def _refuse_strangers(story: Story, labelled: Labelled) -> None:
    """Raise where a query should find a scene that the story does not have."""
    known = set(story.ids)
    faults = [_stranger(story, query, id) for query in labelled.queries for id in query.relevant if id not in known]
    if faults:
        raise InputError.many(labelled.source, faults)


def _stranger(story: Story, query: LabelledQuery, id: str) -> Fault:
    close = nearest(id, story.ids)
    return Fault(
        "unknown-scene",
        query.line,
        f"{shown(id)}, which {story.source} does not have",
        f"a scene of the story as relevant to query {shown(query.id)}",
        f"did you mean {close}?" if close else f"the first scene is {shown(story.ids[0])}",
    )
