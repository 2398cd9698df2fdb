from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import Conventions, InputError, Settings, Statistics, load_settings
from rankgauge.cli.starter_files import config_text, content_of, plan_for
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.config import load_bands, load_config
from rankgauge.io.byte_streams import Limits
from rankgauge.io.formats.yaml_text import MAX_FILE_BYTES
from rankgauge.io.reading_options import Reading

BANDS = load_bands("trec-2025")


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "rankgauge.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        load_config(written(folder, text))
    return str(caught.value).replace(str(folder) + "/", "")


FULL = """\
kpi: trec-2025
measures:
  names: [nDCG@10, "AP(rel=2)@100", rag@5]
  graded: true
  rel: 2
  compat: trec_eval-10
  query_set: both
  no_relevant: skip
reading:
  on_duplicate: first
  max_line: 2M
statistics:
  confidence_intervals: true
  significance_testing: true
  confidence: 99e-2
  test: wilcoxon
  resamples: 5000
  seed: 3
  baseline: bm25
  by: [category]
performance:
  batch_size: 7
  caching_enabled: true
  parallel_processing: false
"""


def test_every_key_is_obeyed(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, FULL)) == Settings(
        measures=("nDCG@10", "AP(rel=2)@100", "rag@5"),
        conventions=Conventions("trec_eval-10", query_set="both", no_relevant="skip", rel=2, graded=True),
        statistics=Statistics("wilcoxon", confidence=0.99, resamples=5000, seed=3),
        reading=Reading(on_duplicate="first", limits=Limits(max_line=1 << 21), parallel=False),
        confidence_intervals=True,
        significance_testing=True,
        baseline="bm25",
        by=("category",),
        bands=BANDS,
        batch_size=7,
        caching=True,
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "measures:\n", "statistics: {}\nperformance:\n"])
def test_what_is_left_out_is_the_default(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text)) == Settings()


@pytest.mark.parametrize("text", ["measures: [mrr, P@5]", "measures: {names: [mrr, P@5]}", "measures:\n- mrr\n- P@5\n"])
def test_measures_may_be_a_list(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text)).measures == ("mrr", "P@5")


def test_one_name_needs_no_list(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "measures: mrr")).measures == ("mrr",)


def test_the_block_of_the_specification_is_read_unchanged(tmp_path: Path) -> None:
    from tests.lists.test_suite import BLOCK

    assert load_settings(written(tmp_path, BLOCK)) == Settings(
        measures=("hit@1", "hit@3", "hit@5", "hit@10", "ndcg@5", "ndcg@10", "mrr", "map@10"),
        conventions=Conventions(graded=False),
        statistics=Statistics(confidence=0.95),
        confidence_intervals=True,
        significance_testing=True,
        batch_size=100,
        caching=True,
    )


def test_the_alpha_level_of_the_specification_is_one_minus_the_confidence() -> None:
    block = {"retrieval_metrics": {"statistical_analysis": {"alpha_level": 0.01}}}
    assert load_settings(block).statistics == Statistics(confidence=0.99)


