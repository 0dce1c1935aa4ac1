"""Prompt templates: text files with fields ``$name`` and no other syntax.

``$name`` and ``${name}`` are fields, ``$$`` is a dollar sign, no expression is evaluated. A value
is data and is not scanned for fields, so ``$topic`` in a title remains. A value cannot open or
close the tags of the template, nor those of answers: in ``</topic>`` within a value the ``<``
becomes ``&lt;``.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from arena.errors import DataError, clip, did_you_mean

ANSWER_TAGS = ("Decomposition", "Queries", "topic", "typology")
"""Tags of the prompts in appendix C of ResearchArena."""

_TAG = re.compile(r"<\s{0,5}/?\s{0,5}([A-Za-z][\w-]{0,40})[^<>]{0,100}>")


class Fields(NamedTuple):
    """Names of the fields that a template must have, and that it may have."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class Template:
    """One prompt; messages call it `name`."""

    def __init__(self, text: str, fields: Fields, name: str = "template") -> None:
        self.text, self.name = text, name
        self._known = (*fields.required, *fields.optional)
        used = set()
        for match in string.Template.pattern.finditer(text):
            field, line = match["named"] or match["braced"], text.count("\n", 0, match.start()) + 1
            if field not in (None, *self._known) or match["invalid"] is not None:
                problem = f"no field ${field}.{did_you_mean(field, self._known)}"
                raise DataError(
                    f"{name} line {line}: {problem if field else 'a $ alone.'} Write $$ for a "
                    "dollar sign."
                )
            used.add(field)
        for field in fields.required:
            if field not in used:
                raise DataError(f"{name}: the field ${field} is missing; the prompt needs it.")
        tags = {match[1].lower() for match in _TAG.finditer(text)}
        tags |= {tag.lower() for tag in ANSWER_TAGS}
        names = "|".join(sorted(map(re.escape, tags)))
        self._tags = re.compile(rf"<(?=\s{{0,5}}/?\s{{0,5}}(?:{names})(?![\w-]))", re.IGNORECASE)

    def fill(self, **values: str | int) -> str:
        """Return the prompt with `values` in place of its fields.

        >>> Template("On <topic>$topic</topic>?", Fields(("topic",))).fill(topic="$a </topic>")
        'On <topic>$a &lt;/topic></topic>?'
        """
        for name in self._known:
            if name not in values:
                raise DataError(f"{self.name}: the value of ${name} is missing.")
        for name, value in values.items():
            if name not in self._known:
                raise DataError(f"{self.name}: no field {name}.{did_you_mean(name, self._known)}")
            if type(value) not in (str, int):
                raise DataError(f"{self.name}: {name}={clip(value)} is not a text.")
        texts = {name: self._tags.sub("&lt;", str(value)) for name, value in values.items()}
        return string.Template(self.text).substitute(texts)

    def messages(self, **values: str | int) -> list[dict[str, str]]:
        """Return the prompt as a single message of the user."""
        return [{"role": "user", "content": self.fill(**values)}]


def load_templates(
    wanted: Mapping[str, Fields], package: Path, own: str | Path | None = None
) -> dict[str, Template]:
    """Return templates by name: ``NAME.txt`` of a user's own folder, or else of the package's.

    Templates that several agents share may stand next to the package's folder.
    """
    own = None if own is None else Path(str(own))
    files = {} if own is None else {path.stem: path for path in sorted(own.glob("*.txt"))}
    if own is not None and not files:
        takes = ", ".join(f"{name}.txt" for name in sorted(wanted))
        raise DataError(f"prompts={str(own)!r} contains no template. It takes {takes}.")
    for name, path in files.items():
        if name not in wanted:
            raise DataError(
                f"{str(path)!r} is not a template of this agent.{did_you_mean(name, wanted)}"
            )
    templates = {}
    for name, fields in wanted.items():
        built_in = [folder / f"{name}.txt" for folder in (package, package.parent)]
        path = next((path for path in built_in if path.is_file()), built_in[0])
        templates[name] = read_template(files.get(name, path), fields)
    return templates


def read_template(path: str | Path, fields: Fields) -> Template:
    """Return the template in a file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the template {str(path)!r} cannot be read: {error}.") from None
    return Template(text, fields, str(path))
