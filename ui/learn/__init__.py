"""The Learn tab: a course in chapters, one folder each."""
