"""Pages are computed before somebody looks: the answers that the pages of a corpus show first are
requested when it was imported or scored."""

from __future__ import annotations

from annotations.models import CorpusVersion
from leaderboard.models import Analysis
from leaderboard.results import rows
from leaderboard.results.kinds import all_kinds
from leaderboard.results.look import question_of, wanted_of
from leaderboard.results.refresh import versions_with_runs

VERSIONS_AT_ONCE = 5
"""After a start of the workers every corpus is looked at once."""

_warm: dict[int, int] = {}
"""By corpus version: the revision at which this process found all its first answers there."""


def warm() -> int:
    """Request what is missing for the newest version of each corpus; returns how many that are.
    Versions with runs under way wait for their end."""
    newest = {
        corpus: (pk, revision)
        for corpus, pk, revision in CorpusVersion.objects.order_by("number").values_list(
            "corpus", "pk", "revision"
        )
    }
    due = sorted(
        (pk for pk, revision in newest.values() if _warm.get(pk) != revision), reverse=True
    )
    if not due:
        return 0
    busy = versions_with_runs()
    requested = 0
    due = [pk for pk in due if pk not in busy][:VERSIONS_AT_ONCE]
    for version in CorpusVersion.objects.select_related("corpus").filter(pk__in=due):
        missing = _request_missing(version)
        requested += missing
        # What some pages show first follows from others' answers
        under_way = Analysis.objects.filter(
            version=version, state__in=[Analysis.State.PENDING, Analysis.State.RUNNING]
        )
        if not missing and not under_way.exists():
            _warm[version.pk] = version.revision
    return requested


def _request_missing(version: CorpusVersion) -> int:
    known = set(Analysis.objects.filter(version=version).values_list("kind", "question"))
    requested = 0
    for kind in all_kinds().values():
        for given in kind.shown_first(version):
            parameters = kind.resolved(version, given)
            question = question_of(parameters)
            if (kind.name, question) not in known:
                wanted = wanted_of(kind, version, parameters)
                rows.ask(version, kind.name, question, parameters, None, wanted)
                requested += 1
    return requested
