"""While a site is upgraded, workers of one release take up messages of the other."""

from __future__ import annotations

import pytest

from dialeval_site.celery import app

OF_0_2_0 = (
    "dialeval_site.tasks.send_password_reset",
    "dialeval_site.tasks.tell_former_address",
    "dialeval_site.tasks.sweep",
    "leaderboard.challenges.tasks.process",
    "leaderboard.challenges.tasks.sweep",
    "leaderboard.challenges.tasks.deliver",
    "leaderboard.tasks.analyse",
    "leaderboard.tasks.sweep",
    "workers.judges.tasks.try_prompt",
    "workers.tasks.compute",
    "workers.tasks.reply",
    "workers.tasks.sweep",
    "workers.trainings.tasks.train",
)


@pytest.mark.parametrize("name", OF_0_2_0)
def test_a_message_of_0_2_0_finds_its_task(name: str) -> None:
    app.loader.import_default_modules()
    assert name in app.tasks
