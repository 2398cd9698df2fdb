"""``python -m benchmarks.simulations NAME…``: run simulations and print their Markdown tables."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks import simulations
from benchmarks.simulations._populations import load


def names() -> list[str]:
    """The simulations: every module of the package except this one and private ones."""
    modules = (module.name for module in pkgutil.iter_modules(simulations.__path__))
    return sorted(name for name in modules if not name.startswith("_"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulations", description=simulations.__doc__)
    parser.add_argument("names", nargs="+", choices=names(), metavar="NAME", help=f"one of {', '.join(names())}")
    parser.add_argument(
        "--collection",
        type=Path,
        metavar="FOLDER",
        help="draw from the runs of this folder (qrels.trec, runs/) instead of the bundled collection's",
    )
    options = parser.parse_args(arguments)
    population = load(options.collection)
    for name in options.names:
        for text in importlib.import_module(f"benchmarks.simulations.{name}").tables(population):
            print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
