"""Write the generated pages of docs/reference; with --check, compare them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

import click
from pydantic import BaseModel

from rankgauge.cli.command_tree import DocumentedCommand, LazyGroup, cli, is_common
from rankgauge.config.config_file import nested_types, section_types
from rankgauge.config.schema import Config
from rankgauge.core.settings import declared
from rankgauge.io.byte_streams import Limits
from rankgauge.io.formats.case_keys import KEYS, NOUNS, STEMS
from rankgauge.io.formats.named_columns import COLUMN_NAMES, DOC_ID_NAMES, QUERY_ID_NAMES, TEXT_NAMES
from rankgauge.io.formats.registry import FORMATS
from rankgauge.io.reading_options import Reading
from rankgauge.measures import families
from rankgauge.measures.descriptions import names, over_queries, parameters, range_text, trec_names
from rankgauge.measures.measure import DEFINITIONS
from rankgauge.validation.codes import CODES
from scripts.api_page import api_page
from scripts.schema_page import EVALUATION, evaluation_schema, schemas_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MADE = "<!-- made by `make docs`: change the declaration, not this page -->"


def measures_page() -> str:
    """A section for each measure, from its declaration."""
    assert families
    lines = ["# Measures", "", MADE, ""]
    for name, definition in sorted(DEFINITIONS.items(), key=lambda item: item[0].casefold()):
        lines += [f"## {name}", "", definition.explanation, "", f"- formula: {definition.formula}"]
        lines += [f"- parameters: {', '.join(f'`{text}`' for text in parameters(definition))}"]
        lines += [f"- range: {range_text(definition)}", f"- over queries: {over_queries(definition)}"]
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
        "Data goes to standard output, messages to standard error. Exit codes: 0 success, 1 a gate or a validation"
    ]
    lines += [
        "failed, 2 bad input, 64 usage error, 70 a bug in rankgauge (with a traceback to report), 71 no memory left,"
    ]
    lines += [
        "a full disk, or a library that cannot be loaded, 129 and 143 ended by SIGHUP and SIGTERM, 130 interrupted,"
    ]
    lines += ["141 the reader of a pipe is gone. `trec_eval` has its own (1, 2, 4, 7). `RANKGAUGE_DEBUG=1`"]
    lines += ["shows the traceback of every error.", ""]
    lines += ["```text", help_of(cli, "rankgauge"), "```", ""]
    rare: dict[str, str] = {}
    for name, command in commands(cli):
        text = usage() if name == "trec_eval" else help_of(command, f"rankgauge {name}")
        lines += [f"## {name}", "", "```text", text, "```", ""]
        if isinstance(command, DocumentedCommand):
            more = [option for option in command.params if isinstance(option, click.Option) and not is_common(option)]
            if more:
                flags = ", ".join(f"`{option.opts[-1]}`" for option in more)
                lines += [f"[Options of `--help-all`](#options-of-help-all): {flags}.", ""]
            for option in more:
                record = option.get_help_record(click.Context(command))
                assert record is not None
                rare[record[0]] = record[1]
    lines += ["## Options of help-all", "", "They mean the same in every command that has them.", ""]
    lines += ["| option | meaning |", "|---|---|"]
    lines += [f"| `{cell(flag)}` | {cell(text)} |" for flag, text in sorted(rare.items())]
    return "\n".join([*lines, ""])


def commands(group: LazyGroup, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by its full name, those of a group behind the group."""
    for name in group.lazy:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield prefix + name, command
        if isinstance(command, LazyGroup):
            yield from commands(command, f"{prefix}{name} ")


def faults_page() -> str:
    """A section for each fault that validation knows, from the table of codes."""
    lines = ["# Faults", "", MADE, ""]
    lines += ["What `rankgauge runs validate` can find in runs and labels; [a guide](../guides/validate.md)."]
    lines += ["Codes and severities change only with a line in the changelog. `--strict` makes errors of warnings.", ""]
    lines += ["| code | severity | of | what | `--fix` |", "|---|---|---|---|---|"]
    for name, code in CODES.items():
        of = " and ".join("runs" if kind == "run" else "judgments" for kind in code.kinds)
        fixed = "yes" if code.repair else "–"
        lines.append(f"| [{name}](#{name}) | {code.severity} | {of} | {code.title} | {fixed} |")
    for name, code in CODES.items():
        lines += ["", f"## {name}", "", f"*{code.severity}*: {code.title}. {code.why}", "", f"- action: {code.action}"]
        lines += [f"- `--fix`: {code.repair}"] if code.repair else []
        lines += [f"- checked with {code.needs}"] if code.needs else []
    return "\n".join(lines) + "\n"


