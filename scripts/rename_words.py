# ruff: noqa: E501, D
"""Rename the words of the project, once: survey -> topic, world -> synthetic and the others.

    python scripts/rename_words.py [ROOT]

Rules over names and files that are found by pattern, so they apply to a tree that has moved on.
What a rule must not touch (papers that are surveys, prompts, texts, ids) is hidden from it first.
The rows of `TABLES` are applied in order. ``--check`` prints what is left, and writes nothing.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(next((a for a in sys.argv[1:] if not a.startswith("-")), "."))
_SELF = "scripts/rename_words.py"

# Files ---------------------------------------------------------------------------------------

NEVER = (  # their bytes stay
    _SELF, "CHANGELOG.md", "LICENSE", "CITATION.cff", "*.png", "*.pdf", "*.gz", "*.npz",
    "*prompts/*.txt", "*rubric.txt", "*errors.txt", "*/judges/rules.yaml", "*.tsv", "*.jsonl",
    "*published.json", "docs/mind-map*.svg", "docs/card*.svg", "requirements/*.txt", "docs/renamed.md",
)  # fmt: skip
PAPER = (  # where "survey" is a paper; only names of arena are renamed
    "corpus_builder/*", "tests/builder/*", "tests/conftest.py", "tests/release_*.py",
    "tests/toy_release.py", "tests/select_helpers.py", "arena/suites/*/*", "arena/suites/re*",
    "arena/suites/_l*", "plugins/arena_suites/*", "tests/suites/*", "tests/plugins/suites/*",
    "examples/report_references.py", "examples/mind_map_scores.py", "benchmarks/simulate.py",
    "benchmarks/network.py", "arena/text/*", "arena/mindmap/_*", "arena/configs/s2orc.yaml",
    "arena/configs/openalex.yaml", "*configs/world*.yaml", "*configs/synthetic*.yaml",
    "docs/surveys.md", "docs/building.md", "docs/releases.md", "docs/corpus-format.md",
    "docs/published.md", "docs/literature-worlds.md", "docs/library.md", "docs/bloom-eval.md",
    "docs/differences.yaml", "docs/taxobench.md", "docs/reportbench.md", "docs/results/*", "docs/example/*",
    "arena/corpus/*", "pyproject.toml", "tests/mindmap/*", "tests/report/*", "tests/metrics/*",
    "arena/report/*", "tests/test_text.py", "tests/test_cleaning.py", "tests/data/*",
)  # fmt: skip
PAPER_BUT = (
    "plugins/arena_suites/judging/*",
    "plugins/arena_suites/experiments/*",
    "plugins/arena_suites/commands/*",
    "plugins/arena_suites/verification/*",
    "plugins/arena_suites/configs/*",
    "tests/suites/judging/*",
    "tests/suites/test_experiment*",
    "tests/suites/experiments/*",
    "tests/suites/verification/*",
    "tests/suites/test_statements*",
    "*arena_suites/__init__.py",
    "*suites/_evaluation.py",
    "*data/table.py",
)
TEXTS = (".py", ".md", ".yaml", ".yml", ".toml", ".html", ".js", ".css", ".json", ".ipynb", ".txt",
         ".svg", ".in", ".cfg", ".sh", "")  # fmt: skip


def files() -> list[str]:
    """Return the tracked text files that rules may change."""
    found = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return [
        f for f in found
        if f and Path(f).suffix in TEXTS and not _any(f, NEVER) and (ROOT / f).is_file()
    ]  # fmt: skip


def _any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


# Rewriting -----------------------------------------------------------------------------------


class Text:
    """A file's text, of which parts can be hidden from rules."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self._hidden = name, text, []  # type: ignore[var-annotated]

    def hide(self, *patterns: str, flags: int = 0) -> None:
        """Keep what matches as it is until `shown`; a group `k` hides that group alone."""
        for pattern in patterns:
            self.text = re.sub(pattern, self._hide, self.text, flags=flags)

    def _hide(self, match: re.Match[str]) -> str:
        if "k" in match.re.groupindex:
            start, (a, b) = match.start(), match.span("k")
            whole = match.group()
            return (
                whole[: a - start] + self._kept(whole[a - start : b - start]) + whole[b - start :]
            )
        return self._kept(match.group())

    def _kept(self, part: str) -> str:
        self._hidden.append(part)
        return f"\ue000{len(self._hidden) - 1}\ue001"

    def shown(self) -> str:
        """Return the text with all that was hidden."""
        text = self.text
        while "\ue000" in text:
            text = re.sub("\ue000(\\d+)\ue001", lambda m: self._hidden[int(m[1])], text)
        return text

    def sub(self, pattern: str, new: str | Callable[[re.Match[str]], str], flags: int = 0) -> None:
        """Replace what matches."""
        self.text = re.sub(pattern, new, self.text, flags=flags)

    def words(self, **renamed: str) -> None:
        """Replace whole words."""
        self.sub(rf"\b({'|'.join(renamed)})\b", lambda m: renamed[m[1]])

    def names(self, renamed: dict[str, str], docs: bool = True) -> None:
        """Replace names of Python: tokens, those in braces of f-strings, and quoted by backticks."""
        if not self.name.endswith(".py"):
            return
        some = "|".join(renamed)
        if not re.search(rf"\b(?:{some})\b", self.text):
            return
        braces = re.compile(rf"(?<=\{{)[^{{}}\n]*\b(?:{some})\b[^{{}}\n]*(?=\}})")
        name = re.compile(rf"(?<!\w)(?:{some})(?!\w)")

        def new(match: re.Match[str]) -> str:
            return renamed[match.group()]

        starts = [0, 0]  # of lines, which count from 1
        for line in self.text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        edits = []
        for kind, string, (row, column) in _tokens(self.text):
            if kind == tokenize.NAME and string in renamed:
                edits.append((starts[row] + column, string, renamed[string]))
            elif kind == tokenize.STRING:
                changed = string
                if re.match(r"(?i)r?f", string):
                    changed = braces.sub(lambda m: name.sub(new, m.group()), string)
                if docs:
                    quoted = (
                        rf"(?m)(?:(?<=`)|^( {{4,16}}))({some})(?=[`.]|: |, \w+: | \([A-Z]+\): )"
                    )
                    changed = re.sub(quoted, lambda m: (m[1] or "") + renamed[m[2]], changed)
                if changed != string:
                    edits.append((starts[row] + column, string, changed))
        for start, old, changed in reversed(edits):
            assert self.text.startswith(old, start), (self.name, old)
            self.text = self.text[:start] + changed + self.text[start + len(old) :]
        listed = re.compile(rf"(?<=[\"'])(?:{some})(?=[\"'])")
        self.sub(r"(?m)^__all__ = \[[^\]]*\]", lambda m: listed.sub(new, m[0]))


def _tokens(text: str) -> Iterator[tuple[int, str, tuple[int, int]]]:
    """Yield tokens of Python; where hidden parts leave a bracket open, up to the end."""
    try:
        for kind, string, start, _, _ in tokenize.generate_tokens(
            io.StringIO(text, newline="\n").readline
        ):
            yield kind, string, start
    except tokenize.TokenError:
        return


