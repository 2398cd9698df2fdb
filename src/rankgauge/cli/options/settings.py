"""Measures, conventions, statistics, groups and bands: the options that become ``Settings``, the same in every command.

An option that is given overrides the configuration file; the file overrides the option's default. What a command cannot
do with a key of the file is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from rankgauge.cli.options.groups import Command, Option, Section, is_given, option, option_names, with_options
from rankgauge.comparison.statistics import CORRECTIONS, Correction
from rankgauge.config.settings import Settings, config_values
from rankgauge.core.ranking import COMPATS
from rankgauge.errors import UsageError, printable
from rankgauge.stats.names import PAIRED_TESTS

REL = option(
    "-l",
    "--rel",
    section=Section.MEASURES,
    type=click.FloatRange(min=0),
    default=1,
    show_default=True,
    metavar="GRADE",
    help="Set the grade from which a document is relevant, for measures that do not name their own.",
)
ON_DUPLICATE: Option = option(
    "--on-duplicate",
    section=Section.FILES,
    type=click.Choice(["error", "first"]),
    default="error",
    show_default=True,
    help="Refuse a document that appears twice in a ranking, or keep the first.",
)
CONVENTION_OPTIONS: tuple[Option, ...] = (
    REL,
    option(
        "--graded/--binary",
        section=Section.MEASURES,
        default=True,
        show_default=True,
        help="Count grades, or make the judgments binary at --rel.",
    ),
    option(
        "--query-set",
        section=Section.MEASURES,
        type=click.Choice(["qrels", "both"]),
        default="qrels",
        show_default=True,
        help="Average over every judged query, or over those that the run has too (trec_eval's default).",
    ),
    option(
        "--no-relevant",
        section=Section.MEASURES,
        type=click.Choice(["zero", "skip"]),
        default="zero",
        show_default=True,
        help="Score a query without relevant documents as zero, or skip it.",
    ),
    option(
        "--split",
        section=Section.MEASURES,
        metavar="PART",
        help="Score part of the queries: dev or test, assigned by hash of their ids; 'test(dev_share=0.3, seed=7)', or "
        "'dev(column=NAME)' for a column of --topics that says dev or test.  [default: all queries]",
    ),
    ON_DUPLICATE,
    option(
        "--compat",
        section=Section.MEASURES,
        type=click.Choice(COMPATS),
        default="trec_eval-9",
        show_default=True,
        help="Compare scores as trec_eval 9 does (float32) or as 10 does (float64).",
    ),
)
CONFIDENCE = option(
    "--confidence",
    section=Section.STATISTICS,
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="LEVEL",
    help="Set the confidence of intervals; a p of at most 1 − LEVEL is significant.",
)
BY = option(
    "--by",
    section=Section.STATISTICS,
    multiple=True,
    metavar="COLUMN",
    help="Group queries by a column: category, difficulty, …; repeatable.",
)
KPI = option(
    "--kpi",
    section=Section.MEASURES,
    metavar="NAME|FILE|none",
    help="Show targets, bands and uplifts: of a preset (trec-2025) or of a YAML file; none drops configured ones. A "
    "preset's thresholds are meaningful only on the collection they were made for; `rankgauge measures --kpi "
    "trec-2025` prints a file to edit.  [default: no targets]",
)
CONFIG = option(
    "--config",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read settings from a rankgauge.yaml; command-line options override the file.",
)


def measure_option(text: str) -> Option:
    """``-m``; ``text`` is its help."""
    return option("-m", "--measure", "measures", section=Section.MEASURES, multiple=True, metavar="NAME", help=text)


def statistics_options(corrections: Sequence[Correction] = CORRECTIONS) -> tuple[Option, ...]:
    """How differences are tested, with the corrections that a command has."""
    return (
        CONFIDENCE,
        option(
            "--test",
            section=Section.STATISTICS,
            type=click.Choice(PAIRED_TESTS),
            default="bootstrap",
            show_default=True,
            help="Choose the paired test of a difference.",
        ),
        option(
            "--correction",
            section=Section.STATISTICS,
            type=click.Choice(corrections),
            help="Correct p for the number of comparisons.  [default: maxt, jointly with the intervals; holm with a "
            "--test that has no joint draws]",
        ),
        option(
            "--resamples",
            section=Section.STATISTICS,
            type=click.IntRange(100),
            metavar="N",
            help="Set the number of draws.  [default: 10,000 bootstrap resamples, 100,000 permutations]",
        ),
        option(
            "--seed",
            section=Section.STATISTICS,
            type=int,
            default=0,
            show_default=True,
            metavar="N",
            help="Seed the random numbers; the same seed gives the same p.",
        ),
    )


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
            config = own.pop("config", None)
            configured = load_values(config, section)
            check_usable(configured, refused or {}, config)
            merged = merge_options(own, configured)
            if request is not None:
                values["request"] = request(**{entry.name: merged.pop(entry.name) for entry in fields(request)})
            return command(*args, **values, settings=Settings.of(merged))

        return with_options(wrapped, *options)

    return decorate


def load_values(config: str | None, section: str | None = None) -> dict[str, Any]:
    """The values of settings in a configuration file; none without one."""
    if config is None:
        return {}
    from rankgauge.config.reading import load_config

    return config_values(load_config(config), Path(config).parent, section)


def check_usable(configured: Mapping[str, Any], refused: Mapping[str, str], config: str | None) -> None:
    """Raise if a configuration file sets what the current command cannot use."""
    for name, hint in refused.items():
        if name in configured:
            command = click.get_current_context().command_path
            raise UsageError(f"{printable(str(config), None)}: `{command}` cannot use statistics.{name}", hint=hint)


def merge_options(options: dict[str, Any], configured: dict[str, Any]) -> dict[str, Any]:
    """The values of settings: given options, then those of the configuration file, then the defaults of options."""
    values = {name: None if name in ("measures", "by") and value == () else value for name, value in options.items()}
    kpi = values.pop("kpi", None)
    values |= {name: value for name, value in configured.items() if not (name in options and is_given(name))}
    if kpi is not None:
        from rankgauge.config.bands.loading import named_bands

        values["bands"] = named_bands(kpi)
    if "correction" in values and values["correction"] is None:
        values["correction"] = "auto"
    return values
