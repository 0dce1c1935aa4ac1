"""The patterns of titles, headings and sentences that papers are written in.

In a sentence pattern ``{0}`` stands for a topic, ``{1}`` for a virtue and ``{2}`` for a cost: no
paper boasts of its errors. The general words share no stem with the vocabulary of the topics.
"""

from __future__ import annotations

from corpus_builder.world._lexicon import words

MADE_UP = "This paper is made up."
"""The last sentence of every abstract."""

VIRTUES = words("""
accuracy stability yield throughput precision robustness efficiency capacity quality sensitivity
consistency reliability contrast resolution symmetry balance selectivity durability safety
regularity repeatability coverage
""")
COSTS = words("""
cost variance latency uncertainty bias error complexity delay overhead waste noise effort
""")
QUALITIES = words("""
Robust Efficient Practical Adaptive Incremental Reliable Minimal General Local Global Unified
Careful Probabilistic Automatic Modular Scalable Economical Principled Direct Simple Bounded
Controlled Predictive Hierarchical
""")

# {0} and {1}: topics, {2}: a virtue, {3}: a quality, {4}: a cost. The first half name one topic.
TITLES = (
    "{3} {0}",
    "{3} {0} with Low {4}",
    "On the {2} of {0}",
    "{3} Methods for {0}",
    "The Role of {2} in {0}",
    "Measuring the {4} of {0}",
    "What Limits the {2} of {0}?",
    "Towards {3} {0}",
    "{3} {0} for {1}",
    "{0} and the {2} of {1}",
    "From {0} to {1}",
    "{3} {1} through {0}",
    "How {0} Shapes {1}",
    "The {2} of {0} under {1}",
    "{3} Models of {0} for {1}",
    "{1} Revisited: The Case of {0}",
)

OPENINGS = (
    "We study {0}, with an eye to its {1}.",
    "This paper concerns {0} and asks what limits its {1}.",
    "We present an account of {0} that improves {1} at no more {2}.",
    "The {2} of {0} has received little attention so far.",
    "We revisit {0} and find that its {1} was overestimated.",
)
"""The first sentence of an abstract names the paper's own topic."""

BEARINGS = (
    "This is one of the basic questions of {0}.",
    "The results bear on {0} as a whole.",
    "We see it as a test of what is known about {0}.",
    "Any theory of {0} has to account for this.",
    "Much of the work on {0} depends on the answer.",
)
"""In the abstract of a typical paper: what it means to the topic that surveys treat."""

ASIDES = (
    "We set it against {0}, a different problem.",
    "Unlike work on {0}, we make no use of {1}.",
    "A like argument is known from {0}.",
    "None of this carries over to {0}.",
    "We do not consider {0} here.",
)
"""In the abstract of a distractor: a passing mention of a topic that is not its own."""

PATTERNS = (
    "Recent interest in {0} stems from its {1}, but its {2} is poorly understood.",
    "All differences are significant unless we say otherwise.",
    "Our results show that {0} gains in {1} once the {2} is taken into account.",
    "A simple account of {0} explains most of the observed {2}.",
    "The proof is short and uses only elementary facts about {2}.",
    "The theory of {0} makes one assumption about {1} and another about {2}.",
    "We report the {1} and the {2} as means over ten runs.",
    "We made a large set of observations on {0} and report their {1}.",
    "Practitioners of {0} often accept more {2} for the sake of {1}.",
    "The procedure needs no knowledge of the {2} in advance.",
    "It remains open whether {0} can reach the same {1} without a rise in {2}.",
    "Table 1 lists the settings that gave the best {1}.",
    "In the case of {0}, the {1} depends on the {2} in a way that was not expected.",
    "Early work on {0} looked at {1} alone.",
    "We leave the question of {2} to future work.",
    "Next we turn to {0} and the part that {1} plays in it.",
    "We compare three forms of {0} under equal {2}.",
    "In practice the {1} matters more than the {2}.",
    "The effect of {0} on {1} was confirmed by independent groups.",
    "Without {0}, the {1} of the whole system falls below what users accept.",
    "Removing any one component lowers the {1} by a visible amount.",
    "The connection between {0} and {1} has been noted by several authors.",
    "The second experiment repeats the first with a stricter demand on {1}.",
    "A good model of {0} must respect both {1} and {2}.",
    "Figure 2 plots the {1} that we found for {0}.",
    "Our implementation is plain and makes no attempt at high {1}.",
    "Most of the gain comes from {0}, and the rest from lower {2}.",
    "Later studies extended the argument to {0} and obtained higher {1}.",
    "There is a clear relation between {1} and {2}.",
    "For readers new to {0}, we first recall what is meant by {1}.",
    "We are not aware of earlier results on the {1} of {0}.",
    "Details are given in the appendix.",
    "What holds for {0} need not hold for problems of lower {2}.",
    "The best known results on {0} were obtained at the expense of {1}.",
    "The {1} is harder to measure than it seems.",
    "A closer look at {0} reveals that {1} and {2} are not independent.",
    "Such a loss of {1} would be hard to explain otherwise.",
    "The same data were used to estimate the {1} and, where possible, the {2}.",
    "Two independent lines of evidence connect {0} with low {2}.",
    "No attempt was made to reduce the {2} any further.",
    "Whether {0} is worth the added {2} depends on the application.",
)
"""As many as the longest paper has sentences, a prime number: see `_prose`."""

_BODY_ONLY = ("Figure", "Next we", "For readers", "The second")
SUMMARY = tuple("{0}" in p and not p.startswith(_BODY_ONLY) for p in PATTERNS)
"""Which of the patterns can stand in an abstract."""

ALIASES = (
    "We treat {0}, also known as {1}.",
    "Some authors write {1} where we write {0}.",
    "The subject is {0}, which parts of the literature call {1}.",
    "Here {0} and {1} mean the same thing.",
)

HEADINGS = (
    ("Introduction", "Motivation", "Overview"),
    ("Background", "Related Work", "Preliminaries"),
    ("Approach", "Method", "Model"),
    ("Experiments", "Results", "Evaluation"),
    ("Discussion", "Limitations", "Analysis"),
    ("Conclusion", "Outlook", "Summary"),
)
KEPT_HEADINGS = {4: (0, 2, 3, 5), 5: (0, 1, 2, 3, 5), 6: (0, 1, 2, 3, 4, 5)}
"""Which of the headings a paper of 4, 5 or 6 sections has."""

SURVEY_TITLES = (
    "A Survey of {0}",
    "A Review of {0}",
    "Recent Advances in {0}",
    "{0}: A Survey",
    "{0}: A Comprehensive Review",
    "{0}: Progress and Open Problems",
    "An Overview of {0}",
    "Trends in {0}",
)
SURVEY_ABSTRACT = (
    "Work on {0} falls into several lines that we review in turn.",
    "Studies of {0} differ mainly in how they weigh {1} against {2}.",
    "We end with open questions about its {1}.",
)
