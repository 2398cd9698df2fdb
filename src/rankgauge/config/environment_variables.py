"""``${NAME}`` in a configuration: the value of an environment variable, which is never written anywhere."""

from __future__ import annotations

import os
from collections.abc import Callable

from rankgauge.errors import UsageError, shown
from rankgauge.secrets import register_secret


def expand(text: str, keeps: Callable[[str], bool] | None = None) -> str:
    """Replace each ``${NAME}`` by the value of that environment variable; ``$${`` is a literal ``${``.

    The values are secrets from now on: :mod:`rankgauge.secrets` masks them. Variables that ``keeps`` names stay as they
    are written.
    """
    parts: list[str] = []
    position = 0
    while (start := text.find("${", position)) >= 0:
        if start > position and text[start - 1] == "$":
            parts.append(text[position : start - 1] + "${")
            position = start + 2
            continue
        end = text.find("}", start)
        name = text[start + 2 : end] if end >= 0 else ""
        if not name.isidentifier() or not name.isascii():
            found = shown(text[start : end + 1 if end >= 0 else None])
            raise UsageError(
                f"expected ${{NAME}}, an environment variable, at character {start + 1}, found {found}",
                hint="write $${ for the characters ${ themselves",
            )
        value = os.environ.get(name)
        if value is None:
            raise UsageError(
                f"the environment variable {name} is not set", hint=f"export {name}=…, or remove ${{{name}}}"
            )
        register_secret(value)
        parts += [text[position:start], text[start : end + 1] if keeps is not None and keeps(name) else value]
        position = end + 1
    return "".join([*parts, text[position:]])