_DOCSTRINGS = {  # after the first quotes
    'What an agent is: it receives':
        'The class of agents: one receives',
    'What an agent knows of a paper; the abstract':
        'A paper as an agent knows it; the abstract',
    'What a kind of answer is, and all kinds by name.':
        'Kinds of answers: their base class, and all of them by name.',
    'What a survey needs to be scored.':
        'The labels that a survey needs to be scored.',
    'What pages call such an answer; by default its name.':
        'The word of pages for such an answer; by default its name.',
    'What people want to do -> the commands for it, for the help.':
        'Aims of people -> the commands for them, for the help.',
    'What the commands ``arena`` and ``arena-corpus`` share:':
        'Parts of the commands ``arena`` and ``arena-corpus``:',
    'What an episode shows of digests: a heading':
        'The digests that an episode shows: a heading',
    'What is opened is what was built: files are compared':
        'The integrity of a corpus: files are compared',
    'What every encoder provides.':
        'The base class of encoders.',
    "What a step returns, in Gymnasium's order.":
        "The result of a step, in Gymnasium's order.",
    'What an environment scores and pays its episodes by; `encoder`':
        'The metrics and rewards of an environment; `encoder`',
    'What all episodes of an environment share, and':
        "The shared state of an environment's episodes, and",
    'What a saved state of an episode depends on besides':
        'The parts that a saved state of an episode depends on besides',
    "What of a tool's result an observation has: it is cut, or has the pool in place of lists.":
        "Cut a tool's result for the observation, or replace its lists by the pool.",
    'What `read` shows as the abstract of a paper: an input':
        'The text that `read` shows as the abstract of a paper: an input',
    'What `result` has: the last result':
        'The content of `result`: the last result',
    'What an episode shows of a paper: title':
        'The text of a paper in an episode: title',
    'What is loaded late: optional packages':
        'Things that are loaded late: optional packages',
    'What a terminal shows: tables':
        'Output on a terminal: tables',
    'What a cell that is None shows: a value':
        'The text of a cell that is None: a value',
    'What waits for the batch that is being carried out.':
        'The calls that wait for the batch that is being carried out.',
    'What a command writes into a directory.':
        'The output of a command in a directory.',
    'What answers requests: a `Client`':
        'Anything that answers requests: a `Client`',
    'What a command would ask of language models, counted without asking them.':
        'Count what a command would ask of language models, without asking them.',
    'What gets new requests in the place of a server, the last one; nothing where they are asked.':
        'Counters of dry runs, of which the last gets new requests; empty where models are asked.',
    'What a model reads: prompt templates':
        'Texts for models: prompt templates',
    'What is asked of a model in a form.':
        'A question to a model, whose answer has a form.',
    'What a metric is, all metrics by name, and scores of one answer.':
        'Metrics: their class, all of them by name, and scores of one answer.',
    'What a metric may use besides':
        'The things that a metric may use besides',
    'What is known of a paper besides its full text.':
        'A paper without its full text.',
    'What scores papers by their numbers, such as a `Ranker`.':
        'A scorer of papers by their numbers, such as a `Ranker`.',
    'What a report is scored against.':
        'The labels that a report is scored against.',
    'What a report is: sections':
        'Reports: sections',
    'What a paper is called.':
        'The names of a paper.',
    'What was achieved: runs compared':
        'The results of runs: runs compared',
    'What one or several episodes cost; None':
        'The cost of one or several episodes; None',
    'What an agent and its model said in a run, step by step.':
        'The messages of an agent and its model in a run, step by step.',
    'What every search engine provides, and names':
        'The base class of search engines, and names',
    'What an index is built from: the searchable':
        'The input of an index: the searchable',
    'What a learned ranker guesses of the papers shown, without labels':
        'The guess of a learned ranker of the papers shown, without labels',
    'What the doors over HTTP share: the server':
        'The server of doors over HTTP: how it runs',
    'What ``/health`` answers.':
        'The answer of ``/health``.',
    'What an episode has earned so far, with':
        'The earnings of an episode so far, with',
    "What a step returns: as Gymnasium's":
        "The result of a step: as Gymnasium's",
    'What all episodes and views of one audit share.':
        'The state that all episodes and views of one audit share.',
    'What an agent writes into its tool schemas does not show':
        'A change that an agent makes to its tool schemas does not show',
    'What no result of any tool may show: ids, titles and dates of papers out of reach.':
        'Find ids, titles and dates of papers out of reach in results of tools.',
    'What an audit checks, by id, and what it found.':
        'The checks of an audit, by id, and its findings.',
    'What ``tasks/questions.json`` says of it':
        'The entry of ``tasks/questions.json``',
    'What an agent is asked.':
        'The text that an agent is asked about.',
    'What an agent can do: one file a tool':
        'The tools of agents: one file a tool',
    'What tools act on: the state':
        'The object that tools act on: the state',
    'What an episode knows of a stage: its name':
        'A stage as an episode knows it: its name',
    'What ``vf-eval arena-verifiers`` imports: it takes':
        '``vf-eval arena-verifiers`` imports this: it takes',
    'What several baselines share, and':
        'Code that baselines share, and',
    'What has been received of it.':
        'The part of it that has been received.',
    'What the usual form of a title is worth':
        'The weight of the usual form of a title',
    'What is known of the records of one title':
        'The state of the records of one title',
    'What the summary of a build says of a library.':
        'The lines on a library in the summary of a build.',
    'What a model reads of a survey, and':
        'The text of a survey that a model reads, and',
    'What readers share: a file and what of it is lost':
        'Parts of readers: a file and what is skipped',
    'What catalogues write where they know no date.':
        'The words of catalogues for a date that they do not know.',
    'What a join counts: ``listed``':
        'The counts of a join: ``listed``',
    'What gave no mind-map, ordered':
        'The outcomes that gave no mind-map, ordered',
    'What all searches of one scope share.':
        'The state that all searches of one scope share.',
    'What the first observation says: its ids':
        'The content of the first observation: its ids',
    'What each does in every stage.':
        'The behaviour of each in every stage.',
    'What models are asked for: surveys':
        'Requests to models: surveys',
    'What the names of registered data sets begin with.':
        'The beginning of the names of registered data sets.',
    'What a call, or the reset, returned; ``result``':
        'The result of a call or of the reset; ``result``',
    'What the episode has earned, see':
        'The earnings of the episode, see',
    'What a user may replace: the text':
        'The text that a user may replace: it stands',
    'What TRL needs besides the tools. All':
        'The methods that TRL needs besides the tools. All',
    'What ``--env.taskset.NAME`` sets.':
        'The settings of ``--env.taskset.NAME``.',
    'What a corpus knows of a paper.':
        'A paper as a corpus knows it.',
    'What the metrics read of a survey, whoever wrote it.':
        'A survey as metrics read it, whoever wrote it.',
    'What a metric of surveys is, and what the metrics of one pass share.':
        'Metrics of surveys, and the state that those of one pass share.',
    'What a metric finds in a pair of surveys: column':
        'The finding of a metric in a pair of surveys: column',
    'What is found on one topic; `spent`':
        'The findings on one topic; `spent`',
    'What the survey cites: the works':
        'Metrics of citations: the works',
    'What a judge finds in both surveys, side by side: facts':
        'The findings of a judge in both surveys, side by side: facts',
    'What the judge finds in one survey.':
        'The findings of the judge in one survey.',
    'What a metric of this kind compares: `focus`':
        'The comparison of a metric of this kind: `focus`',
    "What Bloom-Eval's evaluation shows: tables":
        "The output of Bloom-Eval's evaluation: tables",
    'What distinguishes it from other cells':
        'The settings that distinguish it from other cells',
    'What the finished runs of an experiment scored and cost.':
        'The scores and costs of the finished runs of an experiment.',
    'What a judge reads of a run: the answer':
        'The run as a judge reads it: the answer',
    'What a reader of decisions may need: see':
        'The inputs of a reader of decisions: see',
    'What an article cites.':
        'The citations of an article.',
    'What an entry says: last names':
        "An entry's content: last names",
    'What made the TED, NSR':
        'The settings that made the TED, NSR',
    'What a report says, and what models decide about it: statements':
        "Statements of a report, and models' decisions: statements",
}  # fmt: skip


_ELSEWHERE = {  # other sentences of the review
    "An encoder or an extractor, and what it made of labels; the attributes are the plug-in's.":
        "Caches what an encoder or extractor returned for each label; has its attributes.",
    "The encoder, as another process makes it: options as JSON, hash of its config.":
        "The data that a worker makes the encoder of: options as JSON, hash of its config.",
    "a name other than localhost is none.": "localhost alone is a name of it.",
    "Let an agent play every survey of a corpus; the same command resumes after a break.":
        "Let an agent play every survey of a corpus. Repeat the command to resume.",
    "The setting `retriever`, see below.": "Search engine (default: bm25).",
    "combines nothing. Name it alone.": "takes no parts. Name it alone.",
    "They protect a purse: reaching": "They cap spending: reaching",
    "## Tasks without end": "## Generating training tasks",
    "(training.md#tasks-without-end": "(training.md#generating-training-tasks",
    "**What no model saw is not paid.**": "**Truncated text earns no reward.**",
    "Keys of BibTeX are no ids.": "Keys of BibTeX are not used as ids.",
    "a second reading of the files": "a second, independent reader of the files",
    "Of two answers to one request the first counts.": "The first of two answers to one request counts.",
    "A paper need not pass all: a citation": "A paper can skip stages: a citation",
}  # fmt: skip


def docstrings(t: Text) -> None:
    """Begin docstrings with their subject, and other sentences of the review."""
    if t.name.endswith(".py"):
        for old, new in _DOCSTRINGS.items():
            t.text = t.text.replace(f'"""{old}', f'"""{new}')
    for old, new in _ELSEWHERE.items():
        t.text = t.text.replace(old, new)


# Rows of the table ---------------------------------------------------------------------------


def subjects(t: Text) -> None:
    """Nodes of synthetic corpora: topic -> subject; texts, their keys and "off-topic" stay."""
    if not re.match(r"corpus_builder/(world|synthetic)/", t.name):
        return
    if t.name.endswith(".yaml"):
        t.sub(r"(?m)^ *#.*$", lambda m: re.sub(r"\btopic(s?)\b", r"subject\1", m[0]))
        return
    t.sub(r"(?<=        )subject = \[tree\.phrase\(topic\)\]", "slots = [tree.phrase(topic)]")
    t.sub(r"(?<=\W)subject(?=[,)\]])", "slots")
    t.hide(r'"topic": tree', r"[sS]ubtopics?", r"(?i)off[-_]topic", r"\{topic\}")
    t.sub(r"(?i)topic(?=s?(\b|_|T|W))|(?<=_)topic", _as_case("subject"))
    t.sub(r"\bTopicTree\b", "SubjectTree")


def _as_case(new: str) -> Callable[[re.Match[str]], str]:
    def cased(match: re.Match[str]) -> str:
        old = match.group()
        if old.isupper():
            return new.upper()
        return new.capitalize() if old[0].isupper() else new

    return cased


