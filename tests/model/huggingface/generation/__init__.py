"""Tests of what a checkpoint says about its texts."""
