"""An agent that learns from the reward which query to send next; see docs/training.md."""
