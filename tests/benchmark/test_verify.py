"""Every changed digit is found, although the manifest has the digests of the changed files.

A report verifies with every version of SciPy, whose distributions differ in the last digits; scores must not.
"""

from __future__ import annotations

import json
import math
import random
import re
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import run_benchmark
from rankgauge.benchmark import PlannedSystem, shipped_plan
from rankgauge.benchmark.folder import COMPARISON, MANIFEST, PAGE, REPORT, digests, evaluation_path
from rankgauge.benchmark.verify import (
    GeneratedFiles,
    differing_fields,
    regenerate,
    same_but_for_rounding,
    verify_benchmark,
    within_tolerance,
)
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.config.settings import Settings
from rankgauge.errors import InputError
from rankgauge.render.html.page import page_contents, split_data
from rankgauge.render.html.payload_packing import as_text, decompressed
from rankgauge.report import manifest as manifests
from rankgauge.retrieval import RetrieverSettings

Command = Callable[..., Any]
EVALUATION = evaluation_path("vector")
GENERATED = {REPORT, COMPARISON, PAGE, EVALUATION, evaluation_path("lexical")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of two systems with t tests, which use SciPy most."""
    folder = tmp_path_factory.mktemp("made") / "out"
    statistics = Statistics("t", target_difference=0.05)
    systems = {mode: PlannedSystem(RetrieverSettings(mode=mode)) for mode in ("lexical", "vector")}
    settings = Settings(measures=("nDCG@10", "Success@10"), statistics=statistics, by=("difficulty",))
    run_benchmark(shipped_plan(latency=0, systems=systems, settings=settings), folder)
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    for path in made.rglob("*"):
        if path.is_file():
            target = tmp_path / "copy" / path.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return tmp_path / "copy"


def seal(folder: Path) -> None:
    """Put the digests of the files as they are now into the manifest: only recomputation finds what has changed."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["sha256"]
    (folder / MANIFEST).write_bytes(manifests.to_bytes({**manifest, "files": digests(folder)}))


def records_time_or_machine(manifest: dict[str, Any], stored: bytes, place: int) -> bool:
    """Whether a byte of a manifest is part of what the benchmark measured or found on its machine."""
    changed = json.loads(edited(stored, place))
    facts = [{**data, "times": None, "platform": data["platform"]["software"]} for data in (manifest, changed)]
    return facts[0] == facts[1]


def another_scipy(monkeypatch: pytest.MonkeyPatch, relative: float) -> None:
    """SciPy's distributions, each off by a relative difference."""
    for name in ("stdtr", "stdtrit", "bdtr", "ndtr"):
        original = getattr(scipy.special, name)
        changed = lambda *values, original=original: original(*values) * (1 + relative)  # noqa: E731 - one per function
        monkeypatch.setattr(scipy.special, name, changed)


def test_another_version_of_scipy_verifies(made: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    plain = verify_benchmark(made)
    assert (plain.ok, plain.tolerated) == (True, ())
    another_scipy(monkeypatch, 1e-12)
    verification = verify_benchmark(made)
    assert verification.changes == ()
    count = len(verification.tolerated)
    assert count > 10
    monkeypatch.setattr("rankgauge.cli.commands.verify.MAX_LISTED", 10)
    lines = command("benchmark", "verify", made).out.splitlines()
    assert lines[0].endswith(f", {count} differences tolerated")
    assert lines[1:11] == [f"  {difference}" for difference in verification.tolerated[:10]]
    assert lines[11:] == [f"  {count - 10} more; --format json lists them all"]
    listed = json.loads(command("benchmark", "verify", made, "--format", "json").out)["tolerated"]
    assert listed == [asdict(difference) for difference in verification.tolerated]


def test_a_larger_difference_does_not(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    another_scipy(monkeypatch, 1e-6)
    assert {change.file for change in verify_benchmark(made).changes} >= {REPORT}


@pytest.fixture(scope="module")
def unchanged(made: Path) -> GeneratedFiles:
    return regenerate(made, manifests.load(made / MANIFEST))


@pytest.fixture(scope="module", params=[0.0, 1e-12])
def generated(made: Path, unchanged: GeneratedFiles, request: pytest.FixtureRequest) -> GeneratedFiles:
    """The generated files as this SciPy makes them, and as another one does."""
    if not request.param:
        return unchanged
    with pytest.MonkeyPatch.context() as monkeypatch:
        another_scipy(monkeypatch, request.param)
        return regenerate(made, manifests.load(made / MANIFEST))


def last_digit(value: float) -> float:
    return math.nextafter(value, 0)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("scores.runs.0.per_query.q01.nDCG@10", last_digit),
        ("scores.runs.0.measures.nDCG@10.value", last_digit),
        ("scores.runs.0.by.0.mean", last_digit),
        ("comparison.differences.0.difference", last_digit),
        ("comparison.differences.0.n", lambda n: n + 1),
        ("comparison.differences.0.p", lambda p: p + 1e-6),
        ("comparison.differences.0.p_corrected", lambda p: p - 1e-6),
        ("comparison.differences.0.ci.low", lambda low: low + 1e-6),
        ("comparison.differences.0.hedges_g", lambda g: g * (1 + 1e-7)),
        ("comparison.differences.0.minimum_detectable_difference", lambda value: value * (1 + 1e-7)),
        ("comparison.differences.0.queries_needed", lambda n: n + 1),
        ("comparison.groups.0.p", lambda p: p + 1e-6),
        ("comparison.answer", lambda text: text.replace("lexical", "vector")),
    ],
)
def test_a_score_that_changed_in_its_last_digit_is_found_and_so_is_a_statistic_beyond_the_tolerance(
    path: str, change: Callable[[Any], Any], generated: GeneratedFiles, made: Path
) -> None:
    data = json.loads((made / REPORT).read_bytes())
    *parents, key = path.split(".")
    place = data
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    before = place[key]
    place[key] = change(before)
    assert place[key] != before
    found, _ = generated.compare(REPORT, json.dumps(data).encode())
    assert found is not None
    assert (found.field or "").replace("[", ".").replace("]", "") == path


def test_the_last_digit_of_a_derived_number_is_listed(copy: Path, command: Command) -> None:
    text = (copy / REPORT).read_text(encoding="utf-8")
    p = next(row["p"] for row in json.loads(text)["comparison"]["differences"])
    (copy / REPORT).write_text(text.replace(f'"p": {p!r}', f'"p": {math.nextafter(p, 1)!r}', 1), encoding="utf-8")
    seal(copy)
    done = command("benchmark", "verify", copy)
    assert done.code == 0
    assert done.out.splitlines()[0].endswith(", 1 difference tolerated")
    expected = f"stored '{math.nextafter(p, 1)!r}', recomputed '{p!r}' (a derived number, within the tolerance of 1e-9)"
    assert done.out.splitlines()[1:] == [f"  {REPORT}: comparison.differences[0].p: {expected}"]


def test_a_rounded_number_in_a_text_is_found(generated: GeneratedFiles, made: Path) -> None:
    text = (made / COMPARISON).read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "95% CI" in line and " to " in line)
    low = line.split("95% CI ")[1].split(" to ")[0].lstrip("(")
    for old, new in ((low, low[:-1] + OTHER_DIGIT[low[-1]]), ("95% CI", "90% CI")):
        change, _ = generated.compare(COMPARISON, text.replace(old, new, 1).encode())
        assert change is not None


