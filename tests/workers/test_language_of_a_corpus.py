"""A corpus's language decides how words are cut, which metrics are recommended, and what is said of
the others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotations.corpora import queries
from annotations.languages import guess_language
from annotations.models import CorpusVersion
from leaderboard.challenges.forms.round import RoundForm
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs.language_fit import recommended_metrics, why_hard_to_read

pytestmark = pytest.mark.django_db

SAID = {
    "ar": "أنا أحب القطط كثيرا جدا",
    "el": "Μου αρέσουν πολύ οι γάτες",
    "en": "I really like cats and you do too",
    "he": "אני מאוד אוהב חתולים קטנים",
    "hi": "मुझे बिल्लियाँ बहुत पसंद हैं",
    "ja": "今日はとても嬉しいです",
    "km": "ខ្ញុំចូលចិត្តឆ្មាណាស់",
    "ko": "나는 오늘 정말 너무 행복합니다",
    "ru": "Я очень люблю маленьких кошек",
    "th": "ฉันรักแมวมากจริงๆ",
    "zh": "我今天真的很高兴",
    "": "Ich mag Katzen sehr gerne",
}
OTHER = {"zh": "他明天不想去学校", "ko": "그는 내일 학교에 가고 싶지 않다"}


def stored(folder: Path, responses: dict[str, str], reference: str, *options: str) -> CorpusVersion:
    """One turn, a system for each response."""
    turn = {
        "number": 0,
        "context": [{"speaker": "A", "text": reference}],
        "references": [reference],
    }
    lines: list[Any] = [
        {"type": "corpus"},
        *({"type": "system", "name": name} for name in responses),
    ]
    lines.append(
        {"type": "dialogue", "id": "d", "persona": [], "partner_persona": [], "turns": [turn]}
    )
    lines += [
        {"type": "response", "dialogue_id": "d", "turn": 0, "system": name, "text": text}
        for name, text in responses.items()
    ]
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    call_command("import_corpus", "jsonl", str(file), "--slug", "c", *options)
    return queries.version_of("c")


@pytest.mark.parametrize("language", sorted(SAID))
def test_equal_texts_score_1_by_every_lexical_metric_in_every_script(
    tmp_path: Path, language: str
) -> None:
    version = stored(tmp_path, {"gold": SAID[language]}, SAID[language])
    assert queries.language_of(version) == guess_language([SAID[language]]) == language
    names = "word_f1,bleu_1,bleu_4,rouge_1,rouge_2,rouge_l,chrf,chrf_pp,corpus_bleu"
    call_command("score", "--corpus", "c", "--metrics", names, "--inline")
    for run in MetricRun.objects.all():
        assert run.system_score == pytest.approx(1.0), run.signature
        if "tokenize=auto" not in run.configuration and run.metric.startswith(("word", "rouge")):
            assert f"language:{language or 'unknown'}" in run.signature


@pytest.mark.parametrize("language", sorted(OTHER))
def test_different_texts_do_not_all_score_0(tmp_path: Path, language: str) -> None:
    half = SAID[language][: len(SAID[language]) // 2] + OTHER[language][len(OTHER[language]) // 2 :]
    stored(tmp_path, {"near": half, "far": OTHER[language]}, SAID[language])
    call_command("score", "--corpus", "c", "--metrics", "word_f1,rouge_1", "--inline")
    for metric in ("word_f1", "rouge_1"):
        near, far = (
            MetricRun.objects.get(metric=metric, system__name=name).system_score
            for name in ("near", "far")
        )
        assert near > far


def test_a_language_that_is_given_is_another_version_and_a_guess_changes_no_digest(
    tmp_path: Path, capsys: Any
) -> None:
    guessed = stored(tmp_path, {"s": "salut"}, "bonjour a tous")
    assert (queries.language_of(guessed), guessed.language_is_guess) == ("", True)
    given = stored(tmp_path, {"s": "salut"}, "bonjour a tous", "--language", "fr")
    assert (given.language, given.language_is_guess, given.number) == ("fr", False, 2)
    assert "language: French" in capsys.readouterr().out
    again = stored(tmp_path, {"s": "salut"}, "bonjour a tous")
    assert CorpusVersion.objects.count() == 2
    assert CorpusVersion.objects.get(number=1).digest == guessed.digest
    assert again == given  # the newest


def test_recommended_metrics_follow_from_the_language(tmp_path: Path) -> None:
    version = stored(tmp_path, {"s": SAID["ko"]}, SAID["ko"])
    assert recommended_metrics(version) == ["chrf", "word_f1", "bleu_4", "rouge_l"]


def test_a_metric_that_cannot_read_the_language_says_so_before_it_is_chosen(tmp_path: Path) -> None:
    version = stored(tmp_path, {"s": SAID["km"]}, SAID["km"])
    assert "unknown to the model" in why_hard_to_read(parse("bertscore_f1"), version)
    assert "Khmer" in why_hard_to_read(parse("rouge_1[tokenize=rouge-score]"), version)
    assert "English" in why_hard_to_read(parse("meteor"), version)
    assert (
        why_hard_to_read(parse("chrf"), version)
        == why_hard_to_read(parse("rouge_1"), version)
        == ""
    )


def test_a_run_whose_model_knows_few_tokens_warns(tmp_path: Path, capsys: Any) -> None:
    stored(tmp_path, {"s": "tea " + SAID["km"]}, "coffee " + SAID["km"])
    call_command("score", "--corpus", "c", "--metrics", "bertscore_f1", "--inline")
    run = MetricRun.objects.get()
    assert "% of the tokens are unknown to the model" in run.details["warning"]
    assert run.remarks["0"] == run.details["warning"]
    assert f"warning: bertscore_f1 on s: {run.details['warning']}" in capsys.readouterr().err


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_the_pages_of_a_corpus_recommend_metrics_for_its_language(
    tmp_path: Path, client: Client
) -> None:
    stored(tmp_path, {"s": SAID["zh"]}, SAID["zh"])
    client.force_login(made_user("olga", "organiser"))
    overview = text_of(client.get("/corpora/c/"))
    assert "Language Chinese guessed from the texts" in overview  # it was the site's own language
    assert "Recommended metrics for Chinese: chrf , word_f1 , bleu_4 , rouge_l ." in overview
    runs = client.get(reverse("corpus-runs", args=["c"]))
    assert runs.context["form"]["metrics"].value() == ["chrf", "word_f1", "bleu_4", "rouge_l"]
    assert runs.context["form"]["more"].value() is None


def test_who_chooses_metrics_to_compute_reads_which_cannot_read_the_corpus(
    tmp_path: Path, client: Client
) -> None:
    stored(tmp_path, {"s": SAID["km"]}, SAID["km"])
    client.force_login(made_user("olga", "organiser"))
    page = text_of(client.get(reverse("corpus-runs", args=["c"])))
    assert re.search(
        r"bertscore_f1 [^.]+\. On this corpus: \d+ % of the tokens are unknown to the model\.", page
    )
    assert not re.search(r"chrf [^.]+\. On this corpus:", page)


def test_the_form_of_a_round_warns_of_every_metric_that_cannot_read_the_corpus(
    tmp_path: Path,
) -> None:
    version = stored(tmp_path, {"s": SAID["km"]}, SAID["km"])
    round = open_round(version, metrics=["chrf", "bertscore_f1"], ranking_metric="chrf")
    (warning,) = RoundForm(challenge=round.challenge, round=round).warnings
    assert warning.startswith("bertscore_f1: ")
    assert "unknown to the model" in warning
