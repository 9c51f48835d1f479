"""What ``test_killed_writes.py`` has a site's processes do: a large write that ends by SIGKILL, and
what is there then."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from annotations.campaigns.actions import opening, publishing, setup
from annotations.campaigns.models import Campaign, RatingRevision
from annotations.corpora import staging
from annotations.corpora.queries import counts_of
from annotations.corpora.record_stream import records_of
from annotations.models import Corpus, CorpusVersion, Rating
from dialeval_site.tasks import sweep
from tests.campaigns import sets
from tests.campaigns.judged import rated_and_closed
from tests.campaigns.sets import made_campaign, made_version

DIALOGUES, TURNS, RATERS = 4, 3, 2
RATINGS = 2 * DIALOGUES * TURNS * RATERS
"""Of two systems."""
MOST_ROWS = 10
"""Of one transaction here, so that a small campaign takes several."""
STEPS: dict[str, Callable[[Campaign], object]] = {
    "opened": opening.open_campaign,
    "published": publishing.publish,
    "published again": lambda campaign: publishing.publish(campaign, "under another name"),
    "taken back": publishing.unpublish,
    "deleted": lambda campaign: setup.delete(campaign, campaign.slug),
}


def prepare(step: str, count: int) -> None:
    """So many campaigns, each before this step; all by one process, which numbers them."""
    sets._numbers = itertools.count(1_000 * (1 + list(STEPS).index(step)))
    for number in range(count):
        slug = f"{step.replace(' ', '-')}-{number}"
        version = made_version(dialogues=DIALOGUES, turns=TURNS, slug=slug)
        Corpus.objects.filter(slug=slug).update(name=slug)
        is_draft = step == "opened"
        campaign = made_campaign(version=version, k=RATERS, slug=slug, opened=not is_draft)
        if is_draft:
            continue
        campaign = rated_and_closed(campaign, RATERS)
        if step in ("published again", "taken back"):
            publishing.publish(campaign)


@contextmanager
def moments(at: int = -1, is_before: bool = True) -> Iterator[list[str]]:
    """What is asked of the database, one after the other, commits too: each by what it does to
    which table. The process is killed just before or just after the one at this place."""
    met: list[str] = []
    commit = BaseDatabaseWrapper._commit

    def meet(what: str, go_on: Callable[[], Any]) -> Any:
        met.append(what)
        is_here = len(met) - 1 == at
        if is_here and is_before:
            os.kill(os.getpid(), signal.SIGKILL)
        found = go_on()
        if is_here:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def asked(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        table = re.search(r'(?:INTO|UPDATE|FROM) "(\w+)"', sql)
        what = f"{sql.split()[0]} {table[1] if table else ''}"
        return meet(what, lambda: execute(sql, params, many, context))

    def committed(self: BaseDatabaseWrapper) -> None:
        meet("COMMIT", lambda: commit(self))

    BaseDatabaseWrapper._commit = committed  # type: ignore[method-assign]
    with connection.execute_wrapper(asked):
        yield met


def take(step: str, slug: str, at: int = -1, is_before: bool = True) -> list[str]:
    """What was asked of the database, where it was not killed."""
    begin = staging.ShortTransactions.__init__

    def begin_small(self: staging.ShortTransactions) -> None:
        begin(self)
        self.rows = MOST_ROWS

    staging.ShortTransactions.__init__ = begin_small  # type: ignore[method-assign]
    staging.FEWEST_ROWS = staging.MOST_ROWS = MOST_ROWS
    campaign = Campaign.objects.get(slug=slug)
    with moments(at, is_before) as met:
        STEPS[step](campaign)
    return met


def visible(slug: str) -> str:
    """All that anybody has of the campaign and its corpus, with how often raters have answered; the
    same for all that were prepared for a step."""
    version = CorpusVersion.objects.get(corpus__slug=slug)
    campaign = Campaign.objects.filter(slug=slug).first()
    found = [counts_of(version), list(records_of(version)), version.aspects, version.main_aspect]
    found += [version.scales, version.raters.count()]
    if campaign:
        found += [campaign.state, campaign.published_aspect]
        if campaign.state != Campaign.State.DRAFT:
            found += [campaign.items.count(), campaign.slots.count()]
        answers = RatingRevision.objects.filter(assignment__participation__campaign=campaign)
        found.append(answers.count())
    return repr(found).replace(slug, "SLUG")


def everything(slug: str) -> str:
    """And all rows that belong to it, or to nobody."""
    campaign = Campaign._base_manager.filter(slug=slug).first()
    rows = [
        *((campaign.items.count(), campaign.slots.count()) if campaign else ()),
        *((campaign.lease_token, campaign.is_removed) if campaign else ()),
        Rating.objects.filter(rater__version__corpus__slug=slug).count(),
        CorpusVersion.staged.count(),
        Rating.objects.filter(rater__version__corpus=None).count(),
    ]
    return f"{visible(slug)} {rows}"


def afterwards(slug: str) -> None:
    """Tells what is visible, and ten minutes later, when a worker has taken its hourly look."""
    seen = visible(slug)
    for model in (Campaign, CorpusVersion):
        leased = model._base_manager.exclude(lease_token="")
        leased.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    sweep()
    tell(seen, visible(slug), everything(slug))


def tell(*found: str) -> None:
    print(json.dumps(found))
