"""Two systems side by side: sentences, the table of metrics and the file of items, made from a
stored answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import MINUS, written, written_p
from leaderboard.answers.system_pair import MetricDifference, SystemPair
from leaderboard.pages.system_pair.query import ItemText
from leaderboard.pages.system_pair.rows import PEOPLE, PairRows

WRONG = "prefers the wrong one"
_ORDER = (WRONG, "prefers", "does not see it", "agrees with people", "sees no difference either")


def signature(document: SystemPair) -> str:
    human = document.human
    way = "all" if human.is_exact else f"{human.permutations}"
    how = (
        f"cluster-robust-t95-over-dialogues|test:paired-permutation-of-dialogues|permutations:{way}"
    )
    if not human.is_paired:
        how = "cluster-robust-welch-t95-over-dialogues|test:unpaired-welch-t"
    return (
        f"corpus:{document.corpus}|corpus_version:{document.corpus_version}|"
        f"aspect:{document.aspect}|level:{document.level}|n:{human.items}|"
        f"dialogues:{human.dialogues}|ci:{how}|seed:{document.seed}"
    )


def finding(document: SystemPair) -> tuple[str, str]:
    """(which is better and by how much, how often); ("", why) where people say nothing of the
    two."""
    first, second = document.names
    human = document.human
    value, ends = human.difference.value, human.difference.ci
    if value is None:
        return (
            "",
            (
                f"People rated nothing that both answered ({document.aspect}); metrics alone "
                "compare them."
            ),
        )
    things = "responses" if document.level == "turn" else "dialogues"
    often = _unpaired_text(document) or (
        f"On {human.items:,} {things} of {human.dialogues:,} dialogues {first} is preferred "
        f"{human.wins:,} times, {second} {human.losses:,} times; {human.ties:,} tie."
    )
    size = f"{_signed(abs(value))[1:]} points of {document.aspect}{_interval(ends, value < 0)}"
    p = "" if human.difference.p is None else f", {written_p(human.difference.p)}"
    if not ends and value:
        ahead = first if value > 0 else second
        return f"{ahead} is ahead by {size}, without an interval{p}.", often
    if not ends:
        return f"{first} and {second} are level: {size}, without an interval.", often
    if ends[0] > 0 or ends[1] < 0:
        better, worse = (first, second) if value > 0 else (second, first)
        return f"{better} is better than {worse} by {size}{p}.", often
    return (
        f"{first} and {second} do not differ significantly: {_signed(value)} "
        f"points{_interval(ends)}{p}.",
        often,
    )


def _unpaired_text(document: SystemPair) -> str:
    """Whose dialogues are compared; "" of a paired comparison."""
    human = document.human
    if human.is_paired:
        return ""
    first, second = document.names
    shared = human.first_dialogues + human.second_dialogues - human.dialogues
    which = "which are not shared" if not shared else f"of which only {shared:,} are shared"
    return (
        f"{first} was rated in {human.first_dialogues:,} dialogues and {second} in "
        f"{human.second_dialogues:,}, {which}: the comparison is unpaired."
    )


def metrics_table(document: SystemPair, updated: datetime | None) -> Table:
    """What every metric says of the two, what prefers the wrong one first."""
    first, second = document.names
    rows = []
    for one in sorted(document.metrics, key=lambda metric: _rank_of(verdict(document, metric))):
        says = verdict(document, one)
        rows.append(
            Row(
                f"metric-{one.metric}",
                {
                    "metric": Cell(one.metric),
                    "verdict": Cell(says, reason="" if says else one.difference.reason),
                    "difference": estimate_cell(one.difference),
                    "first": estimate_cell(one.first),
                    "second": estimate_cell(one.second),
                    "same": Cell(one.same_side, reason=_why_no_side(one)),
                    "sides": Cell(one.sides),
                },
                badges=(
                    *(("misleads",) if says and says.startswith(WRONG) else ()),
                    *(() if one.higher_is_better else ("lower is better",)),
                    *(("submitted",) if one.submitted else ()),
                ),
                signature=one.signature,
            )
        )
    things = "responses" if document.level == "turn" else "dialogues"
    return Table(
        id="pair-metrics",
        caption=f"What metrics say of {first} and {second}, {document.corpus}",
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


def _test_text(document: SystemPair) -> str:
    paired = {one.is_paired for one in document.metrics} or {True}
    parts = {
        True: "systems exchanged in whole dialogues",
        False: "Welch's t over the dialogues of each system, unpaired",
    }
    return "; ".join(parts[one] for one in sorted(paired, reverse=True))


def _why_no_side(metric: MetricDifference) -> str:
    if not metric.is_paired:
        return "the two systems share too few dialogues"
    return "people and it prefer one system nowhere at once"


def verdict(document: SystemPair, metric: MetricDifference) -> str | None:
    """What the metric's preference is beside people's; None where it has none to speak of."""
    difference, by_people = metric.difference, document.human.difference
    if difference.value is None:
        return None
    first, second = document.names
    direction = 1 if metric.higher_is_better else -1
    if not difference.ci and difference.p is None:
        gap = difference.value * direction
        preferred = first if gap > 0 else second
        return f"leans to {preferred}, nobody can say how surely" if gap else "ties them"
    side, peoples = _certain_side(difference) * direction, _certain_side(by_people)
    preferred = first if side > 0 else second
    if by_people.value is None:
        return f"prefers {preferred}" if side else "sees no difference"
    if not peoples:
        return f"prefers {preferred}, people neither" if side else _ORDER[4]
    if not side:
        return "does not see it"
    return "agrees with people" if side == peoples else f"{WRONG}, {preferred}"


def wrong_metrics(document: SystemPair) -> list[str]:
    return [
        one.metric for one in document.metrics if (verdict(document, one) or "").startswith(WRONG)
    ]


def _certain_side(difference: Estimate) -> int:
    """Of the interval; where few dialogues agree to the digit and have none, of the test that
    exchanges them."""
    if difference.value is None:
        return 0
    if difference.ci:
        low, high = difference.ci
        return 1 if low > 0 else -1 if high < 0 else 0
    if difference.p is None or difference.p >= 0.05:
        return 0
    return 1 if difference.value > 0 else -1


def _rank_of(text: str | None) -> int:
    if text is None:
        return len(_ORDER) + 1
    return next(
        (place for place, start in enumerate(_ORDER) if text.startswith(start)), len(_ORDER)
    )


def _signed(value: float) -> str:
    return f"{MINUS if value < 0 else '+'}{written(abs(value), 2)}"


def _interval(ci: tuple[float, float] | None, turned: bool = False) -> str:
    if not ci:
        return ""
    low, high = (-ci[1], -ci[0]) if turned else ci
    return f" [{written(low, 2)}, {written(high, 2)}]"


def items_table(document: SystemPair, items: Sequence[ItemText], updated: datetime | None) -> Table:
    """The items as a file: texts, people's means and every metric's scores."""
    rows = PairRows(document)
    measures = {by: rows.scores(by) for by in document.scores}
    people, raters = rows.scores(PEOPLE), document.rows.raters
    first, second = document.names
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
