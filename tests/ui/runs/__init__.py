"""Tests of runs on the page, without a browser."""
