"""Who may do what: every address × every role × a public and a private corpus. An address missing
here fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotations.models import Corpus
from common.roles import is_organiser
from tests.dialeval_site import (
    arena_matrix,
    campaign_matrix,
    challenge_matrix,
    judge_matrix,
    training_matrix,
)
from tests.dialeval_site.addresses import METHODS, addresses, client_of, in_turn, outcome
from tests.dialeval_site.corpus_matrix import EVERYBODY, MATRIX, ORGANISERS_DO
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, ROLE_NAMES, person, write_corpus
from workers.metrics.registry import all_metrics
from workers.models import MetricRun

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("answered")]


def test_no_address_is_missing_from_the_matrices() -> None:
    """Arenas, rating campaigns, challenges, judges that organisers write and trainings have
    matrices of their own, and so has the API: by operation, see
    ``test_permissions_challenges_api``."""
    of_arenas = {address.name for address in arena_matrix.MATRIX}
    of_campaigns = {address.name for address in campaign_matrix.MATRIX}
    of_challenges = {address.name for address in challenge_matrix.MATRIX}
    of_the_api = {one.name for one in challenge_matrix.OPERATIONS} | {
        "no-such-api-address",
        "api-root",
    }
    of_judges = {address.name for address in judge_matrix.MATRIX}
    of_trainings = {address.name for address in training_matrix.MATRIX}
    matrices = [set(MATRIX), of_arenas, of_campaigns, of_challenges, of_judges, of_trainings]
    matrices.append(of_the_api)
    assert sum(map(len, matrices)) == len(set().union(*matrices)), "in two matrices"
    assert {pattern.name for pattern in addresses()} == set().union(*matrices)


def test_each_answer_is_asked_for_at_each_address_by_the_roles_in_turn() -> None:
    answers = [("anonymous", "login"), ("rater", "404"), ("participant", "404")]
    assert in_turn(0, answers, everybody=False) == [("anonymous", "login"), ("rater", "404")]
    assert in_turn(3, answers, everybody=False) == [("anonymous", "login"), ("participant", "404")]
    assert in_turn(3, answers, everybody=True) == answers


def cases() -> Iterator[tuple[str, str, str, str]]:
    """(URL name, corpus or "", role, what this role gets)"""
    for place, (name, address) in enumerate(MATRIX.items()):
        for slug, row in (
            (PUBLIC if address.private else "", address.public),
            (PRIVATE, address.private),
        ):
            roles = zip(ROLE_NAMES, row.split(), strict=bool(row))
            yield from ((name, slug, role, what) for role, what in in_turn(place, roles))


@pytest.mark.parametrize(("name", "slug", "role", "what"), list(cases()))
def test_each_role_gets_what_the_matrix_says(name: str, slug: str, role: str, what: str) -> None:
    answer = ask(client_of(role), name, slug)
    assert outcome(answer) == what


@pytest.mark.parametrize("name", MATRIX)
def test_other_methods_are_refused_to_everybody(name: str) -> None:
    others = METHODS - {MATRIX[name].method}
    if name == "login":
        others -= {"POST", "PUT"}  # the form itself; Django takes PUT for POST, with the same token
    if name == "corpus-new":
        others.remove("POST")  # the form itself, see test_only_organisers_send_a_new_corpus
    if name == "corpus-add":
        others.remove("POST")  # the form itself, see tests/leaderboard/test_adding_to_a_corpus.py
    if name == "corpus-subset":
        others.remove("POST")  # the form itself, see tests/leaderboard/test_subset_page.py
    if name == "corpus-settings":
        others.remove("POST")  # see test_settings_do_not_tell_that_a_private_corpus_is_there
    if name == "logout":
        others.remove("PUT")
    for role in ("anonymous",) if name == "login" else ("anonymous", "superuser"):
        client = client_of(role)
        for method in others:
            for slug in (PUBLIC, PRIVATE):
                assert client.generic(method, path(name, slug)).status_code == 405, (role, method)


def path(name: str, slug: str) -> str:
    address = MATRIX[name]
    places = [slug] if address.private else [address.name] if address.name else []
    return reverse(name, args=[*places, *([] if address.position is None else [address.position])])


def ask(client: Client, name: str, slug: str):
    return client.generic(
        MATRIX[name].method,
        path(name, slug),
        "&".join(f"{key}={value}" for key, value in MATRIX[name].data),
        "application/x-www-form-urlencoded",
    )


# --- what is private stays private ----------------------------------------------------------------


def tables_of(client: Client, name: str) -> list[str]:
    """The downloads that a page offers, as its links write them."""
    return re.findall(r"download=([\w.-]+)", client.get(path(name, PUBLIC)).content.decode())


CORPUS_PAGES = [
    name for name, address in MATRIX.items() if address.private and address.public == EVERYBODY
]


@pytest.mark.parametrize("name", CORPUS_PAGES)
def test_a_private_corpus_has_no_downloads_either(name: str) -> None:
    anonymous = client_of("anonymous")
    wishes = {f"?download={params}" for params in tables_of(anonymous, name)} | {
        "?version=1",
        "?aspect=overall",
        "?sort=a",
    }
    for params in wishes:
        assert anonymous.get(path(name, PUBLIC) + params).status_code == 200, params
        assert anonymous.get(path(name, PRIVATE) + params).status_code == 404, params
        assert (
            anonymous.get(path(name, PRIVATE) + params, headers={"HX-Request": "true"}).status_code
            == 404
        ), params


def test_pages_with_tables_offer_downloads() -> None:
    """Else the test above would look at none."""
    organiser = client_of("organiser")
    for name in (
        "home",
        "metrics",
        "corpus",
        "dialogues",
        "metric-leaderboard",
        "system-leaderboard",
        "agreement",
    ):
        assert {params.rpartition(".")[2] for params in tables_of(organiser, name)} == {
            "csv",
            "json",
            "tex",
            "md",
        }, name


@pytest.mark.parametrize("role", ["anonymous", "participant", "rater"])
def test_no_page_mentions_a_private_corpus(role: str) -> None:
    client = client_of(role)
    for name, address in MATRIX.items():
        if address.method == "GET":
            assert b"closed-kitchen" not in client.get(path(name, PUBLIC)).content, name
    assert b"closed-kitchen" not in client.get(reverse("home") + "?download=corpora.csv").content


def test_a_private_corpus_answers_like_one_that_does_not_exist() -> None:
    """Neither status nor text tells that it is there."""
    anonymous = client_of("anonymous")
    for name in CORPUS_PAGES:
        private = anonymous.get(path(name, PRIVATE))
        missing = anonymous.get(path(name, PRIVATE).replace(PRIVATE, "nothing-there"))
        assert private.status_code == missing.status_code == 404, name
        assert private.content.replace(PRIVATE.encode(), b"") == missing.content.replace(
            b"nothing-there", b""
        ), name


@pytest.mark.parametrize(
    ("role", "status"), [("anonymous", 302), ("participant", 403), ("rater", 403)]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_settings_do_not_tell_that_a_private_corpus_is_there(
    method: str, role: str, status: int
) -> None:
    client = client_of(role)
    told = []
    for slug in (PUBLIC, PRIVATE, "nothing-there"):
        address = path("corpus-settings", slug)
        answer = client.generic(method, address, "name=Ours", "application/x-www-form-urlencoded")
        told.append((answer.status_code, answer.headers.get("Location", "").replace(slug, "")))
        assert b"itchen" not in answer.content.replace(slug.encode(), b"")
    assert set(told) == {told[0]}
    assert told[0][0] == status
    assert not Corpus.objects.filter(name="Ours").exists()


@pytest.mark.parametrize("role", ["organiser", "superuser"])
def test_organisers_see_the_private_corpus_on_the_home_page(role: str) -> None:
    assert PRIVATE.encode() in client_of(role).get(reverse("home")).content


# --- the page of a metric -------------------------------------------------------------------------

LOOKING_AROUND = ["/", "/etc/hostname", "/no/such/folder", "../..", "some/model"]


@pytest.mark.parametrize("named", LOOKING_AROUND)
@pytest.mark.parametrize(
    ("role", "status"), list(zip(ROLE_NAMES, (404, 404, 404, 200, 200), strict=True))
)
def test_only_who_may_compute_asks_whether_a_file_or_folder_is_there(
    named: str, role: str, status: int
) -> None:
    """The reason why a metric cannot run tells a folder from a file and from nothing."""
    client = client_of(role)
    for written in (
        f"bertscore_f1[model={named}]",
        f"greedy_matching[vectors={named}]",
        f"fbd[human={named}]",
    ):
        address = reverse("metric", args=[written.partition("[")[0]])
        assert client.get(address, {"configuration": written}).status_code == status, written


@pytest.mark.parametrize(
    ("role", "status"), list(zip(ROLE_NAMES, (404, 404, 404, 200, 200), strict=True))
)
@pytest.mark.parametrize("slug", [PUBLIC, PRIVATE])
def test_a_named_model_s_page_is_there_for_who_sees_a_corpus_on_which_it_ran(
    slug: str, role: str, status: int
) -> None:
    """A public corpus is seen by everybody."""
    written = "bertscore_f1[model=/srv/models/ours]"
    finished = MetricRun.objects.filter(system__version__corpus__slug=slug)
    finished.update(
        metric="bertscore_f1",
        metric_version=all_metrics()["bertscore_f1"].version,
        configuration=written,
    )
    address = reverse("metric", args=["bertscore_f1"])
    for params in ({}, {"configuration": written}):
        answer = client_of(role).get(address, params)
        assert answer.status_code == (200 if slug == PUBLIC or not params else status)
        assert (b"/srv/models/ours" in answer.content) is (slug == PUBLIC or status == 200)


@pytest.mark.parametrize("role", ["anonymous", "participant", "rater"])
def test_neither_model_nor_details_of_a_private_corpus_s_runs_are_told(role: str) -> None:
    """On a page, in its downloads, in its fragment or over the API."""
    secret = "secret-of-the-closed-kitchen"
    told = {
        "model": f"{secret}@0123",
        "device": secret,
        "remarks": {"0": secret},
        "details": {"note": secret},
    }
    assert MetricRun.objects.filter(system__version__corpus__slug=PRIVATE).update(**told)
    client, address = client_of(role), path("metric", "")
    wishes = [
        "",
        "?corpus=closed-kitchen",
        *(f"?download={params}" for params in tables_of(client_of("organiser"), "metric")),
    ]
    assert len(wishes) > 8
    for params in wishes:
        answer = client.get(address + params)
        assert secret.encode() not in answer.content, params
        assert "closed-kitchen" in params or b"closed-kitchen" not in answer.content, params
    assert secret.encode() not in client.get(address, headers={"HX-Request": "true"}).content
    assert secret.encode() not in client.get("/api/v1/metrics").content
    assert secret.encode() in client_of("organiser").get(f"{address}?corpus=closed-kitchen").content


# --- forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name, address in MATRIX.items() if address.method == "POST"] + ["login"]
)
def test_a_form_without_the_page_s_token_is_refused(name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("organiser"))
    assert client.post(path(name, PUBLIC), {"metrics": "word_f1"}).status_code == 403


@pytest.mark.parametrize(
    ("role", "what"), list(zip(ROLE_NAMES, ORGANISERS_DO.split(), strict=True))
)
def test_only_organisers_send_a_new_corpus(role: str, what: str, tmp_path: Path) -> None:
    file = SimpleUploadedFile(
        "cooks.jsonl", write_corpus(tmp_path / "cooks.jsonl", "leek").read_bytes()
    )
    form = {
        "file": file,
        "format": "jsonl",
        "slug": "third-kitchen",
        "name": "",
        "seen_by": "organisers",
    }
    assert outcome(client_of(role).post(reverse("corpus-new"), form)) == what
    assert Corpus.objects.filter(slug="third-kitchen").exists() == (what == "done")


def test_who_must_log_in_to_score_comes_back_to_the_runs_page() -> None:
    """Not to the form's own address, which cannot be opened."""
    answer = client_of("anonymous").post(path("score", PUBLIC))
    assert answer["Location"] == f"{reverse('login')}?next={reverse('corpus-runs', args=[PUBLIC])}"