OTHER_DIGIT = {str(digit): str(digit + 1 if digit < 9 else 8) for digit in range(10)}
DIGIT = re.compile(rb"[0-9]")


def edited(content: bytes, place: int) -> bytes:
    """Content with one digit off by 1."""
    return content[:place] + OTHER_DIGIT[chr(content[place])].encode() + content[place + 1 :]


def some_digits(content: bytes, count: int) -> list[int]:
    places = [match.start() for match in DIGIT.finditer(content)]
    return sorted(random.Random(0).sample(places, min(count, len(places))))


@pytest.mark.parametrize(("name", "count"), [(REPORT, 30), (COMPARISON, 10_000), (PAGE, 100), (EVALUATION, 30)])
def test_every_digit_of_a_generated_file_counts(name: str, count: int, unchanged: GeneratedFiles, made: Path) -> None:
    generated, stored = unchanged, (made / name).read_bytes()
    assert generated.compare(name, stored) == (None, [])
    for place in some_digits(stored, count):
        change, tolerated = generated.compare(name, edited(stored, place))
        assert change is not None or tolerated, stored[place - 40 : place + 20]
        if name in (COMPARISON, PAGE):  # what they show is rounded, so that a digit is more than a tolerance
            assert change is not None or "compressed" in str(tolerated)


def test_the_values_behind_a_page_count_although_they_are_compressed(unchanged: GeneratedFiles, made: Path) -> None:
    generated = unchanged
    frame, data = split_data((made / PAGE).read_text(encoding="utf-8"))
    content = decompressed(data, 1 << 20)

    def page_with(content: bytes, level: int) -> bytes:
        start = frame.rindex("</script>\n<script>")
        return (frame[:start] + as_text(zlib.compress(content, level)) + frame[start:]).encode()

    change, tolerated = generated.compare(PAGE, page_with(content, 1))
    assert (change, [str(difference) for difference in tolerated]) == (
        None,
        [f"{PAGE}: data: the same data, compressed differently"],
    )
    smaller = list(page_contents(generated.report))[-1]
    assert smaller != content
    assert generated.compare(PAGE, page_with(smaller, 9))[0] is None  # which size fits depends on zlib
    text = int.from_bytes(content[:4], "little")
    for place in [*some_digits(content[: 4 + text], 15), *random.Random(1).sample(range(4 + text, len(content)), 15)]:
        falsified = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        change, _ = generated.compare(PAGE, page_with(falsified, 1))
        assert change is not None
        assert change.field == "data"


