"""Declared settings as options of the command line: names, help, defaults and limits come from the declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli.options.groups import Option, option
from rankgauge.core.settings import Declared, Setting, declared

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic in newer versions of click only


class DeclaredValue(ParamType):
    """A value that fits its declaration; any other is refused in its words."""

    def __init__(self, declaration: Declared) -> None:
        self.declaration = declaration
        self.name = declaration.kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a text, and refuse what does not fit."""
        parsed = self.declaration.parse(value) if isinstance(value, str) else value
        complaint = self.declaration.complaint(parsed)
        if complaint is not None:
            self.fail(complaint, param, ctx)
        return parsed


def declared_options(
    cls: type, *names: str, common: Sequence[str] | None = None, choices: Sequence[str] = ()
) -> tuple[Option, ...]:
    """The options of a class: of some of its settings, or of all that have one.

    ``common`` names those that ``--help`` shows in this command, if the declaration does not fit it; ``choices`` are
    those that the command has of a single setting.
    """
    settings = declared(cls)
    chosen = (
        [settings[name] for name in names] if names else [one for one in settings.values() if one.setting.flag != "-"]
    )
    return tuple(
        _option(one, one.setting.is_common if common is None else one.name in common, choices) for one in chosen
    )


def _option(declaration: Declared, is_common: bool, choices: Sequence[str]) -> Option:
    setting = declaration.setting
    flags, metavar = option_flags(declaration.name, setting, is_flag=declaration.kind == "bool")
    attributes: dict[str, Any] = {"section": setting.section, "rare": not is_common, "help": setting.help}
    if declaration.kind == "bool":
        is_pair = "/" in flags[0]
        attributes |= {"default": declaration.default, "is_flag": True, "show_default": is_pair}
        return option(*flags, declaration.name, **attributes)
    attributes |= {"default": declaration.default, "metavar": metavar}
    has_default = declaration.default is not None and "[default:" not in setting.help
    attributes["show_default"] = has_default
    kind: Any = DeclaredValue(declaration)
    shown_choices = choices or [choice for choice in setting.choices if choice != "auto"]
    if shown_choices:
        attributes["metavar"] = f"[{'|'.join(shown_choices)}]"
        if choices:
            kind = DeclaredValue(declaration._replace(setting=setting._replace(choices=("auto", *choices))))
    return option(*flags, declaration.name, type=kind, **attributes)


def option_flags(name: str, setting: Setting, *, is_flag: bool) -> tuple[list[str], str | None]:
    """The flags of a setting and what its value is called: ``-l/--rel GRADE`` has two, ``--on/--off`` is one."""
    if not setting.flag:
        return [f"--{name.replace('_', '-')}"], None
    flags, _, metavar = setting.flag.partition(" ")
    return [flags] if is_flag else flags.split("/"), metavar or None