# What stays "survey" where surveys are topics: the paper.
_PAPER_WORDS = (
    r"is_survey\w*", r"survey_rate", r"survey_metrics?", r"_?SURVEY_METRICS", r"SurveyMetric",
    r"SurveyPair", r"GoldSurvey", r"SurveyComparison", r"SurveyEvaluation", r"AutoSurvey",
    r"SurveyForge", r"SurveyX", r"HumanSurvey", r"leak\.survey-title", r"files\.surveys",
    r"\w*cites_a_survey", r"survey_of_a_half_month", r"surveys_are_papers", r"a_survey_is_read",
    r"a_heading_is_the_survey", r"surveys_of_a_field", r"[Ss]urveyed", r"SURVEYS? (?=\[0\]\]|\\n)",
    r"of the survey's topic(?=[?\"])", r"(?:read|score)_surveys", r"surveys\.jsonl", r"survey_titles", r"docs/surveys\.md",
    r"surveys\.md", r"survey\.md\b", r"survey_papers",
    r"survey_references\w*", r"surveys_with_\w+", r"hidden_surveys",
)  # fmt: skip
_PAPER_PHRASES = (
    r"surveys?['’]s? own", r"[Ss]urvey's (?:title|references|figures|citations|authors?|prompts?)",
    r"title of (?:a|the|another|every) survey", r"(?:the|a) survey itself",
    r"all other\s+surveys", r"undated[^.\n`]{0,40}\bsurveys?\b", r"\bsurveys?\b[^.\n`]{0,25}undated",
    r"\b(?:is|are|not|nor|neither|counts? as) (?:a |an |other |another )?surveys?(?=[,.;:)\]}\"]|$)",
    r"(?:and|,) no survey", r"surveys? (?:are|is not) flagged", r": a survey\b", r"\(a survey, or",
    r"undated papers, all surveys", r"is a survey and has", r"survey or the\n *survey itself",
    r"(?:a|as|of) (?:a )?survey (?:of|on|would|should|may|need|cites|draws|lists|has one)\b",
    r"surveys? (?:that )?(?:this topic|should|would) cite", r"(?:that|what|which) (?:a|the|each)?\s*"
    r"surveys?\s(?:of this topic\s)?(?:should\s|would\s|itself\s)?(?:cites?|written|uses?|lists?)",
    r"papers?'?,? (?:or|nor|and|and of) surveys?", r"surveys? and papers?", r"survey tasks?",
    r"(?:a|the|any|of) surveys? (?:written|that somebody|of research|in English|titled|uses)\b",
    r"(?:gold|published|literature|made-up|synthetic|real|generated|experts'|both|written|late"
    r"r) surveys?", r"surveys? or of none", r"other surveys, dated", r"another survey\)",
    r"surveys? paper", r"A SURVEY", r"a Survey", r": A Survey", r"Survey Tasks", r"— a survey",
    r"Prepare a survey", r"[Mm]ind-maps? of a survey", r"surveys? of (?:one|two|a) (?:subject|field)",
)  # fmt: skip


def survey_is_topic(t: Text) -> None:
    """`survey` as the unit of evaluation -> topic; ids are ``topic_id``."""
    paper = _any(t.name, PAPER) and not _any(t.name, PAPER_BUT)
    t.hide(r'scored, noun\b[^\n]*= [^\n]*', r"The survey cites", r"'Other survey'|\"Other survey\"", r"Surveys: survey_rate",
           r'"report", "survey"\}')  # fmt: skip
    t.sub(r'_IDS = \("id", "survey"', '_IDS = ("id", "topic_id", "survey"')
    _on_disk(t)
    _pipeline(t)
    _hidden_surveys(t)
    _texts_of_topics(t)
    _ids(t)
    _names_of_arena(t)
    if not paper:
        _every_survey(t)


def _on_disk(t: Text) -> None:
    """Files of a corpus: ``tasks/topics.parquet``, and the column ``topic_id`` of its labels."""
    t.sub(r"tasks/surveys", "tasks/topics")
    t.sub(r'"tasks" / "surveys\.parquet"', '"tasks" / "topics.parquet"')
    t.sub(r"layout\.SURVEYS\b", "layout.TOPICS")
    t.sub(r'(?m)^SURVEYS(?= = "tasks)', "TOPICS")
    if t.name.endswith("corpus_builder/content.py"):
        t.sub(r'schema\("survey (?=reference|n_ref|outline)', 'schema("topic_id ')
        t.sub(r"s\.id AS survey, r\.cited", "s.id AS topic_id, r.cited")
    if t.name.endswith("card/figures.py"):
        t.sub(r"\b([mh])\.survey = s\.id", r"\1.topic_id = s.id")
        t.sub(
            r"SELECT survey(?=, count\(document)|GROUP BY survey(?=\) h)",
            lambda m: m[0].replace("survey", "topic_id"),
        )
    if t.name.endswith("question_tasks.py"):
        t.sub(r"(GROUP|ORDER) BY survey\b", r"\1 BY topic_id")
    t.sub(r'\("survey", "prompt_flags"\)', '("topic_id", "prompt_flags")')
    if t.name == "docs/corpus-format.md":
        t.sub(r"(one row a survey: )`survey`", r"\1`topic_id`")
        t.sub(r"(ordered by survey, document number\D{0,40})`survey`", r"\1`topic_id`")


def _pipeline(t: Text) -> None:
    """The task survey -> pipeline."""
    t.sub(r"Survey-v0", "Pipeline-v0")
    t.sub(r"\bsurvey_score\b", "pipeline_score")
    t.sub(r"arena([./])tasks([./])survey\b", r"arena\1tasks\2pipeline")
    t.sub(r"(?<!\w)survey_(env|vector)\b", r"pipeline_\1")
    if _any(t.name, ("corpus_builder/*", "tests/builder/*")):
        return
    near = r"(?:discovery|selection|organization|report|question|title|pipeline)"
    q = r"([\"'])"
    t.sub(rf"@task\({q}survey\1", r"@task(\1pipeline\1")
    t.sub(
        rf"(\bTASKS\.get\(|open_task\(|task(?:=| in \(|\": )|\"--task\", ){q}survey\2",
        r"\1\2pipeline\2",
    )
    t.sub(r"(--task|task:) survey\b", r"\1 pipeline")
    t.sub(r"(?m)^(  )survey:(?=\n)", r"\1pipeline:")
    t.sub(r'"survey"(?=: "(?:pipeline|survey)_score")', '"pipeline"')
    t.sub(r"(?<=the task )'survey'", "'pipeline'")
    t.sub(r"(?<=the task )survey\b", "pipeline")
    t.sub(rf"\b(arena\.run\(\s*\w+, |play\(\w+, |runs / ){q}survey\2", r"\1\2pipeline\2")
    t.sub(rf"(tmp_path / ){q}survey\2", r"\1\2pipeline\2")
    t.sub(rf"(arena\.run\(\s*[^\n]*?, ){q}survey\2, ", r"\1\2pipeline\2, ")
    for _ in range(3):
        t.sub(rf"(\"{near}\"(?:, | or )){q}survey\2", r"\1\2pipeline\2")
        t.sub(rf"{q}survey\1(?=, \"{near}\")", r"\1pipeline\1")
        t.sub(
            rf"(\"[Dd]iscovery\", |\"Selection\", |\"Organization\", ){q}Survey\2",
            r"\1\2Pipeline\2",
        )
    t.sub(
        rf"([(\[{{ ]){q}survey\2(?=[,:] (?:\{{(?:\"(?:disc|max|sel)|\}}|f)|\())", r"\1\2pipeline\2"
    )
    t.sub(r"(?<=\{)\"Survey\"(?=: \{\"disc)|(?<=== )\"Survey\"", '"Pipeline"')
    t.sub(r"(tiny|world)/survey/", r"\1/pipeline/")
    t.sub(r"(?<=of `organization` or )`survey`", "`pipeline`")
    t.sub(r"(?<=The task )`survey`", "`pipeline`")
    t.sub(r"(?<=organization, )survey(?= and report)", "pipeline")
    t.sub(r"(?<=three tasks of )survey\b|(?<=in )Survey(?= it )", "pipeline")


def _hidden_surveys(t: Text) -> None:
    """Hide what is a paper, a text, or somebody else's."""
    t.hide(r"(?s)<!-- docs/differences\.py writes this table -->.*?<!-- its end -->")
    t.hide(*_PAPER_WORDS)
    if t.name.startswith("tests/"):
        t.hide(r"\bSURVEYS?\b")  # constants: records of papers, and how many
    t.hide(r"\"(?:title|abstract|text|name)\": f?\"[^\"\n]*\"", r"[Tt]he [Ss]urvey of [Gg]raphs")
    t.hide(r'(?m)^ +instruction = (?:"[^"\n]*"|\((?:\n +"[^"\n]*")+\n +\))', r"\bprompts/\S+")
    t.hide(r'"survey": "(?:forbidden|another survey)"', r"date, survey in rows if not survey",
           r'kinds\[paper\] = [^\n]*else (?P<k>"survey")',
           r'metric\.kind == "survey"', r'kind == "survey"', r'_share\(report, gold, "survey"\)', r'"survey": list\(', r'"excluded": 8, "survey": 7',
           r'return paper\.number, "survey"', r'_IDS = \([^)]*\)', r'``"survey"``',
           r'"other": "survey"', r'"d": "itself", "e": "survey"', r'"self", "survey", "fab',
           r'\("survey", "short"\)', r'"undated": "late", "survey"')  # fmt: skip
    t.hide(r"\b(?:paper|row|stored|_stored)\.survey\b(?!\()", r"(?<=\n    )survey: bool",
           r"(?<=& ~)self\.survey\b", r"days, surveys = self\._stored\.days,",
           r"hidden = ~view\.mask & ~surveys", r"hidden & \(days == NEVER\), surveys\)",
           r"def survey\(self\) -> NDArray")  # fmt: skip
    t.hide(r"\b(?:WorldConfig|SyntheticConfig|data_set)\((?:[^()]|\([^()]*\))*?(?P<k>\bsurveys)=",
           r"\b(?:world|source|records|mini_records|real_data|data|made|config)\.surveys\b",
           r"\.read\(\)\.surveys", r"\{config\.surveys\} surveys")  # fmt: skip
    t.hide(
        r"arena-corpus (?:(?!\n\n|arena )(?:\\\n|[^\n`\"']))*",
        r"`build \w+ --surveys\b[^`]*`",
        r"(?m)^survey +\d",
        r'"survey": Picture',
        r"[Mm]etrics of surveys",
        r"ask(?:s|ed)? for surveys",
        r"\[\"(?:world|synthetic|build|digest|select|prompts|tasks|jsonl)\",[^\]]*\]",
        r"main\(\[\"(?:build|digest|select|prompts|jsonl|tasks|figures)\"[^\n]*(?:\n[^\n]*)?--surveys",
    )
    t.hide(
        r"\"(?:world|synthetic)\", \"--[^)\]]*\"--surveys\"",
        r"(?<=with )surveys \(`--surveys FILE`\)",
    )
    if t.name.startswith("tests/") and "def surveys(self)" in t.text:  # a source of the builder
        t.hide(r"def surveys\(self\)", r"self\._surveys\b")
    gap = r"(?:[ ]|\n[ ]*(?:# )?)"
    t.hide(*(p.replace(" ", gap) for p in _PAPER_PHRASES), flags=re.M)


