"""Draw what a command prints on a terminal: ``python -m scripts.terminal_picture OUT [--columns N] -- COMMAND …``.

The command runs on a pseudo-terminal of this width, with its own colors. OUT-light.svg and OUT-dark.svg show it;
they load no fonts. Not on Windows, which has no pseudo-terminals of this kind.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI, TerminalTheme
from rich.text import Text

THEMES: dict[str, TerminalTheme] = {"light": DEFAULT_TERMINAL_THEME, "dark": DIMMED_MONOKAI}
FONT_FACE = re.compile(r"\s*@font-face\s*{.*?}", re.DOTALL)  # rich's template loads a font from elsewhere


def main() -> None:
    """Run the command and write both pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--columns", type=int, default=80, metavar="N", help="width of the terminal")
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    output = on_a_terminal(options.command, options.columns)
    for name, theme in THEMES.items():
        path = options.out.with_name(f"{options.out.name}-{name}.svg")
        path.write_text(svg(options.command, output, options.columns, theme), encoding="utf-8")


def on_a_terminal(command: list[str], columns: int) -> str:
    """What the command writes to a terminal, with its escape sequences; its messages are left out."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment["TERM"] = "xterm-256color"
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # Linux: the other end is closed
        pass
    os.close(ours)
    if process.wait():
        raise SystemExit(f"exit {process.returncode}: {' '.join(command)}")
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


def svg(command: list[str], output: str, columns: int, theme: TerminalTheme) -> str:
    """The prompt and the output as an SVG picture."""
    console = Console(record=True, width=columns, file=StringIO(), color_system="truecolor")
    console.print(Text("$ " + " ".join(command), style="bold"))
    console.print(Text.from_ansi(output.rstrip("\n")))
    return FONT_FACE.sub("", console.export_svg(title="", theme=theme, unique_id="terminal"))


if __name__ == "__main__":
    main()
