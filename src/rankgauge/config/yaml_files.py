"""YAML read strictly, as plain data with the line of each key; and ``${NAME}``, an environment variable.

Tags that make objects are refused, as are repeated keys.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from rankgauge.errors import InputError, UsageError, printable, shown
from rankgauge.secrets import register_secret

MAX_FILE_BYTES = 1 << 20
MAX_NODES = 10_000  # each alias counts as often as it is used, so that a small file cannot expand into a large one
MAX_DEPTH = 50
COLLECTION_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
TEXT_TAG = "tag:yaml.org,2002:str"
EXPONENT = re.compile(r"[-+]?[0-9]+e[-+]?[0-9]+", re.IGNORECASE)  # 1e-3, which YAML 1.1 takes for text

KeyPath = tuple[str | int, ...]


@dataclass
class Loaded:
    """The data, and the line of each key and of each entry of a list."""

    data: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the nearest section that would contain it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def load_yaml(text: bytes, source: str) -> Loaded:
    """Read one YAML document; an error names the line."""
    if len(text) > MAX_FILE_BYTES:
        raise InputError(f"{printable(source)}: {len(text):,} bytes, expected at most {MAX_FILE_BYTES:,}")
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            return _Reader(loader, source).document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join(part for part in (error.context, error.problem) if part)
        raise InputError.at(source, mark.line + 1 if mark else None, f"not valid YAML: {reason}") from None
    except yaml.YAMLError as error:
        raise InputError.at(source, None, f"not valid YAML: {printable(str(error), 200)}") from None
    except UnicodeDecodeError as error:
        raise InputError.at(source, None, f"not UTF-8: byte {error.start}") from None
    except (RecursionError, ValueError) as error:
        # A ValueError is text that looks like a number or a date but is not one.
        if isinstance(error, InputError):
            raise
        reason = "nested too deeply" if isinstance(error, RecursionError) else printable(str(error), 200)
        raise InputError.at(source, None, f"not valid YAML: {reason}") from None


class _Reader:
    """Converts nodes to data and counts them."""

    def __init__(self, loader: yaml.SafeLoader, source: str) -> None:
        self.loader = loader
        self.source = source
        self.loaded = Loaded()
        self.count = 0

    def document(self, node: yaml.Node | None) -> Loaded:
        if node is not None:
            self.loaded.data = self.value(node, ())
        return self.loaded

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self.count += 1
        if self.count > MAX_NODES or len(path) > MAX_DEPTH:
            raise InputError.at(
                self.source,
                node.start_mark.line + 1,
                f"more than {MAX_NODES:,} values or {MAX_DEPTH} levels, each alias counted as often as it is used",
            )
        if isinstance(node, yaml.CollectionNode) and node.tag not in COLLECTION_TAGS:
            raise InputError.at(self.source, node.start_mark.line + 1, f"expected plain data, found {shown(node.tag)}")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for index, item in enumerate(node.value):
                self.loaded.lines[*path, index] = item.start_mark.line + 1
                items.append(self.value(item, (*path, index)))
            return items
        if node.tag == TEXT_TAG and getattr(node, "style", None) is None and EXPONENT.fullmatch(node.value):
            return float(node.value)
        return self.loader.construct_object(node)  # knows the tags of plain data only; any other raises

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        section: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self.value(key_node, (*path, ""))
            if not isinstance(key, str):
                raise InputError.at(self.source, line, f"a key must be text, found {shown(repr(key))}")
            if key in section:
                first = self.loaded.lines[*path, key]
                message = f"key {shown(key)} appears here and on line {first}"
                raise InputError.at(self.source, line, message, hint="keep one of the two")
            self.loaded.lines[*path, key] = line
            section[key] = self.value(value_node, (*path, key))
        return section


# ``${NAME}`` in a configuration: the value of an environment variable, which is never written anywhere.


def expand(text: str, keeps: Callable[[str], bool] | None = None) -> str:
    """Replace each ``${NAME}`` by the value of that environment variable; ``$${`` is a literal ``${``.

    The values are secrets from now on: :mod:`rankgauge.secrets` masks them. Variables that ``keeps`` names stay as they
    are written.
    """
    parts: list[str] = []
    position = 0
    while (start := text.find("${", position)) >= 0:
        if start > position and text[start - 1] == "$":
            parts.append(text[position : start - 1] + "${")
            position = start + 2
            continue
        end = text.find("}", start)
        name = text[start + 2 : end] if end >= 0 else ""
        if not name.isidentifier() or not name.isascii():
            found = shown(text[start : end + 1 if end >= 0 else None])
            raise UsageError(
                f"expected ${{NAME}}, an environment variable, at character {start + 1}, found {found}",
                hint="write $${ for the characters ${ themselves",
            )
        value = os.environ.get(name)
        if value is None:
            raise UsageError(
                f"the environment variable {name} is not set", hint=f"export {name}=…, or remove ${{{name}}}"
            )
        register_secret(value)
        parts += [text[position:start], text[start : end + 1] if keeps is not None and keeps(name) else value]
        position = end + 1
    return "".join([*parts, text[position:]])
