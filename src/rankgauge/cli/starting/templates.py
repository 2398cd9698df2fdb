"""Starter files with their placeholders filled: ``<NAME>``, and lines that end in ``<IF NAME>``."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

from rankgauge.cli.starting.install import Install
from rankgauge.cli.starting.plan import StartPlan, starter_file

PLACEHOLDER = re.compile(r"<([A-Z]+)>")
CONDITION = re.compile(r" <IF ([A-Z]+)>$")
PLAIN = re.compile(r"[A-Za-z_./][\w./+-]*( [\w./+,-]+)*")  # which YAML reads as text without quotes


def config_text(plan: StartPlan) -> str:
    """The configuration of a plan."""
    text = (starter_file(plan.template) + starter_file("settings.yaml")).decode()
    names = {name: value if name == "REQUIREMENT" else _yaml(value) for name, value in plan.names.items()}
    return fill(text, names)


def workflow_text(template: str, plan: StartPlan, install: Install) -> str:
    """The workflow of a plan, for one kind of CI."""
    names = {"QRELS": shlex.quote(plan.qrels or ""), "RUN": shlex.quote(plan.run)}
    names |= {"COMMENT": install.comment, "INSTALL": install.requirement}
    if plan.retriever is not None:
        names["RETRIEVER"] = shlex.quote(plan.retriever)
    return fill(starter_file(template).decode(), names)


def fill(text: str, names: Mapping[str, str]) -> str:
    """Put values in the place of their names; a line whose condition has no value is left out."""
    lines = []
    for line in text.splitlines():
        condition = CONDITION.search(line)
        if condition is None or condition[1] in names:
            lines.append(PLACEHOLDER.sub(lambda match: names[match[1]], CONDITION.sub("", line)))
    return "\n".join(lines) + "\n"


def _yaml(value: str) -> str:
    return value if PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
