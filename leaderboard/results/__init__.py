"""Statistics as stored rows: pages look at what is there, workers compute what is missing or out of
date.

A ``Kind`` of statistic says how it is computed from a corpus version and parameters, and which data
it depends on. A page calls ``look``: it gets the newest stored answer, and whether it is of the
present data; it never computes. Where there is none yet, it shows ``pages.waiting_page``. Whoever
withdraws something from view calls ``drop``: answers that hold it are not shown any more, not even
as older ones.
"""

from leaderboard.results.kinds import Kind, all_kinds, json_form, registered
from leaderboard.results.look import (
    Look,
    look,
    states_of,
    stored_answers,
    stored_rows,
    whole,
)
from leaderboard.results.rows import drop

__all__ = [
    "Kind",
    "Look",
    "all_kinds",
    "drop",
    "json_form",
    "look",
    "registered",
    "states_of",
    "stored_answers",
    "stored_rows",
    "whole",
]
