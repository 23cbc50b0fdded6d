"""Text from outside is data: escaped, shortened, and repeated names numbered."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

MOST_NAMED = 6
"""Names listed in a sentence before the rest is counted."""
LISTED = MOST_NAMED + 1
"""The number of names that are all listed: one more takes no more space than its count."""
LEFT_TO_RIGHT_MARK = "\u200e"
_RIGHT_TO_LEFT = ("R", "AL")
_SPELLED_OUT = {"\n": "⏎", "\r": "⏎", "\t": " "}


def harmless(text: str) -> str:
    r"""Return `text` without control characters and direction overrides.

    >>> harmless("a\x1b[31mb")
    'a[31mb'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_SPELLED_OUT.get(c, c) for c in text if c in _SPELLED_OUT or _is_visible(c))


_FORMULA = re.compile(r"[\s']*[=+\-@]\s*\S")
"""The start of a text that a spreadsheet would read as a formula; a sign alone is none."""


def harmless_cell(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula; `without_quote` restores it.

    >>> harmless_cell("＝1+1"), harmless_cell("cat"), harmless_cell("-")
    ("'＝1+1", 'cat', '-')
    """
    plain = harmless(text)
    return f"'{plain}" if _is_formula(plain) else plain


def without_quote(cell: str) -> str:
    """Return the text of a cell without the mark that keeps it from being a formula.

    >>> without_quote("'=1+1"), without_quote("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    """Return whether a spreadsheet may read a text as a formula, in any width of its signs."""
    return _FORMULA.match(unicodedata.normalize("NFKC", harmless(text))) is not None


_NO_ASCII = re.compile("[^\0-~]")


def in_json(value: Any, **how: Any) -> str:
    r"""Return a value as JSON text, with invisible characters escaped.

    Raises ValueError for numbers that JSON does not have, such as infinity.

    **how: as in `json.dumps`.

    >>> print(in_json(["é", "\x9b", "\u202e"]))
    ["é", "\u009b", "\u202e"]
    """
    import json  # here, for most runs write none

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **how)
    if text.isascii() and "\x7f" not in text:  # most is: numbers, of which there are many
        return text
    return _NO_ASCII.sub(lambda found: _seen(found[0]), text)


def _seen(character: str) -> str:
    """Return a character, or its escape if it is invisible."""
    if _is_visible(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def on_a_line(text: str) -> str:
    """Return escaped text for a line of a terminal.

    Marks isolate right-to-left words, so that the numbers next to them keep their order.
    """
    kept = harmless(text)
    if any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in kept):
        return f"{LEFT_TO_RIGHT_MARK}{kept}{LEFT_TO_RIGHT_MARK}"
    return kept


def _is_visible(character: str) -> bool:
    """Return whether a character shows, or joins those that do (emoji are joined by U+200D)."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or (
        character == "\u200d"
    )


_ASCII = str.maketrans("×·≈├│└─\u00a0†−–⏎●✗→○", "x*~||`- '-- *x>+") | {
    ord(sign): text
    for sign, text in ((LEFT_TO_RIGHT_MARK, None), ("√", "sqrt "), ("ᵀ", "^T"), ("∞", "inf"),
                       ("…", "..."))
}  # fmt: skip


def within(encoding: str, text: str) -> str:
    """Return `text` in an encoding: attncalc's signs in ASCII, others as escapes."""
    if encoding.lower().startswith("utf"):
        return text
    plain = text.replace(" · ", " | ").translate(_ASCII)
    return plain.encode(encoding, "backslashreplace").decode(encoding)


KEPT_FOR_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]")
"""Names that Windows reserves for devices, in any case and with any ending."""
_NOT_IN_NAMES = '<>:"/\\|?*'


