"""Run inside a site of 0.2.0: a little of everything that it could store. ``FACTS`` is what it
says."""

import json
import os
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp

from annotations.campaigns.actions import chat, collection, invitations, publishing, quality, setup
from annotations.campaigns.actions.allocation import look
from annotations.campaigns.actions.chat_systems import keep_chat_system
from annotations.campaigns.actions.checks import add_checks
from annotations.campaigns.actions.desk import Judgement, fill_desk, join, rate
from annotations.campaigns.actions.harvest import make_corpus
from annotations.campaigns.models import ChatSystem
from annotations.campaigns.plan.check_items import CheckItem
from annotations.queries import select_systems, version_of
from annotations.rating_queries import agreement_of
from dialeval_site import tokens, two_factor
from leaderboard.analyses.computing import compute_longest_waiting
from leaderboard.challenges.actions import judging, notices, teams
from leaderboard.challenges.actions import setup as challenges
from leaderboard.challenges.actions.receiving import receive
from leaderboard.challenges.actions.rounds import RoundAsked, create_round
from leaderboard.challenges.actions.scores import receive_scores
from leaderboard.challenges.models import MailChoice, Submission, Track, Webhook
from leaderboard.challenges.tasks import process
from leaderboard.challenges.uploads import upload_from_bytes
from workers import execution, presence
from workers.judges import prompt_actions
from workers.judges.actions import start_judge_run
from workers.judges.models import Hold, Pace, Purse, StoredAnswer, StoredRequest
from workers.judges.trials import start as start_trial
from workers.metrics.configuration import Configuration, parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.trainings import actions as trainings
from workers.trainings.data import Source

settings.ALLOWED_HOSTS = ["*"]
PASSWORDS = {name: f"quiet-river-{name}" for name in ("olga", "rita", "rudi", "paul", "pia")}
ROLES = {
    "olga": "organiser",
    "rita": "rater",
    "rudi": "rater",
    "paul": "participant",
    "pia": "participant",
}
PEOPLE = {}
for name, role in ROLES.items():
    PEOPLE[name] = get_user_model().objects.create_user(
        name, f"{name}@example.org", PASSWORDS[name], is_staff=role == "organiser"
    )
    PEOPLE[name].groups.add(Group.objects.get(name=role))
olga, rita, rudi, paul, pia = PEOPLE.values()

# --- corpora, runs, statistics
corpus = Path(os.environ["CORPUS"])
call_command("import_corpus", "jsonl", str(corpus), "--slug", "old")
changed = Path(settings.HOME) / "changed.jsonl"
changed.write_text(corpus.read_text().replace('"text": "yes"', '"text": "perhaps"'))
call_command("import_corpus", "jsonl", str(changed), "--slug", "old")
call_command("import_corpus", "jsonl", str(corpus), "--slug", "hidden", "--private")
call_command("import_corpus", "jsonl", str(corpus), "--slug", "asked")
call_command("score", "--corpus", "old", "--metrics", "word_f1,rouge_l", "--inline")
agreement = agreement_of(version_of("old"), "overall", "turn", resamples=0)
client = Client()
client.force_login(olga)
for page in ("metrics/", "systems/", "agreement/"):
    client.get(f"/corpora/old/{page}")
while compute_longest_waiting():
    pass
presence.note_own_queues()


# --- campaigns: responses (published), whole dialogues (open), chats, pairs
def campaign(slug, kind, version=None, **more):
    systems = select_systems(version) if version and kind in ("turn", "dialogue") else []
    groups = list(Group.objects.filter(name="rater"))
    asked = setup.Asked(
        name=slug, slug=slug, kind=kind, version=version, systems=systems, groups=groups, **more
    )
    made = setup.create(asked, olga)
    setup.write_guidelines(made, "Read, then rate.", olga)
    return made


old = version_of("old")
turns = campaign("turns", "turn", old, attention_every=5)
add_checks(turns, [CheckItem("training", "d0", 0, "echo", (), 1, 5, "Fine.")])
setup.open_campaign(turns, olga)
link = invitations.invite(turns, "a class", most_uses=5, by=olga)
invited = invitations.join_with_new_account(link, "nora", "quiet-river-nora")
for rater in (invited, join(turns, rita, link)):
    number = 0
    while handed := fill_desk(rater).assignments:
        number += 1
        judged = Judgement(
            key=f"{rater.pk}-{number}", score=1 + number % 5, comment="ü" * (number % 2)
        )
        rate(rater, handed[0].item.public_id, judged)
