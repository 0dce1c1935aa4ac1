"""Tell Gymnasium the environments' ids; Gymnasium calls this itself when it is imported."""

from __future__ import annotations

ENVIRONMENTS = {
    "arena/Discovery-v0": "arena.envs.discovery:DiscoveryEnv",
    "arena/Selection-v0": "arena.envs.selection:SelectionEnv",
}


def register_all() -> None:
    """Register every environment that is not registered yet."""
    # While Gymnasium calls this, its package is only half imported: take no more than this.
    from gymnasium.envs.registration import register, registry

    for name, entry_point in ENVIRONMENTS.items():
        if name not in registry:
            register(id=name, entry_point=entry_point)
