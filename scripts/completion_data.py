"""What the shell can complete after each option and command, as data that is read without importing any command."""

from __future__ import annotations

import json
from typing import Any

import click

from rankgauge.cli.command_tree import LazyGroup, cli
from rankgauge.cli.options.declared_options import DeclaredValue
from rankgauge.config.bands import presets
from rankgauge.errors import MeasureError
from rankgauge.io.formats.registry import FORMATS
from rankgauge.measures import families
from rankgauge.measures.measure import DEFINITIONS
from rankgauge.measures.names import parse_measures
from rankgauge.measures.registry import CUTOFF_SETS, NAMED_SETS, TREC_SETS
from rankgauge.retrieval.open_embedder import EMBEDDER_PREFIXES
from rankgauge.retrieval.open_retriever import RETRIEVER_MODES

FORMAT_NAMES = [format.name for format in FORMATS]
BY_OPTION: dict[str, Any] = {  # what an option takes, if its type does not say
    "--measure": "measure",
    "--require": "measure",
    "--qrels-format": FORMAT_NAMES,
    "--run-format": FORMAT_NAMES,
    "--from": FORMAT_NAMES,
    "--to": FORMAT_NAMES,
    "--by": "column",
    "--kpi": [*presets(), "none", ":files"],
    "--embedder": list(EMBEDDER_PREFIXES),
    "--branch": "branch",
    "--system": "system",
    "--collection": "collection",
    "--tag": "tag",
    "--baseline": "file",
}
BY_COMMAND: dict[tuple[str, str], Any] = {
    ("runs fetch", "--retriever"): [":retrievers", *RETRIEVER_MODES, ":files"],
    ("benchmark run", "--retriever"): [":retrievers", *RETRIEVER_MODES, ":files"],
    ("chunk", "--by"): None,  # its type says
    ("fuse", "--tag"): "text",
    ("runs fetch", "--tag"): "text",
    ("index", "--to"): None,
    ("history trend", "--by"): "text",
}
ENTRY_ARGUMENTS = ("history show", "history compare", "history tag", "history export", "history prune")


def completion_data() -> str:
    """The data as JSON, one line per command."""
    measures = json.dumps(measure_names(), ensure_ascii=False)
    lines = [f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in entries(cli, "")]
    return f'{{"measures": {measures},\n"commands": {{\n' + ",\n".join(lines) + "\n}}\n"


def measure_names() -> dict[str, list[str]]:
    """Names of measures: those that take a cutoff after @, and all others."""
    assert families
    with_cutoff = {name for name, entry in DEFINITIONS.items() if entry.at == "cutoff"}
    plain = {*filter(is_complete, DEFINITIONS), *NAMED_SETS, *TREC_SETS}
    return {"cutoff": sorted(with_cutoff | {*CUTOFF_SETS}), "plain": sorted(plain)}


def is_complete(name: str) -> bool:
    """Whether a measure needs nothing after its name."""
    try:
        parse_measures(name)
    except MeasureError:
        return False
    return True


def entries(group: LazyGroup, prefix: str) -> Any:
    """Each command with its options and arguments; groups with their commands."""
    yield prefix.strip(), {"commands": group.one_line_helps(), "options": option_values(group, prefix.strip())}
    for name in group.lazy:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, LazyGroup):
            yield from entries(command, f"{prefix}{name} ")
        else:
            full = prefix + name
            yield full, {"options": option_values(command, full), "arguments": argument_values(command, full)}


def option_values(command: click.Command, name: str) -> dict[str, list[Any]]:
    """Option → what it takes (None for a flag), and its help in one line."""
    found: dict[str, list[Any]] = {}
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        help_text = (option.help or "").partition("  [default")[0]
        value = None if option.is_flag else value_of(option, name)
        for flag in (*option.opts, *option.secondary_opts):
            found[flag] = [value, help_text.split(". ")[0].rstrip(".")]
    return found | {flag: [None, "Show this message and exit"] for flag in ("-h", "--help")}


def value_of(option: click.Option, name: str) -> Any:
    """What an option takes."""
    special = {flag: BY_COMMAND.get((name, flag), BY_OPTION.get(flag)) for flag in option.opts}
    chosen = next((value for value in special.values() if value is not None), None)
    if isinstance(option.type, click.Choice):
        return list(option.type.choices)
    if isinstance(option.type, DeclaredValue) and option.type.declaration.setting.choices:
        return [choice for choice in option.type.declaration.setting.choices if choice != "auto"]
    if chosen is not None:
        return chosen
    if isinstance(option.type, click.Path):
        return "folder" if option.metavar == "DIR" else "file"
    return "text"


def argument_values(command: click.Command, name: str) -> Any:
    """What the arguments of a command are."""
    if name in ENTRY_ARGUMENTS:
        return "entry"
    kinds = [parameter.type for parameter in command.params if isinstance(parameter, click.Argument)]
    choices = [choice for kind in kinds if isinstance(kind, click.Choice) for choice in kind.choices]
    if choices:
        return choices
    if name == "measures":
        return "measure"
    return "file" if any(isinstance(kind, click.Path) for kind in kinds) or name == "trec_eval" else "text"
