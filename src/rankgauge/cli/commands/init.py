"""``rankgauge init``."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from rankgauge.errors import InputError
from rankgauge.io.corpus.collection import QRELS_FILE_NAMES, QUERIES_FILE_NAMES
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES
from rankgauge.io.writing import write_atomically

CONFIG = "rankgauge.yaml"
CI = {"github": ".github/workflows/retrieval.yml", "gitlab": ".gitlab-ci.yml"}


@click.command("init")
@click.option(
    "--ci", type=click.Choice(list(CI)), help="A workflow too, that gates a pull request and posts a summary."
)
@click.option("--force", is_flag=True, help="Write over what is there.")
def command(ci: str | None, force: bool) -> None:
    """Write a starter rankgauge.yaml.

    It asks nothing. Files of the working folder are named in it where they have the usual names (corpus.jsonl,
    queries.jsonl, qrels.trec, …). Look through it, change what is yours, and give it to `rankgauge benchmark run`.
    """
    made = {CONFIG: "rankgauge.yaml"} | ({CI[ci]: f"{ci}.yml"} if ci is not None else {})
    if ci is not None and Path(CONFIG).exists() and not force:
        del made[CONFIG]  # it may have been edited, and only the workflow is new
    there = [path for path in made if Path(path).exists()]
    if there and not force:
        raise InputError(f"{there[0]} is there already", hint="--force writes over it")
    names = {
        "CORPUS": _found(CORPUS_FILE_NAMES, "corpus.jsonl"),
        "QUERIES": _found(QUERIES_FILE_NAMES, "queries.jsonl"),
        "QRELS": _found((*QRELS_FILE_NAMES, "qrels/test.tsv"), "qrels.trec"),
    }
    for path, template in made.items():
        text = (files("rankgauge") / "data" / "starter" / template).read_text(encoding="utf-8")
        for mark, name in names.items():
            text = text.replace(f" {mark} ", f" {name} ")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(text.encode())
        click.echo(f"wrote {path}", err=True)
    missing = sorted(name for name in names.values() if not Path(name).exists())
    if missing:
        click.echo(f"next: name your files in {CONFIG} (here is no {', '.join(missing)})", err=True)
    click.echo(f"{'then' if missing else 'next'}: rankgauge benchmark run {CONFIG}", err=True)


def _found(names: tuple[str, ...], usual: str) -> str:
    return next((name for name in names if Path(name).is_file()), usual)
