"""A judge on its page over HTTP: what each state shows, what buttons do, who sees what."""

from __future__ import annotations

import csv
import re
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import AuditEntry, CorpusVersion, System
from tests.campaigns.sets import made_user
from tests.judges.run_pages import DETAIL, card, fail, finish, page, press, runs_of, started
from workers.judges import actions, budgets
from workers.judges.models import Budget, JudgeRun
from workers.judges.progress import judge_lines
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions as runs

pytestmark = pytest.mark.django_db


def test_nothing_yet(client: Client, version: CorpusVersion) -> None:
    version.corpus.is_public = True
    version.corpus.save()
    html = page(client)
    assert "No judge has been asked yet" in html
    assert 'id="judge-start"' not in html


def test_waiting(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    html = page(organiser)
    assert "It waits for a worker." in html
    assert (
        f'hx-get="{reverse("judge-progress", args=["talks"])}?metric={DETAIL}&amp;version=1"'
        in html
    )


def test_running(
    organiser: Client, version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two systems done of three, the third half: 15 of 18 responses. The clock of the pace stands
    still."""
    now = timezone.now()
    monkeypatch.setattr("workers.runs.progress.timezone", SimpleNamespace(now=lambda: now))
    started(version)
    finish(DETAIL, ["ann", "bob"], [3.0] * 6)
    later, begun = now + timezone.timedelta(hours=1), now - timezone.timedelta(seconds=10)
    runs_of().filter(system__name="cy").update(
        state="running",
        lease_token="t",
        lease_expires_at=later,
        started_at=begun,
        examples_done=3,
        examples_total=6,
    )
    said = card(organiser)
    assert "15 of 18" in said
    assert "2 of 3 systems done" in said
    took = (timezone.now() - begun).total_seconds()  # more than 10 s where the machine is busy
    rate = re.search(r"([0-9.]+) responses/s", said)
    assert rate
    assert 3 / took - 0.01 <= float(rate[1]) <= 3 / 10
    assert "Stop" in said


def test_done(organiser: Client, version: CorpusVersion) -> None:
    """Of 18 responses 3 have no score: coverage .833."""
    started(version)
    finish(DETAIL, ["ann", "bob", "cy"], [None, 2.0, 3.0, 4.0, 5.0, 1.0])
    html = page(organiser)
    assert "hx-trigger" not in html[: html.index('id="judge-start"')]
    assert "0.833" in html
    assert "3 of 18 have no score" in card(organiser)


def test_stopped(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    answer = press(organiser, "judge-stop")
    assert answer.status_code == 302
    said = card(organiser)
    assert "Stopped by olga" in said
    assert "Go on" in said
    assert {run.state for run in runs_of()} == {"failed"}


def test_stopped_twice_changes_nothing(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    press(organiser, "judge-stop")
    press(organiser, "judge-stop")
    assert AuditEntry.objects.filter(action="judge_run.stopped").count() == 1


def test_it_goes_on(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    press(organiser, "judge-stop")
    assert press(organiser, "judge-resume").status_code == 302
    assert {run.state for run in runs_of()} == {"pending"}
    (line,) = judge_lines(version)
    assert line.state == "waiting"


def test_the_budget_is_spent(organiser: Client, version: CorpusVersion) -> None:
    """With the words that a worker writes down."""
    run = started(version, tokens=1000)
    Budget.objects.filter(pk=run.budget_id).update(tokens_spent=990)
    finish(DETAIL, ["ann"], [3.0] * 6)
    fail(DETAIL, budgets.format_spent("the budget of it", Budget.objects.get(pk=run.budget_id)))
    said = card(organiser)
    assert "The budget is spent." in said
    assert "990 of 1,000 tokens" in said
    assert "Save and resume" in said


def test_raised_it_goes_on_at_once_where_asked_to(
    organiser: Client, version: CorpusVersion
) -> None:
    run = started(version, tokens=1000)
    fail(DETAIL, "it has no room for the next call")
    assert press(organiser, "judge-budget", tokens="5000", usd="", resume="1").status_code == 302
    assert Budget.objects.get(pk=run.budget_id).tokens_limit == 5000
    assert {one.state for one in runs_of()} == {"pending"}


def test_raised_alone_it_stays_where_it_is(organiser: Client, version: CorpusVersion) -> None:
    started(version, tokens=1000)
    fail(DETAIL, "it has no room for the next call")
    press(organiser, "judge-budget", tokens="5000", usd="")
    assert {one.state for one in runs_of()} == {"failed"}


@pytest.mark.parametrize(
    ("tokens", "said"), [("50", "100 are spent already"), ("-1", "From 1."), ("x", "whole number")]
)
def test_a_bad_limit_of_a_run_is_refused(
    organiser: Client, version: CorpusVersion, tokens: str, said: str
) -> None:
    run = started(version, tokens=1000)
    Budget.objects.filter(pk=run.budget_id).update(tokens_spent=100)
    answer = press(organiser, "judge-budget", tokens=tokens, usd="")
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Budget.objects.get(pk=run.budget_id).tokens_limit == 1000


def test_the_endpoint_is_down(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    fail(DETAIL, "api.example.org does not answer: <b>timed out</b>.")
    html = page(organiser)
    assert "The judge gave up." in html
    assert "Api.example.org does not answer: &lt;b&gt;timed out&lt;/b&gt;." in html
    assert "(3 systems)" in html


def test_systems_that_came_later_can_be_judged_too(
    organiser: Client, version: CorpusVersion
) -> None:
    started(version, tokens=1234)
    finish(DETAIL, ["ann", "bob"], [3.0] * 6)
    runs_of().filter(system__name="cy").delete()
    assert "Judge the other systems, too" in card(organiser)
    press(organiser, "judge-resume")
    assert [run.state for run in runs_of()] == ["done", "done", "pending"]
    assert JudgeRun.objects.get().budget.tokens_limit == 1234


def test_a_judge_asked_for_elsewhere_is_there_with_its_buttons(
    organiser: Client, version: CorpusVersion
) -> None:
    """By ``manage.py score`` or the API: no budget was named before the first call."""
    runs.request([parse(DETAIL)], select_systems(version), hint=False)
    assert "It waits for a worker." in card(organiser)
    assert press(organiser, "judge-stop").status_code == 302
    assert {run.state for run in runs_of()} == {"failed"}


def test_a_judge_that_is_not_installed_any_more_can_be_seen_and_stopped(
    organiser: Client, version: CorpusVersion
) -> None:
    started(version)
    MetricRun.objects.update(configuration="gone[a=1]", metric="gone")
    JudgeRun.objects.update(configuration="gone[a=1]")
    assert "gone[a=1]" in card(organiser, "gone[a=1]")
    press(organiser, "judge-stop", "gone[a=1]")
    assert press(organiser, "judge-resume", "gone[a=1]").status_code == 302
    assert {run.state for run in MetricRun.objects.all()} == {"failed"}


@pytest.mark.parametrize("button", ["judge-stop", "judge-resume", "judge-budget"])
@pytest.mark.parametrize("metric", ["", "word_f1", "cpdscore_simple", "\0", "x" * 5000])
def test_a_button_for_no_judge_does_nothing(
    organiser: Client, version: CorpusVersion, button: str, metric: str
) -> None:
    started(version)
    assert press(organiser, button, metric).status_code == 404
    assert {run.state for run in runs_of()} == {"pending"}


# --- who sees what --------------------------------------------------------------------------------


def test_costs_and_errors_are_for_organisers(client: Client, version: CorpusVersion) -> None:
    version.corpus.is_public = True
    version.corpus.save()
    run = started(version, tokens=1000)
    Budget.objects.filter(pk=run.budget_id).update(tokens_spent=990, calls=77)
    fail(DETAIL, "https://api.example.org refuses")
    # The header's link to the guide of judges is everybody's
    html = page(client).replace("/help/judges/#runs-and-budgets", "")
    assert DETAIL in html
    assert "It did not come to its end." in html
    assert "990" not in re.findall(r"\w+", html)  # the digits may occur in a random identifier
    for secret in (">77<", "api.example.org", "udget", "Go on"):
        assert secret not in html, secret
    table = client.get(
        reverse("judge-runs", args=["talks"]), {"download": "judges.csv"}
    ).content.decode("utf-8-sig")
    (heading, *_) = csv.reader(table.splitlines())
    assert ",".join(heading) == (
        "judge,model,state,systems,responses,responses_reason,scored,scored_reason"
    )


def test_who_stopped_it_is_for_organisers(client: Client, version: CorpusVersion) -> None:
    version.corpus.is_public = True
    version.corpus.save()
    actions.stop(started(version), made_user("olga", "organiser"))
    html = page(client)
    assert "What was answered is kept." in html
    assert "olga" not in html


def test_two_judges_of_one_metric_have_budget_fields_of_their_own(
    organiser: Client, version: CorpusVersion
) -> None:
    """A label belongs to one field."""
    started(version)
    started(version, f"{DETAIL}[samples=3]")
    ids = re.findall(r'\sid="([^"]+)"', page(organiser))
    assert len([one for one in ids if one.endswith("_tokens")]) == 2
    assert len(ids) == len(set(ids))


def test_a_withheld_system_is_in_no_count(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    finish(DETAIL, ["ann", "bob", "cy"], [None] + [3.0] * 5)
    System.objects.filter(version=version, name="cy").update(withheld=True)
    (line,) = judge_lines(version)
    assert (line.done, line.systems, line.undefined, line.responses) == (2, 2, 2, 12)


def test_a_judge_that_only_submissions_were_scored_with_is_for_organisers(
    client: Client, version: CorpusVersion
) -> None:
    """A round's private metric: its budget on the corpus is made when the first submission is
    judged."""
    version.corpus.is_public = True
    version.corpus.save()
    started(version, f"{DETAIL}[seed=9]")
    System.objects.filter(version=version).update(withheld=True)
    assert "seed=9" not in page(client)
    progress = client.get(
        reverse("judge-progress", args=["talks"]), {"metric": f"{DETAIL}[seed=9]"}
    )
    assert progress.content.decode().strip() == ""
    client.force_login(made_user("olga", "organiser"))
    assert "seed=9" in page(client)


def test_the_fragment_of_a_judge_that_is_gone_is_empty(
    organiser: Client, version: CorpusVersion
) -> None:
    for query in ({}, {"metric": DETAIL}, {"metric": "\0"}):
        answer = organiser.get(reverse("judge-progress", args=["talks"]), query)
        assert (answer.status_code, answer.content.decode().strip()) == (200, "")
