"""Options: declared settings and others, with their section of ``--help``; groups of them; ``--config`` and ``--set``.

The names, help, defaults and limits of a declared option come from its declaration (``core/settings.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankgauge.core.settings import ELEMENTS, Declared, Kind, Section, Setting, declared
from rankgauge.errors import UsageError, printable

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

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """The value that is given, or that of the key that says the same of a live retriever."""
        value, source = super().consume_value(ctx, opts)
        key = next((key for key in keys_of(self) if key.startswith(RETRIEVER_PREFIX)), None)
        if key is None or source is not ParameterSource.DEFAULT:
            return value, source
        return value_of_key(ctx, key) or (value, source)


class KeyOption(SectionOption):
    """A key of the configuration that a command uses and has no flag for: only ``--set`` and the file set it."""

    def __init__(self, name: str, key: str, default: Any, help: str, *, declaration: Declared | None = None) -> None:
        self.key, _, self.value_name = key.partition("=")
        self.value = default  # click has a mark of its own for none
        super().__init__(
            [name], type=click.UNPROCESSED, default=default, help=help, declaration=declaration, hidden=True
        )

    def _parse_decls(self, decls: Sequence[str], expose_value: bool) -> tuple[str, list[str], list[str]]:
        return decls[0], [f"--set {self.key}"], []

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Nothing: no word of the command line is this option."""

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """The value that ``--set`` gives the key, or that of the file, or the default."""
        found, source = value_of_key(ctx, self.key) or (self.value, ParameterSource.DEFAULT)
        if source is not ParameterSource.DEFAULT_MAP:
            return found, source
        if self.declaration is not None and self.declaration.element.kind == "path":
            folder = configuration_folder() or Path()
            found = tuple(str(folder / path) for path in found) if isinstance(found, tuple) else str(folder / found)
        return found, source

    @property
    def record(self) -> tuple[str, str]:
        """The key with its value, and what it does, for ``--help-all``."""
        value, help = self.value_name, str(self.help)
        default: Any = self.value
        if self.declaration is not None:
            kind = self.declaration.element.kind
            value = "|".join(self.declaration.setting.choices) or KEY_VALUES[kind]
            default = size_text(default) if kind == "size" else default
        if "[default:" not in help and default not in (None, ()):
            help += f"  [default: {str(default).lower() if isinstance(default, bool) else default}]"
        return f"{self.key}={value}", help


def size_text(size: int) -> str:
    """A number of bytes with the largest unit that leaves it whole."""
    powers = [power for power in range(1, 5) if size % (1 << 10 * power) == 0]
    return f"{size >> 10 * powers[-1]}{'KMGT'[powers[-1] - 1]}" if size and powers else str(size)


NOTHING = object()
KEY_VALUES: dict[Kind, str] = {
    "str": "TEXT",
    "int": "N",
    "float": "NUMBER",
    "bool": "true|false",
    "size": "SIZE",
    "path": "FILE",
}


def value_of_key(ctx: click.Context, key: str) -> tuple[Any, ParameterSource] | None:
    """The value that ``--set`` gives a key, or else that of the file; None if neither does."""
    config = configuration()
    found: Any = NOTHING if config is None else _value_in(config, key)
    if key.startswith(RETRIEVER_PREFIX) and runs_retriever(ctx.command):
        found = retriever_values().get(key.removeprefix(RETRIEVER_PREFIX), NOTHING)
    if found is NOTHING:
        return None
    is_typed = any(text.partition("=")[0].strip() == key for text in sets_given(ctx))
    return found, ParameterSource.COMMANDLINE if is_typed else ParameterSource.DEFAULT_MAP


def _value_in(config: Config, key: str) -> Any:
    """The value of a key, if the configuration sets it."""
    part: Any = config
    for name in key.split("."):
        if name not in part.model_fields_set:
            return NOTHING
        part = getattr(part, name)
    return part


def key_option(name: str, key: str, help: str, default: Any = None) -> Option:
    """A key that is not a declared setting, with the name of its value (``kpi=NAME``), as an option without a flag."""
    return _adding(lambda: KeyOption(name, key, default, help))


