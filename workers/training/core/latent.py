"""CMN's model: a conditional variational autoencoder of responses with a next-sentence head; and
its score of a response: mutual information in the latent space, weighed by whether it follows (Zhao
et al. 2023, "Evaluating Open-Domain Dialogues in Latent Space with Next Sentence Prediction and
Mutual Information", and the code released with it).

    h_q = Encoder([c; r])     q(z|c, r) = N(mean, diag(exp(log variance))), both bias-free linear
                              maps of h_q                                                   (Eq. 1)
    h_p = Encoder_c(c)        p(z|c) likewise of h_p
    y   = Linear(h_q)         g = P(r follows c)                                            (Eq. 6)
    p(r|c, z)                 a causal decoder that is given h_p ⊕ z

h is the encoder's pooled first token in the code; the paper does not say. y has two outputs and a
softmax over them, as in the code: one output and σ, as Eq. 6 reads, is the same function of their
difference.

The decoder has GPT-2's architecture, as the paper's. Unless a pretrained one is named, which writes
its own word pieces, it is small and begins untrained: it writes the encoder's word pieces and
begins with their embeddings, so one encoder folder is all that a training needs, and no other
vocabulary. Its own copy of them learns, so that writing does not pull at what the encoders read.
The latent vector reaches it in two ways, as in the released code (and in
Optimus, its source): as something to attend to, here the first place of the sequence, and added to
every word's embedding.

Score = g · I(c, x) + I(x, r) (equation 7), c the context, x the response, r the reference. Both
informations contrast dot products of latent samples (equation 5): of q(z | c, x) with q(z | c, r)
against q(z | c, r_n) for I(x, r), and with p(z | c) against the priors of other contexts p(z | c_n)
for I(c, x). The paper leaves open what the negatives of I(c, x) are; other contexts are the
released code's choice. What the paper does not give either, and is the released code's: ten
negatives, and 100 draws of each latent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from workers.inference.encoders.cpu_layers import KINDS
from workers.inference.encoders.loading import has_segments
from workers.inference.model_files import ModelError
from workers.training.core.losses import InformationForm, info_nce, reconstruction
from workers.training.core.negatives import stream

if TYPE_CHECKING:
    from collections.abc import Mapping

SPREAD = 0.02
"""Standard deviation of the heads' first weights, as in BERT and GPT-2."""


@dataclass(frozen=True, slots=True)
class LatentSizes:
    latent: int = 32
    """Dimensions of z. Source: the paper, 4.3."""
    decoder_layers: int = 2
    decoder_dropout: float = 0.1
    longest_response: int = 64
    """Word pieces that the decoder writes of a response, its end included; the encoders read all of
    it."""


@dataclass(frozen=True, slots=True)
class Diagonal:
    """Gaussians with diagonal covariance, one a row."""

    mean: torch.Tensor
    """Rows × latent dimensions."""
    log_variance: torch.Tensor
    """Rows × latent dimensions."""

    def sample(self) -> torch.Tensor:
        """One draw a row from torch's own generator: mean + exp(log variance / 2) · ε. In
        float32."""
        mean, log_variance = self.mean.float(), self.log_variance.float()
        return mean + torch.exp(log_variance / 2) * torch.randn_like(mean)


@dataclass(frozen=True, slots=True)
class LatentOutput:
    """What the losses are made of, for a batch of b rows."""

    posterior: Diagonal
    """q(z|c, ·) of whatever response the encoder was given."""
    prior: Diagonal
    next_sentence: torch.Tensor
    """b × 2 logits, see ``losses.next_sentence``."""
    token_nats: torch.Tensor
    """b × places: −log p(token | c, z, tokens before) of the true response; 0 where there is
    none."""
    tokens: torch.Tensor
    """b: how many tokens that were, the end included."""

    def reconstruction(self, form: InformationForm = "paper") -> torch.Tensor:
        """b values of −log p(r | c, z), in the forms of ``losses.reconstruction``."""
        sums = self.token_nats.sum(dim=1)
        return sums if form == "paper" else sums / (self.tokens + 1)


