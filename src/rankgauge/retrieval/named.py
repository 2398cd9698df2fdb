"""A retriever of the user's own, by the text or the section of a configuration that names it.

``module:object`` and ``FILE.py:object`` are the object itself. A section with ``call`` is what that function returns
for its ``params``, one with ``http`` or ``postgres`` is a server. Every command opens retrievers here, and asks them
through :mod:`rankgauge.retrieval.asking`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.config.environment import expand
from rankgauge.config.retriever_settings import CALL_OPTIONS
from rankgauge.config.retrievers import RetrieverSection
from rankgauge.errors import RankgaugeError, UsageError, printable, shown
from rankgauge.retrieval.loading import in_folder, is_object_path, load_object
from rankgauge.secrets import error_text

YAML_SUFFIXES = (".yaml", ".yml")
ASKING_OPTIONS = ("id", "unit", "scores", *CALL_OPTIONS)


@dataclass(frozen=True)
class OpenRetriever:
    """A retriever that can be asked, its name, and what determines its answers beyond its code."""

    retriever: Any
    name: str | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)


def is_retriever_file(text: str) -> bool:
    """Whether a text names a file with the section of a retriever."""
    return text.endswith(YAML_SUFFIXES)


def is_own_retriever(text: str) -> bool:
    """Whether a text names a retriever of the user's own, and not a built-in mode."""
    return is_object_path(text) or is_retriever_file(text)


def section_of_file(path: str) -> RetrieverSection:
    """The section in a file; files that it names are found from its folder."""
    from rankgauge.config.reading import load_retriever_section

    section = load_retriever_section(path)
    if section.sweep is not None:
        raise UsageError(
            f"{printable(path, None)}: a sweep is several retrievers",
            hint="put it under retrievers in a configuration for `rankgauge benchmark run`",
        )
    if section.chunking is not None:
        raise UsageError(
            f"{printable(path, None)}: only a benchmark splits documents",
            hint="leave out chunking, or put the retriever into a configuration for `rankgauge benchmark run`",
        )
    return section_in_folder(section, Path(path).parent)


def asking_options(text: str) -> dict[str, Any]:
    """The options of asking that the file of a retriever sets; none if the text names no file."""
    section = section_of_file(text).model_dump() if is_retriever_file(text) else {}
    return {name: section[name] for name in ASKING_OPTIONS if section.get(name) is not None}


def section_in_folder(section: RetrieverSection, folder: Path) -> RetrieverSection:
    """A section whose files, such as that of a Python object, are found from a folder."""
    found: dict[str, Any] = {
        key: in_folder(text, folder) for key in ("mode", "call") if (text := getattr(section, key)) is not None
    }
    if section.http is not None and isinstance(section.http.verify, str):
        found["http"] = section.http.model_copy(update={"verify": str(folder / section.http.verify)})
    return section.model_copy(update=found)


def open_retriever(source: Any, kind: str = "retriever") -> OpenRetriever:
    """The retriever that a text or a section names; any other object is the retriever itself."""
    if isinstance(source, OpenRetriever):
        return source
    if isinstance(source, str):
        if is_retriever_file(source):
            return open_retriever(section_of_file(source), f"{kind} {printable(source, None)}")
        return OpenRetriever(load_object(source, kind), source.rpartition(":")[2])
    if not isinstance(source, RetrieverSection):
        return OpenRetriever(source)
    if source.call is not None:
        return _made(source.call, source.params or {}, kind)
    engine = _server(source)
    if engine is not None:
        return OpenRetriever(engine, engine.name)
    if source.mode is not None and is_object_path(source.mode):
        return open_retriever(source.mode, kind)
    raise UsageError(
        f"{kind} has none of the keys that make a retriever: expected call, http, postgres, or mode: module:callable",
        hint="built-in modes need a corpus: use `rankgauge runs fetch` or `rankgauge benchmark run`",
    )


def _server(section: RetrieverSection) -> Any:
    """The engine of a section that describes a server; None for any other section."""
    if section.http is not None:
        from rankgauge.retrieval.engines.http import HttpEngine

        return HttpEngine(section.http, timeout=section.model_dump()["timeout"])
    if section.postgres is not None:
        from rankgauge.retrieval.engines.postgres import PostgresEngine

        return PostgresEngine(section.postgres)
    return None


def _made(call: str, params: Mapping[str, Any], kind: str) -> OpenRetriever:
    """What a function returns for its parameters, in whose texts ``${NAME}`` is an environment variable."""
    make = load_object(call, kind)
    try:
        retriever = make(**_expanded(dict(params)))
    except RankgaugeError:
        raise
    except Exception as error:
        raise UsageError(f"{kind} {shown(call)}: it could not be made: {printable(error_text(error), None)}") from error
    if retriever is None:
        raise UsageError(
            f"{kind} {shown(call)} returned None instead of a retriever", hint="name a retriever itself with mode"
        )
    return OpenRetriever(retriever, call.rpartition(":")[2], {"call": Path(call).name, "params": dict(params)})


def _expanded(value: Any) -> Any:
    """A value with the environment variables of all its texts."""
    if isinstance(value, str):
        return expand(value)
    if isinstance(value, dict):
        return {key: _expanded(inner) for key, inner in value.items()}
    return [_expanded(inner) for inner in value] if isinstance(value, list) else value
