"""Bands from a preset, a file or a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.config.bands.bands import BANDS, Bands
from rankgauge.config.bands.presets import DEFAULT_PRESET, preset, presets
from rankgauge.errors import InputError, printable
from rankgauge.measures.parse import parse_measure

if TYPE_CHECKING:
    from rankgauge.config.schema import Config, Kpi

NO_BANDS = "none"  # instead of a name


def load_bands(source: str | Path) -> Bands:
    """Bands from a preset, by its name, or from a YAML file like the one that ``Bands.to_yaml`` writes."""
    if str(source) in presets():
        return preset(str(source))
    if not Path(source).is_file():
        raise InputError(
            f"no target bands '{printable(str(source), None)}': not a preset and not a file",
            hint=f"name a YAML file, or one of {', '.join(presets())}",
        )
    from rankgauge.config.reading import load_kpi  # which imports yaml and pydantic

    return _from_section(load_kpi(source), Path(source).stem)


def named_bands(name: str | None) -> Bands | None:
    """The bands that a name asks for: the default preset without one, and no bands for ``none``."""
    return None if name == NO_BANDS else load_bands(name or DEFAULT_PRESET)


def configured_bands(config: Config, folder: Path | None) -> Bands | None:
    """The bands of a configuration, else the default preset; the path of a file starts from ``folder``."""
    kpi = config.kpi
    if kpi is None or isinstance(kpi, str):
        is_file = kpi is not None and kpi != NO_BANDS and kpi not in presets()
        return load_bands((folder or Path()) / str(kpi)) if is_file else named_bands(kpi)
    return _from_section(kpi, "own")


def _from_section(section: Kpi, default_name: str) -> Bands:
    thresholds = {
        parse_measure(text): {band: values[band] for band in BANDS if band in values}
        for text, values in ((text, bounds.present()) for text, bounds in section.bands.items())
    }
    return Bands(printable(section.name or default_name), thresholds)
