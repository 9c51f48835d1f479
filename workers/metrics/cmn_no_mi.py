"""CMN without mutual information: g, the probability that the response follows (Zhao et al., 2023,
Tables 1, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, OptionValue
from workers.metrics.common.cmn_options import CITATION, RECIPE, TRAINED
from workers.metrics.common.options import SYSTEMS_AT_ONCE, missing_trained

if TYPE_CHECKING:
    from workers.metrics.common.latent_scorers import FollowScores


def _build(options: Mapping[str, OptionValue]) -> FollowScores:
    from workers.metrics.common.latent_scorers import FollowScores

    return FollowScores(str(options["trained"]))


METRIC = Metric(
    name="cmn_no_mi",
    version="2",
    summary="CMN without mutual information: the probability that the response follows its "
    "context.",
    citation=CITATION,
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    options=(TRAINED,),
    missing=missing_trained("cmn_no_mi", RECIPE),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, x) = g = P(y = 1 \mid c, x)",
    description="""The next-sentence head of CMN's model alone: how likely it thinks that the
response comes next. It needs no reference and draws nothing, so it has no Monte-Carlo error.

The head learned to tell a context's own response from another conversation's, as usr_retrieval's
model did from many at a time: a common topic goes far with both. The paper's table has it as the
ablation without mutual information.""",
)
