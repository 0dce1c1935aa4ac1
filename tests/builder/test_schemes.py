"""Corpora that a text names: made once, with the bytes of the command, and forgotten in time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers import contents

from arena import Corpus
from arena.errors import DataError, UnknownNameError
from corpus_builder import schemes
from corpus_builder.cli import main

NAME = "synthetic:seed=5,papers=40"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))


def test_it_has_the_bytes_that_the_command_writes(tmp_path):
    main(["build", "synthetic", "--seed", "5", "--papers", "40", "--output", str(tmp_path / "c")])
    made = Corpus.open(NAME)
    assert contents(made.directory) == contents(tmp_path / "c")
    before = (made.directory / "manifest.json").stat()
    again = Corpus.open("synthetic: papers=40, seed=5")
    assert again.directory == made.directory
    assert (made.directory / "manifest.json").stat().st_ino == before.st_ino  # made once


def test_who_comes_meanwhile_waits_and_it_is_made_once(monkeypatch):
    built, build = [], schemes.build
    monkeypatch.setattr(schemes, "build", lambda *given: built.append(1) or build(*given))
    with ThreadPoolExecutor(3) as pool:  # the lock is of a file: processes wait as threads do
        places = {corpus.directory for corpus in pool.map(Corpus.open, [NAME] * 3)}
    assert (len(places), built) == (1, [1])
    assert [*places.pop().parent.iterdir()] == [Corpus.open(NAME).directory]  # no lock is left


def test_the_oldest_are_removed(monkeypatch, tmp_path):
    first, second = (Corpus.open(f"synthetic:seed={seed},papers=20").directory for seed in (1, 2))
    os.utime(first, (1, 1))
    monkeypatch.setattr(schemes, "MOST_BYTES", 2 * sum(map(len, contents(second).values())))
    third = Corpus.open("synthetic:seed=3,papers=20").directory
    assert (first.exists(), third.exists()) == (False, True)


def test_names_and_options_that_do_not_exist(tmp_path, monkeypatch):
    for name, error, message in (
        ("synthetc:seed=1", UnknownNameError, "no corpus scheme named 'synthetc'.*'synthetic'"),
        ("synthetic:sed=1", DataError, "no option 'sed'. Did you mean 'seed'"),
        ("synthetic:seed", DataError, "'seed' is no NAME=VALUE"),
        ("synthetic:papers=3", DataError, "papers=3: give an integer from 20"),
    ):
        with pytest.raises(error, match=message):
            Corpus.open(name)
    monkeypatch.chdir(tmp_path)
    Path("odd:name").mkdir()
    with pytest.raises(Exception, match="contains no built corpus"):  # a directory comes first
        Corpus.open("odd:name")
