"""PRD: the best balance of precision and recall between a system's pairs and people's (Xiang et
al., 2021).

The formula is in ``precision_recall``, the points in ``pair_features``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import (
    CITATION,
    ENCODER,
    ENCODER_SYSTEMS_AT_ONCE,
    HUMAN,
    LAYER,
    missing_model,
)

SEED = Option(
    "seed",
    0,
    "the first seed of the clusterings; every system begins with it",
    least=0,
    most=2**32 - 1001,
)
SEEDS = Option(
    "seeds",
    1,
    "how many seeds, one after another: the score is the mean over them",
    least=1,
    most=1000,
)
CLUSTERS = Option("clusters", 20, "clusters that all points are put into", least=2, most=1000)
RUNS = Option("runs", 10, "clusterings of a seed whose curves are averaged", least=1, most=1000)
ANGLES = Option("angles", 1001, "slopes λ that are tried", least=3, most=100_001)

_EQUATION = (
    r"\mathrm{PRD} = \max_{\lambda} \frac{2\,\alpha(\lambda)\,\beta(\lambda)}{\alpha(\lambda) + "
    r"\beta(\lambda)}, \quad \alpha(\lambda) = \sum_{v} \min\left(\lambda R(v), G(v)\right), "
    r"\quad \beta(\lambda) = \sum_{v} \min\left(R(v), \frac{G(v)}{\lambda}\right)"
)
_DESCRIPTION = """Each response, together with the context that it answers, becomes a point: the
state of the first token after the last layer of an encoder. So do people's responses. All points
are put into 20 clusters (`clusters`), and each of the two becomes a distribution over them: G of
the system, R of people. Precision asks how much of what the system says lies where people
speak, recall how much of what people say the system covers. The slope λ trades one for the
other; PRD is the best harmonic mean that some slope gives, and 1 where both fill the clusters
alike.

The clusters are found by chance. Each score is made of 10 clusterings whose curves are averaged,
and it still moves with the seed: on corpora of 60 to 150 contexts by 0.003 to 0.0065, where systems
differ by hardly more, so that the order of systems changes too. One run is no result: look at the
spread next to each score, or ask for more seeds.

It compares what is said on the whole. It cannot tell a good answer from a bad one at any place, a
system that gave people's answers to the wrong contexts would do well, and clusters of a handful of
points are coarse.

λ is the tangent of 1,001 angles between 1e-10 and π/2 − 1e-10; each clustering is the best of 10
starts; the denominator has 1e-6 added, as in the released code. seed is the one with which the
generator of each system begins (the released code has none), seeds how many are taken, one after
another: the score is the mean over them. runs and angles are the paper's by default. With fewer
points of both together than clusters it is undefined. The stored spread is that between the
seeds, or with one seed that of its 10 runs by the jackknife (on 26 systems of three corpora 0.0040
on average, 0.0039 between 20 seeds). To rank systems take `prd[seeds=20]`.

Given the released code's clusters, curve and score equal its own to 1e-12. The clusters are those
of scikit-learn's `MiniBatchKMeans` with the same seed, found faster from the points' inner
products; with more than 1,024 points scikit-learn itself is used. A near tie in the points' last
digits can send a run another way: of 26 systems 24 had the released code's score of seed 0 to the
last digit, the others differed by 0.003 or less."""


def _build(options: Mapping[str, OptionValue]) -> Any:
    from workers.metrics.common.precision_recall import prd_scorer

    return prd_scorer(options)


METRIC = Metric(
    name="prd",
    version="3",
    summary="How far a system's pairs of context and response fall into the same clusters as "
    "people's.",
    citation=f"{CITATION}; Sajjadi et al. (2018), Assessing Generative Models via Precision and "
    "Recall, NeurIPS",
    build=_build,
    levels=frozenset({"system"}),
    needs=frozenset({"context", "human_corpus"}),
    queue="gpu",
    options=(ENCODER, LAYER, HUMAN, SEED, SEEDS, CLUSTERS, RUNS, ANGLES),
    signature_facts=(("pooling", "first-token"), ("starts", "10")),
    missing=missing_model,
    systems_at_once=ENCODER_SYSTEMS_AT_ONCE,
    equation=_EQUATION,
    description=_DESCRIPTION,
)
