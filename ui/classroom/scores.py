"""The mean of a class's guesses: nothing but numbers, in the server's memory alone, for a few hours.

A class is known by the random name in its link. Of each guess only its token's number and its bits arrive; they are
added up, and neither the guess nor who made it is kept.
"""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from decoding.parameters.parameter import number, quoted
from model.errors import AttendError

PATH = "/class-scores"
MAX_CLASSES = 1000  # one more drops the class with the fewest guesses
MAX_TOKENS = 256  # of a text
MAX_BITS = 40.0  # of one guess; ui/classroom/guesses.js has the same
MAX_AGE = 3 * 3600.0  # seconds since a class's last guess
_NAME = re.compile(r"[a-z0-9]{8,20}")  # as in ui/kit/address/class_part.js


@dataclass(slots=True)
class _Class:
    last: float  # seconds, when the last guess came
    guesses: int = 0
    sums: dict[int, tuple[float, int]] = field(default_factory=dict)  # by token: bits, and how many guesses


class ClassScores:
    """The guesses of all classes, bounded in number and age; two classes never mix."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._classes = OrderedDict[str, _Class]()  # the quietest first

    def __len__(self) -> int:
        return len(self._classes)

    def add(self, name: object, token: object, bits: object) -> dict[int, dict[str, float]]:
        """Add a guess to its class.

        Args:
            token: its number, counted from the first that was generated.
            bits: how surprising the guess was to the model.

        Returns:
            The mean bits of the class's guesses and their count, by token.

        Raises:
            AttendError: if it isn't a guess.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise AttendError(f"The class {quoted(name)} has no valid name: open the link that the teacher gave you.")
        index = int(number("token", token, 0, MAX_TOKENS - 1, integer=True))
        value = float(number("bits", bits, 0, MAX_BITS))
        now = self._clock()
        while self._classes and now - next(iter(self._classes.values())).last > MAX_AGE:
            self._classes.popitem(last=False)
        if (
            name not in self._classes and len(self._classes) == MAX_CLASSES
        ):  # many new ones drop each other, no real one
            del self._classes[min(self._classes, key=lambda each: self._classes[each].guesses)]  # the quietest of them
        scores = self._classes.setdefault(name, _Class(now))
        self._classes.move_to_end(name)
        total, count = scores.sums.get(index, (0.0, 0))
        scores.last, scores.sums[index] = now, (total + value, count + 1)
        scores.guesses += 1
        return {token: {"bits": bits / count, "count": count} for token, (bits, count) in scores.sums.items()}


def routes() -> list[Route]:
    """Where the page sends its guesses, `{"name", "token", "bits"}`; the answer has the class's `means`."""
    scores = ClassScores()

    async def gather(request: Request) -> Response:
        try:
            guess = json.loads(await request.body())
            if not isinstance(guess, dict):
                raise AttendError(f"A guess is an object, but this is {quoted(guess)}: reload the page.")
            return JSONResponse({"means": scores.add(guess.get("name"), guess.get("token"), guess.get("bits"))})
        except (AttendError, ValueError, RecursionError) as error:
            sentence = str(error) if isinstance(error, AttendError) else "This guess is no JSON: reload the page."
            return JSONResponse({"detail": sentence}, 400)

    return [Route(PATH, gather, methods=["POST"])]
