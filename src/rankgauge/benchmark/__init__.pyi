from rankgauge.benchmark.plan import BenchmarkPlan as BenchmarkPlan
from rankgauge.benchmark.plan import PlannedSystem as PlannedSystem
from rankgauge.benchmark.plan import plan_of_config as plan_of_config
from rankgauge.benchmark.plan import plan_of_folder as plan_of_folder
from rankgauge.benchmark.plan import plan_of_results as plan_of_results
from rankgauge.benchmark.plan import shipped_plan as shipped_plan
from rankgauge.benchmark.run import BenchmarkListener as BenchmarkListener
from rankgauge.benchmark.verify import Verification as Verification
from rankgauge.benchmark.verify import verify_benchmark as verify_benchmark

__all__: list[str]
