"""How far a campaign's raters agree, live: the coefficients, each system, the spread of scores, the
widest gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import (
    CampaignItems,
    campaign_agreement,
    campaign_matrix,
    ratings_data_version,
)
from annotations.campaigns.rater_statistics.disagreement import widest_disagreements
from annotations.models import CorpusVersion
from leaderboard.analyses.kinds import registered
from leaderboard.queries.defaults import RESAMPLES, SEED

WIDEST_SHOWN = 20


def campaign_agreement_answer(
    campaign: Campaign, aspect: str, systems: Sequence[str] | None, excluded: bool
) -> dict[str, Any]:
    """The document of ``campaign_agreement`` with what the page shows beside it."""
    items = campaign_matrix(campaign, aspect, systems=systems, excluded=excluded)
    report = campaign_agreement(
        campaign, aspect, systems, excluded=excluded, resamples=RESAMPLES, seed=SEED, items=items
    )
    return {
        **report,
        "distribution": _distribution(items.matrix),
        "by_system": [_of_system(items, number) for number in range(len(items.systems))],
        "widest": _widest(items),
    }


def agreement_data_version(_version: CorpusVersion, campaign: int, **_parameters: Any) -> str:
    """A campaign's ratings change while its corpus version does not. Raises
    ``Campaign.DoesNotExist``."""
    found = Campaign.objects.get(pk=campaign)
    return f"{ratings_data_version(found)}.{found.changes}"


@registered(
    "campaign-agreement", version=1, stamp=agreement_data_version, refreshed_for=timedelta(hours=1)
)
def stored_agreement(
    _version: CorpusVersion, campaign: int, aspect: str, system: str, excluded: bool
) -> dict[str, Any]:
    """``campaign_agreement_answer`` as it is stored. By the campaign's key: a new one may have a
    deleted one's name. Raises ``Campaign.DoesNotExist``."""
    found = Campaign.objects.select_related("version__corpus").get(pk=campaign)
    return campaign_agreement_answer(found, aspect, [system] if system else None, excluded)


def _distribution(matrix: RatingMatrix) -> list[dict[str, Any]]:
    levels = matrix.levels or ()
    return [{"level": level, "ratings": int((matrix.scores == level).sum())} for level in levels]


def _of_system(items: CampaignItems, number: int) -> dict[str, Any]:
    own = items.system == number
    matrix = replace(
        items.matrix,
        scores=items.matrix.scores[:, own],
        dialogue_of_item=items.matrix.dialogue_of_item[own],
    )
    table = tabulate(matrix)
    ordinal = krippendorff_alphas(table, Jackknife.over(table.dialogues))["ordinal"]
    return {
        "system": items.systems[number],
        "items": int(own.sum()),
        "rated": table.items,
        "ratings": table.ratings,
        "mean": float(np.nanmean(matrix.scores)) if table.ratings else None,
        "alpha": ordinal.as_json(),
    }


def _widest(items: CampaignItems) -> list[dict[str, Any]]:
    raters = items.matrix.raters
    return [
        {
            "dialogue": items.dialogue_ids[items.dialogue[one.item]],
            "position": items.dialogue_positions[items.dialogue[one.item]],
            "turn": None if items.turn[one.item] < 0 else int(items.turn[one.item]),
            "system": items.systems[items.system[one.item]],
            "spread": one.spread,
            "scores": [[raters[row], score] for row, score in one.scores],
        }
        for one in widest_disagreements(items.matrix.scores, WIDEST_SHOWN)
    ]
