"""Tests of `serve`."""
