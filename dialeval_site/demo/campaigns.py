"""Campaigns on the demo corpus: one of each kind to try, and one that programs have rated, to show
its pages full."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from statistics import fmean
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from annotations.campaigns.actions import setup
from annotations.campaigns.actions.chat import save_chat_system
from annotations.campaigns.actions.checks import add_checks
from annotations.campaigns.actions.work_queue import Judgement, fill_queue, join, rate
from annotations.campaigns.models import Assignment, Campaign, ChatSystem, Item, Participation
from annotations.campaigns.plan.check_items import CheckItem
from annotations.campaigns.scale import DEFAULT_THRESHOLD
from annotations.campaigns.starting_text import guidelines_to_start_from
from annotations.demo.simulated_raters import PANEL, SimulatedRater, score_prefix
from annotations.models import CorpusVersion, Rating
from common.roles import ORGANISER, RATER

SEED = 20261120
SIMULATED_ACCOUNT = "simulated-rater-"
INSTRUCTIONS = (
    "You are in a friendly conversation with somebody whom you have just met. You are this "
    "person: {persona} Answer in one or two short sentences, and ask something back now and then."
)


def load_demo_campaigns(version: CorpusVersion) -> None:
    """Idempotent: a campaign that is there, in whatever state, stays as it is."""
    _once("demo-responses", lambda slug: _open(_responses(version, slug), _checks(version)))
    _once("demo-dialogues", lambda slug: _open(_dialogues(version, slug)))
    _once("demo-chat", lambda slug: _open(_chat(version, slug)))
    _once("demo-meeting", lambda slug: _open(_meeting(slug)))
    _once("demo-rated", lambda slug: _rate(_open(_rated(version, slug))))


def _once(slug: str, make: Any) -> None:
    """Whole or not at all: one that was cut off half-way would stay so."""
    with transaction.atomic():
        if not Campaign.objects.filter(slug=slug).exists():
            make(slug)


def _for_demo_raters() -> list[Group]:
    return list(Group.objects.filter(name__in=(ORGANISER, RATER)))


def _responses(version: CorpusVersion, slug: str) -> setup.CampaignParams:
    return setup.CampaignParams(
        name="Try it: rate responses",
        kind=Campaign.Kind.TURN,
        slug=slug,
        version=version,
        systems=list(version.systems.all()),
        dialogues_per_system=2,
        groups=_for_demo_raters(),
        pass_mark=0.5,
        attention_every=15,
        seed=SEED,
    )


def _dialogues(version: CorpusVersion, slug: str) -> setup.CampaignParams:
    return setup.CampaignParams(
        name="Try it: rate whole dialogues",
        kind=Campaign.Kind.DIALOGUE,
        slug=slug,
        version=version,
        systems=list(version.systems.all()),
        axes_below=DEFAULT_THRESHOLD,
        dialogues_per_system=3,
        groups=_for_demo_raters(),
        seed=SEED,
    )


def _chat(version: CorpusVersion, slug: str) -> setup.CampaignParams:
    return setup.CampaignParams(
        name="Try it: chat, then rate",
        kind=Campaign.Kind.INTERACTIVE,
        slug=slug,
        version=version,
        chat_systems=[
            _chat_system("Packaged model, careful", 0.2),
            _chat_system("Packaged model, lively", 0.9),
        ],
        axes_below=DEFAULT_THRESHOLD,
        raters_per_item=1,
        dialogues_per_system=4,
        utterances=8,
        groups=_for_demo_raters(),
        seed=SEED,
    )


def _chat_system(name: str, temperature: float) -> ChatSystem:
    known = ChatSystem.objects.filter(name=name).first()
    return known or save_chat_system(
        ChatSystem(name=name, instructions=INSTRUCTIONS, temperature=temperature, max_tokens=60)
    )


def _meeting(slug: str) -> setup.CampaignParams:
    return setup.CampaignParams(
        name="Try it: write a dialogue in pairs",
        kind=Campaign.Kind.COLLECTION,
        slug=slug,
        dialogues_per_system=10,
        groups=_for_demo_raters(),
        seed=SEED,
    )


def _rated(version: CorpusVersion, slug: str) -> setup.CampaignParams:
    return setup.CampaignParams(
        name="Example: rated by programs",
        kind=Campaign.Kind.TURN,
        slug=slug,
        version=version,
        systems=list(version.systems.all()),
        axes_below=DEFAULT_THRESHOLD,
        raters_per_item=2,
        dialogues_per_system=3,
        seed=SEED,
        simulated=True,
    )


def _open(params: setup.CampaignParams, checks: Sequence[CheckItem] = ()) -> Campaign:
    campaign = setup.create(params)
    setup.write_guidelines(campaign, guidelines_to_start_from(campaign))
    if checks:
        add_checks(campaign, checks)
    setup.open_campaign(campaign)
    return campaign


def _checks(version: CorpusVersion) -> list[CheckItem]:
    """Two to learn from and one to see who reads; on dialogues and turns that anybody can judge."""
    names = list(version.dialogues.order_by("position").values_list("external_id", flat=True))
    return [
        CheckItem(
            "training",
            names[0],
            0,
            None,
            ("Seven the of window quickly because lamp.",),
            1,
            1,
            "This is not a sentence: whatever the scale is for, such a response is at its lower "
            "end.",
        ),
        CheckItem(
            "training",
            names[1],
            1,
            "gold",
            (),
            4,
            5,
            "A person wrote this for this very place. It answers the partner and fits the persona.",
        ),
        CheckItem(
            "attention", names[2], 2, None, ("Blue blue stairs under Tuesday, and and.",), 1, 2
        ),
    ]


# --- programs that rate ---------------------------------------------------------------------------


def _rate(campaign: Campaign) -> Campaign:
    """Through the same desk as people, so that order, propensity and slots are what they would
    be."""
    chance = random.Random(SEED)
    assert campaign.version is not None
    quality = quality_of(campaign.version)
    judge_clients = [(join(campaign, _account(rater)), rater) for rater in PANEL]
    at_work = list(judge_clients)
    while at_work:
        for participation, rater in list(at_work):
            work_queue = fill_queue(participation, want=1)
            if not work_queue.assignments:
                at_work.remove((participation, rater))
                continue
            _judge(participation, work_queue.assignments[0], rater, quality, chance)
    setup.close(campaign)
    return campaign


def _account(rater: SimulatedRater) -> Any:
    """Switched off, and without a pass word: nobody logs in as a program."""
    name = f"{SIMULATED_ACCOUNT}{rater.name.rpartition(' ')[2]}"
    user, created = get_user_model().objects.get_or_create(
        username=name, defaults={"is_active": False}
    )
    if created:
        user.set_unusable_password()
        user.save()
    return user


def quality_of(version: CorpusVersion) -> dict[int, float]:
    """What the corpus's own simulated raters gave, on average, by response."""
    scores: dict[int, list[float]] = {}
    ratings = Rating.objects.filter(response__system__version=version).values_list(
        "response_id", "score"
    )
    for response, score in ratings:
        scores.setdefault(response, []).append(score)
    return {response: fmean(given) for response, given in scores.items()}


def _judge(
    participation: Participation,
    assignment: Assignment,
    rater: SimulatedRater,
    quality: dict[int, float],
    chance: random.Random,
) -> None:
    item: Item = assignment.item
    score = score_prefix(rater, quality[item.response_id], f"{SEED} {item.response_id}")
    requested = score < (participation.campaign.axes_below or 0)
    low = (
        [axis["key"] for axis in participation.campaign.axes if chance.random() < 0.3]
        if requested
        else None
    )
    active = round(chance.lognormvariate(9.2, 0.4))
    rate(
        participation,
        item.public_id,
        Judgement(
            key=f"simulated {assignment.pk}",
            score=score,
            low_axes=low,
            guidelines_id=participation.campaign.guidelines.values_list("pk", flat=True).first(),
            first_key_ms=active // 2,
            active_ms=active,
            submit_ms=active,
            shown_at=timezone.now() - timedelta(milliseconds=active),
        ),
    )
