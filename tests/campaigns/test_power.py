"""Which differences of systems a planned campaign finds: the arithmetic, and what a draft says."""

from __future__ import annotations

import math
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotations.campaigns.actions.forms import write_form
from annotations.campaigns.models import Campaign
from annotations.campaigns.plan.power import Design, detectable_difference, scale_of
from annotations.campaigns.queries.overview import plan_of_campaign
from annotations.campaigns.queries.power import PlannedPower, Spread
from annotations.models import CorpusVersion, Rater, Rating, Response, System
from annotations.questions import templates
from annotations.questions.schema import Option, Question
from common.roles import ORGANISER
from tests.campaigns.rating_browser import address, browser_of
from tests.campaigns.sets import made_campaign, made_user, made_version

HUNDRED = Design(dialogues=100, raters=1, systems=4)
Z = 1.959964 + 0.841621
SCALE = Question("q", "scale", "?")


def found(question: Question, design: Design = HUNDRED, **more: Any) -> float:
    difference = detectable_difference(question, design, **more).difference
    assert difference is not None
    return difference


# --- the arithmetic -------------------------------------------------------------------------------


@pytest.mark.parametrize("dialogues", [5, 20, 100, 10_000])
def test_a_t_test_finds_the_difference_of_means_four_times_out_of_five(dialogues: int) -> None:
    """A scale from 1 to 5: a standard deviation of 1, so a difference of √2 in a dialogue."""
    difference = found(SCALE, Design(dialogues, 1, 2))
    bound = stats.t.ppf(0.975, dialogues - 1)
    shift = difference / math.sqrt(2 / dialogues)
    assert stats.nct.sf(bound, dialogues - 1, shift) == pytest.approx(0.8, abs=1e-6)


def test_means_of_ten_dialogues() -> None:
    """statsmodels' TTestPower: an effect of 0.9960 with 10; of a difference that varies by √2."""
    assert found(SCALE, Design(10, 1, 2)) == pytest.approx(0.9960 * math.sqrt(2), abs=1e-4)


def test_raters_add_to_what_they_have_in_common() -> None:
    """v(σ²) = σ² (½ + ½ / k): ¾ of one rating's with two, ⅝ with four."""
    one, two, four = (found(SCALE, Design(100, k, 2)) for k in (1, 2, 4))
    assert two == pytest.approx(one * math.sqrt(3 / 4))
    assert four == pytest.approx(one * math.sqrt(5 / 8))


def test_a_slider_from_0_to_100_varies_by_25() -> None:
    slider = Question("q", "slider", "?", minimum=0, maximum=100)
    assert found(slider) == pytest.approx(25 * found(SCALE))
    assert found(slider, deviation=10.0) == pytest.approx(10 * found(SCALE))


def test_two_shares_of_one_half() -> None:
    """Z √(2 · ¼ / 100) = 2.8016 · 0.0707"""
    assert found(Question("q", "yes_no", "?")) == pytest.approx(0.1981, abs=5e-5)


def test_a_win_rate_against_one_half() -> None:
    """Z √(¼ / 100) = 2.8016 · 0.05: a win rate of 64 %."""
    assert found(Question("q", "preference", "?")) == pytest.approx(0.1401, abs=5e-5)


@pytest.mark.parametrize(
    ("kind", "ranks"), [("ranking", (1, 2, 3, 4)), ("best_worst", (1, 2.5, 2.5, 4))]
)
def test_mean_ranks_vary_as_ranks_drawn_by_chance(kind: Any, ranks: tuple[float, ...]) -> None:
    """The mean of (r − s)² over all two of the ranks: 20 / 6 of four, 18 / 6 of best and worst."""
    squares = [(ranks[i] - ranks[j]) ** 2 for i in range(4) for j in range(i)]
    expected = Z * math.sqrt(sum(squares) / 6 / 100)
    assert found(Question("q", kind, "?")) == pytest.approx(expected, abs=1e-5)


def test_two_systems_ranked_are_two_systems_compared() -> None:
    """Ranks differ by 1 for a win and by −1 for a loss: by twice the win rate less one half."""
    ranked = found(Question("q", "ranking", "?"), Design(100, 1, 2))
    assert ranked == pytest.approx(2 * found(Question("q", "preference", "?")))


