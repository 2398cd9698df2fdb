from rankgauge.config.band_sources import load_bands as load_bands
from rankgauge.config.bands import Bands as Bands
from rankgauge.config.bands import Uplift as Uplift
from rankgauge.config.config_file import load_config as load_config
from rankgauge.config.servers import PostgresSection as PostgresSection
from rankgauge.config.uplift import UpliftResult as UpliftResult
from rankgauge.config.uplift import uplift_of as uplift_of

__all__: list[str]
