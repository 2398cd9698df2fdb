"""Sections of ``rankgauge.yaml`` with the settings of the classes that use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, create_model
from pydantic_core import PydanticCustomError

from rankgauge.config.sections import ConfigSection
from rankgauge.core.settings import Declared, declared

Model = TypeVar("Model", bound=ConfigSection)


def with_settings(*classes: type, optional: bool = False) -> Callable[[type[Model]], type[Model]]:
    """Add a key for each declared setting of some classes to a section; ``optional`` keys are None if left out."""

    def decorate(section: type[Model]) -> type[Model]:
        keys: dict[str, Any] = {
            name: key_of(declaration, optional=optional)
            for cls in classes
            for name, declaration in declared(cls).items()
        }
        made: type[Model] = create_model(section.__name__, __base__=section, __doc__=section.__doc__, **keys)
        made.__module__ = section.__module__
        return made

    return decorate


def key_of(declaration: Declared, *, optional: bool = False) -> tuple[Any, Any]:
    """The type and the field of a declared key."""

    def checked(value: Any) -> Any:
        if value is None and optional:
            return None
        if declaration.kind == "texts" and isinstance(value, str):
            value = [value]
        if declaration.kind == "size" and isinstance(value, str):
            value = declaration.parse(value)
        if not declaration.fits(value):
            context = {"expected": declaration.expected, "found": declaration.found(value)}
            raise PydanticCustomError("setting", "expected {expected}, found {found}", context)
        return tuple(value) if declaration.kind == "texts" else value

    checked.declaration = declaration  # type: ignore[attr-defined]  # by which --set knows the kind of a value
    kind: Any = Annotated[Any, BeforeValidator(checked)]
    default = None if optional else declaration.default
    return kind, Field(default=default, description=declaration.setting.help)
