"""A battery of checks that every environment of this project must pass, one file each.

>>> from arena.check import check_environment                                  # doctest: +SKIP
>>> results = check_environment("mine:mine/Reviews-v0", "demo/world")           # doctest: +SKIP
>>> [result for result in results if not result.passed]                        # doctest: +SKIP
[]

To add one, add a module to this package:

    @CHECKS.register("titles")
    def titles(subject: Subject) -> str:
        ...
        return "what was looked at"
"""

from arena.check._subject import Subject
from arena.check.base import CHECKS, CheckError, Result, require
from arena.check.battery import check_environment

__all__ = ["CHECKS", "CheckError", "Result", "Subject", "check_environment", "require"]
