from __future__ import annotations

import json

from common.tables import table_to_json
from tests.common.tables.example import TABLE

DOCUMENT = json.loads(table_to_json(TABLE))


def test_a_defined_cell_has_value_interval_and_p() -> None:
    assert DOCUMENT["rows"][0]["cells"]["r"] == {"value": 0.25, "ci": [0.1, 0.4], "p": 0.0004}


def test_an_undefined_cell_has_null_and_a_reason() -> None:
    assert DOCUMENT["rows"][1]["cells"]["r"] == {"value": None, "reason": "no turn level"}


def test_a_cell_that_a_row_lacks_is_undefined_too() -> None:
    assert DOCUMENT["rows"][0]["cells"]["rank"] == {"value": None, "reason": "not available"}


def test_the_signature_and_the_badges_travel_along() -> None:
    assert (DOCUMENT["signature"], DOCUMENT["rows"][2]["badges"]) == (
        "corpus:1|seed:0",
        ["simulated"],
    )
