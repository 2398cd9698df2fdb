from rankgauge.measures.descriptions import describe as describe
from rankgauge.measures.descriptions import listing as listing
from rankgauge.measures.parse import parse_measures as parse_measures
from rankgauge.measures.spec import Measure as Measure
from rankgauge.measures.spec import MeasureScale as MeasureScale
from rankgauge.measures.weights import weighted_mean as weighted_mean

__all__: list[str]
