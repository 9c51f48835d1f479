"""The judges of a corpus over HTTP: what the form takes, what an estimate says, what buttons do, what a state shows."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import AuditEntry, CorpusVersion, System, Turn
from annotations.queries import select_systems
from tests.campaigns.sets import made_user, made_version
from workers import runs, scoring
from workers.judges import actions, money
from workers.judges.models import JudgePrompt, JudgeRun, PromptVersion, Purse, StoredAnswer, StoredRequest
from workers.judges.run_lines import judge_lines
from workers.language_models.server import PACKAGED_MODEL_NAME
from workers.metrics.configuration import parse
from workers.models import MetricRun
from workers.queries import examples_of

pytestmark = pytest.mark.django_db
DETAIL = "cpdscore_detail"
GPT = "gpt-4o-mini-2024-07-18"
PROMPT = """name: mine
step: turn
labels: Score
scale: 1-5

=== user
{history}
{response}
Score: <number>
"""


@pytest.fixture
def version() -> CorpusVersion:
    """Three systems that answer six turns in three dialogues; private, so organisers alone see it."""
    return made_version(("ann", "bob", "cy"), slug="talks")


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


@pytest.fixture
def endpoint(settings: Any) -> None:
    """An endpoint of somebody else's, whose model has a price: 1 USD for a million tokens in, 10 out."""
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = "https://api.example.org/v1", GPT, "secret-key"
    settings.LLM_PRICES = {GPT: (Decimal(1), Decimal(10))}


def wish(**changes: Any) -> dict[str, Any]:
    """What the browser sends when one changes nothing but these."""
    return {
        "judge": DETAIL,
        "model": PACKAGED_MODEL_NAME,
        "other_model": "",
        "scoring": "expected",
        "samples": "1",
        "temperature": "1.0",
        "prompt": "",
        "more": "",
        **changes,
    }


def page(client: Client, **query: str) -> str:
    answer = client.get(reverse("judge-runs", args=["talks"]), query)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def estimate(client: Client, status: int = 200, **changes: Any) -> str:
    answer = client.post(reverse("judge-estimate", args=["talks"]), wish(**changes))
    assert answer.status_code == status, answer.status_code
    return answer.content.decode()


def start(client: Client, configuration: str = DETAIL, **changes: Any):
    data = wish(estimated=configuration, **{"tokens": "", "usd": "", **changes})
    return client.post(reverse("judge-start", args=["talks"]), data)


def press(client: Client, button: str, metric: str = DETAIL, **data: Any):
    return client.post(reverse(button, args=["talks"]), {"metric": metric, **data})


def started(version: CorpusVersion, written: str = DETAIL, tokens: int | None = None, usd: Any = None) -> JudgeRun:
    return actions.start_judge_run(version, parse(written), select_systems(version), tokens, usd)


def runs_of(written: str = DETAIL) -> QuerySet[MetricRun]:
    return MetricRun.objects.filter(configuration=written).order_by("system__position")


def finish(written: str, systems: list[str], scores: list[float | None]) -> None:
    undefined = {str(place): "no number" for place, score in enumerate(scores) if score is None}
    runs_of(written).filter(system__name__in=systems).update(
        state="done", finished_at=timezone.now(), signature="s", system_score=3.0, turn_scores=scores,
        undefined=undefined, examples_total=len(scores), examples_done=len(scores), model="some-model@1",
    )  # fmt: skip


def fail(written: str, error: str) -> None:
    runs_of(written).exclude(state="done").update(state="failed", finished_at=timezone.now(), error=error)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


# --- the estimate ----------------------------------------------------------------------------------------------


def test_an_estimate_counts_dialogues_and_calls_and_starts_nothing(organiser: Client, version: CorpusVersion) -> None:
    """3 systems × 3 dialogues, 2 turns each: 9 dialogues, 18 responses, no two alike."""
    html = estimate(organiser)
    assert "9 dialogues, 18 calls, at no cost." in html
    assert f'name="estimated" value="{DETAIL}"' in html
    assert (MetricRun.objects.count(), JudgeRun.objects.count(), Purse.objects.count()) == (0, 0, 0)