def test_a_configuration_may_be_a_mapping() -> None:
    settings = load_settings({"measures": ["mrr"], "statistics": {"confidence": 0.9}})
    assert (settings.measures, settings.statistics.alpha) == (("mrr",), 0.1)
    with pytest.raises(InputError, match=r"configuration: expected one of .*, found the key 'measrues'"):
        load_config({"measrues": ["mrr"]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "measures: [mrr]\nstatistcs: {}\n",
            "rankgauge.yaml:2: expected one of measures, statistics, reading, performance",
        ),
        ("measures: [mrr]\nstatistcs: {}\n", "did you mean 'statistics'?"),
        ("performance:\n  batch_size: 3\n  cachng_enabled: yes\n", "rankgauge.yaml:3: "),
        ("performance:\n  cachng_enabled: yes\n", "did you mean 'caching_enabled'?"),
        ("retrieval_metrics:\n  enabled: [mrr]\n", "rankgauge.yaml:2: "),
        ("retrieval_metrics:\n  enabled: [mrr]\n", "did you mean 'enabled_metrics'?"),
        ("retrieval_metrics:\n  performance:\n    batchsize: 1\n", "rankgauge.yaml:3: "),
        (
            "gate:\n  requires: [RR>0.5]\n",
            "rankgauge.yaml:2: expected one of require, no_leaks, require_each, requirements, by, allow, corpus, ",
        ),
        ("gate:\n  requires: [RR>0.5]\n", "did you mean 'require'?"),
        ("kpi:\n  bnads: {}\n", "did you mean 'bands'?"),
        ("retrievers:\n  mine: {mod: lexical}\n", "in 'retrievers.mine', found the key 'mod'"),
        ("retrievers:\n  mine: {mod: lexical}\n", "did you mean 'mode'?"),
    ],
)
def test_an_unknown_key_is_an_error_with_its_line_and_the_nearest_key(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "performance:\n  batch_size: many\n",
            "yaml:2: performance.batch_size: expected a whole number of at least 1, found 'many'",
        ),
        (
            "performance:\n  batch_size: 0\n",
            "performance.batch_size: expected a whole number of at least 1, found 0",
        ),
        ("performance:\n  batch_size: 1.5\n", "yaml:2: "),
        ("performance:\n  caching_enabled: 1\n", "yaml:2: expected a valid boolean"),
        ("statistics:\n  confidence: 5\n", "yaml:2: statistics.confidence: expected a number between 0 and 1, found 5"),
        ("statistics:\n  confidence: .nan\n", "yaml:2: "),
        ("statistics: yes\n", "yaml:1: expected a section with keys in 'statistics', found bool"),
        ("measures:\n  query_set: all\n", "yaml:2: measures.query_set: expected one of qrels, both, found 'all'"),
        ("measures:\n  rel: -1\n", "yaml:2: measures.rel: expected a number of at least 0, found -1"),
        ("measures:\n- mrr\n- nDGC@10\n", "yaml:3: "),
        ("measures:\n- mrr\n- nDGC@10\n", "did you mean nDCG@10?"),
        ("measures:\n  names:\n  - recip_rank.10\n", "write RR@10"),
        ("measures: []\n", "yaml:1: expected at least one measure"),
        (
            "gate:\n  require:\n  - RR>0.5\n  - RR>60\n",
            "yaml:4: expected a requirement in 'gate.require.1', found 'RR>60'",
        ),
        ("gate:\n  require: nDGC>0.5\n", "yaml:2: expected a measure in 'gate.require.0', found unknown measure"),
        ("gate: {margin: -1}\n", "yaml:1: gate.margin: expected a number of at least 0, found -1"),
        ("gate: {confidence: 1}\n", "yaml:1: gate.confidence: expected a number between 0 and 1, found 1"),
        (
            "statistics: {test: tt}\n",
            "yaml:1: statistics.test: expected one of t, randomization, wilcoxon, sign, bootstrap, found 'tt'",
        ),
        (
            "statistics: {resamples: 0}\n",
            "yaml:1: statistics.resamples: expected a whole number of at least 1, found 0",
        ),
        ("kpi: 3\n", "yaml:1: expected a section with keys in 'kpi', found int"),
        ("kpi:\n  bands:\n    P@5: {good: 0.4, strong: 0.3}\n", "yaml:3: expected ascending numbers, found good 0.4"),
        ("measures: [1]\n", "yaml:1: expected a valid string in 'measures.names.0', found int"),
        ("[1, 2]", "yaml:1: expected sections such as 'measures:', found list"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    message = refused(tmp_path, "measures: [ndgc]\nperformance:\n  batch_size: x\n  unknown: 1\n")
    assert [line.split(":")[1] for line in message.splitlines() if line.startswith("rankgauge.yaml")] == ["1", "3", "4"]


def test_the_block_cannot_be_combined_with_sections_that_have_the_same_settings(tmp_path: Path) -> None:
    assert "yaml:2: 'measures' cannot be combined with 'retrieval_metrics', which has the same settings" in refused(
        tmp_path, "retrieval_metrics: {graded_relevance: true}\nmeasures: [mrr]\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "statistics:\n  confidence: 0.9\n  confidence: 0.8\n",
            "yaml:3: key 'confidence' appears here and on line 2",
        ),
        ("measures: [mrr]\nmeasures: [map]\n", "yaml:2: key 'measures' appears here and on line 1"),
        ("a: !!python/object/apply:os.system ['touch pwned']\n", "yaml:1: expected plain data"),
        ("a: !!python/name:os.system\n", "yaml:1: not valid YAML"),
        ("a: !mine {b: 1}\n", "yaml:1: expected plain data"),
        ("a: !!binary abc\n", "yaml:"),
        ("a: &a [*a]\n", "more than"),
        ("[" * 100_000, "nested too deeply"),
        ("a: [1\n", "yaml:2: not valid YAML"),
        ("a: b\n---\nc: d\n", "yaml:2: not valid YAML"),
        ("a: 2024-13-45\n", "not valid YAML"),
        ("1: 2\n", "yaml:1: a key must be text"),
        ("<<: {a: b}\n", "yaml:1: "),
        (b"a: \xff\n", "not"),
        (b"a: \x00\n", "not valid YAML"),
        ("#" * (MAX_FILE_BYTES + 1), "expected at most"),
    ],
)
def test_yaml_that_is_broken_or_malicious_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert message in refused(tmp_path, text)
    assert not (tmp_path / "pwned").exists()


