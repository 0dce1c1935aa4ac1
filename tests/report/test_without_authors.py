"""Entries without authors: the longest known title that an entry contains is the work."""

from __future__ import annotations

import json

import pytest

import arena
from arena import cli
from arena.report import PaperFinder, PaperName, Reference, read_report, resolve, unfound

TITLES = [
    "Bees that dance in the dark",
    "A survey of honey and wax",
    "How do drones find queens?",
    "The sleep of bumble-bees",
    "Dances of stingless bees",
]
FORMS = [
    "{}. 2018.", "{}. NeurIPS 2017.", "**{}**. 2017.", "{}. NAACL, 2019.", "{} (NAACL 2019).",
    "{}, NeurIPS 2017", "{}, in Proc. of Insects, pp. 3-9", "2020. {}",
    "*{}*, arXiv preprint, 2021.",
]  # fmt: skip


def cited(entries):
    text = "# Bees\n\nThey dance " + "".join(f"[{n}]" for n in range(1, len(entries) + 1)) + ".\n\n"
    lines = (f"[{n}] {entry}\n" for n, entry in enumerate(entries, 1))
    return text + "## References\n\n" + "".join(lines)


def papers(finder, *entries):
    return [each.paper for each in resolve(read_report(cited(entries)), finder).references]


@pytest.mark.parametrize("form", FORMS)
def test_entries_without_authors_are_found(form):
    finder = PaperFinder([PaperName(f"b{n}", title) for n, title in enumerate(TITLES)])
    found = papers(finder, *(form.format(title.upper()) for title in TITLES))
    assert found == ["b0", "b1", "b2", "b3", "b4"]


def test_the_longest_title_counts_and_of_equal_ones_the_first():
    finder = PaperFinder(
        [
            PaperName("short", "wax of the bees"),
            PaperName("long", "honey and wax of the bees"),
            PaperName("one", "why bees do so"),
            PaperName("two", "why bees do so"),
            PaperName("three", "bees do so too"),
            PaperName("few", "Bees and wasps"),
        ]
    )
    found = papers(
        finder,
        "On honey and wax of the bees, Apidology 2011",
        "On wax of the bees, Apidology 2011",  # it is in the title of another paper
        "On why bees do so, too, Apidology 2011",  # eleven letters each, in other words
        "On bees and wasps, Apidology 2011",  # three words
        "On why beeswax does so, Apidology 2011",  # not at a boundary
    )
    assert found == ["long", None, "one", None, None]


def test_a_title_that_is_known_is_not_looked_for_in_the_entry():
    finder = PaperFinder([PaperName("a", "Bees"), PaperName("b", "Proceedings of all the insects")])
    entry = Reference("1", "Lee, A. Bees. Proceedings of all the insects, 2001.", "Bees")
    assert finder.find(entry) == "a"
    assert finder.find(entry._replace(title="Bees and ants")) == "b"
    assert finder.find(entry._replace(title="")) == "b"
    assert finder.find(entry._replace(title="", text="")) is None


def test_what_was_mostly_not_found_is_said():
    report = read_report(cited(["Bees. 2001.", "Ants. 2002.", "Wasps. 2003."]))
    assert unfound(report) == "0 of 3 listed entries were found"
    first, second, _ = report.references
    one = report._replace(references=(first._replace(paper="p"), *report.references[1:]))
    assert unfound(one) == "1 of 3 listed entries were found"
    two = (first._replace(paper="p"), second._replace(paper="q"), report.references[2])
    assert unfound(report._replace(references=two)) == unfound(read_report("Bees [@a].")) == ""


NUMBERED = cited(["Bees. 2001.", "Ants. 2002.", "Wasps. 2003."])


class Numbered(arena.Agent):
    """Cites by numbers, which this gym does not read."""

    def act(self, observation):
        return {"tool": "submit_report", "arguments": {"text": NUMBERED}}


def test_runs_scores_and_comparisons_say_it(synthetic, tmp_path, capsys):
    run = tmp_path / "run"
    summary = arena.run(synthetic, "report", Numbered, run, topics=2)
    remark = "0 of 3 listed entries were found"
    assert [row["remark"] for row in summary["per_topic"].values()] == [remark] * 2
    said = f"Warning: {remark} (the first such remark; 2 of 2 answers have one)."
    page = tmp_path / "page.html"
    assert cli.main(["rescore", str(run), "--corpus", str(synthetic)]) == 0
    assert said in capsys.readouterr().out
    assert cli.main(["compare", f"a={run}", "--html", str(page), "--corpus", str(synthetic)]) == 0
    assert f"a: {said}" in capsys.readouterr().out
    assert f"a: {said}" in page.read_text()
    assert cli.main(["compare", f"a={run}", "--json"]) == 0
    assert f"a: {said}" in json.loads(capsys.readouterr().out)["notes"]
