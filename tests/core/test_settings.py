"""A setting is declared once: option, key, ``--set`` and Python have the same default and refuse in the same words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click
import pytest

from rankgauge import Conventions, Settings, Statistics, UsageError
from rankgauge.adapters.story.retrieval_quality import StorySearch
from rankgauge.cli.options.declared_options import KeyOption
from rankgauge.cli.options.outputs import View
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.run_difference import ComparedDepth
from rankgauge.config.config_file import load_config, section_types
from rankgauge.config.retriever_settings import BenchmarkSettings, Bm25Parameters, RetrieverCalls, RetrieverSettings
from rankgauge.config.schema import Config
from rankgauge.core.settings import ELEMENTS, KINDS, LIMITS, NOUNS, Declared, declared
from rankgauge.history.entries import EntryFilter
from rankgauge.history.quality_checks import CheckOptions
from rankgauge.history.trends import TrendOptions
from rankgauge.io.byte_streams import Limits
from rankgauge.io.corpus.chunking import Chunking
from rankgauge.io.reading_options import PassageMatching, Reading
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.labels.judging_session import Assessor
from rankgauge.labels.machine_judging import JudgingLimits, MachineJudge
from rankgauge.labels.pooling import PoolOptions
from rankgauge.retrieval.fetch import FetchOptions
from rankgauge.retrieval.tuning import Tuning
from rankgauge.validation.validated_file import ValidationOptions
from tests.cli.test_help import COMMANDS

Command = Callable[..., Any]


class Home(NamedTuple):
    """Where the settings of a class are set besides Python: a section of the configuration, a command line."""

    command: str
    words: str = ""
    section: str = ""
    required: Mapping[str, Any] = MappingProxyType({})  # arguments of the class besides settings


HOMES: dict[type[Any], Home] = {
    Conventions: Home("compare", "q r s", "measures"),
    Statistics: Home("compare", "q r s", "statistics"),
    Settings: Home("compare", "q r s", "statistics"),
    Reading: Home("compare", "q r s", "reading"),
    Limits: Home("compare", "q r s", "reading"),
    PassageMatching: Home("evaluate", "g r", "collection"),
    GoldOptions: Home("labels resolve", "l --chunks c -o x", "collection"),
    Chunking: Home("runs fetch", "-o x", "chunking.a"),
    GateRule: Home("gate", "q r", "gate"),
    BenchmarkSettings: Home("benchmark run", "", "benchmark"),
    Bm25Parameters: Home("runs fetch", "-o x", "retrievers.a"),
    RetrieverSettings: Home("runs fetch", "-o x", "retrievers.a"),
    RetrieverCalls: Home("runs fetch", "-o x", "retrievers.a"),
    FetchOptions: Home("runs fetch", "-o x"),
    ComparedDepth: Home("diff", "r s"),
    PoolOptions: Home("pool", "r -o x"),
    Assessor: Home("judge", "p -o x", required={"name": "ann"}),
    MachineJudge: Home("judge", "p -o x --judge a:b", required={"name": "m", "function": print}),
    JudgingLimits: Home("judge", "p -o x --judge a:b"),
    Tuning: Home("tune", "q r s"),
    ValidationOptions: Home("runs validate", "r"),
    EntryFilter: Home("history list"),
    TrendOptions: Home("history trend"),
    CheckOptions: Home("history check"),
    StorySearch: Home("rq", "s q"),
}
SEVERAL_HOMES = {name: f"reading.{name}" for name in ("coverage", "tolerance", "scores")}  # of labels, of a retriever
DECLARED = [(cls, name) for cls in HOMES for name in declared(cls)]
LIMITED = [(cls, name) for cls, name in DECLARED if declared(cls)[name].element.expected not in ("a text", "a path")]
WRONG = {"float": "-7.5", "int": "x", "str": "nonsense", "bool": "maybe", "size": "much"}


def flags(command: click.Command) -> dict[str, click.Option]:
    return {one.name or "": one for one in command.params if isinstance(one, click.Option)}


def key_of(cls: type[Any], name: str) -> str | None:
    """The key of a setting in a configuration, if it has one."""
    if name in SEVERAL_HOMES:
        return SEVERAL_HOMES[name]
    *path, section = HOMES[cls].section.split(".") if HOMES[cls].section else [""]
    sections = [section, "performance"] if cls is Settings else [path[0] if path else section]
    for candidate in filter(None, sections):
        model = section_types(Config.model_fields[candidate].annotation)[0]
        if name in model.model_fields:
            return ".".join([candidate, *([section] if path else []), name])
    return None


@pytest.mark.parametrize(("cls", "name"), DECLARED)
def test_the_key_and_the_option_have_the_default_of_the_field(cls: type[Any], name: str) -> None:
    default = next(entry.default for entry in fields(cls) if entry.name == name)
    key = key_of(cls, name)
    if key is not None:
        model = section_types(Config.model_fields[key.partition(".")[0]].annotation)[0]
        assert model.model_fields[name].default in (default, None)  # None: the default of the declaration
    for command in (COMMANDS[HOMES[cls].command], COMMANDS["evaluate"]):
        option = flags(command).get(name)
        if isinstance(option, KeyOption):
            assert option.value == default
        elif option is not None and getattr(option, "declaration", None) == declared(cls)[name]:
            assert option.default == default or (option.default is not default is None)


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception, match="expected") as caught:
        call()
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize(("cls", "name"), LIMITED)
def test_a_wrong_value_is_refused_in_the_same_words_everywhere(
    cls: type[Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    declaration, home = declared(cls)[name], HOMES[cls]
    element = declaration.element
    texts = (WRONG[element.kind], "nonsense")  # a number without limits may be anything but a word
    text = next(one for one in texts if element.complaint(element.parse(one)) is not None)
    value = element.parse(text)
    complaint = element.complaint(value)
    assert complaint is not None
    wrong = [value] if declaration.kind in ELEMENTS else value
    assert refusal(lambda: cls(**home.required, **{name: wrong})) == f"{name}: {complaint}"
    key = key_of(cls, name)
    if key is not None:
        steps = key.split(".")
        lines = [f"{'  ' * depth}{step}:" for depth, step in enumerate(steps)]
        Path("settings.yaml").write_text("\n".join(lines) + f" {text}\n")
        assert refusal(lambda: load_config("settings.yaml")) == f"settings.yaml:{len(steps)}: {key}: {complaint}"
        assert refusal(lambda: load_config({}, [f"{key}={text}"])) == f"--set {key}: {complaint}"
    flag = flags(COMMANDS[home.command]).get(name)
    if flag is not None and not flag.is_flag:
        given = ["--set", f"{flag.key}={text}"] if isinstance(flag, KeyOption) else [flag.opts[-1], text]
        done = command(*home.command.split(), *home.words.split(), *given)
        assert done.code == 64
        expected = complaint.replace("auto, ", "")  # which no one has to write
        assert expected in " ".join(done.err.split()).replace("auto, ", "")


def test_every_declared_option_of_a_command_is_tested_here() -> None:
    """Those of the command line alone are only declared there: what is shown, saved and written."""
    known = {one.setting.help for cls in (*HOMES, View) for one in declared(cls).values()}
    others = {
        one.opts[-1]
        for command in COMMANDS.values()
        for one in flags(command).values()
        if (found := getattr(one, "declaration", None)) is not None and found.setting.help not in known
        and found.element.expected not in ("a text", "a path", "true or false")
    }  # fmt: skip
    assert others == {
        "--k",
        "--latency",
        "--set output.changes",
        "--format",
    }  # of another command, with a meaning of their own


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
        ("gate.allow=no", "no"),
        ("gate.allow=1e3", "1e3"),
        ("gate.allow=0123", "0123"),
        ("gate.allow={query}", "{query}"),
        ("gate.allow= a #b", " a #b"),
        ("gate.margin=1e-2", 0.01),
        ("gate.require=[RR>0.5, 'nDCG@10>=0.3']", ["RR>0.5", "nDCG@10>=0.3"]),
        ("gate.require=RR>0.5", ["RR>0.5"]),
        ("gate.baseline=before.jsonl", ["before.jsonl"]),
        ("gate.baseline=[a.run, 'b, c.run']", ["a.run", "b, c.run"]),
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
    assert declaration.kind in NOUNS
    assert set(KINDS.values()) <= set(NOUNS)
    assert declaration.setting.limits in LIMITS
    assert re.fullmatch(r"[^[]+[.…](  \[default: [^\]]+\])?", declaration.setting.help)


def test_a_key_of_a_retriever_is_refused_where_no_retriever_runs(tmp_path: Path, command: Command) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    for words in (["evaluate", tmp_path / "q", tmp_path / "r"], ["diff", tmp_path / "r", tmp_path / "r"]):
        done = command(*words, "--set", "retriever.k1=0.9")
        assert (done.code, "does not use this key" in done.err) == (64, True)
        assert "`rankgauge runs fetch`" in done.err
