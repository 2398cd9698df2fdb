"""Results over time, in a folder of files: saved, listed, and looked at as trends although labels change.

folder           History: the folder with its entries; the runs of an evaluation, saved
entry_files      the file of an entry, read back
entries          EntrySummary, SavedEntry: what an entry says; EntryFilter; times
location         where the folder is; GitState: the git commit, branch and state of the working folder
trends           Trend: a measure over time, with change points; the entries of one system as they can be compared
quality_checks   QualityCheck: recent changes of all systems
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
