from rankgauge.measures.descriptions import describe as describe
from rankgauge.measures.descriptions import listing as listing
from rankgauge.measures.measure import Measure as Measure
from rankgauge.measures.measure import MeasureScale as MeasureScale
from rankgauge.measures.names import parse_measures as parse_measures

__all__: list[str]
