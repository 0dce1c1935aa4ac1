"""Integrations: the same episodes in other frameworks, one file each.

An integration gives the calls of a framework to a session of `arena.session`, and returns what the
session answers in the framework's form. One that serves has a function with
``@integration("name")``, which is the command ``arena serve NAME``.
"""

from __future__ import annotations

from collections.abc import Callable

from arena.plugins import Registry

INTEGRATIONS: Registry[Callable[..., None]] = Registry(
    "integration", packages=["arena.serving"], optional=True
)
integration = INTEGRATIONS.register
"""Decorator of the function that serves: ``@integration("name")``."""