def formats_page() -> str:
    """The table of formats, from the one that reads and writes them."""
    lines = ["# Formats", "", MADE, ""]
    lines += [
        "Detected from the content, in this order, or named with `format=`, `--from` and `--to`;",
        "[a guide](../guides/formats.md).",
    ]
    lines += [
        "",
        "| name | what it is | judgments | runs | written | by suffix | needs |",
        "|---|---|---|---|---|---|---|",
    ]
    for format in FORMATS:
        cells = [f"`{format.name}`", format.summary]
        cells += [f"`{format.columns[kind]}`" if format.supports(kind) else "–" for kind in ("qrels", "run")]
        cells += ["yes" if format.write else "no", " ".join(f"`{suffix}`" for suffix in format.suffixes) or "–"]
        cells += [f"`rankgauge[{format.extra}]`" if format.extra else "–"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Names of columns", ""]
    lines += [
        "Case, blanks, hyphens, dots and underscores do not count. The second names are taken where no first is there."
    ]
    lines += ["", "| column | known by | else by |", "|---|---|---|"]
    for role, tiers in COLUMN_NAMES.items():
        listed = [" ".join(f"`{name}`" for name in tier) for tier in tiers] + ["–"]
        lines.append(f"| {role} | {listed[0]} | {listed[1]} |")
    lines += ["", "## Keys of a log", "", "[The log](log.md) defines them.", ""]
    lines += ["| key | known by, the surest first |", "|---|---|"]
    nouns = f"{' '.join(NOUNS)} (or the plural)"
    pattern = f"one of {' '.join(STEMS)}; then perhaps {nouns}; then perhaps id, ids, indices, name or names"
    lines.append(f"| relevant | by pattern: {pattern} |")
    for role, tiers in KEYS.items():
        lines.append(f"| {role} | {' '.join(f'`{name}`' for tier in tiers for name in tier)} |")
    lines += ["", "## Queries and documents", ""]
    lines += [
        "`read_queries` and `read_corpus` take JSON Lines (BEIR's too), CSV, TSV, Parquet and Arrow; queries also a",
        "log, TREC topics, lines of an id and a text, and `irds:…`; documents also TREC's SGML and folders of texts.",
        "An id is found under the first of these names, a text likewise.",
        "",
    ]
    lines += [f"- queries: {' '.join(f'`{name}`' for name in QUERY_ID_NAMES)}"]
    lines += [f"- documents: {' '.join(f'`{name}`' for name in DOC_ID_NAMES)}"]
    lines += [f"- texts: {' '.join(f'`{name}`' for name in TEXT_NAMES)}"]
    return "\n".join([*lines, ""])


def cell(text: str) -> str:
    """A text in a cell of a table."""
    return text.replace("|", "\\|")


KEYS_BEGIN, KEYS_END = "<!-- keys: made by `make docs` -->", "<!-- end of keys -->"


def config_page() -> str:
    """The page of the configuration, whose table of keys comes from the sections and the declared settings."""
    text = (FOLDER / "config.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(KEYS_BEGIN)
    after = rest.partition(KEYS_END)[2]
    lines = ["| key | default | meaning |", "|---|---|---|", *key_rows(Config, "")]
    return "\n".join([before + KEYS_BEGIN, "", *lines, "", KEYS_END + after])


def key_rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """A row for each key of a section, with those of the sections in it."""
    for name, entry in model.model_fields.items():
        sections = section_types(entry.annotation)
        own = [kind for kind in sections if kind.__name__ not in ("HttpSection", "PostgresSection", "Thresholds")]
        if name == "retrieval_metrics":
            continue  # another spelling of the sections, described in the text
        if own and name not in ("kpi",):
            is_named = "dict" in {getattr(kind, "__name__", "") for kind in nested_types(entry.annotation)}
            yield from key_rows(own[0], f"{prefix}{name}.{'NAME.' if is_named else ''}")
            continue
        text, _, given = (entry.description or "").partition("  [default: ")
        if not given:
            text, _, given = text.partition(" Default: ")
        is_size = name in {**declared(Reading), **declared(Limits)}
        default = given.rstrip("].") if given else default_text(entry.default, is_size=is_size)
        yield f"| `{prefix}{name}` | {cell(default)} | {cell(text)} |"


def default_text(value: object, *, is_size: bool) -> str:
    """The default of a key, as it is written in YAML."""
    if is_size and isinstance(value, int) and not isinstance(value, bool):
        power = (value.bit_length() - 1) // 10
        return f"`{value >> (10 * power)}{' KMGT'[power]}`"
    if value is None or value == {}:
        return "–"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def help_of(command: click.Command, name: str) -> str:
    """What --help prints at a fixed width."""
    names = ["-h", "--help"]
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=names)
    return command.get_help(context)


def usage() -> str:
    """The drop-in has a help of its own."""
    from rankgauge.cli.commands.trec_eval import usage

    return usage().rstrip()


def write_api_page() -> None:
    """Write the page of the Python API, which the repository does not keep; readers see a whole page."""
    target = FOLDER / "api.md"
    with NamedTemporaryFile("w", encoding="utf-8", dir=FOLDER, prefix=".api-", delete=False) as file:
        file.write(api_page(MADE))
    Path(file.name).replace(target)


def main() -> int:
    """Write, or compare."""
    stale = []
    if "--check" not in sys.argv:
        write_api_page()
    for name, text in (
        ("measures.md", measures_page()),
        ("cli.md", cli_page()),
        ("formats.md", formats_page()),
        ("faults.md", faults_page()),
        (f"schemas/{EVALUATION}.schema.json", evaluation_schema()),
        ("schemas.md", schemas_page(MADE)),
        ("config.md", config_page()),
    ):
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
