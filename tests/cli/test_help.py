"""Help: commands by task, options in sections, and examples that run."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from rankgauge.cli.command_tree import MAX_IN_ONE_SECTION, TASKS, DocumentedCommand, LazyGroup, cli, is_common
from rankgauge.cli.options.declared_options import KeyOption
from rankgauge.core.settings import Section
from tests.cli.example_files import BEFORE, NOT_RUN, write_example_files

Command = Callable[..., Any]
OWN_HELP = "trec_eval"  # prints that of the program it replaces


def walk(group: LazyGroup, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.lazy:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, LazyGroup):
            yield from walk(command, (*words, name))


ALL = {" ".join(words): command for words, command in walk(cli) if words != (OWN_HELP,)}
GROUPS = [name for name, command in ALL.items() if isinstance(command, LazyGroup)]
COMMANDS = {name: command for name, command in ALL.items() if isinstance(command, DocumentedCommand)}


def test_every_command_is_documented() -> None:
    assert set(ALL) == {*GROUPS, *COMMANDS}


@pytest.mark.parametrize("name", ["", *ALL])
def test_help_fits_80_columns_and_is_printed_on_standard_output(name: str, command: Command) -> None:
    outcome = command(*name.split(), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert max(map(len, outcome.out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["", *GROUPS])
def test_a_bare_group_prints_its_help(name: str, command: Command) -> None:
    bare, asked = command(*name.split()), command(*name.split(), "--help")
    assert (bare.code, bare.out, bare.err) == (0, asked.out, "")


@pytest.mark.parametrize("words", [("--nosuch",), ("nosuch",), ("runs", "nosuch"), ("runs", "--nosuch")])
def test_an_unknown_word_is_still_an_error(words: tuple[str, ...], command: Command) -> None:
    outcome = command(*words)
    assert (outcome.code, outcome.out) == (64, "")
    assert "nosuch" in outcome.err


def test_commands_are_listed_by_task(command: Command) -> None:
    lines = command("--help").out.splitlines()
    places = [lines.index(f"{task}:") for task in TASKS]
    assert places == sorted(places)
    for place, commands in zip(places, TASKS.values(), strict=True):
        first = next(iter(commands))
        assert lines[place + 1].startswith(f"  {first} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_options_are_in_sections_if_there_are_many(name: str) -> None:
    command = COMMANDS[name]
    sections = dict(command.option_sections(click.Context(command)))
    count = sum(map(len, sections.values())) - 1
    if count <= MAX_IN_ONE_SECTION:
        assert list(sections) == ["Options"]
        return
    assert len(sections) >= 3
    others = [flag for flag, _ in sections[Section.OTHER.value]]
    assert set(others) <= {"--help-all", "--help", "-h, --help"}, "an option has no section"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_help_all_lists_every_option(name: str, command: Command) -> None:
    """At most 20 options in at most 70 lines; an option is in exactly one of both lists, or in both."""
    short, parameters = command(*name.split(), "--help").out, COMMANDS[name].params
    options = [one for one in parameters if isinstance(one, click.Option) and not isinstance(one, KeyOption)]
    keys = [one for one in parameters if isinstance(one, KeyOption)]
    listed = [one for one in options if is_common(one) and one.name != "help_all"]
    assert len(listed) <= 20
    assert len(short.splitlines()) <= 70
    rare = [one for one in options if not is_common(one)]
    assert ("--help-all" in short) == bool(rare or keys)
    if rare or keys:
        long = command(*name.split(), "--help-all").out
        assert all(flag in long for one in options for flag in one.opts)
        assert all(one.record[0] in long for one in keys)
        assert not any(f"\n  {flag}" in short for one in rare for flag in one.opts if flag not in ("--set", "--tag"))


def examples_of(command: DocumentedCommand) -> list[str]:
    text = command.examples.replace("\\\n", "")
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_two_or_three_examples_of_itself(name: str) -> None:
    examples = examples_of(COMMANDS[name])
    assert 2 <= len(examples) <= 3
    assert f"rankgauge {name}" in examples[0]
    assert COMMANDS[name].examples.count("# ") == len(examples)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NOT_RUN])
def test_the_examples_run(name: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    write_example_files()
    if name == "init":
        Path("rankgauge.yaml").unlink()
    for line in (*BEFORE.get(name, ()), *examples_of(COMMANDS[name])):
        outcome = command(*shlex.split(line)[1:])
        assert outcome.code == 0, (line, outcome.err)
