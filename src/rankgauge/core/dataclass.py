"""``@dataclass(frozen=True)`` for the classes that every command needs, at a twentieth of the cost.

The standard library compiles up to six methods per class, about a millisecond: a third of what rankgauge added to the
start-up of a small evaluation. Here the methods are closures. In every other respect such a class is a dataclass:
``fields``, ``replace``, ``asdict``, pattern matching, pickling and signatures work, and a type checker sees the
standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from inspect import Signature
else:

    def dataclass(*, frozen: bool, eq: bool = True) -> Callable[[type], type]:
        """A decorator that makes a class a frozen dataclass; for classes without slots and inheritance."""
        assert frozen
        return lambda cls: _frozen(cls, eq)


def _frozen(cls: type, eq: bool) -> type:
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    cls.__dataclass_params__.frozen = True  # type: ignore[attr-defined]  # which the line above added
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _init(cls, fields), "__signature__": _SignatureOnDemand(fields)}
    methods |= _frozen_attributes(cls, {field.name for field in fields})
    methods |= {name: method for name, method in _values(fields, eq).items() if name not in vars(cls)}
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _init(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    names = tuple(field.name for field in fields)
    known = frozenset(names)
    defaults = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    factories = [(f.name, f.default_factory) for f in fields if f.default_factory is not dataclasses.MISSING]
    has_post_init = hasattr(cls, "__post_init__")

    def initialize(self: Any, *arguments: Any, **named: Any) -> None:
        state = self.__dict__
        state.update(defaults)
        state.update(zip(names, arguments, strict=False))
        if named:
            if not named.keys() <= known or not named.keys().isdisjoint(names[: len(arguments)]):
                raise TypeError(_complaint(cls, arguments, named))
            state.update(named)
        for name, factory in factories:
            if name not in state:
                state[name] = factory()
        if len(state) < len(names) or len(arguments) > len(names):
            raise TypeError(_complaint(cls, arguments, named))
        if has_post_init:
            self.__post_init__()

    return initialize


def _complaint(cls: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What is wrong with arguments that do not fit."""
    import inspect

    try:
        inspect.signature(cls).bind(*arguments, **named)
    except TypeError as error:
        return f"{cls.__name__}() {error}"
    raise AssertionError("the arguments fit")


def _frozen_attributes(cls: type, names: set[str]) -> dict[str, Callable[..., None]]:
    def set_attribute(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def delete_attribute(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": set_attribute, "__delattr__": delete_attribute}


def _values(fields: tuple[dataclasses.Field[Any], ...], eq: bool) -> dict[str, Callable[..., Any]]:
    """How an object is shown, compared and hashed."""
    shown = tuple(field.name for field in fields if field.repr)
    compared = tuple(field.name for field in fields if field.compare)

    def values(self: Any) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in compared)

    def show(self: Any) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def is_equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hash_values(self: Any) -> int:
        return hash(values(self))

    return {"__repr__": show, "__eq__": is_equal, "__hash__": hash_values} if eq else {"__repr__": show}


class _Factory:
    """The default of a field that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


class _SignatureOnDemand:
    """The signature of a class, for help and documentation."""

    def __init__(self, fields: tuple[dataclasses.Field[Any], ...]) -> None:
        self.fields = fields

    def __get__(self, instance: object, owner: type) -> Signature:
        from inspect import Parameter, Signature

        def default(field: dataclasses.Field[Any]) -> Any:
            if field.default_factory is not dataclasses.MISSING:
                return _Factory()
            return Parameter.empty if field.default is dataclasses.MISSING else field.default

        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters = [Parameter(f.name, kind, default=default(f), annotation=f.type) for f in self.fields]
        return Signature(parameters, return_annotation=None)
