"""Write the generated pages of docs/reference; with --check, say whether they are as they would be written."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from rankgauge import measures as families
from rankgauge.cli.main import COMMANDS, cli
from rankgauge.measures.describe import names, over_queries, parameters, span, trec_names
from rankgauge.measures.registry import DEFINITIONS

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MADE = "<!-- made by `make docs`: change the declaration, not this page -->"


def measures_page() -> str:
    """A section for each measure, from its declaration."""
    assert families
    lines = ["# Measures", "", MADE, ""]
    for name, definition in sorted(DEFINITIONS.items(), key=lambda item: item[0].casefold()):
        lines += [f"## {name}", "", definition.explanation, "", f"- formula: {definition.formula}"]
        lines += [f"- parameters: {', '.join(f'`{text}`' for text in parameters(definition))}"]
        lines += [f"- range: {span(definition)}", f"- over queries: {over_queries(definition)}"]
        if definition.reference:
            lines.append(f"- reference: {definition.reference}")
        if names(definition):
            lines.append(f"- also: {', '.join(f'`{text}`' for text in names(definition))}")
        if trec_names(definition):
            lines.append(f"- trec_eval: {', '.join(f'`{text}`' for text in trec_names(definition))}")
        lines.append("")
    return "\n".join(lines)


def cli_page() -> str:
    """The help of every command."""
    lines = ["# Command line", "", MADE, ""]
    lines += [
        "Data goes to standard output, talk to standard error. Exit codes: 0 fine, 1 a gate or a validation failed,"
    ]
    lines += ["2 bad input, 64 a wrong call, 130 interrupted. `trec_eval` has its own (1, 2, 4, 7).", ""]
    lines += ["```text", help_of(cli, "rankgauge"), "```", ""]
    for name, (module, _) in COMMANDS.items():
        command = import_module(module).command
        text = usage() if name == "trec_eval" else help_of(command, f"rankgauge {name}")
        lines += [f"## {name}", "", "```text", text, "```", ""]
    return "\n".join(lines)


def help_of(command: click.Command, name: str) -> str:
    """What --help prints at a fixed width."""
    return command.get_help(click.Context(command, info_name=name, terminal_width=100, max_content_width=100))


def usage() -> str:
    """The drop-in has a help of its own."""
    from rankgauge.cli.trec_eval import usage

    return usage().rstrip()


def main() -> int:
    """Write, or compare."""
    stale = []
    for name, text in (("measures.md", measures_page()), ("cli.md", cli_page())):
        path = FOLDER / name
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"stale: {', '.join(stale)}; run make docs", file=sys.stderr)
    return len(stale)


if __name__ == "__main__":
    sys.exit(main())