def test_a_bomb_of_aliases_is_refused_quickly(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "each alias counted as often as it is used" in refused(tmp_path, "\n".join(lines))


def test_a_modest_alias_is_fine(tmp_path: Path) -> None:
    text = "measures: {names: &all [mrr, P@5], graded: true}\nstatistics: {confidence: 0.9}\n"
    assert load_settings(written(tmp_path, text)).measures == ("mrr", "P@5")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            load_config(path)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["rankgauge.config.settings", "rankgauge.lists.suite", "rankgauge.lists.batches"])
def test_neither_pydantic_nor_yaml_is_imported_before_a_configuration_is_read(module: str) -> None:
    code = f"import sys, {module}; print(*{{'pydantic', 'yaml', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_reference_has_every_key_and_its_examples_are_read() -> None:
    from rankgauge.config.schema import (
        BenchmarkSection,
        CollectionSection,
        GateSection,
        MeasuresSection,
        PerformanceSection,
        RetrievalMetrics,
        StatisticsSection,
    )

    sections = (MeasuresSection, StatisticsSection, GateSection, PerformanceSection, CollectionSection)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
    for section in (*sections, BenchmarkSection, RetrievalMetrics):
        for key in section.model_fields:
            assert re.search(rf"^ +{key}:", page, re.MULTILINE), key
    for text in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        assert load_config(yaml_data(text)).measures.names


def test_the_file_that_init_writes_is_valid_and_so_are_the_keys_it_comments_out(tmp_path: Path) -> None:
    text = config_text(plan_for(content_of(tmp_path), tmp_path))
    (tmp_path / "rankgauge.yaml").write_text(text, encoding="utf-8")
    settings = load_settings(tmp_path / "rankgauge.yaml")
    assert (settings.statistics, settings.bands) == (Statistics(), None)
    text = re.sub(r"^  # (?=\w+: )", "  ", text, flags=re.MULTILINE)
    config = load_config(yaml_data(text))
    assert (config.statistics.by, config.gate.as_settings(GateRule).margin) == (("category", "difficulty"), 0.01)


def yaml_data(text: str) -> dict[str, object]:
    from rankgauge.io.formats.yaml_text import load_yaml

    data: dict[str, object] = load_yaml(text.encode(), "page").data
    return data
