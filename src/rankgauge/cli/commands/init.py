"""``rankgauge init``."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from rankgauge.cli.documented import documented
from rankgauge.errors import InputError
from rankgauge.io.corpus.collection import QRELS_FILE_NAMES, QUERIES_FILE_NAMES
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES
from rankgauge.io.writing import write_atomically

CONFIG_FILE = "rankgauge.yaml"
WORKFLOW_FILES = {"github": ".github/workflows/retrieval.yml", "gitlab": ".gitlab-ci.yml"}


@documented(
    "init",
    """
    # Write a rankgauge.yaml for the files in this folder
    rankgauge init
    # Also write a GitHub workflow that gates pull requests
    rankgauge init --ci github --force
    """,
)
@click.option(
    "--ci",
    type=click.Choice(list(WORKFLOW_FILES)),
    help="Also write a workflow that gates pull requests, posts a summary and keeps the history.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def command(ci: str | None, force: bool) -> None:
    """Write a starter rankgauge.yaml.

    Files in the working folder with the usual names (corpus.jsonl, queries.jsonl, qrels.trec, …) are named in it. Edit
    it, then run it with `rankgauge benchmark run`.
    """
    templates = {CONFIG_FILE: "rankgauge.yaml"}
    if ci is not None:
        if Path(CONFIG_FILE).exists() and not force:
            templates.clear()  # the configuration may have been edited, and only the workflow is new
        templates[WORKFLOW_FILES[ci]] = f"{ci}.yml"
    existing = [path for path in templates if Path(path).exists()]
    if existing and not force:
        raise InputError(f"{existing[0]} already exists", hint="use --force to overwrite it")
    names = collection_files()
    for path, template in templates.items():
        write_template(path, template, names)
        click.echo(f"wrote {path}", err=True)
    missing = sorted(name for name in names.values() if not Path(name).exists())
    if missing:
        click.echo(f"next: name your files in {CONFIG_FILE} (not found: {', '.join(missing)})", err=True)
    click.echo(f"{'then' if missing else 'next'}: rankgauge benchmark run {CONFIG_FILE}", err=True)


def collection_files() -> dict[str, str]:
    """The files of a collection in the working folder, by their placeholder; the usual names if there are none."""
    return {
        "CORPUS": _existing_or(CORPUS_FILE_NAMES, "corpus.jsonl"),
        "QUERIES": _existing_or(QUERIES_FILE_NAMES, "queries.jsonl"),
        "QRELS": _existing_or((*QRELS_FILE_NAMES, "qrels/test.tsv"), "qrels.trec"),
    }


def write_template(path: str, template: str, names: dict[str, str]) -> None:
    """Write a starter file with the names of the collection's files in it."""
    text = (files("rankgauge") / "data" / "starter" / template).read_text(encoding="utf-8")
    for placeholder, name in names.items():
        text = text.replace(f" {placeholder} ", f" {name} ")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with write_atomically(path) as file:
        file.write(text.encode())


def _existing_or(names: tuple[str, ...], default: str) -> str:
    return next((name for name in names if Path(name).is_file()), default)
