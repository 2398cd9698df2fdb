"""Reports to render as pages: seeded, small by default, optionally with names that try to inject HTML."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from rankgauge import Qrels, Run
from rankgauge.comparison.compare import compare_evaluation
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.config.band_sources import load_bands
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.evaluate import evaluate_runs
from rankgauge.io.reading_options import Reading
from rankgauge.report.report import Report
from rankgauge.retrieval.latency import Cost
from rankgauge.validation.findings import Finding, Place, Validation

SCRIPT = "<script>document.title='injected'</script>"
IMAGE = '"><img src=x onerror="document.title=\'injected\'">'
CLOSING = "</script></style></title><b id=injected>bold</b>"
MEASURES = ("nDCG@10", "AP@100", "RR", "NumRet")
SYSTEM_NAMES = (
    *("bm25", "vector", "hybrid", "rerank", "splade"),
    *("WWWWWWWWWWWWWWW", "bm25-title-2026-11-05-with-a-long-name", "bm25-title-2026-11-06-with-a-long-name"),
    *("稠密检索与重排序系统第二版", "colbert-v2", "docT5query", "rrf(bm25, vector, splade)"),
)
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
) -> Report:
    """Systems of which each is better than the one before."""
    rng = random.Random(1)
    names = [SCRIPT, CLOSING, IMAGE][:systems] if hostile else list(SYSTEM_NAMES[:systems])
    judged: dict[str, dict[str, float]] = {}
    rankings: list[dict[str, dict[str, float]]] = [{} for _ in range(systems)]
    for index in range(queries):
        query = f"{CLOSING}{index}" if hostile else f"q{index:04d}"
        prefix = f"{SCRIPT}-" if hostile else "d"
        pool = [f"{prefix}{rng.randrange(2_000_000):07d}" for _ in range(2 * depth)]
        judged[query] = {doc: rng.choice((0,) * 9 + (1, 2, 3)) for doc in dict.fromkeys(pool[:depth])}
        for number, ranking in enumerate(rankings):
            scores = {doc: judged[query].get(doc, 0) * (0.2 + 0.1 * number) + 2 * rng.random() for doc in pool}
            ranking[query] = dict(sorted(scores.items(), key=lambda item: -item[1])[:depth])
    columns = {
        "kind": [rng.choice((IMAGE, "spec", "how-to") if hostile else ("faq", "spec", "how-to")) for _ in judged],
        "confidence": [rng.choice((1, 2, None)) for _ in judged],
    }
    qrels = Qrels.from_dict(judged, columns=columns, name="made up")
    runs = [Run.from_dict(ranking, name=name) for ranking, name in zip(rankings, names, strict=True)]
    plain_report = report_of_runs(qrels, runs, measures=measures, by=by, resamples=resamples)
    docs = sorted({doc for ranking in rankings for scores in ranking.values() for doc in scores})
    query_texts = {query: f"{IMAGE if hostile else ''}{' '.join(rng.choices(WORDS, k=6))}" for query in judged}
    return replace(
        plain_report,
        evaluation=replace(plain_report.evaluation, texts=query_texts if texts else {}),
        title=f"{IMAGE} report" if hostile else "a report",
        snippets={doc: " ".join(rng.choices(WORDS, k=40)) for doc in docs} if texts else {},
        failed={f"dense {IMAGE}": f"no answer {SCRIPT}"} if hostile else {},
        reproduce=f"rankgauge compare qrels.txt a.run # {CLOSING}" if hostile else "rankgauge compare qrels.txt a.run",
        manifest={"rankgauge": "0", "note": CLOSING if hostile else "plain"},
        costs={name: Cost(20, 1.5 * 3**n, 2.0 * 3**n, 4.0 * 3**n, 10**n, 0.5) for n, name in enumerate(names)},
        validations=(_validation(hostile=hostile),),
        bands=load_bands("trec-2025"),
    )


def report_of_runs(
    qrels: Qrels,
    runs: Sequence[Run],
    *,
    measures: Sequence[str] = MEASURES,
    by: Sequence[str] = (),
    resamples: int = 500,
) -> Report:
    """A report of these runs and nothing else."""
    evaluation = evaluate_runs(qrels, runs, measures, reading=Reading(keep_rankings=True))
    comparison = None
    if len(runs) > 1:
        comparison = compare_evaluation(evaluation, statistics=Statistics(resamples=resamples), by=by)
    return Report("a report", evaluation, comparison, by=tuple(by))


def _validation(*, hostile: bool) -> Validation:
    found = f"score {SCRIPT}" if hostile else "score 1.5"
    finding = Finding("tie", "warning", 2, "a tie of scores", "other scores", "break it", (Place(3, found),))
    return Validation(f"{IMAGE}.run" if hostile else "a.run", "trec", None, 100, 10, (finding,))


def with_note(original: Report, message: str) -> Report:
    """The same report with a note on the first system."""
    first = replace(original.scores[0], notes=(Note("note", message),))
    evaluation = replace(original.evaluation, scores=(first, *original.scores[1:]))
    return replace(original, evaluation=evaluation)


def without_rankings(original: Report, *systems: int) -> Report:
    """The same report without the rankings of some systems."""
    joins = [replace(join, run=None) if n in systems else join for n, join in enumerate(original.joined)]
    return replace(original, evaluation=replace(original.evaluation, joined=tuple(joins)))
