"""Integrations: trainers, evaluators, data-set tools, and runs in the forms that others read."""
