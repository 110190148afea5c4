"""Messages in several versions, and texts that go on where they ended or with another token."""
