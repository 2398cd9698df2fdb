"""What a setting is: a field of the dataclass that uses it, declared with its help, its limits and its option.

The field's name, type and default are the only ones there are. The command line (``cli/options/declared_options.py``),
the keys of ``rankgauge.yaml`` (``config/section_model.py``), the reference pages and completion are made from the
declaration, and a value that does not fit is refused with the same words in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from enum import Enum
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, NamedTuple

from rankgauge.errors import UsageError, nearest, shown

Kind = Literal["str", "int", "float", "bool", "texts", "ints", "size", "path", "paths"]
KINDS: dict[str, Kind] = {
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "tuple[str, ...]": "texts",
    "tuple[int, ...]": "ints",
}
ELEMENTS: dict[Kind, Kind] = {"texts": "str", "ints": "int", "paths": "path"}  # of lists
NOUNS: dict[Kind, str] = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "texts": "a list of texts",
    "ints": "a list of whole numbers",
    "size": "a number of bytes, or a size such as 512M",
    "path": "a path",
    "paths": "a list of paths",
}
LIMITS = {
    "": (-math.inf, math.inf, ""),
    ">=0": (0, math.inf, "of at least 0"),
    ">=1": (1, math.inf, "of at least 1"),
    ">=100": (100, math.inf, "of at least 100"),
    ">0": (math.nextafter(0, 1), math.inf, "above 0"),
    "0<x<1": (math.nextafter(0, 1), math.nextafter(1, 0), "between 0 and 1"),
    "0<x<=1": (math.nextafter(0, 1), 1, "above 0, at most 1"),
    "0<=x<=1": (0, 1, "from 0 to 1"),
    "0<=x<=0.3": (0, 0.3, "from 0 to 0.3"),
    "1<=x<=9": (1, 9, "from 1 to 9"),
    "1<=x<=100": (1, 100, "from 1 to 100"),
}
SIZE = re.compile(r"([0-9]+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)  # 512M, 2 GiB; units are powers of 1024
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
DECIMAL_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Section(Enum):
    """What a setting is about: the sections of ``--help``, in their order."""

    INPUT = "Input"
    GATE = "Gate"
    RETRIEVER = "Retriever"
    POOL = "Pool"
    JUDGING = "Judging"
    MACHINE = "Judging by a program"
    FUSION = "Fusion"
    TUNING = "Tuning"
    CHECKS = "Checks"
    ENTRIES = "Entries of the history"
    MEASURES = "Measures"
    STATISTICS = "Statistics"
    OUTPUT = "Output"
    LIVE = "Live retrieval"
    GOLD = "Labels by text"
    HISTORY = "History"
    FILES = "File formats and limits"
    SPARK = "Spark"
    OTHER = "Other"


class Setting(NamedTuple):
    """What a declaration says besides name, type and default.

    ``flag`` is ``-l/--rel GRADE``, or ``--on/--off`` for a choice of two; an empty one is made from the name. It is
    ``statistics.seed`` if there is no option, only a key of ``rankgauge.yaml`` that ``--set`` takes, and ``-`` if the
    file alone has it. ``--help`` shows what is common, ``--help-all`` the rest. ``kind`` is stated only if the type
    does not say it: a size is a number of bytes, or a text such as 512M; a path is a text. The option of a list is
    repeatable.
    """

    help: str
    section: Section
    flag: str = ""
    limits: str = ""
    choices: tuple[str, ...] = ()
    is_common: bool = False
    kind: Kind | None = None

    @property
    def key(self) -> str:
        """The key that ``--set`` takes instead of an option, if there is one."""
        return "" if self.flag.startswith("-") else self.flag


class WrongValue(NamedTuple):
    """What a setting takes, and what was found instead."""

    expected: str
    found: str


class Declared(NamedTuple):
    """A setting with the name, kind and default of its field."""

    name: str
    kind: Kind
    is_optional: bool  # whether None is a value
    default: Any
    setting: Setting

    @property
    def expected(self) -> str:
        """The values that fit, in words."""
        if self.setting.choices:
            return f"one of {', '.join(self.setting.choices)}"
        return f"{NOUNS[self.kind]} {LIMITS[self.setting.limits][2]}".rstrip()

    @property
    def option(self) -> str:
        """How a command line sets it: ``--k``, or ``--set retriever.unit``."""
        flags, _, _ = self.setting.flag.partition(" ")
        return f"--set {self.setting.key}" if self.setting.key else flags.split("/")[-1] or f"--{self.name}"

    @property
    def element(self) -> Declared:
        """What each value of a list has to be; the declaration itself if it is not that of a list."""
        kind = ELEMENTS.get(self.kind)
        return self if kind is None else self._replace(kind=kind, is_optional=False)

    def fits(self, value: object) -> bool:
        """Whether a value is of the declared kind, within its limits and among its choices."""
        if value is None:
            return self.is_optional
        if self.kind == "bool":
            return isinstance(value, bool)
        if self.kind in ELEMENTS:
            return isinstance(value, (list, tuple)) and all(map(self.element.fits, value))
        if self.kind == "path":
            return isinstance(value, (str, PathLike)) and bool(str(value))
        if self.kind == "str":
            return (
                isinstance(value, str) and bool(value) and (not self.setting.choices or value in self.setting.choices)
            )
        number = Real if self.kind == "float" else Integral
        if isinstance(value, bool) or not isinstance(value, number):
            return False
        low, high, _ = LIMITS[self.setting.limits]
        return low <= float(value) <= high and (math.isfinite(float(value)))

    def complaint(self, value: object) -> str | None:
        """What is wrong with a value: the same sentence for an option, a key and an argument."""
        fault = self.fault(value)
        return None if fault is None else f"expected {fault.expected}, found {fault.found}"

    def fault(self, value: object) -> WrongValue | None:
        """What is wrong with a value, or with the first of a list that is wrong; None if it fits."""
        if self.fits(value):
            return None
        if self.kind in ELEMENTS and isinstance(value, (list, tuple)):
            return next(fault for fault in map(self.element.fault, value) if fault is not None)
        return WrongValue(self.expected, self._found(value))

    def _found(self, value: object) -> str:
        """A value that does not fit, in words."""
        if not isinstance(value, str):
            return "nothing" if value is None else repr(value)
        close = nearest(value, self.setting.choices) if self.setting.choices else None
        return shown(value) + (f"; did you mean {close}?" if close else "")

    def parse(self, text: str) -> Any:
        """The value that a text on the command line means; the text itself if it is not one of this kind."""
        stripped = text.strip()
        if self.kind == "int" and WHOLE_NUMBER.fullmatch(stripped):
            return int(stripped)
        if self.kind == "float" and DECIMAL_NUMBER.fullmatch(stripped):
            return float(stripped)
        if self.kind == "bool" and stripped in ("true", "false"):
            return stripped == "true"
        if self.kind == "size" and (match := SIZE.fullmatch(stripped)):
            return int(match[1]) << (10 * " KMGT".index(match[2].upper() or " "))
        return text


def setting(
    default: Any,
    help: str,
    section: Section,
    *,
    flag: str = "",
    limits: str = "",
    choices: Sequence[str] = (),
    common: bool = False,
    kind: Kind | None = None,
) -> Any:
    """A field of a dataclass that is a setting."""
    declaration = Setting(help, section, flag, limits, tuple(choices), common, kind)
    return field(default=default, metadata={"setting": declaration})


def setting_of(cls: type[Any], name: str, **changes: Any) -> Any:
    """A field that is the setting of another class, except for changes: its default, or what its declaration says."""
    original = declared(cls)[name]
    default = changes.pop("default", original.default)
    return field(default=default, metadata={"setting": original.setting._replace(**changes)})


def declared(cls: type[Any]) -> dict[str, Declared]:
    """The settings of a dataclass, by name."""
    if cls not in _DECLARED:
        _DECLARED[cls] = {
            entry.name: _declared(entry.name, str(entry.type), entry.default, entry.metadata["setting"])
            for entry in fields(cls)
            if "setting" in entry.metadata
        }
    return _DECLARED[cls]


_DECLARED: dict[type[Any], dict[str, Declared]] = {}


def _declared(name: str, annotation: str, default: Any, setting: Setting) -> Declared:
    parts = [part.strip() for part in annotation.split("|")]
    kinds = [part for part in parts if part != "None"]
    kind = setting.kind or KINDS.get(kinds[0], "str")  # the name of a Literal is that of a text
    return Declared(name, kind, "None" in parts, default, setting)


def check_settings(instance: Any) -> None:
    """Raise if a setting of an object does not fit its declaration."""
    check_values(type(instance), {name: getattr(instance, name) for name in declared(type(instance))})


def check_values(cls: type[Any], values: Mapping[str, Any]) -> None:
    """Raise if a value does not fit the setting of a class that has its name."""
    settings = declared(cls)
    for name, value in values.items():
        complaint = settings[name].complaint(value)
        if complaint is not None:
            raise UsageError(f"{name}: {complaint}")
