"""`arena check`: every check passes for our environments, and fails for one that breaks its rule.

This module registers the broken environments, so that another process can make them too.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest
from gymnasium.utils import EzPickle
from helpers import reseal

import arena
from arena.cli import main
from arena.envs import SurveyEnv, SurveyVectorEnv, ToolCallSpace
from arena.tasks import TaskSet, environment_ids
from arena.testing import CHECKS, Result, Subject, check_environment
from arena.testing.walk import values_of

pytestmark = pytest.mark.usefixtures("read_once")


def gold_rows(corpus, survey):
    rows = pq.read_table(f"{corpus}/tasks/gold.parquet").to_pylist()
    return [row for row in rows if row["survey"] == survey and row["status"] == "gold"]


def gold(corpus, survey):
    return [row["reference"] for row in gold_rows(corpus, survey)]


class Own(SurveyEnv):
    """Pickled by the arguments that it was made with, whatever they are called."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        EzPickle.__init__(self, corpus, **arguments)


class Knowing(Own):
    """Knows where the corpus is, as all that leak need to."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._where = str(corpus)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        self._gold = gold(self._where, info["survey"])
        return observation, info


# One rule broken by each.


class ClosesOnce(SurveyEnv):
    def close(self):
        if getattr(self, "_closed", False):
            raise RuntimeError("closed already")
        self._closed = True


class Undescribed(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        tools = dict(self.action_space.tools)
        tools["read"] = tools["read"]._replace(description=" ")
        self.action_space = ToolCallSpace(tools)


class Unbounded(Own):
    """Its schema does not tell the greatest k that it takes."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.action_space = Lying(self.action_space.tools)


class Lying(ToolCallSpace):
    def contains(self, x):
        return (
            super().contains(x) and x["arguments"].get("k", 1) < 50
            if type(x) is dict
            else (super().contains(x))
        )


class PickySpace(ToolCallSpace):
    def contains(self, x):
        if isinstance(x, str):
            x.encode("ascii")  # raises for any other script
        return super().contains(x)


