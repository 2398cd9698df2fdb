"""``rankgauge completion``: scripts for shells, and what can come next, which they ask with every press of Tab.

Nothing is imported that takes long: options and measures are data (``data/completion.json``, made by ``make docs``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from rankgauge.cli.command_tree import documented

SHELLS = ("bash", "zsh", "fish")
CANDIDATES = "candidates"  # what the scripts of the shells ask


class ShellArgument(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """The name of a shell; scripts also pass ``candidates``, which is not for people."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Accept the name for scripts too."""
        return value if value == CANDIDATES else super().convert(value, param, ctx)


@documented(
    "completion",
    """
    # Complete commands, options and values in this bash
    source <(rankgauge completion bash)
    # Do so in every zsh
    rankgauge completion zsh > ~/.zfunc/_rankgauge
    # Do so in every fish
    rankgauge completion fish > ~/.config/fish/completions/rankgauge.fish
    """,
)
@click.argument("shell", type=ShellArgument(SHELLS), metavar="[bash|zsh|fish]")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar=" ")
def completion_command(shell: str, words: tuple[str, ...]) -> None:
    """Print a script that lets a shell complete command lines.

    Commands, options, measures, formats, files, retrievers of rankgauge.yaml, columns of queries, and entries and tags
    of the history.
    """
    if shell == CANDIDATES:
        for word, text in candidates(words):
            click.echo(f"{word}\t{text}" if text else word)
        return
    if words:
        raise click.UsageError("expected one shell")
    click.echo((files("rankgauge") / "data" / "shells" / f"rankgauge.{shell}").read_text(encoding="utf-8"), nl=False)


# What can come next on a command line: for shells, which ask with every press of the Tab key.
#
# Nothing is imported that takes long: options and measures are data (``data/completion.json``, made by ``make
# docs``).

FILES, FOLDERS = ":files", ":folders"  # what the shell completes itself
RETRIEVERS = ":retrievers"  # those of the configuration
HISTORY_NAMES = ("entry", "tag", "branch", "system", "collection")
CUTOFFS = ("1", "3", "5", "10", "20", "50", "100", "1000")
CONFIG_FILE = "rankgauge.yaml"

Candidate = tuple[str, str]  # a word, and what it means


def candidates(words: Sequence[str]) -> list[Candidate]:
    """What the last of some words can become; ``:files`` and ``:folders`` leave it to the shell."""
    data = json.loads((files("rankgauge") / "data" / "completion.json").read_text(encoding="utf-8"))
    *before, current = words or [""]
    name, rest = _command(data["commands"], before)
    entry: Mapping[str, Any] = data["commands"][name]
    options: Mapping[str, list[Any]] = entry["options"]
    if current.startswith("--") and "=" in current:
        flag, _, value = current.partition("=")
        found = _values(options[flag][0], value, rest, data) if flag in options else []
        return [(word if word.startswith(":") else f"{flag}={word}", text) for word, text in found]
    previous = rest[-1] if rest else ""
    if previous in options and options[previous][0] is not None:
        return _values(options[previous][0], current, rest, data)
    if current.startswith("-"):
        return _starting(current, ((flag, text) for flag, (_, text) in options.items()))
    if "commands" in entry:
        is_unknown = any(not word.startswith("-") for word in rest)
        return [] if is_unknown else _starting(current, entry["commands"].items())
    return _values(entry["arguments"], current, rest, data)


def _command(commands: Mapping[str, Any], words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The command that some words name, and the words after it."""
    name = ""
    for index, word in enumerate(words):
        longer = f"{name} {word}".strip()
        if longer not in commands:
            return name, words[index:]
        name = longer
    return name, []


def _values(kind: Any, current: str, words: Sequence[str], data: Mapping[str, Any]) -> list[Candidate]:
    """The values of one kind that begin with what is typed."""
    if isinstance(kind, list):
        names = [*(_retrievers(words) if RETRIEVERS in kind else []), *map(str, kind)]
        found = _starting(current, ((name, "") for name in dict.fromkeys(names) if not name.startswith(":")))
        return found or [(value, "") for value in kind if value == FILES]  # --kpi and --retriever take files too
    if kind == "measure":
        return _measures(current, data["measures"])
    if kind in HISTORY_NAMES:
        from rankgauge.history.location import history_path, saved_names

        names = saved_names(history_path(_value_of(words, "--history")), kind)
        return _starting(current, ((value, "") for value in names))
    if kind == "column":
        return _starting(current, ((value, "") for value in _columns(words)))
    return [] if kind == "text" else [(FOLDERS if kind == "folder" else FILES, "")]


def _measures(current: str, measures: Mapping[str, list[str]]) -> list[Candidate]:
    """Names of measures; after @ and after a comma, cutoffs."""
    name, sign, cutoffs = current.partition("@")
    if sign:
        *given, last = cutoffs.split(",")
        head = f"{name}@{''.join(f'{cutoff},' for cutoff in given)}"
        return [(head + cutoff, "") for cutoff in CUTOFFS if cutoff.startswith(last) and cutoff not in given]
    names = [*(f"{family}@" for family in measures["cutoff"]), *measures["plain"]]
    return sorted(_starting(current, ((value, "") for value in names), any_case=True))


def _starting(current: str, values: Iterable[Candidate], *, any_case: bool = False) -> list[Candidate]:
    """The values that begin with what is typed; if none does, those that do so in another case."""
    values = list(values)
    found = [(value, text) for value, text in values if value.startswith(current)]
    if found or not any_case:
        return found
    return [(value, text) for value, text in values if value.casefold().startswith(current.casefold())]


def _value_of(words: Sequence[str], *flags: str) -> str | None:
    """The value that an option was given."""
    for index, word in enumerate(words):
        flag, sign, value = word.partition("=")
        if flag in flags:
            return value if sign else next(iter(words[index + 1 : index + 2]), None)
    return None


def _retrievers(words: Sequence[str]) -> list[str]:
    """The names below ``retrievers:`` in a configuration."""
    names: list[str] = []
    inside, indent = False, None
    files = [
        _value_of(words, "--config"),
        *(word for word in words[:1] if word.endswith((".yaml", ".yml"))),
        CONFIG_FILE,
    ]
    for line in _lines(next(file for file in files if file is not None)):
        text = line.partition("#")[0].rstrip()
        depth = len(text) - len(text.lstrip())
        if not text:
            continue
        if depth == 0:
            inside = text == "retrievers:"
            continue
        if inside and (indent is None or depth == indent):
            indent = depth
            names.append(text.split(":")[0].strip().strip("'\""))
    return names


def _columns(words: Sequence[str]) -> list[str]:
    """The keys of the first query, if it is JSON; else the columns of the first line."""
    path = _value_of(words, "--queries")
    first = next(iter(_lines(path)), "") if path is not None else ""
    with suppress(ValueError):
        record = json.loads(first)
        return [name for name, value in record.items() if name not in ("_id", "id", "text") and value is not None]
    return [name.strip() for name in first.replace("\t", ",").split(",") if name.strip().isidentifier()]


def _lines(path: str) -> list[str]:
    with suppress(OSError), Path(path).open(encoding="utf-8", errors="replace") as file:
        return file.read(1 << 16).splitlines()
    return []
