from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import InputError, evaluate, load_settings
from rankgauge.config import Bands, load_bands
from rankgauge.config.band_sources import collection_bands
from rankgauge.config.bands import presets
from rankgauge.config.settings import Settings
from rankgauge.measures import parse_measures
from rankgauge.render.documents.bands import bands_of, with_bands
from rankgauge.render.documents.scores import as_dict, means_table
from rankgauge.render.formats.terminal import Layout
from tests.conftest import Outcome
from tests.render.formats.texts import text_of

PRESET = load_bands("trec-2025")


def written(folder: Path, text: str) -> Path:
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("measure", "value", "band"),
    [
        ("nDCG@10", 0.29, "below"),
        ("nDCG@10", 0.30, "baseline"),
        ("ndcg_cut_10", 0.32, "baseline"),
        ("nDCG@10", 0.3201, "above"),
        ("ndcg_cut_10", 0.349, "above"),
        ("nDCG@10", 0.35, "good"),
        ("nDCG@10", 0.40, "strong"),
        ("map_cut.100", 0.24, "below"),
        ("map_cut.100", 0.27, "baseline"),
        ("map_cut.100", 0.99, "above"),
        ("MRR@10", 0.54, "baseline"),
        ("MRR@10", 0.99, "good"),
        ("MRR@10", 0.55, "good"),
        ("Recall@50", 0.60, "baseline"),
        ("Recall@50", 0.61, "above"),
        ("recall_100", 0.66, "above"),
        ("HitRate@10", 0.76, "above"),
        ("recall_100", 0.70, "good"),
        ("HitRate@10", 0.80, "good"),
        ("nDCG@20", 0.9, None),
        ("AP(norm='min')@100", 0.9, None),
        ("nDCG@10", None, None),
        ("nDCG@10", float("nan"), None),
    ],
)
def test_the_preset_has_the_bands_of_the_reference(measure: str, value: float | None, band: str | None) -> None:
    assert PRESET.band_of(measure, value) == band


def test_the_preset_covers_the_set_of_kpi_measures() -> None:
    assert presets() == ["trec-2025"]
    assert set(PRESET.thresholds) == set(parse_measures("kpi"))
    assert "MRR@10" in PRESET
    assert "MRR" not in PRESET


def test_the_preset_is_written_as_the_file_that_reads_as_it(tmp_path: Path, command: Callable[..., Any]) -> None:
    text = command("measures", "--kpi", "trec-2025").out
    assert text == PRESET.to_yaml()
    assert "On another collection they are meaningless" in text
    copy = written(tmp_path, text)
    assert load_bands(copy) == PRESET
    assert load_bands(str(copy)) == PRESET


def test_names_with_yaml_syntax_are_quoted(tmp_path: Path) -> None:
    measures = parse_measures(["nDCG(gains={1: 3, 2: 9})@10", "AP(rel=2)@100", "P@5"])
    bands = Bands("a: {b} # c", {measure: {"good": 1e-05, "strong": 0.1 + 0.2} for measure in measures})
    assert load_bands(written(tmp_path, bands.to_yaml())) == bands


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kpi: trec-2025\n", "trec-2025"),
        ("kpi: own.yaml\n", "mine"),
        ("kpi: {bands: {P@5: {good: 0.5}}}\n", "own"),
        ("kpi: {name: ours, bands: {P@5: {good: 0.5}}}\n", "ours"),
    ],
)
def test_a_configuration_sets_the_bands(tmp_path: Path, text: str, name: str) -> None:
    written(tmp_path, "name: mine\nbands: {P@5: {good: 0.5}}\n")
    (tmp_path / "rankgauge.yaml").write_text(text)
    bands = load_settings(tmp_path / "rankgauge.yaml").bands
    assert bands is not None
    assert bands.name == name
    assert bands == PRESET or bands.band_of("P@5", 0.5) == "good"


@pytest.mark.parametrize("text", ["", "kpi:\n", "measures: [nDCG@10]\n", "kpi: none\n"])
def test_a_configuration_without_bands_has_none(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text)).bands is None
    assert Settings().bands is None


