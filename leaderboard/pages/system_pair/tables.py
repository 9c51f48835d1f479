"""Two systems side by side: sentences, the table of metrics and the file of items, made from a
stored answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from common.tables import Cell, Column, Row, Table
from common.tables.numerals import MINUS, written, written_p
from leaderboard.estimate_cells import cell_of
from leaderboard.pages.system_pair.query import ItemText
from leaderboard.pages.system_pair.rows import PEOPLE, PairRows

WRONG = "prefers the wrong one"
_ORDER = (WRONG, "prefers", "does not see it", "agrees with people", "sees no difference either")


def signature(document: dict[str, Any]) -> str:
    human = document["human"]
    permutations = human["permutations"]
    way = "all" if human["is_exact"] else f"{permutations}"
    how = (
        f"cluster-robust-t95-over-dialogues|test:paired-permutation-of-dialogues|permutations:{way}"
    )
    if not is_paired(document):
        how = "cluster-robust-welch-t95-over-dialogues|test:unpaired-welch-t"
    return (
        f"corpus:{document['corpus']}|corpus_version:{document['corpus_version']}|"
        f"aspect:{document['aspect']}|level:{document['level']}|n:{human['items']}|"
        f"dialogues:{human['dialogues']}|ci:{how}|seed:{document['seed']}"
    )


def is_paired(document: dict[str, Any]) -> bool:
    """Whether people's scores compare the two on shared dialogues. Older answers know nothing
    else."""
    return bool(document["human"].get("is_paired", True))


def finding(document: dict[str, Any]) -> tuple[str, str]:
    """(which is better and by how much, how often); ("", why) where people say nothing of the
    two."""
    first, second = (system["system"] for system in document["systems"])
    human = document["human"]
    value = human["difference"]["value"]
    if value is None:
        return (
            "",
            (
                f"People rated nothing that both answered ({document['aspect']}); metrics alone "
                "compare them."
            ),
        )
    things = "responses" if document["level"] == "turn" else "dialogues"
    often = _unpaired_text(document) or (
        f"On {human['items']:,} {things} of {human['dialogues']:,} dialogues {first} is preferred "
        f"{human['wins']:,} times, {second} {human['losses']:,} times; {human['ties']:,} tie."
    )
    size = (
        f"{_signed(abs(value))[1:]} points of "
        f"{document['aspect']}{_interval(human['difference'], value < 0)}"
    )
    ends = human["difference"].get("ci")
    p = written_p(human["difference"]["p"]) if human["difference"].get("p") is not None else ""
    if not ends and value:
        reauthentication = f", {p}" if p else ""
        return (
            f"{first if value > 0 else second} is ahead by {size}, without an "
            f"interval{reauthentication}.",
            often,
        )
    if not ends:
        return f"{first} and {second} are level: {size}, without an interval.", often
    if ends[0] > 0 or ends[1] < 0:
        better, worse = (first, second) if value > 0 else (second, first)
        return f"{better} is better than {worse} by {size}, {p}.", often
    return (
        f"People do not tell {first} and {second} apart: {_signed(value)} "
        f"points{_interval(human['difference'])}, {p}.",
        often,
    )


def _unpaired_text(document: dict[str, Any]) -> str:
    """Whose dialogues are compared; "" of a paired comparison."""
    human = document["human"]
    if is_paired(document):
        return ""
    first, second = (system["system"] for system in document["systems"])
    shared = human["first_dialogues"] + human["second_dialogues"] - human["dialogues"]
    which = "which are not shared" if not shared else f"of which only {shared:,} are shared"
    return (
        f"{first} was rated in {human['first_dialogues']:,} dialogues and {second} in "
        f"{human['second_dialogues']:,}, {which}: the comparison is unpaired."
    )


def metrics_table(document: dict[str, Any], updated: datetime | None) -> Table:
    """What every metric says of the two, what prefers the wrong one first."""
    first, second = (system["system"] for system in document["systems"])
    rows = []
    for one in sorted(document["metrics"], key=lambda metric: _rank_of(verdict(document, metric))):
        says = verdict(document, one)
        rows.append(
            Row(
                f"metric-{one['metric']}",
                {
                    "metric": Cell(one["metric"]),
                    "verdict": Cell(says, reason=one["difference"].get("reason", "")),
                    "difference": cell_of(one["difference"]),
                    "first": cell_of(one["first"]),
                    "second": cell_of(one["second"]),
                    "same": Cell(one["same_side"], reason=_why_no_side(one)),
                    "sides": Cell(one["sides"]),
                },
                badges=(
                    *(("misleads",) if says and says.startswith(WRONG) else ()),
                    *(() if one["higher_is_better"] else ("lower is better",)),
                    *(("submitted",) if "submitted" in one else ()),
                ),
                signature=one["signature"],
            )
        )
    things = "responses" if document["level"] == "turn" else "dialogues"
    return Table(
        id="pair-metrics",
        caption=f"What metrics say of {first} and {second}, {document['corpus']}",
        columns=(
            Column("metric", "Metric"),
            Column("verdict", "Compared with raters"),
            Column(
                "difference",
                "Difference",
                "estimate",
                help=f"Mean of {first} minus mean of {second}, 95 % interval and p over dialogues.",
            ),
            Column("first", f"A: {first}", "estimate", group="mean", detail=True),
            Column("second", f"B: {second}", "estimate", group="mean", detail=True),
            Column(
                "same",
                "Same side",
                "number",
                decimals=2,
                higher_is_better=True,
                help=f"Of the {things} where people and the metric both prefer one, the share "
                "where it is the same.",
            ),
            Column("sides", "of", "number", decimals=0, help=f"So many {things}.", detail=True),
        ),
        rows=tuple(rows),
        notes=(
            "Prefers: the 95 % interval of the difference leaves 0 out; without one, p is below "
            f"0.05. p: two-sided, {_test_text(document)}; not adjusted for the number of metrics, "
            "of which some prefer by chance.",
        ),
        signature=signature(document),
        updated=updated,
    )


def _test_text(document: dict[str, Any]) -> str:
    paired = {bool(one.get("is_paired", True)) for one in document["metrics"]} or {True}
    parts = {
        True: "systems exchanged in whole dialogues",
        False: "Welch's t over the dialogues of each system, unpaired",
    }
    return "; ".join(parts[one] for one in sorted(paired, reverse=True))


def _why_no_side(metric: dict[str, Any]) -> str:
    if not metric.get("is_paired", True):
        return "the two systems share too few dialogues"
    return "people and it prefer one system nowhere at once"


def verdict(document: dict[str, Any], metric: dict[str, Any]) -> str | None:
    """What the metric's preference is beside people's; None where it has none to speak of."""
    difference = metric["difference"]
    if difference["value"] is None:
        return None
    names = [system["system"] for system in document["systems"]]
    direction = 1 if metric["higher_is_better"] else -1
    if not difference.get("ci") and difference.get("p") is None:
        side = difference["value"] * direction
        return (
            f"leans to {names[0] if side > 0 else names[1]}, nobody can say how surely"
            if side
            else "ties them"
        )
    side, peoples = (
        _certain_side(difference) * direction,
        _certain_side(document["human"]["difference"]),
    )
    if document["human"]["difference"]["value"] is None:
        return f"prefers {names[0] if side > 0 else names[1]}" if side else "sees no difference"
    if not peoples:
        return (
            f"prefers {names[0] if side > 0 else names[1]}, people neither" if side else _ORDER[4]
        )
    if not side:
        return "does not see it"
    return (
        "agrees with people"
        if side == peoples
        else f"{WRONG}, {names[0] if side > 0 else names[1]}"
    )


def wrong_metrics(document: dict[str, Any]) -> list[str]:
    return [
        one["metric"]
        for one in document["metrics"]
        if (verdict(document, one) or "").startswith(WRONG)
    ]


def _certain_side(difference: dict[str, Any]) -> int:
    """Of the interval; where few dialogues agree to the digit and have none, of the test that
    exchanges them."""
    ends = difference.get("ci")
    if not ends:
        is_reauthenticated = difference.get("p") is not None and difference["p"] < 0.05
        return 0 if not is_reauthenticated else 1 if difference["value"] > 0 else -1
    return 1 if ends[0] > 0 else -1 if ends[1] < 0 else 0


def _rank_of(text: str | None) -> int:
    if text is None:
        return len(_ORDER) + 1
    return next(
        (place for place, start in enumerate(_ORDER) if text.startswith(start)), len(_ORDER)
    )


def _signed(value: float) -> str:
    return f"{MINUS if value < 0 else '+'}{written(abs(value), 2)}"


def _interval(difference: dict[str, Any], turned: bool = False) -> str:
    ends = difference.get("ci")
    if not ends:
        return ""
    low, high = (-ends[1], -ends[0]) if turned else ends
    return f" [{written(low, 2)}, {written(high, 2)}]"


def items_table(
    document: dict[str, Any], items: Sequence[ItemText], updated: datetime | None
) -> Table:
    """The items as a file: texts, people's means and every metric's scores."""
    rows = PairRows(document)
    measures = {by: rows.scores(by) for by in document["scores"]}
    people, raters = rows.scores(PEOPLE), document["rows"]["raters"]
    first, second = (system["system"] for system in document["systems"])
    metric_columns = [
        Column(f"{by} {side}", f"{by} {side}", "number")
        for by in measures
        for side in ("first", "second")
    ]
    return Table(
        id="system-pair",
        caption=f"{first} (first) and {second} (second)",
        columns=(
            Column("dialogue", "dialogue"),
            Column("turn", "turn", "number", decimals=0),
            *(
                Column(key, key.replace("_", " "))
                for key in ("first", "second", "context", "response_first", "response_second")
            ),
            *(
                Column(key, key, "number")
                for key in ("human_first", "human_second", "raters_first", "raters_second")
            ),
            *metric_columns,
        ),
        rows=tuple(
            Row(
                f"row-{item.row}",
                {
                    "dialogue": Cell(item.dialogue_id),
                    "turn": Cell(item.turn),
                    "first": Cell(first),
                    "second": Cell(second),
                    "context": Cell(
                        "\n".join(f"{speaker}: {text}" for speaker, text in item.turns[-1].context)
                    ),
                    "response_first": Cell(_joined([turn.first for turn in item.turns])),
                    "response_second": Cell(_joined([turn.second for turn in item.turns])),
                    "human_first": _number(people[0, item.row]),
                    "human_second": _number(people[1, item.row]),
                    "raters_first": Cell(raters[0][item.row]),
                    "raters_second": Cell(raters[1][item.row]),
                    **{
                        f"{by} {side}": _number(given[number, item.row])
                        for by, given in measures.items()
                        for number, side in enumerate(("first", "second"))
                    },
                },
            )
            for item in items
        ),
        signature=signature(document),
        updated=updated,
    )


def _number(value: float) -> Cell:
    return Cell(float(value), reason="no score")


def _joined(texts: Sequence[str | None]) -> str | None:
    given = [text for text in texts if text is not None]
    return "\n".join(given) if given else None
