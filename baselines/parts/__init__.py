"""Code that baselines share, and the parts of the larger ones; no module here is an agent."""