def test_of_multiple_choice_scores_go_from_penalties_alone_to_one() -> None:
    options = (Option("a", "a", 3), Option("b", "b", 1), Option("c", "c", -1), Option("d", "d"))
    assert scale_of(Question("q", "choices", "?", options=options)) == (-0.25, 1.0)


@pytest.mark.parametrize(
    ("question", "design", "reason"),
    [
        (Question("q", "text", "?"), HUNDRED, "free text is not averaged"),
        (templates.load("error-spans").question("errors"), HUNDRED, "has no lowest score"),
        (
            Question("q", "ranking", "?", options=(Option("a", "a"), Option("b", "b"))),
            HUNDRED,
            "its own options, not systems",
        ),
        (
            Question("q", "choice", "?", options=(Option("a", "a", 1), Option("b", "b", 1))),
            HUNDRED,
            "all its answers have one value",
        ),
        (SCALE, Design(100, 2, 1), "two systems are needed"),
        (SCALE, Design(1, 2, 2), "at least 2 dialogues a system are needed"),
        # 16.33 √(2 / 2) points on a scale of 4; 2.80 √(½ / 3) = 1.14; 2.80 √(¼ / 7) = 0.53
        (SCALE, Design(2, 1, 2), "2 dialogues a system are too few"),
        (Question("q", "yes_no", "?"), Design(3, 1, 2), "3 dialogues a system are too few"),
        (Question("q", "preference", "?"), Design(7, 1, 2), "7 dialogues a pair of systems are"),
    ],
)
def test_what_cannot_be_found_says_why(question: Question, design: Design, reason: str) -> None:
    undefined = detectable_difference(question, design)
    assert undefined.difference is None
    assert reason in undefined.reason


def test_every_question_of_every_template_has_a_difference_or_a_reason() -> None:
    for name in templates.names():
        for question in templates.load(name).questions:
            one = detectable_difference(question, Design(100, 2, 3))
            assert (one.difference is None) == bool(one.reason)


# --- what a draft says ----------------------------------------------------------------------------


def power_of(campaign: Campaign) -> PlannedPower:
    power = plan_of_campaign(campaign).power
    assert power is not None
    return power


def drafted(template: str, kind: str = "turn", **fields: Any) -> Campaign:
    campaign = made_campaign(kind, opened=False, **fields)
    write_form(campaign, templates.load(template))
    return campaign


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("template", "kind", "pairs", "dialogues"),
    [
        ("usr", "turn", None, 6),
        ("fed-dialogue", "dialogue", None, 6),
        ("pairwise", "pair", None, 6),  # 12 turns × 3 pairs: 12 comparisons each in 6 dialogues
        ("pairwise", "pair", 11, 3),  # 11 / 3
        ("acute-eval", "dialogue_pair", None, 6),
        ("ranking", "systems", None, 6),
    ],
)
def test_dialogues_count_not_their_turns(
    template: str, kind: str, pairs: int | None, dialogues: int
) -> None:
    campaign = drafted(template, kind, systems=("a", "b", "c"), dialogues=6, pairs=pairs)
    assert power_of(campaign).design == Design(dialogues, 2, 3)


@pytest.mark.django_db
def test_where_nothing_is_rated_or_asked_nothing_is_said() -> None:
    assert plan_of_campaign(made_campaign("collection", dialogues_per_system=20)).power is None
    assert plan_of_campaign(made_campaign("pair", opened=False)).power is None


@pytest.mark.django_db
def test_questions_that_find_the_same_share_a_line() -> None:
    """USR's two yes/no, its three scales from 1 to 3, and one from 1 to 5."""
    lines = power_of(drafted("usr", dialogues=40)).lines
    assert [len(line.names) for line in lines] == [2, 3, 1]
    assert [line.found.comparison for line in lines] == ["shares", "means", "means"]


@pytest.mark.django_db
def test_a_form_of_text_alone_says_that_nothing_is_found() -> None:
    (line,) = power_of(drafted("written-response")).lines
    assert line.found.reason == "free text is not averaged"


