"""Did my retrieval get better, how certain is that, and which queries changed?

The main verbs and types are here. The rest is in namespaces: ``rankgauge.stats``, ``.measures``, ``.io``,
``.validation``, ``.evaluation``, ``.distributed.spark``, ``.comparison``, ``.config``, ``.retrieval``, ``.lists``,
``.rag``, ``.labels``, ``.adapters``, ``.report``, ``.history``, ``.render`` and ``.benchmark``. Names are imported on
first use.
"""

from rankgauge._version import __version__ as __version__
from rankgauge.core.public_names import attach

__getattr__, _public_names = attach(__name__, __file__)


def __dir__() -> list[str]:
    return [*_public_names(), "__version__"]
