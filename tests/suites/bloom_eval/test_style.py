"""Supplementary metrics: copied runs of ten words, readability by equation 12, tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena import cli
from arena.metrics import METRICS
from arena.report import read_report
from arena_suites.bloom_eval import SurveyPair, article_of, compare
from arena_suites.bloom_eval.base import SUPPLEMENTARY
from arena_suites.bloom_eval.metrics.style import syllables

TEN = "one two three four five six seven eight nine ten"


def found(name: str, human: str, generated: str):
    articles = [article_of(read_report(text), text) for text in (human, generated)]
    return compare(SurveyPair(*articles), [name])[name]["finding"]


def test_runs_of_ten_words_that_both_have():
    # 12 words have three runs of ten, from the first, second and third; experts have two of them.
    human = (
        f"# T\n\n## A\n\nAs known, {TEN} [1] eleven.\n\n# References\n\n[1] Ames. On nets. 2020."
    )
    made = found("overlap", human, f"# T\n\n## B\n\n{TEN.upper()}, eleven twelve.")
    assert made.scores == {"": pytest.approx(2 / 3)}
    assert {row[0].split()[0] for row in made.rows} == {"one", "two"}
    assert found("overlap", human, "# T\n\nNine words are in this text, not ten.").scores == {
        "": None
    }
    assert METRICS.get("overlap").lower_is_better is None


def test_readability_by_hand():
    # "The cat sat. The dog ran." 3 words a sentence, 1 syllable and 3 letters a word:
    #   0.39 * 3 + 11.8 - 15.59 = -2.62, a grade below 0.
    assert found("readability", "The cat sat. The dog ran.", "The cat sat.").scores == {"": None}
    # Experts: 10 words, 1 sentence, 20 syllables (2 each), 60 letters (6 each), none of three:
    #   Flesch-Kincaid 3.9 + 23.6 - 15.59 = 11.91; fog 0.4 * 10 = 4; Coleman 35.28 - 2.96 - 15.8.
    # Generated: 5 words, one of them of 4 syllables and 10 letters, 12 syllables, 34 letters:
    #   1.95 + 28.32 - 15.59 = 14.68; 0.4 * (5 + 20) = 10; 39.984 - 5.92 - 15.8 = 18.264.
    human = " ".join(["planet"] * 10).capitalize() + "."
    generated = "Planet planet planet planet evaluation."
    made = found("readability", human, generated.replace("evaluation", "generation"))
    assert [row[1:] for row in made.rows] == [
        ("11.91", "14.68"), ("4.00", "10.00"), ("16.52", "18.26")
    ]  # fmt: skip
    expected = (11.91 / 14.68 + 4 / 10 + 16.52 / 18.264) / 3
    assert made.scores == {"": pytest.approx(expected)}
    assert found("readability", human, human).scores == {"": 1.0}


@pytest.mark.parametrize(
    ("word", "count"),
    [("the", 1), ("cited", 2), ("used", 1), ("table", 2), ("models", 2), ("media", 3),
     ("quality", 3), ("effectively", 4), ("social", 2), ("state-of-the-art", 4), ("X", 1)],
)  # fmt: skip
def test_syllables(word, count):
    assert syllables(word) == count


def test_supplementary_scores_are_in_no_mean(tmp_path: Path, capsys):
    for side in ("human", "run"):
        folder = tmp_path / side / "reports" if side == "run" else tmp_path / side
        folder.mkdir(parents=True)
        for topic in ("a", "b"):
            (folder / f"{topic}.md").write_text(f"# T\n\n## Nets\n\n{TEN}.\n")
    (tmp_path / "run" / "timing.json").write_text('{"seconds": 30.0}')
    words = ["--human", tmp_path / "human", "--generated", tmp_path / "run"]
    names = ["--metrics", "scons,overlap,tokens"]
    command = ["evaluate", "bloom-eval", *map(str, words), *names]
    assert cli.main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    # two runs of #, one T, one Nets, ten words and a full stop
    assert result["mean"] == {"scons": 1, "overlap": 1, "tokens_estimated": 15}
    assert SUPPLEMENTARY not in result["tiers"]
    assert result["settings"]["seconds"] == 15.0
    assert cli.main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (" ".join(line.split()) for line in lines if "overlap" in line)
    assert line == "supplementary overlap 1.0000 2 of 2 0.0002 0.0004 0.0001 0.0009"
    assert lines[-1] == "The run took 15.0 s a survey."
