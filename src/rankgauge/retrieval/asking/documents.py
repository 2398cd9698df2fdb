"""A document as retrievers return it, and where its id, score and text are found: in one, or in all of an answer."""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args
from uuid import UUID

import numpy as np

from rankgauge.config.retriever_settings import Unit
from rankgauge.core.id_overlap import METADATA_ID_NAMES
from rankgauge.core.ids import encode_id
from rankgauge.core.run import QueryNumbers, RunExtras
from rankgauge.errors import InputError, UsageError, shown
from rankgauge.io.formats.named_columns import METADATA_NAMES, TEXT_FIELD_NAMES

IdSource = str | Callable[[Any], object] | None

# Where an id is looked for if the caller does not name a place, in this order: our own and LangChain's, LlamaIndex's,
# then those of vector stores.
CHUNK_ID_NAMES = ("id", "node_id", "id_", "_id", "chunk_id", "doc_id", "document_id", "docno")
DOCUMENT_ID_NAMES = ("ref_doc_id", "document_id", "doc_id")
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


def metadata_of(item: Any) -> Mapping[str, Any] | None:
    """The metadata that comes with a document; None without any, or if code of the document fails."""
    item = item[0] if is_pair(item) else item
    if is_id_type(type(item)):
        return None
    with contextlib.suppress(Exception):
        for holder in _holders(item):
            for _, metadata in _metadata(holder):
                if isinstance(metadata, Mapping) and metadata:
                    return metadata
    return None


RANK_NAME = re.compile(r"(?i)rank|position|score|count|index\b|\bk\b")  # of a result, not of a document


def path_with_values(documents: Iterable[Any], values: Collection[str]) -> str | None:
    """Where documents that are dicts have one of some values: the first field, or a field of a dict in one."""
    for item in documents:
        item = item[0] if is_pair(item) else item
        fields = [*item.items()] if isinstance(item, Mapping) else []
        inner = [
            (f"{name}.{key}", one) for name, held in fields if isinstance(held, Mapping) for key, one in held.items()
        ]
        for name, value in [*fields, *inner]:
            is_rank = bool(RANK_NAME.search(str(name)))
            if not is_rank and isinstance(value, (str, int)) and not isinstance(value, bool) and str(value) in values:
                return str(name)
    return None


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


# The ids, scores and texts of all documents of an answer, which nearly always have one shape.
#
# The shape is found once, and each field is then read from all documents together. Whatever is not alike, or not as it
# should be, is read one document after the other, as above: the results are the same, and so are the errors.

NUMBER_TYPES = {float, int, np.float64, np.float32}
# Attributes whose names are in the code, which Python reads several times as fast as others.
USUAL_ATTRIBUTES: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    "id": lambda items: [item.id for item in items],
    "score": lambda items: [item.score for item in items],
}


class NotAlike(Exception):
    """Documents differ in shape, or have something unusual: each must be read by itself."""


def only_type(values: Collection[Any]) -> type | None:
    """The type of all values; None if there are several types, or no values."""
    kinds = list(map(type, values))
    return kinds[0] if kinds and kinds.count(kinds[0]) == len(kinds) else None