def test_only_ndcg_has_a_strong_band_and_average_precision_has_no_target_level() -> None:
    bounds = {str(measure): dict(values) for measure, values in PRESET.thresholds.items()}
    assert [measure for measure in bounds if "strong" in bounds[measure]] == ["nDCG@10"]
    assert bounds["AP@100"] == {"baseline": 0.25, "above": 0.27}


def test_a_collection_may_declare_its_own_bands(tmp_path: Path) -> None:
    assert collection_bands(tmp_path) is None
    (tmp_path / "kpi.yaml").write_text("bands: {P@5: {good: 0.5}}\n")
    bands = collection_bands(tmp_path)
    assert bands is not None
    assert (bands.name, bands.band_of("P@5", 0.5)) == ("kpi", "good")


def test_a_configuration_may_switch_bands_off(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "kpi: none\n")).bands is None
    with pytest.raises(InputError, match=r"nowhere.yaml': not a preset and not a file"):
        load_settings(written(tmp_path, "kpi: nowhere.yaml\n"))


def test_a_file_may_name_some_bands_only_and_is_named_after_itself(tmp_path: Path) -> None:
    bands = load_bands(
        written(tmp_path, "bands:\n  P@5: {good: 0.5}\n  FirstRel: {baseline: 3, good: 2, strong: 1.5}\n")
    )
    assert bands.name == "own"
    assert [bands.band_of("P@5", value) for value in (0.4, 0.5)] == ["below", "good"]
    assert [bands.band_of("FirstRel", value) for value in (4, 3, 2.5, 2, 1)] == [
        "below", "baseline", "baseline", "good", "strong",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "own.yaml: expected a section with keys, found nothing"),
        ("- 1\n", "own.yaml:1: expected a section with keys, found list"),
        ("name: x\n", "own.yaml:1: expected the key 'bands', found nothing"),
        ("bands: {}\n", "own.yaml:1: expected at least one measure in 'bands', found dict"),
        ("bands:\n  P@5: {good: 0.5}\nbnads: 1\n", "own.yaml:3: expected one of name, bands, found the key 'bnads'"),
        ("name: 3\nbands:\n  P@5: {good: 0.5}\n", "own.yaml:1: expected a valid string in 'name', found int"),
        ("bands:\n  nDGC@10: {good: 0.5}\n", "own.yaml:2: expected a measure in 'bands.nDGC@10', found unknown"),
        ("bands:\n  rag@5: {good: 0.5}\n", "own.yaml:2: expected a measure in 'bands.rag@5', found 'rag@5' names 7"),
        ("bands:\n  P@5: 0.5\n", "own.yaml:2: expected a section with keys in 'bands.P@5', found float"),
        (
            "bands:\n  P@5: {}\n",
            "expected one or more of baseline, above, good, strong, uplift, found nothing for P@5",
        ),
        ("bands:\n  P@5: {god: 0.5}\n", "hint: did you mean 'good'?"),
        ("bands:\n  P@5: {good: yes}\n", "own.yaml:2: expected a valid number in 'bands.P@5.good', found bool"),
        ("bands:\n  P@5: {good: .nan}\n", "expected a finite number"),
        ("bands:\n  P@5: {good: 0.5, baseline: 0.5}\n", "own.yaml:2: expected ascending numbers, found baseline 0.5"),
        ("bands:\n  FirstRel: {baseline: 1, good: 2}\n", "expected descending numbers, because lower is better"),
        (
            "bands:\n  map: {good: 1}\n  AP: {good: 1}\n",
            "own.yaml:3: expected each measure once, found AP a second time",
        ),
        ("bands: {P@5: {good: 1}, P@5: {good: 1}}\n", "key 'P@5' appears here and on line 1"),
        ("bands: [", "not valid YAML"),
        ("bands: !!python/object:x.Y {}\n", "expected plain data"),
    ],
)
def test_a_fault_is_reported_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_bands(written(tmp_path, text))
    assert said in str(caught.value)


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_bands(written(tmp_path, "bands:\n  P@5: {good: x}\n  R@5: {strong: y}\n"))
    assert str(caught.value).count("expected a valid number") == 2


