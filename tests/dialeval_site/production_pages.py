"""Run in production mode (``python -m tests.dialeval_site.production_pages FOLDER``): makes a site
with one corpus and prints, as JSON, the headers and the body of every page. A process of its own,
because Django is set up once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HOST = "dialeval.example.org"


def main(folder: Path) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "dialeval_site.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.urls import reverse

    from tests.dialeval_site.small_corpora import PUBLIC, make_people, person, store_corpus

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    store_corpus(folder, PUBLIC, is_public=True)
    make_people()
    organiser = Client(headers={"host": HOST})
    organiser.force_login(person("superuser"))
    anonymous = Client(headers={"host": HOST})
    corpus = reverse("corpus", args=[PUBLIC])
    addresses = {
        **{name: reverse(name) for name in ("home", "metrics", "health")},
        **{
            name or "corpus": corpus + name
            for name in ("", "dialogues/", "dialogues/0/", "metrics/", "metrics/plots/")
        },
        **{name: corpus + name for name in ("systems/", "agreement/", "runs/", "runs/progress/")},
        "runs": reverse("runs"),
        "admin": reverse("admin:index"),
        "missing": "/nothing-here/",
    }
    found = {name: told(organiser.get(address, secure=True)) for name, address in addresses.items()}
    found["login"] = told(anonymous.get(reverse("login"), secure=True))
    found["download"] = told(anonymous.get(corpus + "?download=systems.csv", secure=True))
    found["plain http"] = told(anonymous.get(corpus))
    found["behind a proxy"] = told(anonymous.get(corpus, headers={"X-Forwarded-Proto": "https"}))
    found["other host"] = told(
        Client(headers={"host": "evil.example"}, raise_request_exception=False).get(corpus)
    )
    found["forbidden"] = told(
        Client(headers={"host": HOST}, enforce_csrf_checks=True).post(
            reverse("logout"), secure=True
        )
    )
    json.dump(found, sys.stdout)


def told(answer) -> dict[str, object]:
    return {
        "status": answer.status_code,
        "headers": dict(answer.headers.items()),
        "cookies": [morsel.OutputString() for morsel in answer.cookies.values()],
        "body": answer.getvalue().decode("utf-8"),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
