"""USR-MLM: each token of the response masked in turn, as a plain loop over masks gives it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.checkpoints import save_bert, save_roberta, word_tokenizer
from workers.inference.encoders.masked_model import Continued, MaskedModel
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Example
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.usr_mlm import UsrMlm


def save_distilbert(folder: Path) -> Path:
    """A kind whose head is not known: all its words come out for every token."""
    import torch
    import transformers

    torch.manual_seed(3)
    tokenizer = word_tokenizer()
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    config = transformers.DistilBertConfig(
        vocab_size=len(tokenizer),
        dim=16,
        n_layers=2,
        n_heads=2,
        hidden_dim=32,
        max_position_embeddings=48,
    )
    transformers.DistilBertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_masked_bert(folder: Path) -> Path:
    return save_bert(folder, "BertForMaskedLM")


@pytest.fixture(
    scope="module",
    params=[save_masked_bert, save_roberta, save_distilbert],
    ids=["bert", "roberta", "other"],
)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return request.param(tmp_path_factory.mktemp("masked"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_masked_bert(tmp_path_factory.mktemp("bert"))


def scorer(folder: Path, context: int = 1, separator: str = "") -> UsrMlm:
    model = MaskedModel(model_files(str(folder)), "cpu")
    return UsrMlm(lambda: model, context, separator)


def example(response: str, *context: str) -> Example:
    return Example("d", 0, (), (), tuple(Utterance("A", text) for text in context), (), response)


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(
        folder
    ).eval()


def plain(folder: Path, before: str, response: str) -> float:
    """One mask at a time, one pass through the whole model each; ``before`` ends where the response
    begins."""
    import torch

    tokenizer, model = loaded(folder)
    encoded = tokenizer(before + response, return_tensors="pt", return_offsets_mapping=True)
    offsets = encoded.pop("offset_mapping")[0].tolist()
    places = [
        place for place, (begin, end) in enumerate(offsets) if end > begin and end > len(before)
    ]
    total = 0.0
    for place in places:
        masked = {name: tensor.clone() for name, tensor in encoded.items()}
        masked["input_ids"][0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            words = model(**masked).logits[0, place]
        total += float(torch.log_softmax(words, -1)[encoded["input_ids"][0, place]])
    return total / len(places)


def test_scores_are_those_of_one_mask_at_a_time(checkpoint: Path) -> None:
    examples = [
        example("i like dogs", "hello there"),
        example("yes", "what is it ? do you like cats"),
        example("no no no", ""),
        example("do you like my friend ?", "why"),
    ]
    expected = [
        plain(checkpoint, "hello there", " i like dogs"),
        plain(checkpoint, "what is it ? do you like cats", " yes"),
        plain(checkpoint, "", "no no no"),
        plain(checkpoint, "why", " do you like my friend ?"),
    ]
    assert scorer(checkpoint).score(examples) == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.05


def test_the_hidden_token_is_hidden(checkpoint: Path) -> None:
    """What stands in a one-token response tells the model nothing: only the context does."""
    model = MaskedModel(model_files(str(checkpoint)), "cpu")
    from_all = [
        model.pseudo_likelihoods([Continued("hello", " " + word)])[0] for word in ("h", "y")
    ]
    assert all(found.tokens >= 1 for found in from_all)
    import math

    import torch

    tokenizer = model._headed.tokens
    (ids,) = tokenizer.ids(["hello"])
    framed = tokenizer.framed([[*ids, model._mask_id]], False)
    with torch.no_grad():
        words = model._headed.model(**model._headed.tensors([framed])).logits[
            0, tokenizer.first_index + len(ids)
        ]
    assert math.fsum(torch.softmax(words, -1).tolist()) == pytest.approx(1, abs=1e-5)
    for word, found in zip((" h", " y"), from_all, strict=True):
        if found.tokens == 1:
            (id_,) = tokenizer.ids([word])[0]
            assert found.log_probability == pytest.approx(
                float(torch.log_softmax(words, -1)[id_]), abs=1e-5
            )


def test_order_does_not_matter(checkpoint: Path) -> None:
    examples = [
        example("i like dogs", "hello"),
        example("yes", "do you"),
        example("why are you there ?", "no"),
    ]
    metric = scorer(checkpoint)
    assert metric.score(examples[::-1]) == pytest.approx(metric.score(examples)[::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("context", "before"),
    [(0, ""), (1, "how are you"), (2, "yes how are you"), (9, "hello there yes how are you")],
)
def test_so_many_utterances_stand_before_the_response(
    bert: Path, context: int, before: str
) -> None:
    (score,) = scorer(bert, context).score(
        [example("i like dogs", "hello there", " yes ", "how are you")]
    )
    assert score == pytest.approx(plain(bert, before, " i like dogs"), abs=1e-5)


def test_a_separator_is_context_and_not_masked(bert: Path) -> None:
    (score,) = scorer(bert, 2, "[SEP]").score([example("i like dogs", "hello", "yes")])
    assert score == pytest.approx(plain(bert, "hello[SEP]yes[SEP]", "i like dogs"), abs=1e-5)


def test_the_space_after_a_separator_belongs_to_the_response(tmp_path: Path) -> None:
    """For a tokenizer of bytes " he" is one token, and "he" another."""
    folder = save_roberta(tmp_path)
    (score,) = scorer(folder, 1, "</s> ").score([example("hello", "you")])
    assert score == pytest.approx(plain(folder, "you</s>", " hello"), abs=1e-5)


def test_special_tokens_in_a_response_are_not_masked_but_unknown_words_are(bert: Path) -> None:
    model = MaskedModel(model_files(str(bert)), "cpu")
    found = model.pseudo_likelihoods([Continued("", "i [SEP] like [MASK] elephants")])
    assert found[0].tokens == 3


@pytest.mark.parametrize("response", ["", "  \n", "\0", "[SEP]"])
def test_a_response_without_a_token_has_no_score(bert: Path, response: str) -> None:
    scores = scorer(bert).score([example(response, "hello"), example("yes", "hello")])
    assert scores[0] == Undefined("the response has no token to mask")
    assert isinstance(scores[1], float)


def test_only_empty_responses(bert: Path) -> None:
    assert scorer(bert).score([example("", "hello")]) == [
        Undefined("the response has no token to mask")
    ]
    assert scorer(bert).score([]) == []


def test_a_long_context_loses_its_beginning_and_a_long_response_its_end(bert: Path) -> None:
    """48 positions, 2 special tokens: 46 for context and response."""
    metric = scorer(bert)
    scores = metric.score(
        [
            example("yes no", "dogs " + "cats " * 50),
            example("yes " * 50, "hello"),
            example("yes", "no"),
        ]
    )
    assert scores[0] == pytest.approx(plain(bert, "cats " * 44, " yes no"), abs=1e-5)
    assert scores[1] == pytest.approx(plain(bert, "", "yes " * 46), abs=1e-5)
    assert metric.account().remarks == {
        0: "the beginning of the context was cut: the model takes 48 tokens",
        1: "the end of the response was cut: the model takes 48 tokens",
    }


def test_roberta_takes_fewer_tokens_than_it_has_positions(tmp_path: Path) -> None:
    """It counts from its padding's id on: 48 positions, the first two of them unused."""
    model = MaskedModel(model_files(str(save_roberta(tmp_path))), "cpu")
    assert model.max_tokens == 46
    assert model.pseudo_likelihoods([Continued("", "y" * 100)])[0].tokens == 44


