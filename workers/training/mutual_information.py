"""CMN's score of a response: mutual information in the latent space, weighed by whether it follows
(Zhao et al., 2023).

Score = g · I(c, x) + I(x, r) (equation 7), c the context, x the response, r the reference. Both
informations contrast dot products of latent samples (equation 5): of q(z | c, x) with q(z | c, r)
against q(z | c, r_n) for I(x, r), and with p(z | c) against the priors of other contexts p(z | c_n)
for I(c, x). The paper leaves open what the negatives of I(c, x) are; other contexts are the
released code's choice.

What the paper does not give either, and is the released code's: ten negatives, and 100 draws of
each latent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from workers.training.streams import stream

if TYPE_CHECKING:
    from workers.training.losses.info_nce import Form

Float64Array = NDArray[np.float64]
Variant = Literal["full", "without_nsp", "without_mi"]
"""Tables 1 and 2: ``without_nsp`` is I(c, x) + I(x, r), ``without_mi`` is g alone."""

NEGATIVES = 10
DRAWS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """A diagonal Gaussian over z; both d."""

    mean: Float64Array
    log_variance: Float64Array
    """log σ², not log σ."""


@dataclass(frozen=True, slots=True)
class Estimation:
    form: Form = "paper"
    draws: int = DRAWS
    """Of x's latent z₂: the mean is taken over them."""
    inner_draws: int = DRAWS
    """Of each negative's latent for each draw of z₂, averaged inside the logarithm; an average of
    few is a little small in the mean of its logarithm, so the estimate a little large. 0: no draws
    but the expectations given z₂, which have a closed form: E e^(z₂ · z) = e^(z₂ · μ + ½ Σ z₂² σ²).
    Faster, without that bias, and with a smaller error."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.draws < 2 or self.inner_draws < 0:
            raise ValueError("an estimate with its error needs two draws")


@dataclass(frozen=True, slots=True)
class Information:
    """In nats. May be below 0: it is an estimate, of a bound at best."""

    value: float
    error: float
    """The Monte-Carlo standard error: how far another seed's value lies off, as a standard
    deviation. Of the draws of latents only; the choice of negatives is not in it."""


@dataclass(frozen=True, slots=True)
class Latents:
    """What the model says of a response, its reference and its context, and of the negatives."""

    response: Latent
    """q(z | c, x)."""
    reference: Latent
    """q(z | c, r)."""
    context: Latent
    """p(z | c). The released code reads it off the posterior's encoder; which encoder is the
    model's affair."""
    other_references: Sequence[Latent]
    """q(z | c, r_n), all with this context."""
    other_contexts: Sequence[Latent]
    """p(z | c_n)."""
    follows: float
    """g, 0 to 1."""


@dataclass(frozen=True, slots=True)
class CmnScore:
    value: float
    error: float
    """Monte-Carlo standard error of ``value``; 0 for the variant without mutual information."""
    with_context: Information
    """I(c, x)."""
    with_reference: Information
    """I(x, r)."""
    follows: float


def cmn_score(
    latents: Latents, key: str, variant: Variant = "full", settings: Estimation | None = None
) -> CmnScore:
    """``key`` says whose score it is (its context and response): with the seed it decides the
    draws, so a score depends neither on the other responses nor on their order. The two
    informations have draws of their own."""
    settings = settings or Estimation()

    def information(name: str, true: Latent, others: Sequence[Latent]) -> Information:
        return estimate(latents.response, true, others, settings, stream(settings.seed, name, key))

    with_context = information("context", latents.context, latents.other_contexts)
    with_reference = information("reference", latents.reference, latents.other_references)
    if variant == "without_mi":
        return CmnScore(latents.follows, 0.0, with_context, with_reference, latents.follows)
    weight = 1.0 if variant == "without_nsp" else latents.follows
    return CmnScore(
        weight * with_context.value + with_reference.value,
        math.hypot(weight * with_context.error, with_reference.error),
        with_context,
        with_reference,
        latents.follows,
    )


def estimate(
    response: Latent,
    true: Latent,
    others: Sequence[Latent],
    settings: Estimation,
    random: np.random.Generator,
) -> Information:
    """I(x, ·) of a response's latent with that of its reference or context, against the others'.
    Raises ``ValueError`` where there are too few others for the form (two for the paper's, else
    one)."""
    import torch

    from workers.training.losses.info_nce import info_nce

    if not others:
        raise ValueError("there is no negative")
    z = _drawn(response, settings.draws, random)
    means = np.stack([other.mean for other in others])
    variances = np.exp(np.stack([other.log_variance for other in others]))
    # Draws × others: mean and variance of z · z' given z
    along, spread = (z @ means.T, (z**2) @ variances.T)
    if settings.inner_draws:
        positive = np.einsum("ij,ij->i", z, _drawn(true, settings.draws, random))
        # A fixed z times a Gaussian vector is a Gaussian number: drawing that is drawing the
        # vectors.
        shape = (*along.shape, settings.inner_draws)
        products = along[..., None] + np.sqrt(spread)[..., None] * random.standard_normal(shape)
        negatives = torch.logsumexp(torch.from_numpy(products), dim=-1) - math.log(
            settings.inner_draws
        )
    else:
        positive = z @ true.mean
        negatives = torch.from_numpy(along + 0.5 * spread)
    values = info_nce(torch.from_numpy(positive), negatives, settings.form).numpy()
    return Information(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def negative_indices(
    texts: Sequence[str],
    reference: str,
    random: np.random.Generator,
    count: int = NEGATIVES,
    form: Form = "paper",
) -> list[int]:
    """Places in ``texts`` (other turns' references, one for each context) of a response's
    negatives: the same for both informations, as in the released code.

    Without replacement and never with the reference's own text; fewer than ``count`` where there
    are no more texts. ``released``: with replacement, and what has the reference's text left out
    after the draw, so there may be fewer.
    """
    if form == "released":
        return [
            index
            for index in random.integers(len(texts), size=count).tolist()
            if texts[index] != reference
        ]
    others = [index for index, text in enumerate(texts) if text != reference]
    return (
        sorted(random.choice(others, size=min(count, len(others)), replace=False).tolist())
        if others
        else []
    )


def _drawn(latent: Latent, count: int, random: np.random.Generator) -> Float64Array:
    spread = np.exp(0.5 * latent.log_variance)
    drawn: Float64Array = latent.mean + spread * random.standard_normal((count, len(latent.mean)))
    return drawn
