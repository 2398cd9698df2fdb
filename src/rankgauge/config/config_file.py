"""A configuration from a file or a mapping; all of its faults at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from rankgauge.config.bands import NO_BANDS
from rankgauge.config.judges import JudgeSection
from rankgauge.config.retriever_sections import RetrieverSection
from rankgauge.config.schema import Config, Kpi
from rankgauge.config.section_model import declaration_of
from rankgauge.core.settings import DECIMAL_NUMBER, ELEMENTS, WHOLE_NUMBER, declared
from rankgauge.errors import Fault, InputError, MeasureError, RankgaugeError, UsageError, nearest, printable, shown
from rankgauge.io.byte_streams import Limits, open_stored
from rankgauge.io.formats.yaml_text import MAX_FILE_BYTES, Loaded, load_yaml
from rankgauge.secrets import register_references

Model = TypeVar("Model", bound=BaseModel)
BLOCK = "retrieval_metrics"
SECTIONS_OF_BLOCK = {"measures", "statistics", "performance"}  # which have its settings


def load_config(source: str | Path | Mapping[str, Any], sets: Sequence[str] = ()) -> Config:
    """Read a ``rankgauge.yaml``, or its content as a mapping. An empty file is valid and sets nothing.

    ``sets`` are texts such as ``statistics.seed=7``, which override it.
    """
    if isinstance(source, Mapping):
        register_references(repr(source))
        loaded, name = Loaded(_plain(source)), "configuration"
    else:
        loaded, name = _load(source), str(source)
    return _config(loaded, name) if not sets else _config_with(loaded, name, sets)


SECTIONS_WITHOUT_NUMBERS = ("output", "performance", "history", "spark")


def changed_keys(config: Config) -> Iterator[str]:
    """The keys that change numbers and have another value than the default; a section of the user's names is one."""
    for section in type(config).model_fields:
        content = getattr(config, section)
        if section in SECTIONS_WITHOUT_NUMBERS or content in ({}, None, NO_BANDS):
            continue
        if not isinstance(content, BaseModel) or section in ("collection", "kpi"):
            if not isinstance(content, BaseModel) or content.model_fields_set:
                yield section
            continue
        for name, field in type(content).model_fields.items():
            declaration, value = declaration_of(field), getattr(content, name)
            is_default = name not in content.model_fields_set or (declaration and declaration.default == value)
            if not is_default and name not in declared(Limits):
                yield f"{section}.{name}"


def _config_with(loaded: Loaded, source: str, sets: Sequence[str]) -> Config:
    """A configuration in which some keys are set on the command line; an error names what was given there."""
    _config(loaded, source)  # raises if the file by itself is wrong
    data = loaded.data or {}
    if isinstance(data.get("measures"), list):
        data = {**data, "measures": {"names": data["measures"]}}
    of_block = [text for text in sets if text.strip().startswith(BLOCK)]
    others = [text for text in sets if text not in of_block]
    data = with_sets(Config, data, of_block)
    if BLOCK in data and others:
        config = _config(Loaded(data, loaded.lines), source)
        sections = {name: getattr(config, name).model_dump(exclude_unset=True) for name in SECTIONS_OF_BLOCK}
        data = {**{name: section for name, section in data.items() if name != BLOCK}, **sections}
    return _config(Loaded(with_sets(Config, data, others), loaded.lines), source)


def with_sets(model: type[BaseModel], data: dict[str, Any], sets: Sequence[str], prefix: str = "") -> dict[str, Any]:
    """The content of a section in which keys are set by texts such as ``statistics.seed=7``, after a prefix."""
    for text in sets:
        key, sign, value = text.partition("=")
        path, entry = _find_key(model, key.strip().removeprefix(prefix))
        if not sign or not all(path):
            raise UsageError(f"--set: expected KEY=VALUE, found {shown(text)}", hint="--set statistics.seed=7")
        data = _with_value(data, path, _parse_value(entry, value))
        try:
            model.model_validate(data)
        except ValidationError as error:
            fault = _fault(model, Loaded(data), dict(error.errors()[0]))
            raise UsageError(f"--set {printable(key.strip())}: {fault.complaint}", hint=fault.action) from None
    return data


def _find_key(model: type[BaseModel], key: str) -> tuple[tuple[str, ...], FieldInfo | None]:
    """The steps to a key, and the key; within a mapping of values, the rest is one step, which may contain dots."""
    path: tuple[str, ...] = ()
    steps = key.split(".")
    while steps:
        path, steps = (*path, steps[0]), steps[1:]
        entry = model.model_fields.get(path[-1])
        if entry is None:
            return (*path, *steps), None
        sections, is_mapping = section_types(entry.annotation), dict in nested_types(entry.annotation)
        if is_mapping and not sections:
            return ((*path, ".".join(steps)) if steps else path), entry
        if is_mapping and steps:
            path, steps = (*path, steps[0]), steps[1:]  # the user chose the name of the section
        if not sections or not steps:
            break
        model = sections[0]
    return (*path, *steps), entry


