"""Every setting has its effect in ``evaluate``, ``compare``, ``gate`` and ``benchmark run``, or is refused.

The four commands get the same rankings: three of them from run files, the benchmark from functions that return them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, evaluate
from rankgauge.config.schema import MeasuresSection, StatisticsSection
from tests.conftest import Outcome

Command = Callable[..., Outcome]
COMMANDS = ("evaluate", "compare", "gate", "benchmark")
GRADES = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1, "c": 2}, "q3": {"b": 1}, "q4": {"c": 0}, "q5": {"d": 3, "e": 1}}
RANKINGS = {
    "one": {"q1": ["b", "a"], "q2": ["x", "a", "c"], "q3": ["b"], "q4": ["c", "a"], "q5": ["x", "e", "d"]},
    "two": {"q1": ["a", "b"], "q2": ["c", "x", "a"], "q3": ["x", "b"], "q4": ["a", "c"]},  # nothing for q5
}
KINDS = {"q1": "x", "q2": "y", "q3": "x", "q4": "y", "q5": "x"}
NAMES = "names: [nDCG@10, RR]"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with judgments, queries, two runs, and functions that return the same rankings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_files(RANKINGS)
    yield tmp_path
    sys.modules.pop("own_search", None)


def write_files(rankings: dict[str, dict[str, list[str]]]) -> None:
    judged = "".join(f"{query} 0 {doc} {grade}\n" for query, docs in GRADES.items() for doc, grade in docs.items())
    Path("qrels").write_text(judged)
    rows = (json.dumps({"_id": query, "text": query, "kind": KINDS[query]}) for query in GRADES)
    Path("queries.jsonl").write_text("\n".join(rows) + "\n")
    for name, ranking in rankings.items():
        lines = (
            f"{query} Q0 {doc} {rank} {100 - rank} {name}\n"
            for query, docs in ranking.items()
            for rank, doc in enumerate(docs, start=1)
        )
        Path(name).write_text("".join(lines))
    functions = [f"def {name}(text): return {ranking!r}.get(text, [])\n" for name, ranking in rankings.items()]
    Path("own_search.py").write_text("".join(functions))
    sys.modules.pop("own_search", None)


def configuration(measures: str = NAMES, statistics: str = "", reading: str = "") -> Path:
    """A ``rankgauge.yaml`` with these keys, that every command can read."""
    path = Path("rankgauge.yaml")
    path.write_text(
        f"measures: {{{measures}}}\n"
        f"statistics: {{{statistics}}}\n"
        f"reading: {{{reading}}}\n"
        "kpi: none\n"
        "collection: {queries: queries.jsonl, qrels: qrels}\n"
        "retrievers: {one: {mode: 'own_search:one'}, two: {mode: 'own_search:two'}}\n"
        "benchmark: {k: 10, latency: 0}\n"
    )
    return path


def call(command: Command, name: str, config: Path, *options: str, format: str = "json") -> Outcome:
    """Run one of the four commands on the same data."""
    if name == "benchmark":
        return command("benchmark", "run", config, "--restart", "-o", "out", *options)
    words: dict[str, tuple[str, ...]] = {
        "evaluate": ("evaluate", "qrels", "one", "two", "--queries", "queries.jsonl"),
        "compare": ("compare", "qrels", "one", "two", "--queries", "queries.jsonl"),
        "gate": ("gate", "qrels", "two", "--baseline", "one"),
    }
    return command(*words[name], "--config", config, "--format", format, *options)


def data_of(command: Command, name: str, config: Path, *options: str) -> dict[str, Any]:
    """The JSON of one of the four commands: scores, and below them what else there is."""
    done = call(command, name, config, *options)
    assert done.code in (0, 1), done.err  # a gate may fail
    if name != "benchmark":
        return dict(json.loads(done.out))
    report = json.loads(Path("out/BenchmarkReport.json").read_bytes())
    return {**report["scores"], "comparison": report["comparison"]}


def values_of(data: dict[str, Any]) -> dict[str, float | None]:
    """The values of the run ``two``."""
    run = next(run for run in data["runs"] if run["name"] == "two")
    return {name: result["value"] for name, result in run["measures"].items()}


CONVENTIONS = {  # key of the section measures → the section, and the same on the command line
    "names": ("names: [nDCG@10, P@2]", ("-m", "nDCG@10", "-m", "P@2")),
    "graded": (
        f"{NAMES}, graded: false",
        (
            "--set",
            "measures.graded=false",
        ),
    ),
    "rel": (f"{NAMES}, rel: 2", ("--rel", "2")),
    "compat": (f"{NAMES}, compat: trec_eval-10", ("--set", "measures.compat=trec_eval-10")),
    "query_set": (f"{NAMES}, query_set: both", ("--set", "measures.query_set=both")),
    "no_relevant": (f"{NAMES}, no_relevant: skip", ("--set", "measures.no_relevant=skip")),
    "split": (f"{NAMES}, split: test", ("--set", "measures.split=test")),
    "min_score": (f"{NAMES}, min_score: 0.5", ("--set", "measures.min_score=0.5")),
    "forbid": (f"{NAMES}, forbid: [id = none]", ("--forbid", "id = none")),
}
TESTS = {  # key of the section statistics → its value, and the words that describe it
    "test": ("t", "t test"),
    "resamples": (500, "500 resamples"),
    "seed": (7, "seed 7"),
}
ONLY_EVALUATE = ("confidence_intervals", "significance_testing")  # the other commands always show both


def test_every_key_of_the_two_sections_is_tested_here() -> None:
    assert set(MeasuresSection.model_fields) == set(CONVENTIONS)
    assert set(StatisticsSection.model_fields) == {
        *TESTS,
        *ONLY_EVALUATE,
        "confidence",
        "baseline",
        "by",
        "rope",
        "target_difference",
    }


@pytest.mark.slow
@pytest.mark.parametrize("key", CONVENTIONS)
def test_a_key_of_measures_has_the_same_effect_in_all_commands_and_as_an_option(
    key: str, command: Command, files: Path
) -> None:
    section, options = CONVENTIONS[key]
    results = []
    # A retriever that returns nothing was asked: to a benchmark, its query is in the run, which a file cannot say.
    for name in COMMANDS if key != "query_set" else [one for one in COMMANDS if one != "benchmark"]:
        default = data_of(command, name, configuration())
        results += [
            data_of(command, name, configuration(), *options),
            data_of(command, name, configuration(section)),
        ]
        for data in results[-2:]:
            assert (values_of(data), data["conventions"]) != (values_of(default), default["conventions"]), name
    for data in results[1:]:
        assert data["conventions"] == results[0]["conventions"]
        assert values_of(data) == values_of(results[0])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_the_conventions(name: str, command: Command, files: Path) -> None:
    for done in (
        call(command, name, configuration(), "--rel", "2", format="table"),
        call(command, name, configuration(f"{NAMES}, rel: 2"), format="table"),
    ):
        assert str(Conventions(rel=2)) in done.out
        assert "relevant from grade 2" in done.out
        assert "RR(rel=2)" in done.out


def test_a_document_that_a_retriever_returns_twice_is_counted_once_and_reported(command: Command, files: Path) -> None:
    expected = values_of(data_of(command, "benchmark", configuration()))
    write_files({**RANKINGS, "two": {**RANKINGS["two"], "q1": [doc for doc in RANKINGS["two"]["q1"] for _ in "12"]}})
    done = call(command, "benchmark", configuration())
    assert "warning: two: 2 results repeat an id of the same query: counted once, at the first rank" in done.err
    assert values_of(data_of(command, "benchmark", configuration())) == expected


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "benchmark"])
def test_a_document_that_appears_twice_is_refused_or_counted_once(name: str, command: Command, files: Path) -> None:
    write_files({**RANKINGS, "two": {**RANKINGS["two"], "q1": ["a", "b", "a"]}})
    refused = call(command, name, configuration())
    assert refused.code == 2
    assert "'a'" in refused.err
    for data in (
        data_of(command, name, configuration(), "--set", "reading.on_duplicate=first"),
        data_of(command, name, configuration(), "--set", "reading.on_duplicate=first"),
        data_of(command, name, configuration(reading="on_duplicate: first")),
    ):
        write_files(RANKINGS)
        assert values_of(data) == values_of(data_of(command, name, configuration()))
        write_files({**RANKINGS, "two": {**RANKINGS["two"], "q1": ["a", "b", "a"]}})


def option_of(key: str, value: object) -> tuple[str, str]:
    """How a command line sets a key of the section statistics."""
    return ("--test", str(value)) if key == "test" else ("--set", f"statistics.{key}={value}")


@pytest.mark.slow
@pytest.mark.parametrize("key", TESTS)
def test_a_key_of_statistics_configures_the_tests_of_all_commands(key: str, command: Command, files: Path) -> None:
    value, description = TESTS[key]
    three = "names: [nDCG@10, RR, R@2]"  # two secondary measures, so that there is something to correct
    results = {
        name: data_of(command, name, configuration(three, f"significance_testing: true, {key}: {value}"))
        for name in COMMANDS
    }
    options = {
        name: data_of(command, name, configuration(three), *option_of(key, value))
        for name in ("compare", "gate", "benchmark")
    }
    for data in (results["gate"], options["gate"]):
        assert data["gate"][key] == value
    comparisons = [
        data["comparison"] for name, data in {**results, "of options": options["compare"]}.items() if name != "gate"
    ] + [options["benchmark"]["comparison"]]
    for comparison in comparisons:
        assert description in comparison["family"]
        assert comparison["differences"] == comparisons[0]["differences"]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_confidence_is_that_of_the_configuration_or_of_the_option(name: str, command: Command, files: Path) -> None:
    for data in (
        data_of(command, name, configuration(statistics="confidence_intervals: true, confidence: 0.9")),
        data_of(command, name, configuration(statistics="confidence_intervals: true"), "--confidence", "0.9"),
    ):
        if name == "gate":
            assert data["gate"]["confidence"] == 0.9
        if name in ("compare", "benchmark"):
            assert data["comparison"]["confidence"] == 0.9
            assert data["comparison"]["differences"][0]["ci"]["confidence"] == 0.9
        if name in ("evaluate", "benchmark"):
            assert data["runs"][1]["measures"]["RR"]["ci"]["confidence"] == 0.9


@pytest.mark.slow
def test_evaluate_shows_intervals_and_tests_if_asked_and_the_others_always(command: Command, files: Path) -> None:
    for key in ONLY_EVALUATE:
        for name in COMMANDS:
            with_key, without = (
                data_of(command, name, configuration(statistics=f"{key}: {value}")) for value in ("true", "false")
            )
            assert (with_key == without) is (name != "evaluate"), (key, name)
    plain = data_of(command, "evaluate", configuration(statistics="confidence_intervals: false"))
    assert "comparison" not in plain
    assert "ci" not in plain["runs"][0]["measures"]["RR"]


@pytest.mark.parametrize("name", ["evaluate", "compare", "benchmark"])
def test_the_baseline_and_the_groups_are_those_of_the_configuration(name: str, command: Command, files: Path) -> None:
    statistics = "significance_testing: true, baseline: two, by: kind"
    data = data_of(command, name, configuration(statistics=statistics))
    assert data["comparison"]["baseline"] == "two"
    assert {(row["by"], row["label"]) for row in data["comparison"]["groups"]} == {("kind", "x"), ("kind", "y")}
    if name != "compare":
        assert {(row["by"], row["label"]) for row in data["runs"][0]["by"]} == {("kind", "x"), ("kind", "y")}


def test_a_gate_refuses_the_name_of_a_baseline(command: Command, files: Path) -> None:
    done = call(command, "gate", configuration(statistics="baseline: two"))
    assert (done.code, done.out) == (64, "")
    assert "error: rankgauge.yaml: `rankgauge gate` cannot use statistics.baseline\nhint: " in done.err


def test_a_baseline_may_be_called_by_its_file_in_evaluate_too(command: Command, files: Path) -> None:
    Path("two").rename("second.trec")
    config = configuration(statistics="significance_testing: true, baseline: second.trec")
    for name in ("evaluate", "compare"):
        done = command(name, "qrels", "one", "second.trec", "--config", config, "--format", "json")
        assert json.loads(done.out)["comparison"]["baseline"] == "two"


def test_options_without_effect_are_refused(command: Command, files: Path) -> None:
    done = command("evaluate", "qrels", "one", "--confidence", "0.9")
    assert (done.code, done.out) == (64, "")
    assert "--confidence is for intervals and tests, and none are shown\nhint: show intervals with --ci" in done.err
    done = command("gate", "qrels", "one", "--require", "RR>0.1", "-m", "nDCG@10")
    assert (done.code, done.out) == (64, "")
    assert "-m names measures to compare with a baseline" in done.err


def test_tests_of_a_single_run_are_missed_aloud(command: Command, files: Path) -> None:
    done = command("evaluate", "qrels", "one", "--config", configuration(statistics="significance_testing: true"))
    assert done.code == 0
    assert "warning: significance tests need at least two runs, found 1 [no-tests]" in done.err


def test_an_empty_list_of_groups_turns_the_default_groups_of_a_benchmark_off(command: Command, files: Path) -> None:
    assert data_of(command, "benchmark", configuration())["comparison"]["groups"] != []
    assert data_of(command, "benchmark", configuration(statistics="by: []"))["comparison"]["groups"] == []


def test_the_correction_of_a_gate_fits_its_test(command: Command, files: Path) -> None:
    gates = {options: data_of(command, "gate", configuration(), *options)["gate"] for options in [(), ("--test", "t")]}
    assert [data["correction"] for data in gates.values()] == ["max-t", "Holm"]


def words_of(name: str) -> tuple[str, ...]:
    """The words of one of the four commands without a configuration."""
    return {
        "evaluate": ("evaluate", "qrels", "one", "two", "--format", "json"),
        "compare": ("compare", "qrels", "one", "two", "--format", "json"),
        "gate": ("gate", "qrels", "two", "--baseline", "one", "--format", "json"),
        "benchmark": ("benchmark", "run", "--restart", "-o", "out"),
    }[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_configuration_of_the_working_folder_is_used_by_all_commands_and_named(
    name: str, command: Command, files: Path
) -> None:
    config = configuration("names: [P@2], rel: 2, graded: true", "seed: 0, confidence: 0.9")
    found = command(*words_of(name))
    more = ", collection, retrievers, benchmark.k, benchmark.latency" if name == "benchmark" else ""
    keys = f"measures.names, measures.rel, statistics.confidence{more}"
    assert found.code in (0, 1)
    assert f"note: settings from rankgauge.yaml: {keys} (--config none ignores it)\n" in found.err
    if name != "benchmark":
        named = command(*words_of(name), "--config", config)
        assert named.out == found.out
        assert "settings from" not in named.err
        assert set(values_of(json.loads(found.out))) == {"P(rel=2)@2"}
        without = command(*words_of(name), "--config", "none")
        assert "P(rel=2)@2" not in without.out
        assert "settings from" not in without.err


def test_a_benchmark_of_labels_and_results_takes_its_settings_from_the_working_folder(
    command: Command, files: Path
) -> None:
    configuration("names: [P@2]")
    words = ("benchmark", "run", "qrels", "one", "own_search:two", "--queries", "queries.jsonl", "-o", "out")
    done = command(*words)
    line = "note: settings from rankgauge.yaml: measures.names, benchmark.k, benchmark.latency (--config none"
    assert line in done.err
    report = json.loads(Path("out/BenchmarkReport.json").read_bytes())
    assert [run["name"] for run in report["scores"]["runs"]] == ["one", "two"]
    assert set(values_of(report["scores"])) == {"P@2"}
    plain = command(*words, "--config", "none")
    assert plain.code == 1, plain.err
    report = json.loads(Path("out/BenchmarkReport.json").read_bytes())
    assert set(values_of(report["scores"])) != {"P@2"}


def test_only_the_file_of_the_working_folder_is_found(
    command: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration("names: [P@2]")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    done = command("evaluate", "../qrels", "../one")
    assert (done.code, "P@2" in done.out, "settings from" in done.err) == (0, False, False)


@pytest.mark.parametrize("words", ["measures P", "convert one - --to jsonl", "trec_eval -m P.2 qrels one"])
def test_other_commands_and_python_read_no_configuration(words: str, command: Command, files: Path) -> None:
    expected = command(*words.split())
    Path("rankgauge.yaml").write_text("measures: {names: [nosuch]}\n")
    found = command(*words.split())
    assert (found.code, found.out, found.err) == (0, expected.out, expected.err)
    assert "nosuch" not in map(str, evaluate("qrels", "one").measures)


def test_a_wrong_key_in_the_working_folder_is_an_error_with_its_line(command: Command, files: Path) -> None:
    Path("rankgauge.yaml").write_text("statistics:\n  confidance: 0.9\n")
    done = command("evaluate", "qrels", "one")
    assert (done.code, done.out) == (2, "")
    assert "rankgauge.yaml:2: " in done.err
    assert command("evaluate", "qrels", "one", "--config", "none").code == 0


def test_no_code_refuses_what_the_configuration_of_the_working_folder_names(command: Command, files: Path) -> None:
    Path("rankgauge.yaml").write_text("gate: {baseline: ['own_search:one'], measures: [RR]}\n")
    done = command("gate", "qrels", "two", "--queries", "queries.jsonl", "--no-code")
    assert done.code == 64
    assert "--no-code" in done.err
