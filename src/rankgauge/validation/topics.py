"""The ids of the queries that were asked, from whatever holds queries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from rankgauge.core.ids import Ids, encode_id
from rankgauge.errors import InputError
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import plain
from rankgauge.io.queries import QUERY_IDS, read_queries
from rankgauge.io.sources import is_dataset, read_bytes
from rankgauge.io.text import checked

TOPIC = re.compile(
    rb"<num>\s*(?:Number:)?\s*([^\s<]+)|<(?:topic|query)\s[^>]*?(?:number|id)\s*=\s*[\"']([^\"']+)", re.I
)
KNOWN = {plain(name) for name in QUERY_IDS}


def query_ids(given: str | Path | Iterable[str | bytes]) -> Ids:
    """The distinct ids: of TREC topics, of a table or records of queries, of lines that begin with one, or as given."""
    if not isinstance(given, (str, Path)):
        return _distinct(encode_id(value, "query id") for value in given)
    if is_dataset(given):
        return read_queries(given).ids
    data, _ = read_bytes(given)
    head = Head(data)
    if head.text.startswith((arrow.PARQUET, arrow.FILE, arrow.STREAM)) or head.is_json or _is_table(head.line):
        return read_queries(given).ids
    data = checked(Faults(str(given)), data)
    if head.text.lstrip()[:1] == b"<":
        found = _distinct(one or other for one, other in TOPIC.findall(data))
    else:
        found = _distinct(fields[0] for fields in (line.split(None, 1) for line in data.split(b"\n")) if fields)
    if not len(found):
        raise InputError.at(
            given, None, "no query id found", hint="JSON Lines with _id, TREC topics, or 'id text' lines"
        )
    return found


def _is_table(line: bytes) -> bool:
    """Columns between tabs, or a header with the name of an id."""
    names = re.split(rb"[,;]", line)
    return b"\t" in line or (len(names) > 1 and any(plain(name.decode("utf-8", "replace")) in KNOWN for name in names))


def _distinct(ids: Iterable[bytes]) -> Ids:
    return Ids.from_bytes(list(dict.fromkeys(ids)))
