"""How many calls a process has under way at once, by where they go."""

from __future__ import annotations

import pytest

from workers.inference.language_models.server import PACKAGED_MODEL_NAME, PARALLEL_CONVERSATIONS
from workers.judges.clients import limits_for
from workers.judges.core.endpoints import SiteEndpoint

RUN = SiteEndpoint("http://127.0.0.1:1/v1", PACKAGED_MODEL_NAME, "k")


@pytest.mark.parametrize("site", [SiteEndpoint(), RUN])
def test_the_packaged_model_is_asked_no_more_than_its_server_has_conversations(
    site: SiteEndpoint, settings
) -> None:
    """What waits inside it times out on a busy machine, and is sent again for nothing."""
    settings.LLM_CONCURRENCY = 64
    assert limits_for(PACKAGED_MODEL_NAME, site).at_once == PARALLEL_CONVERSATIONS
    settings.LLM_CONCURRENCY = 2
    assert limits_for(PACKAGED_MODEL_NAME, site).at_once == 2


def test_another_model_is_asked_as_often_as_the_setting_says(settings) -> None:
    settings.LLM_CONCURRENCY = 64
    assert (
        limits_for("gpt-4", SiteEndpoint("https://api.example.org/v1", "gpt-4", "k")).at_once == 64
    )
