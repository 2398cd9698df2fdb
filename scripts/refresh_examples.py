"""Run every example of README.md and docs/ that shows its output, and write what it prints now. Review the diff."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.examples import PRINTING, environment, save_files, session, sessions, shown

CONSOLE = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Refresh the pages named as arguments, each with the pages of its session, or all of them."""
    named = {Path(name).resolve() for name in sys.argv[1:]}
    for pages in sessions():
        if named and not named & {page.resolve() for page in pages}:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for page in pages:
                save_files(page, Path(folder))
                text = page.read_text(encoding="utf-8")
                refreshed = _refresh(text, folder)
                if refreshed != text:
                    page.write_text(refreshed, encoding="utf-8")
                    print(f"changed {page}")
    return 0


def _refresh(text: str, folder: str) -> str:
    refreshed = CONSOLE.sub(lambda match: match[1] + _refreshed(match[2], folder) + match[3], text)
    return PRINTING.sub(lambda match: _with_output(match, folder), refreshed)


def _refreshed(block: str, folder: str) -> str:
    """The commands of a block, each with its output; a command without output in the page stays without."""
    out = block.partition("$ ")[0]
    for command, expected in session(block):
        done = _run(["bash", "-c", command], folder)
        if done.returncode:
            print(f"exit {done.returncode}: {command}\n{done.stderr}", file=sys.stderr)
            out += f"$ {command}\n{expected}"
            continue
        blank = "\n" if expected.endswith("\n\n") else ""
        text = f"{shown(expected, done.stdout, done.stderr).rstrip()}\n{blank}" if expected.strip() else expected
        out += f"$ {command}\n{text}"
    return out


def _with_output(match: re.Match[str], folder: str) -> str:
    """A Python block, and below it what it prints."""
    done = _run([sys.executable, "-W", "error", "-c", match["code"]], folder)
    if done.returncode:
        print(f"exit {done.returncode}: {match['code']}\n{done.stderr}", file=sys.stderr)
        return match[0]
    return f"```python\n{match['code']}```\n\n```output\n{done.stdout.rstrip()}\n```"


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
