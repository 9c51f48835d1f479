"""Campaigns for the rating bench: USR's responses many times over, and campaigns of any number of
slots, at any stage.

``home_of_its_own`` of ``bench.made_corpus`` comes first, so models are imported inside functions.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from bench.made_corpus import BATCH, PROJECT, SEED, sentence

if TYPE_CHECKING:
    from annotations.campaigns.models import Campaign, Participation

CONTEXTS, RESPONSES = 60, 5
COPIES = 10
"""One client alone must not run out of items: a rater rates each once."""


def usr_tasks() -> list[dict[str, str]]:
    """USR's 300 responses with contexts, where DIALEVAL_DATA is not set as many made-up ones,
    ``COPIES`` times over."""
    path = Path(os.environ.get("DIALEVAL_DATA", "")) / "usr" / "pc_usr_data.json"
    if path.is_file():
        rows = json.loads(path.read_text(encoding="utf-8"))
        once = [
            {"context": row["context"], "response": one["response"]}
            for row in rows
            for one in row["responses"]
        ]
    else:
        random = np.random.default_rng(SEED)
        contexts = ["\n".join(sentence(random) for _ in range(7)) for _ in range(CONTEXTS)]
        once = [
            {"context": context, "response": sentence(random)}
            for context in contexts
            for _ in range(RESPONSES)
        ]
    return once * COPIES


def campaign_of_tasks(
    slug: str, tasks: list[dict[str, str]], k: int, questions: Sequence[str] = ()
) -> Campaign:
    """A turn campaign of the same texts: five systems, a dialogue for every five tasks. ``questions``:
    keys of a form's scales, in place of the score."""
    from annotations.models import Dialogue, Response, System, Turn

    version = _version(slug)
    systems = System.objects.bulk_create(
        System(version=version, position=place, name=f"system {place}")
        for place in range(RESPONSES)
    )
    contexts = [task["context"] for task in tasks[::RESPONSES]]
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(
            version=version,
            position=place,
            external_id=f"d{place}",
            persona=["i have a dog.", "i like to cook."],
            partner_persona=["i live in a town by the sea.", "i work at night."],
        )
        for place in range(len(contexts))
    )
    turns = Turn.objects.bulk_create(
        Turn(dialogue=dialogue, number=0, context=_spoken(context), references=[])
        for dialogue, context in zip(dialogues, contexts, strict=True)
    )
    Response.objects.bulk_create(
        (
            Response(
                system=systems[place % RESPONSES],
                turn=turns[place // RESPONSES],
                text=task["response"].strip(),
            )
            for place, task in enumerate(tasks)
        ),
        batch_size=BATCH,
    )
    return opened_campaign(slug, version, k, questions)


def _spoken(context: str) -> list[list[str]]:
    lines = [line.strip() for line in context.splitlines() if line.strip()]
    return [["A" if (len(lines) - place) % 2 else "B", line] for place, line in enumerate(lines)]


def campaign_of_slots(slug: str, slots: int, k: int = 4) -> Campaign:
    """Dialogues of seven turns, ten systems (250 where there are many slots), one campaign on all
    of it."""
    from annotations.models import Dialogue, Response, System, Turn

    random = np.random.default_rng(SEED)
    systems_wanted = 250 if slots >= 100_000 else 5
    dialogues_wanted = -(-slots // (k * systems_wanted * 7))
    texts = [sentence(random) for _ in range(200)]
    version = _version(slug)
    systems = System.objects.bulk_create(
        System(version=version, position=place, name=f"system {place}")
        for place in range(systems_wanted)
    )
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(
            version=version,
            position=place,
            external_id=f"d{place}",
            persona=texts[:5],
            partner_persona=texts[5:9],
        )
        for place in range(dialogues_wanted)
    )
    turns = Turn.objects.bulk_create(
        Turn(
            dialogue=dialogue,
            number=number,
            context=[
                ["AB"[place % 2], texts[(place + number) % 200]] for place in range(2 * number + 1)
            ],
            references=[],
        )
        for dialogue in dialogues
        for number in range(7)
    )
    for system in systems:
        Response.objects.bulk_create(
            [
                Response(system=system, turn=turn, text=texts[(turn.pk * 7 + system.pk) % 200])
                for turn in turns
            ],
            batch_size=BATCH,
        )
    return opened_campaign(slug, version, k)


def _version(slug: str) -> Any:
    from annotations.models import Corpus, CorpusVersion

    return CorpusVersion.objects.create(
        corpus=Corpus.objects.create(slug=slug, name=f"Made up: {slug}", is_public=False),
        number=1,
        digest=secrets.token_hex(32),
        format="bench",
        simulated=True,
        aspects=[],
        main_aspect="overall",
        scales={},
    )


def opened_campaign(slug: str, version: Any, k: int, questions: Sequence[str] = ()) -> Campaign:
    from annotations.campaigns.actions.forms import write_form
    from annotations.campaigns.actions.opening import open_campaign
    from annotations.campaigns.models import Campaign, Guidelines
    from annotations.questions.reading import form_of

    campaign = Campaign.objects.create(
        slug=slug, name=f"Bench {slug}", kind="turn", version=version, raters_per_item=k, seed=SEED
    )
    campaign.systems.set(version.systems.all())
    Guidelines.objects.create(
        campaign=campaign, number=1, text="Read the dialogue. Rate the last answer."
    )
    if questions:
        scales = [
            {"key": key, "type": "scale", "title": key, "text": f"How good is it, {key}?"}
            for key in questions
        ]
        form = {"name": slug, "title": slug, "level": "response", "questions": scales}
        write_form(campaign, form_of(form))
    open_campaign(campaign)
    return campaign


def raters(campaign: Campaign, count: int) -> list[Participation]:
    """People who have joined and read the guidelines."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    from annotations.campaigns.actions.work_queue import join
    from annotations.campaigns.models import Invitation, Participation
    from common.roles import RATER

    group = Group.objects.get_or_create(name=RATER)[0]
    invitation = Invitation.objects.create(campaign=campaign)
    joined = []
    for _ in range(count):
        user = get_user_model().objects.create(username=f"rater-{secrets.token_hex(6)}")
        user.groups.add(group)
        joined.append(join(campaign, user, invitation))
    Participation.objects.filter(pk__in=[one.pk for one in joined]).update(
        guidelines_read=campaign.guidelines.first()
    )
    return list(
        Participation.objects.filter(pk__in=[one.pk for one in joined]).select_related(
            "campaign", "user"
        )
    )


# --- a campaign that is under way -----------------------------------------------------------------


def rate_slots(campaign: Campaign, thousandths: int, old: list[Participation]) -> None:
    """Rate so many of every thousand slots, spread over the order, by k ``old`` raters: the j-th of
    them holds the j-th places. Rows go from table to table: a million would take minutes by the
    desk."""
    from django.db import connection, transaction
    from django.db.models import Max

    from annotations.campaigns.models import Assignment, Participation, RatingRevision

    by_place = " ".join(f"WHEN {place} THEN {one.pk}" for place, one in enumerate(old, 1))
    chosen = (
        f"campaign_id = {campaign.pk} AND holder_id IS NULL AND (ordinal * 619) % 1000 < "
        f"{thousandths}"
    )
    now = "CURRENT_TIMESTAMP"
    last = max(
        model.objects.aggregate(last=Max("pk"))["last"] or 0
        for model in (Assignment, RatingRevision)
    )
    begun = max(one.assignments.count() for one in old)
    true = "TRUE" if connection.vendor == "postgresql" else "1"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO campaigns_assignment (id, participation_id, item_id, state, position, "
            f"propensity, skip_reason, current_id, claimed_at, finished_at) SELECT id + {last}, "
            f"CASE place {by_place} END, item_id, 'done', row_number() OVER (PARTITION BY place "
            f"ORDER BY ordinal) + {begun}, 0.5, '', id + {last}, {now}, {now} FROM campaigns_slot "
            f"WHERE {chosen}"
        )
        cursor.execute(
            "INSERT INTO campaigns_ratingrevision "
            "(id, assignment_id, number, key, score, flagged, comment, created_at) "
            f"SELECT id, id, 1, 'k', 3, NOT {true}, '', {now} FROM campaigns_assignment "
            f"WHERE current_id = id AND id > {last}"
        )
        cursor.execute(f"UPDATE campaigns_slot SET holder_id = id + {last} WHERE {chosen}")
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for table in ("assignment", "ratingrevision"):
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('campaigns_{table}', 'id'), "
                    f"(SELECT max(id) FROM campaigns_{table}))"
                )
            # As autovacuum does while people rate. On SQLite nobody does: a site has no statistics
            cursor.execute("VACUUM ANALYZE")
    for one in old:
        last_position = one.assignments.aggregate(last=Max("position"))["last"]
        Participation.objects.filter(pk=one.pk).update(offered=last_position + 1)


# --- the site, as in production -------------------------------------------------------------------


@contextmanager
def production_site(home: Path, workers: int, threads: int) -> Iterator[tuple[str, list[int]]]:
    """Its address, and the processes of web server and database. Assets are collected, hosts and
    secrets are set."""
    from tests.services import free_port
    from tests.site import answers, wait_until

    settings = {
        "DIALEVAL_MODE": "production",
        "ALLOWED_HOSTS": "127.0.0.1",
        "DIALEVAL_SECURE": "false",
    }
    environment = {**os.environ, **settings, "DATABASE_POOL_SIZE": str(threads)}
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity", "0"]
    subprocess.run(collect, cwd=PROJECT, env=environment, check=True)
    address = f"127.0.0.1:{free_port()}"
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "dialeval_site.wsgi",
        "--config",
        "deploy/gunicorn.conf.py",
    ]
    command += ["--bind", address, "--workers", str(workers), "--threads", str(threads)]
    with (home / "web.log").open("ab") as log:
        server = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: answers(f"http://{address}/health/"), 60, "the web server answers")
        yield f"http://{address}", [server.pid, *database_process()]
    finally:
        server.terminate()
        server.wait()


def database_process() -> list[int]:
    folder = parse_qs(urlsplit(os.environ.get("DATABASE_URL", "")).query).get("host", [""])[0]
    file = Path(folder) / "postmaster.pid"
    return [int(file.read_text().splitlines()[0])] if folder and file.is_file() else []
