"""What happens to a record that cannot be read: a refusal, or a counted skip."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bayesift.errors import DataError
from bayesift.records import Problem


@dataclass
class ProblemLog:
    """Collects the problems of one source; every loader reports to it instead of raising.

    Parameters
    ----------
    skip : keep going and count, instead of refusing the source at its first problem

    Examples
    --------
    >>> log = ProblemLog(skip=True)
    >>> log.report("not a JSON object", file="news.jsonl", line=3)
    >>> [str(problem) for problem in log.problems]
    ['news.jsonl:3: not a JSON object']
    """

    skip: bool = False
    problems: list[Problem] = field(default_factory=list)

    def report(self, message: str, *, file: str | Path, line: int | None = None) -> None:
        """Refuse the source with this message, or note it and let the caller skip the record."""
        if not self.skip:
            raise DataError(message, file=file, line=line)
        self.problems.append(Problem(str(file), line, message))