def _adding(make: Callable[[], click.Option]) -> Option:
    def decorate(command: Command) -> Command:
        if not hasattr(command, "__click_params__"):
            command.__click_params__ = []  # type: ignore[attr-defined]  # where click collects them
        command.__click_params__.append(make())  # type: ignore[attr-defined]  # likewise
        return command

    return decorate


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
    source = click.get_current_context().get_parameter_source(name)
    return source not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)


def is_set(name: str) -> bool:
    """Whether the user or a configuration set a parameter of the current command."""
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
    cls: type,
    *names: str,
    common: Sequence[str] | None = None,
    choices: Sequence[str] = (),
    help: str = "",
    flags: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Option, ...]:
    """The options of a class: of some of its settings, or of all that have one; a setting with a key has no flag.

    ``common`` names those that ``--help`` shows in this command, if the declaration does not fit it. ``choices`` are
    those that the command has of a single setting, ``help`` is what that does there, if it is not the same everywhere.
    ``flags`` are those of settings that are keys elsewhere, for a command without ``--set``.
    """
    settings = declared(cls)
    chosen = (
        [settings[name] for name in names] if names else [one for one in settings.values() if one.setting.flag != "-"]
    )
    chosen = [
        one._replace(setting=one.setting._replace(flag=flags[one.name])) if one.name in flags else one for one in chosen
    ]
    if choices:
        default = [choice for choice in chosen[0].setting.choices if choice == "auto"]
        chosen = [one._replace(setting=one.setting._replace(choices=(*default, *choices))) for one in chosen]
    if help:
        chosen = [one._replace(setting=one.setting._replace(help=help)) for one in chosen]
    return tuple(_option(one, one.setting.is_common if common is None else one.name in common) for one in chosen)


def _option(declaration: Declared, is_common: bool) -> Option:
    setting, default = declaration.setting, declaration.default
    if setting.key:
        make = partial(KeyOption, declaration.name, setting.key, default, setting.help, declaration=declaration)
        return _adding(make)
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
FOLDER_CONFIG = "rankgauge.yaml"  # of the working folder, which commands with --config read if none is named
NO_CONFIG = "none"


