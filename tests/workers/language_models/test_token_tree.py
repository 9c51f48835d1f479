import numpy as np

from workers.inference.language_models.token_tree import Scored, in_rows


def test_what_sequences_begin_with_alike_is_in_the_row_once():
    two = [Scored((1, 2, 3, 9), 2), Scored((1, 2, 4, 9), 2)]
    (row,) = in_rows(two, 100)
    assert row.tokens == [1, 2, 3, 4]
    assert row.depths == [0, 1, 2, 2]


def test_a_node_sees_itself_and_its_ancestors_only():
    (row,) = in_rows([Scored((1, 2, 3, 9), 2), Scored((1, 2, 4, 9), 2)], 100)
    seen = row.mask().astype(int).tolist()
    assert seen == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]]


def test_each_scored_token_is_predicted_by_the_node_before_it():
    sequences = [Scored((1, 2, 3, 9), 2), Scored((1, 2, 4, 9), 1)]
    (row,) = in_rows(sequences, 100)
    for place, nodes in zip(row.sequences, row.predictors, strict=True):
        one = sequences[place]
        assert [row.tokens[node] for node in nodes] == list(one.tokens[one.first - 1 : -1])
        assert [row.depths[node] for node in nodes] == list(
            range(one.first - 1, len(one.tokens) - 1)
        )


def test_a_row_holds_no_more_than_the_budget_and_every_sequence_is_in_one():
    drawn = np.random.default_rng(0).integers(0, 3, size=(40, 8))
    sequences = [Scored(tuple(map(int, tokens)), 1) for tokens in drawn]
    rows = list(in_rows(sequences, 20))
    assert max(len(row.tokens) for row in rows) <= 20
    assert sorted(place for row in rows for place in row.sequences) == list(range(40))


def test_a_sequence_beyond_the_budget_has_a_row_of_its_own():
    rows = list(in_rows([Scored(tuple(range(10)), 1), Scored((0, 1), 1)], 3))
    assert [row.sequences for row in rows] == [[1], [0]]
