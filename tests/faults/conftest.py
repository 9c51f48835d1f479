"""Sites whose processes are killed and started again and again."""

from __future__ import annotations

import pytest

from tests.site import Site


@pytest.fixture
def site(site: Site) -> Site:
    """Without METEOR's word lists: every worker would load them before it is ready, two seconds of
    processor time."""
    (site.home / "nltk_data").unlink(missing_ok=True)
    return site
