from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import InputError, load_config
from rankgauge.config.apply import Plan, load_plan, plan_of
from rankgauge.config.loading import LARGEST


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "rankgauge.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        load_config(written(folder, text))
    return str(caught.value).replace(str(folder) + "/", "")


FULL = """\
measures:
  names: [nDCG@10, "AP(rel=2)@100", rag@5]
  graded: true
  level: 2
  compat: trec_eval-10
  queries: both
  no_relevant: skip
  on_duplicate: first
statistics:
  confidence_intervals: true
  significance_testing: true
  alpha_level: 1e-2
performance:
  batch_size: 7
  caching_enabled: true
  cache_file: my.sqlite
  parallel_processing: false
"""


def test_every_key_is_obeyed(tmp_path: Path) -> None:
    assert load_plan(written(tmp_path, FULL)) == Plan(
        measures=("nDCG@10", "AP(rel=2)@100", "rag@5"),
        graded=True,
        level=2,
        compat="trec_eval-10",
        queries="both",
        no_relevant="skip",
        on_duplicate="first",
        confidence_intervals=True,
        significance_testing=True,
        alpha=0.01,
        batch_size=7,
        caching=True,
        cache_file=str(tmp_path / "my.sqlite"),
        parallel=False,
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "measures:\n", "statistics: {}\nperformance:\n"])
def test_what_is_left_out_is_the_default(tmp_path: Path, text: str) -> None:
    assert load_plan(written(tmp_path, text)) == Plan()


@pytest.mark.parametrize("text", ["measures: [mrr, P@5]", "measures: {names: [mrr, P@5]}", "measures:\n- mrr\n- P@5\n"])
def test_measures_may_be_a_list(tmp_path: Path, text: str) -> None:
    assert load_plan(written(tmp_path, text)).measures == ("mrr", "P@5")


def test_one_name_needs_no_list(tmp_path: Path) -> None:
    assert load_plan(written(tmp_path, "measures: mrr")).measures == ("mrr",)


def test_the_block_of_the_specification_is_read_as_it_stands(tmp_path: Path) -> None:
    from tests.lists.test_suite import BLOCK

    plan = load_plan(written(tmp_path, BLOCK))
    assert plan == Plan(
        measures=("hit@1", "hit@3", "hit@5", "hit@10", "ndcg@5", "ndcg@10", "mrr", "map@10"),
        graded=False,
        confidence_intervals=True,
        significance_testing=True,
        alpha=0.05,
        batch_size=100,
        caching=True,
        parallel=True,
    )


def test_a_mapping_will_do() -> None:
    assert plan_of(load_config({"measures": ["mrr"], "statistics": {"alpha_level": 0.1}})).alpha == 0.1
    with pytest.raises(InputError, match=r"configuration: expected one of .*, found the key 'measrues'"):
        load_config({"measrues": ["mrr"]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("measures: [mrr]\nstatistcs: {}\n", "rankgauge.yaml:2: expected one of measures, statistics, performance"),
        ("measures: [mrr]\nstatistcs: {}\n", "did you mean 'statistics'?"),
        ("performance:\n  batch_size: 3\n  cachng_enabled: yes\n", "rankgauge.yaml:3: "),
        ("performance:\n  cachng_enabled: yes\n", "did you mean 'caching_enabled'?"),
        ("retrieval_metrics:\n  enabled: [mrr]\n", "rankgauge.yaml:2: "),
        ("retrieval_metrics:\n  enabled: [mrr]\n", "did you mean 'enabled_metrics'?"),
        ("retrieval_metrics:\n  performance:\n    batchsize: 1\n", "rankgauge.yaml:3: "),
        (
            "gate:\n  requires: [RR>0.5]\n",
            "rankgauge.yaml:2: expected one of require, against, measures, margin, alpha",
        ),
        ("gate:\n  requires: [RR>0.5]\n", "did you mean 'require'?"),
        ("kpi:\n  bnads: {}\n", "did you mean 'bands'?"),
        ("retrievers:\n  mine: {mod: lexical}\n", "in 'retrievers.mine', found the key 'mod'"),
        ("retrievers:\n  mine: {mod: lexical}\n", "did you mean 'mode'?"),
    ],
)
def test_an_unknown_key_is_said_with_its_line_and_the_nearest(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "performance:\n  batch_size: many\n",
            "yaml:2: expected a valid integer in 'performance.batch_size', found str",
        ),
        ("performance:\n  batch_size: 0\n", "yaml:2: expected a number greater than or equal to 1"),
        ("performance:\n  batch_size: 1.5\n", "yaml:2: "),
        ("performance:\n  caching_enabled: 1\n", "yaml:2: expected a valid boolean"),
        ("statistics:\n  alpha_level: 5\n", "yaml:2: expected a number less than 1"),
        ("statistics:\n  alpha_level: .nan\n", "yaml:2: "),
        ("statistics: yes\n", "yaml:1: expected a section with keys in 'statistics', found bool"),
        ("measures:\n  queries: all\n", "yaml:2: expected 'qrels' or 'both' in 'measures.queries', found str"),
        ("measures:\n- mrr\n- nDGC@10\n", "yaml:3: "),
        ("measures:\n- mrr\n- nDGC@10\n", "did you mean nDCG@10?"),
        ("measures:\n  names:\n  - recip_rank.10\n", "write RR@10"),
        ("measures: []\n", "yaml:1: expected at least one measure"),
        (
            "gate:\n  require:\n  - RR>0.5\n  - RR>60\n",
            "yaml:4: expected a requirement in 'gate.require.1', found 'RR>60'",
        ),
        ("gate:\n  require: nDGC>0.5\n", "yaml:2: expected a measure in 'gate.require.0', found unknown measure"),
        ("gate: {margin: -1}\n", "yaml:1: expected a number greater than or equal to 0 in 'gate.margin'"),
        ("gate: {alpha: 1}\n", "yaml:1: expected a number less than 1"),
        ("statistics: {test: tt}\n", "expected 't', 'randomization'"),
        ("statistics: {resamples: 10}\n", "yaml:1: expected a number greater than or equal to 100"),
        ("kpi: 3\n", "yaml:1: expected a section with keys in 'kpi', found int"),
        ("kpi:\n  bands:\n    P@5: {good: 0.4, strong: 0.3}\n", "yaml:3: expected numbers that rise, found good 0.4"),
        ("measures: [1]\n", "yaml:1: expected a valid string in 'measures.names.0', found int"),
        ("[1, 2]", "yaml:1: expected sections such as 'measures:', found list"),
    ],
)
def test_a_wrong_value_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


