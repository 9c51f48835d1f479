"""An app for one-time codes, as a phone has one: RFC 6238 from its text, not from the library that
the site uses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import struct
import time


def code_of(key_in_letters: str, at: float | None = None) -> str:
    """The six figures that the app shows at a time, in seconds since 1970; without one, now."""
    key = base64.b32decode(key_in_letters.replace(" ", ""))
    step = int((time.time() if at is None else at) // 30)
    digest = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    place = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFF_FFFF
    return f"{number % 1_000_000:06d}"


def key_on(page: str) -> str:
    """The key that the set-up page shows in letters."""
    (found,) = re.findall(r'<code class="key">([A-Z2-7 ]+)</code>', page)
    return found


def recovery_codes_on(page: str) -> list[str]:
    return re.findall(r"<li><code>([a-z2-9-]{14})</code></li>", page)
