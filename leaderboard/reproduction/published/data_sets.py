"""What two papers print of rated data: how far raters agree (CMN, Zhao et al., 2023, section 4.4
and Table 5; ComperDial, Wakaki et al., 2024, section 3.2.3), and how large benchmarks are
(ComperDial, Tables 1, 7 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leaderboard.reproduction.published import cmn, comperdial

CITATIONS = (cmn.CITATION, comperdial.CITATION)


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """``pairs``: of each two of three raters."""

    title: str
    slugs: tuple[str, ...]
    level: Literal["turn", "dialogue"]
    coefficient: Literal["kappa", "alpha"]
    value: float
    pairs: tuple[float, ...] = ()


AGREEMENT = (
    PublishedAgreement(
        "CMN, DailyDialog", ("cmn-dailydialog",), "turn", "kappa", 0.65, (0.6896, 0.6035, 0.6434)
    ),
    PublishedAgreement(
        "CMN, PersonaChat", ("cmn-personachat",), "turn", "kappa", 0.55, (0.4496, 0.5547, 0.6315)
    ),
    PublishedAgreement("ComperDial, turns", comperdial.COMPERDIAL.slugs, "turn", "alpha", 0.56),
    PublishedAgreement(
        "ComperDial, dialogues", comperdial.COMPERDIAL.slugs, "dialogue", "alpha", 0.62
    ),
)
BANDS = (
    (0.0, "below 0"),
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
)
"""Upper ends, after Landis and Koch (1977); CMN names the last two. Above: almost perfect."""


def band(value: float) -> str:
    return next((name for end, name in BANDS if value < end), "almost perfect")


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """Of a benchmark: how many turns, dialogues and systems are rated. None: none."""

    benchmark: str
    data: str
    turns: int
    dialogues: int | None
    systems: int
    evaluation: str


_TURNS = "turns"
SIZES = (
    PublishedSize("USR", "Persona Chat", 300, None, 4, _TURNS),
    PublishedSize("USR", "Topical Chat", 360, None, 3, _TURNS),
    PublishedSize("Zhao et al.", "Persona Chat", 900, None, 6, _TURNS),
    PublishedSize("Zhao et al.", "Daily Dialogue", 900, None, 6, _TURNS),
    PublishedSize("RADE", "Persona Chat", 4000, None, 7, _TURNS),
    PublishedSize("RADE", "Empathetic Dialogue", 4022, None, 7, _TURNS),
    PublishedSize("RADE", "DSTC-ChitChat", 2090, None, 7, _TURNS),
    PublishedSize("FED", "newly created", 372, 124, 3, "turns, interactive dialogues"),
    PublishedSize("ComperDial", "newly created", 10395, 1485, 99, "turns, static dialogues"),
)
"""Table 8, with the kind of evaluation of Table 1."""
