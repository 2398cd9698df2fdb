from rankgauge.config.bands.bands import Bands as Bands
from rankgauge.config.bands.bands import Uplift as Uplift
from rankgauge.config.bands.loading import load_bands as load_bands
from rankgauge.config.bands.uplift import UpliftResult as UpliftResult
from rankgauge.config.bands.uplift import uplift_of as uplift_of
from rankgauge.config.postgres import PostgresSection as PostgresSection
from rankgauge.config.reading import load_config as load_config

__all__: list[str]