def _chosen_configuration(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """The file that --config names, or else that of the working folder."""
    return FOLDER_CONFIG if path is None and Path(FOLDER_CONFIG).is_file() else path


def config_option(*, rare: bool = False) -> Option:
    """``--config``; a command whose arguments can be a configuration lists it with ``--help-all`` only."""
    return option(
        "--config",
        section=Section.INPUT,
        rare=rare,
        is_eager=True,
        type=click.Path(),
        metavar="FILE",
        callback=_chosen_configuration,
        help=f"Read settings from FILE, or from no file if it is `{NO_CONFIG}`; options override them.  "
        f"[default: {FOLDER_CONFIG}, if it is in this folder]",
    )


SET = option(
    "--set",
    "sets",
    is_eager=True,
    section=Section.INPUT,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml, such as reading.max_line=8M; repeatable.",
)


CONFIG_OPTIONS = (config_option(), SET)
RARE_SET = option(
    "--set",
    "sets",
    is_eager=True,
    section=Section.FILES,
    rare=True,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of rankgauge.yaml, such as reading.max_line=8M; repeatable.",
)
RETRIEVER_SET = option(
    "--set",
    "sets",
    is_eager=True,
    section=Section.RETRIEVER,
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the retriever, such as retriever.k1=0.9, or any key of rankgauge.yaml; repeatable.",
)


def configuration() -> Config | None:
    """The configuration that the current command has from its file and from ``--set``; None without either.

    A key that the command does not use is an error. Keys of the retriever that a command runs are left to it.
    """
    context = click.get_current_context()
    path, given = config_file(context), sets_given(context)
    if path is None and not given:
        return None
    if "configuration" not in context.meta:
        from rankgauge.config.config_file import load_config

        for text in given:
            if text.startswith(RETRIEVER_PREFIX):
                check_used(text.partition("=")[0].strip(), context)
        own = runs_retriever(context.command)
        sets = [text for text in given if not (own and text.startswith(RETRIEVER_PREFIX))]
        context.meta["configuration"] = load_config({} if path is None else path, sets)
        for text in sets:
            check_used(text.partition("=")[0].strip(), context)
    config: Config = context.meta["configuration"]
    return config


def check_used(key: str, context: click.Context) -> None:
    """Raise if the current command does not use a key; the error names the commands that do."""
    if uses_key(context.command, key):
        return
    users = [path for path, command in leaf_commands(context.find_root().command) if uses_key(command, key)]
    hint = f"used by {', '.join(f'`rankgauge {path}`' for path in users)}" if users else "it is read by Python only"
    raise UsageError(f"--set {printable(key)}: `{context.command_path}` does not use this key", hint=hint)


def uses_key(command: click.Command, key: str) -> bool:
    """Whether a command with ``--set`` uses a key: it has an option of it, or uses a whole section of keys."""
    parameters = [one for one in command.params if isinstance(one, SectionOption)]
    if not any(one.name == "sets" for one in parameters):
        return False
    if key.startswith(RETRIEVER_PREFIX) and runs_retriever(command):
        return True
    sections = getattr(command, "sections", ())
    names = {key for one in parameters for key in keys_of(one)}
    prefixes = (*sections, *({COLUMNS_KEY} & names))
    return key in names or any(key == name or key.startswith(f"{name}.") for name in prefixes)


def keys_of(option: SectionOption) -> tuple[str, ...]:
    """The keys that say the same as an option."""
    if isinstance(option, KeyOption):
        return (option.key,)
    if option.name in OPTIONS_ELSEWHERE and option.section is not Section.STATISTICS:
        return ()
    return OPTION_KEYS.get(option.name or "", ())


# The keys of options that have a flag, too.
OPTION_KEYS: dict[str, tuple[str, ...]] = {
    "measures": ("measures.names",),
    "rel": ("measures.rel",),
    "forbid": ("measures.forbid",),
    "confidence": ("statistics.confidence",),
    "test": ("statistics.test",),
    "by": ("statistics.by",),
    "baseline": ("statistics.baseline",),
    "confidence_intervals": ("statistics.confidence_intervals", "statistics.significance_testing"),
    "match": ("reading.match",),
    "ignore_case": ("reading.ignore_case",),
    "match_fields": ("reading.match_fields",),
    "columns": ("reading.columns",),
    "strict": ("reading.strict",),
}
COLUMNS_KEY = "columns"  # of which users choose the names
OPTIONS_ELSEWHERE = ("test", "baseline", "by")  # names that mean something else in commands without statistics


def leaf_commands(root: click.Command) -> Iterator[tuple[str, click.Command]]:
    """Every command that is no group, with its path."""
    if not isinstance(root, click.Group):
        yield "", root
        return
    context = click.Context(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if command is not None:
            yield from ((f"{name} {path}".strip(), leaf) for path, leaf in leaf_commands(command))


def runs_retriever(command: click.Command) -> bool:
    """Whether ``--set`` of a command takes keys of the retriever that it runs."""
    return any(isinstance(one, SectionOption) and one.name == "sets" and one.section is Section.RETRIEVER
               for one in command.params)  # fmt: skip


def configuration_folder() -> Path | None:
    """The folder that relative paths of the configuration start from."""
    path = config_file(click.get_current_context())
    return None if path is None else Path(path).parent


def config_file(context: click.Context) -> str | None:
    """The file of settings that a command was given, once it is parsed."""
    paths = (context.params.get(name) for name in ("config_argument", "config", "config_file"))
    path = next((path for path in paths if isinstance(path, str)), None)
    return None if path == NO_CONFIG else path


def reads_folder_config(context: click.Context) -> bool:
    """Whether the settings of the current command are those of the working folder's file, which nobody named."""
    is_named = is_given("config") or context.params.get("config_argument") is not None
    return config_file(context) == FOLDER_CONFIG and not is_named


def sets_given(context: click.Context) -> tuple[str, ...]:
    """The values of ``--set`` that a command was given, once they are parsed."""
    sets = context.params.get("sets")
    return sets if isinstance(sets, tuple) else ()


def retriever_values() -> dict[str, Any]:
    """The keys of the retriever that ``--set retriever.KEY=VALUE`` sets."""
    sets = sets_given(click.get_current_context())
    chosen = [text for text in sets if text.startswith(RETRIEVER_PREFIX)]
    if not chosen:
        return {}
    from rankgauge.config.config_file import with_sets
    from rankgauge.config.retriever_sections import RetrieverSection

    return with_sets(RetrieverSection, {}, chosen, RETRIEVER_PREFIX)