def test_all_faults_are_said_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, "measures: [nope]\nperformance:\n  batch_size: x\n  unknown: 1\n")
    assert [line.split(":")[1] for line in said.splitlines() if line.startswith("rankgauge.yaml")] == ["1", "3", "4"]


def test_the_block_does_not_stand_beside_what_says_the_same(tmp_path: Path) -> None:
    assert "yaml:2: 'measures' stands beside 'retrieval_metrics'" in refused(
        tmp_path, "retrieval_metrics: {graded_relevance: true}\nmeasures: [mrr]\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "statistics:\n  alpha_level: 0.1\n  alpha_level: 0.2\n",
            "yaml:3: key 'alpha_level' stands here and on line 2",
        ),
        ("measures: [mrr]\nmeasures: [map]\n", "yaml:2: key 'measures' stands here and on line 1"),
        ("a: !!python/object/apply:os.system ['touch pwned']\n", "yaml:1: expected plain data"),
        ("a: !!python/name:os.system\n", "yaml:1: not YAML that can be read"),
        ("a: !mine {b: 1}\n", "yaml:1: expected plain data"),
        ("a: !!binary abc\n", "yaml:"),
        ("a: &a [*a]\n", "more than"),
        ("[" * 100_000, "nested too deeply"),
        ("a: [1\n", "yaml:2: not YAML"),
        ("a: b\n---\nc: d\n", "yaml:2: not YAML"),
        ("a: 2024-13-45\n", "not YAML"),
        ("1: 2\n", "yaml:1: a key must be text"),
        ("<<: {a: b}\n", "yaml:1: "),
        (b"a: \xff\n", "not"),
        (b"a: \x00\n", "not YAML"),
        ("#" * (LARGEST + 1), "expected at most"),
    ],
)
def test_yaml_that_is_broken_or_means_harm_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in refused(tmp_path, text)
    assert not (tmp_path / "pwned").exists()


def test_a_bomb_of_aliases_is_refused_quickly(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "each alias counted as often as it is used" in refused(tmp_path, "\n".join(lines))


def test_a_modest_alias_is_fine(tmp_path: Path) -> None:
    text = "measures: {names: &all [mrr, P@5], graded: true}\nstatistics: {alpha_level: 0.1}\n"
    assert load_plan(written(tmp_path, text)).measures == ("mrr", "P@5")


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            load_config(path)


@pytest.mark.parametrize("module", ["rankgauge.config.apply", "rankgauge.lists.suite", "rankgauge.lists.batch"])
def test_neither_pydantic_nor_yaml_is_imported_before_a_configuration_is_read(module: str) -> None:
    code = f"import sys, {module}; print(*{{'pydantic', 'yaml', 'scipy'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_reference_has_every_key_and_its_examples_are_read() -> None:
    import re

    from rankgauge.config.schema import Gate, Measures, Performance, RetrievalMetrics, Statistics

    page = (Path(__file__).parents[2] / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
    for section in (Measures, Statistics, Gate, Performance, RetrievalMetrics):
        for key in section.model_fields:
            assert re.search(rf"^ +{key}:", page, re.MULTILINE), key
    for text in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        assert load_config(yaml_data(text)).measures.names


def yaml_data(text: str) -> dict[str, object]:
    from rankgauge.config.loading import load_yaml

    data: dict[str, object] = load_yaml(text.encode(), "page").data
    return data
