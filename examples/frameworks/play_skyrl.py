"""Register whole episodes as an environment of SkyRL, for texts with one call in a tag."""

from skyrl_gym.envs import register
from skyrl_gym.envs.base_text_env import BaseTextEnv

from arena.session import Sessions, opening_text, step_text

SESSIONS = Sessions.make("demo/synthetic", task="discovery")


class Discovery(BaseTextEnv):
    def __init__(self, env_config, extras):
        super().__init__()
        self.session = SESSIONS.open(seed=extras.get("seed"), topic_id=extras.get("topic_id"))

    def init(self, prompt):
        return [*prompt, {"role": "user", "content": opening_text(self.session.first)}], {}

    def step(self, action):
        call = action.partition("<tool>")[2].partition("</tool>")[0]
        step = self.session.step(
            call
        )  # JSON, such as {"tool": "search", "arguments": {"query": "x"}}
        messages = [{"role": "user", "content": step_text(step.observation)}]
        done = step.terminated or step.truncated
        return {
            "observations": messages,
            "reward": step.reward,
            "done": done,
            "metadata": {**step.info, "credit": self.session.totals().credit},
        }

    def get_metrics(self):
        return self.session.totals().metrics

    def close(self):
        SESSIONS.close(self.session.key)


register(id="arena-discovery", entry_point=Discovery)
