"""Systems and metrics by preferences in a sentence or two, and the checks in figures, made from
stored answers."""

from __future__ import annotations

from math import isclose

from common.correlation.resampling import MAX_UNDEFINED_SHARE
from common.estimates import Estimate, Undefined
from common.tables.numerals import with_interval, written
from common.text import enumeration
from leaderboard.answers.preferences import (
    OfPreferences,
    PreferenceMetrics,
    PreferenceStanding,
)
from leaderboard.pages.preferences.system_tables import (
    on_elo_scale,
    shown_groups,
    shown_strength,
)

NAMED = 3


def interval_text(estimate: Estimate, decimals: int) -> str:
    """``1262 [1230, 1294]``; "" where it is undefined."""
    if estimate.value is None:
        return ""
    return with_interval(estimate.value, estimate.ci, decimals)


def votes_text(document: OfPreferences) -> str:
    parts = [
        f"{document.votes:,} vote{'s' if document.votes != 1 else ''}",
        f"on {document.conversations:,} conversation{'s' if document.conversations != 1 else ''}",
        f"by {document.raters:,} rater{'s' if document.raters != 1 else ''}",
    ]
    ties = f", {document.ties:,} of them ties" if document.ties else ""
    bad = f" ({document.both_bad:,} “both bad”)" if document.both_bad else ""
    return f"{' '.join(parts)}{ties}{bad}."


def systems_headline(document: PreferenceStanding, *, controlled: bool) -> tuple[str, str]:
    """(the finding, what goes with it): which system is preferred most and which are not
    significantly different. ("", why) where there are no strengths."""
    ranked = [
        one
        for one in document.systems
        if shown_strength(one, controlled=controlled).value is not None
    ]
    if not ranked:
        reason = document.reason or next(
            (one.controlled.reason for one in document.systems), "no two systems were compared"
        )
        return "", f"{votes_text(document)} No ratings: {reason}."
    ranked.sort(key=lambda one: -(shown_strength(one, controlled=controlled).value or 0.0))
    best = ranked[0]
    rating = interval_text(on_elo_scale(shown_strength(best, controlled=controlled)), 0)
    highest = shown_strength(best, controlled=controlled).value or 0.0
    equal = [
        one.system
        for one in ranked
        if isclose(shown_strength(one, controlled=controlled).value or 0.0, highest, abs_tol=1e-9)
    ]
    finding = (
        f"{best.system} is preferred most ({rating})"
        if len(equal) == 1
        else f"{enumeration(equal, NAMED)} are preferred equally ({rating})"
    )
    own = set(shown_groups(best, controlled=controlled))
    near = [
        one.system
        for one in ranked[len(equal) :]
        if own & set(shown_groups(one, controlled=controlled))
    ]
    if len(equal) == len(ranked) > 1:
        finding += "."
    elif not own:
        finding += "; without an interval nobody can say by how much."
    elif near:
        them = "it" if len(equal) == 1 else "them"
        finding += f"; not significantly different from {them}: {enumeration(near, NAMED)}."
    else:
        finding += ", significantly ahead of all others."
    style = " Length, Markdown and emoji are held constant." if controlled else ""
    thin = (
        f" {document.undefined_resamples:,} of {document.resamples:,} resamples of the "
        "conversations have no ratings: these intervals rest on too few votes."
        if document.undefined_resamples > MAX_UNDEFINED_SHARE * document.resamples
        else ""
    )
    return finding, f"{votes_text(document)}{style}{thin}"


def checks(document: PreferenceStanding) -> list[tuple[str, str, str]]:
    """(label, value, remark): position bias, circles, resamples, votes that are left out."""
    share = document.slot_share
    slot = document.slot
    percent = "–" if share.value is None else f"{100 * share.value:.0f} %"
    if share.ci:
        percent += f" [{100 * share.ci[0]:.0f}, {100 * share.ci[1]:.0f}]"
    if slot.value is None:
        odds = slot.reason
    elif slot.p is None:
        odds = f"log odds {written(slot.value, 2)}"
    else:
        verdict = "slot A is favoured" if slot.value > 0 else "slot B is favoured"
        verdict = verdict if slot.p < 0.05 else "no position bias found"
        odds = f"{verdict}: log odds {interval_text(slot, 2)}, p {_p(slot.p)}"
    circles = f"{document.cyclic:,} of {document.triples:,}"
    example = f"such as {' > '.join(document.circles[0])}" if document.circles else ""
    found = [
        ("Won by slot A", percent, odds),
        (
            "Circles of three systems",
            circles,
            example or "the first beats the second, that the third, that the first",
        ),
    ]
    if document.resamples:
        undefined = document.undefined_resamples
        found.append(
            (
                "Resamples without ratings",
                f"{undefined:,} of {document.resamples:,}",
                "some system depends on few votes"
                if undefined
                else "no rating depends on one vote",
            )
        )
    nu = document.nu
    if not isinstance(nu, Undefined):
        found.append(("Ties between equals", f"{100 * nu / (2 + nu):.0f} %", "in Davidson's model"))
    if document.same_system:
        found.append(
            ("Left out", f"{document.same_system:,}", "votes between samples of one system")
        )
    return found


def _p(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {written(p, 3)}"


def metrics_headline(document: PreferenceMetrics) -> tuple[str, str]:
    """(the finding, what goes with it): the metric that says people's votes best, beside people and
    response length. ("", why) where none can be said."""
    defined = [row for row in document.rows if row.accuracy.value is not None]
    if not defined:
        why = (
            "No metric has scores of what was compared yet."
            if not document.rows
            else f"No metric has an accuracy: {document.rows[0].accuracy.reason}."
        )
        return "", f"{votes_text(document)} {why}"
    best = max(defined, key=lambda row: row.accuracy.value or 0.0)
    finding = (
        f"{best.metric} predicts preferences best: {interval_text(best.accuracy, 2)} of votes with "
        "a winner"
    )
    groups = set(best.groups)
    near = [row.metric for row in document.rows if row is not best and groups & set(row.groups)]
    finding += f"; not significantly different: {enumeration(near, NAMED)}." if near else "."
    beside = []
    if document.people.accuracy.value is not None:
        beside.append(
            f"One person predicts another at {interval_text(document.people.accuracy, 2)}."
        )
    baseline = document.baseline
    if baseline is not None and baseline.accuracy.value is not None:
        beside.append(f"Response length alone: {interval_text(baseline.accuracy, 2)}.")
    return finding, " ".join([*beside, votes_text(document)])
