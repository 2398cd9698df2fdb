from rankgauge.distributed.spark.evaluation import collect_scores as collect_scores
from rankgauge.distributed.spark.evaluation import evaluate as evaluate
from rankgauge.distributed.spark.session import input_errors as input_errors
from rankgauge.distributed.spark.session import start_session as start_session

__all__: list[str]
