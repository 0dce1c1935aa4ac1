"""Data sets that the library `datasets` reads: the source named ``dataset``."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import yaml

from arena.corpus import layout
from arena.dates import GUESSED, STAND_IN
from arena.errors import DataError, clip, did_you_mean
from arena.kit.files import json_value, sha256_file
from arena.kit.lazy import require
from arena.kit.terminal import progress
from arena.tasks import PROMPT_LEVELS
from corpus_builder.files import Belonging
from corpus_builder.records import PAPER_KEYS, SURVEY_KEYS, nearest_key
from corpus_builder.sources.base import LocatedRecord, source

Row = dict[str, Any]
_TIME = re.compile(r"[T ]\d\d:\d\d.*")
_SAID = {"year": 4, "month": 7}  # characters of a date of that precision


@source("dataset")
class DataSet:
    """A data set: what `arena-corpus export dataset` wrote, or any other with a row a paper.

    Args:
        data (DIR|NAME): Folder of a data set, or its name on the Hugging Face hub.
        map (KEY=COLUMN,...): Columns of other names, as in title=Title,date=Date.
        config (NAME): Configuration that has the papers, read alone (default: papers, with what
            belongs to them).
        split (NAME): Split to read (default: the only one).
    """

    example: ClassVar[str] = "exported"

    def __init__(
        self,
        data: str,
        /,
        *,
        map: tuple[str, ...] | None = None,
        config: str | None = None,
        split: str | None = None,
    ) -> None:
        require("the source dataset", "datasets")
        from datasets import get_dataset_config_names, logging

        logging.set_verbosity(logging.CRITICAL)  # what it says is in the message
        if (Path(data) / layout.MANIFEST).is_file():
            raise DataError(f"{data!r} is a built corpus, which needs no building.")
        if Path(data).is_file():
            raise DataError(f"{data!r} is a file. Name the folder that has it, and no other files.")
        # A folder called csv is not the reader of CSV.
        self._data = os.path.abspath(data) if Path(data).is_dir() else data  # noqa: PTH100
        self._split, self._columns = split, _columns(map or ())
        self._files: dict[str, str | None] = {}
        with self._readable():
            configs = get_dataset_config_names(self._data)
        whole = config is None and not map and "papers" in configs
        self._config = config or ("papers" if "papers" in configs else None)
        self._beside = configs if whole else []

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper with its citations and sections, in the order of the rows."""
        named = {"id": "id", "title": "title"} | self._columns
        cited = Belonging("citing", self._beside_papers("citations", "citing", "cited"))
        texts = Belonging("paper_id", self._beside_papers("full_texts", "paper_id", "text"))
        rows = progress(self._rows(self._config, named.values()), desc="papers", unit="paper")
        for number, row in enumerate(rows, 1):
            record = {key: row.pop(column) for key, column in named.items()}
            record |= {name: value for name, value in row.items() if name not in record}
            record.pop("searchable", None)  # the build decides
            _resolve(record)
            if isinstance(text := record.get("sections"), str):
                record["sections"] = [{"text": text}]
            if isinstance(field := record.get("fields"), str):
                record["fields"] = [field]
            if found := cited.of(record["id"]):
                record["references"] = [
                    {"id": each["cited"], "influential": each.get("influential")} for each in found
                ]
            if found := texts.of(record["id"]):
                record["sections"] = found
            yield LocatedRecord(record, str(self._config or "papers"), number)
        cited.end()
        texts.end()

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every topic with its labels."""
        labels = Belonging("topic_id", self._beside_papers("qrels", "topic_id", "paper_id"))
        maps = Belonging("topic_id", self._beside_papers("mindmaps", "topic_id", "mind_map"))
        for number, record in enumerate(self._beside_papers("topics", "id", "title", "date"), 1):
            _resolve(record)
            prompts = {level: record.pop(f"prompt_{level}", None) for level in PROMPT_LEVELS}
            record["prompts"] = {level: text for level, text in prompts.items() if text}
            record["references"] = [
                {"id": each["paper_id"], "influential": each.get("influential")}
                for each in labels.of(record["id"])
            ]
            for row in maps.of(record["id"]):
                for key in ("mind_map", "outline"):  # other texts count as unreadable
                    row[key] = json_value(row.get(key)) or row.get(key)
                record |= {key: row[key] for key in row.keys() & SURVEY_KEYS}
            yield LocatedRecord(record, "topics", number)
        labels.end()
        maps.end()

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and the licence that a README states."""
        folder, readme = Path(self._data), Path(self._data) / "README.md"
        about: dict[str, Any] = {"config": self._config, "map": self._columns}
        if readme.is_file() and (text := readme.read_text("utf-8")).startswith("---\n"):
            with self._readable():
                metadata = yaml.safe_load(text.split("---\n")[1]) or {}
            licence = metadata.get("license_name", metadata.get("license"))
            about["licence"] = licence if licence != "unknown" else None
        return {
            "source": "dataset",
            "from": folder.resolve().name if folder.is_dir() else self._data,
            "files": [{"name": n, "sha256": h} for n, h in sorted(self._files.items())],
            **{name: value for name, value in about.items() if value},
        }

    def _beside_papers(self, name: str, *columns: str) -> Iterator[Row]:
        """Yield the rows of another configuration of an exported data set, or nothing."""
        if name in self._beside:
            yield from self._rows(name, columns)

    def _rows(self, config: str | None, needed: Collection[str]) -> Iterator[Row]:
        """Yield the rows of a configuration, which has the columns `needed`, as they are read."""
        from datasets import load_dataset_builder

        place, number = f"{self._data!r}, {config or 'the data'}", 0
        with self._readable():
            builder = load_dataset_builder(self._data, config)
            files = builder.config.data_files
            if hasattr(builder.config, "batch_size"):  # or whole row groups are read ahead
                builder.config.batch_size = 64
            if self._split is None and len(files) > 1:
                raise DataError(f"{place}: name a --split: {', '.join(map(str, files))}.")
            split = self._split or str(next(iter(files)))
            for number, row in enumerate(builder.as_streaming_dataset(split)):
                for column in needed if number == 0 else ():
                    if column not in row:
                        raise DataError(
                            f"{place}: no column {column!r}. It has {clip(', '.join(row), 200)}; "
                            "--map KEY=COLUMN names the one that is meant."
                        )
                yield row
        for file in files[split]:  # of the hub their addresses have the commit
            if Path(file).is_file():
                name = os.path.relpath(os.path.realpath(file), os.path.realpath(self._data))
                self._files[name] = sha256_file(file)
            else:
                self._files[file] = None

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what goes wrong in `datasets` into one line."""
        from datasets.exceptions import DatasetsError

        try:
            yield
        except DataError:
            raise
        except (DatasetsError, OSError, ValueError, pa.ArrowException, yaml.YAMLError) as error:
            why = clip(" ".join(str(error).split()).rstrip("."), 300)
            raise DataError(
                f"{self._data!r} cannot be read as a data set: {why}. Name a folder with files "
                "such as Parquet or CSV, or a data set of the hub."
            ) from None


def _columns(pairs: Collection[str]) -> dict[str, str]:
    """Return key -> column of texts ``KEY=COLUMN``."""
    columns = {}
    for text in pairs:
        key, equals, column = text.partition("=")
        if not equals or not column:
            raise DataError(f"--map {clip(text)}: write KEY=COLUMN, as in title=Title,date=Date.")
        if key not in PAPER_KEYS:
            hint = did_you_mean(nearest_key(key, PAPER_KEYS) or key, PAPER_KEYS)
            raise DataError(f"--map {clip(text)}: papers have no key {clip(key)}.{hint}")
        columns[key] = column
    return columns


def _resolve(record: Row) -> None:
    """Give a record its date as precise as it was said, without a time of day."""
    date, precision = record.get("date"), record.pop("date_precision", None)
    if isinstance(date, str | dt.date):
        day = _TIME.sub("", str(date))
        record["date"] = day[: _SAID.get(precision, len(day))]
        record["date_guessed"] = precision == GUESSED or record.get("date_guessed")
        record |= {"date_stands_in": True} if precision == STAND_IN else {}
    elif isinstance(date, float) and date.is_integer():  # a year of a CSV file that lacks some
        record["date"] = int(date)
