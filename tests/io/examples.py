"""The same judgments and the same run, written by hand in every text format."""

from __future__ import annotations

from rankgauge.io.formats.named_columns import Kind

GRADES = {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d3": 1.0}}
SCORES = {"q1": {"d1": 2.5, "d9": 1.5}, "q2": {"d3": 0.5}}

QRELS = {
    "trec": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n",
    "msmarco": b"q1\t0\td1\t2\nq1\t0\td2\t0\nq2\t0\td3\t1\n",
    "beir": b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n",
    "json": b'{"q1": {"d1": 2, "d2": 0}, "q2": {"d3": true}}',
    "jsonl": b'{"qid": "q1", "docno": "d1", "rel": 2}\n{"qid": "q1", "docno": "d2", "rel": 0}\n'
    b'\n{"qid": "q2", "docno": "d3", "rel": 1.0}\n',
    "judgments": b'{"query_id":"q1","doc_id":"d1","relevance":3,"assessor":"ann","how":"terminal"}\n'
    b'{"query_id":"q1","doc_id":"d1","relevance":2,"assessor":"ann","how":"terminal"}\n'
    b'{"query_id":"q1","doc_id":"d2","relevance":0,"assessor":"bob","how":"terminal"}\n'
    b'{"query_id":"q1","doc_id":"d4","relevance":null,"assessor":"bob","how":"terminal","status":"skipped"}\n'
    b'{"query_id":"q2","doc_id":"d3","relevance":1,"assessor":"ann","how":"machine"}\n',
    "quepid": b"query,docid,rating\nq1,d1,2\nq1,d2,0\nq2,d3,1\n",
    "rank_eval": b'{"requests": [{"id": "q1", "request": {}, "ratings": [{"_index": "i", "_id": "d1", "rating": 2}, '
    b'{"_index": "i", "_id": "d2", "rating": 0}]}, {"id": "q2", "ratings": [{"_id": "d3", "rating": 1}]}]}',
    "csv": b"query_id,doc_id,label\nq1,d1,2\nq1,d2,0\nq2,d3,1\n",
    "tsv": b"Query-ID\tPID\tgrade\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n",
    "log": b'{"query_id": "q1", "relevant_ids": ["d1"], "grades": {"d1": 2, "d2": 0}}\n'
    b'{"query_id": "q2", "relevant_ids": ["d3"]}\n',
}
RUNS = {
    "trec": b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d9 2 1.5 tag\nq2 Q0 d3 1 0.5 tag\n",
    "json": b'{\n  "q1": {"d1": 2.5, "d9": 1.5},\n  "q2": {"d3": 0.5}\n}',
    "jsonl": b'{"query_id": "q1", "doc_id": "d1", "score": 2.5}\n{"query_id": "q1", "doc_id": "d9", "score": 1.5}\n'
    b'{"query_id": "q2", "doc_id": "d3", "score": 0.5}\n',
    "csv": b"qid,docno,sim\r\nq1,d1,2.5\r\nq1,d9,1.5\r\nq2,d3,0.5\r\n",
    "tsv": b"q1\td1\t2.5\nq1\td9\t1.5\nq2\td3\t0.5\n",
    "log": b'{"query_id": "q1", "retrieved": [{"id": "d1", "score": 2.5}, {"id": "d9", "score": 1.5}]}\n'
    b'{"query_id": "q2", "retrieved": [["d3", 0.5]]}\n',
}
RANKED = {"msmarco": b"q1\td1\t1\nq1\td9\t2\nq2\td3\t1\n"}
FILES: list[tuple[Kind, str, bytes]] = [
    *(("qrels", name, data) for name, data in QRELS.items()),
    *(("run", name, data) for name, data in (RUNS | RANKED).items()),
]
