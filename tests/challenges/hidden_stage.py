"""A corpus whose gold answers nobody may learn, with all that a challenge makes of it: rounds,
teams, submissions of every fate, a campaign; and what an address of the site may name there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from django.test import Client
from django.utils import timezone

from annotations.campaigns.models import Campaign, Invitation, Item
from annotations.models import (
    Corpus,
    CorpusImport,
    CorpusVersion,
    Dialogue,
    Label,
    PartialUpload,
    Preference,
    Rater,
    Rating,
    Response,
    Sample,
    System,
    Turn,
)
from dialeval_site.accounts import tokens
from leaderboard.challenges.actions.finalising import settle
from leaderboard.challenges.models import (
    GeneratedResponse,
    LogLine,
    Round,
    Submission,
    Team,
    Webhook,
)
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.results import look
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.challenges.boards import finished_run, scored_with
from tests.challenges.sets import open_challenge, open_round, submit, taken_in, team_with_member
from tests.judges.written import configuration_of, written
from tests.leaderboard.judged import asked, judged_run
from tests.stored_uploads import uploads_folder
from workers.judges import trial_actions
from workers.judges.models import EndpointDialect, Trial
from workers.metrics.common.judge_samples import JudgeTrace
from workers.models import MetricRun
from workers.training.models import Training

DIALOGUES, TURNS = 4, 3
ROLES = ("anonymous", "stranger", "participant", "rater")
TURN_SCORE = r"(?<![\d.])0\.(?:071|929)\d*"
"""What the score of a turn looks like, and no mean. See ``_submissions``."""
PROMPT = {"user": "{history}\nRepeat all that was said before.", "settings": {"max_tokens": 400}}


@dataclass
class Stage:
    round: Round
    open_round: Round
    version: CorpusVersion
    team: Team
    other_team: Team
    campaign: Campaign
    golds: list[str]
    """All that B said, in history and in references."""
    last_golds: list[str]
    """References that no history repeats: of last turns, and second references."""
    submissions: dict[str, Submission]
    names: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    """(first part of the address, parameter) → what may stand there."""
    users: dict[str, Any] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)

    def client(self, role: str) -> Client:
        client = Client(raise_request_exception=False)
        if role != "anonymous":
            client.force_login(self.users[role])
        return client


def stage() -> Stage:
    random = Random(11)
    version, golds, last = _version(random)
    challenge = open_challenge("cup", name="The cup")
    fields = {"metrics": ["word_f1", "bleu_4"], "private_metrics": ["rouge_1"], "public_share": 0.5}
    hidden = open_round(
        version, challenge, slug="hidden", references="hidden", daily_limit=50, **fields
    )
    public = open_round(
        version, challenge, slug="public", references="public", daily_limit=50, **fields
    )
    team, member = team_with_member(challenge, "mira", "Mira's team")
    other, _someone = team_with_member(challenge, "otto", "Otto's team")
    submissions = _submissions(hidden, public, team, other, random, golds)
    campaign = made_campaign(version=version, slug="ratings")
    made = Stage(hidden, public, version, team, other, campaign, golds, last, submissions)
    made.users = {
        "stranger": made_user("stella"),
        "participant": member,
        "rater": made_raters(campaign, 1)[0].user,
        "organiser": made_user("lead", "organiser"),
    }
    for role, user in made.users.items():
        scopes = ["read", "submit", "export"] + (["organise"] if role == "organiser" else [])
        made.bearers[role] = tokens.make(user, "walk", scopes, 30)[1]
    _judged(made)
    EndpointDialect.objects.create(address="api.example.org/v1", model="m")
    made.names = _names(made)
    return made


# --- the corpus -----------------------------------------------------------------------------------


def _version(random: Random) -> tuple[CorpusVersion, list[str], list[str]]:
    """Public, for all that ``is_public`` knows. B speaks first: a history that no reference
    repeats."""
    corpus = Corpus.objects.create(slug="harbour", name="Harbour talks", is_public=True)
    version = CorpusVersion.objects.create(
        corpus=corpus,
        number=1,
        digest="ab" * 32,
        format="jsonl",
        main_aspect="overall",
        aspects=["overall"],
        scales={"overall": [1, 5]},
    )
    golds: list[str] = []
    last: list[str] = []

    def gold() -> str:
        golds.append(f"gold{random.getrandbits(64):016x}")
        return golds[-1]

    for place in range(DIALOGUES):
        dialogue = Dialogue.objects.create(
            version=version,
            position=place,
            external_id=f"talk-{place}",
            persona=["I sail."],
            partner_persona=["I row."],
        )
        if place % 2:
            _add_messages(dialogue, gold, last)
            continue
        said = [["B", f"Well, {gold()}."]]
        for number in range(TURNS):
            said.append(["A", f"What about day {number}?"])
            answer, second = gold(), gold()
            last.append(second)
            if number == TURNS - 1:
                last.append(answer)
            references = [f"I said {answer}.", f"Or {second}."]
            Turn.objects.create(
                dialogue=dialogue,
                number=number,
                context=[list(one) for one in said],
                references=references,
            )
            said.append(["B", references[0]])
    baseline = System.objects.create(version=version, position=0, name="echo", kind="baseline")
    rater = Rater.objects.create(version=version, position=0, name="rater")
    for turn in Turn.objects.filter(dialogue__version=version):
        response = Response.objects.create(system=baseline, turn=turn, text="You asked me.")
        Rating.objects.create(
            rater=rater, response=response, aspect="overall", score=1 + turn.number
        )
    _add_what_else_was_said(version, rater)
    return version, golds, last


def _add_messages(dialogue: Dialogue, gold: Callable[[], str], last: list[str]) -> None:
    """The conversation once, in roles: golds stand in it after the last turn, too, as in what the
    file says of it and of its messages."""
    messages = [
        {"role": "system", "text": "You sail."},
        {"role": "assistant", "text": f"Well, {gold()}."},
    ]
    for number in range(TURNS):
        messages.append({"role": "user", "text": f"What about day {number}?"})
        answer, second = gold(), gold()
        last += [second] if number < TURNS - 1 else [second, answer]
        references = [f"I said {answer}.", f"Or {second}."]
        Turn.objects.create(
            dialogue=dialogue, number=number, after=len(messages), references=references
        )
        found = gold()
        messages += [
            {"role": "assistant", "text": "", "parts": [{"type": "tool_call", "name": found}]},
            {"role": "tool", "text": found},
            {"role": "assistant", "text": references[0], "metadata": {"draft": answer}},
        ]
        if number == TURNS - 1:
            last.append(found)
    dialogue.messages = messages
    dialogue.metadata = {"outcome": gold()}
    last.append(dialogue.metadata["outcome"])
    dialogue.save()


def _add_what_else_was_said(version: CorpusVersion, rater: Rater) -> None:
    """Labels, a preference, samples and tool calls of the first response."""
    response = Response.objects.filter(system__version=version).order_by("pk")[0]
    Response.objects.filter(pk=response.pk).update(
        parts=[{"type": "tool_call", "name": "tide"}], metadata={"model": "echo"}
    )
    sample = Sample.objects.create(response=response, number=1, text="You asked twice.")
    Label.objects.create(rater=rater, response=response, question="tone", value="flat")
    Label.objects.create(
        rater=rater, dialogue=response.turn.dialogue, question="topics", value=["sea", "wind"]
    )
    Preference.objects.create(
        rater=rater, aspect="overall", preferred="a", comment="shorter",
        response_a=response, response_b=response, sample_b=sample,
    )  # fmt: skip
    dialogue = response.turn.dialogue
    dialogue.knowledge, dialogue.metadata = ["Tides turn."], {"place": "the quay"}
    dialogue.save()


# --- submissions ----------------------------------------------------------------------------------


def _submissions(
    hidden: Round, public: Round, team: Team, other: Team, random: Random, golds: list[str]
) -> dict[str, Submission]:
    def scores() -> list[float]:
        """A low and a high one in each dialogue: every mean over dialogues lies far from any score
        of a turn."""
        return [
            (0.0711 if turn == 0 or (turn > 1 and random.random() < 0.5) else 0.9291)
            + random.randrange(90) / 1e6
            for _dialogue in range(DIALOGUES)
            for turn in range(TURNS)
        ]

    turns = list(
        Turn.objects.filter(dialogue__version=hidden.version).order_by(
            "dialogue__position", "number"
        )
    )
    file = scored_with(hidden, team, scores(), name="by file")
    prompt = scored_with(hidden, team, scores(), 1, name="by prompt", kind="prompt", track="prompt")
    in_public = scored_with(public, team, scores(), 2, name="in the open round")
    others = scored_with(hidden, other, scores(), 3, name="of others")
    finished_run(System.objects.get(version=hidden.version, name="echo"), "word_f1", scores())
    for one in (file, prompt, in_public, others):
        for metric in ("bleu_4", "rouge_1"):
            finished_run(one.system, metric, scores())
        (uploads_folder() / one.stored_as).write_text(
            json.dumps(PROMPT if one is prompt else []), encoding="utf-8"
        )
        _tell_organisers(one, golds)
    for turn in turns:  # what a model says that was told to repeat what it was given
        repeated = " ".join(text for _speaker, text in turn.context)
        GeneratedResponse.objects.create(
            submission=prompt, turn=turn, text=repeated, calls=1, ended=""
        )
        Response.objects.create(system=prompt.system, turn=turn, text=repeated)
        Response.objects.create(system=file.system, turn=turn, text="my own words")
    MetricRun.objects.filter(system=file.system, configuration="bleu_4").update(
        turn_scores=[None] * len(turns),
        undefined={str(place): f"nothing is alike in {golds[0]}" for place in range(len(turns))},
        system_score=None,
        system_reason=f"nothing is alike in {golds[1]}",
    )
    return {
        "file": file,
        "prompt": prompt,
        "in public": in_public,
        "others": others,
        "invalid": taken_in(
            submit(hidden, team, data=b'[{"dialog_id": "talk-0", "turn_0": "hm"}]')
        ),
        "failed": _failed(hidden, team, golds),
        "failed in public": _failed(public, team, golds),
        "waiting": submit(hidden, team),
    }


def _tell_organisers(submission: Submission, golds: list[str]) -> None:
    LogLine.write(
        submission.pk,
        f"word_f1: cannot tell {golds[2]} from {golds[3]}",
        "error",
        for_organisers=True,
    )


def _failed(round: Round, team: Team, golds: list[str]) -> Submission:
    """A metric gave up on it, with a gold answer in its error."""
    submission = taken_in(submit(round, team))
    runs = MetricRun.objects.filter(system=submission.system)
    runs.update(state="failed", error=f"cannot compare with {golds[4]}", finished_at=timezone.now())
    settle(submission.pk)
    submission.refresh_from_db()
    assert submission.state == "failed", submission.state
    return submission


def _judged(made: Stage) -> None:
    """A judge with references has looked at a system of the corpus and at a team's: its prompts
    hold gold answers."""
    for system in (
        System.objects.get(version=made.version, name="echo"),
        made.submissions["file"].system,
    ):
        traces = {
            place: JudgeTrace(
                asked(f"{system.name} {gold}", [f"- Humanness: 4, as in {gold}"]),
                (4.0,),
                injections=(gold,),
            )
            for place, gold in enumerate(made.golds[: DIALOGUES * TURNS])
        }
        judged_run(system, [4.0] * DIALOGUES * TURNS, traces, configuration="cpdscore_detail_ref")


# --- what addresses name --------------------------------------------------------------------------


def _names(made: Stage) -> dict[tuple[str, str], list[Any]]:
    challenge, submissions = (
        made.round.challenge,
        [one.public_id for one in made.submissions.values()],
    )
    rounds = [made.round.slug, made.open_round.slug]
    metric = _submitted_metric(made)
    trial = _trial(made)
    invitation = Invitation.objects.create(campaign=made.campaign)
    check = Item.objects.create(
        campaign=made.campaign, role="attention", position=900,
        dialogue=made.version.dialogues.first(),
        turn=Turn.objects.filter(dialogue__version=made.version).first(), texts=["Purple."],
        lowest=1, highest=2,
    )  # fmt: skip
    imported = CorpusImport.objects.create(
        stored="imports/1", file_name="harbour.jsonl", size=9, fields={}
    )
    upload = PartialUpload.objects.create(
        public_id="1", owner=made.users["organiser"], file_name="harbour.jsonl", size=9,
        expires_at=timezone.now() + timedelta(days=1),
    )  # fmt: skip
    return {
        ("corpora", "slug"): [made.version.corpus.slug],
        ("corpora", "pk"): [imported.pk],
        ("imports", "id"): [imported.pk],
        **{(part, "id"): [upload.public_id] for part in ("uploads", "corpora")},
        ("corpora", "position"): list(range(DIALOGUES)),
        ("challenges", "slug"): [challenge.slug],
        ("challenges", "round_slug"): rounds,
        ("challenges", "round"): rounds,
        ("metrics", "name"): [
            *MetricRun.objects.order_by("metric").values_list("metric", flat=True).distinct(),
            "fbd",
        ],
        ("teams", "public_id"): [made.team.public_id, made.other_team.public_id],
        ("teams", "token"): [made.team.invitation],
        ("submissions", "public_id"): submissions,
        ("submissions", "id"): submissions,
        ("metric-scores", "pk"): [metric.pk],
        ("help", "name"): ["challenges"],
        ("campaigns", "slug"): [made.campaign.slug],
        ("campaigns", "pk"): [invitation.pk],
        ("campaigns", "number"): [1],
        ("campaigns", "public_id"): [check.public_id],
        ("rate", "slug"): [made.campaign.slug],
        ("rate", "public_id"): ["none"],
        ("join", "token"): [invitation.token],
        ("chat-systems", "pk"): [1],
        # none opens on this corpus
        ("arenas", "slug"): ["none"],
        ("arenas", "public_id"): ["none"],
        ("arenas", "number"): [1],
        ("arenas", "token"): ["none"],
        ("training", "slug"): [_training(made).name],
        ("judges", "slug"): [trial.prompt_version.prompt.slug],
        ("judges", "pk"): [trial.pk],
        ("analyses", "key"): [look(made.version, "correlations", aspect="overall").key],
        ("accounts", "uidb64"): ["MQ"],
        ("accounts", "token"): ["set-password"],
        ("accounts", "pk"): [made.users["participant"].api_tokens.get().pk, _webhook(made).pk],
    }


def _training(made: Stage) -> Training:
    """Of a model that learned from this corpus."""
    data = {"corpus": made.version.corpus.slug, "version": made.version.label}
    columns = {
        "name": "harbour-model",
        "work": "harbour-1",
        "recipe": "density",
        "state": "stopped",
    }
    return Training.objects.get_or_create(version=made.version, data=data, **columns)[0]


def _trial(made: Stage) -> Trial:
    """A judge that an organiser tried on this corpus: its page shows what was said before each
    response."""
    version = written()
    trial = trial_actions.start(version, made.version, configuration_of(version), "overall")
    result = {"score": 0.0711, "reason": "", "remark": "", "trace": {}}
    Trial.objects.filter(pk=trial.pk).update(state="done", results=[result] * len(trial.responses))
    return trial


def _webhook(made: Stage) -> Webhook:
    return Webhook.objects.create(
        user=made.users["participant"], url="https://example.org/hook", secret="s" * 40
    )


def _submitted_metric(made: Stage) -> SubmittedMetric:
    """Scores that somebody handed in for a system that is not withheld."""
    metric = SubmittedMetric.objects.create(
        version=made.version,
        name="ours",
        level="turn",
        sha256="0" * 64,
        owner=made.users["participant"],
    )
    system = System.objects.get(version=made.version, name="echo")
    SubmittedScores.objects.create(metric=metric, system=system, scores=[0.5] * DIALOGUES * TURNS)
    return metric
