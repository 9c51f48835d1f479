"""When the host of a virtual machine took a core away, from what /proc/stat says of each."""

from __future__ import annotations

from bench.stolen import Look, Stretch, stretches


def looks(*stolen: tuple[float, ...]) -> list[Look]:
    """A look each 0.1 s."""
    return [Look(number / 10, cores) for number, cores in enumerate(stolen)]


def test_a_core_that_is_gone_for_looks_in_a_row_is_one_stretch() -> None:
    # The second core loses nothing, 0.1 s of 0.1, 0.06 of 0.1 twice, then nothing: gone from 0.1 to
    # 0.4.
    assert stretches(looks((0, 0), (0, 0), (0, 0.1), (0, 0.16), (0, 0.22), (0, 0.22))) == [
        Stretch(0.1, 0.4)
    ]


def test_what_is_counted_when_the_core_is_back_began_before() -> None:
    """0.4 s within one look of 0.1 s, at 0.5: gone from 0.1 on."""
    found = stretches(looks((0.0,), (0.0,), (0.0,), (0.0,), (0.0,), (0.4,), (0.4,)))
    assert [(round(one.begin, 9), one.end) for one in found] == [(0.1, 0.5)]


def test_a_core_that_is_half_there_counts_as_there() -> None:
    assert stretches(looks((0.0,), (0.04,), (0.08,), (0.12,), (0.16,))) == []


def test_a_short_stretch_is_none() -> None:
    assert stretches(looks((0.0,), (0.1,), (0.1,), (0.1,))) == []


def test_two_cores_that_are_gone_at_once_are_two() -> None:
    found = stretches(looks((0.0, 0.0), (0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.3, 0.4), (0.3, 0.4)))
    assert [round(one.seconds, 9) for one in found] == [0.3, 0.4]


def test_one_that_has_not_ended_counts_as_far_as_was_looked() -> None:
    assert stretches(looks((0.0,), (0.1,), (0.2,), (0.3,))) == [Stretch(0.0, 0.3)]


def test_an_answer_meets_a_stretch_that_it_waited_through_or_in() -> None:
    stretch = Stretch(1.0, 2.0)
    met = [
        stretch.meets(*answer)
        for answer in ((0.5, 0.9), (0.5, 1.1), (1.2, 1.3), (0.5, 2.5), (2.1, 2.2))
    ]
    assert met == [False, True, True, True, False]
