"""The ids, scores and texts of all documents of an answer, which nearly always have one shape.

The shape is found once, and each field is then read from all documents together. Whatever is not alike, or not as it
should be, is read one document after the other (:mod:`.documents`): the results are the same, and so are the errors.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np

from rankgauge.config.retriever_settings import Unit
from rankgauge.errors import shown
from rankgauge.retrieval.asking.documents import (
    ABSENT,
    CHUNK_ID_NAMES,
    DOCUMENT_ID_NAMES,
    METADATA_ID_NAMES,
    METADATA_NAMES,
    TEXT_FIELD_NAMES,
    WRAPPERS,
    IdSource,
    id_of,
    is_id_type,
    number_of,
    text_of,
)

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
        self._documents = self._items = documents
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
            labels = (_label(number, query) for number in range(1, len(self._documents) + 1))
            return [id_of(item, source, unit, label) for item, label in zip(self._documents, labels, strict=True)]

    def scores(self) -> tuple[Sequence[Any] | None, bool]:
        """The score that comes with each document, of any type, None without one; and whether these are distances.

        A field ``distance`` counts if no document has a ``score``. None if no document has either.
        """
        for name, are_distances in (("score", False), ("distance", True)):
            try:
                values = self._numbers(name)
            except NotAlike:
                values = [number_of(item, name) for item in self._documents]
            if values and (values[0] is not None or any(value is not None for value in values)):
                return values, are_distances
        return None, True

    def texts(self) -> Sequence[str | None]:
        """The text that comes with each document, None without one."""
        try:
            return self._texts()
        except NotAlike:
            return [text_of(item) for item in self._documents]

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
        return [None] * len(self._documents)

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
