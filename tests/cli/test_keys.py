"""Every key of the configuration, given to every command with ``--set``, has an effect or is refused.

The effect is seen at the door of the command: what it receives differs from what it receives without the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from pydantic import BaseModel

from rankgauge.cli.command_tree import cli
from rankgauge.cli.options.declared_options import leaf_commands, uses_key
from rankgauge.config.config_file import section_types
from rankgauge.config.schema import Config
from rankgauge.config.section_model import declaration_of
from tests.conftest import Outcome

Command = Callable[..., Outcome]
WORDS = {  # a command line of each command with --set, which never runs
    "evaluate": "q r",
    "compare": "q r s",
    "gate": "q r",
    "diff": "r s",
    "agreement": "q q r s",
    "runs fetch": "--corpus c --queries q -o x --retriever own:search",
    "benchmark run": "q r s",
    "fuse": "r s -o x",
    "tune": "q r s",
    "pool": "r -o x",
    "labels agree": "q q",
    "labels estimate": "q r",
}
VALUES = {  # values of keys whose declaration names none besides the default
    "measures.names": "[RR]",
    "measures.split": "test",
    "measures.forbid": "[id = none]",
    "statistics.by": "[kind]",
    "reading.columns": "{doc: passage}",
    "reading.match": "suffix",
    "gate.requirements": "{safe: [RR>0.5]}",
    "gate.measures": "[RR]",
    "gate.require": "[RR>0.5]",
    "gate.require_each": "[RR>0.5]",
    "history.date": "2026-01-01",
    "output.sort": "RR",
    "kpi": "trec-2025",
    "columns": "{a: higher}",
    "gate.baseline": "[a]",
    "spark.settings": "{a: b}",
    "statistics.confidence": "0.9",
}
WITHIN = {  # sections that a command reads as a whole when it runs, instead of receiving their keys
    "evaluate": ("spark",),
    "runs fetch": ("collection", "retrievers"),
    "benchmark run": ("collection", "chunking", "retrievers", "benchmark", "reading", "measures", "statistics", "kpi"),
}
LEAVES = {name: one for name, one in leaf_commands(cli) if any(param.name == "sets" for param in one.params)}


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each key of the configuration with a value that is not its default."""
    for name, entry in model.model_fields.items():
        key, sections = f"{prefix}{name}", section_types(entry.annotation)
        if key == "retrieval_metrics":
            continue  # another notation of the sections measures, statistics and performance
        if key in VALUES:
            yield key, VALUES[key]
        elif key.startswith("retrievers.a.") and declaration_of(entry) is None:
            continue  # servers and parameters: one key of a named retriever is as good as another
        elif sections:
            is_named = key in ("retrievers", "chunking")
            yield from keys_of(sections[0], f"{key}.{'a.' if is_named else ''}")
        else:
            yield key, another_value(declaration_of(entry), entry.default)


def another_value(declaration: Any, default: Any) -> str:
    """A value that fits a declaration and is not the default."""
    if declaration is None:
        return "true" if default in (None, False) else "false"
    default = declaration.default
    others = [choice for choice in declaration.setting.choices if choice not in (default, "auto")]
    if others:
        return str(others[0])
    numbers = ("7", "0.25", "3", "64M", "other")
    return {"bool": "false" if default is True else "true"}.get(declaration.element.kind) or next(
        text for text in numbers if (value := declaration.element.parse(text)) != default
        and declaration.element.complaint(value) is None
    )  # fmt: skip


KEYS = dict(keys_of(Config))


def innermost(callback: Any) -> Any:
    """The cell in which the last wrapper of a command keeps the function itself."""
    while hasattr(callback.__wrapped__, "__wrapped__"):
        callback = callback.__wrapped__
    return next(cell for cell in callback.__closure__ if cell.cell_contents is callback.__wrapped__)


@pytest.mark.parametrize("name", LEAVES)
def test_every_key_has_an_effect_or_is_refused(
    name: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in "qrscp":
        Path(file).write_text("1 0 a 1\n")
    Path("own.py").write_text("def search(text): return []\n")
    one = LEAVES[name]
    assert one.callback is not None
    cell = innermost(one.callback)
    function, received = cell.cell_contents, []
    cell.cell_contents = lambda *args, **values: received.append(plain((args, values)))
    try:
        assert command(*name.split(), *WORDS[name].split()).code == 0
        for key, value in KEYS.items():
            before = len(received)
            done = command(*name.split(), *WORDS[name].split(), "--set", f"{key}={value}")
            if not uses_key(one, key):
                assert done.code == 64, key
                assert "does not use this key" in done.err, key
            elif not any(key == part or key.startswith(f"{part}.") for part in WITHIN.get(name, ())):
                assert done.code == 0, f"{key}: {done.err}"
                assert received[before] != received[0], key
    finally:
        cell.cell_contents = function


def plain(value: Any) -> Any:
    """Values that can be compared: objects by their fields."""
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return plain(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else value


def test_every_command_with_set_is_tested_here() -> None:
    assert set(LEAVES) == set(WORDS)
    assert len(KEYS) > 60
    assert isinstance(LEAVES["gate"], click.Command)