def _texts_of_topics(t: Text) -> None:
    """What was called the topic beside a survey is the topic's text."""
    t.words(topic_of="text_of", with_topic="with_text")
    t.sub(r"(?<=class )Survey\b(?=\(NamedTuple)", "Topic")
    t.sub(r"(?<=    id: str\n    )title(?=: str\n    date: str\n    date_guessed)", "text")
    t.sub(r"title: Title as published; the topic is the title in lower case\.",
          "text: Title of the survey, which episodes show in lower case; or the question.")  # fmt: skip
    t.sub(r"Whether the title is a question, which is the topic as it stands",
          "Whether the text is a question, which episodes show as it stands")  # fmt: skip
    of = r"(?:\bsurvey|\.survey\((?:[^()]|\([^()]*\))*\)|surveys\[(?:[^\[\]]|\[[^\[\]]*\])*\])"
    t.hide(r"subjects\[survey\.id\] = SurveyText\(\n[^\n]*")
    if not t.name.startswith(("corpus_builder/", "tests/builder/")) or "TaskSet" in t.text:
        t.sub(rf"({of})\.title\b(?!\()", r"\1.text")
        t.sub(r"\b([st])\.title(?=(?: for \1 in|, \1\.date|\[:|, 90))", r"\1.text")
    t.sub(r"\b(\w+)\.title(?=, \1\.date\) for [^\n]*\b(?:surveys|topics)\.)", r"\1.text")
    if "/results/" in t.name:
        t.sub(r"\babout\.title\b", "about.text")
    if "class ScoredEpisode" in t.text:
        t.sub(r"\bself\.topic\b", "self.text")
        t.sub(r"(?<=        )topic(?=: str,)|(?<== )topic(?=\[)", "text")
    if "class EpisodeFactory" in t.text:
        t.sub(r"\b_topic\(", "_text(")
        t.sub(r"\btopic(?=, most, pool| :=)|(?<=references, )topic\b|(?<=return )topic\b", "text")
        t.sub(r"-> its topic\.", "-> its text.")
    t.sub(r"\bepisode\.topic\b", "episode.text")
    if "/testing/" in t.name:
        t.sub(r"\b_survey\.topic\b", "_survey.text")
        t.sub(r"def topic\(self\)", "def text(self)")
        t.sub(r"\b_topics\b", "_texts")
    if t.name.endswith("cli/doctor.py"):
        t.sub(r"\btopics\b(?=[\[ )}])", "queries")
        t.sub(r"\btopic, day\b", "query, day")
        t.sub(r"search\(topic,", "search(query,")
    t.sub(r"query=topic, k=100\) for topic in", "query=text, k=100) for text in")


_ID_FILES = (  # where a name `survey` holds the id
    "arena/session.py", "*/mcp.py", "*/openenv.py", "*/trl.py", "*/verl.py", "*/verifiers.py",
    "*/inspect.py", "arena/runs/in_memory.py", "arena/runs/replaying.py", "arena/runs/checking.py",
    "arena/metrics/base.py", "arena/serving/*", "*door_clients/*", "*integrations/clients/*",
    "*/play_skyrl.py", "arena/session/*", "arena/results/viewing/rollouts.py",
)  # fmt: skip


def _ids(t: Text) -> None:
    """Keys, options and parameters that hold the id of a topic -> ``topic_id``."""
    builder = t.name.startswith(("corpus_builder/", "tests/builder/"))
    if t.name.endswith(".py") and _any(t.name, _ID_FILES):
        t.sub(r"(?<=\n    )survey(?=: str \| None = None,\n    \S*.*=)", "topic")  # an option
        t.sub(r"(?<=seed is not None or )survey(?= is not None)", "\ue002")
        t.names({"survey": "topic_id", "survey_id": "topic_id"})
        t.text = t.text.replace("\ue002", "topic")
        t.sub(
            r"(?<=only = None if http else sessions\.open\(seed=seed, topic_id=)topic_id", "topic"
        )
        t.sub(r"(?<=\n        )topic_id(?= \(ID\): )", "topic")
        t.sub(r"(?<=asked\.get\(\")survey(?=\"\))", "topic")
        t.sub(
            r"f\"(?:survey|topic_id)=\{clip\(topic_id\)\}: the corpus",
            'f"topic={clip(topic_id)}: the corpus',
        )
        t.sub(r"--seed and --survey\b", "--seed and --topic")
    t.sub(r"\?survey=|&survey=", lambda m: m[0].replace("survey", "topic"))
    t.sub(r"'survey='nobody'", "'topic='nobody'")
    t.sub(r"\"survey='nobody'", "\"topic='nobody'")
    t.sub(r'record\["survey"\]\.removeprefix', 'record["topic_id"].removeprefix')
    t.sub(r"\b(context|each|alone|totals|session|_session|difference|state|rollout)\.survey\b(?!\()",
          r"\1.topic_id")  # fmt: skip
    t.sub(
        r"\b(open|join|ajoin|ScoreContext|replace|reset)(\((?:[^()]|\([^()]*\))*)\bsurvey=",
        r"\1\2topic_id=",
    )
    key, new = r"(?P<q>[\"'])survey(?P=q)", r"\g<q>topic_id\g<q>"
    t.sub(rf"(options(?:=|\": ?)\{{){key}(?=: )", rf"\1{new}")
    if builder:
        t.sub(rf"((?:info|metadata|episode|record)\[){key}\]", rf"\1{new}]")
        t.sub(rf"(, \{{){key}(?=: \"p3\"\}})", rf"\1{new}")
        return
    if _any(t.name, PAPER) and not _any(t.name, PAPER_BUT):
        return
    t.sub(rf"\[{key}\]", rf"[{new}]")
    t.sub(r"\[\\\"survey\\\"\]", r'[\\"topic_id\\"]')
    t.sub(rf"(\.get\(|itemgetter\(){key}(?=\))", rf"\1{new}")
    t.sub(rf"{key}(?=: (?!\{{\"disc|\(\"rand|\"pipeline))", new)
    t.sub(r'"task", "run", "survey"', '"task", "run", "topic_id"')
    t.sub(r'"survey", "answers", "metrics"', '"topic_id", "answers", "metrics"')
    t.sub(r'\{"survey", "reward_terms"', '{"topic_id", "reward_terms"')
    t.sub(r'"settings", "survey", "topic"', '"settings", "topic_id", "topic"')
    t.sub(r'foreign = \["survey"\]', 'foreign = ["topic_id"]')
    t.sub(r'\["prompt", "survey"\]', '["prompt", "topic_id"]')
    t.sub(r'"episode_id", "survey"', '"episode_id", "topic_id"')
    t.sub(r'\("survey", "surveys", "reset_mask"\)', '("topic_id", "topic_ids", "reset_mask")')
    t.sub(r'known: Sequence\[str\] = \("survey",\)', 'known: Sequence[str] = ("topic_id",)')
    t.sub(r'if key != "survey"', 'if key != "topic_id"')
    t.sub(r'"survey" if "survey" in record', '"topic_id" if "topic_id" in record')
    t.sub(r"column 'survey'|with 'survey'", lambda m: m[0].replace("survey", "topic_id"))
    t.sub(r"Did you mean 'survey'", "Did you mean 'topic_id'")
    t.sub(r'"suvrey"', '"topicid"')
    t.sub(r"``survey``", "``topic_id``")
    t.sub(r"`survey`", "`topic_id`")
    t.sub(r"\{\\?\"survey\\?\": ", lambda m: m[0].replace("survey", "topic_id"))
    if re.search(r"envs/(vector|.*test_vector|test_envs)|tests/envs|docs/", t.name):
        t.sub(r"options\.pop\(\"surveys\"", 'options.pop("topic_ids"')
        t.sub(r"``surveys``", "``topic_ids``")
        t.sub(
            r'f"surveys=\{clip\(surveys\)\}: give a list of \{self',
            'f"topic_ids={clip(surveys)}: give a list of {self',
        )
        t.sub(r"surveys='x': give a list of 3", "topic_ids='x': give a list of 3")
        t.sub(r'(options(?:=|": )\{|masked = \{)"surveys"', r'\1"topic_ids"')
        t.sub(r"no option 'surveys'", "no option 'topic_ids'")


