from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.workers.metrics.judges import Answers, Desk
from workers.judges.core import clients


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], Desk]:
    """The desk of this test, which answers by the function given."""

    def use(answers: Answers) -> Desk:
        made = Desk(answers)
        monkeypatch.setattr(clients, "_at_hand", made)
        return made

    return use
