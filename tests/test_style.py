"""Documentation is plain technical English: docs/style.md has the rules, `PHRASES` what they ban.

`found_in` checks any text, `found_in_python` the strings and comments of a Python file.
"""

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from conftest import PACKAGE, ROOT, for_all

PHRASES = {
    r"stands? for": "means",
    r"stands?|stood": "is, appears",
    r"said": "reported, stated",
    r"(?:is|are|was|were|be|being) told": "reports, shows",
    r"comes? to": "is, equals",
    r"told|tells? of": "reports",
    r"nobody(?:'s)?|no one|somebody|whoever": "unmatched, a person",
    r"mend(?:s|ed|ing)?": "fix",
    r"parted|parts? into": "separated, splits",
    r"(?:it|page|pages|that|not|gradients) lives?": "is interactive",
    r"(?:comes?|came) (?:of|about|by)": "results from, is calculated",
    r"becomes? of": "happens to",
    r"hangs? (?:on|upon)": "depends on",
    r"who takes whom|who attends to whom": "which input each output attends to",
    r"each their own": "one per student",
    r"the house|rooms": "packages",
    r"read off": "derived from",
    r"wants?|wanted": "requires, requested",
    r"work(?:s|ed|ing)? (?:it |them )?out": "compute",
    r"foresaw|foreseen": "unexpected",
    r"changes? hands": "changes, moves",
    r"takes? (?:it )?all|takes? input": "attends only to",
    r"tokens that ask|tokens? asks?": "query tokens",
    r"(?:all the )?ways? (?:there and )?back|there and back": "backward pass, backpropagation",
    r"joins the sum": "is added to the denominator",
    r"hence|thereof|therein|whence|thus": "so",
    r"anew": "again",
    r"may as well|as well as not": "can also be",
    r"in so many words|in words|at its word|in no silence|unawares": "explicitly",
    r"all the same": "anyway",
    r"knows? (?:of|again)": "recognizes",
    r"where it lies|wherever it lies": "in place",
    r"is no (?:text|rule|step)": "is not a",
    r"must be said": "is required",
    r"goes? past": "skips",
    r"of one's own": "of your own",
    r"strangers?": "untrusted",
    r"knife's edge": "unstable",
    # one spelling, the American one, as in NumPy and PyTorch
    r"(?:normal|recogn|serial|quant|factor|minim|optim|token)is(?:es?|ed|ing|ations?)": "-ize",
    r"(?:non-)?(?:colou|neighbou|behaviou|favou)r(?:s|ed|ing|ite|able)?": "-or",
    r"labell(?:ed|ing)|cancell(?:ed|ing)|modell(?:ed|ing)": "labeled, canceled, modeled",
    r"centre[ds]?|grey|licence|judgement": "center, gray, license, judgment",
    r"catalogues?|practis(?:ed?|ing)|towards|analyse[ds]?": "catalog, practice, toward, analyze",
}
"""Patterns of words, and what to write instead."""
BANNED = re.compile(r"(?<![\w-])(?:" + "|".join(PHRASES) + r")(?![\w-])")
"""In lower case: a pattern that ignores case takes four times as long."""
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), PACKAGE / "cli/commands.md", *(ROOT / "docs").rglob("*.*"))
    if path.suffix in {".md", ".ipynb"} and not {"reference", "gallery"} & set(path.parts)
)
EXEMPT = {
    "style.md",  # quotes what it bans
    "key.md",  # written by a command
}
CLEAN = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
"""Packages, whose messages, docstrings and comments are checked."""
VOCABULARY = ("map_words.py", "name.py", "layer_words.py", "vocabulary.py")
"""Modules with words that answers may contain."""
NOT_PROSE = re.compile(
    r"^( *)\*{0,2}\w+(?:, \*{0,2}\w+)*\n(?=\1 {4}\S)|^ *\w+(?:, \w+)*: |^ *(?:>>>|\.\.\.) .*$",
    re.MULTILINE,
)
"""Names of parameters, and examples, in a docstring."""
COMMENT = re.compile("#(.*)")
LINE_BREAK = re.compile(r"\n[ #]*")
CODE = re.compile(r"^(`{3,}).*?^\1$|<!--.*?-->|`[^`]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def found_in(text: str) -> list[str]:
    """Return the banned phrases of a text, in order."""
    return BANNED.findall(" ".join(text.lower().split()))


def prose(path: Path) -> str:
    """Return the text of a page or notebook without its code, outputs, links and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return CODE.sub(" ", text)


def strings(source: str, *, messages: bool = True) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring in Python, and of other strings with two words.

    Docstrings are yielded without code, examples and names of parameters.
    """
    docstrings = set()
    for node in ast.walk(ast.parse(source)):  # a statement comes before what it contains
        if isinstance(node, ast.Expr):
            docstrings.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(text := node.value, str):
            if id(node) in docstrings:
                yield node.lineno, CODE.sub(" ", NOT_PROSE.sub("", text))
            elif messages and re.search(r"[a-z] [a-z]", text):
                yield node.lineno, text


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each comment in Python; adjacent lines are one comment."""
    number, text = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.string.lstrip("# ")
            if token.start[0] > number + 1:
                yield number, text
                text = ""
            number, text = token.start[0], f"{text} {line}"
    yield number, text


def found_in_python(path: Path, *, messages: bool = True) -> dict[str, list[str]]:
    """Return the banned phrases of a Python file, by file and line; messages are optional."""
    source = path.read_text(encoding="utf-8")
    if not found_in(LINE_BREAK.sub(" ", source)):
        return {}  # parsing takes longer
    may_be_comments = found_in(" ".join(COMMENT.findall(source)))  # and tokenizing most
    texts = chain(strings(source, messages=messages), comments(source) if may_be_comments else ())
    return {
        f"{path.relative_to(ROOT)}:{line}": phrases
        for line, text in texts
        if (phrases := found_in(text))
    }


@for_all("page", [path for path in PAGES if path.name not in EXEMPT])  # fmt: skip
def test_a_page_has_no_banned_phrase(page: Path) -> None:
    assert found_in(prose(page)) == []


@pytest.mark.parametrize("package", CLEAN)
def test_a_package_has_no_banned_phrase(package: str) -> None:
    found = {}
    for path in (PACKAGE / package).rglob("*.py"):
        found |= found_in_python(path, messages=path.name not in VOCABULARY)
    assert found == {}


@pytest.mark.parametrize(
    "folder", ["benchmarks", "docs", pytest.param("tests", marks=pytest.mark.slow)]
)
def test_other_programs_have_no_banned_phrase_in_docstrings_and_comments(folder: str) -> None:
    found = {}
    for path in (ROOT / folder).rglob("*.py"):
        found |= found_in_python(path, messages=False)
    assert found == {}


def test_phrases_are_found_in_prose_and_not_in_code_or_outputs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("It stands\nfor Q. `nobody`\n\n```text\nmended\n```\n\nstandalone amendment\n")
    assert found_in(prose(page)) == ["stands for"]


def test_phrases_are_found_in_messages_docstrings_and_comments() -> None:
    source = (
        '"""It stands\nfor Q.\n\ntold, wanted\n    Names.\n\n>>> mend()\n`mend`"""\n'
        'CODE = "stands-for"\n'
        'say(f"{name} stands for Q")  # nobody\n\n'
        "x = 1  # it stands\n# for Q\n"
    )
    texts = [*strings(source), *comments(source)]
    found = [(line, phrase) for line, text in texts for phrase in found_in(text)]
    assert found == [(1, "stands for"), (10, "stands for"), (10, "nobody"), (13, "stands for")]


def test_the_changelog_is_short() -> None:
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count("\n") <= 120
