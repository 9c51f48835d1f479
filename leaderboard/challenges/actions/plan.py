"""A challenge to start from: three rounds as in the CPD challenge, with a text for the rules page
in our own words.

From the ComperDial paper come the two tracks on one board, the ranking of the first round by word
F1, and the limits of the prompt track (two calls an utterance, 10,000 input and 1,000 output tokens
a dialogue). The numbers of submissions, the lengths of the rounds and the division of the boards
are dialeval's own suggestion.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.models import CorpusVersion
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.actions.rounds import References, RoundParams, create_round
from leaderboard.challenges.actions.setup import ChallengeParams, create
from leaderboard.challenges.models import Challenge
from workers.runs.language_fit import recommended_metrics

WEEKS_OF_A_ROUND = 4
DAILY_LIMIT, TOTAL_LIMIT = 5, 100
PUBLIC_SHARE = 0.5


def create_from_plan(
    params: ChallengeParams,
    practice: CorpusVersion,
    test: CorpusVersion,
    by: Any = None,
    now: datetime | None = None,
) -> Challenge:
    """A draft with rules and three rounds. Where ``test`` is another corpus than ``practice``, its
    references are hidden in rounds 1 and 2; on one corpus they are public throughout, because the
    warm-up shows them. Raises ``Refused``; then nothing is stored."""
    with transaction.atomic():
        challenge = create(params, by, rules=rules_to_start_from())
        for round in _rounds(practice, test, now or timezone.now()):
            create_round(challenge, round, by)
    return challenge


def _rounds(practice: CorpusVersion, test: CorpusVersion, now: datetime) -> list[RoundParams]:
    first_end = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(
        weeks=WEEKS_OF_A_ROUND, days=1
    )
    second_end, third_end = (
        first_end + timedelta(weeks=WEEKS_OF_A_ROUND * number) for number in (1, 2)
    )
    references = References.PUBLIC if test.corpus_id == practice.corpus_id else References.HIDDEN
    tested = {"references": references, "public_share": PUBLIC_SHARE}
    return [
        _round(_("Warm-up"), "warm-up", practice, closes_at=first_end),
        _round(
            _("Round 1"),
            "round-1",
            test,
            opens_at=first_end,
            closes_at=second_end,
            release_at=second_end,
            **tested,
        ),
        _round(
            _("Round 2"),
            "round-2",
            test,
            opens_at=second_end,
            closes_at=third_end,
            release_at=third_end,
            **tested,
        ),
    ]


def _round(name: str, slug: str, version: CorpusVersion, **more: Any) -> RoundParams:
    metrics = metrics_to_start_from(version)
    if not metrics:
        raise Refused(
            _("None of the plan's metrics can be computed on %(corpus)s.") % {"corpus": version},
            "practice",
        )
    return RoundParams(
        name=name,
        slug=slug,
        version=version,
        metrics=metrics,
        ranking_metric=metrics[0],
        daily_limit=DAILY_LIMIT,
        total_limit=TOTAL_LIMIT,
        **more,
    )


def metrics_to_start_from(version: CorpusVersion) -> list[str]:
    """The lexical ones that are reported most in the corpus's language; the first of them ranks."""
    return recommended_metrics(version)


def rules_to_start_from() -> str:
    return (
        "\n\n".join(
            [
                _(
                    "# What this is about\n\nTwo people, A and B, are talking. Each has a "
                    "persona: a few sentences about who they are. Your system speaks for B. At "
                    "every turn it reads both personas and the conversation so far, and answers "
                    "as B would."
                ),
                _(
                    "# Taking part\n\n1. Create an account, then create a team or join one with "
                    "its link. One person is in one team.\n2. Read the page of the round: it has "
                    "the dialogues, a template for your file, and what is left of your submissions "
                    "today and in all.\n3. Submit. Your file is checked at once, and scored on "
                    "every metric of the round.\n\nA file with mistakes is not counted: you get a "
                    "list of what is wrong and where."
                ),
                _(
                    "# Two tracks, one leaderboard\n\n* **GPU.** You run your system on your own "
                    "machine and upload its responses.\n* **Prompt.** You submit a prompt, and "
                    "we run it with the round's language model. At most two calls for each of B's "
                    "utterances, at most 10,000 input and 1,000 output tokens for each dialogue. "
                    "A dialogue that reaches a limit ends there."
                ),
                _(
                    "# What is allowed\n\n* Any model, and any data that you may use. Say in the "
                    "description of a submission which.\n* No answers written or chosen by hand "
                    "for the dialogues of a round, and no references of a round in your training "
                    "data.\n* One team to a person, and no sharing of files between teams. "
                    "Organisers see which files are the same."
                ),
                _(
                    "# How the leaderboard is made\n\nEach team stands once in a round. The rank "
                    "follows the round's ranking metric, and intervals show which teams are not "
                    "significantly different. A part of the dialogues may be held back until the "
                    "release; the page of the leaderboard says which part you see. Baselines "
                    "are marked and have no rank."
                ),
                _(
                    "# If something goes wrong\n\nA submission that fails on our side, or that "
                    "you cancel in time, is not counted. A team or a submission that breaks these "
                    "rules is disqualified, and the team reads the reason."
                ),
            ]
        )
        + "\n"
    )
