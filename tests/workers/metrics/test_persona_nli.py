"""Contradictions of the persona are those that the checkpoint finds; labels are read by name."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from common.estimates import Undefined
from tests.workers.checkpoints import save_bert, save_nli
from workers.inference.encoders.nli_model import Inference, NliModel, label_columns
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Example, Score
from workers.metrics.common.configuration import parse
from workers.metrics.persona_nli import consistency, highest_contradiction

PERSONA = ("i like dogs", "what is it", "hello there my friend")
RESPONSES = ("no", "why do you like cats", "yes hello")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_nli(tmp_path_factory.mktemp("nli"))


def example(response: str, *persona: str) -> Example:
    return Example("d", 0, persona, (), (), (), response)


def scores(checkpoint: Path, name: str, *examples: Example, options: str = "") -> list[Score]:
    return list(parse(f"{name}[model={checkpoint}{options}]").scorer().score(examples))


@cache
def plain(checkpoint: Path, premise: str, hypothesis: str) -> dict[str, float]:
    """Probabilities by label, from transformers' own pipeline."""
    from transformers import pipeline

    classify = pipeline("text-classification", str(checkpoint), top_k=None, device="cpu")
    found = classify({"text": premise, "text_pair": hypothesis})
    return {one["label"].lower(): one["score"] for one in found}


def test_the_score_is_the_pipeline_s_highest_contradiction(checkpoint: Path) -> None:
    expected = [
        max(plain(checkpoint, line, response)["contradiction"] for line in PERSONA)
        for response in RESPONSES
    ]
    found = scores(
        checkpoint, "persona_contradiction", *(example(one, *PERSONA) for one in RESPONSES)
    )
    assert found == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.05  # random weights tell something apart


def test_the_response_may_be_the_premise(checkpoint: Path) -> None:
    found = scores(
        checkpoint, "persona_contradiction", example("no", *PERSONA), options=",premise=response"
    )
    turned = max(plain(checkpoint, "no", line)["contradiction"] for line in PERSONA)
    assert found == pytest.approx([turned], abs=1e-5)
    straight = max(plain(checkpoint, line, "no")["contradiction"] for line in PERSONA)
    assert turned != pytest.approx(straight, abs=1e-3)


def test_consistency_counts_the_likeliest_labels_of_the_pipeline(checkpoint: Path) -> None:
    expected = []
    for response in RESPONSES:
        found = [plain(checkpoint, line, response) for line in PERSONA]
        likeliest = [max(one, key=one.__getitem__) for one in found]
        expected.append(likeliest.count("entailment") - likeliest.count("contradiction"))
    examples = (example(one, *PERSONA) for one in RESPONSES)
    assert scores(checkpoint, "persona_consistency", *examples) == expected


def test_consistency_is_entailed_less_contradicted() -> None:
    entailed, contradicted = Inference(0.5, 0.3, 0.2, False), Inference(0.1, 0.4, 0.5, False)
    neutral = Inference(0.3, 0.4, 0.3, False)
    assert consistency([entailed, entailed, contradicted, neutral]) == 2 - 1
    assert highest_contradiction([entailed, contradicted, neutral]) == 0.5


@pytest.mark.parametrize("name", ["persona_contradiction", "persona_consistency"])
def test_an_output_that_is_no_number_has_no_score(name: str) -> None:
    nothing = float("nan")
    combine = {"persona_contradiction": highest_contradiction, "persona_consistency": consistency}
    broken = [Inference(0.5, 0.3, 0.2, False), Inference(nothing, nothing, nothing, False)]
    for answers in (broken, broken[::-1]):
        value = combine[name](answers)
        assert value != value


def test_no_persona_and_no_response_have_no_score(checkpoint: Path) -> None:
    found = scores(checkpoint, "persona_contradiction", example("no", " "), example(" ", *PERSONA))
    assert found == [
        Undefined("the dialogue has no persona"),
        Undefined("the response is empty"),
    ]


def test_a_persona_that_the_model_cannot_read_has_no_score(checkpoint: Path) -> None:
    (found,) = scores(checkpoint, "persona_contradiction", example("no", "日本", "🙂"))
    assert found == Undefined("the model knows no token of the persona")


