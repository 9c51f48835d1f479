"""What ``workers.metrics.common.options`` holds of encoders: plug-ins of 0.2 import it from here.
Goes in 0.4."""

from workers.metrics.common.options import ENCODER as MODEL
from workers.metrics.common.options import ENCODER_SYSTEMS_AT_ONCE as SYSTEMS_AT_ONCE
from workers.metrics.common.options import NORMALIZE_AS_IT_IS, preparation

__all__ = ["MODEL", "NORMALIZE_AS_IT_IS", "SYSTEMS_AT_ONCE", "preparation"]
