"""Results over time, in one file: saved, listed, compared although labels grow, exported and pruned.

store            History: the file with its entries; the runs of an evaluation, saved; PruneRule: which go
entries          EntrySummary, SavedEntry: what an entry says; EntryFilter; names, tags and times
entry_columns    the list of what an entry stores
entry_codec      an entry as packed bytes and as JSON Lines, by that list
sql_tables       the tables of the file, and their rows
location         where the file is; GitState: the git commit, branch and state of the working folder
export_import    export to and import from a folder of JSON Lines
trends           Trend: a measure over time, with change points; the entries of one system as they can be compared
quality_checks   QualityCheck: recent changes of all systems, each reported once
alert_delivery   a report of them, handed to a program or a webhook
branch_baseline  a baseline for a gate: the mean since the last change point, and an anchor
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
