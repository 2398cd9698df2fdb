"""Options of ``rankgauge runs fetch`` from a configuration file; command-line options override the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.cli.options.declared import configuration, configuration_folder, is_given, retriever_values
from rankgauge.config.retrievers import RetrieverSection
from rankgauge.config.schema import Config
from rankgauge.errors import UsageError, nearest, shown
from rankgauge.retrieval.fetch.modes import OWN_MODE
from rankgauge.retrieval.named import is_retriever_file, section_in_folder, section_of_file

PATH_KEYS = ("corpus", "queries", "vectors", "query_vectors", "index")


def retriever_options(options: dict[str, Any], retriever: str | None) -> dict[str, Any]:
    """Every key of the retriever that a command runs, by name, with its collection.

    Options that are given come first, then ``--set``, then the file that the mode names or the configuration.
    """
    given = {name: value for name, value in options.items() if is_given(name)}
    folder = configuration_folder() or Path()
    values: dict[str, Any] = {}
    config = configuration()
    if config is not None:
        values = _configured(config, retriever, folder, keeps_source="mode" not in given)
    elif retriever is not None:
        raise UsageError("--retriever needs a configuration", hint="name it: --config rankgauge.yaml")
    if is_retriever_file(given.get("mode", "")):
        path = given.pop("mode")
        values |= _option_values(section_of_file(path), Path(path).parent)
    sets = RetrieverSection.model_validate(retriever_values())
    return {"mode": "lexical", **options, **values, **_option_values(sets, Path()), **given}


def _configured(config: Config, retriever: str | None, folder: Path, *, keeps_source: bool) -> dict[str, Any]:
    section = section_in_folder(retriever_section(config, retriever), folder)
    if section.sweep is not None:
        raise UsageError(
            "a sweep is several retrievers, and a fetch asks one", hint="use `rankgauge benchmark run`, or leave it out"
        )
    if section.chunking is not None:
        raise UsageError(
            "only a benchmark splits documents", hint="split them with `rankgauge chunk`, and name the file as --corpus"
        )
    collection = {key: value for key, value in config.collection.model_dump().items() if value is not None}
    values = _option_values(section, folder) | _found_from(folder, collection)
    if not keeps_source:
        values.pop("source", None)
    return values


def _option_values(section: RetrieverSection, folder: Path) -> dict[str, Any]:
    """The keys that a section sets; ``source`` is the section if it describes a retriever itself."""
    values = {key: value for key, value in section.model_dump().items() if value is not None}
    values = _found_from(folder, values)
    if "experts" in values:
        values["experts"] = {expert: str(folder / corpus) for expert, corpus in values["experts"].items()}
    return {**values, "source": section, "mode": OWN_MODE} if section.is_own else values


def _found_from(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    return {key: str(folder / value) if key in PATH_KEYS else value for key, value in values.items()}


def retriever_section(config: Config, name: str | None) -> RetrieverSection:
    """The retriever of a configuration by its name, or the only one."""
    names = list(config.retrievers)
    if name is None and len(names) > 1:
        raise UsageError(
            f"the configuration has {len(names)} retrievers: {', '.join(names)}", hint="choose one: --retriever NAME"
        )
    if name is None:
        return config.retrievers[names[0]] if names else RetrieverSection()
    if name not in config.retrievers:
        close = nearest(name, names)
        raise UsageError(
            f"the configuration has no retriever {shown(name)}" + (f"; did you mean {close}?" if close else ""),
            hint=f"it has {', '.join(names)}" if names else None,
        )
    return config.retrievers[name]