def test_three_samples_are_three_times_the_calls(organiser: Client, version: CorpusVersion) -> None:
    assert "9 dialogues, 54 calls" in estimate(organiser, samples="3", scoring="answer")


def test_the_worth_of_the_packaged_model_stands_beside_its_estimate(organiser: Client, version: CorpusVersion) -> None:
    assert "a weak judge" in estimate(organiser)


def test_a_model_with_a_price_is_estimated_in_money(organiser: Client, version: CorpusVersion, endpoint: None) -> None:
    html = text_of(estimate(organiser, model=GPT))
    assert "$1.00 for a million tokens of prompts, $10.00 for a million of answers" in html
    assert "a weak judge" not in html


def test_a_model_without_a_price_says_so(organiser: Client, version: CorpusVersion, endpoint: None) -> None:
    html = estimate(organiser, model="other", other_model="unpriced")
    assert "at a price that is not known" in html
    assert "The price of unpriced is not known here" in html


def test_the_budget_begins_with_the_site_s_own(
    organiser: Client, version: CorpusVersion, endpoint: None, settings: Any
) -> None:
    settings.JUDGE_TOKENS, settings.JUDGE_USD = 70_000, Decimal("2.50")
    html = estimate(organiser, model=GPT)
    assert 'name="tokens" value="70000"' in html
    assert 'name="usd" value="2.5"' in html


def test_money_is_not_filled_in_where_it_cannot_be_counted(
    organiser: Client, version: CorpusVersion, endpoint: None, settings: Any
) -> None:
    settings.JUDGE_USD = Decimal(3)
    assert 'name="usd" value="3"' not in estimate(organiser, model="other", other_model="unpriced")


def test_htmx_gets_the_form_alone(organiser: Client, version: CorpusVersion) -> None:
    answer = organiser.post(reverse("judge-estimate", args=["talks"]), wish(), headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert html.lstrip().startswith('<section id="judge-start"')
    assert "9 dialogues, 18 calls" in html
    assert "<html" not in html


def test_htmx_gets_what_is_wrong_with_a_status_that_it_shows(organiser: Client, version: CorpusVersion) -> None:
    address = reverse("judge-estimate", args=["talks"])
    answer = organiser.post(address, wish(samples="0"), headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "greater than or equal to 1" in answer.content.decode()


# --- what the form takes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, DETAIL),
        ({"samples": "3", "scoring": "answer"}, f"{DETAIL}[samples=3,scoring=answer]"),
        ({"temperature": "0"}, f"{DETAIL}[temperature=0.0]"),
        ({"more": "injections=removed, seed=7"}, f"{DETAIL}[injections=removed,seed=7]"),
        ({"judge": "cpdscore_dialogue", "more": "report=overall_turn"}, "cpdscore_dialogue[report=overall_turn]"),
    ],
)
def test_fields_become_a_configuration(
    organiser: Client, version: CorpusVersion, changes: dict[str, str], text: str
) -> None:
    assert f'name="estimated" value="{text}"' in estimate(organiser, **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"judge": "word_f1"}, "word_f1 is not one of the available choices"),
        ({"judge": ""}, "This field is required."),
        ({"judge": "judge"}, "judge is not one of the available choices"),
        ({"judge": "judge:gone@1"}, "judge:gone@1 is not one of the available choices"),
        ({"model": "other"}, "Name the model."),
        ({"model": "other", "other_model": "gpt-4"}, "It cannot work here"),
        ({"samples": "0"}, "greater than or equal to 1"),
        ({"samples": "-3"}, "greater than or equal to 1"),
        ({"samples": "10000"}, "from 1 to 20"),
        ({"samples": "some"}, "Enter a whole number."),
        ({"temperature": "NaN"}, "Enter a number."),
        ({"temperature": "9"}, "from 0 to 2"),
        ({"scoring": "guessed"}, "guessed is not one of the available choices"),
        ({"prompt": "/no/such/file"}, "It cannot work here"),
        ({"prompt": "\0"}, "a NUL character"),
        ({"more": "colour=red"}, "no option &quot;colour&quot;"),
        ({"more": "seed=-1"}, "Option &quot;seed&quot; must be a whole number from 0"),
        ({"more": "samples=3"}, "samples has a field of its own."),
        ({"more": "seed=[1"}, "no partner"),
        ({"more": "<script>alert(1)</script>"}, "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ({"more": "seed=" + "1" * 400}, "at most 200 are allowed"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_estimated(
    organiser: Client, version: CorpusVersion, changes: dict[str, str], said: str
) -> None:
    html = estimate(organiser, 422, **changes)
    assert said in html
    assert 'name="estimated"' not in html
    assert "<script>alert" not in html