def test_a_long_pair_is_cut_and_remarked(checkpoint: Path) -> None:
    """48 positions, 3 special tokens: of 60 and 2 tokens 43 and 2 are left."""
    scorer = parse(f"persona_contradiction[model={checkpoint}]").scorer()
    found = scorer.score([example("no", "yes"), example("dogs " * 60, "i like")])
    expected = plain(checkpoint, "i like", "dogs " * 43)["contradiction"]
    assert found[1] == pytest.approx(expected, abs=1e-5)
    assert scorer.account().remarks == {1: "persona and response were cut at 48 tokens"}


@pytest.mark.parametrize(
    "labels",
    [
        ("contradiction", "entailment", "neutral"),
        ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
        ("Neutral", " entailed", "contradictory"),
    ],
)
def test_labels_are_told_in_any_order_and_case(labels: tuple[str, ...]) -> None:
    columns = label_columns("m", dict(enumerate(labels)))
    assert {name: labels[index].strip().lower()[:5] for name, index in columns.items()} == {
        "contradiction": "contr",
        "entailment": "entai",
        "neutral": "neutr",
    }


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "not_entailment"),
        ("entailment", "contradiction"),
        ("entailment", "neutral", "neutral"),
        ("entailment", "neutral", "contradiction", "other"),
    ],
)
def test_other_labels_are_refused_by_name(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(ModelError, match="its labels are") as refused:
        label_columns("m", dict(enumerate(labels)))
    assert ", ".join(labels) in str(refused.value)


def test_a_checkpoint_with_numbered_labels_is_refused(tmp_path: Path) -> None:
    folder = save_bert(tmp_path, "BertForSequenceClassification", outputs=3)
    with pytest.raises(ModelError, match="LABEL_0, LABEL_1, LABEL_2; id2label of its config"):
        NliModel(model_files(str(folder)), "cpu")


LEARNED = ("contradiction", "neutral", "entailment")
"""Of what ``made_pairs`` numbers."""


def made_pairs(subjects: Sequence[str]) -> list[tuple[str, str, int]]:
    """With "no" the hypothesis contradicts, of something else it is neutral."""
    return [
        (f"i like {one}", text, label)
        for number, one in enumerate(subjects)
        for label, text in enumerate(
            (f"no like {one}", f"do you {subjects[number - 1]} ?", f"i like {one}")
        )
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier that has learned what the three labels are."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = save_nli(tmp_path_factory.mktemp("trained"), LEARNED)
    read = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    premises, hypotheses, labels = zip(
        *made_pairs(["dogs", "cats", "there", "my friend", "fact", "dialogue"]), strict=True
    )
    batch = read([*premises], [*hypotheses], padding=True, return_tensors="pt")
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        model(**batch, labels=torch.tensor(labels)).loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    return folder


def reordered(trained: Path, folder: Path, labels: tuple[str, ...]) -> Path:
    """The same classifier with its outputs in another order, named as ``labels``."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(trained)
    order = [LEARNED.index(one.lower()) for one in labels]
    with torch.no_grad():
        for part in (model.classifier.weight, model.classifier.bias):
            part.copy_(part[order].clone())
    model.config.id2label = dict(enumerate(labels))
    model.config.label2id = {label: place for place, label in enumerate(labels)}
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(trained).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    "labels",
    [
        LEARNED,
        ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
        ("neutral", "contradiction", "entailment"),
    ],
)
def test_a_trained_classifier_finds_the_contradiction_in_any_order_of_labels(
    trained: Path, tmp_path: Path, labels: tuple[str, ...]
) -> None:
    folder = reordered(trained, tmp_path, labels)
    examples = [
        example(text, "i like dogs") for text in ("no like dogs", "do you cats ?", "i like dogs")
    ]
    assert scores(folder, "persona_consistency", *examples) == [-1, 0, 1]
    against, other, same = scores(folder, "persona_contradiction", *examples)
    assert against > 0.9 > 0.1 > max(other, same)


def test_without_a_checkpoint_it_is_not_offered() -> None:
    assert parse("persona_contradiction").missing() == (
        "name a checkpoint: persona_contradiction[model=FOLDER], or a hub id"
    )
