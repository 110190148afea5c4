"""The one exception meant for people: plain words, the value at fault, the limit, and the way out."""


class AttendError(Exception):
    """Something a person can put right.

    Its message is one plain sentence that goes to the screen as it is, so it names what was wrong and what to do
    instead. Programming mistakes are not this: they stay `ValueError`, `TypeError` and the like.
    """