def test_a_corpus_without_references_says_so(organiser: Client, version: CorpusVersion) -> None:
    Turn.objects.filter(dialogue__version=version).update(references=[])
    assert "the corpus has no references" in estimate(organiser, 422, judge="cpdscore_detail_ref")


def test_a_prompt_of_an_organiser_can_be_chosen(organiser: Client, version: CorpusVersion) -> None:
    prompt = JudgePrompt.objects.create(slug="mine", title="My <b>judge</b>")
    PromptVersion.objects.create(prompt=prompt, number=2, text=PROMPT, digest="d" * 64)
    html = page(organiser)
    assert "My &lt;b&gt;judge&lt;/b&gt;, version 2" in html
    assert 'value="judge[prompt=mine@2]"' in estimate(organiser, judge="judge:mine@2")
    assert "has a prompt of its own" in estimate(organiser, 422, judge="judge:mine@2", prompt="/tmp/x")


def test_the_form_begins_as_the_judge_that_the_address_names(organiser: Client, version: CorpusVersion) -> None:
    html = page(organiser, metric=f"{DETAIL}_ref[model=gpt-x,samples=4,seed=3]")
    assert '<option value="cpdscore_detail_ref" selected>' in html
    assert 'name="other_model" value="gpt-x"' in html
    assert 'name="samples" value="4"' in html
    assert 'name="more" value="seed=3"' in html


@pytest.mark.parametrize("written", ["word_f1", "nothing", f"{DETAIL}[", f"{DETAIL}[samples=99]", "a\0b"])
def test_an_address_that_names_no_judge_is_not_there(organiser: Client, version: CorpusVersion, written: str) -> None:
    assert organiser.get(reverse("judge-runs", args=["talks"]), {"metric": written}).status_code == 404


# --- starting --------------------------------------------------------------------------------------------------


def test_a_start_asks_for_every_system_within_the_budget(organiser: Client, version: CorpusVersion) -> None:
    answer = start(organiser, tokens="90000")
    assert answer.status_code == 302
    assert answer["Location"] == reverse("judge-runs", args=["talks"]) + f"?metric={DETAIL}&version=1"
    assert [run.state for run in runs_of()] == ["pending"] * 3
    assert JudgeRun.objects.get().purse.tokens_limit == 90_000
    entry = AuditEntry.objects.get(action="judge_run.started")
    assert entry.actor == "olga"


def test_started_twice_it_is_one_run_with_the_last_budget(organiser: Client, version: CorpusVersion) -> None:
    start(organiser, tokens="90000")
    start(organiser, tokens="95000")
    assert runs_of().count() == 3
    assert JudgeRun.objects.get().purse.tokens_limit == 95_000


def test_another_judge_than_the_one_estimated_is_estimated_first(organiser: Client, version: CorpusVersion) -> None:
    answer = start(organiser, DETAIL, samples="3")
    assert answer.status_code == 200
    assert "another judge than the one that was estimated" in answer.content.decode()
    assert MetricRun.objects.count() == 0


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ({"tokens": "-5"}, "From 1."),
        ({"tokens": "0"}, "From 1."),
        ({"tokens": "9" * 40}, "less than or equal to"),
        ({"usd": "NaN"}, "Enter a number."),
        ({"usd": "-0.01"}, "More than 0."),
        ({"usd": "1e99"}, "Ensure that there are no more than"),
    ],
)
def test_a_bad_budget_starts_nothing(
    organiser: Client, version: CorpusVersion, budget: dict[str, str], said: str
) -> None:
    answer = start(organiser, **budget)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert (MetricRun.objects.count(), JudgeRun.objects.count()) == (0, 0)


