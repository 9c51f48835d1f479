"""The form that asks for a judge over HTTP: what it takes, what an estimate says, what a start
does."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import AuditEntry, CorpusVersion, System, Turn
from tests.judges.run_pages import (
    DETAIL,
    GPT,
    estimate,
    page,
    params,
    runs_of,
    start,
    started,
    text_of,
)
from workers.judges.models import (
    Budget,
    JudgePrompt,
    JudgeRun,
    PromptVersion,
    StoredAnswer,
    StoredRequest,
)
from workers.models import MetricRun
from workers.runs import scoring
from workers.runs.queries import examples_of

pytestmark = pytest.mark.django_db
PROMPT = """name: mine
step: turn
labels: Score
scale: 1-5

=== user
{history}
{response}
Score: <number>
"""


# --- the estimate ---------------------------------------------------------------------------------


def test_an_estimate_counts_dialogues_and_calls_and_starts_nothing(
    organiser: Client, version: CorpusVersion
) -> None:
    """3 systems × 3 dialogues, 2 turns each: 18 responses, no two alike."""
    html = estimate(organiser)
    assert "3 dialogues of 3 systems, 18 calls, at no cost." in html
    assert f'name="estimated" value="{DETAIL}"' in html
    assert (MetricRun.objects.count(), JudgeRun.objects.count(), Budget.objects.count()) == (
        0,
        0,
        0,
    )


def test_three_samples_are_three_times_the_calls(organiser: Client, version: CorpusVersion) -> None:
    assert "3 dialogues of 3 systems, 54 calls" in estimate(
        organiser, samples="3", scoring="answer"
    )


def test_an_endpoint_s_judge_is_scored_as_in_the_paper_unless_it_is_chosen(
    organiser: Client, version: CorpusVersion, endpoint: None
) -> None:
    """Two responses to each of nine dialogues, three written answers each: 54 calls."""
    html = estimate(organiser, model=GPT, scoring="", samples="")
    assert f'value="{DETAIL}[model={GPT},samples=3,scoring=answer]"' in html
    assert "3 dialogues of 3 systems, 54 calls" in html
    chosen = estimate(organiser, model=GPT, scoring="expected", samples="")
    assert f'value="{DETAIL}[model={GPT}]"' in chosen


def test_the_packaged_model_s_score_is_the_expected_one_unless_it_is_chosen(
    organiser: Client, version: CorpusVersion
) -> None:
    assert f'name="estimated" value="{DETAIL}"' in estimate(organiser, scoring="", samples="")


def test_the_worth_of_the_packaged_model_stands_beside_its_estimate(
    organiser: Client, version: CorpusVersion
) -> None:
    assert "a weak judge" in estimate(organiser)


def test_a_model_with_a_price_is_estimated_in_money(
    organiser: Client, version: CorpusVersion, endpoint: None
) -> None:
    html = text_of(estimate(organiser, model=GPT))
    assert "$1.00 for a million tokens of prompts, $10.00 for a million of answers" in html
    assert "a weak judge" not in html


def test_a_model_without_a_price_says_so(
    organiser: Client, version: CorpusVersion, endpoint: None
) -> None:
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
    answer = organiser.post(
        reverse("judge-estimate", args=["talks"]), params(), headers={"HX-Request": "true"}
    )
    html = answer.content.decode()
    assert html.lstrip().startswith('<section id="judge-start"')
    assert "3 dialogues of 3 systems, 18 calls" in html
    assert "<html" not in html


def test_htmx_gets_what_is_wrong_with_a_status_that_it_shows(
    organiser: Client, version: CorpusVersion
) -> None:
    address = reverse("judge-estimate", args=["talks"])
    answer = organiser.post(address, params(samples="0"), headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "greater than or equal to 1" in answer.content.decode()


def test_the_store_counts_what_is_there_already(organiser: Client, version: CorpusVersion) -> None:
    """Two of 18 first asks are answered: 16 are left."""
    scorer = scoring.scorer_of(DETAIL)
    (system, *_others) = select_systems(version)
    calls = list(scorer.planned([one for one in examples_of(system) if one is not None]))[:2]
    for call in calls:
        request = StoredRequest.objects.create(
            key=call.request.key, model=call.request.model, body=call.request.body
        )
        StoredAnswer.objects.create(
            request=request, sample=0, ask=0, state="answered", text="3", answered_at=timezone.now()
        )
    html = estimate(organiser)
    assert "3 dialogues of 3 systems, 16 calls (2 more are answered already)" in html
    assert "2 in the store, 16 to ask" in html


# --- what the form takes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, DETAIL),
        ({"samples": "3", "scoring": "answer"}, f"{DETAIL}[samples=3,scoring=answer]"),
        ({"temperature": "0"}, f"{DETAIL}[temperature=0.0]"),
        ({"more": "injections=removed, seed=7"}, f"{DETAIL}[injections=removed,seed=7]"),
        (
            {"judge": "cpdscore_dialogue", "more": "report=overall_turn"},
            "cpdscore_dialogue[report=overall_turn]",
        ),
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
        ({"other_model": "gpt-4"}, "Choose another model above, or leave this empty."),
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
    assert "has a prompt of its own" in estimate(
        organiser, 422, judge="judge:mine@2", prompt="/tmp/x"
    )


def test_the_form_begins_as_the_judge_that_the_address_names(
    organiser: Client, version: CorpusVersion
) -> None:
    html = page(organiser, metric=f"{DETAIL}_ref[model=gpt-x,samples=4,seed=3]")
    assert '<option value="cpdscore_detail_ref" selected>' in html
    assert 'name="other_model" value="gpt-x"' in html
    assert 'name="samples" value="4"' in html
    assert 'name="more" value="seed=3"' in html


@pytest.mark.parametrize(
    "written", ["word_f1", "nothing", f"{DETAIL}[", f"{DETAIL}[samples=99]", "a\0b"]
)
def test_an_address_that_names_no_judge_is_not_there(
    organiser: Client, version: CorpusVersion, written: str
) -> None:
    assert (
        organiser.get(reverse("judge-runs", args=["talks"]), {"metric": written}).status_code == 404
    )


# --- starting -------------------------------------------------------------------------------------


def test_a_start_asks_for_every_system_within_the_budget(
    organiser: Client, version: CorpusVersion
) -> None:
    answer = start(organiser, tokens="90000")
    assert answer.status_code == 302
    assert (
        answer["Location"] == reverse("judge-runs", args=["talks"]) + f"?metric={DETAIL}&version=1"
    )
    assert [run.state for run in runs_of()] == ["pending"] * 3
    assert JudgeRun.objects.get().budget.tokens_limit == 90_000
    entry = AuditEntry.objects.get(action="judge_run.started")
    assert entry.actor == "olga"


def test_started_twice_it_is_one_run_with_the_last_budget(
    organiser: Client, version: CorpusVersion
) -> None:
    start(organiser, tokens="90000")
    start(organiser, tokens="95000")
    assert runs_of().count() == 3
    assert JudgeRun.objects.get().budget.tokens_limit == 95_000


def test_another_judge_than_the_one_estimated_is_estimated_first(
    organiser: Client, version: CorpusVersion
) -> None:
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


def test_a_limit_in_money_needs_a_price(
    organiser: Client, version: CorpusVersion, endpoint: None
) -> None:
    answer = start(
        organiser, f"{DETAIL}[model=unpriced]", model="other", other_model="unpriced", usd="3"
    )
    assert answer.status_code == 422
    assert "unpriced has no price here" in answer.content.decode()
    assert MetricRun.objects.count() == 0


def test_a_budget_below_what_is_spent_is_refused(organiser: Client, version: CorpusVersion) -> None:
    run = started(version)
    Budget.objects.filter(pk=run.budget_id).update(tokens_spent=500)
    answer = start(organiser, tokens="499")
    assert answer.status_code == 422
    assert "500 are spent already" in answer.content.decode()


def test_what_a_judge_was_given_before_fills_the_form_in(
    organiser: Client, version: CorpusVersion
) -> None:
    started(version, tokens=777)
    html = estimate(organiser)
    assert 'name="tokens" value="777"' in html
    assert "This judge has been asked here before" in html


def test_withheld_systems_are_neither_estimated_nor_started(
    organiser: Client, version: CorpusVersion
) -> None:
    System.objects.filter(version=version, name="cy").update(withheld=True)
    assert "3 dialogues of 2 systems, 12 calls" in estimate(organiser)
    start(organiser)
    assert [run.system.name for run in runs_of()] == ["ann", "bob"]
