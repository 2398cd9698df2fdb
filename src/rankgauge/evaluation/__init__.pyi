from rankgauge.core.hits import Hits as Hits
from rankgauge.core.hits_builder import join as join
from rankgauge.evaluation.audit.ties import TieAudit as TieAudit
from rankgauge.evaluation.audit.ties import audit_ties as audit_ties
from rankgauge.evaluation.audit.unjudged import UnjudgedAudit as UnjudgedAudit
from rankgauge.evaluation.audit.unjudged import audit_unjudged as audit_unjudged
from rankgauge.evaluation.evaluate import Evaluation as Evaluation

__all__: list[str]
