"""Every option comes from the declaration of a setting, except for those listed here, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from rankgauge.cli.options.declared_options import KeyOption, SectionOption
from tests.cli.test_help import COMMANDS

# An option written by hand may have a default, limits or choices only if nothing else in the project states them.
OWN_VALUES = {
    "demo --out": "a folder of one command",
    "benchmark run --out": "a folder of one command",
    "evaluate --engine": "chooses between two implementations; no class has it",
    "init --ci": "the choices are the workflows that init has templates of",
    "convert --kind": "the choices are the two kinds of files, judgments and runs",
    "runs validate --preset": "the choices are the names of the table of presets",
    "fuse --k": "an argument of a function that has no class",
    "index --batch": "an argument of a function that has no class, whose default it shows",
    "pipeline --measure": "an argument of a function that has no class, whose default it shows",
    "history trend --measure": "an argument of a function that has no class; the first default measure",
    "history list --last": "how many lines one command prints",
    "history check --since": "a filter of entries, which elsewhere has no default",
}
# Without a default, limits and choices there is nothing to state twice.
FILES = set(
    "--chunks --config --copy --corpus --dev --fix --html --index --judged --labels --log --machine --manifest --out "
    "--pool --qrels --queries --reuse --stamp --summary --test --to".split()
)
SWITCHES = set("--escape-formulas --force --no-code --plain --rag --rebuild".split())
TEXTS = set(
    "--assessor --column --from --install --judge --kpi --retriever --search --set --tag --to --weights".split()
)


def is_key(option: click.Option) -> bool:
    """Whether it is a key of the configuration, whose section declares it."""
    return isinstance(option, KeyOption)


def written_by_hand() -> Iterator[tuple[str, click.Option]]:
    for name, command in COMMANDS.items():
        for one in command.params:
            is_declared = isinstance(one, SectionOption) and one.declaration is not None
            if isinstance(one, click.Option) and not is_declared and one.name != "help_all" and not is_key(one):
                yield f"{name} {one.opts[-1]}", one


HAND_WRITTEN = dict(written_by_hand())


def has_own_values(option: click.Option) -> bool:
    """Whether an option states a default, limits or choices."""
    has_limits = not option.is_flag and not isinstance(option.type, click.Path) and option.type is not click.STRING
    return has_limits or (isinstance(option.default, (str, int, float)) and option.default is not False)


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_an_option_written_by_hand_is_listed_with_its_reason(name: str) -> None:
    option = HAND_WRITTEN[name]
    if has_own_values(option):
        assert name in OWN_VALUES, "declare it as a setting of the class that uses it"
    elif option.is_flag:
        assert option.opts[-1] in SWITCHES
    else:
        assert option.opts[-1] in (FILES if isinstance(option.type, click.Path) else TEXTS)


def test_the_lists_have_nothing_that_is_gone() -> None:
    assert {name for name, option in HAND_WRITTEN.items() if has_own_values(option)} == set(OWN_VALUES)
    assert {option.opts[-1] for option in HAND_WRITTEN.values()} >= FILES | SWITCHES | TEXTS


def test_most_options_are_declared() -> None:
    options = [one for command in COMMANDS.values() for one in command.params if isinstance(one, click.Option)]
    assert len(options) > 3.5 * len(HAND_WRITTEN)
