"""A setting is declared once: option, key, ``--set`` and Python have the same default and refuse in the same words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from rankgauge import Conventions, Statistics, UsageError
from rankgauge.cli.commands.compare import command as compare_command
from rankgauge.cli.commands.evaluate import command as evaluate_command
from rankgauge.config.reading import load_config
from rankgauge.config.schema import MeasuresSection, ReadingSection, StatisticsSection
from rankgauge.config.sections import ConfigSection
from rankgauge.core.settings import KINDS, LIMITS, Declared, declared
from rankgauge.io.byte_streams import Limits
from rankgauge.io.options import Reading

Command = Callable[..., Any]
SECTIONS: dict[type[Any], tuple[str, type[ConfigSection]]] = {
    Conventions: ("measures", MeasuresSection),
    Statistics: ("statistics", StatisticsSection),
    Reading: ("reading", ReadingSection),
    Limits: ("reading", ReadingSection),
}
DECLARED = [(cls, name) for cls in SECTIONS for name in declared(cls)]
WRONG = {"float": "-7.5", "int": "x", "str": "nonsense", "bool": "maybe", "size": "much"}


def flags(command: click.Command) -> dict[str, click.Option]:
    return {one.name or "": one for one in command.params if isinstance(one, click.Option)}


@pytest.mark.parametrize(("cls", "name"), DECLARED)
def test_the_key_and_the_option_have_the_default_of_the_field(cls: type[Any], name: str) -> None:
    default = next(entry.default for entry in fields(cls) if entry.name == name)
    assert SECTIONS[cls][1].model_fields[name].default == default
    for command in (evaluate_command, compare_command):
        if name in flags(command):
            assert flags(command)[name].default == default


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception, match="expected") as caught:
        call()
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("cls", "name"), [(cls, name) for cls, name in DECLARED if declared(cls)[name].expected != "a text"]
)
def test_a_wrong_value_is_refused_in_the_same_words_everywhere(
    cls: type[Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    declaration, section = declared(cls)[name], SECTIONS[cls][0]
    text = WRONG[declaration.kind]
    complaint = declaration.complaint(declaration.parse(text))
    assert complaint is not None
    assert refusal(lambda: cls(**{name: declaration.parse(text)})) == f"{name}: {complaint}"
    key = f"{section}.{name}"
    Path("rankgauge.yaml").write_text(f"{section}:\n  {name}: {text}\n")
    assert refusal(lambda: load_config("rankgauge.yaml")) == f"rankgauge.yaml:2: {key}: {complaint}"
    assert refusal(lambda: load_config({}, [f"{key}={text}"])) == f"--set {key}: {complaint}"
    flag = flags(compare_command).get(name)
    if flag is not None and not flag.is_flag:
        done = command("compare", "q", "r", "s", flag.opts[-1], text)
        assert done.code == 64
        expected = complaint.replace("auto, ", "")  # which no one has to write
        assert expected.partition(", found")[0] in " ".join(done.err.split()).replace("auto, ", "")


def test_an_option_comes_before_set_before_the_file_before_the_default(tmp_path: Path, command: Command) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 2\n1 0 c 3\n1 0 d 4\n")
    (tmp_path / "r").write_text("1 Q0 a 1 4 x\n1 Q0 b 2 3 x\n1 Q0 c 3 2 x\n1 Q0 d 4 1 x\n")
    (tmp_path / "c.yaml").write_text("measures: {names: [RR], rel: 2}\n")
    words = ["evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR"]
    ranks = []
    for options in ([], ["--config", tmp_path / "c.yaml"], ["--set", "measures.rel=3"], ["-l", "4"]):
        words += options
        ranks.append(float(re.findall(r"[0-9.]+$", command(*words).out.splitlines()[1])[0]))
    assert ranks == [1.0, 0.5, 0.3333, 0.25]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gate.baseline=no", "no"),
        ("gate.baseline=1e3", "1e3"),
        ("gate.baseline=0123", "0123"),
        ("gate.baseline={query}", "{query}"),
        ("gate.baseline= a #b", " a #b"),
        ("gate.margin=1e-2", 0.01),
        ("gate.require=[RR>0.5, 'nDCG@10>=0.3']", ["RR>0.5", "nDCG@10>=0.3"]),
        ("gate.require=RR>0.5", ["RR>0.5"]),
    ],
)
def test_set_takes_a_text_as_it_is_and_yaml_for_lists_only(text: str, value: object) -> None:
    config = load_config({}, [text])
    assert getattr(config.gate, text.partition("=")[0].partition(".")[2]) == value


@pytest.mark.parametrize("text", ["statistics.sed=7", "nothing.seed=7", "seed", "=7", "statistics.=7", "statistics=7"])
def test_set_refuses_what_is_not_a_key(text: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        load_config({}, [text])


def test_a_setting_of_the_file_may_be_overridden_but_the_file_must_be_right(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("statistics:\n  seed: 1\n  confidence: 0.9\n")
    statistics: Any = load_config(tmp_path / "c.yaml", ["statistics.seed=7"]).statistics
    assert (statistics.seed, statistics.confidence) == (7, 0.9)
    (tmp_path / "c.yaml").write_text("statistics:\n  confidence: 9\n")
    assert "c.yaml:2: statistics.confidence" in refusal(
        lambda: load_config(tmp_path / "c.yaml", ["statistics.confidence=0.9"])
    )


def test_numbers_are_of_their_kind_and_finite() -> None:
    import numpy as np

    whole = declared(Statistics)["seed"]
    assert whole.fits(np.int64(3))
    assert not any(map(whole.fits, (True, 1.0, "1", None, float("nan"))))
    share = declared(Statistics)["confidence"]
    assert share.fits(np.float64(0.5))
    assert not any(map(share.fits, (0, 1, float("nan"), float("inf"), "0.5", True)))
    assert whole.parse("1_0") == "1_0"
    assert whole.parse("١") == "١"


@pytest.mark.parametrize(("cls", "name"), DECLARED)
def test_a_declaration_is_complete(cls: type[Any], name: str) -> None:
    declaration: Declared = declared(cls)[name]
    assert declaration.fits(declaration.default)
    assert declaration.kind in {*KINDS.values(), "size"}
    assert declaration.setting.limits in LIMITS
    assert declaration.setting.help.rstrip("]").endswith((".", "none", "queries", "draws", "permutations"))


def test_a_key_of_a_retriever_is_refused_where_no_retriever_runs(tmp_path: Path, command: Command) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    for words in (["evaluate", tmp_path / "q", tmp_path / "r"], ["diff", tmp_path / "r", tmp_path / "r"]):
        done = command(*words, "--set", "retriever.k1=0.9")
        assert (done.code, "--set retriever.… has no effect" in done.err) == (64, True)