def _names_of_arena(t: Text) -> None:
    """Names of arena that the builder and its pages use, too."""
    t.words(
        SurveyEnv="ResearchEnv", SurveyVectorEnv="ResearchVectorEnv",
        SurveyTaskset="ResearchTaskset", SurveyTools="ResearchTools", SurveyTool="ResearchTool",
        SurveyConfig="ResearchConfig", SurveyData="ResearchData", SurveyTask="ResearchTask",
        StoredSurvey="StoredTopic", choose_surveys="choose_topics", parse_surveys="parse_topics",
        of_survey="of_topic", arena_surveys="arena_topics",
    )  # fmt: skip
    t.sub(r"\barena([./])tasks([./])surveys\b", r"arena\1tasks\2topics")
    if t.name.startswith("arena/tasks/"):
        t.sub(r"arena\.tasks\.surveys", "arena.tasks.topics")
    tasks = r"(\b_?tasks|\btask_set|\bTaskSet\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\bknown(?=\.survey\())"
    t.sub(rf"{tasks}\.surveys\b", r"\1.topics")
    t.sub(rf"{tasks}\.survey\b", r"\1.topic")
    t.sub(r"(\b(?:arena\.run|make_env|gymnasium\.make|as_view|report_card|arena\.rescore|parse_topics"
          r"|choose_topics)\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\bsurveys=", r"\1topics=")  # fmt: skip
    if not t.name.startswith(("corpus_builder/", "tests/builder/")):
        t.words(per_survey="per_topic", by_survey="by_topic")
        t.sub(r"(^|[/._])per_survey", r"\1per_topic")
    else:
        t.sub(r"summary\[\"per_survey\"\]", 'summary["per_topic"]')
    if "suites" in t.name or t.name.endswith(("comparison/systems.py", "cli/results.py")):
        t.sub(r"\b(result|each|self|alone|first|evaluation)\.surveys\b", r"\1.topics")
        t.sub(r"(\]|\)|\w)\[\"surveys\"\]", r'\1["topics"]')
        t.sub(r"pop\(\"surveys\"\)", 'pop("topics")')
        t.sub(r'"surveys"(?=: \d, "mean")', '"topics"')

    def command(match: re.Match[str]) -> str:
        line = re.sub(r"--surveys\b", "--topics", match[0])
        line = re.sub(r"--survey\b", "--topic", line)
        return re.sub(r"\blist surveys\b", "list topics", line)

    t.sub(r"(?<![\w-])(?:arena|run\(f?\"arena) (?!corpus)(?:\\\n|\\\\\n|[^\n`])*", command)
    if not t.name.startswith("tests/builder/"):
        t.sub(r"\bmain\(\[(?:[^\[\]]|\[[^\[\]]*\])*\]", command)
    if t.name.endswith("builder/test_paper_tasks.py"):  # which plays them
        t.sub(r"\"--surveys\", \"2\"", '"--topics", "2"')
        t.sub(r'counts\["surveys"\] >', 'counts["topics"] >')
        t.sub(r'f"survey \{', 'f"topic {')
        t.sub(r'\("surveys", lambda', '("topics", lambda')
        t.sub(r"no survey 's9'", "no topic 's9'")


def _every_survey(t: Text) -> None:
    """Everything that is left and not hidden."""
    if t.name.endswith((".js", ".html")):
        t.sub(r"(?<=[a-z])Survey(?=s?(?![a-z]))", "Topic")
    t.sub(r'"topics", "surveys"', '"topics", "per_topic"')
    t.sub(
        r"record\.get\(\"topic_id\"\) or record\.get\(\"(?:survey|topic_id)\"\)",
        'record.get("topic_id")',
    )
    t.sub(r"(?i)survey(?=_ids?\b)", _as_case("topic"))
    t.sub(
        r"(?i)(?<![a-z])survey(?=s?(?![a-z])|s?[A-Z_])|(?<=_)survey(?=s?(?![a-z]))",
        _as_case("topic"),
    )
    t.sub(r"\b(For|from|with|of|as|an?) an topic", r"\1 a topic")


def world_is_synthetic(t: Text) -> None:
    """`world` -> synthetic corpus; ids ``w3-...`` and texts of such corpora stay."""
    if t.name.endswith(("language.yaml", "parts/texts.py")):
        t.sub(r"(?m)^ *#.*$", _world_prose)
        return
    t.hide(r"(?i)real[- ]worlds?", r"(?i)world-?wide", r"\bthe world\b(?= of| would| has)")
    t.words(World="SyntheticCorpus", WorldConfig="SyntheticConfig", WorldSource="SyntheticSource")
    t.sub(r"\btest_world(?=\w*\.py|_)", "test_synthetic")
    t.sub(r"literature-worlds", "synthetic-corpora")
    t.names({
        "world": "synthetic", "worlds": "corpora", "_world": "_synthetic", "WORLD": "SYNTHETIC",
        "WORLDS": "CORPORA", "world_tasks": "synthetic_tasks", "own_world": "own_synthetic",
    })  # fmt: skip
    if t.name.endswith((".md", ".ipynb", ".yaml", ".toml", "Makefile")) or t.name.startswith("."):
        t.sub(
            r"(?s)\"cell_type\": \"code\".*?\"outputs\"",
            lambda m: re.sub(r"(?<![\w-])world(?!\w)", "synthetic", m[0]),
        )
        t.sub(
            r"(?ms)^ *```.*?^ *```",
            lambda m: re.sub(r"(?<![\w-])worlds?(?![\w])(?!\.$)", "synthetic", m[0]),
        )
    t.sub(r"\bcorpus_builder([./]|\.sources\.|/sources/)world\b", r"corpus_builder\1synthetic")
    t.sub(
        r"(?<=[/\"'`=(\[.])world(?=[/\"'`,:)\]\-. }\n\\]|-tasks|_tasks|$)(?! (?:of|in) )",
        "synthetic",
    )
    t.sub(r"(build|--corpus|--output|--tasks|-o|mkdir|configs/|-c|sources?|irds:researcharena/) ?world\b(?=[ /`\"'\n,.)-]|$)",
          lambda m: m[0].replace("world", "synthetic"))  # fmt: skip
    t.sub(r"(?<![A-Za-z])world(?=_|\d)", "synthetic")
    t.sub(r"configs([/.])world\b", r"configs\1synthetic")
    t.sub(
        r"(?<=#)[\w-]*worlds?[\w-]*",
        lambda m: re.sub(
            "worlds",
            "synthetic-corpora",
            re.sub(
                r"worlds?(?!s)",
                lambda w: "synthetic-corpora" if w[0][-1] == "s" else "synthetic-corpus",
                m[0],
            ),
        ),
    )
    t.sub(r"world(?=(?:-hard|-measured)?\.(?:yaml|json)\b|-tasks\b)", "synthetic")
    t.text = _world_prose(t.text)
    t.sub(
        r"(?<=_)worlds?(?=_)|(?<=test_)world(?=_)",
        lambda m: "synthetic_corpora" if m[0][-1] == "s" else "synthetic_corpus",
    )
    t.sub(r"(?<=_)worlds\b", "synthetic_corpora")
    t.sub(r"(?<=_)world\b", "synthetic_corpus")


def _world_prose(text: str | re.Match[str]) -> str:
    text = text if isinstance(text, str) else text[0]
    text = re.sub(r"\*world\*", "*synthetic corpus*", text)
    text = re.sub(r"\b(?:literature|made-up|synthetic) (world)", r"\1", text)
    text = re.sub(r"\b(?:Literature|Made-up|Synthetic) world", "World", text)
    text = re.sub(
        r"\ban? (?:small|harder) world\b", lambda m: m[0].replace("world", "corpus"), text
    )
    text = re.sub(r"\bworld's\b", "synthetic corpus's", text)
    text = re.sub(r"\bworlds\b", "synthetic corpora", text)
    text = re.sub(r"\bWorlds\b", "Synthetic corpora", text)
    text = re.sub(r"\bworld\b", "synthetic corpus", text)
    text = re.sub(r"\bWorld\b", "Synthetic corpus", text)
    text = re.sub(
        r"\*synthetic corpus\* \(a synthetic corpus", "*synthetic corpus* (a corpus", text
    )
    return re.sub(
        r"A literature \*synthetic corpus\* is a synthetic corpus", "A *synthetic corpus* is", text
    )


def door_is_integration(t: Text) -> None:
    """`door` -> integration."""
    t.hide(r"only door\b", r"\bdoors? (?=of the)")
    t.sub(r"An integration, here a \*door\*,", "An integration")
    t.sub(r"Integrations \(\*doors\*\)", "Integrations")
    t.sub(r"\btests([./])doors\b", r"tests\1integrations")
    t.sub(r"\bdoor_clients\b", "clients")
    t.sub(r"test_(verifiers|inspect)_door\b", r"test_\1")
    t.sub(r"test_doors_benchmark", "test_integrations_benchmark")
    t.hide(r"arena[./](?:\*\.)?doors\b", r'"doors/prompts')  # the layout moves these
    t.sub(r"\bAn? (?=(?:\*)?door)", "An ")
    t.sub(r"\ba (?=(?:\*)?door)", "an ")
    t.sub(r"(?<![A-Za-z])(?i:door)(?=s?(?![a-z]))", _as_case("integration"))


