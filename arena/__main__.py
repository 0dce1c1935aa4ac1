"""``python -m arena``."""

import sys

from researcharena import arena

sys.exit(arena())
