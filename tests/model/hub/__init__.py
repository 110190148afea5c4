"""Tests of downloads, against a fake Hub on this machine."""
