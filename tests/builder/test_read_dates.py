"""Dates of bibliographies: the latest that a text allows, and nothing guessed."""

from __future__ import annotations

import pytest

from arena.dates import parse_date
from arena.errors import DataError
from corpus_builder.readers.dates import read_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        # Reprints, copyrights, ranges: the latest.
        ("1987 [1962]", "1987"), ("2013, c2012", "2013"), ("1975/1931", "1975"),
        ("between 1981 and 1984", "1984"), ("2016/2018", "2018"), ("2003-11/2004-02", "2004-02"),
        ("2016-12-29/2017-01-03", "2017-01-03"), ("1994-97", "1997"), ("2018/19", "2019"),
        ("1999–00", "2000"), ("Winter 2007-08", "2008"), ("Fall 2012/2013", "2013"),
        ("2006-07", "2006-07"), ("15 Apr 2018 (Epub 2017 Nov 2)", "2018-04-15"),
        ("2012 (accessed 2019-03-04)", "2019-03-04"), ("03/2011-11/2011", "2011-11"),
        ("Oct 2008 - Feb 2009", "2009-02"), ("2008 Oct-2009 Feb", "2009-02"),
        ("June/July 2014", "2014-07"), ("2017/10//Oct/Nov2017", "2017-11"),
        ("30 May-2 June 2013", "2013-06-02"), ("July 8-12, 2013", "2013-07-12"),
        ("2013-03/04", "2013-04"), ("2013/03-04", "2013-04"), ("2013-03-30/31", "2013-03-31"),
        ("2013-03-30/04-02", "2013-04-02"), ("fév.-avr. 2013", "2013-04"), ("dic. 2013", "2013-12"),
        ("Jul./Set. 2013", "2013"), ("abril-junho 2013", "2013-06"),
        # Decades, centuries, seasons: their end.
        ("1970s", "1979"), ("1980's", "1989"), ("187-", "1879"), ("[192?]", "1929"),
        ("195x", "1959"), ("19uu", "1999"), ("1800s", "1899"), ("Summer 2011", "2011"),
        # One day, however it is written.
        ("20180902", "2018-09-02"), ("201809", "2018-09"), ("20180231", "2018-02"),
        ("2018-09-02T21:30:00-07:00", "2018-09-02"), ("2018.09.02", "2018-09-02"),
        ("Sun, 02 Sep 2018 21:30:00 GMT", "2018-09-02"), ("2-Sep-2018", "2018-09-02"),
        ("2. September 2018", "2018-09-02"), ("2nd of September 2018", "2018-09-02"),
        ("14 février 2009", "2009-02-14"), ("5 de outubro de 2009", "2009-10-05"),
        ("2009年7月4日", "2009-07-04"), ("2009年7月", "2009-07"),
        ("2009. 07. 04.", "2009-07-04"), ("２００９", "2009"), ("2009.0", "2009"),
        ("2009///", "2009"),
        # Where the text is not clear, less is said.
        ("02/09/2018", "2018"), ("24.12.2018", "2018"), ("01.02.2018-03.04.2018", "2018"),
        ("2009.5", "2009"), ("elokuu 2009", "2009"), ("marraskuu 2009", "2009"),
        ("vol. 8, no. 2, June 2009", "2009-06"), ("2009-W07", "2009"), ("2009-045", "2009"),
        ("June 2009, Marburg", "2009-06"),
        # No date: nothing is guessed.
        *((text, None) for text in (
            "in press", "n.d.", "forthcoming", "0000", "0000-00-00", "44 BC", "1650 BCE", "-1650",
            "Sep-97", "9/2/97", "'97", "43345", "43345.0", "1535846400", "after 2009", "2009/..",
            "2009-", "2009–", "[2009- ]", "2009-present", "2009 to date", "2009/open", "from 2009",
            "20181345", "平成21年",
        )),
    ],
)  # fmt: skip
def test_dates_never_reach_into_the_past(text: str, date: str | None) -> None:
    assert read_date(text) == date


def test_eight_digits_are_a_day() -> None:
    assert str(parse_date("20180902")) == str(parse_date(20180902)) == "2018-09-02"
    for value in ("20180231", 20181301, "201809", "2018-0902", "20180902 ", 2018_09_02_1):
        with pytest.raises(DataError):
            parse_date(value)
