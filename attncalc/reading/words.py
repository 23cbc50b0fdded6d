"""Words by their meaning, from words.txt, in the format of configuration files."""

from configparser import ConfigParser
from functools import cache
from pathlib import Path


@cache
def _sections() -> ConfigParser:
    sections = ConfigParser(delimiters=(":",), interpolation=None)
    sections.optionxform = str  # type: ignore[assignment,method-assign] # Q is not q
    sections.read_string(Path(__file__).with_name("words.txt").read_text(encoding="utf-8"))
    return sections


def words_by_meaning(section: str) -> dict[str, list[str]]:
    """Return the words of a section by their meaning, in its order.

    >>> words_by_meaning("english ordinals")["2"]
    ['second', '2nd']
    """
    return {meaning: words.split() for meaning, words in _sections()[section].items()}


def meanings(section: str) -> dict[str, str]:
    """Return the meaning of each word of a section."""
    by_meaning = words_by_meaning(section).items()
    return {word: meaning for meaning, words in by_meaning for word in words}
