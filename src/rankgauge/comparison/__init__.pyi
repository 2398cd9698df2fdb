from rankgauge.comparison.compare import compare_evaluation as compare_evaluation
from rankgauge.comparison.gate.baseline import Baseline as Baseline
from rankgauge.comparison.gate.result import GateResult as GateResult
from rankgauge.comparison.result import Difference as Difference
from rankgauge.comparison.result import GroupDifference as GroupDifference

__all__: list[str]
