"""What a plug-in that was written for 0.2 imports (the guide for authors named it) is there still."""

from __future__ import annotations


def test_a_plug_in_of_0_2_finds_undefined() -> None:
    from annotations.estimates import Undefined as former
    from common.estimates import Undefined

    assert former is Undefined
