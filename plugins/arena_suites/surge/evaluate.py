"""SurGE's evaluation of generated surveys: what they cite, how they are divided, how they read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arena.errors import DataError
from arena.kit.code import code_sha256
from arena.kit.files import atomic_write, check_target, sha256_file
from arena.kit.lazy import load, require, versions
from arena.kit.terminal import progress
from arena.llm import Client
from arena.metrics import mean
from arena.mindmap import identity
from arena.mindmap.builder import MAX_NODES
from arena.mindmap.metrics.heading_overlap import shared_cardinalities
from arena.plugins import make
from arena.suites import Evaluation, OutputPath, chosen, folder_sha256, suite
from arena_suites.judging import judge
from arena_suites.published import published
from arena_suites.surge.articles import Article, Section, letters, read_articles
from arena_suites.surge.pairs import PAIR_MODELS, PairModel
from arena_suites.surge.rubrics import logic, structure
from arena_suites.surge.source import PAPERS, SURVEYS, read_array, survey_nodes

RELEVANCE = ("paper_relevance", "section_relevance", "sentence_relevance")
TEXTS = ("rouge_1", "rouge_2", "rouge_l", "bleu")
METRICS = ("coverage", *RELEVANCE, "structure_quality", "sh_recall", *TEXTS, "logic")
_SHORTEST = 100  # characters of a section that is compared
_LONGEST_HEADING, _LONGEST_PASSAGE, _PASSAGES = 512, 1000, 20
_SEED = 42  # of numpy, for the passages that the judge of logic reads
_NOT_TRIED = "The evaluation was never tried on SurGE's published files, only on made-up ones."

BIBTEX = """\
@inproceedings{su2026surge,
  title = {{SurGE}: A Benchmark and Evaluation Framework for Scientific Survey Generation},
  author = {Su, Weihang and Xie, Anzhe and Ai, Qingyao and Long, Jianming and Mao, Jiaxin and
            Ye, Ziyi and Liu, Yiqun},
  booktitle = {Proceedings of the 49th International ACM SIGIR Conference},
  year = {2026},
  eprint = {2508.15658}, archivePrefix = {arXiv},
  url = {https://arxiv.org/abs/2508.15658}
}
"""


class _Survey(NamedTuple):
    """A survey of the data: title, papers that it cites, its sections; and the generated one."""

    title: str
    cites: frozenset[int]
    sections: tuple[Section, ...]
    made: Article


class _Paper(NamedTuple):
    number: int
    text: str  # title and abstract


@suite("surge", bibtex=BIBTEX)
def score_articles(
    *,
    data: str,
    generated: OutputPath,
    only: tuple[str, ...] | None = None,
    pair: str | None = None,
    pair_option: dict[str, Any] | None = None,
    as_paper: bool = False,
    encoder: str = "static",
    llm_option: dict[str, Any] | None = None,
    log: str | None = None,
) -> Evaluation:
    """Score generated surveys by SurGE's protocol, never tried on its published files.

    The means are over the surveys that were generated, as in its code. Without a model of pairs the
    three scores of relevance are missing, without a judge quality of structure and logic.

    Args:
        data (DIR): Folder with SurGE's corpus.json and surveys.json.
        generated (DIR): Folder with a folder for each survey, called by its survey_id; or the
            directory of a run of the task report.
        only (IDS): Surveys to score (default: all that were generated).
        pair (NAME): Model of pairs that says whether a cited paper is relevant (`arena list
            pairs`); SurGE's is nli with cross-encoder/nli-deberta-v3-base.
        pair_option: Option of the model of pairs, such as model=FOLDER.
        as_paper: Half a point whenever neutral is the most probable, and the cited paper as the
            premise, as the paper writes; its code wants entailment above contradiction besides, and
            has sections and sentences as premises.
        encoder (NAME): Encoder of headings; SurGE's is BAAI/bge-large-en-v1.5.
        llm_option: Option of a language model, such as model=NAME; with any, it judges structure
            and logic; SurGE's is gpt-4o.
        log (FILE): Write the scores of each survey in the form of SurGE's log, too.

    Example:
        arena evaluate surge --data surge --generated output --json
    """
    require("the suite surge", "rapidfuzz", "rouge_score", "sacrebleu")
    if pair_option and pair is None:
        raise DataError("--pair-option: name the model of pairs with --pair.")
    if log is not None:
        check_target(log)
    model = None if pair is None else make(PAIR_MODELS, pair, pair_option or {})
    every, problems = _read_surveys(Path(data), read_articles(generated))
    surveys = chosen(every, only)
    papers = _find_papers(Path(data), surveys.values())
    rows = {
        name: _row(survey, papers, model, as_paper, encoder)
        for name, survey in progress(surveys.items(), desc="score", unit="survey")
    }
    settings: dict[str, Any] = {
        **{name: sha256_file(Path(data) / name) for name in (PAPERS, SURVEYS)},
        "generated": folder_sha256(generated), "as_paper": as_paper, **identity(encoder),
        "pair": pair and {"name": pair, "options": pair_option or {}},
        "code": code_sha256("arena_suites.surge"),
        **versions("rapidfuzz", "rouge-score", "sacrebleu"),
    }  # fmt: skip
    if model is None:
        problems.append("Relevance needs a model of pairs: --pair nli --pair-option model=FOLDER.")
    if llm_option:
        client = Client.from_options(llm_option, "--llm-option")
        settings["judge"] = _judge(rows, surveys, client, problems)
    else:
        problems.append("Quality of structure and logic need a judge: --llm-option model=NAME.")
    listed, found = (sum(row[key] for row in rows.values()) for key in ("listed", "found"))
    if found < listed:
        problems.append(f"{found} of {listed} listed entries were found by their titles.")
    means = {name: mean(row[name] for row in rows.values()) for name in METRICS}
    if log is not None:
        atomic_write(log, _as_log(rows, means))
    needs = {} if model else dict.fromkeys(RELEVANCE, "a model of pairs")
    needs |= {} if llm_option else dict.fromkeys(("structure_quality", "logic"), "a judge")
    return Evaluation(
        means, rows, [], [*problems, _NOT_TRIED], settings, needs=needs,
        published=[*published("surge")],
    )  # fmt: skip


def _read_surveys(data: Path, articles: dict[int, Article]) -> tuple[dict[str, _Survey], list[str]]:
    """Return the surveys that were generated, by name, and a sentence about the others."""
    found, others = dict[str, _Survey](), 0
    for _, where, record in read_array(data / SURVEYS):
        nodes = survey_nodes(record, where)
        if (number := record["survey_id"]) not in articles:
            others += 1
            continue
        sections = tuple(
            Section("" if node.get("parent_id") is None else node["title"], node["content"])
            for node in nodes
        )
        if (name := f"surge:{number}") in found:
            raise DataError(f"{where}: a second survey {name!r}.")
        cites = frozenset(record["all_cites"])
        found[name] = _Survey(record["survey_title"], cites, sections, articles[number])
    if not found:
        raise DataError(f"{SURVEYS} has no survey_id {min(articles)}, nor any other generated one.")
    problems = [f"{others} surveys were not generated and count nowhere."] * bool(others)
    problems += [
        f"No survey of the data has the survey_id {number}."
        for number in articles
        if f"surge:{number}" not in found
    ]
    return found, problems


def _find_papers(data: Path, surveys: Iterable[_Survey]) -> dict[str | int, _Paper]:
    """Return the papers that generated surveys list, by doc_id or the letters of the title."""
    keys = {key for survey in surveys for key in _keys(survey.made).values()}
    found = dict[str | int, _Paper]()
    for _, _, record in read_array(data / PAPERS):
        for key in {record["doc_id"], letters(record["Title"])} & keys:
            text = f"{record['Title']}. {record['Abstract']}"
            found.setdefault(key, _Paper(record["doc_id"], text))
    return found


def _keys(article: Article) -> dict[int, str | int]:
    return {n: r if isinstance(r, int) else letters(r) for n, r in article.references.items()}


def _row(
    gold: _Survey,
    papers: Mapping[str | int, _Paper],
    model: PairModel | None,
    as_paper: bool,
    encoder: str,
) -> dict[str, Any]:
    article, keys = gold.made, _keys(gold.made)
    known = {number: papers[key] for number, key in keys.items() if key in papers}
    cited = {paper.number for paper in known.values()}
    claims = [(number, f"This paper is about: {gold.title}") for number in keys]
    citations = article.citations()
    sections = [(each.number, each.section) for each in citations]
    sentences = [(each.number, each.sentence) for each in citations]
    relevance = dict.fromkeys(RELEVANCE, None if model is None else 0.0)
    for name, asked in zip(RELEVANCE, (claims, sections, sentences), strict=True):
        if model is not None and asked:
            paper_first = as_paper or name == RELEVANCE[0]
            relevance[name] = _relevance(asked, known, gold.cites, model, paper_first, as_paper)
    titles = [each.title for each in gold.sections if each.counts and _long(each)]
    headings = [each.title for each in article.sections if each.counts]
    headings = [title for title in headings if len(title) <= _LONGEST_HEADING]
    too_many = len(headings) > MAX_NODES
    theirs, _, shared = shared_cardinalities(titles, [] if too_many else headings, encoder)
    return {
        "coverage": len(cited & gold.cites) / len(gold.cites) if gold.cites else None,
        **relevance,
        "structure_quality": None,
        "sh_recall": shared / theirs if theirs and not too_many else None,
        **texts_of(article, gold.sections),
        "logic": None,
        "listed": len(keys),
        "found": len(known),
        "citations": len(citations),
        **({"remark": f"{len(headings):,} headings are too many to compare"} if too_many else {}),
    }


def _long(section: Section) -> bool:
    return len(section.content) >= _SHORTEST


def _relevance(
    asked: Sequence[tuple[int, str]],
    known: Mapping[int, _Paper],
    cites: frozenset[int],
    model: PairModel,
    paper_first: bool,
    as_paper: bool,
) -> float:
    """Return the mean score of cited papers: 1 if the survey cites one, else what the model says.

    A paper that the corpus does not have scores 0.
    """
    pairs = {
        (number, text): (known[number].text, text) if paper_first else (text, known[number].text)
        for number, text in asked
        if number in known and known[number].number not in cites
    }
    rows = model.probabilities([*pairs.values()]) if pairs else ()
    judged = {key: _points(row, as_paper) for key, row in zip(pairs, rows, strict=True)}
    right = {number for number, paper in known.items() if paper.number in cites}
    return sum(1.0 if n in right else judged.get((n, text), 0.0) for n, text in asked) / len(asked)


def _points(row: Any, as_paper: bool) -> float:
    """Return 1 for entailment, .5 for neutral (in the code if entailment beats contradiction)."""
    contradiction, entailment, _ = map(float, row)
    most = int(np.argmax(row))
    return 1.0 if most == 1 else 0.5 * (most == 2 and (as_paper or entailment > contradiction))


def texts_of(article: Article, gold: Sequence[Section]) -> dict[str, float | None]:
    """Return ROUGE and BLEU: means over long sections, ROUGE of the best of the gold sections.

    The numbers are those of `rouge_score`, in [0, 1], and `sacrebleu`, in [0, 100]. The longest
    common subsequence of ROUGE-L is rapidfuzz's, a thousand times as fast.
    """
    score = load("rouge_score.rouge_scorer", "ROUGE")
    stems = load("rouge_score.tokenizers", "ROUGE").DefaultTokenizer(use_stemmer=True)
    stems.tokenize = lru_cache(None)(stems.tokenize)  # each text once
    scorer = score.RougeScorer(["rouge1", "rouge2"], tokenizer=stems)
    common = load("rapidfuzz.distance", "ROUGE").LCSseq.similarity
    theirs = [each.content for each in gold if _long(each)]
    if not theirs:
        return dict.fromkeys(TEXTS)
    # Its sentence_bleu, which would count the n-grams of all gold sections again for each of ours.
    kept = {"effective_order": True, "references": [[each] for each in theirs]}
    bleu, rows = load("sacrebleu", "BLEU").BLEU(**kept), []
    for text in (each.content for each in article.sections if _long(each)):
        words, found = stems.tokenize(text), []
        for target in theirs:
            pair, others = scorer.score(target, text), stems.tokenize(target)
            both = len(words) + len(others)
            longest = 2 * common(others, words) / both if both else 0.0  # 2pr / (p + r)
            found.append((pair["rouge1"].fmeasure, pair["rouge2"].fmeasure, longest))
        rows.append((*map(max, zip(*found, strict=True)), bleu.corpus_score([text], None).score))
    return dict(zip(TEXTS, map(mean, zip(*rows, strict=True)) if rows else [0.0] * 4, strict=True))


def _judge(
    rows: dict[str, dict[str, Any]],
    surveys: Mapping[str, _Survey],
    client: Client,
    problems: list[str],
) -> dict[str, Any]:
    """Put the judge's scores into the rows; return who judged."""
    outlines, passages = dict[str, dict[str, str] | None](), dict[str, dict[str, str] | None]()
    for name, survey in surveys.items():
        expert, outline = (
            "\n".join(each.title for each in side.sections if each.counts)
            for side in (survey, survey.made)
        )
        outlines[name] = {"people": expert, "generated": outline} if len(outline) >= 5 else None
        texts = [each.content for each in survey.made.sections if _long(each)]
        places = np.random.RandomState(_SEED).permutation(len(texts))[:_PASSAGES]
        for place in sorted(places.tolist()):
            passages[f"{name} {place}"] = {"passage": _cut(texts[place])}
    of_outlines = judge(structure, outlines, client)
    of_passages = judge(logic, passages, client)
    for name, row in rows.items():
        row["structure_quality"] = _score(of_outlines.items[name], "structure")
        scores = [
            _score(r, "logic") for n, r in of_passages.items.items() if n.startswith(f"{name} ")
        ]
        row["logic"] = mean(scores)
    missing = of_outlines.counts["missing"] + of_passages.counts["missing"]
    if missing:
        problems.append(f"The judge gave no readable answer for {missing} outlines or passages.")
    return {"structure": dict(of_outlines.judge), "logic": dict(of_passages.judge)}


def _score(row: Mapping[str, Any], name: str) -> float | None:
    return float(row["scores"][name]) if "scores" in row else None


def _cut(text: str) -> str:
    """Return a text of at most 1,000 characters, up to its last full stop."""
    if len(text) <= _LONGEST_PASSAGE:
        return text
    text = text[:_LONGEST_PASSAGE]
    return text[: text.rfind(".") + 1] or text


def _as_log(rows: Mapping[str, Mapping[str, Any]], means: Mapping[str, float | None]) -> str:
    """Return objects in the form of SurGE's log, one after the other, the average last."""
    sides = {name.removeprefix("surge:"): row for name, row in rows.items()} | {"Average": means}
    return "".join(json.dumps({name: _nested(row)}, indent=4) + "\n" for name, row in sides.items())


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    levels = ("Paper_Level", "Section_Level", "Sentence_Level")
    relevance = {name: row[key] for name, key in zip(levels, RELEVANCE, strict=True)}
    names = ("ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU")
    texts = {name: row[key] for name, key in zip(names, TEXTS, strict=True)}
    structure = {"Structure_Quality(LLM_as_judge)": row["structure_quality"]}
    return {
        "Information_Collection": {
            "Comprehensiveness": {"Coverage": row["coverage"]}, "Relevance": relevance
        },
        "Survey_Structure": structure | {"SH-Recall": row["sh_recall"]},
        "Survey_Content": {"Relevance": texts, "Logic": row["logic"]},
    }  # fmt: skip
