"""Topics with a name: a small file that says which ones, of which corpus, with which labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.errors import CorpusError, DataError, clip
from arena.kit.files import read_json, schema_error, sha256_json, write_json

SUFFIX = ".tasks.json"
"""Ends the names of such files, which ``arena-corpus freeze`` writes."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}@[a-z0-9._-]{1,40}")
_FORM = {"name": str, "corpus": str, "tasks": str, "topics": dict, "sha256": str}


class FrozenTopics(tuple[str, ...]):
    """Ids of topics, which `choose_topics` takes of one corpus with one set of labels alone."""

    content: dict[str, Any]
    """``name``; the hashes of ``corpus`` and ``tasks``, labels included; ``topics``: id -> day."""

    @classmethod
    def freeze(
        cls, name: str, identity: Mapping[str, str], days: Mapping[str, str]
    ) -> FrozenTopics:
        """Return topics, id -> day, under a name with a version, such as ``surveys@2026.11``.

        `identity` is `TaskSet.identity`: the hashes of ``corpus`` and ``tasks``.
        """
        if not _NAME.fullmatch(name):
            raise DataError(f"--name {clip(name)}: write NAME@VERSION, such as surveys@2026.11.")
        return cls._of({"name": name, **identity, "topics": dict(days)})

    @classmethod
    def read(cls, path: str | Path) -> FrozenTopics:
        """Read what `write` wrote; DataError if it is anything else, or was edited."""
        if not Path(path).is_file():
            raise DataError(
                f"there is no file {str(path)!r}; `arena-corpus freeze` writes such files."
            )
        try:
            content = read_json(Path(path))
            why = schema_error(content, _FORM)
        except ValueError as error:
            why = clip(str(error))
        if why is None and content.pop("sha256") != sha256_json(content):
            why = "it was edited"
        if why is not None:
            raise DataError(f"{str(path)!r} has no frozen topics: {why}. Get the file again.")
        return cls._of(content)

    @classmethod
    def _of(cls, content: dict[str, Any]) -> FrozenTopics:
        frozen = cls(content["topics"])
        frozen.content = content
        return frozen

    @property
    def identity(self) -> dict[str, str]:
        """The name, and the hash of all that it stands for, which manifests record."""
        return {"name": self.content["name"], "sha256": sha256_json(self.content)}

    def write(self, path: Path) -> None:
        """Write a file that `read` reads."""
        write_json(path, self.content | {"sha256": sha256_json(self.content)})

    def check(self, identity: Mapping[str, str]) -> None:
        """Raise CorpusError if the topics are not of that `TaskSet.identity`."""
        for what, sha256 in identity.items():
            if self.content[what] != sha256:
                raise CorpusError(
                    f"{self.content['name']!r} is of {what} {self.content[what][:12]}, these are "
                    f"{sha256[:12]}. Name the corpus, and the --tasks, that it was frozen from."
                )
