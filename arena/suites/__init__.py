"""Published benchmarks as suites over one gym, one file each.

To add one, add a module to this package:

    SUITES.register("mine")(Suite(title="...", source="jsonl", ..., evaluate=evaluate))
"""

from arena.suites.base import SUITES, Evaluation, Suite

__all__ = ["SUITES", "Evaluation", "Suite"]
