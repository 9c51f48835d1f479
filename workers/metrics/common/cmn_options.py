"""What CMN and its two ablations share in their declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Option, OptionValue
from workers.metrics.common.options import trained_option

if TYPE_CHECKING:
    from workers.metrics.common.latent_scorers import LatentScores
    from workers.training.core.latent import Variant
    from workers.training.core.losses import InformationForm

CITATION = (
    "Zhao et al. (2023), Evaluating Open-Domain Dialogues in Latent Space with Next Sentence "
    "Prediction and Mutual Information, ACL"
)
RECIPE = "cmn"
TRAINED = trained_option(RECIPE)
FORM = Option(
    "form",
    "paper",
    "the information's estimate: paper, equation 4; released, all as in the released code; bound, "
    "a true lower bound",
    ("paper", "released", "bound"),
)
SAMPLES = Option(
    "samples", 100, "draws of each latent vector, and of each negative's for each of them", least=2
)
SEED = Option("seed", 0, "of the draws and of the negatives", least=0)
MONTE_CARLO_ERROR = "Monte-Carlo error"
"""What a score's remark begins with."""
_ERROR = re.compile(rf"{MONTE_CARLO_ERROR} (\d+\.\d+)")


def error_in_remark(remark: str) -> float | None:
    """Monte-Carlo standard error that a score's remark states.

    Args:
        remark: of one score of a CMN run.

    Returns:
        On the score's scale, 0 or more; None where the remark states none.
    """
    found = _ERROR.search(remark)
    return None if found is None else float(found[1])


def building(variant: Variant) -> Callable[[Mapping[str, OptionValue]], LatentScores]:
    """Function for ``Metric.build`` of one variant of CMN.

    Args:
        variant: which terms of CMN's score count.

    Returns:
        A function from option values to a scorer. It imports the model code only when it is called.
    """

    def build(options: Mapping[str, OptionValue]) -> LatentScores:
        from workers.metrics.common.latent_scorers import LatentScores
        from workers.training.core.latent import Estimation
        from workers.training.core.latent_scorer import LatentScoring

        form, samples = str(options["form"]), int(options["samples"])
        known: dict[str, InformationForm] = {
            "paper": "paper",
            "released": "released",
            "bound": "bound",
        }
        estimation = Estimation(known[form], samples, samples, int(options["seed"]))
        return LatentScores(
            str(options["trained"]),
            LatentScoring(variant, estimation, released_prior=form == "released"),
        )

    return build