class DocumentColumns:
    """The documents of one answer, which are looked at once."""

    def __init__(self, documents: Sequence[Any]) -> None:
        self.documents = self._items = documents
        self._paired_scores: Sequence[Any] | None = None
        self._known_fields: _Fields | None = None
        self._kind = only_type(documents)
        if self._kind is tuple or self._kind is list:
            try:
                self._items, self._paired_scores = [item for item, _ in documents], [score for _, score in documents]
                self._kind = only_type(self._items)
            except ValueError:  # one of them is not a pair
                pass
        # Whether there is nothing but ids, or nothing at all.
        self._are_ids = not documents or (self._kind is not None and is_id_type(self._kind))

    def ids(self, source: IdSource, unit: Unit, query: str) -> list[str]:
        """The id of each document that a retriever returned for a query."""
        try:
            values = self._raw_ids(source, unit)
            return _id_texts(values, self._kind if values is self._items else only_type(values))
        except NotAlike:
            labels = (_label(number, query) for number in range(1, len(self.documents) + 1))
            return [id_of(item, source, unit, label) for item, label in zip(self.documents, labels, strict=True)]

    def scores(self) -> tuple[Sequence[Any] | None, bool]:
        """The score that comes with each document, of any type, None without one; and whether these are distances.

        A field ``distance`` counts if no document has a ``score``. None if no document has either.
        """
        for name, are_distances in (("score", False), ("distance", True)):
            try:
                values = self._numbers(name)
            except NotAlike:
                values = [number_of(item, name) for item in self.documents]
            if values and (values[0] is not None or any(value is not None for value in values)):
                return values, are_distances
        return None, True

    def texts(self) -> Sequence[str | None]:
        """The text that comes with each document, None without one."""
        try:
            return self._texts()
        except NotAlike:
            return [text_of(item) for item in self.documents]

    def metadata(self) -> Sequence[Mapping[str, Any] | None]:
        """The metadata that comes with each document, None without any."""
        try:
            return self._metadata()
        except NotAlike:
            return [metadata_of(item) for item in self.documents]

    @property
    def _fields(self) -> _Fields:
        if self._known_fields is None:
            self._known_fields = _Fields(self._items, self._kind)
        return self._known_fields

    def _holders(self) -> Iterator[_Fields]:
        """The documents, and what they wrap."""
        yield self._fields
        for name in WRAPPERS:
            wrapped = self._fields.column(name)
            if wrapped is not None and not all(value is None or isinstance(value, str) for value in wrapped):
                yield _Fields(wrapped, only_type(wrapped))

    def _raw_ids(self, source: IdSource, unit: Unit) -> Sequence[Any]:
        if callable(source):
            raise NotAlike  # it may not be called twice
        if source is not None:
            return self._fields.path(source.split("."))
        if self._are_ids:
            return self._items
        for holder in self._holders():
            found = holder.first_column(CHUNK_ID_NAMES if unit == "chunk" else DOCUMENT_ID_NAMES)
            for metadata in holder.metadata() if found is None and unit == "document" else ():
                found = metadata.first_column(METADATA_ID_NAMES) if found is None else found
            if found is not None:
                return found
        raise NotAlike

    def _numbers(self, name: str) -> Sequence[Any] | None:
        if self._paired_scores is not None:
            return self._paired_scores
        values = None if self._are_ids else self._fields.column(name)
        if values is not None and only_type(values) not in NUMBER_TYPES:
            raise NotAlike
        return values

    def _texts(self) -> Sequence[str | None]:
        for place in () if self._are_ids else self._places_of_texts():
            for name in TEXT_FIELD_NAMES:
                values = place.column(name)
                if values is None or not any(isinstance(value, str) and value for value in values):
                    continue
                if only_type(values) is str and all(values):
                    return values
                raise NotAlike
        return [None] * len(self.documents)

    def _metadata(self) -> Sequence[Mapping[str, Any] | None]:
        for holder in () if self._are_ids else self._holders():
            for name in METADATA_NAMES:
                values = holder.column(name)
                if values is None or not any(values):
                    continue
                if only_type(values) is dict and all(values):
                    return values
                raise NotAlike
        return [None] * len(self.documents)

    def _places_of_texts(self) -> Iterator[_Fields]:
        """The documents, what they wrap, and the metadata of both."""
        yield from self._holders()
        for holder in self._holders():
            yield from holder.metadata()


