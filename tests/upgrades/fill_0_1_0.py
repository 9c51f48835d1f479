"""Run inside a site of 0.1.0: a little of everything that it could store. ``FACTS`` is what it
says of it."""

import os
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.test import Client

from annotations.queries import agreement_of, version_of
from workers.models import MetricRun

settings.ALLOWED_HOSTS = ["*"]
PASSWORDS = {
    "olga": "quiet-river-olga",
    "rita": "quiet-river-rita",
    "paul": "quiet-river-paul",
}
ROLES = {"olga": "organiser", "rita": "rater", "paul": "participant"}
for name, role in ROLES.items():
    user = get_user_model().objects.create_user(
        name,
        f"{name}@example.org",
        PASSWORDS[name],
        is_staff=role == "organiser",
    )
    user.groups.add(Group.objects.get(name=role))

corpus = Path(os.environ["CORPUS"])
call_command("import_corpus", "jsonl", str(corpus), "--slug", "old")
changed = Path(settings.HOME) / "changed.jsonl"
changed.write_text(corpus.read_text().replace('"text": "yes"', '"text": "perhaps"'))
call_command("import_corpus", "jsonl", str(changed), "--slug", "old")
call_command("import_corpus", "jsonl", str(corpus), "--slug", "hidden", "--private")
call_command("score", "--corpus", "old", "--metrics", "word_f1,rouge_l", "--inline")
client = Client()
assert client.login(username="olga", password=PASSWORDS["olga"])
for page in ("", "metrics/", "systems/", "agreement/"):
    client.get(f"/corpora/old/{page}")  # stores what they show

FACTS = {
    "passwords": PASSWORDS,
    "roles": ROLES,
    "labels": {str(number): version_of("old", number).label for number in (1, 2)},
    "agreement": agreement_of(version_of("old"), "overall", "turn", resamples=0),
    "scores": {
        f"{run.configuration} {run.system.name}": run.turn_scores
        for run in MetricRun.objects.select_related("system").order_by("pk")
    },
}
