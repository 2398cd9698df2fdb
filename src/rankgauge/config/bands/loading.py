"""Bands from a preset, a file or a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.config.bands.bands import BANDS, Bands
from rankgauge.config.bands.presets import DEFAULT, preset, presets
from rankgauge.errors import InputError, printable
from rankgauge.measures.parse import parse_measure

if TYPE_CHECKING:
    from rankgauge.config.schema import Kpi

NONE = "none"  # instead of a name: no bands


def load_bands(given: str | Path) -> Bands:
    """Bands from a preset, by its name, or from a YAML file like the one that ``Bands.to_yaml`` writes."""
    if str(given) in presets():
        return preset(str(given))
    if not Path(given).is_file():
        raise InputError(
            f"no target bands '{printable(str(given), None)}': neither a preset nor a file",
            hint=f"name a YAML file, or one of {', '.join(presets())}",
        )
    from rankgauge.config.reading import load_kpi  # which imports yaml and pydantic

    return _bands(load_kpi(given), Path(given).stem)


def configured_bands(path: str | Path) -> Bands | None:
    """The bands that a configuration file says, else the default preset; a file that it names stands beside it."""
    from rankgauge.config.reading import load_config

    said = load_config(path).kpi
    if said is None:
        return preset(DEFAULT)
    if not isinstance(said, str):
        return _bands(said, "own")
    if said == NONE:
        return None
    return preset(said) if said in presets() else load_bands(Path(path).parent / said)


def _bands(section: Kpi, default_name: str) -> Bands:
    found = {
        parse_measure(text): {band: values[band] for band in BANDS if band in values}
        for text, values in ((text, one.given()) for text, one in section.bands.items())
    }
    return Bands(printable(section.name or default_name), found)
