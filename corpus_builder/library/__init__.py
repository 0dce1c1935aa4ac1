"""A person's own library: papers of several files and formats, joined."""
