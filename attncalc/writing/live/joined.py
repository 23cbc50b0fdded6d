"""The modules of the page's script as one text: so a wheel has them, which is to stay small.

Nothing but the standard library is needed here, for packages are built with this.
"""

import re
from collections.abc import Iterator, Mapping

from attncalc.writing.live.tokens import tokens

JOINED = "script.txt"
"""The file of that text, beside this one, where the modules are not."""
IMPORT = re.compile(r'^import \{([^}]{0,2000}+)\} from "\./([a-z_]{1,40}+)\.js";\n', re.MULTILINE)
_BEGINS = re.compile(r"^//([a-z_]{1,40}+)\n", re.MULTILINE)
_IN_WORDS = re.compile(r"[\w$]")


def join(modules: Mapping[str, str]) -> str:
    r"""Return modules one after another, without comments and without spaces that mean nothing.

    Examples
    --------
    >>> join({"a": "/** One. */\nexport const one = 1; // or so\n", "b": "let two;\n"})
    '//a\nexport const one=1;\n//b\nlet two;\n'
    """
    return "".join(f"//{name}\n{_short(text)}\n" for name, text in modules.items())


def part(joined: str) -> dict[str, str]:
    r"""Return the modules of which a text was joined, by their names.

    Examples
    --------
    >>> part("//a\nlet one;\n//b\nlet two;\n")
    {'a': 'let one;\n', 'b': 'let two;\n'}
    """
    _, *found = _BEGINS.split(joined)
    return dict(zip(found[::2], found[1::2], strict=True))


def _short(text: str) -> str:
    taken = "".join(" ".join(each[0].split()) + "\n" for each in IMPORT.finditer(text))
    return taken + "".join(_spaced(IMPORT.sub("", text)))


def _spaced(text: str) -> Iterator[str]:
    """Yield tokens, with a space between two that would be one, or another one, without it."""
    before = ""
    for token in tokens(text):
        ends = before[-1:] + token.text[:1]
        if len(_IN_WORDS.findall(ends)) == len(ends) == 2 or ends in ("++", "--", "//", "/*"):
            yield " "
        yield token.text
        before = token.text
