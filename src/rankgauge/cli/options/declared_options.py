"""Options: declared settings and others, with their section of ``--help``; groups of them; ``--config`` and ``--set``.

The names, help, defaults and limits of a declared option come from its declaration (``core/settings.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankgauge.core.settings import ELEMENTS, Declared, Section, Setting, declared
from rankgauge.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from rankgauge.config.schema import Config

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic in newer versions of click only

Command = Callable[..., Any]
Option = Callable[[Command], Command]


class SectionOption(click.Option):
    """An option that says in which section ``--help`` lists it, or whether only ``--help-all`` does.

    ``declaration`` is that of the setting it was made from; None for an option that is written by hand.
    """

    def __init__(
        self,
        *args: Any,
        section: Section = Section.OTHER,
        is_common: bool = True,
        declaration: Declared | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.section, self.is_common, self.declaration = section, is_common, declaration


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


def option_names_given() -> list[str]:
    """The parameters of the current command that the user gave."""
    return [name for one in click.get_current_context().command.params if (name := one.name) and is_given(name)]


def flag_of(name: str) -> str:
    """The flag by which the current command takes a parameter."""
    return next(one.opts[-1] for one in click.get_current_context().command.params if one.name == name)


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

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The choices that begin with what is typed."""
        from click.shell_completion import CompletionItem

        choices = [choice for choice in self.declaration.setting.choices if choice != "auto"]
        return [CompletionItem(choice) for choice in choices if choice.startswith(incomplete)]


def declared_options(
    cls: type, *names: str, common: Sequence[str] | None = None, choices: Sequence[str] = (), help: str = ""
) -> tuple[Option, ...]:
    """The options of a class: of some of its settings, or of all that have one.

    ``common`` names those that ``--help`` shows in this command, if the declaration does not fit it. ``choices`` are
    those that the command has of a single setting, ``help`` is what that does there, if it is not the same everywhere.
    """
    settings = declared(cls)
    chosen = (
        [settings[name] for name in names] if names else [one for one in settings.values() if one.setting.flag != "-"]
    )
    if choices:
        default = [choice for choice in chosen[0].setting.choices if choice == "auto"]
        chosen = [one._replace(setting=one.setting._replace(choices=(*default, *choices))) for one in chosen]
    if help:
        chosen = [one._replace(setting=one.setting._replace(help=help)) for one in chosen]
    return tuple(_option(one, one.setting.is_common if common is None else one.name in common) for one in chosen)


def _option(declaration: Declared, is_common: bool) -> Option:
    setting, default = declaration.setting, declaration.default
    flags, metavar = option_flags(declaration.name, setting, is_flag=declaration.kind == "bool")
    attributes: dict[str, Any] = {"section": setting.section, "rare": not is_common, "help": setting.help}
    attributes |= {"default": default, "declaration": declaration}
    if declaration.kind == "bool":
        is_default_shown = "/" in flags[0] and default is not None
        return option(*flags, declaration.name, is_flag=True, show_default=is_default_shown, **attributes)
    choices = [choice for choice in setting.choices if choice != "auto"]
    attributes["metavar"] = metavar if metavar or not choices else f"[{'|'.join(choices)}]"
    attributes["multiple"] = declaration.kind in ELEMENTS
    attributes["show_default"] = default not in (None, ()) and "[default:" not in setting.help
    kind = click.Path() if declaration.element.kind == "path" else DeclaredValue(declaration.element)
    return option(*flags, declaration.name, type=kind, **attributes)


def option_flags(name: str, setting: Setting, *, is_flag: bool) -> tuple[list[str], str | None]:
    """The flags of a setting and what its value is called: ``-l/--rel GRADE`` has two, ``--on/--off`` is one."""
    if not setting.flag:
        return [f"--{name.replace('_', '-')}"], None
    flags, _, metavar = setting.flag.partition(" ")
    is_pair = is_flag and flags.startswith("--")
    return [flags] if is_pair else flags.split("/"), metavar or None


RETRIEVER_PREFIX = "retriever."  # of a key of the retriever that a command runs, whatever its name
CONFIG = option(
    "--config",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read settings from a rankgauge.yaml; command-line options override the file.",
)
SET = option(
    "--set",
    "sets",
    section=Section.INPUT,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml: statistics.seed=7; repeatable.",
)


CONFIG_OPTIONS = (CONFIG, SET)
RARE_SET = option(
    "--set",
    "sets",
    section=Section.FILES,
    rare=True,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml, such as reading.max_line=8M; repeatable.",
)
RETRIEVER_SET = option(
    "--set",
    "sets",
    section=Section.RETRIEVER,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the retriever, such as retriever.k1=0.9, or any key of rankgauge.yaml; repeatable.",
)


def configuration() -> Config | None:
    """The configuration that the current command has from its file and from ``--set``; None without either.

    Keys that begin with ``retriever.`` are left to commands that run a retriever.
    """
    context = click.get_current_context()
    path = context.params.get("config") or context.params.get("config_file")
    given = context.params.get("sets") or ()
    sets = [text for text in given if not text.startswith(RETRIEVER_PREFIX)]
    if len(sets) < len(given) and not _runs_retriever(context.command):
        raise UsageError(
            f"`{context.command_path}` runs no retriever of its own, so --set retriever.… has no effect",
            hint="use it with `rankgauge runs fetch` or `rankgauge benchmark run`",
        )
    if path is None and not sets:
        return None
    if "configuration" not in context.meta:
        from rankgauge.config.config_file import load_config

        context.meta["configuration"] = load_config({} if path is None else path, sets)
    config: Config = context.meta["configuration"]
    return config


def _runs_retriever(command: click.Command) -> bool:
    """Whether ``--set`` of a command takes keys of the retriever that it runs."""
    return any(isinstance(one, SectionOption) and one.name == "sets" and one.section is Section.RETRIEVER
               for one in command.params)  # fmt: skip


def configuration_folder() -> Path | None:
    """The folder that relative paths of the configuration start from."""
    context = click.get_current_context()
    path = context.params.get("config") or context.params.get("config_file")
    return None if path is None else Path(path).parent


def retriever_values() -> dict[str, Any]:
    """The keys of the retriever that ``--set retriever.KEY=VALUE`` sets."""
    sets = click.get_current_context().params.get("sets") or ()
    chosen = [text for text in sets if text.startswith(RETRIEVER_PREFIX)]
    if not chosen:
        return {}
    from rankgauge.config.config_file import with_sets
    from rankgauge.config.retriever_sections import RetrieverSection

    return with_sets(RetrieverSection, {}, chosen, RETRIEVER_PREFIX)
