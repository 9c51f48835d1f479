"""What a plug-in that was written for 0.2 imports is there still: the guide for authors named it."""

from __future__ import annotations

import annotations.estimates
import annotations.records
from annotations.formats.records import Utterance
from common.estimates import Undefined


def test_a_plug_in_of_0_2_finds_what_it_imports() -> None:
    assert annotations.estimates.Undefined is Undefined
    assert annotations.records.Utterance is Utterance
