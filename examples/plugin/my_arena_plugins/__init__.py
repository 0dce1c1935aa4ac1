"""Plug-ins of somebody else; docs/extending.md explains them."""