def settings(t: Text) -> None:
    """`found=` -> ``start_from=``, ``references="found"`` -> run; `show=` -> ``paper_text=``."""
    q = r"([\"'])"
    t.sub(rf"(references{q}?(?:=|: |, )){q}found\3", r"\1\3run\3")
    t.sub(r"references=found\b", "references=run")
    t.sub(r"references='found'", "references='run'")
    t.sub(r'(Literal\["oracle", )"found"', r'\1"run"')
    t.sub(r'(\["oracle", )"found"(?=\])', r'\1"run"')
    t.sub(r'(references (?:==|!=) )"found"', r'\1"run"')
    t.sub(r'(references=)"found"(?= if given)', r'\1"run"')
    t.sub(r'starting_papers\("found"', 'starting_papers("run"')
    t.sub(r"(--env-option )found=", r"\1start_from=")
    t.sub(
        r"default\), found with those of the run `found`",
        "default), run with those of the run `start_from`",
    )
    t.sub(r"implies references=run", "implies references=run")
    t.sub(r"(?<=\n    )found(?=: Any = None|: Text \| None = None|: str \| None\n)", "start_from")
    t.sub(r"\b(config|row|cell|self|Cell)\.found\b(?! - progress)", _start_from(t))
    t.sub(
        r"(settings\[|settings\.get\(|arguments\.get\(|options\.get\(|kept\[|update=\{|elif |\*place, |found = \{|\"self\.found\", )\"found\"",
        r'\1"start_from"',
    )
    t.sub(r'"env_options", "found"', '"env_options", "start_from"')
    t.sub(r'"found": self\.start_from', '"start_from": self.start_from')
    t.sub(r'"found" in row\.env_options', '"start_from" in row.env_options')
    t.sub(r'("references": "(?:run|oracle)", )"found":', r'\1"start_from":')
    t.sub(r'("agent": "clustering", )"found":', r'\1"start_from":')
    t.sub(r"(references=\"(?:run|expert)\", )found=", r"\1start_from=")
    t.sub(
        r"`found`(?= is in env_options| names a row| \||, if there| is not recorded)",
        "`start_from`",
    )
    t.sub(r"`references` and `found`", "`references` and `start_from`")
    t.sub(r"of the run `found`", "of the run `start_from`")
    t.sub(r"(\{[^{}\n]*, )found: (Title|Scout)", r"\1start_from: \2")
    t.sub(r"\"found=\" in name", '"start_from=" in name')
    t.sub(
        r"(f?\")found(?=(?:=\.\.\. goes|=\{clip|\[\{clip| names \{clip|=5: give))", r"\1start_from"
    )
    t.sub(r"(?<=\")found(?=\\+\[)", "start_from")
    t.sub(r"found\.json", "start_from.json")
    t.sub(r"(?<=[Aa] path in )`found`", "`start_from`")
    t.sub(r'"found": "missing"', '"start_from": "missing"')

    t.sub(r"(?<=\n    )show(?=: Annotated)", "paper_text")
    t.sub(r"\bconfig\.show\b", "config.paper_text")
    t.sub(r"(\bshow: str\) -> Digests)", lambda m: m[0].replace("show", "name"))
    t.sub(r'f"show=\{clip\(show\)\}', 'f"paper_text={clip(name)}')
    if "_digests_of" in t.text:
        t.sub(
            r"(def _digests_of(?:.|\n)*?)(?=\n    def )",
            lambda m: re.sub(r"\bshow\b(?! as)", "name", m[0]),
        )
    t.sub(r"plain\.but\(show=", "plain.but(paper_text=")
    t.sub(r"--env-option show=", "--env-option paper_text=")
    t.sub(r"\bshow=(?=\"(?:summary|contributions))", "paper_text=")
    t.sub(r"show='summary'", "paper_text='summary'")
    t.sub(r"\"show=\" in name", '"paper_text=" in name')
    t.sub(r'(\{|\[|get\(|    )"show"(?=: "?(?:summary|show|title)|\]|, "")', r'\1"paper_text"')
    t.sub(r"`show`(?= \| What|\. | chooses|\n|, and| goes| also)", "`paper_text`")
    t.sub(r"(references: expert, )show:", r"\1paper_text:")
    t.sub(r"[Tt]he setting `show`|With `show`", lambda m: m[0].replace("show", "paper_text"))
    t.sub(r"\barena([./])inputs\b", r"arena\1paper_texts")
    t.sub(r"tests([./])inputs\b", r"tests\1paper_texts")
    t.sub(r'"inputs/prompts', '"paper_texts/prompts')
    t.words(INPUTS="PAPER_TEXTS")
    if "paper_texts" in t.text or "PAPER_TEXTS" in t.text:
        t.names({"Input": "PaperText"})
    t.sub(r'Registry\("input"', 'Registry("paper_text"')
    t.sub(r"arena list inputs", "arena list paper_texts")
    t.sub(r"organization\.md#inputs", "organization.md#paper-texts")
    t.sub(r"\ban (?=\[input\]\(organization)", "a ")
    t.sub(r"\[inputs?\](?=\(organization)", lambda m: m[0].replace("input", "paper text"))
    t.sub(r"(?m)^## Inputs$", "## Paper texts")
    t.sub(r"paper text, an input", "paper text")
    t.sub(r"no input named", "no paper_text named")
    if t.name.startswith("tests/cli/"):
        t.sub(r'"inputs"(?=[,}])', '"paper_texts"')
    t.sub(r"researcharena\.inputs", "researcharena.paper_texts")
    t.sub(r"(?m)^\| inputs (?=\| `)", "| paper_texts ")


def _start_from(t: Text) -> Callable[[re.Match[str]], str]:
    where = re.search(r"experiments/|envs/|runs/environment|runs/runner|runs/directory", t.name)

    def new(match: re.Match[str]) -> str:
        return f"{match[1]}.start_from" if where else match[0]

    return new


_MOST = {  # what a command or function with `most` limits
    "*judging/statements.py": "max_statements", "*commands/statements.py": "max_statements",
    "*verification/statements.py": "max_statements", "*commands/experiment.py": "max_statements",
    "*verification/*test_statements*.py": "max_statements", "*_train_ranker.py": "max_tasks",
    "*commands/train.py": "max_tasks", "*experiments/tables.py": "max_statements", "arena/cli/judge.py": "max_statements",
    "*bloom_eval/base.py": "max_statements", "*bloom_eval/evaluate.py": "max_statements",
    "*bloom_eval/metrics/citations.py": "max_statements", "*bloom_eval/test_cf.py": "max_statements",
    "*test_statements.py": "max_statements", "*training/ranker.py": "max_tasks",
    "*cli/train.py": "max_tasks", "*test_ranker.py": "max_tasks", "arena/session.py": "max_sessions",
    "arena/session/*.py": "max_sessions", "*/mcp.py": "max_sessions", "*/openenv.py": "max_sessions",
    "*/test_mcp.py": "max_sessions", "*/test_openenv.py": "max_sessions",
    "*/test_recording.py": "max_sessions", "*/test_session.py": "max_sessions",
    "*/test_verifiers*.py": "max_sessions", "corpus_builder/paper_tasks.py": "max_tasks",
    "*builder/test_paper_tasks.py": "max_tasks", "*test_env_contract.py": "max_tasks",
    "corpus_builder/selection.py": "max_surveys", "*test_*select*.py": "max_surveys",
    "*tests/builder/test_survey_selection.py": "max_surveys", "baselines/closed_book.py": "max_titles",
    "*test_closed_book.py": "max_titles", "tests/arena/*": "max_sessions",
}  # fmt: skip


def limits(t: Text) -> None:
    """`--most`, `most=` -> the name of what it limits."""
    for glob, new in _MOST.items():
        if fnmatchcase(t.name, glob):
            t.hide(r"\bmost(?==self\._most\))", r'"topic", "most"\)', r"\bmost: float = 1e9", r"_brief\(most",
                   r"\$most")  # fmt: skip
            t.names({"most": new, "MOST": new.upper(), "_most": f"_{new}"})
            t.sub(
                r'(?<=, )"most"(?=[):,])|(?<=[{\n ])"most"(?=: )|(?<=judge\.get\()"most"|(?<=judge\[)"most"',
                f'"{new}"',
            )
            t.sub(r"(?<=or )most(?==\.\.\.)", new)
            t.sub(r"\bmost=0\b", f"{new}=0")
            t.sub(r"--most\b", "--" + new.replace("_", "-"))
            break
    if t.name.endswith("cli/made.py"):
        tasks, _, select = t.text.partition("def select(")
        rest = [re.sub(r"\bmost(?=: int|=|: Draw)|(?<==)most\b", n, part)
                for n, part in (("max_tasks", tasks), ("max_surveys", select))]  # fmt: skip
        t.text = "def select(".join(rest) if select else rest[0]
    t.sub(r"(Sessions(?:\.make)?\([^()\n]*)\bmost=", r"\1max_sessions=")
    t.sub(r"(make_app\([^()\n]*)\bmost=", r"\1max_sessions=")
    t.sub(r"(write_paper_tasks\([^()\n]*(?:\n[^()\n]*)?)\bmost=", r"\1max_tasks=")
    for command, new in (
        (r"arena-corpus select", "max-surveys"),
        (r"arena-corpus tasks", "max-tasks"),
        (r"arena train ranker", "max-tasks"),
        (r"arena judge statements", "max-statements"),
        (r"arena serve \w+", "max-sessions"),
        (r"arena evaluate bloom-eval", "max-statements"),
    ):
        t.sub(rf"{command}(?:\\\n|[^\n])*?(?=--most)--most", lambda m, n=new: m[0][:-4] + n)
    own = {"docs/doors.md": "max-sessions", "docs/integrations.md": "max-sessions",
           "docs/judging.md": "max-statements", "docs/bloom-eval.md": "max-statements",
           "docs/training.md": "max-tasks", "docs/results/ranker.md": "max-tasks",
           "docs/trainers.md": "max-sessions", "benchmarks/doors.py": "max-sessions",
           "benchmarks/integrations.py": "max-sessions"}  # fmt: skip
    if t.name in own:
        t.sub(r"--most\b", f"--{own[t.name]}")


