"""The commands ``arena experiment``, ``judge``, ``mindmap`` and ``report``; importing a module registers its own."""
