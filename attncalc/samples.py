"""The problems that come with attncalc, one for every form of input."""

from dataclasses import dataclass
from pathlib import Path

from attncalc.errors import InputError


@dataclass(frozen=True)
class Sample:
    """A bundled problem: its name, the file or folder that holds it, and what it shows."""

    name: str
    file: str
    kind: str
    shows: str

    @property
    def path(self) -> Path:
        """Where it lies: inside the installed package, or in the checkout beside it."""
        package = Path(__file__).parent
        installed = package / "samples" / self.file
        return installed if installed.exists() else package.parent / "samples" / self.file


SAMPLES = (
    Sample(
        "self",
        "self.json",
        "self",
        "homework 1: three tokens, not scaled, each step rounded (JSON)",
    ),
    Sample(
        "cross", "cross.json", "cross", "homework 2: two tokens attend to four, with a tie (JSON)"
    ),
    Sample(
        "sentence",
        "sentence.json",
        "self",
        "labels, fractions, scaled by √d_k, three decimals (JSON)",
    ),
    Sample(
        "translation",
        "translation.json",
        "cross",
        "labels of both sides, the homework's names of keys (JSON)",
    ),
    Sample(
        "blocks", "blocks.csv", "self", "one CSV file of named blocks, tokens in the first column"
    ),
    Sample(
        "decimal-comma",
        "decimal-comma.csv",
        "cross",
        "semicolons and decimal commas, as a spreadsheet writes them",
    ),
    Sample(
        "folder", "folder", "self", "a folder with one CSV file for each matrix, with header rows"
    ),
)


def sample(name: str) -> Sample:
    """Return the sample of that name.

    Raises
    ------
    InputError
        When none has it; the message lists them.

    Examples
    --------
    >>> sample("cross").kind
    'cross'
    """
    for each in SAMPLES:
        if each.name == name:
            return each
    names = ", ".join(each.name for each in SAMPLES)
    raise InputError(f'no sample is called "{name}": there are {names}')
