"""A site that began as a demo and goes into production on the same database: there the demo's
accounts open nothing, by whatever credential. What is tried is read from the code: addresses,
operations of the API, backends, tasks."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as site_settings
from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import default_token_generator
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import NoReverseMatch, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotations import audit
from annotations.accounts import accounts_that_may_act, is_demo_account, may_act
from annotations.campaigns.actions import invitations
from annotations.campaigns.actions.work_queue import CannotJoin, fill_queue, join
from annotations.campaigns.models import Conversation, Invitation, Message
from annotations.models import Corpus, CorpusImport, DemoAccount
from dialeval_site.accounts import password_reset, second_step, tokens
from dialeval_site.api import root as api
from dialeval_site.celery import app
from dialeval_site.demo import site as demo
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from dialeval_site.models import ApiToken
from leaderboard.challenges import notices as delivery
from leaderboard.challenges.actions import notices, teams
from leaderboard.challenges.models import Notice, Webhook
from tests.api_client import ALL_SCOPES, Program
from tests.campaigns.sets import made_campaign, made_user
from tests.challenges.receivers import http_receiver, mail_receiver
from tests.challenges.sets import computed, open_round, scored, submit, taken_in
from tests.challenges.test_hidden_references import patterns
from tests.conftest import made_site
from tests.site import wait_until
from workers import imports
from workers.chats import execution
from workers.judges import budgets
from workers.judges.actions import start_judge_run
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import BudgetSpent
from workers.metrics.common.configuration import parse

pytestmark = pytest.mark.django_db
Users = get_user_model()
OWN_PASSWORD = "a door of seven colours"


@pytest.fixture
def organiser() -> Any:
    return make_account(DEMO_ACCOUNTS[0])


@pytest.fixture
def participant() -> Any:
    return make_account(DEMO_ACCOUNTS[2])


def go_into_production(settings: Any) -> None:
    settings.PRODUCTION = True


# --- what a demo account is -----------------------------------------------------------------------


def test_the_demo_s_accounts_act_in_a_demo_and_not_in_production(organiser: Any, settings) -> None:
    other = made_user("ada")
    assert may_act(organiser)
    assert may_act(other)
    go_into_production(settings)
    assert not may_act(organiser)
    assert may_act(other)
    assert list(accounts_that_may_act()) == [other]


def test_an_account_whose_name_merely_equals_one_of_the_demo_s_is_nobody_else_s(settings) -> None:
    """It was there before the demo was loaded."""
    owner = Users.objects.create_user("organiser", password=OWN_PASSWORD)
    assert make_account(DEMO_ACCOUNTS[0]) == owner
    assert not is_demo_account(owner)
    assert demo.accounts_on_this_site() == ()
    client = Client()
    go_into_production(settings)
    assert client.login(username="organiser", password=OWN_PASSWORD)


def test_a_new_password_or_name_makes_no_demo_account_somebody_s(organiser: Any, settings) -> None:
    """Its tokens and its second factor were anybody's."""
    organiser.username = "mara"
    organiser.set_password(OWN_PASSWORD)
    organiser.save()
    go_into_production(settings)
    assert not Client().login(username="mara", password=OWN_PASSWORD)


# --- each way in ----------------------------------------------------------------------------------


def test_a_session_of_the_demo_is_logged_out_at_every_address(organiser: Any, settings) -> None:
    client = Client()
    client.force_login(organiser)
    assert client.get(reverse("audit")).status_code == 200
    go_into_production(settings)
    tried = 0
    for _route, pattern in patterns():
        try:
            address = reverse(pattern.name)
        except NoReverseMatch:  # it names something; the session is read before that is looked up
            continue
        answer, of_nobody = client.get(address), Client().get(address)
        assert (answer.status_code, answer.headers.get("Location")) == (
            of_nobody.status_code,
            of_nobody.headers.get("Location"),
        ), pattern.name
        tried += 1
    assert tried > 25
    assert client.get("/admin/").status_code == 302


@pytest.mark.parametrize("password", [DEMO_ACCOUNTS[0].password, OWN_PASSWORD])
def test_no_password_logs_a_demo_account_in(organiser: Any, settings, password: str) -> None:
    organiser.set_password(password)
    organiser.save()
    go_into_production(settings)
    known = {"username": "organiser", "password": password}
    for name in ("login", "admin:login"):
        client = Client()
        client.post(reverse(name), known)
        assert "_auth_user_id" not in client.session, name
    for path in site_settings.AUTHENTICATION_BACKENDS:
        module, _dot, name = path.rpartition(".")
        backend = getattr(import_module(module), name)()
        assert backend.authenticate(None, **known) is None
        assert backend.get_user(organiser.pk) is None
    assert Program().post("/tokens", {**known, "name": "t"}).status_code == 401


