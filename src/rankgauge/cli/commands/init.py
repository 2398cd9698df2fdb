"""``rankgauge init``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.printing import print_message
from rankgauge.cli.starter_files import (
    CONFIG_FILE,
    StartPlan,
    config_text,
    content_of,
    default_install,
    given_install,
    plan_for,
    workflow_text,
)
from rankgauge.errors import InputError, UsageError, printable
from rankgauge.io.atomic_files import write_together

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
@click.option(
    "--install",
    metavar="SPEC",
    help="With --ci, install rankgauge from SPEC: a requirement, a URL (git+https://…), or the path of a wheel.  "
    "[default: where this copy was installed from]",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def init_command(ci: str | None, install: str | None, force: bool) -> None:
    """Write a rankgauge.yaml for what is in this folder.

    Looks for documents (corpus.jsonl, a folder of Markdown or text), queries, judgments (qrels.*), test cases
    (cases.jsonl) and runs (*.run, *.trec, runs/), and writes a configuration that runs as it is. Test cases without
    documents get a search.py to fill in; documents alone get queries made from their titles; an empty folder gets an
    example.
    """
    if install is not None and ci is None:
        raise UsageError("--install is for a workflow", hint="add --ci github or --ci gitlab")
    here = Path()
    content = content_of(here)
    plan = plan_for(content, here)
    if Path(CONFIG_FILE).exists() and not force:
        plan = configured_plan(plan)
    files = {name: data for name, data in plan.new_files.items() if force or not Path(name).exists()}
    if ci is None or force or not Path(CONFIG_FILE).exists():  # a workflow is added to an edited configuration
        files[CONFIG_FILE] = config_text(plan).encode()
    if ci is not None:
        files[WORKFLOW_FILES[ci]] = _workflow(ci, plan, install).encode()
    existing = [path for path in files if Path(path).exists()]
    if existing and not force:
        raise InputError(f"{existing[0]} already exists", hint="use --force to overwrite it")
    found = "; ".join(content.sentences(here)) or "nothing to evaluate in this folder"
    print_message(f"found {printable(found, None)}")
    write_files(files)
    _print_next(plan, ci)


def configured_plan(plan: StartPlan) -> StartPlan:
    """The plan with the judgments and the retriever of an existing configuration, if it names them."""
    from rankgauge.config.config_file import load_config

    config = load_config(CONFIG_FILE)
    if config.collection.qrels is None or not config.retrievers:
        return plan
    names = list(config.retrievers)
    retriever = "hybrid" if "hybrid" in names else names[0]
    return replace(plan, qrels=config.collection.qrels, retriever=retriever, new_files={}, remark=None)


def write_files(files: Mapping[str, bytes]) -> None:
    """Write all files, completely or not at all."""
    write_together({Path(path): data for path, data in files.items()})
    for path in files:
        print_message(f"wrote {path}")


def _workflow(ci: str, plan: StartPlan, requirement: str | None) -> str:
    if plan.qrels is None:
        raise InputError(
            "a workflow gates a run by judgments, and this folder has none",
            hint="write the configuration first: rankgauge init",
        )
    install = default_install(plan.extras) if requirement is None else given_install(requirement)
    if not install.is_reachable:
        message = "rankgauge was installed from a local folder, which CI cannot reach"
        print_message(f"warning: {message}: use --install SPEC, or change the workflow's line `pip install`")
    return workflow_text(f"{ci}.yml", plan, install)


def _print_next(plan: StartPlan, ci: str | None) -> None:
    if plan.remark is not None and (ci is not None or plan.template != "runs.yaml"):
        print_message(f"note: {plan.remark}")
    for number, step in enumerate(plan.next_steps):
        print_message(f"{'then' if number else 'next'}: {printable(step, None)}")
