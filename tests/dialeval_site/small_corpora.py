"""Two small corpora, one public, one private, and a person of every role, for tests of pages and
permissions."""

from __future__ import annotations

import json
from pathlib import Path

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.db import connection

from annotations.corpora import actions
from annotations.corpora.queries import select_systems
from annotations.formats.importers.registry import importers
from annotations.models import AuditEntry, Corpus, CorpusImport, CorpusVersion
from common.roles import ORGANISER, PARTICIPANT, RATER, ROLES
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions as runs
from workers.runs import execution

ROLE_NAMES = ("anonymous", PARTICIPANT, RATER, ORGANISER, "superuser")
PUBLIC, PRIVATE = "open-kitchen", "closed-kitchen"
IMPORT = 9_001
"""Key of an import that waits for a worker."""


def records(secret: str) -> list[dict[str, object]]:
    """Two dialogues of two turns, two systems, two raters; ``secret`` is a word that one response
    holds."""
    lines: list[dict[str, object]] = [
        {"type": "corpus", "name": f"Cooks and a {secret}"},
        {"type": "system", "name": "cook", "kind": "human"},
        {"type": "system", "name": "parrot", "kind": "baseline"},
        {"type": "rater", "name": "ann"},
        {"type": "rater", "name": "bob"},
    ]
    scores = iter([5, 4, 2, 1, 4, 4, 3, 1, 5, 5, 1, 2, 3, 4, 2, 2])
    for dialogue in ("soup", "bread"):
        question = {"speaker": "A", "text": f"What is in the {dialogue}?"}
        turns = [
            {"number": n, "context": [question], "references": [f"Salt and {dialogue}."]}
            for n in (0, 1)
        ]
        lines.append(
            {
                "type": "dialogue",
                "id": dialogue,
                "persona": ["i cook."],
                "partner_persona": [],
                "turns": turns,
            }
        )
        for turn in (0, 1):
            place = {"dialogue_id": dialogue, "turn": turn}
            for system, text in (
                ("cook", f"Salt, {dialogue} and {secret}."),
                ("parrot", f"What is in the {turn}?"),
            ):
                lines.append({"type": "response", **place, "system": system, "text": text})
                lines.extend(
                    {
                        "type": "rating",
                        **place,
                        "system": system,
                        "rater": rater,
                        "aspect": "overall",
                        "score": next(scores),
                    }
                    for rater in ("ann", "bob")
                )
    return lines


def write_corpus(path: Path, secret: str) -> Path:
    path.write_text(
        "".join(json.dumps(record) + "\n" for record in records(secret)), encoding="utf-8"
    )
    return path


def store_corpus(folder: Path, slug: str, is_public: bool) -> CorpusVersion:
    """The corpus with one metric computed for both systems."""
    path = write_corpus(folder / f"{slug}.jsonl", secret=f"word-of-{slug}")
    (outcome,) = actions.import_corpus(importers()["jsonl"], path, slug, is_public=is_public)
    runs.request([parse("word_f1")], select_systems(outcome.version), hint=False)
    for run in MetricRun.objects.filter(system__version=outcome.version):
        assert execution.compute(run.pk)
    return outcome.version


def make_people() -> None:
    """One user a role, ``the-<role>``; nobody is staff but the superuser."""
    for role in ROLES:
        user = get_user_model().objects.create_user(f"the-{role}")
        user.groups.add(Group.objects.get_or_create(name=role)[0])
    get_user_model().objects.create_superuser("the-superuser")
    CorpusImport.objects.create(
        pk=IMPORT, stored="imports/1", file_name="cooks.jsonl", size=9, fields={"slug": "cooks"}
    )


def person(role: str) -> User:
    return get_user_model().objects.get(username=f"the-{role}")


def remove_everything() -> None:
    CorpusImport.objects.all().delete()
    get_user_model().objects.filter(username__in=[f"the-{role}" for role in ROLE_NAMES]).delete()
    Corpus.objects.filter(slug__in=[PUBLIC, PRIVATE]).delete()
    empty_the_log()


def empty_the_log() -> None:
    """What the fixtures of a module did must not be found by the tests of another. PostgreSQL
    refuses a DELETE; on SQLite the tests' database has no such trigger (``tests/conftest.py``)."""
    with connection.cursor() as cursor:
        way = "TRUNCATE" if connection.vendor == "postgresql" else "DELETE FROM"
        cursor.execute(f"{way} {AuditEntry._meta.db_table}")
