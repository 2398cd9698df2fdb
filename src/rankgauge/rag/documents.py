"""Documents as retrievers return them, and where their ids are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, SupportsIndex, get_args
from uuid import UUID

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError, InputTypeError, UsageError, shown

Unit = Literal["chunk", "document"]
IdSource = str | Callable[[Any], object] | None

# Where an id is looked for when the caller does not say, the first that is there: ours and LangChain's, LlamaIndex's,
# then what vector stores write.
CHUNK_NAMES = ("id", "node_id", "id_", "_id", "chunk_id", "doc_id", "document_id")
DOCUMENT_NAMES = ("ref_doc_id", "document_id", "doc_id")
METADATA_NAMES = (*DOCUMENT_NAMES, "source")
WRAPPERS = ("node", "document")  # NodeWithScore has a node, a reranker's result a document
PLAIN = (str, bytes, SupportsIndex, UUID)  # ids themselves
ABSENT = object()


@dataclass(frozen=True)
class Document:
    """A retrieved document: an id, and whatever text and metadata come with it."""

    id: str
    raw_text: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranking:
    """The ids of one result, best first, each once; ``repeated`` says how many came again and were dropped."""

    ids: tuple[str, ...]
    repeated: int = 0


def ranking_of(documents: Iterable[Any], source: IdSource, unit: Unit, query: str) -> Ranking:
    """The ids of what a retriever returned for a query; an id that comes again counts at its first place."""
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        raise InputTypeError(
            f"results of query {shown(query)} must be a list of documents, found {type(documents).__name__}"
        )
    found: dict[str, None] = {}
    count = 0
    for count, item in enumerate(documents, 1):
        found[id_of(item, source, unit, f"result {count} of query {shown(query)}")] = None
    return Ranking(tuple(found), count - len(found))


def id_of(item: Any, source: IdSource, unit: Unit, where: str) -> str:
    """The id of one document: what ``source`` names or returns, or else what is known by its name."""
    if callable(source):
        return text_id(source(item), where, said=f"what id= returned for {where}")
    item = _unpaired(item)
    if source is not None:
        return text_id(_follow(item, source, where), where, said=f"{source} of {where}", item=item)
    if isinstance(item, PLAIN):
        return text_id(item, where, said=where)
    names = CHUNK_NAMES if unit == "chunk" else DOCUMENT_NAMES
    for place in _places(item):
        for name in names:
            if (value := _look(place, name)) is not ABSENT:
                return text_id(value, where, said=f"{name} of {where}", item=item)
        if unit == "document" and (metadata := _look(place, "metadata")) is not ABSENT:
            for name in METADATA_NAMES:
                if (value := _look(metadata, name)) is not ABSENT:
                    return text_id(value, where, said=f"metadata.{name} of {where}", item=item)
    of_what = "an id" if unit == "chunk" else "an id of the document that it is a part of"
    raise InputError(
        f"{where}, of type {type(item).__name__}, has not {of_what}: none of {', '.join(names)}", hint=_hint(item)
    )


def text_id(value: object, where: str, *, said: str = "", item: Any = None) -> str:
    """An id as text: strings as they are, whole numbers as their digits, UUIDs as they are written."""
    if value is None:
        raise InputError(f"{said or where} is None, so there is no telling which document it is", hint=_hint(item))
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return str(value.__index__())
    return encode_id(value, said or where).decode("utf-8", "surrogateescape")


def wanted_ids(given: object, query: str) -> tuple[str, ...]:
    """The relevant ids of a query, each once; one alone may stand without a list."""
    where = f"a relevant id of query {shown(query)}"
    if isinstance(given, PLAIN):
        return (text_id(given, where),)
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise InputTypeError(f"relevant ids of query {shown(query)} must be a list, found {type(given).__name__}")
    return tuple(dict.fromkeys(text_id(value, where) for value in given))


def check_unit(unit: str) -> None:
    """Refuse anything but the two."""
    if unit not in get_args(Unit):
        raise UsageError(f"unit must be one of {', '.join(get_args(Unit))}, found {shown(str(unit))}")


def _unpaired(item: Any) -> Any:
    """The document of a (document, score) pair; a named tuple is a document itself."""
    return item[0] if isinstance(item, tuple) and len(item) == 2 and not hasattr(item, "_fields") else item


def _places(item: Any) -> list[Any]:
    """The object, and what it is wrapped around: a node, a document."""
    inner = [value for name in WRAPPERS if (value := _look(item, name)) is not ABSENT]
    return [item, *(value for value in inner if value is not None and not isinstance(value, str))]


def _look(item: Any, name: str) -> Any:
    return item.get(name, ABSENT) if isinstance(item, Mapping) else getattr(item, name, ABSENT)


def _follow(item: Any, path: str, where: str) -> Any:
    """What stands at the end of a dotted path of attributes and keys."""
    for place in _places(item):
        value = place
        for step in path.split("."):
            value = _look(value, step)
            if value is ABSENT:
                break
        else:
            return value
    raise InputError(f"{where}, of type {type(item).__name__}, has no {path}", hint=_hint(item))


def _hint(item: Any) -> str:
    """What to write instead, from the metadata that there is."""
    for place in _places(item):
        metadata = _look(place, "metadata")
        if isinstance(metadata, Mapping) and metadata:
            keys = [str(key) for key in metadata]
            best = "source" if "source" in keys else keys[0]
            listed = ", ".join(shown(key) for key in keys[:12])
            return f"say where the id is: its metadata has {listed}, so perhaps id='metadata.{best}'"
    return "say where the id is: id='metadata.source', or id=lambda document: …"
