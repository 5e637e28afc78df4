"""Composition roots, one per function: the only readers of the environment."""
