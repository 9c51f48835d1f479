import pytest

from workers.metrics.common.responses import copied_share, copies

TOLD = ["I like to walk my dog in the park.", "What do you do on Sundays?"]


@pytest.mark.parametrize(
    ("response", "share"),
    [
        ("i like to walk my dog in the park", 1.0),
        ("well, i like to walk", 4 / 5),  # one run of four: i like to walk
        ("my dog likes the park", 0.0),  # words in common, but no four in a row
        ("to walk my", 1.0),  # shorter than a run: as a whole
        ("my dog", 0.0),  # two words repeat by chance
        ("", 0.0),
    ],
)
def test_share_of_words_in_runs_that_were_said(response, share):
    assert copied_share(response, TOLD) == pytest.approx(share)


def test_a_run_does_not_go_on_from_one_text_to_the_next():
    assert copied_share("in park what do", TOLD) == 0.0


def test_from_half_of_its_words_on_a_response_copies():
    assert copies("I like to walk, a b c d", TOLD)
    assert not copies("I like to walk, b c d e f", TOLD)
