"""Whoever may ask for a metric may write any path into its options: what it says of a path, and
what it opens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workers.metrics.common.configuration import parse
from workers.metrics.common.fed import FollowUpsError, read_follow_ups
from workers.metrics.common.named_files import named_file, text_of
from workers.metrics.common.unieval_questions import QuestionsError, questions_of
from workers.metrics.common.word_vectors import WordVectorsError, word_vectors_at

NOWHERE = ["~nobody-of-that-name/file", "x" * 260, "a\0b", "/dev/zero"]
OPTIONS = [
    "bertscore_f1[model={}]",
    "bertscore_f1[baseline={}]",
    "greedy_matching[vectors={}]",
    "unieval[model=m,questions={}]",
    "fed_fluent[followups={}]",
]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", NOWHERE)
def test_a_path_that_leads_nowhere_makes_a_metric_unavailable(option: str, name: str) -> None:
    metric, _, rest = option.partition("[")
    key = rest.split("{")[0].split(",")[-1].rstrip("=")
    missing = parse(metric).metric.missing
    assert missing is not None
    chosen = {one.name: one.default for one in parse(metric).metric.options} | {key: name}
    assert missing({**chosen, "model": chosen["model"] or "m"}) != ""


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert named_file(str(pipe)) is None
    with pytest.raises(FollowUpsError, match="there is no such file"):
        read_follow_ups(str(pipe))
    with pytest.raises(QuestionsError, match="there is no such file"):
        questions_of(str(pipe))


def test_no_more_is_read_than_may_be_there(tmp_path: Path) -> None:
    """/proc's files say that they hold 0 bytes: what counts is what is read."""
    file = tmp_path / "text"
    file.write_text("12345")
    assert text_of(str(file), 5) == "12345"
    with pytest.raises(ValueError, match="larger than 4 bytes"):
        text_of(str(file), 4)


def test_word_vectors_do_not_show_what_a_file_of_another_kind_holds(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_text("password hunter2\n")
    with pytest.raises(WordVectorsError) as refused:
        word_vectors_at(str(file)).look_up(["password"])
    assert "line 1" in str(refused.value)
    assert "hunter2" not in str(refused.value)
