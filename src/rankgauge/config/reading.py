"""A configuration from a file or a mapping; everything that is wrong with it at once, each with its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from rankgauge.config.loading import LARGEST, Loaded, load_yaml
from rankgauge.config.schema import Config, Kpi
from rankgauge.errors import Fault, InputError, MeasureError, RankgaugeError, nearest, printable, shown

SAME = {"measures", "statistics", "performance"}  # sections that say what retrieval_metrics says


def load_config(given: str | Path | Mapping[str, Any]) -> Config:
    """Read ``rankgauge.yaml``, or take its content as a mapping. An empty file says nothing, and that is fine."""
    if isinstance(given, Mapping):
        return _config(Loaded(_plain(given)), "configuration")
    return _config(_loaded(given), str(given))


def load_kpi(path: str | Path) -> Kpi:
    """Read a file of target bands."""
    return _validated(Kpi, _loaded(path), str(path))


def _loaded(path: str | Path) -> Loaded:
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot read {printable(str(path), None)}: {error.strerror}") from error
    return load_yaml(text, str(path))


def _config(loaded: Loaded, source: str) -> Config:
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
    return _validated(Config, Loaded(data, loaded.lines), source).merged()


Model = TypeVar("Model", bound=BaseModel)


def _validated(model: type[Model], loaded: Loaded, source: str) -> Model:
    try:
        return model.model_validate(loaded.data)
    except ValidationError as error:
        faults = [_fault(model, loaded, dict(found)) for found in error.errors()]
        raise InputError.from_faults(source, sorted(faults, key=lambda fault: fault.line or 0)) from None


def _fault(model: type[BaseModel], loaded: Loaded, found: dict[str, Any]) -> Fault:
    path = tuple(step for step in found["loc"] if step != "[key]")
    line, where = loaded.line(path) or (1 if loaded.lines else None), ".".join(str(step) for step in path)
    inside = f" in '{where}'" if where else ""
    match found["type"]:
        case "extra_forbidden":
            known = _keys(model, path[:-1])
            close = nearest(str(path[-1]), known)
            section = f" in '{'.'.join(map(str, path[:-1]))}'" if len(path) > 1 else ""
            return Fault(
                "unknown-key",
                line,
                f"the key {shown(str(path[-1]))}",
                f"one of {', '.join(known)}{section}",
                f"did you mean '{close}'?" if close else None,
            )
        case "value_error" if isinstance(found["ctx"]["error"], RankgaugeError):
            cause = found["ctx"]["error"]
            what = "a measure" if isinstance(cause, MeasureError) else "a requirement"
            return Fault("bad-value", line, cause.message, f"{what}{inside}", cause.hint)
        case "missing":
            return Fault("bad-value", line, "nothing", f"the key '{path[-1]}'")
        case "bands":
            return Fault("bad-value", line, found["input"], found["msg"])
        case _:
            return Fault("bad-value", line, _found(found["input"]), f"{_wanted(found)}{inside}")


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


def _keys(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """The keys that there are in a section."""
    steps = iter(path)
    for step in steps:
        annotation = model.model_fields[str(step)].annotation
        model = next(kind for kind in _kinds(annotation) if issubclass(kind, BaseModel))
        if get_origin(annotation) is dict:
            next(steps)  # the name of the section is the user's
    return list(model.model_fields)


def _kinds(annotation: Any) -> list[type]:
    return [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in given.items()}
