"""Labels of a survey: how to recognise them, and how to exchange them in a copy of a corpus."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arena.testing.contract import Subject
from arena.testing.walk import collected, parsed, strings, values_of, walk

_MANIFEST, _GOLD, _MIND_MAPS = "manifest.json", "tasks/gold.parquet", "tasks/mind_maps.parquet"
_OTHER_MAP = {
    "label": "Other",
    "children": [{"label": "Quite another heading"}, {"label": "And a third one"}],
}
_FEW = 3  # papers or headings that a container may share with the labels by chance


class Secret:
    """Recognises the labels of one survey among the values that an agent can reach.

    Args:
        survey: Id of the survey.
        subject: Environment under check.

    Attributes:
        shown: Ids that results have shown so far.
    """

    def __init__(self, survey: str, subject: Subject) -> None:
        self.shown: set[str] = set()
        self._seen: list[str] = []
        self._said: set[str] = set()
        self._lists: list[set[str]] = []
        self._added: dict[str, set[str]] = {}
        task = subject.facts.surveys[survey]
        self._gains = task.gains
        self._gold = set(self._gains)
        self._influential = {paper for paper, gain in self._gains.items() if gain == 2}
        self._headings = {heading for heading in task.headings[1:] if len(heading) > 3}
        self._free, self._begun = subject.gives_references, subject.begins_with_papers
        self._passed = {v for _, v in walk(subject.options, "") if isinstance(v, str)}
        # An id as short as "p4" may stand in a text by chance.
        long = [re.escape(paper) for paper in sorted(self._gold) if len(paper) > 5]
        self._in_text = re.compile(rf"(?<!\w)(?:{'|'.join(long)})(?!\w)") if long else None

    def saw(self, observation: Mapping[str, Any]) -> None:
        """Record what the agent was shown."""
        result = parsed(observation["result"])
        self.shown.update(values_of("id", result))
        self._seen.extend(text for _, text in strings(result))

    def said(self, action: Any) -> None:
        """Record what the agent wrote, which may come back to it."""
        tool = action["tool"]
        for _, value in walk(action["arguments"], ""):
            if isinstance(value, str):
                self._said.add(value)
            elif isinstance(value, list) and (own := collected(value)):
                self._added[tool] = self._added.get(tool, set()) | own  # as papers are selected
                self._lists += [own, self._added[tool]]

    def in_value_before_search(self, path: str, value: Any) -> str | None:
        """Name the label in `value` at the reset, when any gold id is a label."""
        if isinstance(value, str) and value not in self._passed and not self._begun:
            if value in self._gold:
                return f"the gold paper {value!r}"
            if self._in_text is not None and (match := self._in_text.search(value)):
                return f"the gold paper {match[0]!r} in a text"
        return self.in_value(path, value)

    def in_value(self, path: str, value: Any) -> str | None:
        """Name the label in `value`: all gold, the gold among the papers shown, or headings."""
        if isinstance(value, str):
            return self._in_text_value(value)
        texts = collected(value)
        if not texts or texts <= self._passed or texts in self._lists:
            return None
        if (headings := self._headings_in(texts)) is not None:
            return headings
        if len(texts) < _FEW or not texts <= self._gold:
            return None
        if isinstance(value, Mapping) and dict(value) == self._gains:
            return "the gain of every gold paper"
        if texts == self._influential != self._gold:
            return f"which {len(texts)} papers are influential"
        if self._free:
            return None
        if texts == self._gold != self.shown:
            return f"all {len(texts)} gold papers"
        if texts == self._gold & self.shown != self.shown:
            return f"which {len(texts)} of {len(self.shown)} papers shown are gold"
        return None

    def _headings_in(self, texts: set[str]) -> str | None:
        common = texts & self._headings - self._said
        if len(common) >= 2 and 2 * len(common) >= len(self._headings):
            return f"{len(common)} of {len(self._headings)} headings of the mind-map"
        return None

    def _in_text_value(self, text: str) -> str | None:
        inside = parsed(text) if text[:1] in ("{", "[") else None
        if inside is not None:
            return self._headings_in({text for _, text in strings(inside)})
        # Single words such as "Methods" stand in many texts, and the subjects of papers in titles.
        names = {h for h in self._headings - self._said if " " in h and h in text}
        names = {name for name in names if not any(name in seen for seen in self._seen)}
        if len(names) >= _FEW and 2 * len(names) >= len(self._headings):
            return f"{len(names)} of {len(self._headings)} headings of the mind-map in a text"
        return None


def relabelled(
    corpus: Path, target: Path, rng: np.random.Generator, *, keep_references: bool
) -> None:
    """Make a copy of a corpus that differs in its labels alone.

    Half of the references of each survey are removed, at least one remains; those that remain are
    influential where they were not. Every mind-map is replaced. All other files are links.

    Args:
        corpus: Directory of a built corpus.
        target: Directory that does not exist.
        rng: Draws the references.
        keep_references: Keep every reference, and exchange only which are influential.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    (target / "tasks").mkdir(parents=True)
    source = corpus.resolve()
    for path in (*source.iterdir(), *(source / "tasks").iterdir()):
        other = target / path.relative_to(source)
        if path.name != "tasks" and path.relative_to(source).as_posix() != _MANIFEST:
            other.symlink_to(path)
    changed: dict[str, Any] = {}
    gold = pq.read_table(source / _GOLD)
    rows, seen = [], set()
    for row in gold.to_pylist():
        first = row["status"] == "gold" and row["survey"] not in seen
        if keep_references or row["status"] != "gold" or first or rng.integers(2):
            rows.append(row | {"influential": not row["influential"]})
            if row["status"] == "gold":
                seen.add(row["survey"])
    changed[_GOLD] = pa.Table.from_pylist(rows, schema=gold.schema)
    maps = pq.read_table(source / _MIND_MAPS)
    text = json.dumps(_OTHER_MAP)
    changed[_MIND_MAPS] = pa.Table.from_pylist(
        [row | {"mind_map": row["mind_map"] and text} for row in maps.to_pylist()],
        schema=maps.schema,
    )
    manifest = json.loads((source / _MANIFEST).read_bytes())
    for name, table in changed.items():
        (target / name).unlink()
        pq.write_table(table, target / name)
        data = (target / name).read_bytes()
        manifest["files"][name] = {
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
    (target / _MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
