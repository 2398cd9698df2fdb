from rankgauge.history.entries import EntryFacts as EntryFacts
from rankgauge.history.entries import EntryFilter as EntryFilter
from rankgauge.history.entries import EntrySummary as EntrySummary
from rankgauge.history.entries import SavedEntry as SavedEntry
from rankgauge.history.folder import History as History
from rankgauge.history.location import GitState as GitState
from rankgauge.history.quality_checks import CheckOptions as CheckOptions
from rankgauge.history.quality_checks import QualityChange as QualityChange
from rankgauge.history.quality_checks import QualityCheck as QualityCheck
from rankgauge.history.trends import Trend as Trend
from rankgauge.history.trends import TrendOptions as TrendOptions

__all__: list[str]
