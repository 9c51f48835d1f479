"""``python deploy/answers.py health|ready``: exit 0 where the web server of this machine answers
200."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request

name = (
    os.environ.get("ALLOWED_HOSTS", "localhost")
    .split(",")[0]
    .strip()
    .removeprefix(".")
    .replace("*", "localhost")
)
address = f"http://127.0.0.1:{os.environ.get('PORT') or 8000}/{sys.argv[1]}/"
try:
    with urllib.request.urlopen(
        urllib.request.Request(address, headers={"Host": name}), timeout=3
    ) as answer:
        sys.exit(answer.status != 200)
except OSError as problem:
    said = problem.read().decode() if isinstance(problem, urllib.error.HTTPError) else str(problem)
    sys.exit(f"{address}: {said}")
