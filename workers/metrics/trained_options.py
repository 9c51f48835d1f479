"""What the metrics that a model trained here makes share in their declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workers.metrics.base import Option, OptionValue
from workers.training.by_name import why_no_model

SYSTEMS_AT_ONCE = 16
DENSITY_CITATION = (
    "Park et al. (2023), DEnsity: Open-domain Dialogue Evaluation Metric using Density "
    "Estimation, Findings of ACL"
)


def trained_option(recipe: str) -> Option:
    """Declare the option ``trained``, which has no default.

    Args:
        recipe: the recipe by which ``manage.py train`` makes such models.
    """
    return Option(
        "trained",
        "",
        f"the name of a model trained here (manage.py train {recipe}); there is no default",
    )


def missing_trained(metric: str, recipe: str) -> Callable[[Mapping[str, OptionValue]], str]:
    """Function for ``Metric.missing`` of a metric that needs a model trained here.

    Args:
        metric: its name, for the advice.
        recipe: by which the model must have been trained.

    Returns:
        A function from option values to why there is no such model, or "".
    """
    return lambda options: why_no_model(metric, str(options["trained"]), recipe)