def test_log_in_leads_to_no_other_site() -> None:
    rater = person("rater")
    rater.set_password("a long pass phrase")
    rater.save()
    answer = Client().post(
        reverse("login") + "?next=https://elsewhere.example/",
        {
            "username": "the-rater",
            "password": "a long pass phrase",
            "next": "https://elsewhere.example/",
        },
    )
    assert answer["Location"] == reverse("desk")


@pytest.mark.parametrize(("production", "is_let_in"), [(False, True), (True, False)])
@pytest.mark.parametrize("form", ["login", "admin:login"])
def test_a_demo_s_pass_word_opens_nothing_in_production(
    form: str, production: bool, is_let_in: bool, settings
) -> None:
    """It is printed in the README, and a database may have begun as a demo."""
    settings.PRODUCTION = production
    organiser = person("organiser")
    organiser.is_staff = True
    organiser.set_password("demo-organiser")
    organiser.save()
    client = Client()
    client.post(reverse(form), {"username": "the-organiser", "password": "demo-organiser"})
    assert (client.get(reverse("runs")).status_code == 200) is is_let_in


def test_the_score_form_shows_only_to_organisers() -> None:
    action = f'action="{path("score", PUBLIC)}?version=1"'
    shown = {
        role: action in client_of(role).get(path("corpus-runs", PUBLIC)).content.decode()
        for role in ROLE_NAMES
    }
    assert shown == {
        "anonymous": False,
        "participant": False,
        "rater": False,
        "organiser": True,
        "superuser": True,
    }


