"""Options of ``rankgauge runs fetch`` from a configuration file; command-line options override the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.cli.options.groups import is_given
from rankgauge.config.reading import load_config
from rankgauge.config.schema import Config, RetrieverSection
from rankgauge.errors import UsageError, nearest, shown

PATH_KEYS = ("corpus", "queries", "vectors", "query_vectors", "index")


def options_from_config(options: dict[str, Any], path: str, name: str | None) -> dict[str, Any]:
    """The options, with the values of a configuration file for those that are not given."""
    config = load_config(path)
    values = {key: value for key, value in config.collection.model_dump().items() if value is not None}
    values |= {key: value for key, value in retriever_section(config, name).model_dump().items() if value is not None}
    folder = Path(path).parent
    for key in PATH_KEYS:
        if key in values:
            values[key] = str(folder / values[key])
    if "experts" in values:
        values["experts"] = tuple(f"{expert}={folder / corpus}" for expert, corpus in values["experts"].items())
    if "weights" in values:
        values["weights"] = ",".join(repr(weight) for weight in values["weights"])
    return options | {key: value for key, value in values.items() if not (key in options and is_given(key))}


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