class _Fields:
    """The fields of several dicts, or the attributes of several objects, of one type."""

    def __init__(self, items: Sequence[Any], kind: type | None) -> None:
        if kind is None or (kind is not dict and issubclass(kind, Mapping)):
            raise NotAlike
        self.items, self.kind = items, kind

    def column(self, name: str) -> Sequence[Any] | None:
        """The values of a field, None if no item has it; an error if some have it."""
        try:
            if self.kind is dict:
                return list(map(operator.itemgetter(name), self.items))
            usual = USUAL_ATTRIBUTES.get(name)
            return usual(self.items) if usual is not None else list(map(operator.attrgetter(name), self.items))
        except (KeyError, AttributeError):
            pass
        except Exception:
            raise NotAlike from None  # a property of foreign code
        if self._is_somewhere(name):
            raise NotAlike
        return None

    def first_column(self, names: Sequence[str]) -> Sequence[Any] | None:
        """The values of the first of some fields that the items have."""
        for name in names:
            if (found := self.column(name)) is not None:
                return found
        return None

    def path(self, names: Sequence[str]) -> Sequence[Any]:
        """The values at the end of a path of fields."""
        found = self.column(names[0])
        if found is None:
            raise NotAlike
        return found if len(names) == 1 else _Fields(found, only_type(found)).path(names[1:])

    def metadata(self) -> Iterator[_Fields]:
        """The metadata of the items."""
        for name in METADATA_NAMES:
            found = self.column(name)
            if found is not None:
                yield _Fields(found, only_type(found))

    def _is_somewhere(self, name: str) -> bool:
        if self._has_fixed_names:
            return name in self._names or (self.kind is not dict and hasattr(self.kind, name))
        return any(getattr(item, name, ABSENT) is not ABSENT for item in self.items)

    @cached_property
    def _has_fixed_names(self) -> bool:
        """Whether the items have no attributes but those of their type and those that they hold."""
        is_plain = self.kind.__getattribute__ is object.__getattribute__ and not hasattr(self.kind, "__getattr__")
        return self.kind is dict or is_plain

    @cached_property
    def _names(self) -> set[Any]:
        """Every name that an item holds."""
        if self.kind is dict:
            return set().union(*self.items)
        return set().union(*map(vars, self.items)) if hasattr(self.items[0], "__dict__") else set()


def _label(number: int, query: str) -> Callable[[], str]:
    return lambda: f"result {number} of query {shown(query)}"


def _id_texts(values: Sequence[Any], kind: type | None) -> list[str]:
    """Ids as text, if they all are of one type and nothing is wrong with them."""
    if kind is str:
        joined = "".join(values)
        if (joined.isascii() or _is_utf8(joined)) and "\0" not in joined and all(values):
            return list(values)
    elif kind is UUID:
        return list(map(str, values))
    elif kind is not bool and hasattr(kind, "__index__"):
        with contextlib.suppress(TypeError):  # an array has the method too
            return list(map(str, map(operator.index, values)))
    elif not values:
        return []
    raise NotAlike


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# What came with the results of all queries: the texts and metadata of documents, each kept once.

ResultDetail = tuple[str, str | None, Mapping[str, Any] | None]  # the id of a result, its text, its metadata


class ReturnedDetails:
    """The texts and metadata of all documents that were returned so far."""

    def __init__(self) -> None:
        self.texts: dict[str, str | None] = {}  # None if the document came with two texts
        self.metadata: dict[str, Mapping[str, Any]] = {}

    def add(self, details: Iterable[ResultDetail]) -> list[ResultDetail]:
        """Keep details; returns those that are new."""
        new: list[ResultDetail] = []
        for name, text, metadata in details:
            new_text = new_metadata = None
            if text is not None:
                known = self.texts.get(name, ABSENT)
                if known is ABSENT:
                    self.texts[name] = new_text = text
                elif known is not None and known != text:
                    self.texts[name], new_text = None, text
            if metadata is not None and name not in self.metadata:
                self.metadata[name] = new_metadata = metadata
            if new_text is not None or new_metadata is not None:
                new.append((name, new_text, new_metadata))
        return new

    def extras(
        self,
        latencies: Mapping[str, float | None],
        errors: Mapping[str, str],
        k: int,
        given: Mapping[str, Mapping[str, float] | None],
        numbers: Mapping[str, Mapping[str, float]],
    ) -> RunExtras:
        """The extras of a run; latencies are in seconds, None if one is not known. ``numbers`` are by query."""
        columns: dict[str, dict[str, float]] = {}
        for query, values in numbers.items():
            for name, value in values.items():
                columns.setdefault(name, {})[query] = value
        of_columns = {name: QueryNumbers(values) for name, values in columns.items()}
        scores = {query: values for query, values in given.items() if values is not None}
        latency_ms = {query: seconds * 1000.0 for query, seconds in latencies.items() if seconds is not None}
        return RunExtras(self.texts, self.metadata, latency_ms, dict(errors), k, given=scores, numbers=of_columns)
