"""Prompts that an organiser wrote, and a small corpus that people rated, as rows: no form, no
page."""

from __future__ import annotations

from typing import Any

from annotations.models import CorpusVersion, Rater, Rating, Response
from tests.campaigns.sets import made_user, made_version
from workers.judges import prompt_actions
from workers.judges.models import PromptVersion
from workers.metrics.common.configuration import Configuration
from workers.metrics.registry import all_metrics
from workers.runs import queries, scoring

TEXT = """name: kind
step: turn
labels: Humanness
scale: 1-5
form: "- {label}: "

=== user
Said before:
{history}
About B:
{fact}
B said:
{response}
Answer with one line:
- Humanness: <number>
"""
MODEL = "judge-a"


def forget() -> None:
    """What a worker's process keeps: the next test has other rows under the same keys."""
    scoring.forget()
    queries.forget()


def organiser(name: str = "olga") -> Any:
    return made_user(name, "organiser")


def written(
    title: str = "Kind words", text: str = TEXT, by: Any = None, slug: str = ""
) -> PromptVersion:
    return prompt_actions.create(title, slug, text, by)


def rated_version(
    dialogues: int = 4,
    turns: int = 3,
    systems: tuple[str, ...] = ("ada", "bob", "cyd"),
    aspect: str = "overall",
) -> CorpusVersion:
    """Every response was rated by two people: 1 to 5, in the order of the responses over and over,
    and one more."""
    version = made_version(systems, dialogues, turns)
    version.aspects, version.scales = [aspect], {aspect: [1, 5]}
    version.save()
    raters = Rater.objects.bulk_create(
        Rater(version=version, position=n, name=f"rater {n}") for n in range(2)
    )
    responses = list(Response.objects.filter(system__version=version).order_by("pk"))
    Rating.objects.bulk_create(
        Rating(
            rater=rater,
            aspect=aspect,
            response=one,
            score=min(5, 1 + place % 5 + rater.position % 2),
        )
        for place, one in enumerate(responses)
        for rater in raters
    )
    return version


def configuration_of(version: PromptVersion, **options: Any) -> Configuration:
    return Configuration.of(all_metrics()["judge"], prompt=str(version), model=MODEL, **options)
