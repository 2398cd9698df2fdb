"""One configuration file, ``rankgauge.yaml``: one schema, one validator.

    loading          YAML in, plain data out, and the line of every key; nothing in it is ever executed
    schema           the sections and what each key may be (pydantic)
    reading          load_config: the two together, every fault with its line
    apply            Plan: what a configuration says about an evaluation, without pydantic
    statistics       intervals and tests that a configuration asks for

A new section is a model in ``schema`` and a field of ``Config``. pydantic and yaml are imported only where a
configuration is read.
"""
