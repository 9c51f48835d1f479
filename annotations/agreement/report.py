"""All coefficients of agreement of one rating matrix, in the shape that the agreement command and
page publish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotations.agreement.cohen import WEIGHTINGS, PairwiseKappa, Weighting, cohen_kappas
from annotations.agreement.fleiss import FleissKappa, fleiss_kappa
from annotations.agreement.icc import IntraclassCorrelation, intraclass_correlation
from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import MEASUREMENTS, Measurement, krippendorff_alphas
from annotations.agreement.leave_one_out import LeaveOneOut, leave_one_out
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import Tabulation, tabulate
from common.correlation import COEFFICIENTS
from common.estimates import Estimate

AGGREGATE = "the file holds mean scores, not raters"
NOBODY = "nobody rated"
ANONYMOUS = "the raters are anonymous: a position in the list of scores is not a person"


@dataclass(frozen=True)
class AgreementReport:
    """``items``, ``raters``, ``ratings``: how many items have a rating, how many rows of the matrix
    have one (of anonymous raters: the longest list of scores; of mean scores: 0), and how many
    ratings there are.
    """

    items: int
    raters: int
    ratings: int
    krippendorff_alpha: dict[Measurement, Estimate]
    cohen_kappa: dict[Weighting, PairwiseKappa]
    fleiss_kappa: FleissKappa
    icc: IntraclassCorrelation
    leave_one_out: dict[str, LeaveOneOut]

    def as_json(self) -> dict[str, Any]:
        """The report in the form that the agreement command and page publish.

        Returns:
            The agreement document of docs/commands.md, without corpus, aspect and level, which a
            matrix does not know.
        """
        return {
            "items": self.items,
            "raters": self.raters,
            "ratings": self.ratings,
            "krippendorff_alpha": {
                name: alpha.as_json() for name, alpha in self.krippendorff_alpha.items()
            },
            "cohen_kappa": {name: kappa.as_json() for name, kappa in self.cohen_kappa.items()},
            "fleiss_kappa": self.fleiss_kappa.as_json(),
            "icc": self.icc.as_json(),
            "leave_one_out": {name: one.as_json() for name, one in self.leave_one_out.items()},
        }


def agreement_report(matrix: RatingMatrix, *, resamples: int = 1000) -> AgreementReport:
    """Every coefficient of agreement, each with a 95 % jackknife interval over dialogues.

    All are computed from one count of the matrix.

    Args:
        matrix: the ratings.
        resamples: 0 leaves the intervals out; any other number changes nothing, as nothing is
            resampled at random.

    Returns:
        The report. All coefficients are undefined for mean scores ("aggregate"), which have no
        agreement, and where nobody rated; anonymous raters have α and Fleiss' κ only.

    Raises:
        ValueError: the matrix does not fit together, or a score is infinite (``tabulate``).
    """
    table = tabulate(matrix)
    if not table.ratings:
        return _without_agreement(table, NOBODY)
    if matrix.rater_kind == "aggregate":
        return _without_agreement(table, AGGREGATE)
    jackknife = Jackknife.over(table.dialogues) if resamples else Jackknife.none(table.dialogues)
    for_persons = (
        _undefined_for_persons(ANONYMOUS)
        if matrix.rater_kind == "anonymous"
        else {
            "cohen_kappa": cohen_kappas(table, jackknife),
            "icc": intraclass_correlation(table, jackknife),
            "leave_one_out": leave_one_out(table, jackknife),
        }
    )
    return AgreementReport(
        table.items,
        int(table.active_raters.size),
        table.ratings,
        krippendorff_alpha=krippendorff_alphas(table, jackknife),
        fleiss_kappa=fleiss_kappa(table, jackknife),
        **for_persons,
    )


def _without_agreement(table: Tabulation, reason: str) -> AgreementReport:
    unknown = Estimate.undefined(reason)
    return AgreementReport(
        table.items,
        0,
        table.ratings,
        krippendorff_alpha=dict.fromkeys(MEASUREMENTS, unknown),
        fleiss_kappa=FleissKappa(unknown),
        **_undefined_for_persons(reason),
    )


def _undefined_for_persons(reason: str) -> dict[str, Any]:
    """The coefficients that need to know who gave which score."""
    return {
        "cohen_kappa": {weighting: PairwiseKappa.undefined(reason) for weighting in WEIGHTINGS},
        "icc": IntraclassCorrelation.undefined(reason),
        "leave_one_out": {name: LeaveOneOut(Estimate.undefined(reason)) for name in COEFFICIENTS},
    }
