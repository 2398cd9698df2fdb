"""``--config`` and ``--set``: the configuration of a command, read once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.groups import option
from rankgauge.core.settings import Section

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

RETRIEVER_PREFIX = "retriever."  # of a key of the retriever that a command runs, whatever its name
CONFIG = option(
    "--config",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read settings from a rankgauge.yaml; command-line options override the file.",
)
SET = option(
    "--set",
    "sets",
    section=Section.INPUT,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml: statistics.seed=7; repeatable.",
)


CONFIG_OPTIONS = (CONFIG, SET)
RARE_SET = option(
    "--set",
    "sets",
    section=Section.FILES,
    rare=True,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml, such as reading.max_line=8M; repeatable.",
)
RETRIEVER_SET = option(
    "--set",
    "sets",
    section=Section.RETRIEVER,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the retriever, such as retriever.k1=0.9, or any key of rankgauge.yaml; repeatable.",
)


def configuration() -> Config | None:
    """The configuration that the current command has from its file and from ``--set``; None without either.

    Keys that begin with ``retriever.`` are left to commands that run a retriever.
    """
    context = click.get_current_context()
    path = context.params.get("config") or context.params.get("config_file")
    sets = [text for text in context.params.get("sets") or () if not text.startswith(RETRIEVER_PREFIX)]
    if path is None and not sets:
        return None
    if "configuration" not in context.meta:
        from rankgauge.config.reading import load_config

        context.meta["configuration"] = load_config({} if path is None else path, sets)
    config: Config = context.meta["configuration"]
    return config


def configuration_folder() -> Path | None:
    """The folder that relative paths of the configuration start from."""
    context = click.get_current_context()
    path = context.params.get("config") or context.params.get("config_file")
    return None if path is None else Path(path).parent


def retriever_values() -> dict[str, Any]:
    """The keys of the retriever that ``--set retriever.KEY=VALUE`` sets."""
    sets = click.get_current_context().params.get("sets") or ()
    chosen = [text for text in sets if text.startswith(RETRIEVER_PREFIX)]
    if not chosen:
        return {}
    from rankgauge.config.reading import with_sets
    from rankgauge.config.retrievers import RetrieverSection

    return with_sets(RetrieverSection, {}, chosen, RETRIEVER_PREFIX)
