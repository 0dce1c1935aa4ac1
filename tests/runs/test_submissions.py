"""Runs that strangers send: archives, limits, and nine ways to cheat, each caught."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
import zipfile

import pytest
from helpers import call

import arena
from arena.agents import Agent
from arena.cli import main
from arena.errors import ArenaError, CorpusError, DataError
from arena.kit.files import sha256_file, sha256_json
from arena.metrics import metric
from arena.runs import replay_steps, verify
from arena.runs.submissions import Limits
from corpus_builder.index import build_index


@pytest.fixture(scope="module")
def corpus(tiny, tmp_path_factory):
    """`tiny` with a second index, of titles."""
    folder = tmp_path_factory.mktemp("two") / "corpus"
    shutil.copytree(tiny, folder)
    build_index(folder, "bm25", name="titles", fields=["title"])
    return folder


@pytest.fixture(scope="module")
def honest(corpus, tmp_path_factory):
    """A run of two topics, one of which has labels."""
    output = tmp_path_factory.mktemp("honest") / "run"
    arena.run(corpus, "discovery", "title", output)
    return output


@pytest.fixture
def run(honest, tmp_path):
    """A copy of it."""
    return shutil.copytree(honest, tmp_path / "run")


def edit(run, change, name="manifest.json"):
    """Change a JSON file of a run, and the hash that the manifest has of it."""
    content = json.loads((run / name).read_text())
    change(content)
    (run / name).write_text(json.dumps(content) + "\n")
    seal(run, name)


def edit_episodes(run, change):
    """Change the list of episodes likewise; the last one is of the topic with labels."""
    path = run / "trajectories.jsonl"
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    change(episodes)
    path.write_text("".join(json.dumps(episode) + "\n" for episode in episodes))
    seal(run, path.name)


def seal(run, name):
    manifest = json.loads((run / "manifest.json").read_text())
    if name in manifest["files"]:
        manifest["files"][name] = sha256_file(run / name)
        (run / "manifest.json").write_text(json.dumps(manifest))


def another_engine(run, corpus):
    """Play with one engine, and state another, with all of its hashes."""
    then = json.loads((run / "manifest.json").read_text())
    arena.run(corpus, "discovery", "title", run, retriever="titles", overwrite=True)
    stated = ("environment", "retriever", "retriever_options", "sha256", "definition")
    edit(run, lambda m: m.update({name: then[name] for name in stated}))
    edit_episodes(run, lambda e: [each.update(sha256=then["sha256"]) for each in e])


def changed_plug_in(run, corpus):
    """State a metric of a file that has another hash now."""
    metric("letters", "ranking")(lambda gold, ranking: float(len(ranking)))
    plugin = {"file": "mine.py", "sha256": "0" * 64, "names": ["metric letters"]}
    edit(run, lambda m: m.update(plugins=[plugin]))


def in_file(change, name="manifest.json"):
    return lambda run, corpus: edit(run, change, name)


def in_episodes(change):
    return lambda run, corpus: edit_episodes(run, change)


CHEATS = {
    "scores": (
        in_file(lambda m: m["per_topic"]["s1"].update({"recall@100": 1.0}), "metrics.json"),
        "for topic 's1' it states recall@100 1.0, and the recorded answers get 0.666",
    ),
    "budgets": (
        in_file(lambda m: m["budget"].update(max_searches=500)),
        r"step 0 \(reset\): the observation differs",
    ),
    "another engine's hits": (another_engine, "step 1 .*: the observation differs"),
    "plug-in": (changed_plug_in, r"The plug-in mine.py .*has changed since the run \(metric lett"),
    "truncated": (in_episodes(lambda e: e.pop()), "The run has 1 of its 2 episodes"),
    "easier topics": (
        in_episodes(lambda e: e.__setitem__(0, e[1] | {"repeat": 1})),
        "line 1 is not of this run: .* in repeat",
    ),
    "unseen": (
        in_episodes(lambda e: e[-1].update(unseen=0.25)),
        "the share of unseen ids differs: expected 0.25, found 0.0",
    ),
    "failed": (
        in_episodes(lambda e: e[-1].update(failed={"kind": "KeyError"}, metrics={})),
        "whether its scoring failed differs: expected true, found false",
    ),
    "definition": (
        in_file(lambda m: m["definition"].update(headline="recall@10")),
        "The manifest states definition .*'recall@10'",
    ),
    "task set": (
        in_file(lambda m: m.update(task_set={"name": "all@1", "sha256": "0" * 64})),
        "The manifest states task_set {'name': 'all@1', 'sha256': '000",
    ),
    "files": (
        in_file(lambda m: m["files"].update({"/etc/hostname": "0" * 64})),
        "Edited since the run: /etc/hostname",
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_caught(run, corpus, name):
    cheat, reason = CHEATS[name]
    cheat(run, corpus)
    try:
        found = verify(run, corpus)
    except DataError as error:  # what cannot be of the run is not played
        assert re.search(reason, str(error)), error
    else:
        assert not found.verified
        assert re.search(reason, found.reason), found.reason


def test_a_run_over_another_corpus_is_caught(honest, synthetic):
    with pytest.raises(CorpusError, match="was run with another corpus"):
        verify(honest, synthetic)


class Wonder(Agent):
    """Submits labels that stand in its code."""

    def act(self, observation):
        return call("submit", paper_ids=["p2", "p3", "p4"])


def test_labels_as_answers_are_flagged(run, corpus, capsys):
    """Labels in an agent cannot be seen; submitted papers that no result had can."""
    arena.run(corpus, "discovery", Wonder, run, overwrite=True)
    assert main(["verify", str(run), "--corpus", str(corpus)]) == 0
    verified, claims, flag = capsys.readouterr().out.splitlines()
    assert verified.startswith("Verified: ")
    assert claims.startswith("Claims, not checked: agent Wonder, model -,")
    assert flag.startswith("Flagged: 100% of the submitted ids were in no result")


def test_claims(run, corpus):
    claims = {"model": "m-1", "model_cutoff": "2025-01-01", "openness": "api"}
    (run / "claims.json").write_text(json.dumps(claims))
    assert verify(run, corpus).claims == {"agent": "title"} | claims
    for wrong, message in (
        ({"openness": "very"}, "claims.json': give .* an openness of open_source_open_weights, "),
        ([], "claims.json': give a JSON object"),
    ):
        (run / "claims.json").write_text(json.dumps(wrong))
        with pytest.raises(ArenaError, match=message):
            verify(run, corpus)


def tar(path, *members, source=None):
    """Write an archive of members, each a `TarInfo` and its content, and of a directory."""
    with tarfile.open(path, "w:gz") as archive:
        if source is not None:
            archive.add(source, "submitted")
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def member(name, **attributes):
    info = tarfile.TarInfo(name)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info, b"" if attributes else b"{}"


def zipped(path, *names, source=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(source.iterdir()) if source else ():
            archive.write(each, each.name)
        for name in names:
            archive.writestr(name, "{}")
    return path


def test_archives_of_a_run(honest, corpus, tmp_path):
    """With the folder or without; errors name the archive, and not where it was unpacked."""
    report = verify(honest, corpus)
    assert verify(tar(tmp_path / "a.tar.gz", source=honest), corpus) == report
    assert verify(zipped(tmp_path / "a.zip", source=honest), corpus) == report
    with pytest.raises(CorpusError, match=r"^'[^']*/b\.zip' contains no run"):
        verify(zipped(tmp_path / "b.zip", "notes.txt"), corpus)


LINK = zipfile.ZipInfo("manifest.json")
LINK.external_attr = 0o120777 << 16


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda p: tar(p, member("run/x", type=tarfile.SYMTYPE, linkname="/etc/passwd")),
            "has 'run/x', a link or a special file",
        ),
        (lambda p: tar(p, member("x", type=tarfile.LNKTYPE, linkname="y")), "a link or a special"),
        (lambda p: tar(p, member("x", type=tarfile.FIFOTYPE)), "a link or a special file"),
        (lambda p: zipped(p, LINK), "has 'manifest.json', a link or a special file"),
        (lambda p: tar(p, member("../x")), "names '../x', which leads elsewhere"),
        (lambda p: tar(p, member("/tmp/x")), "names '/tmp/x', which leads elsewhere"),
        (lambda p: zipped(p, "a/../../x"), "which leads elsewhere"),
        (lambda p: zipped(p, "a", "a"), "cannot be unpacked: .*File exists"),
        (lambda p: p.write_bytes(b"\x1f\x8b no") and p, "cannot be unpacked"),
        (lambda p: tar(p, (tarfile.TarInfo("x"), bytes(2_000_000))), r"more than 0\.001 GB, unp"),
        (lambda p: zipped(p, *map(str, range(2))) and big(p), r"more than 0\.001 GB, unpacked"),
    ],
)
def test_archives_that_are_refused(corpus, tmp_path, make, message):
    path = make(tmp_path / "a.tar.gz")
    with pytest.raises(DataError, match=message):
        verify(path, corpus, limits=Limits(size=1_000_000))
    assert [each.name for each in tmp_path.iterdir()] == ["a.tar.gz"]


def big(path):
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2_000_000))
    return path


def test_limits_of_a_directory(run, corpus, capsys):
    for limits, message in (
        (Limits(size=100), "more than 1e-07 GB"),
        (Limits(steps=1), "line 1: the episode has 2 steps; an episode of a submission has at m"),
        (Limits(seconds=0), "takes more than 0 minutes to play again"),
    ):
        with pytest.raises(DataError, match=message):
            verify(run, corpus, limits=limits)
    options = ["--corpus", str(corpus)]
    assert main(["verify", str(run), *options, "--max-minutes", "0"]) == 2
    assert "--max-minutes 0: give minutes above 0" in capsys.readouterr().err
    (run / "link").symlink_to("/etc/hostname")
    assert main(["verify", str(run), *options]) == 2
    assert "has 'link', a link or a special file" in capsys.readouterr().err


def test_a_million_actions_are_refused_before_they_are_parsed(run, corpus):
    step = '{"action": 1, "observation_sha256": "0"},'
    (run / "trajectories.jsonl").write_text('{"steps": [' + step * 1_000_000 + "\n")
    with pytest.raises(DataError, match=r"has 999,999 steps; .* has at most 10,000"):
        verify(run, corpus)


def test_a_manifest_with_anything_anywhere(run, corpus):
    for change in (
        {"seed": {}}, {"topics": [[1]]}, {"repeats": "x"}, {"plugins": [{"names": ["soup x"]}]},
        {"budget": {"max_steps": "all"}}, {"sha256": {"corpus": None}}, {"version": 4},
        {"agent_options": {}, "definition": {"metrics": []}, "files": {"x": 1}},
        {"environment": {"retriever": "bm25", "reward": "", "start_from": "/etc/passwd"}},
    ):  # fmt: skip
        then = (run / "manifest.json").read_text()
        edit(run, lambda m, change=change: m.update(change))
        try:
            assert not verify(run, corpus).verified
        except ArenaError as error:
            assert "root:" not in str(error)
        (run / "manifest.json").write_text(then)


def test_last_digits_of_an_encoder(corpus, tmp_path, monkeypatch):
    """On another processor hits have the same ids in the same order, and scores to 1e-6."""
    monkeypatch.setattr("arena.runs.environment.promises_bits", lambda config: False)
    run = tmp_path / "run"
    arena.run(corpus, "discovery", "title", run, topics=["s1"])
    _, step, _ = replay_steps(run, "s1", corpus)
    hits = json.loads(step.observation["result"])["hits"]
    first = json.loads((run / "trajectories.jsonl").read_text())["steps"][0]
    assert first["scores"] == [hit["score"] for hit in hits]
    assert verify(run, corpus).verified

    def as_seen_elsewhere(changed, off):
        scores = [hit["score"] + off for hit in changed]
        text = json.dumps({"hits": changed}, ensure_ascii=False, separators=(",", ":"))
        for hit, score in zip(changed, scores, strict=True):
            text = text.replace(f'"score":{hit["score"]}', f'"score":{score}')
        seen = sha256_json(step.observation | {"result": text})
        here = {"scores": scores, "observation_sha256": seen}
        edit_episodes(run, lambda e: e[0]["steps"][0].update(here))
        return verify(run, corpus)

    assert as_seen_elsewhere(hits, 3e-7).verified
    found = as_seen_elsewhere(hits, 1e-5)
    assert found.difference.what == "the observation"
    assert not as_seen_elsewhere([hits[1], hits[0], *hits[2:]], 0.0).verified
