"""Whether nobody waits: a service that tests what was pushed says so by ``CI``."""

from __future__ import annotations

import os
from collections.abc import Mapping

IS_LONG = os.environ.get("DIALEVAL_LONG") == "1"
"""Whether all is tried of which the gate tries a part: for nights."""


def is_ci(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("CI", "").lower() in ("true", "1")
