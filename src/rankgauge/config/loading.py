"""YAML as plain data: dicts, lists, strings, numbers. Tags that make objects are refused, as are repeated keys."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from rankgauge.errors import InputError, printable, shown

LARGEST = 1 << 20  # bytes
NODES = 10_000  # with every alias counted as often as it is used, so that a small file cannot unfold into a large one
DEEPEST = 50
PLAIN = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
TEXT = "tag:yaml.org,2002:str"
EXPONENT = re.compile(r"[-+]?[0-9]+e[-+]?[0-9]+", re.IGNORECASE)  # 1e-3, which YAML 1.1 takes for text

Path = tuple[str | int, ...]


@dataclass
class Loaded:
    """The data, and the line on which each key and each entry of a list stands."""

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """The line of a key, or of the nearest one that it would stand in."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def load_yaml(text: bytes, source: str) -> Loaded:
    """Read one YAML document; the error says where."""
    if len(text) > LARGEST:
        raise InputError(f"{printable(source)}: {len(text):,} bytes, expected at most {LARGEST:,}")
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            return _Walk(loader, source).document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise InputError.at(source, mark.line + 1 if mark else None, f"not YAML that can be read: {said}") from None
    except yaml.YAMLError as error:
        raise InputError.at(source, None, f"not YAML that can be read: {printable(str(error), 200)}") from None
    except UnicodeDecodeError as error:
        raise InputError.at(source, None, f"not UTF-8: byte {error.start}") from None
    except (RecursionError, ValueError) as error:
        # A ValueError is a number or a date that looks like one and is none.
        if isinstance(error, InputError):
            raise
        why = "nested too deeply" if isinstance(error, RecursionError) else printable(str(error), 200)
        raise InputError.at(source, None, f"not YAML that can be read: {why}") from None


class _Walk:
    """Makes data of nodes, counting them."""

    def __init__(self, loader: yaml.SafeLoader, source: str) -> None:
        self.loader = loader
        self.source = source
        self.found = Loaded()
        self.count = 0

    def document(self, node: yaml.Node | None) -> Loaded:
        if node is not None:
            self.found.data = self.value(node, ())
        return self.found

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.count += 1
        if self.count > NODES or len(path) > DEEPEST:
            raise InputError.at(
                self.source,
                node.start_mark.line + 1,
                f"more than {NODES:,} values or {DEEPEST} levels, each alias counted as often as it is used",
            )
        if isinstance(node, yaml.CollectionNode) and node.tag not in PLAIN:
            raise InputError.at(self.source, node.start_mark.line + 1, f"expected plain data, found {shown(node.tag)}")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            out = []
            for place, item in enumerate(node.value):
                self.found.lines[*path, place] = item.start_mark.line + 1
                out.append(self.value(item, (*path, place)))
            return out
        if node.tag == TEXT and getattr(node, "style", None) is None and EXPONENT.fullmatch(node.value):
            return float(node.value)
        # Looks the tag up among those of plain data; any other is an error with its place.
        return self.loader.construct_object(node)

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self.value(key_node, (*path, ""))
            if not isinstance(key, str):
                raise InputError.at(self.source, line, f"a key must be text, found {shown(repr(key))}")
            if key in out:
                first = self.found.lines[*path, key]
                raise InputError.at(
                    self.source,
                    line,
                    f"key {shown(key)} stands here and on line {first}",
                    hint="keep one of the two",
                )
            self.found.lines[*path, key] = line
            out[key] = self.value(value_node, (*path, key))
        return out