def test_a_limit_in_money_needs_a_price(organiser: Client, version: CorpusVersion, endpoint: None) -> None:
    answer = start(organiser, f"{DETAIL}[model=unpriced]", model="other", other_model="unpriced", usd="3")
    assert answer.status_code == 422
    assert "unpriced has no price here" in answer.content.decode()
    assert MetricRun.objects.count() == 0


def test_a_budget_below_what_is_spent_is_refused(organiser: Client, version: CorpusVersion) -> None:
    run = started(version)
    Purse.objects.filter(pk=run.purse_id).update(tokens_spent=500)
    answer = start(organiser, tokens="499")
    assert answer.status_code == 422
    assert "500 are spent already" in answer.content.decode()


def test_what_a_judge_was_given_before_fills_the_form_in(organiser: Client, version: CorpusVersion) -> None:
    started(version, tokens=777)
    html = estimate(organiser)
    assert 'name="tokens" value="777"' in html
    assert "This judge has been asked here before" in html


def test_withheld_systems_are_neither_estimated_nor_started(organiser: Client, version: CorpusVersion) -> None:
    System.objects.filter(version=version, name="cy").update(withheld=True)
    assert "6 dialogues, 12 calls" in estimate(organiser)
    start(organiser)
    assert [run.system.name for run in runs_of()] == ["ann", "bob"]


# --- states ----------------------------------------------------------------------------------------------------


def card(client: Client, metric: str = DETAIL) -> str:
    html = page(client, metric=metric)
    return text_of(html[html.index('class="judge-card"') : html.index('id="judge-start"')])


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
    assert f'hx-get="{reverse("judge-progress", args=["talks"])}?metric={DETAIL}&amp;version=1"' in html


def test_running(organiser: Client, version: CorpusVersion) -> None:
    """Two systems done of three, the third half: 15 of 18 responses."""
    started(version)
    finish(DETAIL, ["ann", "bob"], [3.0] * 6)
    later = timezone.now() + timezone.timedelta(hours=1)
    begun = timezone.now() - timezone.timedelta(seconds=10)
    runs_of().filter(system__name="cy").update(
        state="running", lease_token="t", lease_expires_at=later, started_at=begun, examples_done=3, examples_total=6
    )
    said = card(organiser)
    assert "15 of 18" in said
    assert "2 of 3 systems done" in said
    assert "0.3 responses/s" in said  # 3 in 10 s
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
    Purse.objects.filter(pk=run.purse_id).update(tokens_spent=990)
    finish(DETAIL, ["ann"], [3.0] * 6)
    fail(DETAIL, money.spent_in_words("the budget of it", Purse.objects.get(pk=run.purse_id)))
    said = card(organiser)
    assert "The budget is spent." in said
    assert "990 of 1,000 tokens" in said
    assert "Store it and go on" in said


def test_raised_it_goes_on_at_once_where_asked_to(organiser: Client, version: CorpusVersion) -> None:
    run = started(version, tokens=1000)
    fail(DETAIL, "it has no room for the next call")
    assert press(organiser, "judge-budget", tokens="5000", usd="", resume="1").status_code == 302
    assert Purse.objects.get(pk=run.purse_id).tokens_limit == 5000
    assert {one.state for one in runs_of()} == {"pending"}


def test_raised_alone_it_stays_where_it_is(organiser: Client, version: CorpusVersion) -> None:
    started(version, tokens=1000)
    fail(DETAIL, "it has no room for the next call")
    press(organiser, "judge-budget", tokens="5000", usd="")
    assert {one.state for one in runs_of()} == {"failed"}


@pytest.mark.parametrize(
    ("tokens", "said"), [("50", "100 are spent already"), ("-1", "From 1."), ("x", "whole number")]
)
def test_a_bad_limit_of_a_run_is_refused(organiser: Client, version: CorpusVersion, tokens: str, said: str) -> None:
    run = started(version, tokens=1000)
    Purse.objects.filter(pk=run.purse_id).update(tokens_spent=100)
    answer = press(organiser, "judge-budget", tokens=tokens, usd="")
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Purse.objects.get(pk=run.purse_id).tokens_limit == 1000


