"""The contract: every check passes for our environments, and fails for one that breaks its rule.

This module registers the broken environments, so that another process can make them too.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gymnasium.utils import EzPickle
from helpers import reseal

from arena.cli import main
from arena.envs import ResearchEnv, ResearchVectorEnv, ToolCallSpace
from arena.tasks import TaskSet
from arena.testing import AuditReport, audit
from arena.testing.checked import CheckedEnv, random_play, record, replay
from arena.testing.contract import CONTRACT, check_contract
from arena.testing.values import strings


def gold_rows(corpus, topic):
    rows = pq.read_table(f"{corpus}/tasks/gold.parquet").to_pylist()
    return [row for row in rows if row["topic_id"] == topic and row["status"] == "gold"]


def gold(corpus, topic):
    return [row["reference"] for row in gold_rows(corpus, topic)]


class Own(ResearchEnv):
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
        self._gold = gold(self._where, info["topic_id"])
        return observation, info


# One rule broken by each.


class ClosesOnce(ResearchEnv):
    def close(self):
        if getattr(self, "_closed", False):
            raise RuntimeError("closed already")
        self._closed = True


class Undescribed(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        tools = dict(self.action_space.tools)
        tools["read"] = replace(tools["read"], description=" ")
        self.action_space = ToolCallSpace(tools)


class Unseeded(Own):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self.action_space = UnseededSpace(self.action_space.tools)


class UnseededSpace(ToolCallSpace):
    def sample(self, mask=None, probability=None):
        self._np_random = np.random.default_rng()
        return super().sample()


class Hashing(ResearchEnv):
    """Its infos depend on the hashes of strings, which differ between processes."""

    def step(self, action):
        *outcome, info = super().step(action)
        return *outcome, info | {"order": hash("alpha") % 10**6}


class Rolling(ResearchEnv):
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


class OddVector(ResearchVectorEnv):
    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards + 0.5, *rest


class Generous(ResearchEnv):
    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + 1.0, *rest


class NeverOver(ResearchEnv):
    """Continues after the end as if nothing had happened."""

    def step(self, action):
        try:
            self._last = super().step(action)
        except gymnasium.error.ResetNeeded:
            if not hasattr(self, "_last"):
                raise
        return self._last


class Fragile(ResearchEnv):
    def step(self, action):
        if isinstance(action, dict) and isinstance(action.get("tool"), list):
            raise TypeError("unhashable type: 'list'")
        return super().step(action)


BROKEN = {
    "ClosesOnce": ("gymnasium", "closed already"),
    "Undescribed": ("schema", "read has no description"),
    "Unseeded": ("space", "the same seed gives other samples"),
    "Hashing": ("determinism", "info.order is"),
    "Forgetful": ("pickling", "info.note at character 0 is"),
    "OddVector": ("vector", "step 1[1][0] is"),
    "Generous": ("rewards", "step 1: it is"),
    "NeverOver": ("reset", "does not raise gymnasium.error.ResetNeeded"),
    "Fragile": ("bad-actions", "raised TypeError: unhashable type"),
}


# Ways to leak.


class ListsGold(Knowing):
    @property
    def targets(self):
        return sorted(self._gold) if self._episode else []


class SaysHowMany(Knowing):
    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        result = json.loads(observation["result"]) | {"wanted": len(self._gold)}
        return observation | {"result": json.dumps(result)}, info


class JudgesWhatIsSubmitted(Knowing):
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


class KnowsTheTasks(Own):
    """Tells the labels of a task set."""

    def __init__(self, corpus, tasks=None, **arguments):
        super().__init__(corpus, tasks=tasks, **arguments)
        EzPickle.__init__(self, corpus, tasks=tasks, **arguments)
        self._where = str(tasks)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, info | {"wanted": gold(self._where, info["topic_id"])}


class Honest(Own):
    """Keeps in public what its agent knows anyway."""

    def reset(self, *, seed=None, options=None):
        self.shown, self.chosen = {}, set()
        return super().reset(seed=seed, options=options)

    def step(self, action):
        outcome = super().step(action)
        self.shown.update(dict.fromkeys(strings(json.loads(outcome[0]["result"]))))
        if isinstance(action, dict) and action.get("tool") == "select":
            self.chosen |= set(action["arguments"].get("paper_ids", ()))
        return outcome


class Organizing(ResearchEnv):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, "organization", **arguments)
        EzPickle.__init__(self, corpus, **arguments)


class MentionsAHeading(Organizing):
    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._maps = TaskSet(str(corpus))

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        tree = self._maps.mind_map(info["topic_id"])
        result = json.loads(observation["result"]) | {"hint": tree.children[0].label}
        return observation | {"result": json.dumps(result)}, info


class MarksTheInfluential(Organizing):
    """Here the references are given, but not which of them count more."""

    def __init__(self, corpus, **arguments):
        super().__init__(corpus, **arguments)
        self._where = str(corpus)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        rows = {row["reference"]: row for row in gold_rows(self._where, info["topic_id"])}
        result = json.loads(observation["result"])
        result["references"].sort(key=lambda paper: not rows[paper["id"]]["influential"])
        return observation | {"result": json.dumps(result)}, info


LEAKS = {
    "ListsGold": "at the reset.env.targets[",
    "SaysHowMany": "at the reset.observation.result at character",
    "JudgesWhatIsSubmitted": ".observation.result at character",
    "KeepsWhatWasFound": "env.found",
    "TellsInInfo": "info.all[0] at character",
    "MentionsAHeading": "with other labels.",
    "MarksTheInfluential": "with other labels.",
}

for _name in (*BROKEN, *LEAKS, "Rolling", "Honest", "KnowsTheTasks"):
    if f"test/{_name}-v0" not in gymnasium.registry:
        _own, _is_vector = f"{__name__}:{_name}", _name.endswith("Vector")
        gymnasium.register(
            f"test/{_name}-v0",
            entry_point=ResearchEnv if _is_vector else _own,
            vector_entry_point=_own if _is_vector else None,
            disable_env_checker=True,
        )


def failing(name, corpus, checks=None, episodes=2, seed=0, **options):
    """The failed checks of an environment, without their group, and what was wrong."""
    report = AuditReport()
    chosen = checks and [f"contract.{check}" for check in checks]
    checked = CheckedEnv(name, {"corpus": corpus, **options}, seed, episodes)
    check_contract(checked, report, chosen)
    return {found.check.removeprefix("contract."): found.what for found in report.findings}


def test_every_check_has_an_environment_that_breaks_it():
    covered = {check for check, _ in BROKEN.values()} | {"no-gold", "isolation"}
    assert {f"contract.{check}" for check in covered} == set(CONTRACT)


@pytest.mark.parametrize("name", BROKEN)
def test_an_environment_that_breaks_one_rule_fails_that_check(synthetic, name):
    check, detail = BROKEN[name]
    options = {"note": "kept"} if name == "Forgetful" else {}
    quick = {"space", "schema", "isolation", "reset", "bad-actions"}  # the others take seconds
    failed = failing(f"{__name__}:test/{name}-v0", synthetic, [*quick, check], **options)
    assert set(failed) == {check}, failed
    assert detail in failed[check]


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found(synthetic, name):
    failed = failing(f"test/{name}-v0", synthetic, ["gymnasium", "no-gold"], 3)
    assert set(failed) == {"no-gold"}, failed
    assert LEAKS[name] in failed["no-gold"]


def test_chance_fails_wherever_episodes_are_compared(synthetic):
    failed = failing("test/Rolling-v0", synthetic, ["determinism", "pickling"])
    assert set(failed) == {"determinism", "pickling"}
    assert "info.luck is" in failed["determinism"]


@pytest.mark.parametrize("corpus", ["synthetic", "mini"])
def test_what_an_agent_knows_anyway_is_no_leak(corpus, request):
    """In a tiny corpus what was shown or selected may well be the gold itself."""
    corpus = request.getfixturevalue(corpus)
    assert failing("test/Honest-v0", corpus, ["no-gold"], 12) == {}


def test_references_that_are_given_are_no_leak(synthetic):
    """With references="run" the episode begins with what a run found."""
    found = {topic: gold(synthetic, topic)[:4] for topic in TaskSet(synthetic).topics}
    for options in ({"references": "oracle"}, {"references": "run", "start_from": found}):
        assert failing("arena/Organization-v0", synthetic, ["no-gold"], 6, **options) == {}


def test_the_labels_of_a_task_set_are_exchanged_too(synthetic, tmp_path):
    from corpus_builder.paper_tasks import write_paper_tasks

    write_paper_tasks(synthetic, tmp_path / "tasks", least=3, max_tasks=20)
    options = {"tasks": tmp_path / "tasks"}
    assert failing("arena/Discovery-v0", synthetic, ["no-gold"], **options) == {}
    leak = failing("test/KnowsTheTasks-v0", synthetic, ["no-gold"], **options)
    assert "info.wanted" in leak["no-gold"]


def test_an_audit_without_actions_checks_the_contract_alone(synthetic, capsys):
    name = f"{__name__}:test/Generous-v0"
    with pytest.raises(SystemExit) as stop:
        main(["audit", name, "--corpus", str(synthetic), "--actions", "0"])
    assert stop.value.code == 1
    out = capsys.readouterr().out
    assert re.search(rf"^contract checks +{len(CONTRACT)}$", out, re.MULTILINE)
    assert not re.search("^actions ", out, re.MULTILINE)
    assert f"FOUND contract.rewards: {name}: reward by default" in out
    assert out.count("FOUND ") == 1


def test_a_corpus_without_mind_maps(synthetic, tmp_path):
    """The contract leaves out a task that cannot be scored there, and the report says so."""
    import hashlib
    import shutil

    other = tmp_path / "other"
    shutil.copytree(synthetic, other)
    path = other / "tasks/mind_maps.parquet"
    table = pq.read_table(path)
    rows = [row | {"mind_map": None} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    manifest = json.loads((other / "manifest.json").read_text())
    data = path.read_bytes()
    entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest["files"]["tasks/mind_maps.parquet"] = entry
    (other / "manifest.json").write_text(json.dumps(manifest))
    reseal(other)
    report = audit(other, 20, environments=["arena/Organization-v0"])
    assert report.clean
    assert list(report.settings["left_out"]) == ["arena/Organization-v0"]


def test_another_reward_and_other_arguments(synthetic):
    options = {"reward": "gain+cost", "reward_options": {"cost": {"per_read": 0.5}}, "max_k": 7}
    checks = ["space", "schema", "pickling", "rewards", "bad-actions", "no-gold"]
    assert failing("arena/Selection-v0", synthetic, checks, seed=40, **options) == {}


# What the checks are made of.


def test_recorded_episodes_do_something(synthetic):
    """Random play that never found a paper, or submitted nothing, would prove nothing."""
    checked = CheckedEnv("arena/Pipeline-v0", {"corpus": synthetic})
    tools = [action["tool"] for trace in checked.traces for action in trace.actions]
    assert set(tools) == set(checked.tools)
    steps = [step for trace in checked.traces for step in trace.steps]
    errors = sum("error" in json.loads(step["observation"]["result"]) for step in steps)
    assert errors < len(tools) / 2
    assert any(step["reward"] > 0 for step in steps)
    assert any(step["info"].get("answers") for step in steps)
    env = checked.make()
    one, two = (record(env, 3, random_play(env, 3, 9), 9) for _ in range(2))
    assert one == two
    assert one.steps != replay(env, one, form=lambda action: None).steps
