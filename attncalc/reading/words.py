"""Words by their meaning, from words.txt, and other files with sections, as of configurations."""

from collections.abc import Mapping
from configparser import ConfigParser
from functools import cache
from pathlib import Path


@cache
def sections_in(path: Path) -> dict[str, Mapping[str, str]]:
    """Return the sections of a file, each with its keys and values, in their order."""
    parser = ConfigParser(delimiters=(":",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # Q is not q
    parser.read_string(path.read_text(encoding="utf-8"))
    return {name: parser[name] for name in parser.sections()}


_WORDS = Path(__file__).with_name("words.txt")


def words_by_meaning(section: str, path: Path = _WORDS) -> dict[str, list[str]]:
    """Return the words of a section by their meaning, in its order.

    >>> words_by_meaning("english ordinals")["2"]
    ['second', '2nd']
    """
    return {meaning: words.split() for meaning, words in sections_in(path)[section].items()}


def meanings(section: str, path: Path = _WORDS) -> dict[str, str]:
    """Return the meaning of each word of a section."""
    by_meaning = words_by_meaning(section, path).items()
    return {word: meaning for meaning, words in by_meaning for word in words}
