"""Forty queries and three systems: one of chance, one that is clearly better, and one that hardly is."""

from __future__ import annotations

import numpy as np

from rankgauge import Qrels

RNG = np.random.default_rng(3)
DOCS = [f"d{n}" for n in range(30)]
QUERIES = [f"q{n:02d}" for n in range(40)]
JUDGED = {query: {doc: int(RNG.integers(0, 3)) for doc in RNG.permutation(DOCS)[:15]} for query in QUERIES}


def system(skill: float) -> dict[str, dict[str, float]]:
    """Scores that follow the grades as far as skill goes."""
    return {query: {doc: skill * JUDGED[query].get(doc, 0) + float(RNG.normal()) for doc in DOCS} for query in QUERIES}


POOR, GOOD, LUCKY = system(0.0), system(1.5), system(0.05)
COLUMNS = {"category": {query: "even" if n % 2 == 0 else "odd" for n, query in enumerate(QUERIES)}}
QRELS = Qrels.from_dict(JUDGED, columns=COLUMNS)
