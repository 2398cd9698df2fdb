from rankgauge.labels.agreement import RaterAgreement as RaterAgreement
from rankgauge.labels.agreement import rater_agreement as rater_agreement
from rankgauge.labels.estimates import LabelEstimate as LabelEstimate
from rankgauge.labels.estimates import LabelEstimates as LabelEstimates
from rankgauge.labels.estimates import estimate_with_machine_labels as estimate_with_machine_labels
from rankgauge.labels.judges import open_judge as open_judge
from rankgauge.labels.judgment_file import JudgmentFile as JudgmentFile
from rankgauge.labels.machine import MachineJudge as MachineJudge
from rankgauge.labels.machine import judge_by_machine as judge_by_machine
from rankgauge.labels.pooling import PoolOptions as PoolOptions
from rankgauge.labels.pooling import pool_documents as pool_documents
from rankgauge.labels.raters import ratings_of as ratings_of
from rankgauge.labels.raters import read_raters as read_raters
from rankgauge.labels.reading import read_judgments as read_judgments
from rankgauge.labels.reading import read_pool as read_pool
from rankgauge.labels.records import Judgment as Judgment
from rankgauge.labels.records import PoolItem as PoolItem
from rankgauge.labels.sampled import sampled_values as sampled_values
from rankgauge.labels.texts import with_texts as with_texts
from rankgauge.labels.texts import write_pool as write_pool
from rankgauge.labels.verdicts import Verdict as Verdict

__all__: list[str]