class LatentModel(nn.Module):
    """``posterior_encoder`` and ``prior_encoder``: two encoder models of transformers of the same
    kind, the first one best with two segments, which tell context and response apart;
    ``latent_space`` makes them."""

    def __init__(
        self,
        posterior_encoder: Any,
        prior_encoder: Any,
        sizes: LatentSizes,
        decoder: Any = None,
    ) -> None:
        """``decoder``: a GPT-2 of transformers, with a vocabulary of its own; None: a small
        untrained one that writes the encoders' word pieces."""
        super().__init__()
        config = posterior_encoder.config
        self.sizes = sizes
        self.width = int(config.hidden_size)
        self.posterior_encoder = _Pooled(posterior_encoder)
        self.prior_encoder = _Pooled(prior_encoder)
        self.posterior_head = _head(self.width, 2 * sizes.latent)
        self.prior_head = _head(self.width, 2 * sizes.latent)
        self.next_sentence_head = nn.Linear(self.width, 2)
        nn.init.normal_(self.next_sentence_head.weight, std=SPREAD)
        nn.init.zeros_(self.next_sentence_head.bias)
        if decoder is None:
            words = prior_encoder.get_input_embeddings().weight.detach()
            decoder = _small_gpt2(words, int(config.num_attention_heads), sizes)
        self.decoder = _Decoder(decoder, self.width + sizes.latent, sizes.longest_response)

    def freeze(self, layers: int) -> None:
        """Both encoders' embeddings and this many of their lowest layers are not trained. Raises
        ``ModelError``."""
        self.posterior_encoder.freeze(layers)
        self.prior_encoder.freeze(layers)

    def posterior(self, pair: Mapping[str, torch.Tensor]) -> tuple[Diagonal, torch.Tensor]:
        """q(z|c, r) and the next-sentence logits for encoded pairs: "ids", "mask", "segments", each
        rows × tokens."""
        pooled = self.posterior_encoder(pair)
        return _diagonal(self.posterior_head(pooled)), self.next_sentence_head(pooled).float()

    def prior(self, context: Mapping[str, torch.Tensor], released: bool = False) -> Diagonal:
        """p(z|c) for encoded contexts: "ids", "mask", "segments". ``released``: through the
        posterior's encoder and the prior's head, as the released evaluation does, though its
        training does not."""
        encoder = self.posterior_encoder if released else self.prior_encoder
        return _diagonal(self.prior_head(encoder(context)))

    def forward(
        self,
        pair: Mapping[str, torch.Tensor],
        context: Mapping[str, torch.Tensor],
        response: Mapping[str, torch.Tensor],
        follows: torch.Tensor,
        draw: bool = True,
    ) -> LatentOutput:
        """``pair``: what the posterior's encoder reads, with the true response or another one;
        ``context``: what the prior's reads; ``response``: "ids" and "mask" of the true response,
        its end token included; ``follows``: b booleans, true where the pair's response is the true
        one. z comes from the posterior there (Eq. 2), elsewhere from the prior (Eq. 3). ``draw``: a
        sample of z, else its mean."""
        posterior, logits = self.posterior(pair)
        seen = self.prior_encoder(context)
        prior = _diagonal(self.prior_head(seen))
        true = follows[:, None]
        chosen = Diagonal(
            torch.where(true, posterior.mean, prior.mean),
            torch.where(true, posterior.log_variance, prior.log_variance),
        )
        z = chosen.sample() if draw else chosen.mean.float()
        nats = self.decoder(
            torch.cat([seen, z.to(seen.dtype)], dim=1), response["ids"], response["mask"]
        )
        return LatentOutput(
            posterior, prior, logits, nats, response["mask"][:, : nats.shape[1]].sum(dim=1)
        )


