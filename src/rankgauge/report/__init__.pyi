from rankgauge.report.report import Report as Report
from rankgauge.report.report import build_report as build_report
from rankgauge.report.report import report_of as report_of
from rankgauge.retrieval.latency import Cost as Cost

__all__: list[str]
