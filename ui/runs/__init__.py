"""Running models for the page: sessions, the worker thread, and the records of what was generated."""
