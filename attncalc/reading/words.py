"""Words by their meaning, from words.txt, and other files with sections, as of configurations."""

from collections.abc import Mapping
from configparser import ConfigParser
from functools import cache
from importlib.resources import files


@cache
def sections_in(package: str, file: str) -> dict[str, Mapping[str, str]]:
    """Return the sections of a file, each with its keys and values, in their order.

    The package may be in a zip file: course systems run the wheel.
    """
    parser = ConfigParser(delimiters=(":",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # Q is not q
    parser.read_string(files(package).joinpath(file).read_text(encoding="utf-8"))
    return {name: parser[name] for name in parser.sections()}


_WORDS = __package__, "words.txt"


def words_by_meaning(section: str, source: tuple[str, str] = _WORDS) -> dict[str, list[str]]:
    """Return the words of a section by their meaning, in its order.

    >>> words_by_meaning("english ordinals")["2"]
    ['second', '2nd']
    """
    return {meaning: words.split() for meaning, words in sections_in(*source)[section].items()}


def meanings(section: str, source: tuple[str, str] = _WORDS) -> dict[str, str]:
    """Return the meaning of each word of a section."""
    by_meaning = words_by_meaning(section, source).items()
    return {word: meaning for meaning, words in by_meaning for word in words}
