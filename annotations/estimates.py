"""Where ``common.estimates`` was until 0.3: plug-ins import it from here. Goes in 0.4."""

from common.estimates import Estimate, Undefined

__all__ = ["Estimate", "Undefined"]
