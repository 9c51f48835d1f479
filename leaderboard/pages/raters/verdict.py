"""How far raters agree, in one sentence: Krippendorff's ordinal α beside his thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.agreement.krippendorff import RELIABLE, TENTATIVE
from annotations.agreement.report import AgreementReport
from annotations.agreement.score_use import ScoreUse
from common.estimates import Estimate
from common.tables.numerals import with_interval, written


@dataclass(frozen=True, slots=True)
class Gauge:
    """Where α and its interval stand between 0 and 1, in percent; below 0 stands at 0."""

    value: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """``figures``: (label, value, remark) of what stands beside α."""

    sentence: str
    alpha: str = ""
    gauge: Gauge | None = None
    figures: tuple[tuple[str, str, str], ...] = ()


def verdict(document: AgreementReport) -> Verdict:
    """The sentence, with what stands beside it.

    Returns:
        Without α the sentence says why there is none, and no figure stands beside it.
    """
    ordinal = document.krippendorff_alpha["ordinal"]
    value, ci = ordinal.value, ordinal.ci
    if value is None:
        return Verdict(_("No verdict: %(reason)s.") % {"reason": ordinal.reason})
    alpha = with_interval(value, ci, 2)
    sentence = f"{_judged(value)} {_measured(alpha, value, ci)}"
    low, high = ci or (value, value)
    return Verdict(
        sentence,
        alpha,
        Gauge(_percent(value), _percent(low), _percent(high)),
        (
            _figure(
                _("A single rater with the others, r"),
                document.leave_one_out["pearson"].mean,
                _("a metric that reaches this agrees as well as one rater"),
            ),
            _figure(
                _("Mean rating of an item"),
                document.icc.mean_of_k,
                _("reliability, ICC(2,k)"),
            ),
            _figure(
                _("Exact agreement, α nominal"),
                document.krippendorff_alpha["nominal"],
                _("only equal scores agree"),
            ),
        ),
    )


def _judged(value: float) -> str:
    if value >= RELIABLE:
        return _("Single raters agree reliably.")
    if value >= TENTATIVE:
        return _("Single raters agree well enough for tentative conclusions.")
    if value > 0:
        return _("Single raters agree less than is usually required.")
    return _("Single raters agree no more than by chance.")


def _measured(alpha: str, value: float, ci: tuple[float, float] | None) -> str:
    """α, and on which side of which threshold it is; an interval that holds one does not say."""
    held = [limit for limit in (TENTATIVE, RELIABLE) if ci and ci[0] < limit <= ci[1]]
    if held:
        return _("Krippendorff's ordinal α is %(alpha)s; the interval includes %(limits)s.") % {
            "alpha": alpha,
            "limits": _(" and ").join(_threshold(limit) for limit in held),
        }
    if value >= RELIABLE:
        text = _("Krippendorff's ordinal α is %(alpha)s, above %(limit)s.")
        return text % {"alpha": alpha, "limit": _threshold(RELIABLE)}
    if value >= TENTATIVE:
        text = _("Krippendorff's ordinal α is %(alpha)s, between %(low)s and %(high)s.")
        return text % {
            "alpha": alpha,
            "low": _threshold(TENTATIVE),
            "high": _threshold(RELIABLE),
        }
    text = _("Krippendorff's ordinal α is %(alpha)s, below %(limit)s.")
    return text % {"alpha": alpha, "limit": _threshold(TENTATIVE)}


def _threshold(limit: float) -> str:
    return written(limit, 3 if limit == TENTATIVE else 2)


def _figure(label: str, estimate: Estimate, meaning: str) -> tuple[str, str, str]:
    if estimate.value is None:
        return label, "–", _("undefined: %(reason)s") % {"reason": estimate.reason}
    return label, with_interval(estimate.value, estimate.ci, 2), meaning


def _percent(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.1f}%"


def shares_text(steps: Sequence[float], counts: Sequence[int]) -> str:
    """``1: 10 %, 2: 90 %``."""
    total = sum(counts)
    return ", ".join(
        f"{step:g}: {written(100 * count / total, 0)} %"
        for step, count in zip(steps, counts, strict=True)
    )


def most_ratings_first(use: ScoreUse) -> list[str]:
    """The raters' names."""
    return [one.rater for one in sorted(use.raters, key=lambda one: -one.ratings)]
