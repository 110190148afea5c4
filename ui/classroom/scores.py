"""The mean of a class's guesses, in the server's memory alone, for a few hours.

A class is known by the random name in its link, and each student by a random name that the tab of a browser makes up.
Of a guess, its token's number and its bits arrive. The bits are added up, and the tokens that a student has guessed are
kept, so that none counts twice. For its limits, a class also counts how many students each address has.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from decoding.parameters.parameter import number, quoted
from model.errors import AttendError

PATH = "/class-scores"
MAX_CLASSES = 500  # one more drops the class with the fewest guesses
MAX_STUDENTS = 256  # of a class; the guesses of others don't count
MAX_STUDENTS_OF_ADDRESS = 64  # of them; a whole school may have one address
MAX_CLASSES_OF_ADDRESS = 40  # that were begun from one address and are not forgotten
MAX_TOKENS = 256  # of a text
MAX_BITS = 40.0  # of one guess; ui/classroom/guesses.js has the same
MAX_AGE = 3 * 3600.0  # seconds since a class's last guess
Means = dict[int, dict[str, float]]  # by token: the mean "bits" of its guesses, and their "count"
_NAME = re.compile(r"[a-z0-9]{8,20}")  # as in ui/kit/address/class_part.js


@dataclass(slots=True)
class _Class:
    begun_by: str  # an address
    last: float  # seconds on the clock when the last guess came
    guesses: int = 0
    sums: dict[int, tuple[float, int]] = field(default_factory=dict)  # by token: bits, and how many guesses
    students: dict[str, int] = field(default_factory=dict)  # by name: a bit for each token that was guessed
    addresses: Counter[str] = field(default_factory=Counter)  # how many students each has

    def add(self, student: str, address: str, token: int, bits: float) -> None:
        """Add a guess, unless this student has guessed the token or the class has no room for one more student."""
        if student not in self.students:
            if len(self.students) >= MAX_STUDENTS or self.addresses[address] >= MAX_STUDENTS_OF_ADDRESS:
                return
            self.students[student] = 0
            self.addresses[address] += 1
        if self.students[student] >> token & 1:
            return
        self.students[student] |= 1 << token
        total, count = self.sums.get(token, (0.0, 0))
        self.sums[token] = (total + bits, count + 1)
        self.guesses += 1


class ClassScores:
    """The guesses of all classes, bounded in number and age; two classes never mix."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._classes = OrderedDict[str, _Class]()  # the one whose last guess is oldest first

    def __len__(self) -> int:
        return len(self._classes)

    def add(self, name: object, token: object, bits: object, *, student: object, address: str) -> Means:
        """Add a guess to its class. A student's second guess of a token changes nothing.

        Args:
            token: its number, counted from the first that was generated.
            bits: how surprising the guess was to the model.
            student: the random name of a browser tab.
            address: where the guess came from.

        Raises:
            AttendError: if it isn't a guess, or if too many classes were begun from this address.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise AttendError(f"The class {quoted(name)} has no valid name: open the link that the teacher gave you.")
        if not isinstance(student, str) or not _NAME.fullmatch(student):
            raise AttendError(f"The student {quoted(student)} has no valid name: reload the page.")
        index = int(number("token", token, 0, MAX_TOKENS - 1, integer=True))
        value = float(number("bits", bits, 0, MAX_BITS))
        now = self._clock()
        self._forget(now)
        scores = self._classes.get(name) or self._begin(name, address, now)
        self._classes.move_to_end(name)
        scores.last = now
        scores.add(student, address, index, value)
        return {token: {"bits": bits / count, "count": count} for token, (bits, count) in scores.sums.items()}

    def _forget(self, now: float) -> None:
        while self._classes and now - next(iter(self._classes.values())).last > MAX_AGE:
            self._classes.popitem(last=False)

    def _begin(self, name: str, address: str, now: float) -> _Class:
        """A class whose first guess comes from this address, in place of the one with the fewest guesses if need be."""
        if sum(each.begun_by == address for each in self._classes.values()) >= MAX_CLASSES_OF_ADDRESS:
            raise AttendError(
                f"{MAX_CLASSES_OF_ADDRESS} classes were begun from your address, which is the limit: use an earlier "
                "class's link, or wait for three hours."
            )
        if len(self._classes) == MAX_CLASSES:  # many new ones drop each other, no real one
            del self._classes[min(self._classes, key=lambda each: self._classes[each].guesses)]
        self._classes[name] = _Class(address, now)
        return self._classes[name]


def routes(address_of: Callable[[Request], str]) -> list[Route]:
    """Where the page sends its guesses, `{"name", "student", "token", "bits"}`; the answer has the class's `means`.

    Args:
        address_of: the address of a request, in the form that limits count.
    """
    scores = ClassScores()

    async def gather(request: Request) -> Response:
        try:
            guess = json.loads(await request.body())
            if not isinstance(guess, dict):
                raise AttendError(f"A guess is an object, but this is {quoted(guess)}: reload the page.")
            name, token, bits, student = (guess.get(part) for part in ("name", "token", "bits", "student"))
            return JSONResponse({"means": scores.add(name, token, bits, student=student, address=address_of(request))})
        except (AttendError, ValueError, RecursionError) as error:
            sentence = str(error) if isinstance(error, AttendError) else "This guess is not JSON: reload the page."
            return JSONResponse({"detail": sentence}, 400)

    return [Route(PATH, gather, methods=["POST"])]
