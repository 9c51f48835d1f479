"""CMN without next-sentence prediction: I(c, x) + I(x, r) (Zhao et al., 2023, Tables 1 and 2)."""

from __future__ import annotations

from workers.metrics.base import Metric
from workers.metrics.common.cmn_options import (
    CITATION,
    FORM,
    RECIPE,
    SAMPLES,
    SEED,
    TRAINED,
    building,
)
from workers.metrics.common.options import SYSTEMS_AT_ONCE, missing_trained

METRIC = Metric(
    name="cmn_no_nsp",
    version="2",
    summary="CMN without the weight by next-sentence prediction: the sum of both informations.",
    citation=CITATION,
    build=building("without_nsp"),
    needs=frozenset({"context", "reference"}),
    queue="gpu",
    value_range=(None, None),
    options=(TRAINED, FORM, SAMPLES, SEED),
    signature_facts=(("references", "best"),),
    missing=missing_trained("cmn_no_nsp", RECIPE),
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{score}(c, x, r) = I(c, x) + I(x, r)",
    description="""Both of CMN's informations, unweighed: what the response's latent vector shares
with the context's and with the reference's. The options are those of cmn, and so are the draws: the
same seed gives the same I(c, x) and I(x, r).

The model is whichever is named. The paper leaves g out of the score of one model (section 5.2), as
a model of the defaults does here; one trained with `--next-sentence 0` never learned what follows,
which goes further. Without g nothing tells a response that follows from one that merely has the
context's topic.""",
)
