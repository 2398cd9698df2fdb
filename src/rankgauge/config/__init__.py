"""One configuration file, ``rankgauge.yaml``: one schema, one validator, one interpreter.

    environment_variables  ${NAME} in a configuration; YAML itself is read in io.formats.yaml_text
    schema               the sections and the values of each key (pydantic); section_model is what they are made of
    config_file          load_config: the two together, every fault with its line
    configured_settings  what a configuration sets, by the names of Settings
    settings             Settings: what a file, the command line and Python set, with one meaning in every command
    retriever_settings   every setting of a retriever, with its default; retriever_sections has its sections
    servers              HTTP and PostgreSQL servers; shipped templates; request_templates and json_paths for requests
    judges               a model that judges, behind an endpoint
    bands                targets: bands of values; band_sources finds them, uplift checks improvements over a baseline

A new section is a model in ``schema`` and a field of ``Config``. pydantic and yaml are imported only if a
configuration is read.
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