def test_a_user_who_is_no_longer_active_is_nobody() -> None:
    client = client_of("organiser")
    organiser = person("organiser")
    organiser.is_active = False
    organiser.save()
    assert client.get(path("corpus", PRIVATE)).status_code == 404


def test_roles_are_groups_and_a_superuser_is_an_organiser() -> None:
    assert {role: is_organiser(person(role)) for role in ROLE_NAMES[1:]} == {
        "organiser": True,
        "rater": False,
        "participant": False,
        "superuser": True,
    }


# --- admin ----------------------------------------------------------------------------------------


def admin_pages() -> list[str]:
    names = [
        f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        for model in admin.site._registry
    ]
    return ["admin:index", *names]


@pytest.mark.parametrize("role", ROLE_NAMES)
def test_the_admin_opens_to_staff_only(role: str) -> None:
    client = client_of(role)
    for name in admin_pages():
        answer = client.get(reverse(name))
        if role == "superuser":
            assert answer.status_code == 200, name
        else:
            assert answer.status_code == 302, name
            assert answer["Location"].startswith(reverse("admin:login")), name


ORGANISERS_TABLES = {
    "admin:annotations_corpus_changelist",
    "admin:annotations_corpusversion_changelist",
    "admin:annotations_system_changelist",
    "admin:annotations_rater_changelist",
    "admin:workers_metricrun_changelist",
}


