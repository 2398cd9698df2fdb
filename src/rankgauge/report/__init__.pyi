from rankgauge.report.building import build_report as build_report
from rankgauge.report.building import report_of as report_of
from rankgauge.report.report import Cost as Cost
from rankgauge.report.report import Report as Report

__all__: list[str]
