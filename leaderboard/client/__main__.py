"""``python -m leaderboard.client`` is the command ``dialeval``."""

import sys

from leaderboard.client.main import main

if __name__ == "__main__":
    sys.exit(main())
