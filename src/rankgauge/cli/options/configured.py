"""Options of ``rankgauge runs fetch`` from a configuration file; command-line options override the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.cli.options.groups import is_given
from rankgauge.config.reading import load_config
from rankgauge.config.retrievers import RetrieverSection
from rankgauge.config.schema import Config
from rankgauge.errors import UsageError, nearest, shown
from rankgauge.retrieval.fetch.modes import OWN_MODE
from rankgauge.retrieval.named import is_retriever_file, section_in_folder, section_of_file

PATH_KEYS = ("corpus", "queries", "vectors", "query_vectors", "index")


def options_from_config(options: dict[str, Any], path: str, name: str | None) -> dict[str, Any]:
    """The options, with the values of a configuration file for those that are not given."""
    config, folder = load_config(path), Path(path).parent
    section = section_in_folder(retriever_section(config, name), folder)
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
    if is_given("mode"):
        values.pop("source", None)
    return {**options, **_not_given(values)}


def options_from_file(options: dict[str, Any]) -> dict[str, Any]:
    """The options, with the values of a retriever's file for those that are not given, if the mode names one."""
    path = options["mode"]
    if not is_retriever_file(path):
        return options
    values = {"mode": "lexical", **_option_values(section_of_file(path), Path(path).parent)}
    return {**options, **_not_given(values), "mode": values["mode"]}


def _option_values(section: RetrieverSection, folder: Path) -> dict[str, Any]:
    """The values of a section as those of options; ``source`` is the section if it describes a retriever itself."""
    values = {key: value for key, value in section.model_dump().items() if value is not None}
    values = _found_from(folder, values)
    if "experts" in values:
        values["experts"] = tuple(f"{expert}={folder / corpus}" for expert, corpus in values["experts"].items())
    if "weights" in values:
        values["weights"] = ",".join(repr(weight) for weight in values["weights"])
    return {**values, "source": section, "mode": OWN_MODE} if section.is_own else values


def _found_from(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    return {key: str(folder / value) if key in PATH_KEYS else value for key, value in values.items()}


def _not_given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not is_given(key)}


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
