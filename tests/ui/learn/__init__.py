"""Tests of the chapters, without a browser."""
