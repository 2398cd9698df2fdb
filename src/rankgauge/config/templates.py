"""The shipped templates of search servers: the request and the paths of the answer, with a few settings.

In a template, ``<name>`` is the value of a setting: a text that is exactly that becomes the value, of any type, and its
key is left out if the setting has no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, JsonValue

from rankgauge.config.filling import escape_braces
from rankgauge.config.loading import load_yaml
from rankgauge.config.sections import ConfigSection, Text
from rankgauge.errors import UsageError, shown

SUFFIX = ".yaml"
TEMPLATE_KEYS = ("url", "params", "body")  # whose text has placeholders, so that braces in a setting are escaped
ADDRESS_SETTING = "url"
_TYPES: dict[str, tuple[type, ...]] = {"text": (str,), "number": (int, float), "texts": (list,), "flag": (bool,)}


class TemplateSetting(ConfigSection):
    """A setting of a template; one that is not required and has no default can be left out."""

    meaning: Text
    type: Literal["text", "number", "texts", "flag", "fields"] = "text"
    default: JsonValue = None
    required: bool = False


class ServerTemplate(ConfigSection):
    """A shipped template."""

    summary: Text
    settings: dict[str, TemplateSetting]
    http: dict[str, JsonValue] = Field(description="The keys of an HTTP section.")


@cache
def template_names() -> tuple[str, ...]:
    """The names of the shipped templates."""
    folder = files("rankgauge") / "data" / "templates"
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX)))


@cache
def load_template(name: str) -> ServerTemplate:
    """The template of a name."""
    file = files("rankgauge") / "data" / "templates" / (name + SUFFIX)
    return ServerTemplate.model_validate(load_yaml(file.read_bytes(), file.name).data)


def resolved_values(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an HTTP section, from a template and its settings."""
    template = load_template(name)
    unknown = next((setting for setting in settings if setting not in template.settings), None)
    if unknown is not None:
        raise UsageError(f"the template {name} has no setting {shown(unknown)}; it has {', '.join(template.settings)}")
    values = {}
    for setting, definition in template.settings.items():
        value = settings.get(setting)
        value = definition.default if value is None else value
        if value is None and definition.required:
            raise UsageError(f"the template {name} needs the setting '{setting}': {definition.meaning}")
        if value is not None and not _has_type(value, definition.type):
            raise UsageError(
                f"the setting '{setting}' must be {_expected(definition.type)}, found {shown(repr(value))}"
            )
        values[setting] = value.rstrip("/") if setting == ADDRESS_SETTING and isinstance(value, str) else value
    return {key: _replace(value, values, escape=key in TEMPLATE_KEYS) for key, value in template.http.items()}


def _has_type(value: Any, type_name: str) -> bool:
    if type_name == "fields" and isinstance(value, bool):
        return True
    expected = _TYPES["texts" if type_name == "fields" else type_name]
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        return False
    return not isinstance(value, list) or (bool(value) and all(isinstance(item, str) and item for item in value))


def _expected(type_name: str) -> str:
    names = {"text": "text", "number": "a number", "texts": "a list of texts", "flag": "true or false"}
    return names.get(type_name, "a list of texts, true or false")


def _replace(value: Any, settings: Mapping[str, Any], *, escape: bool) -> Any:
    if isinstance(value, str):
        return _replace_text(value, settings, escape=escape)
    if isinstance(value, list):
        return [_replace(inner, settings, escape=escape) for inner in value]
    if not isinstance(value, dict):
        return value
    kept = {key: inner for key, inner in value.items() if not _is_absent(inner, settings)}
    return {
        str(_replace_text(key, settings, escape=escape)): _replace(inner, settings, escape=escape)
        for key, inner in kept.items()
    }


def _is_absent(value: Any, settings: Mapping[str, Any]) -> bool:
    """Whether a value is only the mark of a setting without a value."""
    return any(value == f"<{name}>" for name, setting in settings.items() if setting is None)


def _replace_text(text: str, settings: Mapping[str, Any], *, escape: bool) -> Any:
    """A text with the values of its marks."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<", position)) >= 0:
        end = text.index(">", start)
        value = settings[text[start + 1 : end]]
        if start == 0 and end == len(text) - 1 and not isinstance(value, str):
            return value
        parts += [text[position:start], escape_braces(str(value)) if escape else str(value)]
        position = end + 1
    return "".join([*parts, text[position:]])