quality.exclude(invited, "too quick", olga)
setup.close(turns, olga)
publishing.publish(turns, "people", olga)
dialogues = campaign("dialogues", "dialogue", old, target="width", target_value=0.5)
setup.open_campaign(dialogues, olga)
open_link = invitations.invite(dialogues, by=olga)
rater = join(dialogues, rudi)
rate(rater, fill_desk(rater).assignments[0].item.public_id, Judgement(key="one", score=4))
look(dialogues)
quality.declare_conflict(rudi, select_systems(old)[0], olga)
model = keep_chat_system(
    ChatSystem(name="A model", instructions="You are {persona}", temperature=0.5)
)
chats = campaign(
    "chats", "interactive", old, chat_systems=[model], utterances=4, dialogues_per_system=2
)
setup.open_campaign(chats, olga)
chat.say(chat.conversation_of(fill_desk(join(chats, rita)).assignments[0]), "hello", "k1")
pairs = campaign("pairs", "collection", dialogues_per_system=2, utterances=2)
setup.open_campaign(pairs, olga)
first, second = join(pairs, rita), join(pairs, rudi)
room = collection.meet(first)
room = collection.meet(second)
for number in range(2):
    for speaker in (first, second):
        try:
            collection.say(speaker, room.public_id, f"line {number}", f"{speaker.pk}-{number}")
        except Exception as problem:
            print("pairs:", problem)
try:
    make_corpus(pairs, "written", "Written", by=olga)
except Exception as problem:
    print("harvest:", repr(problem))

# --- a challenge: a round, two teams, submissions, scores of a metric
challenge = challenges.create(
    challenges.ChallengeAsked(name="Answer", slug="answer", summary="As B."),
    olga,
    "# Rules\n\nBe fair.",
)
asked = version_of("asked")
round = create_round(
    challenge,
    RoundAsked(
        name="One", slug="one", version=asked, metrics=["word_f1"], ranking_metric="word_f1",
        public_share=0.5, closes_at=timezone.now() + timedelta(days=3650),
    ),
    olga,
)  # fmt: skip
challenges.step(challenge, "open", olga)
challenge.refresh_from_db()
team = teams.found(challenge, paul, "The team")
teams.join(team.invitation, pia)
places = [(f"d{number}", turn) for number in range(3) for turn in range(2)]
for name, text in (("good", "i like tea a lot"), ("bad", "no")):
    lines = [{"dialog_id": one, "turn": turn, "response": text} for one, turn in places]
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    received = receive(
        round,
        team,
        paul,
        track=Track.GPU,
        name=name,
        description="ü",
        upload=upload_from_bytes(body, f"{name}.jsonl"),
    )
    process(received.submission.pk)
received = receive(
    round, team, paul, track=Track.GPU, name="broken", description="",
    upload=upload_from_bytes(b'{"dialog_id": "d0"}\n', "broken.jsonl"),
)  # fmt: skip
process(received.submission.pk)
for run in MetricRun.objects.filter(state="pending"):
    execution.compute(run.pk)
scores = [
    {"dialog_id": one, "turn": turn, "system": system, "score": turn / 2}
    for one, turn in places for system in ("echo", "terse")
]  # fmt: skip
given = receive_scores(
    old,
    paul,
    name="their_metric",
    level="turn",
    higher_is_better=True,
    link="",
    upload=upload_from_bytes(
        "".join(json.dumps(one) + "\n" for one in scores).encode(), "scores.jsonl"
    ),
)
process(given.submission.pk)
judging.flag_baseline(Submission.objects.get(name="bad"), True, olga)
webhook = Webhook.objects.create(user=paul, url="https://example.org/hear")
notices.try_webhook(webhook)
MailChoice.objects.create(user=pia, is_wanted=False)

# --- judges, trainings
PROMPT = """name: kind
step: turn
labels: Humanness
scale: 1-5
form: "- {label}: "

=== user
{history}
{fact}
{response}
Answer with one line:
- Humanness: <number>
"""
wording = prompt_actions.create("Old prompt", "old-prompt", PROMPT, olga)
own = Configuration.of(all_metrics()["judge"], prompt=str(wording), model="judge-a")
start_trial(wording, old, own, "overall", by=olga)
request = StoredRequest.objects.create(key="a" * 64, model="judge-a", body="{}")
StoredAnswer.objects.create(
    request=request,
    sample=0,
    state="answered",
    text="5",
    cost="0.00000125",
    answered_at=timezone.now(),
)
Pace.objects.create(endpoint="https://example.org judge-a", requests_from=1.5)
judge = parse("cpdscore_detail[model=judge-a]")
start_judge_run(old, judge, select_systems(old), 10_000, None, olga)
Hold.objects.create(purse=Purse.objects.first(), holder="one", expires_at=timezone.now())
trainings.start("small", "density", Source.of_version(old), {}, by=olga, hint=False, check=False)

# --- tokens, second factor
token = tokens.make(paul, "laptop", ["read", "submit"], 365)[1]
tokens.ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=36500))
key = two_factor.new_key()
codes = two_factor.turn_on(pia, key, f"{totp(bytes.fromhex(key)):06}")

FACTS = {
    "passwords": PASSWORDS | {"nora": "quiet-river-nora"},
    "roles": ROLES,
    "labels": {str(number): version_of("old", number).label for number in (1, 2)},
    "agreement": agreement,
    "scores": {
        f"{run.configuration} {run.system.name}": run.turn_scores
        for run in MetricRun.objects.filter(state="done", system__version__corpus__slug="old")
        .select_related("system")
        .order_by("pk")
    },
    "token": token,
    "invitation": open_link.token,
    "totp_key": key,
    "recovery_code": codes[0],
    "submissions": {
        one.name: {"state": one.state, "sha256": one.sha256}
        for one in Submission.objects.order_by("pk")
    },
}