def rated_version() -> CorpusVersion:
    """Of two systems 16 ratings each: of one 2 and 4 in turn, of the other 1 and 3."""
    version = made_version(dialogues=8, turns=2)
    version.aspects, version.scales = ["overall"], {"overall": [1.0, 5.0]}
    version.save()
    rater = Rater.objects.create(version=version, position=0, name="r")
    for position, system in enumerate(version.systems.all()):
        for number, response in enumerate(Response.objects.filter(system=system)):
            score = 2 - position + 2 * (number % 2)
            Rating.objects.create(rater=rater, aspect="overall", response=response, score=score)
    return version


@pytest.mark.django_db
def test_ratings_in_the_corpus_say_how_ratings_vary_within_a_system() -> None:
    """16 · 1² in each system, with 15 degrees of freedom; that systems differ is no spread."""
    power = power_of(made_campaign(version=rated_version(), opened=False))
    assert power.spreads == [Spread("overall", pytest.approx(math.sqrt(32 / 30)), 32)]
    (line,) = power.lines
    expected = found(SCALE, Design(8, 2, 2), deviation=math.sqrt(32 / 30))
    assert line.found.difference == pytest.approx(expected)


@pytest.mark.django_db
def test_another_scale_means_over_people_and_withheld_systems_say_nothing() -> None:
    version = rated_version()
    campaign = made_campaign(version=version, opened=False)
    Rater.objects.update(kind=Rater.Kind.AGGREGATE)
    assert power_of(campaign).spreads == []
    Rater.objects.update(kind=Rater.Kind.IDENTIFIED)
    CorpusVersion.objects.update(scales={"overall": [0.0, 5.0]}, revision=1)
    assert power_of(Campaign.objects.get()).spreads == []
    CorpusVersion.objects.update(scales={"overall": [1.0, 5.0]}, revision=2)
    assert len(power_of(Campaign.objects.get()).spreads) == 1
    System.objects.filter(position=0).update(withheld=True)
    CorpusVersion.objects.update(revision=3)
    assert power_of(Campaign.objects.get()).spreads == []  # 16 ratings are too few


@pytest.mark.django_db
def test_the_plan_s_page_begins_with_the_finding() -> None:
    campaign = made_campaign(version=rated_version(), opened=False)
    (line,) = power_of(campaign).lines
    page = " ".join(plan_page(campaign).split())
    assert (
        f"8 dialogues a system find differences of {line.found.difference:.2f} points or more"
    ) in page
    assert "Standard deviations of ratings in this corpus: overall 1.03 (n = 32)." in page
    assert "a quarter of the scale" not in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("template", "kind", "text"),
    [
        # 40 dialogues, two raters: Z √(¾ · ½ / 40), ½ + Z √(¾ · ¼ / 40), Z √(¾ · 2 / 40)
        ("ssa", "turn", "find shares that differ by 27.1 percentage points or more"),
        ("pairwise", "pair", "40 dialogues a pair of systems find win rates of 69.2 % or more"),
        ("ranking", "systems", "40 dialogues find mean ranks that differ by 0.54 or more"),
    ],
)
def test_the_plan_says_what_is_compared(template: str, kind: str, text: str) -> None:
    campaign = drafted(template, kind, systems=("a", "b", "c"), dialogues=40, turns=1)
    assert text in " ".join(plan_page(campaign).split())


@pytest.mark.django_db
def test_the_cost_estimate_follows_the_chosen_template(client: Client) -> None:
    client.force_login(made_user("olga", ORGANISER))
    version = made_version(dialogues=40, turns=1)
    given = {
        "name": "",
        "kind": "turn",
        "shown_kind": "turn",
        "version": version.pk,
        "shown_version": version.pk,
        "systems": [system.pk for system in version.systems.all()],
        "raters_per_item": "2",
        "seed": "7",
        "refresh": "1",
    }
    plan = client.post(reverse("campaign-new"), given).context["plan"]
    assert [line.found.scale for line in plan.power.lines] == [(1, 5)]
    plan = client.post(reverse("campaign-new"), {**given, "template": "likert-7"}).context["plan"]
    assert [line.found.scale for line in plan.power.lines] == [(1, 7)]


def plan_page(campaign: Campaign) -> str:
    browser = browser_of(made_user("", ORGANISER))
    answer: Any = browser.get(address("campaign-plan", campaign))
    return str(answer.content.decode())
