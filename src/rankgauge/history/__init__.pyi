from rankgauge.comparison.versions.changes import JudgmentChanges as JudgmentChanges
from rankgauge.comparison.versions.compare import VersionComparison as VersionComparison
from rankgauge.comparison.versions.parts import ChangeParts as ChangeParts
from rankgauge.history.checks import CheckOptions as CheckOptions
from rankgauge.history.checks import QualityChange as QualityChange
from rankgauge.history.checks import QualityCheck as QualityCheck
from rankgauge.history.entries import EntryFacts as EntryFacts
from rankgauge.history.entries import EntrySummary as EntrySummary
from rankgauge.history.entries import SavedEntry as SavedEntry
from rankgauge.history.exchange import ImportedEntries as ImportedEntries
from rankgauge.history.filters import EntryFilter as EntryFilter
from rankgauge.history.pruning import PruneRule as PruneRule
from rankgauge.history.repository import GitState as GitState
from rankgauge.history.store import History as History
from rankgauge.history.trends import Trend as Trend
from rankgauge.history.trends import TrendOptions as TrendOptions

__all__: list[str]
