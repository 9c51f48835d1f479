"""What a paper finds of its metric, and whether the same is found here: from a table's document,
seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.reproduction.trained_rows import gathered

Ours = Mapping[str, Any]
"""What ``Evaluation.ours`` makes of one group."""


@dataclass(frozen=True)
class Claim:
    words: str
    published: Mapping[str, Mapping[str, float]]
    """By set and coefficient: a correlation, or a difference of two."""
    ours: Ours
    minus: Ours | None = None
    """What it is held against, seed by seed; None: the correlation itself."""
    is_difference: bool = False

    def documents(self, corpus: str, coefficients: Iterable[str]) -> list[dict[str, Any]]:
        return [self._document(corpus, name) for name in coefficients]

    def _document(self, corpus: str, name: str) -> dict[str, Any]:
        theirs = {words: round(of_set[name], 4) for words, of_set in self.published.items()}
        document = {
            "claim": self.words,
            "difference": self.is_difference,
            "corpus": corpus,
            "of": _of(self.ours),
            "coefficient": name,
            "published": theirs,
        }
        if self.is_difference:
            values = self._differences(name)
            if not values:
                nothing = {"value": None, "reason": "no scores of both with the same seed"}
                return {**document, "ours": nothing, "said": "not computed"}
            return {
                **document,
                "ours": gathered(values),
                "said": _same_sign(values, list(theirs.values())),
            }
        ours = self.ours[name]
        if ours["value"] is None:
            return {**document, "ours": ours, "said": "undefined"}
        return {
            **document,
            "ours": ours,
            "said": _beside(ours["value"], list(theirs.values()), self._reach(name)),
        }

    def _differences(self, name: str) -> list[float]:
        if self.minus is None:
            return []
        others = {_pair_key(one): one[name]["value"] for one in self.minus["scored"]}
        found = [(one[name]["value"], others.get(_pair_key(one))) for one in self.ours["scored"]]
        return [value - other for value, other in found if value is not None and other is not None]

    def _reach(self, name: str) -> tuple[float, float] | None:
        """From the lowest lower end of our intervals to the highest upper one."""
        ends = [one[name]["ci"] for one in self.ours["scored"] if one[name].get("ci")]
        return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def _of(ours: Ours) -> str:
    return ", ".join(part for part in (ours["options"], ours["of"]) if part)


def _pair_key(scored: Mapping[str, Any]) -> object:
    return scored["trained"] if scored["seed"] is None else scored["seed"]


def _same_sign(values: list[float], theirs: list[float]) -> str:
    same = sum(all(value * other > 0 for other in theirs) for value in values)
    if len(values) == 1:
        return "same direction" if same else "other direction"
    return f"same direction: {same} of {len(values)} seeds"


def _beside(value: float, theirs: list[float], reach: tuple[float, float] | None) -> str:
    low, high = min(theirs), max(theirs)
    if low <= value <= high and low < high:
        return "between theirs"
    difference = (
        f"lower by {_short(low - value)}" if value < low else f"higher by {_short(value - high)}"
    )
    if reach is not None and any(reach[0] <= other <= reach[1] for other in theirs):
        difference += ", inside our interval"
    return difference


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def differences(
    first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """By set and coefficient."""
    return {
        words: {name: of_set[name] - second[words][name] for name in of_set}
        for words, of_set in first.items()
    }


def published_values(row: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Of a row's document, by set and coefficient."""
    return {
        one["set"]: {name: figure["value"] for name, figure in one.items() if name != "set"}
        for one in row["published"]
    }


def row_of(table: Mapping[str, Any], metric: str, group: str = "") -> Mapping[str, Any]:
    return next(
        row for row in table["rows"] if row["metric"] == metric and group in ("", row["group"])
    )


def matching(groups: Iterable[Ours], tied: Callable[[Ours], bool]) -> Ours | None:
    return next((one for one in groups if tied(one)), None)
