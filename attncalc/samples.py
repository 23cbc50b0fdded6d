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
    Sample("self", "self.json", "self", "homework 1: three tokens, each step rounded (JSON)"),
    Sample("cross", "cross.json", "cross", "homework 2: two tokens attend to four, a tie (JSON)"),
    Sample("sentence", "sentence.json", "self", "labels, fractions, scaled, three decimals (JSON)"),
    Sample(
        "translation",
        "translation.json",
        "cross",
        "labels of both sides, the homework's key names (JSON)",
    ),
    Sample("blocks", "blocks.csv", "self", "one CSV file of named blocks, labels in a column"),
    Sample(
        "decimal-comma",
        "decimal-comma.csv",
        "cross",
        "semicolons and decimal commas, as in a spreadsheet",
    ),
    Sample("folder", "folder", "self", "a folder with a CSV file for each matrix"),
    Sample("causal", "causal.json", "self", "a causal mask"),
    Sample("masks", "masks.json", "cross", "ignored padding, and a bias with -inf"),
    Sample("heads", "heads.json", "self", "two heads, biases, an output projection"),
    Sample(
        "grouped", "grouped.json", "self", "four query heads, two key and value heads, averaged"
    ),
    Sample("copy", "copy.json", "cross", "Q, K and V given: one value copied"),
    Sample("average", "average.json", "cross", "Q, K and V given: two values averaged"),
    Sample("positions", "positions.json", "self", "sinusoidal positions"),
    Sample("rope", "rope.json", "self", "rotary positions, a softcap"),
    Sample("columns", "columns.json", "self", "tokens as columns, hardmax"),
    Sample("torch", "torch.json", "self", "weights stored (out, in), scores over their sum"),
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