def test_a_falsified_page_is_found_although_the_manifest_is_sealed_again(copy: Path) -> None:
    page = (copy / PAGE).read_text(encoding="utf-8")
    value = re.search(r"0\.[1-8]\d\d\b", page)
    assert value is not None
    (copy / PAGE).write_text(page.replace(value[0], "0.9" + value[0][3:]), encoding="utf-8")
    seal(copy)
    (change,) = verify_benchmark(copy).changes
    assert change.file == PAGE
    assert "0.9" + value[0][3:] in change.message


def test_a_changed_run_is_found_although_it_changes_no_result(copy: Path) -> None:
    run = copy / "runs/vector.trec"
    run.write_bytes(run.read_bytes().replace(b" vector\n", b" other\n", 1))
    seal(copy)
    (change,) = verify_benchmark(copy).changes
    assert change.file == "runs/vector.trec"
    assert change.message.startswith("has changed: its sha256 is ")


@pytest.mark.slow
def test_every_digit_of_every_file_counts_although_the_manifest_is_sealed_again(copy: Path) -> None:
    manifest = json.loads((copy / MANIFEST).read_bytes())
    for name in [MANIFEST, *manifest["files"]]:
        stored = (copy / name).read_bytes()
        places = some_digits(stored, 1 if name in GENERATED else 3)
        if name == MANIFEST:
            # Nothing repeats when and where a benchmark ran; the docs say that its seal cannot prove it.
            places = [
                place for place in some_digits(stored, 60) if not records_time_or_machine(manifest, stored, place)
            ][:3]
        for place in places:
            (copy / name).write_bytes(edited(stored, place))
            seal(copy)
            with suppress(InputError):  # a digit in a name of the manifest
                verification = verify_benchmark(copy)
                assert verification.changes or verification.tolerated, (name, stored[place - 40 : place + 20])
        (copy / name).write_bytes(stored)
        seal(copy)
    assert verify_benchmark(copy) == replace(verify_benchmark(copy), changes=(), tolerated=())


@given(st.floats(-1000, 1000), st.integers(1, 6), st.floats(-1, 1))
def test_a_rounded_number_near_a_boundary_is_the_same(value: float, digits: int, share: float) -> None:
    nearby = value * (1 + 1e-10 * share)
    texts = [f"CI {number:.{digits}f} to ×{number:,.{digits}f}".replace("-", "−") for number in (value, nearby)]
    assert same_but_for_rounding(texts[0], texts[1], [5.0, value])
    assert not same_but_for_rounding(
        texts[0], f"CI {value + 3 * 10**-digits:.{digits}f} to ×{value:,.{digits}f}", [value]
    )
    assert not same_but_for_rounding(texts[0], texts[0] + " and 1.0", [value])


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(-0.49, 0.49))
def test_a_rounded_number_that_is_not_halfway_is_another_one(count: int, digits: int, share: float) -> None:
    unit = 10.0**-digits
    texts = [f"{number * unit:.{digits}f}" for number in (count, count + 1)]
    assert not same_but_for_rounding(texts[0], texts[1], [(count + share) * unit])
    assert not same_but_for_rounding(texts[0], texts[1], [])
    assert same_but_for_rounding(texts[0], texts[1], [(count + 0.5) * unit])


def tolerated(stored: dict[str, Any], recomputed: dict[str, Any]) -> bool:
    return all(within_tolerance(field, ()) for field in differing_fields(stored, recomputed))


def test_only_statistics_and_sentences_have_a_tolerance() -> None:
    assert tolerated({"p": 0.03}, {"p": 0.03 * (1 + 1e-10)})
    assert not tolerated({"p": 0.03}, {"p": 0.03 * (1 + 1e-8)})
    assert not tolerated({"p": None}, {"p": 0.03})
    assert not tolerated({"p": [0.03]}, {"p": [0.03, 0.04]})
    assert not tolerated({"p": 0.03}, {})
    assert not tolerated({"value": 0.03}, {"value": math.nextafter(0.03, 1)})
    assert not tolerated({"system": "v0.1"}, {"system": "v0.2"})
    assert not tolerated({"answer": "on 48 queries"}, {"answer": "on 47 queries"})


def test_the_tolerance_of_an_end_near_0_is_relative_to_the_interval() -> None:
    assert tolerated({"low": 1e-10, "high": 5.0}, {"low": -1e-10, "high": 5.0})
    assert not tolerated({"low": 1e-10, "high": 0.05}, {"low": -1e-10, "high": 0.05})
    assert not tolerated({"p": 1e-10, "high": 5.0}, {"p": -1e-10, "high": 5.0})
