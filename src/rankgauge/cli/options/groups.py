"""Options that know their section of ``--help``, and groups of options that a command receives as one object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from rankgauge.core.settings import Section

Command = Callable[..., Any]
Option = Callable[[Command], Command]


class SectionOption(click.Option):
    """An option that says in which section ``--help`` lists it, or whether only ``--help-all`` does."""

    def __init__(self, *args: Any, section: Section = Section.OTHER, is_common: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section, self.is_common = section, is_common


def option(*names: str, section: Section, rare: bool = False, **attributes: Any) -> Option:
    """Like ``click.option``, with a section of ``--help``; a rare option is listed by ``--help-all`` only."""
    return click.option(*names, cls=SectionOption, section=section, is_common=not rare, **attributes)


def out_option(help: str) -> Option:
    """``-o FILE``, which a command that only writes a file cannot do without."""
    return option("-o", "--out", section=Section.OUTPUT, required=True, type=click.Path(), metavar="FILE", help=help)


def option_group(name: str, make: Callable[..., Any], *options: Option) -> Option:
    """Add options to a command, which receives ``make(**their values)`` as its argument ``name``."""
    names = option_names(*options)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **values: Any) -> Any:
            own = {key: values.pop(key) for key in names}
            return command(*args, **values, **{name: make(**own)})

        return with_options(wrapped, *options)

    return decorate


def with_options(command: Command, *options: Option) -> Command:
    """A command with options, in the order in which its help lists them."""
    for add in reversed(options):
        command = add(command)
    return command


def option_names(*options: Option) -> list[str]:
    """The names under which a command receives the values of options."""

    def probe() -> None: ...

    with_options(probe, *options)
    parameters: list[click.Parameter] = getattr(probe, "__click_params__", [])
    return [parameter.name for parameter in parameters if parameter.name is not None]


def is_given(name: str) -> bool:
    """Whether the user gave a parameter of the current command, rather than leaving its default."""
    return click.get_current_context().get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
