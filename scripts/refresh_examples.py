"""Run every console example of README.md and docs/, and write what it prints now below it. Review the diff."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Refresh the pages named as arguments, or all of them."""
    pages = [Path(name) for name in sys.argv[1:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if "```console" not in text:
            continue
        with tempfile.TemporaryDirectory() as folder:
            refreshed = BLOCK.sub(lambda match: match[1] + _refreshed(match[2], folder) + match[3], text)
        if refreshed != text:
            page.write_text(refreshed, encoding="utf-8")
            print(f"changed {page}")
    return 0


def _refreshed(block: str, folder: str) -> str:
    """The commands of a block, each with its output; a command without output in the page stays without."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
    }
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    out = parts[0]
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"exit {done.returncode}: {command}\n{done.stderr}", file=sys.stderr)
            out += f"$ {part}"
            continue
        shown = done.stdout or done.stderr
        blank = "\n" if expected.endswith("\n\n") else ""
        out += f"$ {command}\n" + (f"{shown.rstrip()}\n{blank}" if expected.strip() else expected)
    return out


if __name__ == "__main__":
    sys.exit(main())
