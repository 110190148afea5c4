"""Runs what comes with an untrusted checkpoint in child processes with limits on time and memory."""
