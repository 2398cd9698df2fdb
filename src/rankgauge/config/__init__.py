"""One configuration file, ``rankgauge.yaml``: one schema, one validator, one interpreter.

    loading          YAML in, plain data out, and the line of every key; nothing in it is ever executed
    schema           the sections and the values of each key (pydantic)
    reading          load_config: the two together, every fault with its line
    settings         Settings: what a file, the command line and Python set, with one meaning in every command
    bands            targets: bands of values, and uplifts over a baseline

A new section is a model in ``schema`` and a field of ``Config``. pydantic and yaml are imported only if a
configuration is read.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