def test_an_error_for_an_unknown_preset_lists_the_presets() -> None:
    with pytest.raises(
        InputError, match=r"no target bands 'trec-2024': not a preset and not a file\nhint: .*trec-2025"
    ):
        load_bands("trec-2024")


QRELS = {"1": {"a": 1}, "2": {"b": 1}}
RUN = {"1": ["a"], "2": ["x", "b"]}


def own(**thresholds: dict[str, float]) -> Bands:
    return Bands("own", {measure: thresholds[str(measure)] for measure in parse_measures(list(thresholds))})  # type: ignore[misc]  # the keys are bands


def test_the_table_has_a_row_of_bands_for_each_run_and_names_the_bands_once() -> None:
    scores = evaluate(QRELS, RUN, "nDCG@10 RR@10 P@5")
    text = text_of(means_table([scores, scores], bands=PRESET), layout=Layout(100))
    assert text.count("trec-2025") == 1
    assert [line.split() for line in text.splitlines()[3:]] == [
        ["band", "(trec-2025)"], ["run", "strong", "good", "–"], ["run", "strong", "good", "–"]
    ]  # fmt: skip
    one = text_of(means_table([scores], bands=PRESET), layout=Layout(100))
    assert one.splitlines()[2].split() == ["band", "(trec-2025)", "strong", "good", "–"]
    turned = text_of(means_table([scores], bands=PRESET), layout=Layout(10))
    assert turned.splitlines()[:2] == ["            run  band (trec-2025)", "nDCG@10  0.8155            strong"]
    assert "trec-2025" not in text_of(means_table([scores]), layout=Layout(100))


def test_if_no_measure_has_bands_none_are_shown() -> None:
    scores = evaluate(QRELS, RUN, "P@5 nDCG@20")
    plain = text_of(means_table([scores]), layout=Layout(100))
    assert text_of(means_table([scores], bands=PRESET), layout=Layout(100)) == plain
    data = as_dict([scores], per_query=False)
    assert with_bands(data, [scores], PRESET) is data


def test_bands_apply_to_a_measure_whose_name_was_completed_from_the_judgments() -> None:
    scores = evaluate(QRELS, RUN, "RBP")
    assert bands_of(scores, own(RBP={"good": 0.1})) == {"RBP(max_rel=1)": "good"}


def test_json_has_the_thresholds_and_the_bands() -> None:
    scores = evaluate(QRELS, RUN, "nDCG@10 P@5")
    data = as_dict([scores], per_query=False)
    full = with_bands(data, [scores], PRESET)
    assert full["runs"][0]["bands"] == {"nDCG@10": "strong"}
    assert full["kpi"]["name"] == "trec-2025"
    assert full["kpi"]["bands"]["RR@10"] == {"baseline": 0.45, "good": 0.55}
    assert with_bands(data, [scores], None) is data


def test_a_preset_needs_no_yaml_parser() -> None:
    code = (
        "import sys; from rankgauge.config import load_bands; load_bands('trec-2025'); "
        "print({'pydantic', 'yaml'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_output_says_that_a_value_is_above_the_typical_baseline(
    tmp_path: Path, command: Callable[..., Outcome]
) -> None:
    command("demo", "--copy", tmp_path / "w")
    labels, lexical, vector = (
        tmp_path / "w" / name for name in ("qrels.trec", "runs/lexical.trec", "runs/vector.trec")
    )
    kpi = ("-m", "AP@100", "--set", "kpi=trec-2025")
    for form in ("table", "markdown", "latex"):
        assert "above baseline" in command("evaluate", labels, lexical, *kpi, "--format", form).out
        assert "above baseline" in command("compare", labels, lexical, vector, *kpi, "--format", form).out
    required = ("--require", "AP@100>0", "--set", "kpi=trec-2025")
    for form in ("table", "junit"):
        assert "above baseline" in command("gate", labels, lexical, *required, "--format", form).out
    assert '"AP@100": "above"' in command("evaluate", labels, lexical, *kpi, "--format", "json").out
    assert command("evaluate", labels, lexical, *kpi, "--html", tmp_path / "page.html").code == 0
    assert '<span class="chip above">above baseline</span>' in (tmp_path / "page.html").read_text(encoding="utf-8")
