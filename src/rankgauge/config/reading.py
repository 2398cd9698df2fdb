"""A configuration from a file or a mapping; everything that is wrong with it at once, each with its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from rankgauge.config.loading import Loaded, load_yaml
from rankgauge.config.schema import Config
from rankgauge.errors import Fault, InputError, RankgaugeError, nearest, printable, shown

SAME = {"measures", "statistics", "performance"}  # sections that say what retrieval_metrics says


def load_config(given: str | Path | Mapping[str, Any]) -> Config:
    """Read ``rankgauge.yaml``, or take its content as a mapping. An empty file says nothing, and that is fine."""
    if isinstance(given, Mapping):
        return _validated(Loaded(_plain(given)), "configuration")
    try:
        with Path(given).open("rb") as file:
            text = file.read((1 << 20) + 1)
    except OSError as error:
        raise InputError(f"cannot read {printable(str(given), None)}: {error.strerror}") from error
    return _validated(load_yaml(text, str(given)), str(given))


def _validated(loaded: Loaded, source: str) -> Config:
    data = {} if loaded.data is None else loaded.data
    if not isinstance(data, dict):
        raise InputError.at(source, 1, f"expected sections such as 'measures:', found {type(data).__name__}")
    if "retrieval_metrics" in data and SAME & set(data):
        twice = sorted(SAME & set(data))[0]
        raise InputError.at(
            source,
            loaded.line((twice,)),
            f"'{twice}' stands beside 'retrieval_metrics', which says the same things",
            hint="keep one of the two",
        )
    if isinstance(data.get("measures"), list):
        data = {**data, "measures": {"names": data["measures"]}}
        moved = {("measures", "names", *path[1:]): line for path, line in loaded.lines.items() if path[0] == "measures"}
        loaded = Loaded(data, {**loaded.lines, **moved})
    try:
        return Config.model_validate(data).merged()
    except ValidationError as error:
        faults = [_fault(loaded, dict(found)) for found in error.errors()]
        raise InputError.many(source, sorted(faults, key=lambda fault: fault.line or 0)) from None


def _fault(loaded: Loaded, found: dict[str, Any]) -> Fault:
    path = found["loc"]
    line, where = loaded.line(path), ".".join(str(step) for step in path)
    match found["type"]:
        case "extra_forbidden":
            known = _keys(path[:-1])
            close = nearest(str(path[-1]), known)
            inside = f" in '{'.'.join(map(str, path[:-1]))}'" if len(path) > 1 else ""
            return Fault(
                "unknown-key",
                line,
                f"the key {shown(str(path[-1]))}",
                f"one of {', '.join(known)}{inside}",
                f"did you mean '{close}'?" if close else None,
            )
        case "value_error" if isinstance(found["ctx"]["error"], RankgaugeError):
            cause = found["ctx"]["error"]
            return Fault("bad-value", line, cause.message, f"a measure in '{where}'", cause.hint)
        case _:
            return Fault("bad-value", line, _found(found["input"]), f"{_wanted(found)} in '{where}'")


def _wanted(found: dict[str, Any]) -> str:
    match found["type"]:
        case "too_short":
            return "at least one measure"
        case "model_type":
            return "a section with keys"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            return f"a number {found['msg'].removeprefix('Input should be ')}"
        case _:
            text: str = found["msg"]
            return text.removeprefix("Input should be ")


def _found(value: object) -> str:
    return f"{type(value).__name__} {shown(repr(value))}" if value is not None else "nothing"


def _keys(path: tuple[str | int, ...]) -> list[str]:
    """The keys that there are in a section."""
    model: type[BaseModel] = Config
    for step in path:
        model = next(kind for kind in _kinds(model.model_fields[str(step)].annotation) if issubclass(kind, BaseModel))
    return list(model.model_fields)


def _kinds(annotation: Any) -> list[type]:
    return [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in given.items()}
