"""Values of environment variables in a configuration: ``${NAME}`` keeps secrets out of files."""

from __future__ import annotations

import os
import re

from rankgauge.errors import UsageError

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand(text: str) -> str:
    """The text with every ``${NAME}`` replaced by the environment variable; the values must not be written anywhere."""
    missing = next((name for name in VARIABLE.findall(text) if name not in os.environ), None)
    if missing is not None:
        raise UsageError(f"the environment variable {missing} is not set", hint=f"set it: export {missing}=…")
    return VARIABLE.sub(lambda match: os.environ[match[1]], text)
