"""A result of each type that has a view, with names that would be markup if they were not escaped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankgauge import (
    Qrels,
    Run,
    compare,
    evaluate,
    evaluate_retriever,
    evaluate_runs,
    gate,
    read_corpus,
    read_queries,
    validate_run,
)
from rankgauge.adapters import gate_efficiency, reranking_improvement, retrieval_quality, routing_accuracy
from rankgauge.adapters.pipeline.pipeline_log import PipelineReport
from rankgauge.benchmark.verify import FileChange, Verification
from rankgauge.comparison import diff_runs, qrels_agreement
from rankgauge.core.result_views import ResultList
from rankgauge.evaluation import audit_ties, audit_unjudged
from rankgauge.history import EntryFilter, History
from rankgauge.io.formats.judgment_lines import Inclusion
from rankgauge.labels import (
    Judgment,
    PoolItem,
    check_labels,
    estimate_with_machine_labels,
    rater_agreement,
    ratings_of,
    read_gold,
    resolve_labels,
)
from rankgauge.labels.assessors import Rater
from rankgauge.lists import RetrievalMetricsSuite
from rankgauge.report import build_report
from rankgauge.retrieval import CallableRetriever, FetchOptions, QueryBatch, fetch_run, tune

BAD = "<script>alert(1)</script>'\"><img/src=x/onerror=alert(1)>&amp;\u202e"
QUERIES = [f"q{number:02}{BAD}" for number in range(24)]
JUDGED = {query: {f"{query}-{doc}": doc % 4 for doc in range(8)} for query in QUERIES}
COLUMNS = {"kind": {query: f"{'ab'[place % 2]}{BAD}" for place, query in enumerate(QUERIES)}}


def ranking(query: str, first: int) -> dict[str, float]:
    """Eight judged documents from the given one on, then two unjudged ones; some scores are tied."""
    docs = [f"{query}-{(first + place) % 8}" for place in range(8)] + [f"{query}-x", f"{query}-y"]
    return {doc: float(10 - place // 2) for place, doc in enumerate(docs)}


SYSTEMS = {
    f"old{BAD}": {query: ranking(query, 0) for query in QUERIES},
    f"new{BAD}": {query: ranking(query, place % 5) for place, query in enumerate(QUERIES)},
    f"third{BAD}": {query: ranking(query, 7 - place % 3) for place, query in enumerate(QUERIES)},
}
OLD, NEW, THIRD = (Run.from_dict(results, name=name) for name, results in SYSTEMS.items())
QRELS = Qrels.from_dict(JUDGED, columns=COLUMNS, name=f"judged{BAD}")
MEASURES = ["nDCG@5", "RR", "P@3"]


def results(folder: Path) -> dict[str, Any]:
    """By the name of their class; several results of a class by that name with ``[]``."""
    bad_run = folder / "bad.run"
    bad_run.write_text(f"q1 Q0 {BAD} 1 nan x\n", encoding="utf-8")
    queries = folder / "queries.jsonl"
    queries.write_text(json.dumps({"_id": BAD, "text": BAD, "kind": BAD}) + "\n", encoding="utf-8")
    labels = folder / "labels.jsonl"
    row = {"query_id": BAD, "doc_id": BAD, "grade": 1, "text_sha256": "0" * 64}
    labels.write_text(json.dumps(row) + "\n", encoding="utf-8")
    gold = read_gold([{"query_id": BAD, "query": BAD, "gold": [f"the words {BAD}", "nowhere to be found"]}])
    evaluation = evaluate_runs(QRELS, [OLD, NEW, THIRD], MEASURES)
    scores = evaluation.scores[0]
    rated = ratings_of([Rater(f"one{BAD}", QRELS), Rater(f"two{BAD}", QRELS.binary(2))])
    agreements = rater_agreement(rated, columns=COLUMNS, by=["kind"])
    history = History.open(folder / "history")
    for day, run in enumerate((OLD, OLD, NEW)):
        date = datetime(2026, 1, 1 + day, tzinfo=UTC)
        history.save(evaluate(QRELS, run, MEASURES), date=date)
    entries = history.entries()
    steps = {
        "routing": routing_accuracy(dict.fromkeys(QUERIES, BAD), dict.fromkeys(QUERIES, f"best{BAD}")),
        "gate": gate_efficiency(dict.fromkeys(QUERIES, True), {query: query < QUERIES[9] for query in QUERIES}),
        "rerank": reranking_improvement(OLD, NEW, qrels=QRELS),
    }

    def retriever(query: str) -> list[str]:
        if query == QUERIES[0]:
            raise RuntimeError(BAD)
        return [f"{query}-3", f"{query}-x"]

    cases = [{"id": query, "query": query, "relevant_ids": [f"{query}-3"]} for query in QUERIES]
    batch = QueryBatch.from_dict(dict(zip(QUERIES, QUERIES, strict=True)))
    story = {BAD: "Fog on the crossing", "s2": "The council votes"}
    return {
        "Comparison": compare(QRELS, [OLD, NEW], MEASURES, by=["kind"]),
        "Comparison of three": compare(QRELS, [OLD, NEW, THIRD], MEASURES),
        "EntrySummary": entries[0],
        "EntrySummary[]": entries,
        "Evaluation": evaluation,
        "FetchResult": fetch_run(
            CallableRetriever(retriever, name="r"), batch, folder / "fetched.run", options=FetchOptions(max_failures=1)
        ),
        "GateEfficiency": steps["gate"],
        "GateResult": gate(QRELS, NEW, MEASURES, baseline=OLD, require=["nDCG@5>=0.99"]),
        "GoldLabels": gold,
        "GroupSummary[]": scores.by("kind"),
        "History": history,
        "Judgment[]": ResultList([Judgment(BAD, BAD, 1.0, BAD, "terminal"), Judgment(BAD, BAD, None, BAD, "terminal")]),
        "LabelCheck": check_labels(labels, {BAD: "another text"}),
        "LabelEstimates": estimate_with_machine_labels(QRELS, QRELS, [OLD], MEASURES),
        "PipelineReport": PipelineReport(f"log{BAD}", len(QUERIES), **steps),  # type: ignore[arg-type]  # of three types
        "PoolItem[]": ResultList([PoolItem(BAD, BAD, Inclusion("depth"), BAD, BAD, BAD)]),
        "Qrels": QRELS,
        "QrelsAgreement": qrels_agreement(QRELS, QRELS.binary(3), [OLD, NEW, THIRD], MEASURES),
        "QualityCheck": history.check(),
        "Queries": read_queries(queries),
        "RaterAgreement": agreements[0],
        "RaterAgreement[]": agreements,
        "Report": build_report(QRELS, SYSTEMS, title=BAD),
        "Report of one": build_report(QRELS, [OLD], title=BAD),
        "RerankingResult": steps["rerank"],
        "ResolvedLabels": resolve_labels(gold, read_corpus({BAD: f"all the words {BAD} of it"})),
        "RetrievalQuality": retrieval_quality(story, [{"text": BAD, "relevant": ["s2"]}], profile="bow"),
        "RetrievalResult": evaluate_retriever(retriever, cases, k=3, max_failures=1),
        "RoutingResult": steps["routing"],
        "Run": OLD,
        "RunDifference": diff_runs(OLD, NEW),
        "SavedEntry": history.entry(entries[0].name),
        "Scores": scores,
        "Scores[]": evaluation.scores,
        "SuiteResult": RetrievalMetricsSuite().evaluate_batch([{"relevant_docs": ["a"]}] * 3, [["a", "b"]] * 3),
        "TieAudit": audit_ties(QRELS, OLD, MEASURES),
        "Trend": history.trend("RR", EntryFilter(system=OLD.name)),
        "TuningResult": tune(QRELS, [OLD, NEW], steps=2),
        "UnjudgedAudit": audit_unjudged(QRELS, OLD, MEASURES),
        "Validation": validate_run(bad_run),
        "Verification": Verification(3, 10, (FileChange(f"a{BAD}", None, BAD),)),
    }
