"""UniEval: p(Yes) beside p(No) at the decoder's first step, and the questions as data."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.checkpoints import save_bert, save_t5
from workers.inference.encoders.boolean_model import BooleanModel
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Example
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.common.unieval_questions import (
    ASPECTS,
    OWN_QUESTIONS,
    QuestionsError,
    questions_of,
)
from workers.metrics.unieval import UniEval


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_t5(tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> BooleanModel:
    return BooleanModel(model_files(str(checkpoint)), "cpu")


def example(response: str, persona: tuple[str, ...] = ("i like dogs",)) -> Example:
    context = (Utterance("A", " hello "), Utterance("B", "how are you"))
    return Example("d", 0, persona, (), context, (), response)


@cache
def loaded(checkpoint: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(checkpoint), AutoModelForSeq2SeqLM.from_pretrained(
        checkpoint
    ).eval()


def plain(checkpoint: Path, question: str) -> float:
    """As the released code has it: probabilities of the first step over all words, then their
    share."""
    import torch

    tokenizer, model = loaded(checkpoint)
    encoded = tokenizer(question, max_length=1024, truncation=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            labels=torch.tensor([[5]]),
        ).logits[0, 0]
    words = torch.softmax(logits, -1)
    yes, no = (float(words[tokenizer(word)["input_ids"][0]]) for word in ("Yes", "No"))
    return yes / (yes + no)


QUESTION_OF_COHERENCE = (
    "question: Does this response follow from the dialogue history? </s> response: i like cats "
    "</s> dialogue history: hello\nhow are you"
)


def test_a_score_is_the_share_of_yes(checkpoint: Path, model: BooleanModel) -> None:
    (score,) = UniEval(lambda: model, questions_of(""), "coherence").score([example("i like cats")])
    assert score == pytest.approx(plain(checkpoint, QUESTION_OF_COHERENCE), abs=1e-5)


def test_answers_are_those_of_one_question_at_a_time(checkpoint: Path, model: BooleanModel) -> None:
    questions = [
        "question: hello? </s> response: yes",
        "do you like dogs",
        "",
        "what " * 30,
        "日本 🙂",
    ]
    found = [answer.yes for answer in model.answers(questions)]
    expected = [plain(checkpoint, question) for question in questions]
    assert found == pytest.approx(expected, abs=1e-5)
    assert max(expected) - min(expected) > 0.05


def test_overall_is_the_mean_of_the_aspects(model: BooleanModel) -> None:
    ours = questions_of("")
    examples = [example("i like cats"), example("no")]
    each = [UniEval(lambda: model, ours, aspect).score(examples) for aspect in ASPECTS]
    overall = UniEval(lambda: model, ours, "overall").score(examples)
    assert overall == pytest.approx(
        [sum(of_one) / 5 for of_one in zip(*each, strict=True)], abs=1e-6
    )


def test_engagingness_is_summed_over_sentences_where_asked(model: BooleanModel) -> None:
    ours = questions_of("")
    texts = ("i like cats.", "do you?", "i like cats.  do you?")
    one, other, both = UniEval(lambda: model, ours, "engagingness", sums_sentences=True).score(
        [example(text) for text in texts]
    )
    assert isinstance(one, float)
    assert isinstance(other, float)
    assert both == pytest.approx(one + other, abs=1e-6)
    coherence = UniEval(lambda: model, ours, "coherence")
    summed = UniEval(lambda: model, ours, "coherence", sums_sentences=True)
    assert summed.score([example(texts[2])]) == coherence.score([example(texts[2])])


def test_order_does_not_matter(model: BooleanModel) -> None:
    examples = [example("i like cats"), example("no"), example("what is it ? " * 9)]
    metric = UniEval(lambda: model, questions_of(""), "overall")
    assert metric.score(examples[::-1]) == pytest.approx(metric.score(examples)[::-1], abs=1e-6)


def test_a_question_about_a_persona_needs_one(model: BooleanModel) -> None:
    bare = example("i like cats", persona=(" ",))
    ours = questions_of("")
    assert UniEval(lambda: model, ours, "groundedness").score([bare]) == [
        Undefined("groundedness asks about the persona, and the dialogue has no persona")
    ]
    scores = UniEval(lambda: model, ours, "overall").score([bare, example("yes")])
    assert isinstance(scores[0], Undefined)
    assert isinstance(scores[1], float)
    assert isinstance(UniEval(lambda: model, ours, "coherence").score([bare])[0], float)


def test_no_score_at_all_asks_nothing(model: BooleanModel) -> None:
    heard: list[int] = []
    metric = UniEval(lambda: model, questions_of(""), "groundedness")
    assert isinstance(metric.score([example("yes", persona=())], heard.append)[0], Undefined)
    assert heard == [1]
    assert metric.score([]) == []


def test_an_empty_response_is_asked_about_like_any_other(
    checkpoint: Path, model: BooleanModel
) -> None:
    (score,) = UniEval(lambda: model, questions_of(""), "naturalness").score([example("")])
    question = OWN_QUESTIONS["naturalness"].replace("{response}", "")
    assert score == pytest.approx(plain(checkpoint, question), abs=1e-5)


def test_a_question_of_more_than_1024_tokens_is_cut_and_remarked(
    checkpoint: Path, model: BooleanModel
) -> None:
    metric = UniEval(lambda: model, questions_of(""), "naturalness")
    scores = metric.score([example("yes"), example("dogs " * 1500)])
    assert scores[1] == pytest.approx(
        plain(checkpoint, OWN_QUESTIONS["naturalness"].replace("{response}", "dogs " * 1500)),
        abs=1e-5,
    )
    assert metric.account().remarks == {1: "a question was cut at 1024 tokens"}


def test_texts_with_braces_are_texts(model: BooleanModel) -> None:
    ours = questions_of("")
    assert ours.question("coherence", example("{context} {0} {")).startswith(
        "question: Does this response follow from the dialogue history? </s> response: {context} "
        "{0} { </s>"
    )


def test_questions_from_a_file(tmp_path: Path, checkpoint: Path, model: BooleanModel) -> None:
    """`overall` is the mean over the file's aspects; the account tells its wording from any
    other."""
    file = tmp_path / "questions.json"
    file.write_text(
        json.dumps({"naturalness": "hello? {response}", "coherence": "what? {response} {context}"})
    )
    metric = parse(f"unieval[model={checkpoint},questions={file}]").scorer()
    (score,) = metric.score([example("yes", persona=())])
    expected = (
        plain(checkpoint, "hello? yes") + plain(checkpoint, "what? yes hello\nhow are you")
    ) / 2
    assert score == pytest.approx(expected, abs=1e-5)
    own = UniEval(lambda: model, questions_of(""), "overall")
    own.score([example("yes")])
    assert (
        dict(metric.account().facts)["questions_hash"]
        != dict(own.account().facts)["questions_hash"]
    )


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("", "cannot be read"),
        ("[1]", "not a JSON object"),
        ("{}", "not a JSON object"),
        ('{"beauty": "{response}"}', 'hold "beauty"; the aspects are naturalness'),
        ('{"coherence": 3}', "coherence: a text with {response} in it"),
        ('{"coherence": "question"}', "coherence: a text with {response} in it"),
        (
            '{"coherence": "{response} {reference}"}',
            "{reference} is none of response, context, persona",
        ),
    ],
)
def test_a_wrong_file_of_questions_is_named(tmp_path: Path, content: str, wrong: str) -> None:
    file = tmp_path / "questions.json"
    file.write_text(content)
    with pytest.raises(QuestionsError) as refused:
        questions_of(str(file))
    assert str(file) in str(refused.value)
    assert wrong in str(refused.value)
    assert parse(f"unieval[model=x,questions={file}]").missing() == str(refused.value)


def test_bytes_that_are_no_text_and_a_folder_are_no_questions(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_bytes(b"\xff\xfe")
    for path in (file, tmp_path, tmp_path / "none.json"):
        with pytest.raises(QuestionsError, match="cannot be read"):
            questions_of(str(path))


def test_an_aspect_that_the_file_does_not_have(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text('{"coherence": "{response}"}')
    assert (
        'none for "naturalness"'
        in parse(f"unieval[model=x,questions={file},aspect=naturalness]").missing()
    )


def test_yes_and_no_of_several_tokens_are_told_by_their_first(tmp_path: Path) -> None:
    folder = save_t5(tmp_path, first_pieces=True)
    (answer,) = BooleanModel(model_files(str(folder)), "cpu").answers(["hello"])
    assert answer.yes == pytest.approx(plain(folder, "hello"), abs=1e-5)


@pytest.mark.parametrize("words", [("Yes", "hello"), ("hello", "you")])
def test_a_tokenizer_that_does_not_know_the_answers_is_refused(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with pytest.raises(ModelError, match=r'does not know the word "(No|Yes)"'):
        BooleanModel(model_files(str(save_t5(tmp_path, words=words))), "cpu")


def test_a_model_without_a_decoder_is_refused(tmp_path: Path) -> None:
    save_bert(tmp_path, "BertForMaskedLM")
    with pytest.raises(ModelError, match="is not an encoder-decoder model such as T5, but a bert"):
        BooleanModel(model_files(str(tmp_path)), "cpu")


def test_without_a_checkpoint_it_is_not_offered() -> None:
    assert parse("unieval").missing() == "name a checkpoint: unieval[model=FOLDER], or a hub id"
    with pytest.raises(ConfigurationError, match="aspect"):
        parse("unieval[aspect=beauty]")


def test_our_questions_are_one_for_each_aspect() -> None:
    assert tuple(OWN_QUESTIONS) == ASPECTS
    assert math.isclose(len({questions_of("").revision}), 1)
