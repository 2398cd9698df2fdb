"""Several retrievers on the same queries and judgments, in one folder that can be verified.

plan         which systems on which chunkings, from YAML, a folder or options
run          run_benchmark: every system fetched, timed, scored, written
folder       where each file is, and how it is read back into a report
record       the manifest: inputs, methods, settings, versions, hashes
label_inputs labels that are matched by rules, stored and read back
chunkings    which system searches which chunks, and how these are scored on labels by text
verify       verify_benchmark: every number recomputed, every byte checked
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
