"""Training on the labels of task sets; nothing that an agent imports."""