def _with_value(data: Any, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The data with another value at a path."""
    section = data if isinstance(data, dict) else {}
    name, *rest = path
    return {**section, name: _with_value(section.get(name), tuple(rest), value) if rest else value}


def _parse_value(key: FieldInfo | None, text: str) -> Any:
    """The value that a text means for a key: a text as it is, a number, or YAML for lists and mappings."""
    if key is None:
        return text  # the validation says that there is no such key
    declaration, value = declaration_of(key), text.strip()
    kinds = {*nested_types(key.annotation)} if declaration is None else set()
    is_list = declaration is not None and declaration.kind in ELEMENTS
    if value[:1] in ("[", "{") and (is_list or kinds & {dict, list, tuple} or section_types(key.annotation)):
        return load_yaml(value.encode("utf-8", "surrogateescape"), "--set").data
    if declaration is not None:
        return declaration.parse(text)
    if kinds & {int, float} and DECIMAL_NUMBER.fullmatch(value):
        return int(value) if WHOLE_NUMBER.fullmatch(value) else float(value)
    return value == "true" if bool in kinds and value in ("true", "false") else text


def section_types(annotation: Any) -> list[type[BaseModel]]:
    """The sections in the type of a key."""
    return [kind for kind in nested_types(annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]


def nested_types(annotation: Any) -> Iterator[Any]:
    """A type with the types in it."""
    yield get_origin(annotation) or annotation
    for part in get_args(annotation):
        yield from nested_types(part)


def load_kpi(path: str | Path) -> Kpi:
    """Read a file of target bands."""
    return _validated(Kpi, _load(path), str(path))


def load_retriever_section(path: str | Path) -> RetrieverSection:
    """Read a file with one retriever: the keys that it would have under ``retrievers`` in a configuration."""
    return _validated(RetrieverSection, _load(path), str(path))


def load_judge_section(path: str | Path) -> JudgeSection:
    """Read a file that describes a model that judges."""
    return _validated(JudgeSection, _load(path), str(path))


def load_section(model: type[Model], data: Mapping[str, Any], source: str = "configuration") -> Model:
    """A section from its content as a mapping."""
    return _validated(model, Loaded(_plain(data)), source)


def _load(path: str | Path) -> Loaded:
    with open_stored(path) as file:
        text = file.read(MAX_FILE_BYTES + 1)
    register_references(text.decode("utf-8", "replace"))
    return load_yaml(text, str(path))


def _config(loaded: Loaded, source: str) -> Config:
    data = {} if loaded.data is None else loaded.data
    if not isinstance(data, dict):
        raise InputError.at(source, 1, f"expected sections such as 'measures:', found {type(data).__name__}")
    if BLOCK in data and SECTIONS_OF_BLOCK & set(data):
        section = sorted(SECTIONS_OF_BLOCK & set(data))[0]
        raise InputError.at(
            source,
            loaded.line((section,)),
            f"'{section}' cannot be combined with 'retrieval_metrics', which has the same settings",
            hint="keep one of the two",
        )
    if isinstance(data.get("measures"), list):
        data = {**data, "measures": {"names": data["measures"]}}
        lines = {("measures", "names", *path[1:]): line for path, line in loaded.lines.items() if path[0] == "measures"}
        loaded = Loaded(data, {**loaded.lines, **lines})
    return _validated(Config, Loaded(data, loaded.lines), source).merged()


def _validated(model: type[Model], loaded: Loaded, source: str) -> Model:
    try:
        return model.model_validate(loaded.data)
    except ValidationError as error:
        faults = [_fault(model, loaded, dict(details)) for details in error.errors()]
        raise InputError.from_faults(source, sorted(faults, key=lambda fault: fault.line or 0)) from None


def _fault(model: type[BaseModel], loaded: Loaded, error: dict[str, Any]) -> Fault:
    """One of pydantic's errors as a fault with its line."""
    path = tuple(step for step in error["loc"] if step != "[key]")
    line, key = loaded.line(path) or (1 if loaded.lines else None), ".".join(str(step) for step in path)
    inside = f" in '{key}'" if key else ""
    match error["type"]:
        case "extra_forbidden":
            keys = _keys(model, path[:-1])
            close = nearest(str(path[-1]), keys)
            section = f" in '{'.'.join(map(str, path[:-1]))}'" if len(path) > 1 else ""
            return Fault(
                "unknown-key",
                line,
                f"the key {shown(str(path[-1]))}",
                f"one of {', '.join(keys)}{section}",
                f"did you mean '{close}'?" if close else None,
            )
        case "value_error" if isinstance(error["ctx"]["error"], RankgaugeError):
            cause = error["ctx"]["error"]
            kind = "a part of the queries" if "split" in path[-1:] else "a requirement"
            kind = "a measure" if isinstance(cause, MeasureError) else kind
            return Fault("bad-value", line, cause.message, f"{kind}{inside}", cause.hint)
        case "missing":
            return Fault("bad-value", line, "nothing", f"the key '{path[-1]}'")
        case "setting":
            return Fault("bad-value", line, error["ctx"]["found"], error["ctx"]["expected"], key=key)
        case "bands" | "section":
            return Fault("bad-value", line, error["input"], error["msg"])
        case _:
            return Fault("bad-value", line, _shown_value(error["input"]), f"{_expected(error)}{inside}")


def _expected(error: dict[str, Any]) -> str:
    match error["type"]:
        case "too_short":
            return "at least one measure" if "sweep" not in error["loc"] else "at least one value"
        case "model_type":
            return "a section with keys"
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
            return f"a number {error['msg'].removeprefix('Input should be ')}"
        case _:
            text: str = error["msg"]
            return text.removeprefix("Input should be ")


def _shown_value(value: object) -> str:
    return f"{type(value).__name__} {shown(repr(value))}" if value is not None else "nothing"


def _keys(model: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    """The keys that a section can have."""
    steps = iter(path)
    for step in steps:
        annotation = model.model_fields[str(step)].annotation
        model = next(kind for kind in _kinds(annotation) if issubclass(kind, BaseModel))
        if get_origin(annotation) is dict:
            next(steps)  # the user chose the name of the section
    return list(model.model_fields)


def _kinds(annotation: Any) -> list[type]:
    return [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]


def _plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) if isinstance(value, Mapping) else value for key, value in mapping.items()}
