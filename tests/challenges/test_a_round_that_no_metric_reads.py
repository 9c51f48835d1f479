"""A round whose ranking metric cannot read its corpus: nobody is ranked, and all are told why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotations.corpora.queries import version_of
from annotations.models import CorpusVersion
from leaderboard.challenges.forms.round import RoundForm
from leaderboard.challenges.models import Round
from leaderboard.challenges.queries.board import round_board
from leaderboard.pages.metrics.tables import HARD_TO_READ, metric_board
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.results.computing import compute_waiting
from tests.challenges.sets import good_file, open_challenge, open_round, scored, team_with_member

pytestmark = pytest.mark.django_db

KHMER = ["ខ្ញុំចូលចិត្តឆ្មាណាស់", "ខ្ញុំស្អប់ឆ្កែ", "ថ្ងៃនេះភ្លៀង", "តើអ្នកសុខសប្បាយទេ"]
CHINESE = ["我今天真的很高兴", "他明天不想去学校", "今天下雨了", "你好吗"]
UNREAD = "of the tokens are unknown to the model"


def corpus(
    folder: Path, texts: list[str], answers: dict[str, list[str]] | None = None
) -> CorpusVersion:
    """Four dialogues of one turn; ``answers``: by system, one a dialogue, each rated by two
    people."""
    lines: list[dict[str, Any]] = [{"type": "corpus"}]
    lines += [{"type": "system", "name": name} for name in answers or ()]
    lines += [{"type": "rater", "name": name} for name in ("ann", "bob")]
    for place, text in enumerate(texts):
        turn = {"number": 0, "context": [{"speaker": "A", "text": text}], "references": [text]}
        lines.append(
            {
                "type": "dialogue",
                "id": f"d{place}",
                "persona": [],
                "partner_persona": [],
                "turns": [turn],
            }
        )
        for name, said in (answers or {}).items():
            where = {"dialogue_id": f"d{place}", "turn": 0, "system": name}
            lines.append({"type": "response", **where, "text": said[place]})
            lines += [
                {"type": "rating", **where, "rater": rater, "aspect": "overall", "score": 1 + place}
                for rater in ("ann", "bob")
            ]
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    call_command("import_corpus", "jsonl", str(file), "--slug", "c")
    return version_of("c")


def with_three_teams(
    version: CorpusVersion, answers: list[str], **fields: Any
) -> tuple[Round, Any]:
    round = open_round(version, open_challenge("cup"), slug="one", **fields)
    for name, answer in zip("abc", answers, strict=True):
        team, user = team_with_member(round.challenge, name, f"Team {name}")
        found = scored(round, team, data=good_file(version, answer))
    while compute_waiting():
        pass
    return round, (found, user)


def text_of(client: Client, address: str) -> str:
    page = client.get(address)
    assert page.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.content.decode()))


def board_of(round: Round) -> str:
    return reverse("board", args=[round.challenge.slug, round.slug])


def test_a_board_whose_ranking_metric_read_nothing_says_why_there_is_no_ranking(
    tmp_path: Path,
) -> None:
    metrics = {"metrics": ["bertscore_f1", "chrf"], "ranking_metric": "bertscore_f1"}
    round, (submission, user) = with_three_teams(corpus(tmp_path, KHMER), KHMER[1:], **metrics)
    document = round_board(round, user)
    assert [entry.rank for entry in document.entries] == [None] * 3
    assert document.answer.no_ranking.startswith("bertscore_f1 gives no entry a score: ")
    assert "the model knows no token" in document.answer.no_ranking
    assert [UNREAD in metric.warning for metric in document.answer.metrics] == [True, False]

    client = Client()
    client.force_login(user)
    page = text_of(client, board_of(round))
    assert "No ranking: bertscore_f1 gives no entry a score: " in page
    assert f"bertscore_f1: 100 % {UNREAD}." in page
    own = text_of(client, reverse("submission", args=[submission.public_id]))
    assert "No rank: no turn has a score: the model knows no token" in own
    assert f"bertscore_f1: 100 % {UNREAD}." in own


def test_teams_that_all_have_the_worst_score_do_not_share_rank_1(tmp_path: Path) -> None:
    """Three teams of a Chinese round stood at rank 1 with 0.000."""
    ranking = "word_f1[tokenize=parlai]"
    fields = {"metrics": [ranking], "ranking_metric": ranking}
    round, (_, user) = with_three_teams(
        corpus(tmp_path, CHINESE), ["他们在外面", "我们吃饭", "再见"], **fields
    )
    document = round_board(round, user)
    assert [(entry.rank, entry.order) for entry in document.entries] == [(None, None)] * 3
    assert document.answer.no_ranking.startswith(
        f"every entry has 0.000 by {ranking}, the worst score there is"
    )
    assert "which Chinese does not write between them" in document.answer.metrics[0].warning


def test_a_metric_that_reads_the_language_ranks_the_same_round(tmp_path: Path) -> None:
    round, (_, user) = with_three_teams(
        corpus(tmp_path, CHINESE), ["我今天很高兴", "今天他去学校", "你们好吗"]
    )
    document = round_board(round, user)
    assert document.answer.no_ranking == ""
    assert [entry.order for entry in document.entries] == [1, 1, 3]
    assert [metric.warning for metric in document.answer.metrics] == ["", ""]


def test_the_form_of_a_round_warns_before_anybody_hands_in(tmp_path: Path) -> None:
    version = corpus(tmp_path, CHINESE)
    round = open_round(
        version, metrics=["word_f1[tokenize=parlai]"], ranking_metric="word_f1[tokenize=parlai]"
    )
    (warning,) = RoundForm(challenge=round.challenge, round=round).warnings
    assert "word_f1[tokenize=parlai], which ranks: it cuts words at white space" in warning
    fresh = RoundForm(challenge=round.challenge)
    assert fresh.initial["ranking_metric"] == "chrf"
    assert fresh.initial["metrics"] == ["chrf", "word_f1", "bleu_4", "rouge_l"]


def test_the_metric_leaderboard_says_beside_a_metric_what_it_could_not_read(tmp_path: Path) -> None:
    half = [f"tea coffee milk {text}" for text in KHMER]
    version = corpus(tmp_path, KHMER, {"near": half, "far": half[::-1]})
    call_command("score", "--corpus", "c", "--metrics", "bertscore_f1,chrf", "--inline")
    document = meta_evaluation(version, "overall", resamples=20)
    assert {row.metric for row in document.rows if UNREAD in row.warning} == {"bertscore_f1"}
    table = metric_board(document, None)
    badges = {row.id: row.badges for row in table.rows}
    assert HARD_TO_READ in badges["metric-bertscore_f1"]
    assert HARD_TO_READ not in badges["metric-chrf"]
    (note,) = [row.cell("metric").note for row in table.rows if row.id == "metric-bertscore_f1"]
    assert UNREAD in note
