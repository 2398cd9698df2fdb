"""Bands from a preset, a file, a configuration or a collection; without one of these there are none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.config.bands import BANDS, NO_BANDS, Bands, preset, presets
from rankgauge.errors import InputError, printable
from rankgauge.measures.names import parse_measure

if TYPE_CHECKING:
    from rankgauge.config.schema import Kpi

COLLECTION_BANDS = "kpi.yaml"  # in the folder of a collection that declares its own


def load_bands(source: str | Path) -> Bands:
    """Bands from a preset, by its name, or from a YAML file like the one that ``Bands.to_yaml`` writes."""
    if str(source) in presets():
        return preset(str(source))
    if not Path(source).is_file():
        raise InputError(
            f"no target bands '{printable(str(source), None)}': not a preset and not a file",
            hint=f"name a YAML file, or one of {', '.join(presets())}",
        )
    from rankgauge.config.config_file import load_kpi  # which imports yaml and pydantic

    return _from_section(load_kpi(source), Path(source).stem)


def named_bands(name: str) -> Bands | None:
    """The bands that a name asks for; none for ``none``."""
    return None if name == NO_BANDS else load_bands(name)


def configured_bands(kpi: str | Kpi, folder: Path | None) -> Bands | None:
    """The bands of a configuration's ``kpi``; the path of a file starts from ``folder``."""
    if isinstance(kpi, str):
        is_file = kpi != NO_BANDS and kpi not in presets()
        return load_bands((folder or Path()) / kpi) if is_file else named_bands(kpi)
    return _from_section(kpi, "own")


def collection_bands(folder: str | Path) -> Bands | None:
    """The bands that a collection declares for itself: the file ``kpi.yaml`` in its folder; none without one."""
    file = Path(folder) / COLLECTION_BANDS
    return load_bands(file) if file.is_file() else None


def _from_section(section: Kpi, default_name: str) -> Bands:
    sections = {parse_measure(text): bounds for text, bounds in section.bands.items()}
    thresholds = {
        measure: {band: values[band] for band in BANDS if band in values}
        for measure, values in ((measure, bounds.present()) for measure, bounds in sections.items())
        if values
    }
    uplifts = {measure: bounds.uplift for measure, bounds in sections.items() if bounds.uplift is not None}
    return Bands(printable(section.name or default_name), thresholds, uplifts=uplifts)
