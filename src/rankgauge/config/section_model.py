"""What the sections of ``rankgauge.yaml`` are made of: strict models, with keys from declared settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from rankgauge.core.settings import Declared, declared

Settings = TypeVar("Settings")
Text = Annotated[str, Field(min_length=1)]


class ConfigSection(BaseModel):
    """What all sections share: no value is converted, no unknown key is accepted, nothing changes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def as_settings(self, cls: type[Settings]) -> Settings:
        """An object of a class whose settings are keys of the section; those that are left out have their defaults."""
        given = {name: getattr(self, name) for name in declared(cls) if name in self.model_fields_set}
        return cls(**{name: value for name, value in given.items() if declared(cls)[name].fits(value)})


def section_fault(path: tuple[str, ...], expected: str, found: str) -> ValidationError:
    """The fault of a section whose keys contradict each other, to be raised while it is validated."""
    kind = PydanticCustomError("section", "{expected}", {"expected": expected})
    return ValidationError.from_exception_data("section", [InitErrorDetails(type=kind, loc=path, input=found)])


# Sections of ``rankgauge.yaml`` with the settings of the classes that use them.

Model = TypeVar("Model", bound=ConfigSection)


def with_settings(
    *classes: type, only: Sequence[str] = (), optional: bool = False
) -> Callable[[type[Model]], type[Model]]:
    """Add a key for each declared setting of some classes, or for some of them, to a section.

    ``optional`` keys are None if left out. A key that the section itself has, too, keeps its default and description:
    it means more there, and has the kind and the limits of the declaration.
    """

    def decorate(section: type[Model]) -> type[Model]:
        chosen = {name: one for cls in classes for name, one in declared(cls).items() if not only or name in only}
        keys: dict[str, Any] = {
            name: key_of(one, section.model_fields.get(name), optional=optional) for name, one in chosen.items()
        }
        made: type[Model] = create_model(section.__name__, __base__=section, __doc__=section.__doc__, **keys)
        made.__module__ = section.__module__
        return made

    return decorate


def key_of(declaration: Declared, own: FieldInfo | None, *, optional: bool) -> tuple[Any, Any]:
    """The type and the field of a declared key."""
    if own is not None and own.default is not None:
        declaration = declaration._replace(is_optional=False)

    def checked(value: Any) -> Any:
        if value is None and optional:
            return None
        if declaration.kind in ("texts", "paths") and isinstance(value, str):
            value = [value]
        if declaration.kind == "size" and isinstance(value, str):
            value = declaration.parse(value)
        fault = declaration.fault(value)
        if fault is not None:
            raise PydanticCustomError("setting", "expected {expected}, found {found}", fault._asdict())
        return tuple(value) if declaration.kind in ("texts", "paths") else value

    checked.declaration = declaration  # type: ignore[attr-defined]  # which declaration_of returns
    kind: Any = Annotated[Any, BeforeValidator(checked)]
    if own is not None:
        return kind, Field(default=own.default, description=own.description)
    return kind, Field(default=None if optional else declaration.default, description=declaration.setting.help)


def declaration_of(key: FieldInfo) -> Declared | None:
    """The declaration of a key; None for a key that only configurations have."""
    found = (getattr(item.func, "declaration", None) for item in key.metadata if isinstance(item, BeforeValidator))
    declaration: Declared | None = next((one for one in found if one is not None), None)
    return declaration
