"""What a reader dropped or repaired, told in few sentences however much it is."""

from __future__ import annotations

from arena.errors import clip

_SHOWN = 5


class Notes:
    """Counts what was done, by kind, and keeps the first few cases of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._cases: dict[str, list[str]] = {}

    def add(self, what: str, case: object, under: str | None = None) -> None:
        """Note one case of `what`, a noun phrase and a participle: ``"empty labels skipped"``."""
        self._counts[what] = self._counts.get(what, 0) + 1
        cases = self._cases.setdefault(what, [])
        if len(cases) < _SHOWN:
            cases.append(clip(case, 60) + (f" under {clip(under, 60)}" if under else ""))

    def sentences(self) -> list[str]:
        """Return one sentence a kind, in the order of their first cases."""
        told = []
        for what, count in self._counts.items():
            more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
            told.append(f"{what} ({count}): {', '.join(self._cases[what])}{more}.")
        return told
