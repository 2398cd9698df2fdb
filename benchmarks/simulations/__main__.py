"""``python -m benchmarks.simulations NAME…``: run simulations and print their Markdown tables."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Sequence

from benchmarks import simulations


def names() -> list[str]:
    """The simulations: every module of the package except this one and private ones."""
    modules = (module.name for module in pkgutil.iter_modules(simulations.__path__))
    return sorted(name for name in modules if not name.startswith("_"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulations", description=simulations.__doc__)
    parser.add_argument("names", nargs="+", choices=names(), metavar="NAME", help=f"one of {', '.join(names())}")
    for name in parser.parse_args(arguments).names:
        for text in importlib.import_module(f"benchmarks.simulations.{name}").tables():
            print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
