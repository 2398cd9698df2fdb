"""A document as retrievers return it, and where its id, score and text are found."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args
from uuid import UUID

from rankgauge.config.retriever_settings import Unit
from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, InputTypeError, UsageError, shown

IdSource = str | Callable[[Any], object] | None

# Where an id is looked for if the caller does not name a place, in this order: our own and LangChain's, LlamaIndex's,
# then those of vector stores.
CHUNK_ID_NAMES = ("id", "node_id", "id_", "_id", "chunk_id", "doc_id", "document_id", "docno")
DOCUMENT_ID_NAMES = ("ref_doc_id", "document_id", "doc_id")
METADATA_ID_NAMES = (*DOCUMENT_ID_NAMES, "source_id", "source")
TEXT_FIELD_NAMES = ("text", "page_content", "content", "raw_text", "contents", "body", "document", "passage")
METADATA_NAMES = ("metadata", "meta", "payload")  # Haystack's documents have meta, Qdrant's points a payload
WRAPPERS = ("node", "document")  # NodeWithScore has a node, a reranker's result a document
ABSENT = object()
SHOWN_KEYS = 12


@dataclass(frozen=True)
class Document:
    """A retrieved document: an id, and whatever text and metadata come with it."""

    id: str
    raw_text: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def number_of(item: Any, field_name: str) -> Any:
    """The second of a pair, or the field of an object; None without one."""
    if is_pair(item):
        return item[1]
    value = None if is_id_type(type(item)) else _attribute(item, field_name)
    return None if value is ABSENT or callable(value) else value


def id_of(item: Any, source: IdSource, unit: Unit, label: Callable[[], str]) -> str:
    """The id of one document: what ``source`` names or returns, or the first attribute with a known name."""
    if callable(source):
        return id_text(source(item), lambda: f"the return value of id= for {label()}")
    item = item[0] if is_pair(item) else item
    if source is None and is_id_type(type(item)):
        return id_text(item, label)
    value, place = _find_id(item, unit, label) if source is None else (_follow_path(item, source, label), source)
    return id_text(value, lambda: f"{place} of {label()}", item)


def _find_id(item: Any, unit: Unit, label: Callable[[], str]) -> tuple[Any, str]:
    """The first attribute with a known name, and that name."""
    names = CHUNK_ID_NAMES if unit == "chunk" else DOCUMENT_ID_NAMES
    for holder in _holders(item):
        for name in names:
            if (value := _attribute(holder, name)) is not ABSENT:
                return value, name
        for place, metadata in _metadata(holder) if unit == "document" else ():
            for name in METADATA_ID_NAMES:
                if (value := _attribute(metadata, name)) is not ABSENT:
                    return value, f"{place}.{name}"
    kind = "id" if unit == "chunk" else "id of its source document"
    raise InputError(
        f"{label()}, of type {type(item).__name__}, has no {kind}: none of {', '.join(names)}", hint=_id_hint(item)
    )


def id_text(value: object, label: str | Callable[[], str], item: Any = None) -> str:
    """An id as text: strings as they are, whole numbers as digits, UUIDs in their usual form.

    The label, which only an error shows, may be a function that makes it.
    """
    if isinstance(value, UUID):
        return str(value)
    if hasattr(type(value), "__index__") and not isinstance(value, bool):
        return str(operator.index(value))  # type: ignore[arg-type]  # it has __index__
    if isinstance(value, str) and value.isascii() and value and "\0" not in value:
        return str(value)
    name = label if isinstance(label, str) else label()
    if value is None:
        raise InputError(f"{name} is None, which does not identify a document", hint=_id_hint(item))
    return encode_id(value, name).decode("utf-8", "surrogateescape")


def is_id_type(kind: type) -> bool:
    """Whether a value of this type is an id, and not a document that has one."""
    return issubclass(kind, (str, bytes, UUID)) or hasattr(kind, "__index__")


def text_of(item: Any) -> str | None:
    """The text that comes with a document, in the document or in its metadata; None without one."""
    item = item[0] if is_pair(item) else item
    if is_id_type(type(item)):
        return None
    holders = _holders(item)
    metadata = [values for holder in holders for _, values in _metadata(holder)]
    for place in [*holders, *metadata]:
        for name in TEXT_FIELD_NAMES:
            if isinstance(value := _attribute(place, name), str) and value:
                return value
    return None


def relevant_ids(ids: object, query: str) -> tuple[str, ...]:
    """The relevant ids of a query, each once; a single id needs no list."""
    label = f"a relevant id of query {shown(query)}"
    if is_id_type(type(ids)):
        return (id_text(ids, label),)
    if isinstance(ids, Mapping) or not isinstance(ids, Iterable):
        raise InputTypeError(f"relevant ids of query {shown(query)} must be a list, found {type(ids).__name__}")
    return tuple(dict.fromkeys(id_text(value, label) for value in ids))


def check_unit(unit: str) -> None:
    """Raise if a unit is neither chunk nor document."""
    if unit not in get_args(Unit):
        raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}, found {shown(str(unit))}")


def is_pair(item: Any) -> bool:
    """Whether an item is a (document, score) pair; a named tuple is itself a document."""
    return isinstance(item, (tuple, list)) and len(item) == 2 and not hasattr(item, "_fields")


def _holders(item: Any) -> list[Any]:
    """The object, and the node or document that it wraps."""
    wrapped = [value for name in WRAPPERS if (value := _attribute(item, name)) is not ABSENT]
    return [item, *(value for value in wrapped if value is not None and not isinstance(value, str))]


def _metadata(holder: Any) -> list[tuple[str, Any]]:
    """The metadata of a document, with the name it has there."""
    found = [(name, _attribute(holder, name)) for name in METADATA_NAMES]
    return [(name, metadata) for name, metadata in found if metadata is not ABSENT]


def _attribute(item: Any, name: str) -> Any:
    return item.get(name, ABSENT) if isinstance(item, Mapping) else getattr(item, name, ABSENT)


def _follow_path(item: Any, path: str, label: Callable[[], str]) -> Any:
    """The value at the end of a dotted path of attributes and keys."""
    for holder in _holders(item):
        value = holder
        for name in path.split("."):
            value = _attribute(value, name)
            if value is ABSENT:
                break
        else:
            return value
    raise InputError(f"{label()}, of type {type(item).__name__}, has no {path}", hint=_id_hint(item))


def _id_hint(item: Any) -> str:
    """What to write instead, based on the metadata of the document."""
    for holder in _holders(item):
        for place, metadata in _metadata(holder):
            if isinstance(metadata, Mapping) and metadata:
                keys = [str(key) for key in metadata]
                key = "source" if "source" in keys else keys[0]
                shown_keys = ", ".join(shown(key) for key in keys[:SHOWN_KEYS])
                return f"name the place of the id: the {place} has {shown_keys}, for example id='{place}.{key}'"
    return "name the place of the id: id='metadata.source', or id=lambda document: …"
