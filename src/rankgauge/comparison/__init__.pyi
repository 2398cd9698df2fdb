from rankgauge.comparison.compare import compare_evaluation as compare_evaluation
from rankgauge.comparison.differences import Difference as Difference
from rankgauge.comparison.differences import GroupDifference as GroupDifference
from rankgauge.comparison.gate.baseline import Baseline as Baseline
from rankgauge.comparison.gate.gate_result import GateResult as GateResult
from rankgauge.comparison.gate.requirements import GateRule as GateRule
from rankgauge.comparison.order_agreement import OrderAgreement as OrderAgreement
from rankgauge.comparison.order_agreement import QrelsAgreement as QrelsAgreement
from rankgauge.comparison.order_agreement import Swap as Swap
from rankgauge.comparison.order_agreement import qrels_agreement as qrels_agreement
from rankgauge.comparison.run_difference import QueryDifference as QueryDifference
from rankgauge.comparison.run_difference import RunDifference as RunDifference
from rankgauge.comparison.run_difference import diff_runs as diff_runs

__all__: list[str]
