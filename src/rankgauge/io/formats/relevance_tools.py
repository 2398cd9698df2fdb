"""Judgments of tools for search relevance: Quepid's CSV, and requests and responses of ``rank_eval``.

Quepid identifies a query by its text, which is written if it is known. Elasticsearch and OpenSearch rate documents per
request (``rank_eval``); what they answer has only the ratings of what was found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from rankgauge.core.batch import Batch, Part
from rankgauge.core.ids import Ids
from rankgauge.io.formats.case_keys import names_for
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import JsonPairs
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.formats.trec import whole_grades

QUEPID_COLUMNS = ["query", "docid", "rating"]
INDEX = "INDEX"  # where the name of an index belongs that judgments do not have
RESPONSE = "a response of rank_eval, which rates only the documents that were found"


def is_quepid(head: Head, kind: Kind) -> bool:
    """Whether a table has Quepid's columns."""
    cells = [cell.strip(b' "').lower().decode("utf-8", "replace") for cell in head.line.split(b",")]
    return kind == "qrels" and cells == QUEPID_COLUMNS


def is_rank_eval(head: Head, kind: Kind) -> bool:
    """Whether a file is a request of rank_eval."""
    return kind == "qrels" and head.is_json and b'"requests"' in head.text[:4096] and b'"ratings"' in head.text


def write_quepid(parts: Iterator[Batch], kind: Kind, out: IO[bytes]) -> None:
    """``query,docid,rating``, below a header."""
    from rankgauge.io.formats.delimited import DelimitedTable, write_table  # which readers of test sets do without

    for number, rows in enumerate(parts):
        texts = _query_texts(rows)
        queries = [texts.get(query, query).encode("utf-8", "surrogateescape") for query in rows.query.to_text()]
        table = DelimitedTable(out, ",", Part(number == 0, True))
        write_table(table, QUEPID_COLUMNS, [Ids.from_bytes(queries), rows.doc], list(whole_grades(rows)))


def write_rank_eval(parts: Iterator[Batch], kind: Kind, out: IO[bytes]) -> None:
    """One request per query, with its ratings. Its query and the index are to be replaced by one's own."""
    requests: dict[str, dict[str, Any]] = {}
    for rows in parts:
        texts = _query_texts(rows)
        for query, doc, grade in _judgments(rows):
            body = {"query": {"simple_query_string": {"query": texts.get(query, query)}}}
            request = requests.setdefault(query, {"id": query, "request": body, "ratings": []})
            request["ratings"].append({"_index": INDEX, "_id": doc, "rating": grade})
    document = {"requests": list(requests.values()), "metric": {"dcg": {"k": 10, "normalize": True}}}
    out.write(json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape") + b"\n")


def _query_texts(rows: Batch) -> dict[str, str]:
    """The texts of queries, if the judgments came with them."""
    name = next(iter(names_for(list(rows.columns), "query")), None)
    values = {} if name is None else rows.columns[name]
    return {query: text for query, text in values.items() if isinstance(text, str)}


def _judgments(rows: Batch) -> Iterator[tuple[str, str, int]]:
    """Query, document and grade of each row; a grade must be a whole number."""
    grades = map(int, whole_grades(rows))
    yield from zip(rows.query.to_text(), rows.doc.to_text(), grades, strict=True)


def response_rows(document: Any) -> list[JsonPairs]:
    """The rows of a log in a response of rank_eval; none if a document is not one."""
    details = dict(document).get("details") if isinstance(document, JsonPairs) else None
    if not isinstance(details, JsonPairs) or not details or "metric_score" not in dict(document):
        return []
    rows = []
    for query, detail in details:
        hits = dict(detail).get("hits") if isinstance(detail, JsonPairs) else None
        if not isinstance(hits, list) or isinstance(hits, JsonPairs):
            return []
        found = [dict(dict(hit).get("hit") or ()) for hit in hits if isinstance(hit, JsonPairs)]
        results = [JsonPairs([("id", hit.get("_id")), ("score", hit.get("_score"))]) for hit in found]
        has_scores = all(isinstance(hit.get("_score"), (int, float)) for hit in found)
        ids = [hit.get("_id") for hit in found]
        rows.append(JsonPairs([("query_id", query), ("retrieved", results if has_scores else ids)]))
    return rows
