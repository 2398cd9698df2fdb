"""YAML read strictly, as plain data with the line of each key and entry: of configurations, and of test cases.

Tags that make objects are refused, as are repeated keys. Each alias counts as often as it is used, so that a small file
cannot expand into a large one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from rankgauge.errors import InputError, printable, shown
from rankgauge.io.formats.json_text import JsonPairs

MAX_FILE_BYTES = 1 << 20  # of a configuration
MAX_NODES = 10_000
MAX_DATA_BYTES = 1 << 26  # of test cases
MAX_DEPTH = 50
COLLECTION_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
TEXT_TAG = "tag:yaml.org,2002:str"
INT_TAG = "tag:yaml.org,2002:int"
MERGE_TAG = "tag:yaml.org,2002:merge"
WRITTEN_TAGS = ("tag:yaml.org,2002:timestamp", MERGE_TAG, "tag:yaml.org,2002:value")
PLAIN_INT = re.compile(r"0|-?[1-9][0-9]*")
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
    """Read a configuration, one YAML document; an error names the line."""
    _check_size(text, source, MAX_FILE_BYTES)
    return _load(_Reader, yaml.SafeLoader, text, source)


def load_yaml_data(text: bytes, source: str) -> Loaded:
    """Read data, one YAML document, as JSON would give it: objects are :class:`JsonPairs`, and so is an empty one.

    Dates and keys stay the text that they are. Lines are those of the entries of lists.
    """
    _check_size(text, source, MAX_DATA_BYTES)
    return _load(_DataReader, getattr(yaml, "CSafeLoader", yaml.SafeLoader), text, source)


def _check_size(text: bytes, source: str, limit: int) -> None:
    if len(text) > limit:
        raise InputError(f"{printable(source)}: {len(text):,} bytes, expected at most {limit:,}")


def _load(reader: type[_Reader], loader_type: Any, text: bytes, source: str) -> Loaded:
    try:
        loader = loader_type(text)
        try:
            return reader(loader, source, len(text)).document(loader.get_single_node())
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

    def __init__(self, loader: Any, source: str, size: int) -> None:
        self.max_nodes = MAX_NODES
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
        if self.count > self.max_nodes or len(path) > MAX_DEPTH:
            raise InputError.at(
                self.source,
                node.start_mark.line + 1,
                f"more than {self.max_nodes:,} values or {MAX_DEPTH} levels, each alias counted as often as it is used",
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
        return self.scalar(node)

    def pairs(self, node: yaml.MappingNode, depth: int = 0) -> list[tuple[yaml.Node, yaml.Node]]:
        """The keys and values of an object: its own, then what ``<<`` merges into it and it does not have."""
        own = [(key, value) for key, value in node.value if key.tag != MERGE_TAG]
        merged = [value for key, value in node.value if key.tag == MERGE_TAG]
        if not merged:
            return own
        names = {key.value for key, _ in own if isinstance(key, yaml.ScalarNode)}
        for value in merged:
            for other in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(other, yaml.MappingNode) or depth > MAX_DEPTH:
                    line = value.start_mark.line + 1
                    raise InputError.at(self.source, line, "<< merges an object or a list of objects, found others")
                for key, inner in self.pairs(other, depth + 1):
                    if isinstance(key, yaml.ScalarNode) and key.value not in names:
                        names.add(key.value)
                        own.append((key, inner))
        return own

    def scalar(self, node: yaml.Node) -> Any:
        if node.tag == TEXT_TAG and getattr(node, "style", None) is None and EXPONENT.fullmatch(node.value):
            return float(node.value)
        return self.loader.construct_object(node)  # knows the tags of plain data only; any other raises

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> Any:
        section: dict[str, Any] = {}
        for key_node, value_node in self.pairs(node):
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


class _DataReader(_Reader):
    """Converts nodes to the data of test cases, as a reader of JSON gives them."""

    def __init__(self, loader: Any, source: str, size: int) -> None:
        super().__init__(loader, source, size)
        self.max_nodes = MAX_NODES + size  # a value takes a byte at least; aliases may repeat some of them

    def scalar(self, node: yaml.Node) -> Any:
        if node.tag in WRITTEN_TAGS or (node.tag == INT_TAG and not PLAIN_INT.fullmatch(node.value)):
            return node.value  # a date, or 007, is an id as it is written
        return super().scalar(node)

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> Any:
        pairs = JsonPairs()
        for key_node, value_node in self.pairs(node):
            if not isinstance(key_node, yaml.ScalarNode):
                line = key_node.start_mark.line + 1
                raise InputError.at(self.source, line, "a key must be text, found a list or an object")
            pairs.append((key_node.value, self.value(value_node, (*path, key_node.value))))
        if len({key for key, _ in pairs}) != len(pairs):
            line = node.start_mark.line + 1
            repeated = next(key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1)
            raise InputError.at(self.source, line, f"key {shown(repeated)} appears twice", hint="keep one of the two")
        return pairs