_CLASSES = {
    "Known": "FileFacts", "Kept": "CachedModel", "Making": "EncoderSpec", "Shown": "ToolResult",
    "Played": "PlayedPool", "Made": "OutputPath", "Counted": "CountedScope",
    "Ranked": "RankedPapers", "Planned": "PlannedRun", "Misstated": "Misstatement",
    "Recorded": "RolloutPlayer", "Failed": "Failure", "Written": "PaperCache",
    "Found": "FoundItems", "known_of": "facts_of",
    "misfit": "schema_error", "failure_of_answer": "scoring_failure",
    "_turned": "first_name_first", "LACKING": "OLD_FORMATS",
}  # fmt: skip


def better_names(t: Text) -> None:
    """Participles, `of`, `LEAST` and the other rows of the review."""
    if t.name.startswith("examples/frameworks"):
        return
    t.names(_CLASSES)
    t.sub(r"a dict, Shown or Search", "a dict, ToolResult or Search")
    if t.name.endswith((".md", ".py")):
        t.sub(r"(?<![\w\"'])(Shown|Failed|Made)(?=\()", lambda m: _CLASSES[m[1]])
        t.sub(r"(import (?:\w+, )*)(Shown|Failed|Made)\b(?!:)", lambda m: m[1] + _CLASSES[m[2]])
        t.sub(
            r"(-> (?:\w+ \| )*|: |\| )(Shown|Failed|Made)(?=[,:)\]\n |]|$)(?! [a-z])",
            lambda m: m[1] + _CLASSES[m[2]],
        )
        t.sub(r"`(misfit|failure_of_answer)\b", lambda m: "`" + _CLASSES[m[1]])
    for owner, new in (
        ("Corpus", "resolve"),
        ("EnvConfig", "from_settings"),
        ("_Name", "from_record"),
        ("Success", "parse"),
        ("Target", "make"),
        ("Tool", "from_function"),
        ("Reply", "from_step"),
    ):
        t.sub(rf"\b{owner}\.of\b", f"{owner}.{new}")
        t.sub(rf"(?<=    def )of(?=\((?:\n? *)(?:cls, )?(?:[^()]|\([^()]*\))*\) -> {owner}:)", new)
    t.sub(r"(?<=    def )of(?=\(self, usage)", "cost")
    t.sub(r"(?<=    def )of(?=\(self, tree: Group)", "assign")
    t.sub(r"(?<=    def )of(?=\(self, document: int)", "get")
    t.sub(r"\b(_?price|\))\.of\((?=answer\.usage|most|Usage)", r"\1.cost(")
    t.sub(r"\.of\(root\)", ".assign(root)")
    t.sub(r"\b(abstracts|bodies)\.of\(", r"\1.get(")
    t.sub(r"(?<=def )left(?=\(self, episode)|(?<=answer\.)left(?=\()", "implicit_answer")
    t.sub(
        r"(?<=\bdef )look(?=\(self, topic)|(?<=self\.)look(?=\(\"\", \(\)\))|(?<=action_space\.)look\b",
        "update_context",
    )
    t.sub(r"(?<=def )together(?=\(self, key)|(?<=_threads\.)together(?=\()", "run_batched")
    if "/envs/" in t.name:
        t.names({"LEAST": "MIN_POOL_CHARACTERS"})
        t.sub(
            r"(?<=def )has(?=\(text: str)|\bhas(?=\((?:text|head), )|(?<=import )has\b",
            "lists_paper",
        )
        t.sub(
            r"\b(cut, )has\b|\bhas(?=, (?:cut|lists))", lambda m: m[0].replace("has", "lists_paper")
        )
    if re.search(r"arena/envs/|arena/session|tests/envs|arena/testing/", t.name):
        t.names({"USUAL": "DEFAULT_POOL_CHARACTERS"})
    if re.search(r"paper_tasks\.py|card/figures\.py|test_card|test_paper_tasks", t.name):
        t.names({"LEAST": "MIN_REFERENCES"})
    if re.search(r"arena/envs/|arena/session", t.name):
        t.sub(
            r"(?<=\bdef )begin(?=\(self, action)|(?<=episode\.)begin(?=\(action)|(?<=env\.)begin(?=\(action)|(?<=self\.)begin(?=\(action)",
            "start_step",
        )
        t.sub(
            r"(?<=\bdef )complete(?=\(self, hits)|(?<=episode\.)complete(?=\()|(?<=env\.)complete(?=\()|(?<=self\.)complete(?=\(None)",
            "finish_step",
        )
        t.sub(r"`begin`", "`start_step`")
        t.sub(r"`complete`", "`finish_step`")
    if re.search(
        r"corpus_builder/(readers|library)|arena_suites/|tests/builder/|extending\.md", t.name
    ):
        t.sub(r"(?<=def )lose(?=\(self)|(?<=file\.)lose(?=\()|(?<=self\.)lose(?=\()", "skip")
        t.sub(r"(?<=file\.)lost\b|(?<=self\.)lost(?=[:\[ }])", "skipped")


def moves() -> list[tuple[str, str]]:
    """Return files and folders to move: old -> new, as they are found."""
    pairs = []
    for name in files_and_folders():
        new = name
        for pattern, to in (
            (r"(?<=arena/tasks/)surveys\.py$", "topics.py"),
            (r"(?<=arena/tasks/)survey\.py$", "pipeline.py"),
            (r"(?<=tests/envs/)test_survey_env\.py$", "test_pipeline_env.py"),
            (r"(?<=corpus_builder/)world$", "synthetic"),
            (r"(?<=corpus_builder/sources/)world\.py$", "synthetic.py"),
            (r"(?<=tests/builder/)test_world(\w*)\.py$", r"test_synthetic\1.py"),
            (r"configs/world(-\w+)?\.yaml$", r"configs/synthetic\1.yaml"),
            (r"docs/literature-worlds", "docs/synthetic-corpora"),
            (r"(?<=arena/)inputs$", "paper_texts"),
            (r"(?<=tests/)inputs$", "paper_texts"),
            (
                r"tests/paper_texts/test_inputs\.py$|tests/inputs/test_inputs\.py$",
                "tests/paper_texts/test_paper_texts.py",
            ),
            (r"docs/doors\.md$", "docs/integrations.md"),
            (r"(?<=tests/)doors$", "integrations"),
            (r"(?<=/)door_clients$", "clients"),
            (r"(?<=/)test_(verifiers|inspect)_door\.py$", r"test_\1.py"),
            (r"benchmarks/doors\.py$", "benchmarks/integrations.py"),
            (r"(?<=tests/benchmarks/)test_doors_benchmark\.py$", "test_integrations_benchmark.py"),
        ):
            new = re.sub(pattern, to, new)
        if new != name:
            pairs.append((name, new))
    return pairs


def files_and_folders() -> list[str]:
    """Return the tracked files and their folders, folders first and the deepest last."""
    found = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    names = [f for f in found.stdout.split("\0") if f]
    folders = {p.as_posix() for f in names for p in Path(f).parents if p.as_posix() != "."}
    return [*sorted(folders), *names]