def as_key(name: str) -> str:
    """Return a key that is equal for names that some file system treats as equal.

    >>> as_key("Straße") == as_key("STRASSE")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFC", folded)


def what_forbids(name: str) -> str:
    """Return why Windows does not allow a file name; "" if it does.

    >>> what_forbids("nul.txt"), what_forbids("a:b"), what_forbids("key.md")
    ('is reserved for a device', 'has a ":" in it', '')
    """
    found = next((c for c in name if c in _NOT_IN_NAMES or ord(c) < 32), "")
    if found:
        return f'has a "{found}" in it' if found.isprintable() else "has a control character in it"
    if KEPT_FOR_DEVICES.fullmatch(name.partition(".")[0].rstrip().lower()):
        return "is reserved for a device"
    return "ends in a dot or a space" if name.endswith((".", " ")) else ""


def for_any_system(name: str) -> str:
    """Return a file name that every system allows: impossible characters become -.

    >>> for_any_system("what?"), for_any_system("con.x"), for_any_system("ada")
    ('what-', '-con.x', 'ada')
    """
    kept = "".join("-" if c in _NOT_IN_NAMES or ord(c) < 32 else c for c in name)
    kept = kept[: len(kept.rstrip(". "))] + "-" * (len(kept) - len(kept.rstrip(". ")))
    return f"-{kept}" if what_forbids(kept) else kept


def distinct_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels with each repeated one followed by its position, counted from 1.

    >>> distinct_names(["the", "cat", "the"])
    ('the (1)', 'cat', 'the (3)')
    """
    count = Counter(labels)
    all_numbered = tuple(f"{label} ({place})" for place, label in enumerate(labels, start=1))
    pairs = zip(labels, all_numbered, strict=True)
    names = tuple(label if count[label] == 1 else other for label, other in pairs)
    return names if len(set(names)) == len(names) else all_numbered


def numbered(size: int) -> tuple[str, ...]:
    """Return the names "1" … "size".

    >>> numbered(3)
    ('1', '2', '3')
    """
    return tuple(str(position) for position in range(1, size + 1))


def shown_names(
    names: Sequence[str],
    shown: Sequence[int | None],
    longest: int,
    write: Callable[[str], str],
    ellipsis: tuple[str, str] = ("…", "…"),
) -> list[str]:
    """Return the shown names as a form writes them, long ones shortened and still distinct.

    shown: which are shown, with None where some are left out.
    longest: characters of a name before it is cut.
    write: returns a name, made harmless, in the form.
    ellipsis: the text at the end of a shortened name, and in place of omitted names, in the form.

    >>> shown_names(["cat", "mouse", "dog"], [0, None, 2], 4, str.upper)
    ['CAT', '…', 'DOG']
    """
    cut, left_out = ellipsis
    short = shortened([harmless(names[i]) for i in shown if i is not None], longest, cut)
    written = [write(name) for name in short]
    if None in shown:
        written.insert(list(shown).index(None), left_out)
    return written


def shortened(labels: Sequence[str], longest: int, ellipsis: str = "…") -> tuple[str, ...]:
    """Return the labels shortened to `longest` characters, and still distinct.

    >>> shortened(["encyclopaedia", "encyclopaedic", "end"], 6)
    ('encyc… (1)', 'encyc… (2)', 'end')
    """
    if all(len(label) <= longest for label in labels):
        return tuple(labels)
    kept = longest - len(ellipsis)
    return distinct_names([x if len(x) <= longest else x[:kept] + ellipsis for x in labels])


def of_each(names: Sequence[str], count: int | None = None) -> str:
    """List names, the first few of them, and count the rest.

    names: the names; of many, the first `LISTED` are enough.
    count: how many there are; None for as many as are given.

    >>> of_each(["1", "2", "3"])
    '1, 2 and 3'
    """
    count = len(names) if count is None else count
    if count > LISTED:
        names = [*names[:MOST_NAMED], f"{count - MOST_NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def entry_name(name: str, place: Iterable[int]) -> str:
    """Return the name of an entry, counted from 1.

    >>> entry_name("A", (1, 0))
    'A[2,1]'
    """
    return f"{name}[{','.join(str(index + 1) for index in place)}]"


def capital(text: str) -> str:
    """Return a text with a capital."""
    return text[:1].upper() + text[1:]


def amount(count: int, noun: str) -> str:
    """Return a number of things.

    >>> amount(1, "page"), amount(2000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def has_run(items: Sequence[object], part: Sequence[object]) -> bool:
    """Return whether words or numbers contain others consecutively.

    >>> has_run([1, 2, 3], [2, 3]), has_run(["a", "b"], ["b", "a"])
    (True, False)
    """
    last = len(items) - len(part)
    return any(tuple(items[at : at + len(part)]) == tuple(part) for at in range(last + 1))
