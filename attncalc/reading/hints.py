"""The hints that an answer took: a practice page writes them into its download."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attncalc.base.errors import AttncalcError
from attncalc.reading.json_values import read_json_object

LEVELS = ("1", "2", "3")


def hints_in(place: str) -> dict[str, int]:
    """Return the level of the hint on each step in the JSON of an answer; {} without any."""
    if Path(place).suffix.lower() != ".json":
        return {}
    with suppress(AttncalcError):  # marking it reports the error
        problem = read_json_object(Path(place), "an answer").get("problem")
        hints = problem.get("hints") if isinstance(problem, Mapping) else None
        if isinstance(hints, Mapping):
            return {name: int(level) for name, level in hints.items() if str(level) in LEVELS}
    return {}
