"""150 drawn uploads by page and API, thousands with ``DIALEVAL_LONG=1``: no answer is a fault
of ours, and what is refused stores nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from annotations.models import Corpus, Response, System, Turn
from leaderboard.challenges import execution
from leaderboard.challenges.models import Round, Submission
from leaderboard.challenges.uploads import incoming_folder
from leaderboard.models import SubmittedMetric, SubmittedScores
from tests.api_client import token_of
from tests.challenges.hostile_uploads import Case, draw
from tests.challenges.sets import open_round, small_version, team_with_member
from tests.ci import IS_LONG
from tests.stored_uploads import files_below, uploads_folder

SEED = 20
CASES, IN_ONE_GO = (10_000, 1_000) if IS_LONG else (150, 150)
SYSTEMS = ("alpha", "=beta")
CODES = {200, 201, 302, 400, 403, 409, 413, 415, 422}


@dataclass
class AttemptSender:
    """A team's member with a browser and a token."""

    round: Round
    client: Client
    token: str
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)

    def send(self, case: Case) -> Any:
        form: dict[str, Any] = dict(case.fields)
        if case.data is not None:
            form["file"] = SimpleUploadedFile(case.file_name, case.data)
        place = f"{self.round.challenge.slug}/rounds/{self.round.slug}"
        headers = {"Authorization": f"Bearer {self.token}"}
        if case.way == "scores":
            path = f"/api/v1/corpora/{self.round.version.corpus.slug}/metric-scores"
        elif case.way == "api":
            path = f"/api/v1/challenges/{place}/submissions"
        else:
            # Most as the page's script sends them, some as a browser without script.
            path, headers = f"/challenges/{place}/submit/", {} if case.number % 20 == 0 else JSON
        answer = self.client.post(path, form, headers=headers)
        self.answers[case.way, answer.status_code] += 1
        return answer


JSON = {"Accept": "application/json"}


@pytest.fixture
def sender(settings: Any, tmp_path: Path) -> AttemptSender:
    files_below(settings, tmp_path / "files")  # what other tests left must not count here
    version = small_version(3, 2, SYSTEMS)
    Corpus.objects.filter(pk=version.corpus_id).update(is_public=True)
    round = open_round(version, daily_limit=IN_ONE_GO, total_limit=IN_ONE_GO)
    _, user = team_with_member(round.challenge)
    client = Client()
    client.force_login(user)
    return AttemptSender(round, client, token_of(user, "read", "submit"))


def outcome(submission: Submission) -> str:
    """What became of it in the worker, with everything that must hold of its rows."""
    assert execution.process(submission.pk), submission
    submission.refresh_from_db()
    held = (
        submission.day_place,
        submission.total_place,
        submission.system_id,
        submission.metric_id,
    )
    if submission.state == "invalid":
        assert held == (None, None, None, None)
        assert 1 <= len(submission.problems) <= 100
        assert all(problem["message"] for problem in submission.problems)
    elif submission.kind == "scores":
        assert submission.state == "scored", submission.error
        assert SubmittedScores.objects.filter(metric=submission.metric).exists()
    else:
        assert submission.state == "scoring", submission.error
        assert submission.day_place is not None
        assert submission.system.withheld
        assert submission.system.responses.count() == places_of(submission.round)
    return submission.state


def places_of(round: Round) -> int:
    return Turn.objects.filter(dialogue__version=round.version).count()


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("first", range(0, CASES, IN_ONE_GO))
def test_drawn_uploads(sender: AttemptSender, first: int) -> None:
    version = sender.round.version
    turns = Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    places = list(turns.values_list("dialogue__external_id", "number"))
    systems_before, responses_before = System.objects.count(), Response.objects.count()
    ended: Counter[str] = Counter()
    taken = 0
    with override_settings(API_RATE=10 * IN_ONE_GO, SCORE_FILES_PER_DAY=IN_ONE_GO):
        for number in range(first, first + IN_ONE_GO):
            case = draw(SEED, number, places, SYSTEMS)
            answer = sender.send(case)
            assert answer.status_code in CODES, (case, answer.status_code, answer.content[:500])
            new = list(Submission.objects.filter(state="received"))
            if answer.status_code in (201, 302):
                assert len(new) == 1, case
                taken += 1
                ended[f"{case.way} {outcome(new[0])}"] += 1
            else:
                assert new == [], (case, answer.status_code)
                assert not any(incoming_folder().iterdir()), case
    # Every way ended in every way: the cases reach what they are there for.
    for way, end in (("page", "scoring"), ("api", "scoring"), ("scores", "scored")):
        assert ended[f"{way} {end}"] > IN_ONE_GO / 100, ended
        assert ended[f"{way} invalid"] > IN_ONE_GO / 100, ended
    assert sum(ended.values()) == taken == Submission.objects.count()
    accepted = ended["page scoring"] + ended["api scoring"]
    assert System.objects.count() == systems_before + accepted
    assert Response.objects.count() == responses_before + accepted * len(places)
    assert SubmittedMetric.objects.count() == ended["scores scored"]
    assert {path.name for path in uploads_folder().iterdir()} >= set(
        Submission.objects.values_list("stored_as", flat=True)
    )