def test_progress_counts_examples_and_ends_with_all(bert: Path) -> None:
    heard: list[int] = []
    scorer(bert).score(
        [example(word, "hello") for word in ("yes", "no", "yes", "i like dogs")], heard.append
    )
    assert heard == sorted(heard)
    assert heard[-1] == 4


def test_a_model_without_a_mask_token_is_refused(tmp_path: Path) -> None:
    save_bert(tmp_path, "BertForMaskedLM", tokenizer=word_tokenizer(mask=False))
    with pytest.raises(ModelError, match="has no mask token"):
        MaskedModel(model_files(str(tmp_path)), "cpu")


def test_a_checkpoint_of_another_head_is_refused(tmp_path: Path) -> None:
    save_bert(tmp_path, "BertForSequenceClassification")
    with pytest.raises(ModelError, match="is not a masked language model: its weights lack"):
        MaskedModel(model_files(str(tmp_path)), "cpu")


def test_numbers_that_are_none_leave_the_score_undefined(bert: Path) -> None:
    metric = scorer(bert)
    metric._load()._headed.model.get_output_embeddings().bias.data.fill_(float("nan"))
    (score,) = metric.score([example("yes", "hello")])
    assert score == Undefined("the model's output is not a finite number")


def test_fewer_than_no_utterances_are_refused_where_they_are_written() -> None:
    with pytest.raises(ConfigurationError, match="a whole number from 0"):
        parse("usr_mlm[model=x,context=-1]")


def test_without_a_checkpoint_it_is_not_offered() -> None:
    assert parse("usr_mlm").missing() == "name a checkpoint: usr_mlm[model=FOLDER], or a hub id"


def test_it_is_built_from_its_written_form(bert: Path) -> None:
    metric = parse(f"usr_mlm[model={bert},context=2]").scorer()
    (score,) = metric.score([example("i like dogs", "hello", "yes")])
    assert score == pytest.approx(plain(bert, "hello yes", " i like dogs"), abs=1e-5)
