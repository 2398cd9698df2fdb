"""The options of asking a retriever of the user's own, and ``--no-code``, the same in every command that does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import Option, declared_options, option
from rankgauge.config.retriever_settings import RetrieverCalls, RetrieverSettings
from rankgauge.core.settings import Section
from rankgauge.errors import printable

ANSWER_OPTIONS: tuple[Option, ...] = declared_options(RetrieverSettings, "id", "unit", "scores")
CALL_OPTIONS: tuple[Option, ...] = declared_options(RetrieverCalls)
MAX_FAILURES: Option = option(
    "--max-failures",
    section=Section.LIVE,
    rare=True,
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Allow N queries to fail; if more do, exit with an error.",
)


def _apply_code_policy(context: click.Context, parameter: click.Parameter, is_refused: bool) -> Any:
    """Apply the policy until the command ends."""
    from rankgauge.retrieval.code_policy import CodePolicy, code_policy

    def announce(kind: str, path: str) -> None:
        origin = " from the working folder" if _is_in_working_folder(path) else ""
        print_message(f"loading code{origin}: {printable(path, None)} ({kind.lstrip('-')})")

    context.with_resource(code_policy(CodePolicy(is_allowed=not is_refused, announce=announce)))


def _is_in_working_folder(path: str) -> bool:
    from rankgauge.retrieval.loading import FILE_SUFFIX

    module = path.rpartition(":")[0]
    if module.endswith(FILE_SUFFIX):
        return Path(module).resolve().is_relative_to(Path.cwd())
    name = module.partition(".")[0]
    return Path(name).is_dir() or Path(f"{name}{FILE_SUFFIX}").is_file()


NO_CODE: Option = option(
    "--no-code",
    section=Section.LIVE,
    rare=True,
    is_flag=True,
    expose_value=False,
    callback=_apply_code_policy,
    help="Refuse module:callable, so that no code of a configuration or the working folder runs.",
)
