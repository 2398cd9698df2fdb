"""The results in a log: ids and scores of each system, and what came with them: texts, metadata, latencies, errors.

The rows are those of ``log_rows``. Texts are in the objects of results, beside a list of ids, or in place of ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from rankgauge.core.batch import Batch, joined_extras
from rankgauge.core.ids import encode_id
from rankgauge.core.run import QueryNumbers, RunExtras
from rankgauge.errors import InputError, shown
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import truth
from rankgauge.io.formats.expected_text import text_id
from rankgauge.io.formats.field_labels import FieldLabels
from rankgauge.io.formats.json_mapping import (
    Entry,
    StructureError,
    id_key_of,
    read_entries,
)
from rankgauge.io.formats.json_text import (
    JsonPairs,
    Record,
    as_dicts,
    describe_json,
    id_from_json,
    number_from_json,
)
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.formats.named_columns import (
    ASKED_KEY,
    METADATA_NAMES,
    TEXT_FIELD_NAMES,
    columns_for,
    normalize_name,
)
from rankgauge.io.formats.number_cells import cell_number, number_error
from rankgauge.io.row_checks import several_systems
from rankgauge.io.text_checks import replace_lone_surrogates

CONTEXT_KEYS = ("retrieved_contexts", "contexts")  # of texts, beside a list of ids or in its place
DEFAULT_ERROR = "failed"
NUMBER_TYPES = frozenset((bool, int, float))
NUMBER_ROLES = {"latency": "milliseconds", "tokens": "tokens", "cost": "units of money"}  # one for each query


def run_rows(log: Log, faults: Faults) -> Batch:
    """The retrieved documents of a log of one system; raises if there are several."""
    names = list(dict.fromkeys(log.systems.values()))
    if len(names) > 1:
        raise several_systems(faults.source, names)
    return next(run_batches(log, faults))


def run_batches(log: Log, faults: Faults) -> Iterator[Batch]:
    """The retrieved documents of each system, with what came with them."""
    for name in list(dict.fromkeys(log.systems.values())) or [""]:
        part = log
        if log.systems:
            part = replace(log, queries={row: q for row, q in log.queries.items() if log.systems.get(row) == name})
        collected = part.plain_rows("run") or part.collect(faults, "run", partial(_retrieved, part))
        extras = joined_extras((_extras(part, faults), collected.extras))
        failed = () if extras is None else tuple(encode_id(query, "query id") for query in extras.errors)
        system = name.encode("utf-8", "surrogateescape")
        yield replace(collected, system=system, extras=extras, failed=failed)


def _retrieved(log: Log, faults: Faults, row: int) -> list[Entry] | None:
    """The results on a row; None if it has only labels."""
    record = log.records.records[row]
    key = log.required_key(faults.source, "retrieved")
    if record.get(key) is None and _error(log, record) is not None:
        return []
    if key not in record and log.has_labels(record):
        return None
    entries = read_entries(log.by_fields(_as_list(key, record.get(key)), "run"), "run")
    scores = record.get(log.keys.get("scores", ""))
    if scores is not None:
        entries = _with_scores(entries, scores)
    if _is_by_text(log, row):
        texts = _result_texts(record, key) or [None] * len(entries)
        entries = [(_text_id(doc, text), number) for (doc, number), text in zip(entries, texts, strict=True)]
    if log.fields:  # results with the same values are one
        entries = list({str(doc): (doc, number) for doc, number in reversed(entries)}.values())[::-1]
    return entries


def _as_list(key: str, value: Any) -> Any:
    """The value, or a list of it if it is a single string under a key of ids."""
    return [value] if isinstance(value, str) and normalize_name(key).endswith(("id", "ids")) else value


def _with_scores(entries: list[Entry], scores: Any) -> list[Entry]:
    """Ids with their scores: a list of the same length, or an object by id."""
    if isinstance(scores, JsonPairs):
        score_by_id = dict(scores)
        return [(doc, score_by_id.get(str(doc))) for doc, _ in entries]
    if not isinstance(scores, list) or len(scores) != len(entries):
        size = f"a list of {len(scores)}" if isinstance(scores, list) else describe_json(scores)
        raise StructureError(f"{size} as scores of {len(entries)}")
    return [(doc, number) for (doc, _), number in zip(entries, scores, strict=True)]


def _is_by_text(log: Log, row: int) -> bool:
    """Whether the results on a row are identified by their texts, too; those with fields are not."""
    if log.is_by_text is None or log.fields:
        return False
    return log.is_by_text(log.queries[row].decode("utf-8", "surrogateescape"))


def _error(log: Log, record: Record) -> str | None:
    """Why a query failed; None if it did not. A value that is no text says only that it failed."""
    value = record.get(log.keys.get("error", ""))
    if isinstance(value, str):
        return replace_lone_surrogates(value) or None
    return None if value is None or value is False else DEFAULT_ERROR


# -- what came with the results -----------------------------------------------------------------------------------


def _extras(log: Log, faults: Faults) -> RunExtras | None:
    """What came with the results: texts, metadata, latencies and errors; None if nothing did."""
    texts: dict[str, str | None] = {}
    metadata: dict[str, Mapping[str, Any]] = {}
    numbers: dict[str, dict[str, float]] = {role: {} for role in NUMBER_ROLES}
    errors: dict[str, str] = {}
    refused: dict[str, bool] = {}
    roles = {"error", "refused", *NUMBER_ROLES} & log.keys.keys()
    for row, query_id in log.queries.items() if roles or _may_have_details(log) else ():
        record, query = log.records.records[row], query_id.decode("utf-8", "surrogateescape")
        is_by_text = _is_by_text(log, row)
        for name, text, values in _details(record, log.keys.get("retrieved"), log.fields):
            doc = text_id(name, text) if is_by_text else name
            if text is not None and texts.setdefault(doc, text) != text:
                texts[doc] = None
            if values is not None:
                metadata.setdefault(doc, values)
        if (error := _error(log, record)) is not None:
            errors[query] = error
        flag = record.get(log.keys["refused"]) if "refused" in log.keys else None
        if (said := truth(flag)) is not None:
            refused[query] = said
        elif flag is not None and flag != "":
            other = f"{describe_json(flag)} as {shown(log.keys['refused'])}"
            faults.add("flag", [int(log.records.line[row])], expected="true or false", found=other)
        for role, noun in NUMBER_ROLES.items():
            value = record.get(log.keys[role]) if role in log.keys else None
            found = None if isinstance(value, bool) else number_from_json(value)
            if found is not None and found >= 0:
                numbers[role][query] = found
            elif value is not None and value != "":
                expected = f"a number of {noun} as {log.keys[role]}"
                faults.add("latency", [int(log.records.line[row])], expected=expected, found=describe_json(value))
    latencies, tokens, cost = numbers.values()
    system, collection = (None if log.systems else _said_by_all(log, key) for key in ("system", "collection"))
    extras = RunExtras(
        texts,
        metadata,
        latencies,
        errors,
        refused=refused,
        tokens=tokens,
        cost=cost,
        system=system,
        collection=collection,
        logged_k=_logged_k(log),
        numbers=_numbers(log, faults.source),
    )
    return extras if extras != RunExtras() else None


def _numbers(log: Log, source: str) -> dict[str, QueryNumbers]:
    """The columns with a number, or with true or false, for some query."""
    found: dict[str, QueryNumbers] = {}
    for key in log.free_keys:
        values = [log.records.records[row].get(key) for row in log.queries]
        if NUMBER_TYPES.isdisjoint(map(type, values)):
            continue
        numbers: dict[str, float] = {}
        fault = None
        for (row, query), value in zip(log.queries.items(), values, strict=True):
            number = cell_number(value)
            if number is None or math.isinf(number):
                fault = fault or number_error(source, int(log.records.line[row]), key, value)
            elif not math.isnan(number):
                numbers[query.decode("utf-8", "surrogateescape")] = number
        found[key] = QueryNumbers(numbers, fault)
    return found


def _logged_k(log: Log) -> int | None:
    """How many results each query was asked for, if every row says the same."""
    asked = [record.get(ASKED_KEY) for record in log.records.records]
    number = asked[0] if asked and all(one == asked[0] for one in asked) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


def _said_by_all(log: Log, key: str) -> str | None:
    """The text that every row has under a key; None if they differ."""
    texts = {record.get(key) for record in log.records.records if isinstance(record.get(key, ""), str)}
    text = next(iter(texts)) if len(texts) == 1 else None
    return text or None


def _may_have_details(log: Log) -> bool:
    """Whether results may have more than ids: they are not all text, or texts are beside them or in their place."""
    key = log.keys.get("retrieved", "")
    if any(map(_is_context_key, log.records.names)):
        return True
    lists: list[Any] = [record.get(key) for record in log.records.records]
    return not set(map(type, lists)) <= {list} or not set(map(type, chain.from_iterable(lists))) <= {str}


# The texts and metadata of results: in objects, beside a list of ids, or the texts themselves in place of ids.
Detail = tuple[str, str | None, Mapping[str, Any] | None]  # an id, its text, its metadata


def _details(record: Record, key: str | None, fields: FieldLabels) -> Iterator[Detail]:
    """What a row has of each result besides its score, for results that have something."""
    texts = _result_texts(record, key)
    for item, text in zip(record.get(key or "") or (), texts, strict=True) if texts else ():
        doc: Any = item
        metadata: Mapping[str, Any] | None = None
        if isinstance(item, JsonPairs):
            values = dict(item)
            keys = _result_keys(tuple(values))
            doc = fields.result_id(item) if fields else values.get(keys.doc)
            found = values.get(keys.metadata)
            others = {name: values[name] for name in keys.others if isinstance(values[name], (str, int, float))}
            if others or isinstance(found, JsonPairs):
                metadata = {**others, **(as_dicts(found) if isinstance(found, JsonPairs) else {})}
        elif isinstance(item, list) and item:
            doc = item[0]
        if text is not None or metadata is not None:
            yield from _detail(doc, text, metadata)


def _result_texts(record: Record, key: str | None) -> list[str | None]:
    """The text of each result on a row, None for one without; no texts if the results are no list."""
    items = record.get(key or "")
    if key is None or not isinstance(items, list) or isinstance(items, JsonPairs):
        return []
    beside = next((record[name] for name in record if _is_context_key(name) and name != key), None)
    contexts = beside if isinstance(beside, list) and len(beside) == len(items) else [None] * len(items)
    texts: list[Any] = []
    for item, context in zip(items, contexts, strict=True):
        if isinstance(item, JsonPairs):
            texts.append(dict(item).get(_result_keys(tuple(item.names())).text))
        else:
            texts.append(item if _is_context_key(key) and isinstance(item, str) else context)
    return [replace_lone_surrogates(text) if isinstance(text, str) else None for text in texts]


def _text_id(doc: object, text: str | None) -> object:
    """The id of a result with its text; as it is if it is no id, which is a fault of the results."""
    try:
        return text_id(id_from_json(doc, "document id").decode("utf-8", "surrogateescape"), text)
    except InputError:
        return doc


def _detail(doc: object, text: str | None, metadata: Mapping[str, Any] | None) -> Iterator[Detail]:
    try:
        name = id_from_json(doc, "document id").decode("utf-8", "surrogateescape")
    except InputError:
        return  # a fault of the results
    yield name, text, metadata


class _ResultKeys(NamedTuple):
    """Which keys of a result have its id, its text and its metadata, an empty one is none; and its other fields."""

    doc: str
    text: str
    metadata: str
    others: tuple[str, ...]


@lru_cache(256)
def _result_keys(names: tuple[str, ...]) -> _ResultKeys:
    metadata = next((name for name in METADATA_NAMES if name in names), "")
    known = (id_key_of(names) or "", text_key(names) or "", metadata)
    numbers = {*columns_for(names, "score"), *columns_for(names, "rank")}
    return _ResultKeys(*known, tuple(name for name in names if name not in known and name not in numbers))


def text_key(names: Sequence[str]) -> str | None:
    """Which key of a result has its text."""
    keys = {normalize_name(name): name for name in names}
    return next((keys[name] for name in map(normalize_name, TEXT_FIELD_NAMES) if name in keys), None)


@lru_cache(256)
def _is_context_key(name: str) -> bool:
    return normalize_name(name) in map(normalize_name, CONTEXT_KEYS)
