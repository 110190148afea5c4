"""Reads a checkpoint, all but its weights, in a process with limits on time and memory first."""
