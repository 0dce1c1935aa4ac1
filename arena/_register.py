"""Tell Gymnasium the environments' ids; ``import arena`` does it."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

ENVIRONMENTS = {
    "arena/Discovery-v0": "arena.envs.discovery:Discovery",
    "arena/Selection-v0": "arena.envs.selection:Selection",
    "arena/Organization-v0": "arena.envs.organization:Organization",
    "arena/Survey-v0": "arena.envs.survey:WholeSurvey",
}


def register_all() -> None:
    """Register every environment that is not registered yet."""
    for name, kind in ENVIRONMENTS.items():
        if name not in registry:
            # Gymnasium's own wrapper around every make() checks what the tests here have checked,
            # and stays broken when a first reset() is refused.
            register(
                id=name,
                entry_point=f"{kind}Env",
                vector_entry_point=f"{kind}VectorEnv",
                disable_env_checker=True,
            )
