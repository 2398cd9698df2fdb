"""Where a run is evaluated: in this process, or on Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from rankgauge.cli.options.groups import Command, Option, Section, is_given, option, with_options
from rankgauge.core.dataclass import dataclass
from rankgauge.errors import UsageError, shown

# The options of `rankgauge evaluate` that Spark has too; any other one is refused.
SHARED_OPTIONS = frozenset(
    "measures rel graded query_set no_relevant on_duplicate compat config confidence_intervals confidence by kpi "
    "per_query format plot topics qrels_format run_format columns engine master spark_settings".split()
)
OPTIONS: tuple[Option, ...] = (
    option(
        "--engine",
        section=Section.SPARK,
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="Evaluate in this process, or on Apache Spark: then RUN is any path that Spark can read, and --run-format "
        "names one of its data sources, or `table`.",
    ),
    option(
        "--master",
        section=Section.SPARK,
        metavar="URL",
        help="Use this Spark master: local[2], spark://HOST:PORT, …  [default: Spark's own]",
    ),
    option(
        "--spark-setting",
        "spark_settings",
        section=Section.SPARK,
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a property of Spark, such as spark.executor.memory=8g; repeatable.",
    ),
)


@dataclass(frozen=True)
class SparkOptions:
    """The master of Spark, and properties of its session."""

    master: str | None
    settings: dict[str, str]


def engine_options(on_spark: Command) -> Callable[[Command], Command]:
    """Add the options; if they ask for Spark, ``on_spark`` is called instead of the command."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*, engine: str, master: str | None, spark_settings: tuple[str, ...], **values: Any) -> Any:
            if engine == "local":
                if master is not None or spark_settings:
                    raise UsageError("--master and --spark-setting need --engine spark")
                return command(**values)
            _check(values)
            kept = {name: values[name] for name in ("qrels", "runs", "settings", "reading", "view")}
            options = SparkOptions(master, _parse(spark_settings))
            return on_spark(options, topics=values["sources"].topics, **kept)

        return with_options(wrapped, *OPTIONS)

    return decorate


def _check(values: dict[str, Any]) -> None:
    """Raise if an option is given that Spark does not have: none is ignored silently."""
    for parameter in click.get_current_context().command.params:
        name = parameter.name or ""
        if isinstance(parameter, click.Option) and is_given(name) and name not in SHARED_OPTIONS:
            raise UsageError(f"--engine spark cannot be combined with {parameter.opts[-1]}")
    if values["settings"].on_duplicate == "first":
        raise UsageError(
            "--engine spark cannot be combined with --on-duplicate first",
            hint="rows on a cluster have no order, so none of them is the first: drop duplicates before",
        )
    if values["qrels"] is None or not values["runs"]:
        raise UsageError("--engine spark needs judgments and a run")
    if "-" in values["runs"]:
        raise UsageError("--engine spark cannot read a run from standard input")


def _parse(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, sign, _) in zip(texts, pairs, strict=True):
        if not name or not sign:
            raise UsageError(f"--spark-setting takes NAME=VALUE, found {shown(text)}")
    return {name: value for name, _, value in pairs}
