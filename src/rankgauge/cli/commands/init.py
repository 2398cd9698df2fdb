"""``rankgauge init``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.gate_plan import GatePlan, find_gate, gate_config, workflow_text
from rankgauge.cli.printing import print_message
from rankgauge.cli.starter_files import (
    CONFIG_FILE,
    StartPlan,
    config_text,
    content_of,
    default_install,
    given_install,
    plan_for,
)
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.io.atomic_files import write_together

if TYPE_CHECKING:
    from rankgauge.config.schema import Config

EXTRAS = "[http]"  # of a retriever that is a server
WORKFLOW_FILES = {"github": ".github/workflows/retrieval.yml", "gitlab": ".gitlab-ci.yml"}


@documented(
    "init",
    """
    # Write a rankgauge.yaml for the files in this folder
    rankgauge init
    # Write a GitHub workflow that gates your search on your test set
    rankgauge init --ci github
    """,
)
@click.option(
    "--ci",
    type=click.Choice(list(WORKFLOW_FILES)),
    help="Write a workflow that gates pull requests, posts a summary and keeps a baseline.",
)
@click.option(
    "--install",
    metavar="SPEC",
    help="With --ci, install rankgauge from SPEC: a requirement, a URL (git+https://…), or the path of a wheel.  "
    "[default: where this copy was installed from]",
)
@click.option("--search", metavar="NAME", help="With --ci, gate this search: ./FILE.py:name, module:object, FILE.yaml.")
@click.option("--labels", type=click.Path(), metavar="FILE", help="With --ci, gate on this test set, judgments or log.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def init_command(ci: str | None, install: str | None, search: str | None, labels: str | None, force: bool) -> None:
    """Write a rankgauge.yaml for what is in this folder.

    Looks for documents (corpus.jsonl, a folder of Markdown or text), queries, judgments (qrels.*), test cases
    (cases.jsonl) and runs (*.run, *.trec, runs/), and writes a configuration that runs as it is. Test cases without
    documents get a search.py to fill in; documents alone get queries made from their titles; an empty folder gets an
    example. With --ci, it looks for your test set (golden and eval files, judgments, a log) and your search, and writes
    a gate for them; what it cannot find, it asks for.
    """
    for name, value in (("--install", install), ("--search", search), ("--labels", labels)):
        if value is not None and ci is None:
            raise UsageError(f"{name} is for a workflow", hint="add --ci github or --ci gitlab")
    here = Path()
    content = content_of(here)
    has_config = Path(CONFIG_FILE).exists() and not force
    files: dict[str, bytes] = {}
    if ci is not None:
        gated = find_gate(here, content, search=search, labels=labels, config=existing_config() if has_config else None)
        plan = gate_config(gated)
        files[WORKFLOW_FILES[ci]] = _workflow(ci, gated, install).encode()
    else:
        plan = plan_for(content, here)
        files |= {name: data for name, data in plan.new_files.items() if force or not Path(name).exists()}
    if ci is None or not has_config:  # a workflow is added to an edited configuration
        files[CONFIG_FILE] = config_text(plan).encode()
    existing = [path for path in files if Path(path).exists()]
    if existing and not force:
        raise InputError(f"{existing[0]} already exists", hint="use --force to overwrite it")
    found = "; ".join(content.sentences(here)) or "nothing to evaluate in this folder"
    if ci is None:
        print_message(f"found {printable(found, None)}")
    write_files(files)
    _print_next(plan)


def existing_config() -> Config:
    """The configuration that is there already."""
    from rankgauge.config.config_file import load_config

    return load_config(CONFIG_FILE)


def write_files(files: Mapping[str, bytes]) -> None:
    """Write all files, completely or not at all."""
    write_together({Path(path): data for path, data in files.items()})
    for path in files:
        print_message(f"wrote {path}")


def _workflow(ci: str, plan: GatePlan, requirement: str | None) -> str:
    install = default_install(EXTRAS) if requirement is None else given_install(requirement)
    if not install.is_reachable:
        message = "rankgauge was installed from a local folder, which CI cannot reach"
        print_message(f"warning: {message}: use --install SPEC, or change the workflow's line `pip install`")
    return workflow_text(f"{ci}.yml", plan, install, Path())


def _print_next(plan: StartPlan) -> None:
    for remark in plan.remarks:
        print_message(f"note: {printable(remark, None)}")
    for number, step in enumerate(plan.next_steps):
        print_message(f"{'then' if number else 'next'}: {printable(step, None)}")
