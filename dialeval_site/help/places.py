"""Which paragraph of the documents concerns which page: view name -> document#heading."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from django.urls import reverse

PLACES: Mapping[str, str] = MappingProxyType(
    {
        "account": "participant#limits",
        "agreement": "statistics_agreement",
        "analysis": "workers#statistics",
        "api-docs": "api",
        "audit": "challenges#the-audit-log",
        "board": "challenges#boards",
        "campaign": "campaigns#the-course-of-a-campaign",
        "campaign-adjudicate": "campaigns#adjudication",
        "campaign-adjudication": "campaigns#adjudication",
        "campaign-agreement": "campaigns#agreement",
        "campaign-checks": "campaigns#training-and-attention",
        "campaign-dialogues": "campaigns#dialogues-written-by-pairs",
        "campaign-form": "questions#templates",
        "campaign-guidelines": "campaigns#the-course-of-a-campaign",
        "campaign-join": "rater",
        "campaign-new": "organiser#a-rating-campaign-in-ten-minutes",
        "campaign-plan": "campaigns#where-ratings-go-and-how-many",
        "campaign-preview": "campaigns#what-is-asked",
        "campaign-raters": "campaigns#raters-and-their-statistics",
        "campaign-ratings": "campaigns#publishing",
        "campaign-settings": "campaigns#what-is-asked",
        "campaigns": "organiser#a-rating-campaign-in-ten-minutes",
        "challenge": "participant#a-challenge-in-ten-minutes",
        "challenge-new": "organiser#a-challenge-step-by-step",
        "challenge-rules": "participant#limits",
        "challenge-rules-edit": "organiser#a-challenge-step-by-step",
        "challenge-settings": "challenges#a-challenge-and-its-rounds",
        "challenge-submissions": "challenges#submissions",
        "challenge-teams": "challenges#teams",
        "challenges": "participant#a-challenge-in-ten-minutes",
        "chat": "rater#what-you-see",
        "chat-system": "campaigns#chats-with-systems",
        "chat-systems": "campaigns#chats-with-systems",
        "corpus": "organiser#your-own-dialogues",
        "corpus-add": "formats#adding-to-a-corpus",
        "corpus-new": "organiser#your-own-dialogues",
        "corpus-settings": "organiser#your-own-dialogues",
        "corpus-runs": "metrics#compute-with-your-own-model",
        "desk": "organiser",
        "dialogue": "metrics#what-is-stored-with-a-score",
        "dialogues": "organiser#your-own-dialogues",
        "fewer-ratings": "statistics_fewer_ratings",
        "home": "statistics",
        "judge-answer": "judges#inspector-and-bias-checks",
        "judge-hygiene": "judges#inspector-and-bias-checks",
        "judge-inspector": "judges#inspector-and-bias-checks",
        "judge-prompt": "judges#your-own-judge",
        "judge-prompt-edit": "judges#your-own-judge",
        "judge-prompt-new": "judges#your-own-judge",
        "judge-prompts": "judges#prompt-files",
        "judge-runs": "judges#runs-and-budgets",
        "judge-trial": "judges#your-own-judge",
        "meet": "rater#what-you-see",
        "metric": "metrics#all-of-them",
        "metric-comparison": "statistics_metrics#two-metrics",
        "metric-heat-map": "statistics_correlation#what-is-correlated",
        "metric-leaderboard": "statistics#does-a-metric-correlate-with-human-ratings",
        "metric-scores": "participant#scores-of-a-metric",
        "metric-preferences": "statistics_preferences#metrics",
        "metrics": "metrics#all-of-them",
        "monitoring": "operators#monitoring",
        "my-submissions": "participant#what-becomes-of-it",
        "own-ratings": "rater#what-you-see",
        "prompt-new": "participant#a-prompt",
        "published-tables": "papers#tables-and-figures",
        "preference-leaderboard": "statistics_preferences",
        "rate": "rater",
        "rater-effects": "statistics_raters",
        "rating-guidelines": "rater#what-you-see",
        "rating-start": "rater#what-you-see",
        "rating-work": "rater#keys",
        "response-map": "statistics_metrics",
        "room": "campaigns#dialogues-written-by-pairs",
        "round": "participant#what-you-submit",
        "round-new": "challenges#a-challenge-and-its-rounds",
        "round-settings": "challenges#a-challenge-and-its-rounds",
        "runs": "workers#the-row-is-the-truth",
        "scatter": "statistics_correlation#what-is-correlated",
        "sign-up": "participant#a-challenge-in-ten-minutes",
        "submission": "participant#what-becomes-of-it",
        "system-comparison": "statistics_systems#two-systems",
        "system-leaderboard": "statistics#which-system-is-better",
        "team": "challenges#teams",
        "team-join": "challenges#teams",
        "tokens": "api#tokens",
        "training": "training#running",
        "trainings": "training",
        "webhooks": "api#notices",
    }
)


def help_address(view_name: str) -> str:
    """Where help on a page is: its paragraph, or the overview where none concerns it alone."""
    name, _, anchor = PLACES.get(view_name, "").partition("#")
    if not name:
        return reverse("help")
    return reverse("help-page", args=[name]) + (f"#{anchor}" if anchor else "")
