"""Run the examples of a page, exactly as written, and then the checks of a script, all in this process.

Started with the Python of the libraries' environment: importing a library takes seconds, so it is done once. The two
arguments are the page and the script, of which every function whose name starts with ``check_`` is a check.
"""

from __future__ import annotations

import re
import runpy
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> int:
    """Run each example as a script of its own, and return their number."""
    examples = BLOCK.findall(page.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for number, example in enumerate(examples, 1):
            script = Path(folder) / f"example_{number}.py"
            script.write_text(example, encoding="utf-8")
            runpy.run_path(str(script), run_name="__main__")
    return len(examples)


def run_checks(script: Path) -> int:
    """Call each check, and return their number."""
    names = runpy.run_path(str(script))
    checks = [function for name, function in names.items() if name.startswith("check_")]
    for check in checks:
        check()
    return len(checks)


def main(page: str, script: str) -> None:
    """Run both, and print how many examples and checks there were."""
    print(f"{run_page(Path(page))} examples, {run_checks(Path(script))} checks passed")  # noqa: T201 - for the test


if __name__ == "__main__":
    main(*sys.argv[1:])
