"""Where the documents are in what a retriever returned.

A list, or an object or dict that holds one under a usual name; a dict of dicts, one of which holds a list; a dict of
columns, ``{"ids": […], "distances": […]}``, each of which may be a list of one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from rankgauge.errors import InputError, InputTypeError

LIST_KEYS = (
    "documents",
    "results",
    "matches",
    "hits",
    "points",
    "nodes",
    "source_nodes",
    "source_documents",
    "context",
)
TEXT_KEY = "context"  # the only one that may hold texts, which do not identify a document
ID_COLUMN = "ids"
# column → field of a document
COLUMNS = {"ids": "id", "distances": "distance", "scores": "score", "metadatas": "metadata", "documents": "document"}


def documents_in(result: Any) -> Any:
    """The documents that a retriever returned, or None if there are none to be found."""
    if isinstance(result, Mapping):
        if is_list(result.get(ID_COLUMN)):
            return _rows(result)
        found = _listed(result)
        return _nested(result) if found is None else found
    if isinstance(result, (str, bytes)) or result is None:
        return None
    if not isinstance(result, (list, set, frozenset)):
        # Before the iterables: an object of pydantic is one, of its fields.
        found = _listed({key: getattr(result, key, None) for key in LIST_KEYS})
        if found is not None:
            return found
    return result if is_list(result) else None


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether a value holds several others; text and mappings do not."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _listed(holder: Mapping[Any, Any]) -> Any:
    """The first list under a usual name."""
    for key in LIST_KEYS:
        documents = holder.get(key)
        if not is_list(documents):
            continue
        if key != TEXT_KEY:
            return documents
        listed = list(documents)
        if any(isinstance(document, str) for document in listed):
            raise InputTypeError(
                f"{key} of the result holds texts, expected documents with ids",
                hint="return the documents instead of their texts",
            )
        return listed
    return None


def _nested(result: Mapping[Any, Any]) -> Any:
    """The documents of the only value that holds some, as in the outputs of a pipeline's components."""
    holders = {key: value for key, value in result.items() if isinstance(value, Mapping)}
    lists = {key: documents for key, value in holders.items() if (documents := _listed(value)) is not None}
    if len(lists) > 1:
        raise InputError(
            f"{', '.join(map(str, lists))} of the result hold documents, expected one list",
            hint="return the documents of one of them",
        )
    return next(iter(lists.values()), None)


def _rows(result: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The documents of an answer in columns."""
    columns = {field: _column(key, result[key]) for key, field in COLUMNS.items() if is_list(result.get(key))}
    sizes = {key: len(columns[field]) for key, field in COLUMNS.items() if field in columns}
    if len(set(sizes.values())) != 1:
        found = ", ".join(f"{size} {key}" for key, size in sizes.items())
        raise InputError(f"the columns of the result have different lengths: {found}")
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _column(key: str, values: Iterable[Any]) -> Sequence[Any]:
    """A column, or the only one in a list of columns, which has one per query."""
    column = list(values)
    if not column or not isinstance(column[0], (list, tuple)):
        return column
    if len(column) != 1:
        raise InputError(f"{key} of the result has {len(column)} rankings, expected that of one query")
    return list(column[0])
