"""Measures, conventions, statistics, groups and bands: the options that become ``Settings``, the same in every command.

An option that is given overrides the configuration file; the file overrides the option's default. What a command cannot
do with a key of the file is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import click

from rankgauge.cli.options.declared_options import (
    FOLDER_CONFIG,
    NO_CONFIG,
    Command,
    Option,
    SectionOption,
    config_file,
    configuration,
    configuration_folder,
    declared_options,
    is_given,
    key_option,
    keys_of,
    option_names,
    reads_folder_config,
    uses_key,
    with_options,
)
from rankgauge.cli.printing import print_message
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.config.settings import Settings
from rankgauge.errors import UsageError, printable
from rankgauge.evaluation.conventions import Conventions

CONVENTION_OPTIONS: tuple[Option, ...] = declared_options(
    Conventions, "rel", "graded", "query_set", "no_relevant", "split", "compat", "min_score", "forbid"
)
CONFIDENCE: Option = declared_options(Statistics, "confidence")[0]
BY: Option = declared_options(Settings, "by")[0]
KPI = key_option(
    "kpi",
    "kpi=NAME|FILE|none",
    "Show targets, bands and uplifts: of a preset (trec-2025) or of a YAML file; none drops configured ones. The "
    "thresholds of a preset are for its collection; `rankgauge measures --kpi trec-2025` prints a file to edit.  "
    "[default: none]",
)


COLUMNS: Option = key_option(
    "column_directions",
    "columns=NAME: higher|lower",
    "Say whether higher or lower values of a column are better: --set columns.faithfulness=higher.",
)


def measure_option(text: str) -> Option:
    """``-m``; ``text`` is its help."""
    return declared_options(Settings, "measures", help=text)[0]


def statistics_options(*names: str) -> tuple[Option, ...]:
    """How differences are tested; ``names`` are further settings."""
    return declared_options(Statistics, "confidence", "test", "resamples", "seed", *names)


def settings_options(
    *options: Option,
    section: str | None = None,
    request: type[Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Option:
    """Add options to a command, which receives them as ``settings``; a ``--config`` fills what is not given.

    ``section`` is the part of the file that is the command's own; its keys that are fields of the class ``request``
    reach the command as an object of that class.
    ``refused`` are the keys of its section ``statistics`` that the command cannot use, each with a hint.
    """
    names = option_names(*options)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            own.pop("config", None)
            own.pop("sets", None)
            check_usable(refused or {})
            announce_configuration()
            configured = configured_values(section)
            merged = merge_options(own, configured)
            if request is not None:
                own_fields = [entry.name for entry in fields(request) if entry.name in merged]
                values["request"] = request(**{name: merged.pop(name) for name in own_fields})
            return command(*args, **values, settings=Settings.of(merged))

        return with_options(wrapped, *options)

    return decorate


def announce_configuration(*, unused: Sequence[str] = ()) -> None:
    """Say which keys of the configuration of the working folder change numbers of this command.

    ``unused`` are sections that it does not use this time.
    """
    context, config = click.get_current_context(), configuration()
    if config is None or not reads_folder_config(context):
        return
    from rankgauge.config.config_file import changed_keys

    given = {key for one in context.command.params if isinstance(one, SectionOption)
             and is_given(one.name or "") for key in keys_of(one)}  # fmt: skip
    keys = [
        key
        for key in changed_keys(config)
        if key not in given and key.partition(".")[0] not in unused and uses_key(context.command, key)
    ]
    if keys:
        print_message(f"note: settings from {FOLDER_CONFIG}: {', '.join(keys)} (--config {NO_CONFIG} ignores it)")


def configured_values(section: str | None = None) -> dict[str, Any]:
    """The values of settings that the command's configuration sets; none without one."""
    config = configuration()
    if config is None:
        return {}
    from rankgauge.config.configured_settings import config_values

    if config.performance.caching_enabled:
        print_message(
            "note: performance.caching_enabled is for Python (RetrievalMetricsSuite); commands keep no values"
        )
    return config_values(config, configuration_folder(), section)


def check_usable(refused: Mapping[str, str]) -> None:
    """Raise if the configuration sets what the current command cannot use of section ``statistics``.

    The file of the working folder is for all commands; each uses its part.
    """
    context, config = click.get_current_context(), configuration()
    if config is None or reads_folder_config(context):
        return
    for name, hint in refused.items():
        if name in config.statistics.model_fields_set:
            source = printable(config_file(context) or "--set", None)
            raise UsageError(f"{source}: `{context.command_path}` cannot use statistics.{name}", hint=hint)


def merge_options(options: dict[str, Any], configured: dict[str, Any]) -> dict[str, Any]:
    """The values of settings: given options, then those of the configuration file, then the defaults of options."""
    values = {name: None if name in ("measures", "by") and value == () else value for name, value in options.items()}
    for name in ("kpi", "column_directions"):  # which the configuration has
        values.pop(name, None)
    return values | {name: value for name, value in configured.items() if not (name in options and is_given(name))}