def test_the_endpoint_is_down(organiser: Client, version: CorpusVersion) -> None:
    started(version)
    fail(DETAIL, "api.example.org does not answer: <b>timed out</b>.")
    html = page(organiser)
    assert "The judge gave up." in html
    assert "Api.example.org does not answer: &lt;b&gt;timed out&lt;/b&gt;." in html
    assert "(3 systems)" in html


def test_systems_that_came_later_can_be_judged_too(organiser: Client, version: CorpusVersion) -> None:
    started(version, tokens=1234)
    finish(DETAIL, ["ann", "bob"], [3.0] * 6)
    runs_of().filter(system__name="cy").delete()
    assert "Judge the other systems, too" in card(organiser)
    press(organiser, "judge-resume")
    assert [run.state for run in runs_of()] == ["done", "done", "pending"]
    assert JudgeRun.objects.get().purse.tokens_limit == 1234


def test_a_judge_asked_for_elsewhere_is_there_with_its_buttons(organiser: Client, version: CorpusVersion) -> None:
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


# --- who sees what ---------------------------------------------------------------------------------------------


def test_costs_and_errors_are_for_organisers(client: Client, version: CorpusVersion) -> None:
    version.corpus.is_public = True
    version.corpus.save()
    run = started(version, tokens=1000)
    Purse.objects.filter(pk=run.purse_id).update(tokens_spent=990, calls=77)
    fail(DETAIL, "https://api.example.org refuses")
    html = page(client)
    assert DETAIL in html
    assert "It did not come to its end." in html
    for secret in ("990", ">77<", "api.example.org", "udget", "Go on"):
        assert secret not in html, secret
    table = client.get(reverse("judge-runs", args=["talks"]), {"download": "judges.csv"}).content.decode()
    assert table.splitlines()[0] == "judge,model,state,systems,scored,scored_reason"


def test_who_stopped_it_is_for_organisers(client: Client, version: CorpusVersion) -> None:
    version.corpus.is_public = True
    version.corpus.save()
    actions.stop(started(version), made_user("olga", "organiser"))
    html = page(client)
    assert "What was answered is kept." in html
    assert "olga" not in html


def test_two_judges_of_one_metric_have_budget_fields_of_their_own(organiser: Client, version: CorpusVersion) -> None:
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
    """A round's private metric: its purse on the corpus is made when the first submission is judged."""
    version.corpus.is_public = True
    version.corpus.save()
    started(version, f"{DETAIL}[seed=9]")
    System.objects.filter(version=version).update(withheld=True)
    assert "seed=9" not in page(client)
    progress = client.get(reverse("judge-progress", args=["talks"]), {"metric": f"{DETAIL}[seed=9]"})
    assert progress.content.decode().strip() == ""
    client.force_login(made_user("olga", "organiser"))
    assert "seed=9" in page(client)


def test_the_fragment_of_a_judge_that_is_gone_is_empty(organiser: Client, version: CorpusVersion) -> None:
    for query in ({}, {"metric": DETAIL}, {"metric": "\0"}):
        answer = organiser.get(reverse("judge-progress", args=["talks"]), query)
        assert (answer.status_code, answer.content.decode().strip()) == (200, "")


def test_the_store_counts_what_is_there_already(organiser: Client, version: CorpusVersion) -> None:
    """Two of 18 first asks are answered: 16 are left."""
    scorer = scoring.scorer_of(DETAIL)
    (system, *_others) = select_systems(version)
    calls = list(scorer.planned([one for one in examples_of(system) if one is not None]))[:2]
    for call in calls:
        request = StoredRequest.objects.create(key=call.request.key, model=call.request.model, body=call.request.body)
        StoredAnswer.objects.create(
            request=request, sample=0, ask=0, state="answered", text="3", answered_at=timezone.now()
        )
    html = estimate(organiser)
    assert "9 dialogues, 16 calls (2 more are answered already)" in html
    assert "2 in the store, 16 to ask" in html
