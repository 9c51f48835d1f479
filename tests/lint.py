"""``python -m tests.lint``: ``make lint`` as a stage of the suite."""

from __future__ import annotations

import subprocess
import sys

if __name__ == "__main__":
    sys.exit(subprocess.run(["make", "--no-print-directory", "lint"], check=False).returncode)
