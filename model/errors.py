"""The exceptions meant for people: plain words, the value at fault, the limit, and the way out."""


class AttendError(Exception):
    """Something a person can put right.

    Its message is one plain sentence that goes to the screen as it is, so it names what was wrong and what to do
    instead. Programming mistakes are not this: they stay `ValueError`, `TypeError` and the like.
    """


class EncoderOnly(AttendError):
    """An encoder alone, such as BERT: it reads texts and can be inspected, but it writes none."""

    def __init__(self, called: str, kind: str) -> None:
        """
        Args:
            called: what the sentence calls the model.
            kind: the name of its architecture.
        """
        super().__init__(
            f"{called} is a {kind}, an encoder: it reads all of a text at once and was never taught which token comes "
            f"next, so it cannot generate; python app.py --model {called} shows what it reads."
        )
