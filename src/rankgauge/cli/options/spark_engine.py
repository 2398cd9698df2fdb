"""Where a run is evaluated: in this process, or on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import wraps
from typing import Any

import click

from rankgauge.cli.options.declared_options import Command, Option, configuration, is_given, option, with_options
from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError

# The options of `rankgauge evaluate` that Spark has too; any other one is refused.
SHARED_OPTIONS = frozenset(
    "measures rel graded query_set no_relevant on_duplicate compat config confidence_intervals confidence by kpi "
    "per_query format plot queries qrels_format run_format columns strict sets engine".split()
)
OPTIONS: tuple[Option, ...] = (
    option(
        "--engine",
        section=Section.SPARK,
        rare=True,
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="Evaluate in this process, or on Apache Spark: then RUN is any path that Spark can read, and "
        "reading.run_format names one of its data sources, or `table`.",
    ),
)


@dataclass(frozen=True)
class SparkOptions:
    """The master of Spark, and properties of its session."""

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


def engine_options(on_spark: Command) -> Callable[[Command], Command]:
    """Add the options; if they ask for Spark, ``on_spark`` is called instead of the command."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*, engine: str, **values: Any) -> Any:
            if engine == "local":
                return command(**values)
            _check(values)
            kept = {name: values[name] for name in ("qrels", "runs", "settings", "reading", "view")}
            config = configuration()
            options = SparkOptions() if config is None else SparkOptions(config.spark.master, config.spark.settings)
            return on_spark(options, queries=values["sources"].queries, **kept)

        return with_options(wrapped, *OPTIONS)

    return decorate


def _check(values: dict[str, Any]) -> None:
    """Raise if an option is given that Spark does not have: none is ignored silently."""
    for parameter in click.get_current_context().command.params:
        name = parameter.name or ""
        if isinstance(parameter, click.Option) and is_given(name) and name not in SHARED_OPTIONS:
            raise UsageError(f"--engine spark cannot be combined with {parameter.opts[-1]}")
    if values["reading"].on_duplicate == "first":
        raise UsageError(
            "--engine spark cannot be combined with reading.on_duplicate=first",
            hint="rows on a cluster have no order, so none of them is the first: drop duplicates before",
        )
    if not values["reading"].matches_ids:
        raise UsageError("--engine spark matches labels by exact ids", hint="leave out match in section reading")
    if values["qrels"] is None or not values["runs"]:
        raise UsageError("--engine spark needs judgments and a run")
    if "-" in values["runs"]:
        raise UsageError("--engine spark cannot read a run from standard input")
