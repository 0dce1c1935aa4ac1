"""Encoders that are language models; importing a module registers its own."""
