"""Code that a name refers to (``module:callable``): whether it may be loaded, and who is informed.

A name in a configuration runs code, often of the working folder. From Python that is what the caller asked for; a
command line says which code it loads, and refuses it with ``--no-code``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import UsageError, shown


@dataclass(frozen=True)
class CodePolicy:
    """Whether code may be loaded, and a function that receives each object once: what names it, and its path."""

    is_allowed: bool = True
    announce: Callable[[str, str], None] | None = None
    announced: set[tuple[str, str]] = field(default_factory=set)


_policies = [CodePolicy()]  # the last one holds, in every thread


@contextmanager
def code_policy(policy: CodePolicy) -> Iterator[None]:
    """Apply a policy to all code that is loaded within the block."""
    _policies.append(policy)
    try:
        yield
    finally:
        _policies.pop()


@contextmanager
def own_folder() -> Iterator[None]:
    """Return to the working folder after code of the user has run: the caller's paths start from it."""
    folder = Path.cwd()
    try:
        yield
    finally:
        os.chdir(folder)


def check_code(path: str, kind: str) -> None:
    """Raise if code may not be loaded; otherwise announce it. Call it before anything of it is imported."""
    policy = _policies[-1]
    if not policy.is_allowed:
        raise UsageError(
            f"{kind} {shown(path)} is code, which --no-code refuses",
            hint="choose a built-in one, or leave out --no-code if you trust that code",
        )
    if policy.announce is not None and (kind, path) not in policy.announced:
        policy.announced.add((kind, path))
        policy.announce(kind, path)