# What rules made clumsy or too long for a line -> the sentence in its place.
_SENTENCES = {
    "One topic topic per episode: research it": "One topic per episode: research it",
    "A cited report on the topic of a topic.": "A cited report on a topic.",
    "A topic's topic, or a question; papers": "The text of a topic, or a question; papers",
    "paper on the first topic's topic": "paper on the first topic",
    "the integration to ": "the integration with ",
    "The integration to ": "The integration with ",
    "every integration to another framework": "every integration with another framework",
    "opened by `Corpus.digests`; `arena.paper_texts` says what an input is.":
        "opened by `Corpus.digests`; see `arena.paper_texts`.",
    "`hits` is the result of the search that it returned.": "`hits` is the result of its search.",
    "with what its search found; return what `step` does.": "with its hits; return as `step` does.",
    "only papers that surveys cite have a digest in this corpus, \"":
        "only papers that surveys cite have a digest here, \"",
    "registers a function as a `Tool`; for `either` see `Tool.from_function`.":
        "registers a function as a `Tool`, see `Tool.from_function`.",
    "Time many episodes at once through the integrations over HTTP, and what they cost server and client.":
        "Time many episodes at once through the integrations over HTTP: server and client.",
    "Return at most `max_surveys` ids, the domains in turn, each domain's in an order that `seed`":
        "Return at most `max_surveys` ids, the domains in turn, each in an order that `seed`",
    "a synthetic corpus contains at most one survey for this many papers.":
        "a synthetic corpus has at most one for this many.",
    "The knobs of a made-up field of science. The same knobs always give the same synthetic corpus.":
        "The knobs of a made-up field of science. The same knobs always give the same corpus.",
    "SyntheticCorpus knob surveys is": "the knob surveys is",
    "World knob": "the knob",
    "off-topic references are filed, by the subject they are from.":
        "off-topic references are filed, by their subject.",
    "at each level: subject, parts of the subject, cutoff in words.":
        "at each level: subject, its parts, cutoff in words.",
    "The language of a synthetic corpus: its words, the hierarchy of its subjects, the texts of its papers.":
        "The language of a synthetic corpus: its words, subjects, and texts of papers.",
    "Give the subjects below those of surveys one concept of their parent, so that maps cohere.":
        "Give subjects below those of surveys one concept of their parent: maps cohere.",
    "Writes papers of one synthetic corpus; contains the proportions in which subjects are mentioned.":
        "Writes papers of one corpus; has the proportions in which subjects are mentioned.",
    "supervised tuning, then GRPO through TRL's integration.": "supervised tuning, then GRPO in TRL.",
    "demonstrations first, then reinforcement through TRL's integration.":
        "demonstrations first, then reinforcement in TRL.",
    "`Cell.start_from` of each run, after the run it begins with.":
        "`Cell.start_from` of each run, after that one.",
    "then demonstrate, tune, reinforce and test; what is finished is kept.":
        "then demonstrate, tune, reinforce and test, each step once.",
    "Synthetic corpora as the files of a release: the format of the real samples, and nothing lost on the way.":
        "Synthetic corpora as files of a release: in the format of real samples, nothing lost.",
    "in a synthetic corpus where they were not, agents would learn to skip them.":
        "elsewhere agents would learn to skip them.",
    ".68, .087 and .82; the even synthetic corpus has .45": ".68, .087 and .82; the even one has .45",
    "Experts cite the synthetic corpus's three most cited papers, with over 50 links, the report two.":
        "Experts cite the corpus' three most cited papers, with over 50 links, the report two.",
    "its hits by hand and by single searches, its cost, its integrations.":
        "its hits by hand and by single searches, its cost, integrations.",
    "synthetic corpus's surveys": "synthetic corpus' surveys",
    "synthetic corpus's corpus": "synthetic corpus",
    "synthetic corpus's": "synthetic corpus'",
    "arena train ranker --corpus demo/synthetic --tasks demo/synthetic-tasks --output ranker.json\",":
        "arena train ranker --corpus demo/synthetic --tasks demo/tasks --output ranker.json\",",
    "arena train ranker --corpus demo/synthetic --tasks demo/synthetic-tasks --output ranker.json\n":
        "arena train ranker --corpus demo/synthetic --tasks demo/tasks --output ranker.json\n",
    "has no episode of topic {clip(topic_id)}.{did_you_mean(topic_id, records)}\"":
        "has no episode of topic {clip(topic_id)}.\"\n            f\"{did_you_mean(topic_id, records)}\"",
    "the episode of topic {clip(topic_id)} does not end with its last action: {str(run)!r} \"":
        "the episode of topic {clip(topic_id)} does not end with its last action: \"\n            f\"{str(run)!r} \"",
    "in use. Close some, or wait \"": "in use. \"\n                \"Close some, or wait \"",
    "\"arena.executors\", \"arena.paper_texts\", \"arena.judging\",":
        "\"arena.executors\", \"arena.paper_texts\", \"arena.judging\",\n   ",
    "1e3 * row[\"server\"] / count, 1e3 * row[\"client\"] / count,":
        "1e3 * row[\"server\"] / count,\n            1e3 * row[\"client\"] / count,",
    "max_tasks=max_tasks, seed=seed, test=named, before=before,":
        "max_tasks=max_tasks, seed=seed,\n            test=named, before=before,",
    "\"test\": test, \"max_tasks\": max_tasks, \"trees\": trees, \"leaves\": leaves,":
        "\"test\": test, \"max_tasks\": max_tasks, \"trees\": trees,\n            \"leaves\": leaves,",
    "test=test, max_tasks=max_tasks, trees=trees,":
        "test=test, max_tasks=max_tasks,\n        trees=trees,",
    "\"votes\": votes, \"max_statements\": max_statements, \"extract\": extract,":
        "\"votes\": votes, \"max_statements\": max_statements,\n        \"extract\": extract,",
    "'statement')} of each kind in a report\"":
        "'statement')} of each kind \"\n                    \"in a report\"",
    "schemas=schemas, max_statements=max_statements,":
        "schemas=schemas,\n        max_statements=max_statements,",
    "DatedRetriever(synthetic) % 10, DatedRetriever(synthetic) % 100],":
        "DatedRetriever(synthetic) % 10,\n         DatedRetriever(synthetic) % 100],",
    "str(synthetic), \"--task\", \"discovery\", \"--agent\", \"zero-shot\",":
        "str(synthetic), \"--task\", \"discovery\",\n                     \"--agent\", \"zero-shot\",",
    "\"arena\", \"run\", \"--corpus\", str(synthetic), \"--task\", \"discovery\",":
        "\"arena\", \"run\", \"--corpus\", str(synthetic),\n             \"--task\", \"discovery\",",
    "\"arena replay a --corpus synthetic\", \"arena rescore":
        "\"arena replay a --corpus synthetic\",\n        \"arena rescore",
    "--agent title --env-option paper_text=@first_words \"":
        "--agent title \"\n        \"--env-option paper_text=@first_words \"",
    "--what mind-maps --rubric @liking --n 1 --output s\"":
        "--what mind-maps \"\n        \"--rubric @liking --n 1 --output s\"",
    "return ToolResult({\"id\": paper_id, \"notice\": 60 * episode.view.paper(paper_id).title}, [":
        "text = {\"id\": paper_id, \"notice\": 60 * episode.view.paper(paper_id).title}\n"
        "    return ToolResult(text, [",
}  # fmt: skip


def sentences(t: Text) -> None:
    """Sentences in place of those that rules made clumsy, in whatever lines they stand."""
    for old, new in _SENTENCES.items():
        words = re.escape(old).replace(r"\ ", " ")
        if old[0] == '"' or "{" in old or "=" in old:
            t.text = t.text.replace(old, new)
        else:
            gap = r"(?:[ ]|\n[ ]*(?:#[ ])?)"
            t.sub(words.replace(" ", gap), new.replace("\\", r"\\"))


TABLES: tuple[Callable[[Text], None], ...] = (
    docstrings, subjects, survey_is_topic, world_is_synthetic, door_is_integration, settings, limits,
    better_names, sentences,
)  # fmt: skip


# After the rules: formatting ---------------------------------------------------------------------


def reflow(text: str, width: int = 100) -> str:
    """Break lines of docstrings and comments that have become too long."""
    inside = set()
    for kind, string, (row, _) in _tokens(text):
        if kind == tokenize.COMMENT:
            inside.add(row)
        elif kind == tokenize.STRING and "\n" in string and string.lstrip("rR").startswith('"""'):
            inside |= {row + n for n in range(1, string.count("\n"))}
            inside |= {row} if string.count("\n") else set()
    lines, number = text.split("\n"), 0
    old = dict(enumerate(range(1, len(lines) + 1)))
    rows = [old[n] in inside for n in range(len(lines))]
    while number < len(lines):
        line = lines[number]
        if len(line) <= width or not rows[number] or ">>>" in line or "`" * 3 in line:
            number += 1
            continue
        comment = re.match(r"( *# )", line)
        if not comment and line.lstrip().startswith("#"):
            number += 1
            continue
        if "#" in line and not comment and not re.match(r"\s*[\w\"`(*-]", line):
            number += 1
            continue
        indent = re.match(r" *", line)[0]  # type: ignore[index]
        start = comment[1] if comment else indent
        at = line.rfind(" ", len(start) + 1, width + 1)
        if at < 0 or (not comment and re.match(r".*\S\s+# ", line)):
            number += 1
            continue
        head, tail = line[:at], line[at + 1 :]
        nxt = lines[number + 1] if number + 1 < len(lines) and rows[number + 1] else ""
        entry = re.match(r"\s+[\w`*.{}|]+(?: \([^)]*\))?(?:, [\w`]+)*: |\s*- ", line)
        deeper = start + (
            "" if comment else "    " if entry and "- " not in entry[0] else "  " if entry else ""
        )
        if (
            nxt.startswith(deeper)
            and nxt[len(deeper) :]
            and not re.match(r"\s|[-*>|]|\"\"\"|[\w`*]+(?: \([^)]*\))?: |@", nxt[len(deeper) :])
            and nxt.strip() != '"""'
        ):
            lines[number : number + 2] = [head, f"{deeper}{tail} {nxt[len(deeper) :]}"]
        else:
            lines[number : number + 1] = [head, f"{deeper}{tail}"]
            rows[number : number + 1] = [True, True]
        number += 1
    return "\n".join(lines)


def main() -> None:
    """Rewrite and move files; format Python with ruff after it."""
    changed = 0
    for name in files():
        path = ROOT / name
        try:
            old = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        new = old
        for rule in TABLES:
            t = Text(name, new)
            rule(t)
            new = t.shown()
        if new != old:
            path.write_bytes(new.encode())
            changed += 1
    moved = 0
    while pairs := moves():  # folders first; the list is made again after each
        old, new = pairs[0]
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", old, new], cwd=ROOT, check=True)
        moved += 1
    print(f"{changed} files changed, {moved} moved")
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run(
        [*ruff, "check", "--fix", "--quiet", "--exit-zero", "--select", "I,RUF022", "."],
        cwd=ROOT,
        check=False,
    )
    subprocess.run([*ruff, "format", "--quiet", "."], cwd=ROOT, check=False)
    for name in files():
        if name.endswith(".py"):
            old = (ROOT / name).read_text(encoding="utf-8")
            if any(len(line) > 100 for line in old.split("\n")) and (new := reflow(old)) != old:
                (ROOT / name).write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
