"""Results over time, in one file: saved, listed, compared although labels grow, exported and pruned.

store         History: the file with its entries
entries       EntrySummary, SavedEntry: what an entry says, without and with the values of its queries
filters       EntryFilter: which entries are meant
rows          entries and judgments as rows of the tables
saving        what is saved of an evaluation
tables        the tables of the file
packing       scores, judgments and runs as compressed bytes, exact to the last bit
repository    the git commit, branch and state of the working folder
location      where the file is
times         times as users write them
names         the names of entries and tags
lines         entries and judgments as JSON Lines; reading reads them back, shapes says what they are
exchange      export to and import from a folder of such files
series        entries of one system as they can be compared: values of queries over time
trends        Trend: a measure over time, with intervals, change points, and what else changed
baselines     a baseline for a gate: the mean since the last change point, and an anchor
checks        QualityChange: recent change points of all systems
alerts        which changes were reported already
delivery      a report to a program or a webhook
pruning       which old entries are deleted
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
