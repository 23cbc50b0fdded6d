"""The modules of the page's script: what each declares and takes, and what is needed of them."""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import NamedTuple

from attncalc.writing.live.mirrored import MIRRORED, RARE, VALUES
from attncalc.writing.live.tokens import Token, tokens

_FOLDER = "attncalc.writing.live"
IMPORT = re.compile(r'^import \{([^}]{0,2000}+)\} from "\./([a-z_]{1,40}+)\.js";\n', re.MULTILINE)
_CHOSEN = frozenset(MIRRORED) | RARE | VALUES["kind"]
"""What tables may be by."""


class Name(NamedTuple):
    """What is declared in a module, outside of all functions."""

    module: str
    name: str


class Declaration(NamedTuple):
    """A function, a class or constants: their names, and how they are written.

    What does something as it is read, as adding to a table, has no names.
    """

    names: tuple[str, ...]
    tokens: Sequence[Token]


class Module(NamedTuple):
    """A file of the script.

    Parameters
    ----------
    name
        What it is called.
    declarations
        What it declares, in order.
    exported
        The names that others may take.
    known
        What a name stands for that is declared outside of all functions, here or where it is from.
    """

    name: str
    declarations: tuple[Declaration, ...]
    exported: tuple[str, ...]
    known: Mapping[str, Name]


@cache
def texts() -> Mapping[str, str]:
    """Return the modules as they are written, by their names."""
    inside = {each.name: each for each in files(_FOLDER).iterdir()}
    names = sorted(name for name in inside if name.endswith(".js"))
    return {name.removesuffix(".js"): inside[name].read_text("utf-8") for name in names}


@cache
def module(name: str, instead: tuple[str, ...] = ()) -> Module:
    """Return a file of this folder, read.

    Parameters
    ----------
    name
        What it is called.
    instead
        Modules that stand in for others: what one of them exports is taken from there by all
        modules but itself, whoever else exports it.
    """
    others = _exported_by(tuple(each for each in instead if each != name))
    text = texts()[name]
    known = {}
    for found in IMPORT.finditer(text):
        for each in filter(None, map(str.strip, found[1].split(","))):
            theirs, _, ours = each.partition(" as ")
            known[ours or theirs] = others.get(theirs, Name(found[2], theirs))
    pieces = _pieces(tokens(IMPORT.sub("", text)))
    exported = tuple(own for each, is_exported in pieces if is_exported for own in each.names)
    known |= {own: Name(name, own) for each, _ in pieces for own in each.names}
    return Module(name, tuple(each for each, _ in pieces), exported, known)


def _exported_by(names: tuple[str, ...]) -> Mapping[str, Name]:
    return {each: Name(name, each) for name in names for each in module(name).exported}


def _pieces(all_tokens: Sequence[Token]) -> list[tuple[Declaration, bool]]:
    """Return what stands outside of all functions, piece by piece, and whether it is exported."""
    found: list[tuple[Declaration, bool]] = []
    piece: list[Token] = []
    for token in all_tokens:
        piece.append(token)
        is_body = any(each.text in ("function", "class") for each in piece[:2])
        if token.depth or token.text != ("}" if is_body else ";"):
            continue
        is_exported = piece[0].text == "export"
        said = piece[is_exported:]
        found.append((Declaration(_declared(said), said), is_exported))
        piece = []
    return found


def _declared(piece: Sequence[Token]) -> tuple[str, ...]:
    """Return what is declared: f of `function f`, a and b of `const a = 1, b = 2`."""
    if piece[0].text in ("function", "class"):
        return (next(each.text for each in piece[1:] if each.text != "*"),)
    if piece[0].text not in ("const", "let"):
        return ()  # it does something
    outer = [token.text for token in piece if not token.depth]
    pairs = itertools.pairwise(outer)
    found = tuple(name for before, name in pairs if before in ("const", "let", ","))
    if not all(map(str.isidentifier, found)):
        raise ValueError(f"one name at a time can be declared in a module, not {found}")
    return found


def needed(
    starts: Iterable[Name],
    operations: Collection[str],
    more: Collection[str] = (),
    instead: tuple[str, ...] = (),
) -> list[tuple[Module, Declaration]]:
    """Return what is needed for some names, modules behind those that they take from.

    Parameters
    ----------
    starts
        What is wanted.
    operations
        The operations that are, and the kinds of activations: tables by them go without the
        entries of all others.
    more
        Modules that do something as they are read, which is wanted, too.
    instead
        Modules that stand in for others.
    """
    read = partial(module, instead=instead)
    found: dict[Name, Declaration] = {}
    done = {
        name: [_pruned(each, operations) for each in read(name).declarations if not each.names]
        for name in more
    }
    asked = list(starts)
    asked += [each for name, all_done in done.items() for one in all_done
              for each in _read_by(read(name), one)]  # fmt: skip
    while asked:
        if (name := asked.pop()) in found:
            continue
        owner = read(name.module)
        (whole,) = (each for each in owner.declarations if name.name in each.names)
        pruned = _pruned(whole, operations)
        found |= {Name(owner.name, each): pruned for each in whole.names}
        asked += _read_by(owner, pruned)
    owners = _in_order({*(name.module for name in found), *more}, instead)
    return [(owner, each) for owner in owners for each in _kept(owner, found, done)]


def _kept(
    owner: Module, found: Mapping[Name, Declaration], done: Mapping[str, list[Declaration]]
) -> Iterator[Declaration]:
    """Yield what is needed of a module, in its order."""
    acts = iter(done.get(owner.name, ()))
    for each in owner.declarations:
        if not each.names:
            yield from (next(acts),) if owner.name in done else ()
        elif (name := Name(owner.name, each.names[0])) in found:
            yield found[name]


def _read_by(owner: Module, declaration: Declaration) -> Iterator[Name]:
    """Yield what a declaration reads that is declared outside of functions."""
    for token in declaration.tokens:
        if token.role in ("variable", "both") and token.text in owner.known:
            yield owner.known[token.text]


def _in_order(names: Collection[str], instead: tuple[str, ...]) -> list[Module]:
    """Return modules, each behind those that it takes something from."""
    found: dict[str, Module] = {}

    def put(name: str) -> None:
        for each in module(name, instead).known.values():
            if each.module != name and each.module not in found:
                put(each.module)
        found[name] = module(name, instead)

    for name in sorted(names):
        if name not in found:
            put(name)
    return [each for name, each in found.items() if name in names]


def _pruned(whole: Declaration, operations: Collection[str]) -> Declaration:
    """Return a declaration; of tables by operation the entries of these operations alone."""
    kept, before = [], ""
    skipped: int | None = None  # how deep what is left out stands
    for token, after in zip(whole.tokens, [*whole.tokens[1:], None], strict=True):
        if before in ("{", ",") and after and after.text == ":" and skipped in (None, token.depth):
            key = token.text.strip('"')
            is_left_out = key in _CHOSEN and key not in operations
            skipped = token.depth if is_left_out else None
        elif skipped is not None and token.depth < skipped:
            skipped = None
        if skipped is None:
            kept.append(token)
        before = token.text
    return whole._replace(tokens=kept)
