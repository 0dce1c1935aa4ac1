"""Tell Gymnasium the environments' ids; ``import arena`` does it."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

ENVIRONMENTS = {
    "arena/Discovery-v0": "arena.envs.discovery:DiscoveryEnv",
    "arena/Selection-v0": "arena.envs.selection:SelectionEnv",
}


def register_all() -> None:
    """Register every environment that is not registered yet."""
    for name, entry_point in ENVIRONMENTS.items():
        if name not in registry:
            register(id=name, entry_point=entry_point)
