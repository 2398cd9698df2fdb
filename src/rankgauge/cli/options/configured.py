"""Options of ``rankgauge runs fetch`` that stand in a configuration file; those of the command line come first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.cli.options.common import unless_given
from rankgauge.config.reading import load_config
from rankgauge.config.schema import Config, Retriever
from rankgauge.errors import UsageError, nearest, shown

PATHS = ("corpus", "queries", "vectors", "query_vectors", "index")


def configured(options: dict[str, Any], path: str, name: str | None) -> dict[str, Any]:
    """The options, with what the file says where the command line says nothing."""
    config = load_config(path)
    said = {key: value for key, value in config.collection.model_dump().items() if value is not None}
    said |= {key: value for key, value in chosen(config, name).model_dump().items() if value is not None}
    home = Path(path).parent
    for key in PATHS:
        if key in said:
            said[key] = str(home / said[key])
    if "experts" in said:
        said["experts"] = tuple(f"{expert}={home / corpus}" for expert, corpus in said["experts"].items())
    if "weights" in said:
        said["weights"] = ",".join(repr(weight) for weight in said["weights"])
    return unless_given(options, said)


def chosen(config: Config, name: str | None) -> Retriever:
    """The retriever of a name, or the only one there is."""
    known = list(config.retrievers)
    if name is None and len(known) > 1:
        raise UsageError(f"which retriever: {', '.join(known)}?", hint="say which: --retriever NAME")
    if name is None:
        return config.retrievers[known[0]] if known else Retriever()
    if name not in config.retrievers:
        close = nearest(name, known)
        raise UsageError(
            f"the configuration has no retriever {shown(name)}" + (f"; did you mean {close}?" if close else ""),
            hint=f"it has {', '.join(known)}" if known else None,
        )
    return config.retrievers[name]
