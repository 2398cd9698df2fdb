from rankgauge.validation.codes import CODES as CODES
from rankgauge.validation.codes import Code as Code
from rankgauge.validation.findings import Finding as Finding
from rankgauge.validation.findings import Place as Place
from rankgauge.validation.findings import Validation as Validation
from rankgauge.validation.qrels_validation import validate_qrels as validate_qrels
from rankgauge.validation.repair import Repair as Repair
from rankgauge.validation.repair import repair_text as repair_text
from rankgauge.validation.run_validation import validate_run as validate_run
from rankgauge.validation.validated_file import ValidationOptions as ValidationOptions

__all__: list[str]
