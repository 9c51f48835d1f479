"""What ``check --deploy`` warns of."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks


@pytest.mark.parametrize(
    ("address", "is_warned_of"),
    [
        ("redis://broker.example:6379/0", True),
        ("rediss://10.0.0.7/0", True),
        ("redis://:quietriver@broker.example:6379/0", False),
        ("redis://localhost:6379/0", False),
        ("redis://127.0.0.1:6379/0", False),
        ("redis://[::1]:6379/0", False),
        ("folder://localhost//", False),
    ],
)
def test_a_redis_on_the_network_without_a_password_is_warned_of(
    address: str, is_warned_of: bool, settings
) -> None:
    settings.CELERY_BROKER_URL = address
    found = run_checks(include_deployment_checks=True)
    assert ("dialeval.W001" in {one.id for one in found}) is is_warned_of
    assert "dialeval.W001" not in {one.id for one in run_checks()}
