"""What waits for an organiser, as links: what failed first, then what to decide, then drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.web import Step, with_the_next
from dialeval_site.dashboard.queries import OrganiserDashboard, SetUp
from workers.judges.models import Budget
from workers.training.models import Training

CORPORA_NAMED = 3
"""Each in a line of its own; of more corpora without scores one line has the names."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do. ``action`` is the link's text."""

    kind: Literal["failed", "waiting", "draft"]
    title: str
    reason: str
    action: str
    href: str


def tasks_of(dashboard: OrganiserDashboard) -> list[Task]:
    return [*_failed(dashboard), *_undecided(dashboard), *_drafts(dashboard)]


def _failed(dashboard: OrganiserDashboard) -> Iterator[Task]:
    for version, count in dashboard.failed_runs:
        text = ngettext("%(count)s metric run failed", "%(count)s metric runs failed", count)
        yield Task(
            "failed",
            text % {"count": f"{count:,}"},
            _("On %(corpus)s. The errors are on its page of runs.")
            % {"corpus": version.corpus.name},
            _("Review"),
            reverse("corpus-runs", args=[version.corpus.slug]),
        )
    for challenge, count in dashboard.challenges.failing:
        text = ngettext("%(count)s submission failed", "%(count)s submissions failed", count)
        yield Task(
            "failed",
            text % {"count": f"{count:,}"},
            _("To %(challenge)s, in the last 7 days. They do not count as attempts.")
            % {"challenge": challenge.name},
            _("Review"),
            reverse("challenge-submissions", args=[challenge.slug]) + "?state=failed",
        )
    for budget in dashboard.budgets.exhausted:
        yield Task(
            "failed",
            _("A judge’s budget is spent"),
            _("%(name)s. No more calls are sent; paid answers are stored.")
            % {"name": budget_name(budget)},
            _("Raise"),
            budget_address(budget),
        )
    for job in dashboard.failed_imports:
        yield Task(
            "failed",
            _("The import of %(file)s failed") % {"file": job.file_name},
            _("Nothing was stored. The file is kept for a day."),
            _("Review"),
            reverse("corpus-import", args=[job.pk]),
        )
    for trial in dashboard.failed_trials:
        prompt = trial.prompt_version.prompt
        yield Task(
            "failed",
            _("A trial of “%(prompt)s” failed") % {"prompt": prompt.title},
            _("Answers that were paid for are stored."),
            _("Review"),
            reverse("judge-trial", args=[prompt.slug, trial.pk]),
        )
    for training in dashboard.trainings:
        if training.state == Training.State.FAILED:
            yield Task(
                "failed",
                _("Training of “%(name)s” failed") % {"name": training.name},
                _("Its checkpoints are stored."),
                _("Review"),
                reverse("training", args=[training.name]),
            )


def _undecided(dashboard: OrganiserDashboard) -> Iterator[Task]:
    for campaign in dashboard.campaigns.to_publish:
        counts = {"done": f"{campaign.done:,}", "wanted": f"{campaign.wanted:,}"}
        yield Task(
            "waiting",
            _("“%(campaign)s” is complete") % {"campaign": campaign.name},
            _("%(done)s of %(wanted)s ratings. Check the raters, then publish.") % counts,
            _("Publish"),
            reverse("campaign-ratings", args=[campaign.slug]),
        )
    for round in dashboard.challenges.to_release:
        yield Task(
            "waiting",
            _("%(challenge)s, %(round)s is over")
            % {"challenge": round.challenge.name, "round": round.name},
            _("Its private leaderboard has no date of release."),
            _("Release"),
            reverse("round-settings", args=[round.challenge.slug, round.slug]),
        )
    to_score = dashboard.set_up.to_score if dashboard.set_up.metric_runs else []
    for corpus in to_score[:CORPORA_NAMED]:
        yield Task(
            "waiting",
            _("%(corpus)s has no metric scores") % {"corpus": corpus.name},
            _("Its leaderboard is empty until metrics are computed."),
            _("Compute"),
            reverse("corpus-runs", args=[corpus.slug]),
        )
    if others := to_score[CORPORA_NAMED:]:
        yield Task(
            "waiting",
            ngettext(
                "%(n)s more corpus has no metric scores",
                "%(n)s more corpora have no metric scores",
                len(others),
            )
            % {"n": len(others)},
            ", ".join(corpus.name for corpus in others),
            _("All corpora"),
            reverse("home") + "#table-corpora",
        )


def _drafts(dashboard: OrganiserDashboard) -> Iterator[Task]:
    for campaign in dashboard.campaigns.drafts:
        yield Task(
            "draft",
            _("Campaign “%(campaign)s” is a draft") % {"campaign": campaign.name},
            _("Only organisers see it."),
            _("Open"),
            reverse("campaign", args=[campaign.slug]),
        )
    for challenge in dashboard.challenges.drafts:
        yield Task(
            "draft",
            _("Challenge “%(challenge)s” is a draft") % {"challenge": challenge.name},
            _("Only organisers see it."),
            _("Open"),
            reverse("challenge-settings", args=[challenge.slug]),
        )


def budget_name(budget: Budget) -> str:
    """Of a budget of ``queries.organiser_dashboard``: what it pays for."""
    if run := getattr(budget, "judge_run", None):
        return f"{run.configuration} · {run.version.corpus.name}"
    if challenge := getattr(budget, "challenge", None):
        return str(challenge.name)
    trial = getattr(budget, "trial", None)
    return "" if trial is None else _("Trial of %(prompt)s") % {"prompt": trial.prompt_version}


def budget_address(budget: Budget) -> str:
    """Where the budget is set; "" where what it paid for is gone."""
    if run := getattr(budget, "judge_run", None):
        return reverse("judge-runs", args=[run.version.corpus.slug])
    if challenge := getattr(budget, "challenge", None):
        return reverse("challenge-settings", args=[challenge.slug]) + "#judge-budget"
    trial = getattr(budget, "trial", None)
    if trial is None:
        return ""
    return reverse("judge-trial", args=[trial.prompt_version.prompt.slug, trial.pk])


def next_steps(set_up: SetUp) -> list[tuple[Step, str]]:
    """The way from nothing to a published leaderboard, with the address of each step."""
    corpus = next(iter(set_up.to_score), None)
    addresses = {
        "corpus": reverse("corpus-new"),
        "metrics": reverse("corpus-runs", args=[corpus.slug])
        if corpus is not None
        else reverse("runs"),
        "campaign": reverse("campaign-new"),
        "publish": reverse("campaigns"),
        "challenge": reverse("challenge-new"),
    }
    steps = with_the_next(
        [
            Step(
                "corpus",
                _("Import a corpus"),
                _("A file of dialogues, with responses of systems and, if there are any, ratings."),
                set_up.corpora,
            ),
            Step(
                "metrics",
                _("Compute metrics"),
                _("Recommended ones are ticked; the leaderboard appears when they are done."),
                set_up.metric_runs,
            ),
            Step(
                "campaign",
                _("Collect ratings"),
                _("A campaign asks raters to judge responses; you send them a link."),
                set_up.campaigns,
            ),
            Step(
                "publish",
                _("Publish the ratings"),
                _("They become human scores of the corpus, beside its metrics."),
                set_up.published,
            ),
            Step(
                "challenge",
                _("Run a challenge"),
                _("Teams submit systems to rounds with limits and a leaderboard."),
                set_up.challenges,
                is_optional=True,
            ),
        ]
    )
    return [(step, addresses[step.key]) for step in steps]
