"""The exceptions of kasane: what the user corrects, what failed, and what the calling program must not do."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Union


class InputProblem(NamedTuple):
    """One problem in the input: problem, reason, remedy, and its position as far as it is known."""

    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    key: Optional[str] = None

    def __str__(self) -> str:
        """FILE:LINE:COLUMN: KEY: message, without the parts that are unknown."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return ": ".join(part for part in (place, self.key, self.message) if part)


class InputError(ValueError):
    """Bad input, files or arguments. `problems` has all that were found; file, line, column and key are those of the first."""

    def __init__(self, problems: Union[str, Sequence[Sequence[object]]], key: Optional[str] = None) -> None:
        if isinstance(problems, str):
            problems = [(problems, None, None, None, key)]
        self.problems = [InputProblem(*problem) for problem in problems]  # type: ignore[arg-type]
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple:
        return InputError, ([tuple(problem) for problem in self.problems],)

    @property
    def file(self) -> Optional[str]:
        return self.problems[0].file

    @property
    def line(self) -> Optional[int]:
        return self.problems[0].line

    @property
    def column(self) -> Optional[int]:
        return self.problems[0].column

    @property
    def key(self) -> Optional[str]:
        return self.problems[0].key


class ComputationError(RuntimeError):
    """The computation failed: blown up, out of memory, disk full."""


class LogicError(RuntimeError):
    """The calling program misuses the interface: an object that another thread uses, an object of another size."""
