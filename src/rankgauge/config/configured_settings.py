"""What a configuration file sets, by the names of ``Settings`` and ``Reading``: the only place that interprets one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.config.settings import HISTORY_PREFIX, Settings, expanded_path, make_reading
from rankgauge.core.settings import declared
from rankgauge.io.byte_streams import Limits
from rankgauge.io.reading_options import Reading

if TYPE_CHECKING:
    from rankgauge.config.schema import Config


def load_settings(source: str | Path | Mapping[str, Any]) -> Settings:
    """The settings in a ``rankgauge.yaml``, or in its content as a mapping."""
    from rankgauge.config.config_file import load_config

    folder = None if isinstance(source, Mapping) else Path(source).parent
    config = load_config(source)
    return Settings.of({**config_values(config, folder), "reading": make_reading(reading_values(config))})


def config_values(config: Config, folder: Path | None = None, section: str | None = None) -> dict[str, Any]:
    """Every setting that a configuration sets, by its name in ``Settings``; relative paths start from ``folder``.

    The values of ``section``, a command's own part of the file, come last and override the others.
    """
    from rankgauge.config.band_sources import configured_bands

    measures = config.measures.model_dump(exclude_unset=True, exclude_none=True)
    statistics = config.statistics.model_dump(exclude_unset=True, exclude_none=True)
    performance = config.performance.model_dump(exclude_unset=True, exclude_none=True, exclude={"parallel_processing"})
    shown = config.output.model_dump(exclude_unset=True, include={"changes"})
    renamed = {"names": "measures", "caching_enabled": "caching"}
    values = {renamed.get(name, name): value for name, value in (measures | statistics | performance | shown).items()}
    if section is not None:
        values |= getattr(config, section).model_dump(exclude_unset=True, exclude_none=True)
    for name in ("measures", "by", "require", "require_each"):
        if name in values:
            values[name] = tuple(values[name])
    if section == "gate":  # elsewhere a baseline is a name
        if "baseline" in values:
            values["baseline"] = tuple(_from_folder(path, folder) for path in values["baseline"])
        if "allow" in values:
            values["allow"] = _from_folder(values["allow"], folder)
    if config.columns:
        values["columns"] = tuple(config.columns.items())
    if config.kpi is not None:
        values["bands"] = configured_bands(config.kpi, folder)
    return values


def _from_folder(path: str, folder: Path | None) -> str:
    """A path of the configuration, from its folder; saved results have none."""
    return path if folder is None or path.startswith(HISTORY_PREFIX) else str(folder / expanded_path(path))


def label_reading(reading: Reading) -> Reading:
    """How labels are matched with results, and nothing else of how files are read."""
    return Reading(match=reading.match, ignore_case=reading.ignore_case, match_fields=reading.match_fields)


def reading_values(config: Config) -> dict[str, Any]:
    """Every setting of how files are read that a configuration sets, by its name in ``Reading`` or ``Limits``."""
    own = {*declared(Reading), *declared(Limits), "columns"}
    values: dict[str, Any] = config.reading.model_dump(exclude_unset=True, exclude_none=True, include=own)
    if "match_fields" in values:
        values["match_fields"] = tuple(values["match_fields"])
    if "parallel_processing" in config.performance.model_fields_set:
        values["parallel"] = config.performance.parallel_processing
    return values
