"""Bands from a preset or a file; everything that is wrong with it at once, each with its line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.errors import Fault, InputError, MeasureError, nearest, printable, shown
from rankgauge.kpi.bands import BANDS, Band, Bands
from rankgauge.measures.parse import parse_measure
from rankgauge.measures.spec import Measure

if TYPE_CHECKING:
    from rankgauge.config.loading import Loaded

FOLDER = Path(__file__).parent
KEYS = ("name", "bands")


def presets() -> list[str]:
    """The names of the bands that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_bands(given: str | Path) -> Bands:
    """Bands from a preset, by its name, or from a YAML file like it."""
    from rankgauge.config.loading import LARGEST, load_yaml  # which imports yaml

    preset = str(given) in presets()
    path = FOLDER / f"{given}.yaml" if preset else Path(given)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        known = ", ".join(presets())
        raise InputError(
            f"no target bands {shown(str(given))}: {error.strerror}", hint=f"name a YAML file, or one of {known}"
        ) from error
    return _Reader(load_yaml(text, str(given)), str(given)).bands(default_name=path.stem)


class _Reader:
    """Checks what a file holds, collecting its faults."""

    def __init__(self, loaded: Loaded, source: str) -> None:
        self.loaded, self.source = loaded, source
        self.faults: list[Fault] = []

    def bands(self, default_name: str) -> Bands:
        data = self.mapping(self.loaded.data, (), "the keys 'name' and 'bands'")
        self.known(data, (), KEYS)
        name = data.get("name", default_name)
        if not isinstance(name, str):
            self.fault(("name",), f"{name!r}", "a name")
        listed = self.mapping(data.get("bands"), ("bands",), "measures with their bands under 'bands'")
        found: dict[Measure, dict[Band, float]] = {}
        for text, thresholds in listed.items():
            measure = self.measure(text)
            checked = self.thresholds(measure, text, thresholds)
            if measure in found:
                self.fault(("bands", text), f"{measure} a second time, as {shown(text)}", "each measure once")
            elif measure is not None:
                found[measure] = checked
        if self.faults:
            raise InputError.many(self.source, sorted(self.faults, key=lambda fault: fault.line or 0))
        return Bands(printable(str(name)), found)

    def measure(self, text: str) -> Measure | None:
        try:
            return parse_measure(text)
        except MeasureError as error:
            self.fault(("bands", text), error.message, "a measure", error.hint)
            return None

    def thresholds(self, measure: Measure | None, text: str, given: Any) -> dict[Band, float]:
        path = ("bands", text)
        listed = self.mapping(given, path, f"one or more of {', '.join(BANDS)}")
        self.known(listed, path, BANDS)
        out: dict[Band, float] = {}
        for band in BANDS:
            if band not in listed:
                continue
            value = listed[band]
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                self.fault((*path, band), f"{value!r}", "a number")
            else:
                out[band] = float(value)
        values = list(out.values())
        lower = measure is not None and measure.definition.better == "lower"
        if values != sorted(set(values), reverse=lower):
            order = "descend, as a lower value is better" if lower else "rise"
            self.fault(path, ", ".join(f"{band} {value:g}" for band, value in out.items()), f"numbers that {order}")
        return out

    def mapping(self, value: Any, path: tuple[str, ...], expected: str) -> dict[str, Any]:
        if isinstance(value, dict) and (value or not path):
            return value
        self.fault(path, "nothing" if value in (None, {}) else f"{value!r}", expected)
        return {}

    def known(self, data: dict[str, Any], path: tuple[str, ...], keys: tuple[str, ...]) -> None:
        for key in data:
            if key not in keys:
                close = nearest(key, keys)
                self.fault(
                    (*path, key),
                    f"the key {shown(key)}",
                    f"one of {', '.join(keys)}",
                    close and f"did you mean {close}?",
                )

    def fault(self, path: tuple[str, ...], found: str, expected: str, hint: str | None = None) -> None:
        self.faults.append(Fault("bad-bands", self.loaded.line(path) or 1, printable(found, 200), expected, hint))
