"""What a rater's flag says: its figure, and the rule behind it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.campaigns.rater_statistics.flags import (
    LEAST_CHECKS,
    LEAST_ITEMS,
    STRAIGHT_LINING_EXCESS,
    QualityFlag,
)
from common.tables.numerals import with_interval, written


@dataclass(frozen=True, slots=True)
class FlagText:
    name: str
    figure: str
    rule: str


def flag_text(flag: QualityFlag) -> FlagText:
    """In the language of the request."""
    if flag.kind == "fast":
        return FlagText(
            _("fast"),
            _("%(seconds)s s per item, median of %(items)s items")
            % {"seconds": written(flag.value, 1), "items": flag.items},
            _("flagged below %(limit)s s") % {"limit": f"{flag.limit:g}"},
        )
    if flag.kind == "straight-lining":
        return FlagText(
            _("straight-lining"),
            _(
                "gave %(score)s to %(share)s of %(items)s items; the others gave it to %(others)s "
                "of the same items"
            )
            % {
                "score": flag.score,
                "share": _percent(flag.value),
                "items": flag.items,
                "others": _percent(flag.others or 0.0),
            },
            _("flagged from %(limit)s, if at least %(excess)s percentage points above the others")
            % {"limit": _percent(flag.limit), "excess": round(100 * STRAIGHT_LINING_EXCESS)},
        )
    if flag.kind == "alpha":
        return FlagText(
            _("no agreement"),
            _("Krippendorff's α with the others %(alpha)s on %(items)s items")
            % {"alpha": with_interval(flag.value, flag.ci, 2), "items": flag.items},
            _(
                "flagged below 0, where raters agree less than by chance; of at least "
                "%(least)s items"
            )
            % {"least": LEAST_ITEMS},
        )
    return FlagText(
        _("attention items"),
        _("%(missed)s of %(items)s attention items outside their range")
        % {"missed": round(flag.value * flag.items), "items": flag.items},
        _("flagged from half of at least %(least)s") % {"least": LEAST_CHECKS},
    )


def _percent(share: float) -> str:
    return f"{written(100 * share, 0)} %"
