"""The commands ``arena experiment``, ``judge``, ``mindmap`` and ``report``; one file each."""
