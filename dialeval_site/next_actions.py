"""Where a visitor begins: the links above the first page's corpora. What somebody with an account
does next stands on the desk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotations.models import CorpusVersion
from leaderboard.challenges.queries.dashboard import open_challenges_to_join


@dataclass(frozen=True, slots=True)
class Next:
    """A link, and what to know before one follows it."""

    words: str
    href: str
    remark: str


def next_actions(user: Any, versions: Sequence[CorpusVersion]) -> Iterator[Next]:
    """``versions`` are the corpora that are open to the visitor."""
    if user.is_authenticated:
        return
    rated = next((one for one in versions if one.counts.ratings), None)
    if rated is not None:
        yield Next(
            _("See which metric correlates best with human ratings"),
            reverse("metric-leaderboard", args=[rated.corpus.slug]),
            _("%(corpus)s: every metric compared with human ratings.")
            % {"corpus": rated.corpus.name},
        )
        yield Next(
            _("See which system people prefer"),
            reverse("system-leaderboard", args=[rated.corpus.slug]),
            _("%(corpus)s: means with intervals, and which are not significantly different.")
            % {"corpus": rated.corpus.name},
        )
    for challenge in open_challenges_to_join([], 1):
        yield Next(
            _("Take part in a challenge"),
            reverse("challenge", args=[challenge.slug]),
            f"{challenge.name}.",
        )
    yield Next(_("Log in"), reverse("login"), _("To rate, to submit, or to organise."))
