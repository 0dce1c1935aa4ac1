"""Real reports of five systems: all are read; the citations of five were worked out by hand."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from arena.report import PaperFinder, read_report, resolve
from arena.tasks import TaskSet

# Sections, and what each cited statement in them cites, in order, as a person reads it.
BY_HAND = {
    "AutoSurvey/Vision_Transformers.md": (
        ["1.1", "1.2", "1.3"],
        "1;2;3;4;5;6 7;8;9;10;11;12;13;11;14;15;16;17;18;19;20;14;1;21",
    ),
    "SurveyForge/Vision_Transformers.md": (
        ["1 ", "2.1", "2.2"],
        "1;2;3;3;4;5 6;1 7;8;9;1;2;2;3;10;11;12;13;14;15;16;16;17;18;19",
    ),
    "LLMxMR-V2/Hallucination_in_Large_Language_Models.md": (
        ["1.", "2. ", "2.1"],
        "3 4 5 14 18 20 21 28 30 37 40;9 18 34 37;16 28;5 16 19 30 36;31 37 38;4 5 18 25 29 31;"
        "2 10 36;10;1 7 9 14 17 29 38;2 4 11 14 20 22 28 30;14 25 36;7 14 26 29 34 37;"
        "16 18 38;16;4 14 19 24;14 19 24;14 19 24;5 18;10 16 30;23 25 36;2 8 11;2 8 11 19;"
        "2 8 11 19;2 8 11 19 28;8 19;5 14;20;5;9 29;16 18;14 16;"
        "16;18;5;18;14 19 24;14 19 24;20;29;10 19 24;10 19 24;25 36;5;14;16",
    ),
    "OpenAI_DeepResearch/Reinforcement_Learning_for_Large_Language_Models.md": (
        ["1 ", "2 ", "3 ", "4", "5 ", "6 ", "7 "],
        "1 2;3;4 3;5;5;6;8;6;10;7;7;6 11;6;12 13;14;15;16;17;18;19;20;1;3;21;6;6;"
        "6;6;6;6 9;6;6;12 15;14;15;15;17;17;19;18;20;10;22;"
        "7;12 13;6 16;18;22;20;16 23;23;6 24;25;16;16;16;6;16;6 7;14 18;18 20;"
        "1 3 10 6 7 12 14 16 17 18 20",
    ),
    "HumanSurvey/Hallucination_in_Large_Language_Models.md": (
        ["Abstract", "1 ", "2", "3 "],
        "zhao 2023c;zhang 2023b,ouyang 2022,fernandes 2023,openai 2023a,touvron 2023b,openai 2023b;"
        "adlakha 2023,liu 2022,min 2023,muhlgay 2023,li 2023a,kaddour 2023;umapathi 2023;ji 2023;"
        "ouyang 2022,ren 2023,sun 2022;url:github.com/HillZhang1999/llm-hallucination-survey;"
        "radford 2019,chowdhery 2022,touvron 2023a;vaswani 2017;"
        "bickel 2005,pauls 2011,mikolov 2010,nallapati 2017,chen 2017;devlin 2019,radford 2019;"
        "devlin 2019,raffel 2020,lewis 2020a;qiu 2020,min 2021,li 2022b;"
        "brown 2020,wei 2022,ouyang 2022;openai 2023a,openai 2023b,touvron 2023b;ji 2023;"
        "lee 2019,maynez 2020,pu 2023;liu 2023d,shi 2023a;ji 2023;ji 2023;penedo 2023;"
        "maynez 2020,wang 2020,xiao 2021,bang 2023,chang 2023;tamkin 2022;"
        "lin 2021,lee 2022,min 2023,yu 2023a,li 2023a,muhlgay 2023;yu 2023a;navigli 2023;gao 2022;"
        "guerreiro 2023b,dale 2023,dziri 2021,durmus 2020,kryscinski 2020,maynez 2020,zhong 2021;"
        "cui 2021,liu 2022,devlin 2019;"
        "lin 2021,lee 2022,min 2023,yu 2023a,li 2023a,muhlgay 2023",
    ),
}


read_once = cache(read_report)


@pytest.fixture(scope="session")
def reports(real_data) -> Path:
    folder = real_data.papers.parent / "reports"
    if not folder.is_dir():
        pytest.skip(f"the real reports are not here: {str(folder)!r} is missing")
    return folder


@pytest.mark.parametrize("name", BY_HAND)
def test_citations_are_those_that_a_person_reads(reports, name):
    sections, expected = BY_HAND[name]
    split = "," if "," in expected else " "
    report = read_once(reports / name)
    wanted = {
        place
        for place, section in enumerate(report.sections)
        if any(section.heading.startswith(start) for start in sections)
    }
    read = [s for s in report.statements if s.section in wanted]
    assert len(read) >= 40
    # In some lists one entry has many numbers, which stand before it: the first is its key.
    numbers = {
        number: reference.key
        for reference in report.references
        if "exports" in report.styles
        for number in re.match(r"[\d ]*", reference.text)[0].split()
    }
    assert [list(s.citations) for s in read if s.citations] == [
        list(dict.fromkeys(numbers.get(mark, mark) for mark in group.split(split)))
        for group in expected.split(";")
    ]


STYLES = {
    "AutoSurvey": {"numbers"},
    "HumanSurvey": {"numbers", "author-year", "links"},
    "LLMxMR-V2": {"numbers"},
    "OpenAI_DeepResearch": {"exports", "numbers"},
    "SurveyForge": {"numbers"},
}


@pytest.mark.slow
def test_all_are_read(reports):
    files = sorted(reports.glob("*/*.md"))
    assert len(files) == 45
    for file in files:
        report = read_once(file)
        assert report.title and len(report.sections) >= 5
        assert set(report.styles) <= STYLES[file.parent.name]
        cited = report.cited
        # An export repeats few addresses; one report of these has no list.
        assert len(cited) >= 8 and sum(bool(s.citations) for s in report.statements) >= 30
        if file.name.startswith("Retrieval") and "exports" in report.styles:
            assert not any(reference.text for reference in cited)
        elif "exports" not in report.styles and not file.name.startswith("Large"):
            assert sum(not reference.text for reference in cited) <= 12


def test_cited_papers_are_found(reports, real_corpus):
    finder = PaperFinder(TaskSet(real_corpus).paper_names())
    report = resolve(read_once(reports / "HumanSurvey" / "Vision_Transformers.md"), finder)
    assert sum(reference.paper is not None for reference in report.cited) >= 117
