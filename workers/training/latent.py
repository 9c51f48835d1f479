"""CMN's model: a conditional variational autoencoder of responses with a next-sentence head.

    h_q = Encoder([c; r])     q(z|c, r) = N(mean, diag(exp(log variance))), both bias-free linear maps of h_q   (Eq. 1)
    h_p = Encoder_c(c)        p(z|c) likewise of h_p
    y   = Linear(h_q)         g = P(r follows c)                                                               (Eq. 6)
    p(r|c, z)                 a causal decoder that is given h_p ⊕ z

Zhao et al. 2023, "Evaluating Open-Domain Dialogues in Latent Space with Next Sentence Prediction
and Mutual Information", and the code released with it. h is the encoder's pooled first token in the
code; the paper does not say. y has two outputs and a softmax over them, as in the code: one output
and σ, as Eq. 6 reads, is the same function of their difference.

The decoder has GPT-2's architecture, as the paper's, but is small and begins untrained. It writes
the encoder's word pieces and begins with their embeddings: so one encoder folder is all that a
training needs, and no other vocabulary. Its own copy of them learns, so that writing does not pull
at what the encoders read. The latent vector reaches it in two ways, as in the released code (and in
Optimus, its source): as something to attend to, here the first place of the sequence, and added to
every word's embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from workers.encoders.first_token import KINDS
from workers.encoders.loading import has_segments
from workers.model_files import ModelError
from workers.training.losses.reconstruction import Form, reconstruction

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

    def reconstruction(self, form: Form = "paper") -> torch.Tensor:
        """b values of −log p(r | c, z), in the forms of ``losses.reconstruction``."""
        sums = self.token_nats.sum(dim=1)
        return sums if form == "paper" else sums / (self.tokens + 1)


class LatentModel(nn.Module):
    """``posterior_encoder`` and ``prior_encoder``: two encoder models of transformers of the same
    kind, the first one best with two segments, which tell context and response apart;
    ``latent_space`` makes them."""

    def __init__(self, posterior_encoder: Any, prior_encoder: Any, sizes: LatentSizes) -> None:
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
        words = prior_encoder.get_input_embeddings().weight.detach()
        self.decoder = _Decoder(words, int(config.num_attention_heads), sizes)

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


class _Decoder(nn.Module):
    """−log p(r|c, z), token by token, by a small GPT-2 whose words are the encoder's at first.

    Only real tokens go through the output layer, which takes as much time as an encoder: in a batch
    of responses of unlike length half of all places are padding.
    """

    def __init__(self, words: torch.Tensor, heads: int, sizes: LatentSizes) -> None:
        from transformers import GPT2Config, GPT2Model

        super().__init__()
        vocabulary, width = words.shape
        self.longest = sizes.longest_response
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
        self.stack: Any = GPT2Model(config)
        self.stack.wte.weight.data.copy_(words)
        self.as_place = _head(width + sizes.latent, width)
        self.as_addition = _head(width + sizes.latent, width)

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
