"""What ``workers.metrics.common.options`` says of models: plug-ins of 0.2 import it from here. Goes
in 0.4."""

from workers.metrics.common.options import LoadedModel, account_of, missing_model

__all__ = ["LoadedModel", "account_of", "missing_model"]
