"""CMN's model on its own: which latent is drawn, what the decoder sees, what its numbers add up
to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.workers.training.latent_talk import save_tiny_encoder
from workers.inference.model_files import ModelError
from workers.training.core.latent import Diagonal, LatentSizes
from workers.training.core.latent_space import LatentSpace, new_latent_space

SIZES = LatentSizes(latent=4, decoder_layers=1, decoder_dropout=0.0, longest_response=8)
CONTEXTS = (["i like dogs"], ["tell me of soup", "yes soup is cold", "i like rain"])
RESPONSES = ("yes dogs are fine", "no")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"), width=16, layers=2)


@pytest.fixture(scope="module")
def space(encoder: Path) -> LatentSpace:
    made = new_latent_space(str(encoder), SIZES, max_tokens=24, seed=5)
    made.model.eval()
    return made


def batch_of(
    space: LatentSpace, responses: tuple[str, ...] = RESPONSES, **changed: Any
) -> dict[str, Any]:
    inputs = space.inputs
    batch = {
        "pair": space.tensors(
            [inputs.pair(c, r) for c, r in zip(CONTEXTS, responses, strict=True)]
        ),
        "context": space.tensors([inputs.context(context) for context in CONTEXTS]),
        "response": space.tensors([inputs.response(response) for response in RESPONSES]),
        "follows": torch.tensor([True, True]),
    }
    return {**batch, **changed}


def nats(space: LatentSpace, **changed: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = space.model(**batch_of(space, **changed), draw=False).token_nats
    return found


def test_what_is_drawn_has_the_mean_and_the_spread_of_its_gaussian() -> None:
    torch.manual_seed(1)
    rows = 20_000
    # Σ = 2
    drawn = Diagonal(torch.full((rows, 1), 3.0), torch.full((rows, 1), 2.0 * 0.6931472)).sample()
    assert drawn.mean().item() == pytest.approx(3.0, abs=0.06)  # 4 standard errors of 2 / √20,000
    assert drawn.std().item() == pytest.approx(2.0, abs=0.05)


def test_a_true_response_is_written_from_the_posterior_another_from_the_prior(
    space: LatentSpace,
) -> None:
    first = nats(space)
    follows_not = torch.tensor([False, False])
    of_prior = nats(space, follows=follows_not)
    assert not torch.allclose(first[0], of_prior[0])
    other = ("tell me of rain", "soup")
    assert not torch.allclose(nats(space, responses=other), first)
    assert torch.equal(nats(space, responses=other, follows=follows_not), of_prior)


def test_each_row_has_its_own_latent(space: LatentSpace) -> None:
    mixed = nats(space, follows=torch.tensor([True, False]))
    assert torch.equal(mixed[0], nats(space)[0])
    assert torch.equal(mixed[1], nats(space, follows=torch.tensor([False, False]))[1])


def test_the_decoder_sees_no_token_that_it_has_yet_to_write(space: LatentSpace) -> None:
    batch = batch_of(space)
    changed = {name: tensor.clone() for name, tensor in batch["response"].items()}
    changed["ids"][0, 2] += 1
    with torch.no_grad():
        before = space.model(**batch, draw=False).token_nats
        after = space.model(**{**batch, "response": changed}, draw=False).token_nats
    assert torch.allclose(before[0, :2], after[0, :2])
    assert not torch.allclose(before[0, 3:], after[0, 3:])


def test_a_row_costs_the_same_whatever_it_is_padded_to(space: LatentSpace) -> None:
    inputs = space.inputs
    alone = {
        "pair": space.tensors([inputs.pair(CONTEXTS[1], RESPONSES[1])]),
        "context": space.tensors([inputs.context(CONTEXTS[1])]),
        "response": space.tensors([inputs.response(RESPONSES[1])]),
        "follows": torch.tensor([True]),
    }
    with torch.no_grad():
        output = space.model(**alone, draw=False)
        together = space.model(**batch_of(space), draw=False)
    assert output.tokens.tolist() == [2]  # the word and the end
    assert together.tokens.tolist() == [5, 2]
    assert torch.allclose(together.token_nats[1, :2], output.token_nats[0], atol=1e-5)
    assert together.token_nats[1, 2:].tolist() == [0.0, 0.0, 0.0]


def test_the_reconstruction_is_a_sum_or_that_sum_by_the_length(space: LatentSpace) -> None:
    with torch.no_grad():
        output = space.model(**batch_of(space), draw=False)
    sums = output.token_nats.sum(dim=1)
    assert torch.equal(output.reconstruction("paper"), sums)
    # With the beginning
    assert torch.allclose(output.reconstruction("released"), sums / torch.tensor([6.0, 3.0]))


def test_the_first_token_is_foretold_by_what_is_given_alone(space: LatentSpace) -> None:
    """log Σ over the vocabulary of p(first token | c, z) is log 1."""
    decoder = space.model.decoder
    words = decoder.stack.wte.num_embeddings
    given = torch.randn(1, 16 + SIZES.latent).expand(words, -1)
    ids = torch.arange(words)[:, None]
    with torch.no_grad():
        each = decoder(given, ids, torch.ones_like(ids))
    assert torch.logsumexp(-each[:, 0], dim=0).item() == pytest.approx(0.0, abs=1e-5)


def test_a_response_longer_than_the_decoder_is_written_as_far_as_it_goes(
    space: LatentSpace,
) -> None:
    long = " ".join(["dogs"] * 20)
    response = space.tensors([space.inputs.response(long), space.inputs.response("no")])
    with torch.no_grad():
        output = space.model(**batch_of(space, response=response), draw=False)
    assert output.tokens.tolist() == [8, 2]
    assert output.token_nats.shape == (2, 8)


def test_the_order_of_context_and_response_matters_through_the_segments(space: LatentSpace) -> None:
    batch = batch_of(space)["pair"]
    # [CLS] i like dogs [SEP] yes … [SEP]
    assert batch["segments"][0].tolist()[:10] == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    with torch.no_grad():
        with_segments, _ = space.model.posterior(batch)
        without, _ = space.model.posterior(
            {**batch, "segments": torch.zeros_like(batch["segments"])}
        )
    assert not torch.allclose(with_segments.mean, without.mean)


def test_the_released_prior_goes_through_the_other_encoder(space: LatentSpace) -> None:
    contexts = space.tensors([space.inputs.context(context) for context in CONTEXTS])
    model = space.model
    with torch.no_grad():
        model.posterior_encoder.pooler.dense.bias += 1.0
        own, released = model.prior(contexts), model.prior(contexts, released=True)
        model.posterior_encoder.pooler.dense.bias -= 1.0
        assert torch.allclose(own.mean, model.prior(contexts).mean)
    assert not torch.allclose(own.mean, released.mean)


def test_the_heads_have_no_bias_and_z_has_its_size(space: LatentSpace) -> None:
    assert space.model.posterior_head.bias is None
    assert space.model.prior_head.bias is None
    assert space.model.prior_head.weight.shape == (2 * SIZES.latent, 16)


def test_writing_does_not_change_what_the_encoders_read(encoder: Path) -> None:
    model = new_latent_space(str(encoder), SIZES, max_tokens=24, seed=5).model
    words = model.prior_encoder.encoder.get_input_embeddings().weight
    assert torch.equal(words, model.decoder.stack.wte.weight)
    assert words.data_ptr() != model.decoder.stack.wte.weight.data_ptr()


def test_every_parameter_gets_a_gradient_even_where_no_response_follows(encoder: Path) -> None:
    """Of several devices each waits for all gradients."""
    space = new_latent_space(str(encoder), SIZES, max_tokens=24, seed=5)
    output = space.model(**batch_of(space, follows=torch.tensor([False, False])))
    kl = torch.where(torch.tensor([False, False]), output.posterior.mean.sum(dim=1), 0.0)
    (output.reconstruction().mean() + kl.mean() + output.next_sentence.sum()).backward()
    assert [name for name, weights in space.model.named_parameters() if weights.grad is None] == []


def test_frozen_layers_are_not_trained_and_too_many_are_refused(encoder: Path) -> None:
    model = new_latent_space(str(encoder), SIZES, max_tokens=24, seed=5).model
    model.freeze(1)
    model.train()
    for encoder_of in (model.posterior_encoder, model.prior_encoder):
        layers = encoder_of.encoder.encoder.layer
        assert not any(
            weights.requires_grad for weights in encoder_of.encoder.embeddings.parameters()
        )
        assert not any(weights.requires_grad for weights in layers[0].parameters())
        assert all(weights.requires_grad for weights in layers[1].parameters())
        assert (layers[0].training, layers[1].training) == (False, True)
    with pytest.raises(ModelError, match="3 layers of this encoder cannot be frozen: it has 2"):
        model.freeze(3)
