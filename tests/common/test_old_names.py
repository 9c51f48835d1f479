"""What a plug-in that was written for 0.2 imports is there still: the guide for authors named it."""

from __future__ import annotations

import annotations.estimates
import annotations.records
from annotations.formats.records import Utterance
from common.estimates import Undefined
from workers.encoders.encoder import encoder_for
from workers.inference.encoders import encoder
from workers.metrics import encoder_options, with_model
from workers.metrics.common import options


def test_a_plug_in_of_0_2_finds_what_it_imports() -> None:
    assert annotations.estimates.Undefined is Undefined
    assert annotations.records.Utterance is Utterance
    assert encoder_for is encoder.encoder_for
    assert encoder_options.MODEL is options.ENCODER
    assert encoder_options.SYSTEMS_AT_ONCE == options.ENCODER_SYSTEMS_AT_ONCE
    assert with_model.account_of is options.account_of
    assert with_model.missing_model is options.missing_model