class _Pooled(nn.Module):
    """An encoder and its pooler: tanh of a linear map of the last layer's first token. An encoder
    that has none gets an untrained one."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        pooler: Any = getattr(encoder, "pooler", None)
        if pooler is not None:
            encoder.pooler = (
                None  # kept once: two names for the same numbers would be written twice
            )
        else:
            pooler = _Pooler(int(encoder.config.hidden_size))
        self.pooler = pooler
        self._frozen: list[nn.Module] = []

    def freeze(self, layers: int) -> None:
        """The embeddings and this many of the lowest layers stay as they are, without dropout."""
        retained: Any = (
            self.encoder.encoder.layer if self.encoder.config.model_type in KINDS else []
        )
        if layers > len(retained):
            raise ModelError(
                f"{layers} layers of this encoder cannot be frozen: it has {len(retained)} that "
                "are known"
            )
        self._frozen = [self.encoder.embeddings, *retained[:layers]] if layers else []
        for part in self._frozen:
            part.requires_grad_(False)

    def train(self, mode: bool = True) -> _Pooled:
        super().train(mode)
        for part in self._frozen:
            part.eval()
        return self

    def forward(self, texts: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Rows × width."""
        settings: dict[str, torch.Tensor] = {}
        if has_segments(self.encoder.config):
            settings["token_type_ids"] = texts["segments"]
        states = self.encoder(
            input_ids=texts["ids"], attention_mask=texts["mask"], **settings
        ).last_hidden_state
        pooled: torch.Tensor = self.pooler(states)
        return pooled


class _Pooler(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        nn.init.normal_(self.dense.weight, std=SPREAD)
        nn.init.zeros_(self.dense.bias)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.dense(states[:, 0]))


def _small_gpt2(words: torch.Tensor, heads: int, sizes: LatentSizes) -> Any:
    """GPT-2 whose words are the encoder's at first."""
    from transformers import GPT2Config, GPT2Model

    vocabulary, width = words.shape
    config: Any = GPT2Config(
        vocab_size=vocabulary,
        n_positions=sizes.longest_response,
        n_embd=width,
        n_layer=sizes.decoder_layers,
        n_head=heads,
        resid_pdrop=sizes.decoder_dropout,
        embd_pdrop=sizes.decoder_dropout,
        attn_pdrop=sizes.decoder_dropout,
        use_cache=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    stack: Any = GPT2Model(config)
    stack.wte.weight.data.copy_(words)
    return stack


class _Decoder(nn.Module):
    """−log p(r|c, z), token by token, by a GPT-2.

    Only real tokens go through the output layer, which takes as much time as an encoder: in a batch
    of responses of unlike length half of all places are padding.
    """

    def __init__(self, stack: Any, given: int, longest: int) -> None:
        super().__init__()
        self.longest = longest
        self.stack = stack
        width = int(stack.config.n_embd)
        self.as_place = _head(given, width)
        self.as_addition = _head(given, width)

    def forward(self, given: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``given``: h_p ⊕ z. The first place holds what is given and foretells the first token;
        each token then foretells the next. Padding stands at the end, where no token before it
        looks."""
        ids, mask = ids[:, : self.longest], mask[:, : self.longest].bool()
        before = self.stack.wte(ids[:, :-1]) + self.as_addition(given)[:, None]
        embedded = torch.cat([self.as_place(given)[:, None], before], dim=1)
        states = self.stack(inputs_embeds=embedded).last_hidden_state[mask]
        logits = nn.functional.linear(states, self.stack.wte.weight)
        each = reconstruction(logits[:, None], ids[mask][:, None])
        return torch.zeros(ids.shape, dtype=each.dtype, device=ids.device).masked_scatter(
            mask, each
        )


def _head(inputs: int, outputs: int) -> nn.Linear:
    """Without bias, as the released code has them."""
    head = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(head.weight, std=SPREAD)
    return head


def _diagonal(mean_and_log_variance: torch.Tensor) -> Diagonal:
    mean, log_variance = mean_and_log_variance.float().chunk(2, dim=-1)
    return Diagonal(mean, log_variance)


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
    form: InformationForm = "paper"
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
    form: InformationForm = "paper",
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
