"""Reports to make pages of: seeded, small unless asked otherwise, and with names that nobody should obey."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from rankgauge import Qrels, Run
from rankgauge.comparison.compare import Statistics, compare_scores
from rankgauge.config.bands.loading import load_bands
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.notes import Note
from rankgauge.report.report import Cost, Report
from rankgauge.validation.findings import Finding, Place, Validation

SCRIPT = "<script>document.title='obeyed'</script>"
IMAGE = '"><img src=x onerror="document.title=\'obeyed\'">'
CLOSING = "</script></style></title><b id=obeyed>bold</b>"
MEASURES = ("nDCG@10", "AP@100", "RR", "NumRet")
WORDS = "brake chain wheel spoke tube valve saddle light pump lock stand grip".split()


def report(
    systems: int = 2,
    queries: int = 12,
    *,
    measures: Sequence[str] = MEASURES,
    by: Sequence[str] = ("kind", "confidence"),
    texts: bool = True,
    hostile: bool = False,
    depth: int = 30,
    resamples: int = 500,
    seed: int = 1,
) -> Report:
    """Systems that get better one after the other."""
    rng = random.Random(seed)
    names = (
        [SCRIPT, CLOSING, IMAGE][:systems] if hostile else ["bm25", "vector", "hybrid", "rerank", "splade"][:systems]
    )
    judged: dict[str, dict[str, float]] = {}
    found: list[dict[str, dict[str, float]]] = [{} for _ in range(systems)]
    for place in range(queries):
        query = f"{CLOSING}{place}" if hostile else f"q{place:04d}"
        prefix = f"{SCRIPT}-" if hostile else "d"
        pool = [f"{prefix}{rng.randrange(2_000_000):07d}" for _ in range(2 * depth)]
        judged[query] = {doc: rng.choice((0,) * 9 + (1, 2, 3)) for doc in dict.fromkeys(pool[:depth])}
        for number, run in enumerate(found):
            scores = {doc: judged[query].get(doc, 0) * (0.2 + 0.1 * number) + 2 * rng.random() for doc in pool}
            run[query] = dict(sorted(scores.items(), key=lambda item: -item[1])[:depth])
    columns = {
        "kind": [rng.choice((IMAGE, "spec", "how-to") if hostile else ("faq", "spec", "how-to")) for _ in judged],
        "confidence": [rng.choice((1, 2, None)) for _ in judged],
    }
    qrels = Qrels.from_dict(judged, columns=columns, name="made up")
    runs = [Run.from_dict(run, name=name) for run, name in zip(found, names, strict=True)]
    made = of_runs(qrels, runs, measures=measures, by=by, resamples=resamples)
    docs = sorted({doc for run in found for listed in run.values() for doc in listed})
    return replace(
        made,
        title=f"{IMAGE} report" if hostile else "a report",
        texts={query: f"{IMAGE if hostile else ''}{' '.join(rng.choices(WORDS, k=6))}" for query in judged}
        if texts
        else {},
        snippets={doc: " ".join(rng.choices(WORDS, k=40)) for doc in docs} if texts else {},
        failed={f"dense {IMAGE}": f"no answer {SCRIPT}"} if hostile else {},
        reproduce=f"rankgauge compare qrels.txt a.run # {CLOSING}" if hostile else "rankgauge compare qrels.txt a.run",
        manifest={"rankgauge": "0", "note": CLOSING if hostile else "plain"},
        costs={name: Cost(20, 1.5 * 3**n, 2.0 * 3**n, 4.0 * 3**n, 10**n, 0.5) for n, name in enumerate(names)},
        validations=(_validation(hostile=hostile),),
        bands=load_bands("trec-2025"),
    )


def of_runs(
    qrels: Qrels,
    runs: Sequence[object],
    *,
    measures: Sequence[str] = MEASURES,
    by: Sequence[str] = (),
    names: Sequence[str] | None = None,
    resamples: int = 500,
) -> Report:
    """A report of these runs and nothing else."""
    judged, joined, scores, _ = joined_scores(qrels, list(runs), asked_measures(measures), Conventions())
    named = [replace(one, run=name) for one, name in zip(scores, names or [one.run for one in scores], strict=True)]
    compared = None
    if len(named) > 1:
        statistics = Statistics(resamples=resamples)
        compared = compare_scores(judged, joined, named, statistics=statistics, by=tuple(by))
    return Report("a report", judged, tuple(runs), tuple(joined), tuple(named), compared, by=tuple(by))


def _validation(*, hostile: bool) -> Validation:
    found = f"score {SCRIPT}" if hostile else "score 1.5"
    finding = Finding("tie", "warning", 2, "a tie of scores", "other scores", "break it", (Place(3, found),))
    return Validation(f"{IMAGE}.run" if hostile else "a.run", "trec", None, 100, 10, (finding,))


def with_note(made: Report, message: str) -> Report:
    """The same with a note on the first system."""
    first = replace(made.scores[0], notes=(Note("note", message),))
    return replace(made, scores=(first, *made.scores[1:]))
