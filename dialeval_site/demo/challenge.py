"""A challenge to try on the demo corpus: one open round with public references, three baselines,
and a team for the participant's log-in, which has handed in nothing yet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from annotations.models import CorpusVersion, DemoAccount
from leaderboard.challenges.actions import judging, setup, teams
from leaderboard.challenges.actions.plan import metrics_to_start_from, rules_to_start_from
from leaderboard.challenges.actions.receiving import receive
from leaderboard.challenges.actions.rounds import RoundParams, create_round
from leaderboard.challenges.models import Challenge, Round, Track
from leaderboard.challenges.queries.downloads import dialogue_records
from leaderboard.challenges.uploads import upload_from_bytes
from workers.baselines.base import Baseline, places_of
from workers.baselines.simple import Dull, Echo, Verbose

SLUG = "demo-challenge"
BASELINES_ACCOUNT = "demo-baselines"
SEED = 20261121


def load_demo_challenge(version: CorpusVersion) -> None:
    """Idempotent, and whole or not at all: a challenge that is there, in whatever state, stays as
    it is."""
    with transaction.atomic():
        if Challenge.objects.filter(slug=SLUG).exists() or not metrics_to_start_from(version):
            return
        challenge = _challenge()
        round = create_round(challenge, _practice_round(version))
        setup.step(challenge, "open")
        challenge.refresh_from_db()
        _submit_baselines(challenge, round, version)
        if participant := _account("participant"):
            teams.found(challenge, participant, "Demo team")


def _challenge() -> Challenge:
    requested = setup.ChallengeParams(
        name="Try it: answer as B",
        slug=SLUG,
        summary="Eight short dialogues. Your system answers for one of the two speakers.",
    )
    return setup.create(requested, _account("organiser"), rules=rules_to_start_from())


def _practice_round(version: CorpusVersion) -> RoundParams:
    metrics = metrics_to_start_from(version)
    return RoundParams(
        name="Practice round",
        slug="practice",
        version=version,
        metrics=metrics,
        ranking_metric=metrics[0],
        split_seed=SEED,
        # the same programs hand in below, and would stand there twice
        shows_corpus_baselines=False,
    )


def _submit_baselines(challenge: Challenge, round: Round, version: CorpusVersion) -> None:
    """Through the same door as everybody's."""
    owner, is_new = get_user_model().objects.get_or_create(username=BASELINES_ACCOUNT)
    if is_new:
        # nobody logs in with it; it is not disabled, for workers act for it
        owner.set_unusable_password()
        owner.save()
        DemoAccount.objects.create(user=owner)
    team = teams.found(challenge, owner, "Baselines of the project")
    for baseline in (Echo(), Dull(SEED), Verbose(SEED)):
        received = receive(
            round,
            team,
            owner,
            track=Track.GPU,
            name=baseline.name,
            description=baseline.description,
            upload=upload_from_bytes(_responses(baseline, version), f"{baseline.name}.jsonl"),
        )
        judging.flag_baseline(received.submission, True)


def _responses(baseline: Baseline, version: CorpusVersion) -> bytes:
    return "".join(_lines(baseline, version)).encode()


def _lines(baseline: Baseline, version: CorpusVersion) -> Iterator[str]:
    for dialogue in dialogue_records(version):
        for place in places_of(dialogue):
            answer = {
                "dialog_id": place.dialogue_id,
                "turn": place.turn,
                "response": baseline.respond(place),
            }
            yield json.dumps(answer) + "\n"


def _account(username: str) -> Any:
    return get_user_model().objects.filter(username=username).first()
