"""The losses of the recipes: CMN's (Zhao et al., 2023, equations 2, 3, 4 and 6), DEnsity's (Park et
al., 2023, equations 1 and 4) and MAUDE's (Sinha et al., 2020, "Learning an Unreferenced Metric for
Online Dialogue Evaluation", section 3).

Half precision ends at a loss: exponentials and sums over a batch need float32's range and
digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import torch
from torch.nn import functional

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def in_full_precision(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Tensors of half precision arrive as float32, float64 stays; autocast, which would take
    products of float32 in half precision, is off inside. Gradients go back in the precision that
    the tensors had."""

    @wraps(function)
    def in_float32(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        device = given[0].device.type if given else "cpu"
        wide: Any = [_widened(value) for value in args]
        named: Any = {name: _widened(value) for name, value in kwargs.items()}
        with torch.autocast(device_type=device, enabled=False):
            return function(*wide, **named)

    return in_float32


def _widened(value: object) -> object:
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.element_size() < 4:
        return value.float()
    return value


InformationForm = Literal["paper", "released", "bound"]
Form = Literal["paper", "released"]

RELEASED_CONSTANT = math.log(10)
"""For log(N − 1), whatever N is."""


@in_full_precision
def info_nce(
    positive: torch.Tensor, negatives: torch.Tensor, form: InformationForm = "paper"
) -> torch.Tensor:
    """In nats, one for each draw: ``positive`` holds F(x, r) (…), ``negatives`` F(x, r_n) (… × N).
    The mean over draws is the estimate.

    ``paper`` (Zhao et al., 2023, equation 4, with N negatives as the text has it, all of them in
    the sum): F(x, r) + log(N − 1) − log( 1/(N − 1) Σₙ e^F(x, r_n) ). Needs two negatives. It is no
    lower bound: where F says nothing (all values equal) the mutual information is 0 and this is
    about log(N − 1), because the sum is divided by N − 1 and log(N − 1) added as well. The surplus
    is the same for all responses.

    ``released``: F(x, r) + log 10 − (1/N) log Σₙ e^F(x, r_n): the logarithm is divided by N, not
    the sum.

    ``bound`` (InfoNCE, van den Oord et al., 2018): F(x, r) + log(N + 1) − log( e^F(x, r) + Σₙ
    e^F(x, r_n) ). Its mean is at most the mutual information, for every F; and it is at most log(N
    + 1).
    """
    count = negatives.shape[-1]
    if count < (2 if form == "paper" else 1):
        raise ValueError(
            "equation 4 needs two negatives" if form == "paper" else "there is no negative"
        )
    if form == "bound":
        all_of_them = torch.cat([positive.unsqueeze(-1), negatives], dim=-1)
        return positive + math.log(count + 1) - torch.logsumexp(all_of_them, dim=-1)
    log_sum = torch.logsumexp(negatives, dim=-1)
    if form == "released":
        return positive + RELEASED_CONSTANT - log_sum / count
    return positive + 2.0 * math.log(count - 1) - log_sum


WIDEST = 30.0
"""Of a log variance, either way: standard deviations of 3·10⁻⁷ to 3·10⁶. Beyond it is taken as at
it, or e^x leaves float32."""


@in_full_precision
def kl_by_dimension(
    mean: torch.Tensor,
    log_variance: torch.Tensor,
    prior_mean: torch.Tensor,
    prior_log_variance: torch.Tensor,
) -> torch.Tensor:
    """KL(q ‖ p) in nats in each dimension, 0 or more; all four are examples × dimensions.

    ½ (log σ_p² − log σ_q²) + (σ_q² + (μ_q − μ_p)²) / (2 σ_p²) − ½
    """
    wide, prior_wide = (
        log_variance.clamp(-WIDEST, WIDEST),
        prior_log_variance.clamp(-WIDEST, WIDEST),
    )
    narrower = wide - prior_wide
    between_means = (mean - prior_mean) ** 2 * torch.exp(-prior_wide)
    return 0.5 * (torch.expm1(narrower) - narrower + between_means)


@in_full_precision
def kl(
    mean: torch.Tensor,
    log_variance: torch.Tensor,
    prior_mean: torch.Tensor,
    prior_log_variance: torch.Tensor,
    free_bits: float = 0.0,
) -> torch.Tensor:
    """KL(q ‖ p) in nats, one for each example: the sum over the dimensions.

    The paper prints it so. The released code has free bits of 0.5: a dimension whose divergence is
    at most that counts 0, so nothing pulls it to the prior. (Kingma et al., 2016, count it as the
    threshold itself; the gradient is the same.)
    """
    each = kl_by_dimension(mean, log_variance, prior_mean, prior_log_variance)
    if free_bits > 0.0:
        each = torch.where(each > free_bits, each, torch.zeros_like(each))
    return each.sum(dim=-1)


FOLLOWS = 1
"""The column of the pair that belongs together (y = 1). transformers' own heads of BERT have it in
column 0."""


@in_full_precision
def next_sentence(logits: torch.Tensor, follows: torch.Tensor) -> torch.Tensor:
    """−log p(y) in nats, one for each example; ``logits`` is examples × 2, ``follows`` tells which
    are positive.

    The equations print log p(y), with a minus sign inside what is to be made large; a cross-entropy
    is meant.
    """
    return functional.cross_entropy(logits, follows.long(), reduction="none")


@in_full_precision
def next_sentence_probability(logits: torch.Tensor) -> torch.Tensor:
    """g = σ(Linear(Encoder([c ; x]))), one for each example, 0 to 1.

    The released code's softmax over two outputs; of one output, as equation 6 may be read, it is
    the sigmoid of their difference.
    """
    return torch.softmax(logits, dim=-1)[..., FOLLOWS]


@in_full_precision
def noise_contrastive(scores: torch.Tensor) -> torch.Tensor:
    """A scalar in nats, the mean over the contexts of

    L = −log σ(f(c, r_p)) − (1/N) Σᵢ log σ(−f(c, r_nᵢ)),

    for ``scores`` of contexts × candidates, the answer's f(c, r_p) in the first column: the paper's
    expectation over noise is the mean over a context's N negatives. 0 or more; 2 ln 2 where all
    scores are 0. Unlike the softmax of ``response_selection`` it fixes f's level: σ(f) is the
    chance of being the answer where noise comes as often.
    """
    answers = functional.softplus(-scores[:, 0])
    noise = functional.softplus(scores[:, 1:]).mean(dim=1)
    return (answers + noise).mean()


IGNORED = -100
"""A target that is not one: padding, or what stands before the response."""


@in_full_precision
def reconstruction(
    logits: torch.Tensor, targets: torch.Tensor, form: Form = "paper"
) -> torch.Tensor:
    """−log p(r | c, z) in nats, one for each example, to be made small; the equations print log p,
    to be made large.

    ``logits`` is examples × places × vocabulary, ``targets`` examples × places: the token that the
    logits of the same place should give (so shifted already), or ``IGNORED``. z is one sample, from
    the posterior of a positive example and from the prior of a negative one; the expectation over z
    is left to the batches.

    ``paper``: −Σₜ log p(rₜ | r_<t, c, z). ``released``: that sum divided by the number of tokens
    with the beginning token, so by one more than there are targets. 0 for an example without
    targets.
    """
    count, indices, words = logits.shape
    flat = functional.cross_entropy(
        logits.reshape(count * indices, words),
        targets.reshape(-1),
        ignore_index=IGNORED,
        reduction="none",
    )
    sums = flat.view(count, indices).sum(dim=1)
    if form == "paper":
        return sums
    return sums / ((targets != IGNORED).sum(dim=1) + 1)


@in_full_precision
def response_selection(scores: torch.Tensor) -> torch.Tensor:
    """A scalar in nats, the mean over the contexts of

    L_RS = −log( e^f(c, r_p) / (e^f(c, r_p) + Σᵢ e^f(c, r_nᵢ)) ),

    for ``scores`` of contexts × candidates, the answer's f(c, r_p) in the first column. The paper
    prints one context's term; the mean over a batch is the released code's. 0 or more; ln(1 + N)
    where all N + 1 scores are equal.
    """
    answers = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    return functional.cross_entropy(scores, answers)


TEMPERATURE = 0.1
"""τ of the paper, section 4.3."""

RELEASED_SHARE = 1e-5
"""Added by the released code to a share before its logarithm is taken."""
RELEASED_COUNT = 1e-3
"""Added by the released code to the number of other answers."""
SMALLEST_NORM = 1e-6
"""Of a feature vector whose largest entry is 1; only the zero vector is shorter, and it stays
zero."""


@in_full_precision
def supervised_contrastive(
    features: torch.Tensor,
    temperature: float = TEMPERATURE,
    form: Form = "paper",
) -> torch.Tensor:
    """A scalar for ``features`` of contexts × candidates × dimensions, each context's answer first
    among its candidates.

    ``paper``: Σᵢ −1/|P(i)| Σ_{p ∈ P(i)} log( e^(z_i · z_p / τ) / Σ_{a ∈ B(i)} e^(z_i · z_a / τ) ),
    z the features at length 1, i the answers, P(i) the other contexts' answers, B(i) all pairs of
    the batch but i. A sum over the batch: it grows with the number of contexts.

    ``released``: log(share + 10⁻⁵) for the logarithm, |P(i)| + 10⁻³ for |P(i)|, and the mean over
    all rows of the batch, negatives among them, whose term is 0. Beside the two small constants it
    is the paper's divided by |B|·(1 + N): with 16 contexts and 15 negatives 256 times smaller, so λ
    = 1 in L_RS + λ L_CL means another thing in each form.

    0 where the batch has one context, whose answer has no other to be near.
    """
    contexts, candidates, _ = features.shape
    rows = _unit(features).flatten(0, 1)
    if contexts < 2:
        return 0.0 * rows.sum()
    similarity = rows[::candidates] @ rows.T / temperature  # answers × all pairs
    answers = torch.arange(contexts, device=features.device)
    itself = torch.zeros_like(similarity, dtype=torch.bool)
    itself[answers, answers * candidates] = True
    log_share = torch.log_softmax(similarity.masked_fill(itself, -torch.inf), dim=1)
    to_answers = log_share[:, ::candidates].masked_fill(
        torch.eye(contexts, dtype=torch.bool, device=rows.device), 0.0
    )
    if form == "paper":
        return -to_answers.sum() / (contexts - 1)
    others = ~torch.eye(contexts, dtype=torch.bool, device=rows.device)
    terms = torch.log(to_answers.exp() + RELEASED_SHARE)[others]
    return -terms.sum() / (contexts - 1 + RELEASED_COUNT) / (contexts * candidates)


def _unit(features: torch.Tensor) -> torch.Tensor:
    """At length 1. The largest entry goes first, so that no square overflows or vanishes."""
    largest = features.detach().abs().amax(dim=-1, keepdim=True)
    scaled = features / torch.where(largest > 0, largest, torch.ones_like(largest))
    return torch.nn.functional.normalize(scaled, dim=-1, eps=SMALLEST_NORM)
