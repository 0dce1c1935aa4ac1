"""The search in numbers: its features by hand, its gradient, and that it learns and plays."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import arena

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import curriculum  # noqa: E402
import discrete  # noqa: E402

COLUMN = discrete.FEATURES.index


def observed(**result):
    budget = {"steps": 50, "searches": 9, "reads": 50}
    return {"topic": "knots", "result": json.dumps(result), "budget": budget}


def hit(name, title):
    return {"id": name, "title": title, "date": "2010-01-01"}


def test_the_features_of_a_phrase():
    notes = discrete.Notes("tied knots")
    assert notes.next(observed(instruction=""))["arguments"] == {"query": "tied knots", "k": 100}
    call = notes.next(observed(hits=[hit("a", "Loose knots"), hit("b", "Loose ropes")]))
    assert call == {"tool": "references", "arguments": {"paper_id": "a"}}
    notes.next(observed(references=[hit("b", "Loose ropes"), hit("c", "Silk ropes")]))
    assert notes.next(observed(references=[])) is None  # of b
    # 20 / 20 for the first hit, 20 / 21 for the second, .3 for a citation
    assert notes.scores == {"a": 1.0, "b": 20 / 21 + 0.3, "c": 0.3}
    row = notes.features[notes.texts.index("loose")]
    score = 1.0 + 20 / 21 + 0.3
    expected = {
        "there": 1, "papers": np.log(3), "top papers": np.log(3), "of the first search": np.log(3),
        "cited": np.log(2), "share of score": 10 * score / (score + 0.3), "mean score": score / 2,
        "two words": 0, "three words": 0, "in the topic": 0, "in past queries": 0, "round": 1 / 6,
    }  # fmt: skip
    assert dict(zip(discrete.FEATURES, row.tolist(), strict=True)) == pytest.approx(expected)
    two = notes.features[notes.texts.index("loose knots")]
    assert two[COLUMN("two words")] == 1 and two[COLUMN("in the topic")] == 0.5
    assert not notes.features[len(notes.texts) :].any()
    assert notes.search(len(notes.texts))["arguments"]["query"] == notes.texts[0]


def test_the_gradient_is_that_of_the_logarithm():
    rng = np.random.default_rng(3)
    policy = {"w1": rng.normal(size=(12, 4)), "b1": rng.normal(size=4), "w2": rng.normal(size=4)}
    features = rng.normal(size=(32, 12)).astype(np.float32)
    features[:, 0], features[20:] = 1, 0
    chances = discrete.probabilities(policy, features)
    assert chances.sum() == pytest.approx(1) and not chances[20:].any()
    gradient = discrete._gradient(policy, features, 3)
    for name, value in policy.items():
        for place in np.ndindex(value.shape):
            moved = {**policy, name: value.copy()}
            moved[name][place] += 1e-6
            slope = np.log(discrete.probabilities(moved, features)[3] / chances[3]) / 1e-6
            assert gradient[name][place] == pytest.approx(slope, abs=1e-4)


def test_the_environment_is_one_of_gymnasium(synthetic):
    env = discrete.Queries(corpus=str(synthetic))
    check_env(env, skip_render_check=True)
    env.reset(seed=3)
    earned, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, info = env.step(0)
        earned, over = earned + reward, terminated or truncated
    assert earned == info["metrics"]["recall@100"]  # `final` pays the headline


def test_it_learns_and_the_weights_play(synthetic, tmp_path):
    weights = tmp_path / "weights.npz"
    command = [sys.executable, EXAMPLES / "discrete.py", "--corpus", synthetic, "--test", synthetic]
    done = subprocess.run(
        [*command, "--weights", weights, "--updates", "2"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "update 2 of 2: mean return 0." in done.stdout
    learned = float(done.stdout.split("random phrases, ")[1].split()[0])
    summary = arena.run(
        synthetic, "discovery", discrete.Chooser, tmp_path / "run",
        agent_options={"weights": str(weights)},
    )  # fmt: skip
    assert summary["mean"]["recall@100"] == pytest.approx(learned, abs=5e-4)
    policy = dict(np.load(weights))
    again = discrete.learn({"w": discrete.Queries(corpus=str(synthetic))}, updates=2)
    assert all(np.array_equal(policy[name], again[name]) for name in policy)


def test_a_corpus_to_test_on_is_missed_before_training(synthetic, tmp_path):
    command = [sys.executable, EXAMPLES / "discrete.py", "--corpus", synthetic, "--test", "nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, [*tmp_path.iterdir()]) == (2, "", [])
    assert "discrete.py: error: there is no directory" in done.stderr


@pytest.mark.slow
def test_ppo_in_one_file_trains(synthetic):
    pytest.importorskip("torch")
    command = [sys.executable, EXAMPLES / "ppo.py", "--corpus", synthetic, "--steps", "256"]
    done = subprocess.run([*command, "--envs", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "update 2: mean return 0." in done.stdout
    assert len((EXAMPLES / "ppo.py").read_text().splitlines()) <= 120


def test_a_group_plays_one_topic_whatever_a_sampler_has_learned(synthetic):
    """The sampler itself draws with one seed another topic, once it knows of results."""
    options = {"window": 2, "success": 0.0, "explore": 0.0}  # one topic after the other is known
    given = {"corpus": synthetic, "sampler": "frontier", "sampler_options": options}
    played = []
    for kind in (discrete.Queries, curriculum.Groups):
        env, topics = kind(**given), []
        for _ in range(3):
            _, info = env.reset(seed=1)
            topics.append(info["topic_id"])
            env.env.step({"tool": "submit", "arguments": {"paper_ids": []}})
        played.append(len({*topics}))
    assert played == [2, 1]


def test_a_folder_of_weights_that_is_not_there_is_refused_before_training(
    tmp_path, capsys, monkeypatch
):
    given = ["discrete.py", "--corpus", "any", "--weights", str(tmp_path / "no/w.npz")]
    monkeypatch.setattr("sys.argv", given)
    with pytest.raises(SystemExit) as stop:
        discrete.main()
    assert (
        stop.value.code == 2 and f"the folder {tmp_path}/no is missing" in capsys.readouterr().err
    )
