"""What every registered metric says of texts that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.causal import make_causal
from tests.workers.checkpoints import save_bert, save_nli, save_t5
from tests.workers.training.made import make_model, trained_in
from workers.metrics.base import Account, Example, Metric, Score
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.readability import unknown_remark
from workers.metrics.common.unieval_questions import OWN_QUESTIONS
from workers.metrics.registry import all_metrics

TEXTS = {
    "emoji": ("😂😂 🎉 🥳 😍 🙌", "😡😡 💀 🤮 😭 👎"),
    "zh": ("我今天真的很高兴见到你们", "他明天不想去学校上课了吧"),
    "ko": ("나는 오늘 정말 너무 행복합니다", "그는 내일 학교에 가고 싶지 않다"),
    "ar": ("أنا أحب القطط الصغيرة كثيرا جدا", "هو لا يريد الذهاب غدا إلى المدرسة"),
    "hi": ("मुझे छोटी बिल्लियाँ बहुत पसंद हैं", "वह कल स्कूल नहीं जाना चाहता था"),
    "th": ("ฉันรักแมวตัวเล็กมากจริงๆ นะ", "เขาไม่อยากไปโรงเรียนพรุ่งนี้เลย"),
    "ru": ("Я очень сильно люблю маленьких кошек", "Завтра он совсем не хочет идти в школу"),
}
"""Two texts of each kind that share no word."""
JUDGES = {metric.name for metric in all_metrics().values() if metric.queue == "llm"}
"""The model that they ask is elsewhere, and so is its tokeniser."""
MAY_AGREE = {"response_length", "persona_coverage"}
"""The length, and the mean weight of shared words, may be the same of two texts that were read."""
SETS_OF_DIFFERENT = {"distinct_1", "distinct_2", "distinct_3", "self_repetition"}
"""Of these, a system that says one thing again and again is told from one that does not."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Small models of every kind, with vocabularies of a few English words."""
    folder = tmp_path_factory.mktemp("home")
    make_model("density", "choosing", folder)
    make_model("density", "telling", folder, objective="binary", perturbed=2, contrastive="none")
    make_model("cmn", "latent", folder)
    save_bert(folder / "bleurt", "BertForSequenceClassification")
    for name in ("persona_contradiction", "persona_consistency"):
        save_nli(folder / name)
    save_bert(folder / "usr_mlm", "BertForMaskedLM", positions=128)
    words = dict.fromkeys(
        word for text in OWN_QUESTIONS.values() for word in text.replace("{", " ").split()
    )
    save_t5(folder / "unieval", ("Yes", "No", *words))
    make_causal(folder / "causal", positions=1024)
    with trained_in(folder):
        yield folder


def configured(metric: Metric, home: Path) -> Configuration:
    chosen: dict[str, Any] = {}
    if any(option.name == "trained" for option in metric.options):
        recipe = "latent" if metric.name.startswith("cmn") else "choosing"
        chosen["trained"] = "telling" if metric.name == "maude_style" else recipe
    elif (home / metric.name).is_dir():
        chosen["model"] = str(home / metric.name)
    elif metric.name.startswith(("fed_", "gpt2_", "pmi")):
        chosen["model"] = str(home / "causal")
    configuration = Configuration.of(metric, **chosen)
    if reason := configuration.missing():
        pytest.skip(reason)
    return configuration


def answers(kind: str, *responses: str) -> list[Example]:
    """One dialogue whose every turn has the kind's first text as its reference."""
    reference = TEXTS[kind][0]
    context = (Utterance("A", "do you like dogs ?"),)
    return [
        Example("d", turn, ("i like dogs", reference), (), context, (reference,), response)
        for turn, response in enumerate(responses)
    ]


def scored(configuration: Configuration, kind: str, *responses: str) -> tuple[list[Score], Account]:
    """The scores of a system's responses: one each, one of the dialogue, or one of the system."""
    scorer = configuration.scorer()
    examples = answers(kind, *responses)
    if hasattr(scorer, "see_corpus"):
        scorer.see_corpus(examples)
    if hasattr(scorer, "see_language"):
        scorer.see_language(kind if kind != "emoji" else "")
    if "turn" in configuration.levels:
        found: Sequence[Score] = scorer.score(examples)
    elif "dialogue" in configuration.levels:
        found = scorer.score_dialogues([examples])
    else:
        people = [
            Example(one.dialogue_id, one.turn, (), (), one.context, (), one.references[0])
            for one in examples
        ]
        found = [scorer.score_system(examples, people)]
    return list(found), scorer.account()


@pytest.mark.parametrize("name", sorted(all_metrics().keys() - JUDGES))
@pytest.mark.parametrize("kind", sorted(TEXTS))
def test_no_metric_gives_two_texts_one_score_because_it_read_neither(
    home: Path, name: str, kind: str
) -> None:
    configuration = configured(all_metrics()[name], home)
    same, other = TEXTS[kind]
    if name in SETS_OF_DIFFERENT:
        first, second = [same, same], [same, other]
    else:
        first, second = [same] * 24, [other] * 24  # PRD takes no fewer
    of_same, account = scored(configuration, kind, *first)
    of_other, account_of_other = scored(configuration, kind, *second)
    assert account.read
    assert account_of_other.read, "a metric says what it read"
    if name in MAY_AGREE:
        return
    for one, another in zip(of_same, of_other, strict=True):
        if isinstance(one, Undefined) or isinstance(another, Undefined):
            assert all(score.reason for score in (one, another) if isinstance(score, Undefined))
        else:
            assert one != pytest.approx(another, abs=1e-9)
    for read, score in zip(account_of_other.read, of_other, strict=False):
        if read.is_unreadable:
            assert isinstance(score, Undefined)
        elif unknown := unknown_remark(read):
            assert unknown.endswith("unknown to the model")


@pytest.mark.parametrize("kind", ["en", *sorted(TEXTS)])
def test_a_reference_repeated_is_never_called_wrong(home: Path, kind: str) -> None:
    """ROUGE was 0 for identical Korean, BLEU for identical Chinese."""
    TEXTS.setdefault("en", ("do you like my dogs ?", "no"))
    for name, metric in all_metrics().items():
        if "reference" not in metric.needs or name in JUDGES or metric.value_range != (0.0, 1.0):
            continue
        if name == "meteor" and Configuration.of(metric).missing():
            continue
        for score in scored(configured(metric, home), kind, TEXTS[kind][0])[0]:
            trained = {"bert_ruber", "bleurt"}
            assert isinstance(score, Undefined) or name in trained or score > 0.5, name