@pytest.mark.parametrize(("role", "seen"), [("organiser", ORGANISERS_TABLES), ("rater", set())])
def test_staff_sees_corpora_and_runs_in_the_admin_as_an_organiser_only(
    role: str, seen: set[str]
) -> None:
    """Users and groups are for superusers."""
    staff = person(role)
    staff.is_staff = True
    staff.save()
    client = client_of(role)
    statuses = {name: client.get(reverse(name)).status_code for name in admin_pages()}
    assert statuses == {name: 200 if name in {"admin:index", *seen} else 403 for name in statuses}
    index = client.get(reverse("admin:index")).content.decode()
    assert {name for name in statuses if f'href="{reverse(name)}"' in index} - {
        "admin:index"
    } == seen


def test_the_admin_knows_no_rating_campaigns() -> None:
    """Who rates what is on the organiser's pages, under pseudonyms. In the admin every row would
    name its rater, and one changed by hand would no longer be what a rater said."""
    assert "campaigns" not in {model._meta.app_label for model in admin.site._registry}


@pytest.mark.parametrize("name", sorted(ORGANISERS_TABLES))
def test_the_admin_adds_and_deletes_no_corpus_and_no_result(name: str) -> None:
    client, row = client_of("superuser"), first_row_of(name)
    change = name.replace("changelist", "change")
    assert client.post(reverse(name.replace("changelist", "add")), {}).status_code == 403
    assert (
        client.post(
            reverse(name.replace("changelist", "delete"), args=[row.pk]), {"post": "yes"}
        ).status_code
        == 403
    )
    answer = client.post(
        reverse(change, args=[row.pk]), {"name": "Changed", "slug": "changed", "state": "failed"}
    )
    assert answer.status_code == (302 if "corpus_" in name else 403)
    row.refresh_from_db()
    assert getattr(row, "slug", "") != "changed"


def first_row_of(name: str) -> Model:
    (model,) = (
        model for model in admin.site._registry if f"_{model._meta.model_name}_changelist" in name
    )
    return model.objects.first()


def test_an_organiser_makes_a_corpus_public_in_the_admin() -> None:
    organiser = person("organiser")
    organiser.is_staff = True
    organiser.save()
    corpus = Corpus.objects.get(slug=PRIVATE)
    form = reverse("admin:annotations_corpus_change", args=[corpus.pk])
    assert (
        client_of("organiser").post(form, {"name": "Cooks", "is_public": "on"}).status_code == 302
    )
    corpus.refresh_from_db()
    assert corpus.is_public
    assert client_of("anonymous").get(path("corpus", PRIVATE)).status_code == 200