class Picky(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.action_space = PickySpace(self.action_space.tools)


class SlowSpace(ToolCallSpace):
    def contains(self, x):
        odd = sum(character in ("?", "!") for _ in range(5) for character in str(x)[:40_000])
        return odd >= 0 and super().contains(x)


class Slow(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.action_space = SlowSpace(self.action_space.tools)


class Unseeded(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.action_space = UnseededSpace(self.action_space.tools)


class UnseededSpace(ToolCallSpace):
    def sample(self, mask=None, probability=None):
        self._np_random = np.random.default_rng()
        return super().sample()


class Hashing(SurveyEnv):
    """Its infos hang on the hashes of strings, which differ between processes."""

    def step(self, action):
        *outcome, info = super().step(action)
        return *outcome, info | {"order": hash("alpha") % 10**6}


class Rolling(SurveyEnv):
    def step(self, action):
        *outcome, info = super().step(action)
        return *outcome, info | {"luck": float(np.random.default_rng().random())}


class Forgetful(Own):
    """A pickled copy forgets an argument."""

    def __init__(self, corpus, note="", **arguments):
        super().__init__(corpus, **arguments)
        self._note = note

    def step(self, action):
        *outcome, info = super().step(action)
        return *outcome, info | {"note": self._note}


class OddVector(SurveyVectorEnv):
    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards + 0.5, *rest


class Remembering(Own):
    """Its first result tells of the episode before, if that had a later survey."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._latest = 0

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        if seed is not None and seed < 100:  # not while Gymnasium looks
            info = info | {"after": seed < self._latest}
            self._latest = max(seed, self._latest)
        return observation, info


class Generous(SurveyEnv):
    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + 1.0, *rest


class Misnamed(SurveyEnv):
    def step(self, action):
        *outcome, info = super().step(action)
        terms = {f"my_{name}": value for name, value in info["reward_terms"].items()}
        return *outcome, info | {"reward_terms": terms}


class OneMoreRead(Own):
    def __init__(self, corpus, max_reads=100, **arguments):
        super().__init__(corpus, max_reads=max_reads + 1, **arguments)
        EzPickle.__init__(self, corpus, max_reads, **arguments)


class NeverOver(SurveyEnv):
    """Goes on after the end as if nothing were."""

    def step(self, action):
        try:
            self._last = super().step(action)
        except gymnasium.error.ResetNeeded:
            if not hasattr(self, "_last"):
                raise
        return self._last


class Fragile(SurveyEnv):
    def step(self, action):
        if isinstance(action, dict) and isinstance(action.get("tool"), list):
            raise TypeError("unhashable type: 'list'")
        return super().step(action)


class Charging(SurveyEnv):
    def step(self, action):
        outcome = super().step(action)
        if action is None:
            self._episode._state.budget["reads"] -= 1
            outcome[0]["budget"]["reads"] -= 1
        return outcome


class Future(Own):
    """The last hit is a paper of the last day of the corpus."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        papers = pq.read_table(f"{corpus}/papers.parquet", columns=["id", "date"]).to_pylist()
        self._future = max((p for p in papers if p["date"]), key=lambda p: p["date"])["id"]

    def step(self, action):
        observation, *rest = super().step(action)
        result = json.loads(observation["result"])
        if len(result.get("hits", ())) > 20:
            result["hits"][-1]["id"] = self._future  # as long as the others
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
            observation = observation | {"result": text}
        return observation, *rest


BROKEN = {
    "ClosesOnce": ("gymnasium", "closed already"),
    "Undescribed": ("schema", "read has no description"),
    "Unbounded": ("schema", "the schema of search allows k=100,"),
    "Picky": ("space", "raised UnicodeEncodeError"),
    "Slow": ("space", "contains() of an action takes"),
    "Unseeded": ("space", "the same seed gives other samples"),
    "Hashing": ("determinism", "info.order is"),
    "Forgetful": ("pickling", "info.note differs at character 0"),
    "OddVector": ("vector", "rewards[0] is"),
    "Remembering": ("replay", "info.after is False and then True"),
    "Generous": ("rewards", "step 1: it is"),
    "Misnamed": ("rewards", "begins with no name of a reward"),
    "OneMoreRead": (
        "budgets",
        "an episode begins with the budget {'steps': 12, 'searches': 2, 'reads': 4",
    ),
    "NeverOver": ("budgets", "does not raise gymnasium.error.ResetNeeded"),
    "Fragile": ("bad_actions", "raised TypeError: unhashable type"),
    "Charging": ("bad_actions", "the action None cost {'steps': 1, 'reads': 1}"),
    "Future": ("no_future", "is dated 20"),
}


# Ways to leak.


class ListsGold(Knowing):
    @property
    def targets(self):
        return sorted(self._gold) if self._episode else []


class HidesGoldInTheSpace(Knowing):
    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        self.observation_space.hint = {"deep": [{"er": self._gold[0]}]}
        return observation, info


class SaysHowMany(Knowing):
    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        result = json.loads(observation["result"]) | {"wanted": len(self._gold)}
        return observation | {"result": json.dumps(result)}, info


class JudgesWhatIsHandedIn(Knowing):
    def step(self, action):
        observation, *rest = super().step(action)
        if rest[1] and "answers" in rest[-1]:
            right = set(rest[-1]["answers"].get("discovery", ())) & set(self._gold)
            text = json.dumps(json.loads(observation["result"]) | {"right": len(right)})
            observation = observation | {"result": text}
        return observation, *rest


class KeepsWhatWasFound(Knowing):
    def reset(self, *, seed=None, options=None):
        self.found = set()
        return super().reset(seed=seed, options=options)

    def step(self, action):
        outcome = super().step(action)
        hits = json.loads(outcome[0]["result"]).get("hits", ())
        self.found |= {hit["id"] for hit in hits} & set(self._gold)
        return outcome


class TellsInInfo(Knowing):
    def step(self, action):
        *outcome, info = super().step(action)
        return *outcome, info | {"all": tuple(self._gold)}


class RendersGold(Knowing):
    def render(self):
        text = super().render()
        return text and f"{text}wanted: {self._gold[-1]}\n"


class HidesGoldInACrowd(Knowing):
    """Behind more than can be looked at."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=options)
        self.crowd = [*range(200_001), self._gold]
        return found


class HidesGoldDeepDown(Knowing):
    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=options)
        self.deep = sorted(self._gold)
        for _ in range(60):
            self.deep = [self.deep]
        return found


class HasTheTasks(Knowing):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.tasks = TaskSet(str(corpus))


class LeakyVector(SurveyVectorEnv):
    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=options)
        self.seek = [
            gold(env._factory.corpus.directory, env._episode.survey.id) for env in self.envs
        ]
        return found


class Honest(Own):
    """Keeps in public what its agent knows anyway."""

    def reset(self, *, seed=None, options=None):
        self.shown, self.chosen = {}, set()
        return super().reset(seed=seed, options=options)

    def step(self, action):
        outcome = super().step(action)
        self.shown.update(dict.fromkeys(values_of("id", json.loads(outcome[0]["result"]))))
        if isinstance(action, dict) and action.get("tool") == "select":
            self.chosen |= set(action["arguments"].get("paper_ids", ()))
        return outcome


class Organizing(SurveyEnv):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, "organization", **arguments)
        EzPickle.__init__(self, corpus, **arguments)


class TellsTheHeadings(Organizing):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._maps = TaskSet(str(corpus))

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        self.outline = json.dumps(self._maps.mind_map(info["survey"]).to_json())
        return observation, info


class MentionsAHeading(Organizing):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._maps = TaskSet(str(corpus))

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        tree = self._maps.mind_map(info["survey"])
        result = json.loads(observation["result"]) | {"hint": tree.children[0].label}
        return observation | {"result": json.dumps(result)}, info


class MarksTheInfluential(Organizing):
    """Here the references are given, but not which of them count more."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._where = str(corpus)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        rows = {row["reference"]: row for row in gold_rows(self._where, info["survey"])}
        result = json.loads(observation["result"])
        result["references"].sort(key=lambda paper: not rows[paper["id"]]["influential"])
        return observation | {"result": json.dumps(result)}, info


LEAKS = {
    "ListsGold": "at the reset.env.env.targets[",
    "HidesGoldInTheSpace": "hint['deep'][0]['er'] differs",
    "SaysHowMany": "at the reset.observation['result'] differs",
    "JudgesWhatIsHandedIn": ".observation.result differs",
    "KeepsWhatWasFound": "env.env.found{...} differs",
    "TellsInInfo": "info.all[0] differs",
    "RendersGold": "at the reset.env.render() differs",
    "HidesGoldInACrowd": "env leads to more than 200,000 objects",
    "HidesGoldDeepDown": "env leads on after 50 steps",
    "HasTheTasks": "env.env.tasks is a TaskSet",
    "LeakyVector": "vector env.seek[0][0] differs",
    "TellsTheHeadings": "env.env.outline differs",
    "MentionsAHeading": "with other labels: ",
    "MarksTheInfluential": "with other labels: ",
}

for _name in (*BROKEN, *LEAKS, "Rolling", "Honest"):
    if f"test/{_name}-v0" not in gymnasium.registry:
        _own, _is_vector = f"{__name__}:{_name}", _name.endswith("Vector")
        gymnasium.register(
            f"test/{_name}-v0",
            entry_point=SurveyEnv if _is_vector else _own,
            vector_entry_point=_own if _is_vector else None,
            disable_env_checker=True,
        )


def failing(results):
    return {result.check: result.detail for result in results if not result.passed}


ALL = CHECKS.names()
HERE = [name for name in ALL if name != "determinism"]  # which starts a process: seconds


@pytest.mark.parametrize("name", environment_ids())
def test_our_environments_pass(world, name):
    results = check_environment(name, world, episodes=3)
    assert failing(results) == {}
    assert [result.check for result in results] == ALL
    assert {result.environment for result in results} == {name}
    assert all(result.detail for result in results)


def test_every_check_has_an_environment_that_breaks_it():
    assert {check for check, _ in BROKEN.values()} | {"no_gold"} == set(ALL)


@pytest.mark.parametrize("name", BROKEN)
def test_an_environment_that_breaks_one_rule_fails_that_check(world, name):
    check, detail = BROKEN[name]
    options = {"note": "kept"} if name == "Forgetful" else None
    results = check_environment(
        f"{__name__}:test/{name}-v0",
        world,
        options=options,
        episodes=2,
        checks=ALL if check == "determinism" else HERE,
    )
    assert set(failing(results)) == {check}, failing(results)
    assert detail in failing(results)[check]


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found(world, name):
    results = check_environment(
        f"test/{name}-v0", world, episodes=3, checks=["gymnasium", "no_future", "no_gold"]
    )
    assert set(failing(results)) == {"no_gold"}, failing(results)
    assert LEAKS[name] in failing(results)["no_gold"]


def test_chance_fails_wherever_episodes_are_compared(world):
    results = check_environment("test/Rolling-v0", world, episodes=2)
    assert {"determinism", "pickling", "replay", "vector"} <= set(failing(results))
    assert "info.luck is" in failing(results)["determinism"]


@pytest.mark.parametrize("corpus", ["world", "mini"])
def test_what_an_agent_knows_anyway_is_no_leak(corpus, request):
    """In a tiny corpus what was shown or selected may well be the gold itself."""
    corpus = request.getfixturevalue(corpus)
    results = check_environment("test/Honest-v0", corpus, checks=["no_gold"], episodes=12)
    assert failing(results) == {}


def test_titles_that_name_the_headings_are_no_leak(world):
    """Papers that are given or found may well be called as the survey's parts are."""
    results = check_environment("arena/Organization-v0", world, checks=["no_gold"], episodes=24)
    assert failing(results) == {}


def test_a_check_that_crashes_has_failed(world, monkeypatch):
    def crash(subject):
        """Crash."""
        raise ZeroDivisionError("division\nby zero")

    CHECKS.names()
    monkeypatch.setitem(CHECKS._items, "crash", crash)
    assert check_environment("arena/Discovery-v0", world, checks=["crash"]) == [
        Result("arena/Discovery-v0", "crash", False, "ZeroDivisionError: division by zero")
    ]


def test_references_that_are_given_are_no_leak_but_those_found_may_not_be_gold(world):
    """With references="found" the episode begins with what a run found."""
    surveys = list(TaskSet(world).surveys)
    found = {survey: gold(world, survey)[:4] for survey in surveys}
    for options in ({"references": "oracle"}, {"references": "found", "found": found}):
        results = check_environment(
            "arena/Organization-v0", world, options=options, checks=["no_gold"], episodes=2
        )
        assert failing(results) == {}
    assert not Subject("arena/Discovery-v0", world, {}).gives_references
    assert Subject("test/TellsTheHeadings-v0", world, {}).gives_references


# The command.


def test_the_command(world, capsys):
    options = ["--corpus", str(world), "--episodes", "2", "--checks", "gymnasium,replay"]
    assert main(["check", *options]) == 0
    out = capsys.readouterr().out
    assert "10 of 10 checks passed." in out
    assert "FAILED" not in out
    assert main(["check", "arena/Selection-v0", *options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert re.fullmatch(r"2 episodes, \d+ steps, in reverse order", printed["results"][1]["detail"])
    printed["results"][1]["detail"] = ""
    assert printed == {
        "results": [
            {"environment": "arena/Selection-v0", "check": "gymnasium", "passed": True,
             "detail": "check_env, warnings as errors"},
            {"environment": "arena/Selection-v0", "check": "replay", "passed": True,
             "detail": ""},
        ],
        "left_out": {},
    }  # fmt: skip


def test_the_command_reports_what_failed(world, capsys):
    name = f"{__name__}:test/Generous-v0"
    with pytest.raises(SystemExit) as stop:
        main(["check", name, "--corpus", str(world), "--checks", "rewards,replay"])
    assert stop.value.code == 1
    out, err = capsys.readouterr()
    assert "1 of 2 checks passed." in out
    assert "FAILED" in out
    assert err.startswith(f"arena check: {name}: rewards FAILED: reward ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["arena/Discovry-v0"], "Did you mean 'arena/Discovery-v0'"),
        (["no_such_module:x/Y-v0"], "cannot be imported: ModuleNotFoundError"),
        (["json:x/Y-v0"], "no environment 'json:x/Y-v0'"),
        (["arena/Discovery-v0", "--env-option", "max_stepz=3"], "max_stepz"),
        (["arena/Discovery-v0", "--env-option", "max_steps=0"], "max_steps=0"),
        (["arena/Discovery-v0", "--env-option", "max_steps"], "write NAME=VALUE"),
        (["arena/Discovery-v0", "--env-option", "corpus=x"], "the corpus is no option"),
        (["--checks", "replai"], "Did you mean 'replay'"),
        (["--checks", ","], "nothing was checked"),
        (["--checks", ""], "nothing was checked"),
        (["arena/Discovery-v0", "--checks", ","], "nothing was checked"),
        (["--episodes", "0"], "episodes=0"),
        (["--seed", "-1"], "seed=-1"),
    ],
)
def test_bad_input_is_one_line(world, capsys, arguments, message):
    assert main(["check", "--corpus", str(world), *arguments]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert message in err


def test_no_corpus(tmp_path, capsys):
    assert main(["check", "--corpus", str(tmp_path / "none")]) == 2
    assert "there is no directory" in capsys.readouterr().err


def test_a_corpus_without_mind_maps(world, tmp_path, capsys):
    """What cannot be played there is left out, unless it is asked for."""
    other = tmp_path / "other"
    shutil.copytree(world, other)
    path = other / "tasks/mind_maps.parquet"
    table = pq.read_table(path)
    rows = [row | {"mind_map": None} for row in table.to_pylist()]
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)
    manifest = json.loads((other / "manifest.json").read_text())
    data = path.read_bytes()
    entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest["files"]["tasks/mind_maps.parquet"] = entry
    (other / "manifest.json").write_text(json.dumps(manifest))
    reseal(other)
    options = ["--corpus", str(other), "--checks", "replay", "--episodes", "1"]
    assert main(["check", *options]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 checks passed." in out
    assert "arena/Organization-v0 was left out: no survey" in out
    assert main(["check", "arena/Organization-v0", *options]) == 2


def test_a_path_that_speaks_of_mind_maps_hides_no_bad_input(world, tmp_path, capsys):
    """The type of the error decides what is left out, not words in it."""
    corpus = tmp_path / "mind-map"
    shutil.copytree(world, corpus)
    options = ["--corpus", str(corpus), "--checks", "replay", "--env-option"]
    for option, message in (
        ("retriever=dense", "has no index 'dense'"),
        ("max_stepz=3", "max_stepz"),
    ):
        assert main(["check", *options, option]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err


def test_another_engine_and_other_arguments(world):
    options = {"reward": "gain+cost", "reward_options": {"cost": {"per_read": 0.5}}, "max_k": 7}
    results = check_environment(
        "arena/Selection-v0", world, options=options, episodes=2, seed=40, checks=HERE
    )
    assert failing(results) == {}


def test_a_view_that_forgets_the_day_of_a_link_is_found(world, monkeypatch):
    """A later paper that cites one in reach comes back, if only in an error."""

    def linked(self, paper_id, *, citing):
        linked = self._store.linked(self._document(paper_id), citing=citing)
        return [self._store.ids[d] for d in linked.tolist()]

    monkeypatch.setattr(arena.CorpusView, "_linked", linked)
    results = check_environment("arena/Discovery-v0", world, checks=["no_future"])
    assert re.search(r"'w7-\w+' is dated 20\d\d-", failing(results)["no_future"])


def test_a_selection_that_orders_by_gain_is_found(world, monkeypatch):
    """A leak with no id in it: the hits in the order of their labels."""

    def step(self, action):
        observation, *rest = original(self, action)
        result = json.loads(observation["result"])
        if "hits" in result and rest[-1]["survey"]:
            gains = self._factory.tasks.gold(rest[-1]["survey"]).gains
            result["hits"].sort(key=lambda hit: -gains.get(hit["id"], 0))
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
            observation = observation | {"result": text}
        return observation, *rest

    original = SurveyEnv.step
    monkeypatch.setattr(SurveyEnv, "step", step)
    results = check_environment("arena/Selection-v0", world, checks=["no_gold"])
    assert "with other labels: step 1.observation.result differs" in failing(results)["no_gold"]