def test_no_operation_of_the_api_takes_a_token_of_the_demo(organiser: Any, settings) -> None:
    """The reported case: all scopes, 365 days; ``/me``, ``/audit`` and ``/export`` answered."""
    _row, token = tokens.make(organiser, "for a year", ALL_SCOPES, 365)
    program = Program(token)
    assert program.get("/me").status_code == 200
    go_into_production(settings)
    settings.API_RATE = 10_000
    tried = 0
    for path, methods in api.document()["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] == "make_token":
                continue  # takes no token, but a password: see above
            place = re.sub(r"\{(id|position)\}", "0", path).replace("{", "").replace("}", "")
            asked = program.client.generic(method.upper(), place, headers=program.headers)
            assert asked.status_code == 401, operation["operationId"]
            assert asked.json()["code"] == "token"
            tried += 1
    assert tried > 20


def test_the_second_step_that_began_in_the_demo_does_not_end_in_production(
    organiser: Any, settings
) -> None:
    request = RequestFactory().get("/")
    request.session = Client().session
    second_step.begin(request, organiser, "/")
    assert second_step.waiting(request) == organiser
    go_into_production(settings)
    assert second_step.waiting(request) is None


def test_no_link_gives_a_demo_account_a_new_password(organiser: Any, settings) -> None:
    Users.objects.filter(pk=organiser.pk).update(email="eve@example.org")
    organiser.refresh_from_db()
    go_into_production(settings)
    with mail_receiver() as post_office:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", post_office.port
        assert password_reset.send("eve@example.org") == 0
    uid = urlsafe_base64_encode(force_bytes(organiser.pk))
    link = reverse("password-reset-link", args=[uid, default_token_generator.make_token(organiser)])
    client = Client()
    answer = client.get(link, follow=True)
    assert "new_password1" not in answer.content.decode()
    params = {"new_password1": OWN_PASSWORD, "new_password2": OWN_PASSWORD}
    client.post(link.replace(link.rsplit("/", 2)[1], "set-password"), params)
    organiser.refresh_from_db()
    assert not organiser.check_password(OWN_PASSWORD)


def test_no_command_makes_a_demo_account_an_organiser(
    organiser: Any, participant: Any, settings
) -> None:
    go_into_production(settings)
    for name in ("organiser", "participant"):
        with pytest.raises(CommandError, match="made by the demo"):
            call_command("create_organiser", name)
    assert not participant.groups.filter(name="organiser").exists()


def test_links_that_the_demo_made_let_nobody_in(organiser: Any, participant: Any, settings) -> None:
    """Any visitor of the demo was its organiser and could keep a link for later."""
    campaign, newcomer = made_campaign(), made_user("ada")
    invitation = invitations.invite(campaign, "for later", by=organiser)
    team = teams.found(open_round().challenge, participant, "Demo team")
    go_into_production(settings)
    with pytest.raises(CannotJoin):
        join(campaign, newcomer, invitation)
    for name, token in (("campaign-join", invitation.token), ("team-join", team.invitation)):
        answer = Client().get(reverse(name, args=[token]))
        assert answer.status_code in (404, 410), name
    with pytest.raises(teams.CannotJoin, match="not valid"):
        teams.join(team.invitation, newcomer)


# --- what workers do for it -----------------------------------------------------------------------


def test_every_task_is_known_to_be_asked_or_to_act_for_no_account() -> None:
    """A new task has to say which."""
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert ours == {*REQUESTED, *FOR_NO_ACCOUNT}
    assert set(REQUESTED.values()) <= set(globals())


REQUESTED = {
    "leaderboard.challenges.tasks.deliver": "test_webhooks_and_letters_of_the_demo_are_not_sent",
    "leaderboard.challenges.tasks.process": "test_what_the_demo_submitted_is_not_run",
    "workers.tasks.reply": "test_no_model_answers_a_chat_of_the_demo",
    "workers.tasks.compute": "test_no_judge_is_paid_for_what_the_demo_began",
    "workers.judges.tasks.try_prompt": "test_no_judge_is_paid_for_what_the_demo_began",
    "workers.tasks.import_corpus": "test_no_file_of_the_demo_is_stored",
    "dialeval_site.tasks.send_password_reset": "test_no_link_gives_a_demo_account_a_new_password",
}
FOR_NO_ACCOUNT = {
    "dialeval_site.tasks.tell_former_address": "warns the owner of an address; no demo account changes its own",
    "workers.trainings.tasks.train": "computes on this site's own machine; nothing is sent or paid",
    "leaderboard.tasks.analyse": "statistics of a corpus",
    "leaderboard.tasks.sweep": "rows of nobody",
    "leaderboard.challenges.tasks.sweep": "tells workers of rows; whoever takes one asks",
    "workers.tasks.sweep": "tells workers of rows; whoever takes one asks",
    "dialeval_site.tasks.sweep": "old sessions",
}


def test_webhooks_and_letters_of_the_demo_are_not_sent(participant: Any, settings) -> None:
    settings.WEBHOOK_PRIVATE = True
    round = open_round()
    team = teams.found(round.challenge, participant, "Demo team")
    with http_receiver() as receiver:
        notices.add_webhook(participant, receiver.url)
        submission = scored(round, team)
        waiting = Notice.objects.get()
        go_into_production(settings)
        assert delivery.deliver(waiting.pk) is False
        assert not receiver.got
    submission.ended_at += timedelta(minutes=1)
    assert notices.tell(submission) == 0


def test_what_the_demo_submitted_is_not_run(participant: Any, settings) -> None:
    round = open_round()
    team = teams.found(round.challenge, participant, "Demo team")
    submission = submit(round, team)
    go_into_production(settings)
    ended = taken_in(submission)
    assert (ended.state, ended.day_place) == ("failed", None)
    assert "disabled" in ended.error


def test_no_model_answers_a_chat_of_the_demo(settings) -> None:
    rater = make_account(DEMO_ACCOUNTS[1])
    campaign = made_campaign("interactive")
    participation = join(campaign, rater)
    (assignment,) = fill_queue(participation, want=1).assignments
    chat = Conversation.objects.create(assignment=assignment)
    Message.objects.create(conversation=chat, number=0, speaker="A", text="Hello?")
    answer = Message.objects.create(conversation=chat, number=1, speaker="B", state="pending")
    go_into_production(settings)
    assert execution.answer(answer.pk) is False
    answer.refresh_from_db()
    assert (answer.state, answer.error) == (
        "failed",
        "the rater's account is disabled on this site",
    )


def test_no_judge_is_paid_for_what_the_demo_began(
    organiser: Any, participant: Any, settings
) -> None:
    round = open_round(metrics=["word_f1"])
    team = teams.found(round.challenge, participant, "Demo team")
    submission = computed(taken_in(submit(round, team)))
    judge = parse("cpdscore_detail")
    systems = list(round.version.systems.all()) or [submission.system]
    run = start_judge_run(round.version, judge, systems, tokens=None, usd=None, by=organiser)
    of_run = BillingContext(round.version_id, judge.text, ())
    of_submission = BillingContext(round.version_id, "another judge", (submission.system_id,))
    assert budgets.budgets_of(of_run)
    assert budgets.budgets_of(of_submission)
    go_into_production(settings)
    for payer in (of_run, of_submission):
        with pytest.raises(BudgetSpent, match="disabled on this site"):
            budgets.budgets_of(payer)
    mara = made_user("mara", "organiser")
    start_judge_run(round.version, judge, systems, tokens=None, usd=None, by=mara)
    run.refresh_from_db()
    assert run.created_by == mara, "whoever starts it again answers for it"
    assert budgets.budgets_of(of_run)


def test_no_file_of_the_demo_is_stored(organiser: Any, settings) -> None:
    waiting = CorpusImport.objects.create(
        stored="imports/1", file_name="cooks.jsonl", size=9, fields={}, created_by=organiser
    )
    go_into_production(settings)
    assert not imports.store(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.error) == ("failed", imports.NOT_ALLOWED)


# --- databases of older versions ------------------------------------------------------------------


def test_an_older_database_s_demo_accounts_are_marked_and_nobody_else_s() -> None:
    """What the migrations do, in today's tables; in those of 0.2.0 ``tests/upgrades`` runs them."""
    Corpus.objects.create(slug="demo", name="Demo")
    organiser = Users.objects.create_user("organiser", password=DEMO_ACCOUNTS[0].password)
    owner = Users.objects.create_user("rater", password=OWN_PASSWORD)
    other = Users.objects.create_user("ada", password=DEMO_ACCOUNTS[2].password)
    baselines = Users.objects.create_user("demo-baselines", is_active=False)
    for user in (organiser, owner, other):
        tokens.make(user, "a year", ("read",), 365)
        Webhook.objects.create(user=user, url="https://example.org/", secret="s")
    invitation = Invitation.objects.create(campaign=made_campaign())
    words = {"campaign": invitation.campaign.slug, "number": invitation.pk}
    audit.record(organiser, "invitation.made", "x", **words)
    editor = connection.schema_editor()
    import_module("dialeval_site.migrations.0002_mark_demo_accounts").mark(apps, editor)
    import_module("annotations.campaigns.migrations.0005_who_made_invitations").note_makers(
        apps, editor
    )
    assert set(DemoAccount.objects.values_list("user", flat=True)) == {organiser.pk, baselines.pk}
    living = ApiToken.objects.filter(revoked_at=None).values_list("user__username", flat=True)
    assert set(living) == {"organiser", "ada"}, (
        "a visitor's token of an account that its owner has taken over is not"
    )
    assert set(Webhook.objects.values_list("user__username", flat=True)) == {"organiser", "ada"}
    assert not is_demo_account(Users.objects.get(pk=owner.pk))
    invitation.refresh_from_db()
    assert invitation.created_by == organiser


# --- real processes -------------------------------------------------------------------------------

PREPARED = """
import json
from django.contrib.sessions.backends.db import SessionStore
from django.conf import settings
from dialeval_site.accounts import tokens
from dialeval_site.demo.site import DEMO_ACCOUNTS, make_account
from leaderboard.challenges.actions import notices, teams
from leaderboard.challenges.models import Notice
from tests.challenges.sets import open_challenge, open_round, submit
organiser, participant = make_account(DEMO_ACCOUNTS[0]), make_account(DEMO_ACCOUNTS[2])
round = open_round(challenge=open_challenge("cup"))
team = teams.found(round.challenge, participant, "Demo team")
submit(round, team)
notices.try_webhook(notices.add_webhook(participant, {url!r}))
session = SessionStore()
session["_auth_user_id"] = str(organiser.pk)
session["_auth_user_backend"] = settings.AUTHENTICATION_BACKENDS[0]
session["_auth_user_hash"] = organiser.get_session_auth_hash()
session.create()
token = tokens.make(organiser, "a year", ("read", "submit", "export", "organise"), 365)[1]
print(json.dumps([token, session.session_key]))
"""
ENDED = """
import json
from leaderboard.challenges.models import Notice, Submission
print(json.dumps([list(Notice.objects.values_list("state", "answer")),
                  list(Submission.objects.values_list("state", flat=True))]))
"""
PRODUCTION = {
    "DIALEVAL_MODE": "production",
    "SECRET_KEY": "QWx0IGluIGRpZSBKYWhyZSBnZWtvbW1lbiwgYWJlciBub2NoIG11bnRlcg",
    "ALLOWED_HOSTS": "127.0.0.1",
    "DIALEVAL_SECURE": "false",
}


@pytest.mark.slow
def test_a_demo_that_goes_into_production_opens_nothing_by_http_and_does_nothing_in_its_worker(
    tmp_path: Path,
) -> None:
    import httpx2

    with made_site(tmp_path) as site, http_receiver() as receiver:
        site.settings["DIALEVAL_WEBHOOK_PRIVATE"] = "true"
        token, session = json.loads(site.python(PREPARED.format(url=receiver.url)))
        site.settings |= {"SECRET_KEY": PRODUCTION["SECRET_KEY"]}
        address = site.start_web()
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx2.get(f"{address}/api/v1/audit", headers=headers).status_code == 200
        site.stop()
        site.settings |= PRODUCTION
        site.manage("migrate", "--verbosity", "0")
        site.manage("collectstatic", "--no-input", "--verbosity", "0")
        address = site.start_web()
        for path in ("me", "audit", "corpora/any/export", "submissions"):
            assert httpx2.get(f"{address}/api/v1/{path}", headers=headers).status_code == 401, path
        answer = httpx2.get(f"{address}/audit/", cookies={"sessionid": session})
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (
            302,
            "/accounts/login/",
        )
        site.start_worker()
        wait_until(
            lambda: (
                json.loads(site.python(ENDED))
                == [[["failed", "the account is disabled"]], ["failed"]]
            ),
            120,
            "the worker has given both up",
        )
        assert not receiver.got
