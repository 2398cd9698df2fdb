from rankgauge.comparison.compare import compare_evaluation as compare_evaluation
from rankgauge.comparison.gate.baseline import Baseline as Baseline
from rankgauge.comparison.gate.result import GateResult as GateResult
from rankgauge.comparison.order_agreement import OrderAgreement as OrderAgreement
from rankgauge.comparison.order_agreement import QrelsAgreement as QrelsAgreement
from rankgauge.comparison.order_agreement import Swap as Swap
from rankgauge.comparison.order_agreement import qrels_agreement as qrels_agreement
from rankgauge.comparison.ranking_difference import QueryDifference as QueryDifference
from rankgauge.comparison.ranking_difference import RunDifference as RunDifference
from rankgauge.comparison.ranking_difference import diff_runs as diff_runs
from rankgauge.comparison.result import Difference as Difference
from rankgauge.comparison.result import GroupDifference as GroupDifference

__all__: list[str]
