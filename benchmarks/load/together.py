"""How long the students of a class wait when each of them sends a message at the same moment.

    python -m benchmarks.load.together [--model attend-chat] [--students 30] [--tokens 64] [--rounds 5]

Each student is a Gradio client. As with a teacher's link, all have the same message, settings and seed, so they get the
same text. Server and clients share the machine. The table shows for each round how long the median and the last student
waited for the first token and for the end, and the tokens a second of all together. The last line is JSON.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from benchmarks.flags import add_counts, add_model, add_port
from benchmarks.load.page import serving
from benchmarks.load.visitors import Visitor
from benchmarks.timing import machine, table
from model.command_line import Parser, command


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds that the students waited."""

    first_median: float
    first_worst: float
    end_median: float
    end_worst: float
    tokens_per_second: float  # of all together, until the last one's end

    @classmethod
    def of(cls, first: Sequence[float], end: Sequence[float], tokens: int) -> Round:
        return cls(statistics.median(first), max(first), statistics.median(end), max(end), tokens / max(end))


class Student(Visitor):
    """A visitor with the message and the seed of the class."""

    def __init__(self, address: str, model: str, tokens: int) -> None:
        super().__init__(address, model, tokens, number=0)

    def answer(self, start: threading.Barrier) -> tuple[float, float]:
        """The seconds to the first token and to the end of an answer that is asked for when all students are there."""
        start.wait()
        self.chat(math.inf)
        first, later = self.seen.first.pop(), sum(self.seen.gaps)
        self.seen.gaps.clear()
        return first, first + later


def measure(students: Sequence[Student], threads: ThreadPoolExecutor) -> Round:
    """One message of each at the same moment."""
    before = sum(student.seen.tokens for student in students)
    start = threading.Barrier(len(students))
    waited = [*threads.map(lambda student: student.answer(start), students)]
    first, end = zip(*waited, strict=True)
    return Round.of(first, end, sum(student.seen.tokens for student in students) - before)


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(prog="python -m benchmarks.load.together", description="Let a class ask at the same moment.")
    add_model(parser)
    add_counts(parser, students=30, tokens=64, rounds=5)
    add_port(parser, 7865)
    options = parser.parse_args(arguments)
    count = options.students
    with (
        serving(options.model, options.port, calls=4 * count) as page,
        ThreadPoolExecutor(count) as threads,
    ):
        students = [*threads.map(lambda _: Student(page.address, options.model, options.tokens), range(count))]
        students[0].answer(threading.Barrier(1))  # loads what comes with the first answer
        rounds = [measure(students, threads) for _ in range(options.rounds)]
    names = ("first median", "worst", "end median", "worst", "tokens/s")
    rows = [
        (str(number), *(f"{value:.2f}" for value in asdict(each).values())) for number, each in enumerate(rounds, 1)
    ]
    print(table([("round", *names), *rows]))
    everything = {"model": options.model, "students": count, "tokens": options.tokens, "rounds": [*map(asdict, rounds)]}
    print(json.dumps({**everything, "machine": machine()}))


if __name__ == "__main__":
    sys.exit(main())
