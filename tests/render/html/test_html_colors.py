"""The colors of systems: different for people with each kind of color blindness, and visible in both themes.

How people with a color blindness see a color: Machado, Oliveira and Fernandes (2009), A Physiologically-based Model for
Simulation of Color Vision Deficiency, severity 1.0. Distances are Euclidean in CIELAB (D65).
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from rankgauge.core.arrays import Floats
from rankgauge.render.html.page import asset, template
from rankgauge.render.html.page_systems import SYSTEM_STYLES

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
MIN_DISTANCE = 10.0  # about four times what people just notice; shapes and dashes differ as well
MIN_CONTRAST = 3.0  # of WCAG, for graphics
THEMES = ("light", "dark")


def color(name: str, theme: str) -> Floats:
    """A color of the style sheet as linear RGB."""
    found = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", asset("page.css"))
    assert found, name
    digits = found[1 + THEMES.index(theme)]
    encoded = np.array([int(digits[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear: Floats = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return linear


def lab(linear: Floats) -> Floats:
    scaled = TO_XYZ @ linear / TO_XYZ.sum(axis=1)
    roots = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * roots[1] - 16, 500 * (roots[0] - roots[1]), 200 * (roots[1] - roots[2])])


def test_the_distance_is_that_of_known_colors() -> None:
    white, red = lab(np.ones(3)), lab(np.array([1.0, 0.0, 0.0]))
    assert white == pytest.approx([100, 0, 0], abs=0.01)
    assert red == pytest.approx([53.24, 80.09, 67.20], abs=0.1)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISIONS)
def test_twelve_systems_have_colors_that_differ(theme: str, vision: str) -> None:
    seen = [lab(np.clip(VISIONS[vision] @ color(f"c{n}", theme), 0, 1)) for n in range(SYSTEM_STYLES)]
    distances = {(a, b): np.linalg.norm(seen[a] - seen[b]) for a, b in itertools.combinations(range(SYSTEM_STYLES), 2)}
    assert {pair: distance for pair, distance in distances.items() if distance < MIN_DISTANCE} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_every_color_is_visible_on_the_page_and_on_a_card(theme: str) -> None:
    for n, ground in itertools.product(range(SYSTEM_STYLES), ("page", "card")):
        dark, light = sorted(float(TO_XYZ[1] @ color(name, theme)) for name in (f"c{n}", ground))
        assert (light + 0.05) / (dark + 0.05) >= MIN_CONTRAST, (n, ground)


def test_every_system_has_a_shape_of_its_own() -> None:
    symbols = template("parts.html").module.symbols()  # type: ignore[attr-defined]  # a macro
    shapes = re.findall(r'<(?:path|circle) id="s\d+" (.*?)/>', symbols)
    assert len(shapes) == len(set(shapes)) == SYSTEM_STYLES


def test_curves_next_to_each_other_have_different_dashes() -> None:
    rules = dict.fromkeys(range(SYSTEM_STYLES), "solid")
    for classes, dashes in re.findall(r":is\(([^)]*)\) \.curve \{ stroke-dasharray: ([^;]*);", asset("page.css")):
        rules |= {int(name.strip(" .c")): dashes for name in classes.split(",")}
    assert all(rules[n] != rules[n + 1] for n in range(SYSTEM_STYLES - 1))
