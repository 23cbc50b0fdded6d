"""The map in sentences: converts lists of words to lines of the map."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from attncalc.reading.answers.map_words import Lexeme
from attncalc.reading.plain.marks import COMMA

ALL, ITSELF = "*", "="
_NOUNS = ("out", "in", "token")
_VERBS = ("attends", "takes", "feeds", "arrow")
_RANKS = ("most", "second")
_DASHED = ("⇢", "⤏", "- ")
_PASSED = ("", "dash", "noun", "to", "other", "by", "unknown", "open", "close")


class Item(NamedTuple):
    """Tokens that are named together, with their side, or a word between them."""

    kind: str
    role: str = ""
    names: tuple[str, ...] = ()


class Share(NamedTuple):
    """An input that an output attends to; the rank is "" if none is given."""

    name: str
    rank: str = ""
    value: float | None = None


class Told(NamedTuple):
    """The statement of one clause: each of these outputs attends to these inputs."""

    outputs: tuple[str, ...]
    shares: tuple[Share, ...]
    is_equal: bool = False


class Heard(NamedTuple):
    """The statements of a sentence; `is_missed` if a part of it is not understood."""

    told: tuple[Told, ...] = ()
    is_missed: bool = False


def heard(lexemes: Sequence[Lexeme], last: Told | None = None) -> Heard:
    """Return what a sentence states about the map.

    lexemes: its words.
    last: the previous statement: "it" is its output, and "the same" are its inputs.

    >>> from attncalc.reading.answers.map_words import lexemes_in
    >>> heard(lexemes_in("outputs 1 and 2 attend to input 3", {})).told[0].outputs
    ('1', '2')
    """
    kept = _until_reason(lexemes)
    items = _items(kept)
    kinds = [item.kind for item in items]
    if "data" in kinds:
        items = items[: kinds.index("data")]
        if not items or items[-1].kind in ("arrow", "colon"):
            return Heard()
    named = [i for i, item in enumerate(items) if item.kind == "names"]
    if _is_place(items, kept):
        return Heard()
    if last and _is_same(items, named):
        return Heard((last._replace(outputs=items[named[0]].names),))
    evidence = _Evidence.of(items, kept)
    if not (evidence.is_linked() or (last and evidence.has_both)) or _is_data(items):
        # output 1 is a mix of inputs 1 and 3
        names_both = evidence.has_both and {each.kind for each in kept} >= {"out", "in"}
        return Heard(is_missed=names_both and "data" not in kinds and not _is_data(items))
    miss = Heard(is_missed=evidence.is_like_a_line())
    if "no" in evidence.kinds and not _denies_second(items):  # to input 3, not to input 2
        is_all_denied = sum(i < kinds.index("no") for i in named) < 2
        return Heard() if is_all_denied else miss
    core = items[named[0] : named[-1] + 1]
    if "bad" in evidence.kinds or any(each.kind == "unknown" for each in _outside_brackets(core)):
        return miss
    walk = _Walk(_with_sides(items), last.outputs if last else ())
    return Heard(tuple(walk.told)) if walk.run() else miss


class _Evidence(NamedTuple):
    """Evidence that a sentence is about the map."""

    kinds: set[str]
    names: list[str]
    groups: int
    has_out: bool
    has_both: bool
    has_token: bool
    has_row: bool
    has_line: bool

    @classmethod
    def of(cls, items: Sequence[Item], kept: Sequence[Lexeme]) -> "_Evidence":
        named = [item for item in items if item.kind == "names"]
        roles = {item.role for item in named}
        return cls(
            {item.kind for item in items},
            [name for item in named for name in item.names if name != ALL],
            len(named),
            "out" in roles,
            roles >= {"out", "in"},
            any(each.kind in ("token", "symbol") for each in kept),
            any(each.said == "row" for each in kept) and "in" not in roles,
            any(each.said in ("solid", "dashed") for each in kept),
        )

    def is_linked(self) -> bool:
        """Whether a word relates the names."""
        if not self.names or (self.has_row and not self.has_token):  # row 1 is dominated by 8
            return False
        is_said = self.has_out or self.has_token or self.has_words or self.has_line
        if "takes" in self.kinds and not (self.groups > 1 and is_said):
            return False
        return bool(self.kinds & {*_VERBS}) or self.has_line or self._is_ranked()

    def _is_ranked(self) -> bool:
        if self.has_both:
            return bool(self.kinds & {*_RANKS, "equal", "colon"})
        is_choice = "noun" in self.kinds or ("colon" in self.kinds and not self.has_row)
        if self.has_out and (is_choice or self.has_token):
            return bool(self.kinds & {*_RANKS})
        are_words = self.has_token or not any(name.isdigit() for name in self.names)
        return self.groups > 1 and are_words and "most" in self.kinds

    @property
    def has_words(self) -> bool:
        return not all(name.isdigit() for name in self.names)

    def is_like_a_line(self) -> bool:
        """Whether a sentence that is not understood should be listed."""
        is_named = self.has_both or self.has_out or self.has_token or self.has_words
        return is_named and (bool(self.kinds & {"attends", "feeds"}) or self.has_both)


def _is_same(items: Sequence[Item], named: Sequence[int]) -> bool:
    """Return whether a sentence states the same of another output: so does output 2."""
    if len(named) != 1 or items[named[0]].role != "out" or named[0] != len(items) - 1:
        return False
    kinds = [item.kind for item in items[: named[0]] if item.kind not in ("", "to", "sep")]
    return bool(kinds) and {*kinds} <= {"equal", "likewise"}


def _until_reason(lexemes: Sequence[Lexeme]) -> list[Lexeme]:
    """Return a sentence without the reason after it, and without the numbers of an equation."""
    first = next((i for i in range(len(lexemes)) if _name(lexemes, i)), len(lexemes))
    kinds = [each.kind for each in lexemes]
    end = kinds.index("stop", first) if "stop" in kinds[first:] else len(kinds)
    return [*lexemes[:end]]


def _is_place(items: Sequence[Item], kept: Sequence[Lexeme]) -> bool:
    """Return whether a sentence names an entry of a matrix: row 1, column 2."""
    has_row = any(each.said == "row" for each in kept)
    sides = [item.role if item.kind == "names" else item.kind for item in items]
    threes = zip(sides, sides[1:], sides[2:], strict=False)
    return has_row and ("out", "sep", "in") in threes


def _is_data(items: Sequence[Item]) -> bool:
    """Return whether a sentence contains the numbers of a row: 1 looks at 1: 1.5, at 2: -2."""
    kinds = [item.kind for item in items if item.kind != "token"]
    return any(a in ("colon", "arrow", "names") and b == "value" for a, b in pairwise(kinds))


def _denies_second(items: Sequence[Item]) -> bool:
    """Return whether a sentence denies only a second input: no second, dashed: none."""
    kinds = [item.kind for item in items if item.kind not in ("", "colon", "to", "noun")]
    at = [i for i, kind in enumerate(kinds) if kind == "no"]
    return all("second" in (*kinds[i + 1 : i + 2], *kinds[max(i - 1, 0) : i]) for i in at)


def _outside_brackets(items: Iterable[Item]) -> list[Item]:
    """Return the items outside brackets, and the names within."""
    found, depth = [], 0
    for item in items:
        depth += (item.kind == "open") - (item.kind == "close")
        if depth <= 0:
            found.append(item)
    return found


# -- names --------------------------------------------------------------------------------------


def _items(lexemes: Sequence[Lexeme]) -> list[Item]:
    found: list[Item] = []
    i, has_verb = 0, False
    while i < len(lexemes):
        has_verb = has_verb or (bool(found) and found[-1].kind in _VERBS)
        step, item = _named(lexemes, i, has_verb)
        if item is None:
            each, step = lexemes[i], i + 1
            kind = each.kind
            if kind == "ordinal":
                kind = _rank_of(lexemes, i)
            role = each.said if kind in ("value", "arrow", "sep") else ""
            if kind == "most" and found and found[-1].kind == "second":
                kind = ""  # the second largest
            item = Item(kind, role)
        found.append(item)
        i = step
    return found


def _rank_of(lexemes: Sequence[Lexeme], i: int) -> str:
    """Return the meaning of an ordinal without a noun: a rank, or the beginning of a list."""
    after = lexemes[i + 1].kind if i + 1 < len(lexemes) else ""
    before = lexemes[i - 1].kind if i else "end"
    if lexemes[i].said not in ("1", "2") or (before == "end" and after == "sep"):
        return "unknown" if lexemes[i].said not in ("1", "2") else ""
    return _RANKS[int(lexemes[i].said) - 1]


def _named(lexemes: Sequence[Lexeme], i: int, has_verb: bool) -> tuple[int, Item | None]:
    """Return the tokens named from here on, and their end."""
    counted = _ordinals(lexemes, i, has_verb)
    if counted[1]:
        return counted
    if lexemes[i].kind == "self":
        return i + 1, Item("names", "in", (ITSELF,))
    role, j = _nouns(lexemes, i)
    role, names, parted, end = _listed(lexemes, j, role)
    if not names:
        kinds = {each.kind for each in lexemes[i:j]}
        if "all" in kinds and kinds & {"out", "token"}:
            return j, Item("names", role, (ALL,))
        return (j, Item("token")) if j > i else (i, None)
    if not role and has_verb and parted and _begins_clause(lexemes, end):
        commas = [each for each in parted if each[2] == ","]
        count, end, _ = (commas or parted)[-1]
        names = names[:count]
    if not role and end + 1 < len(lexemes) and lexemes[end].said == "of":  # token 3 of X2
        role, end = (_nouns(lexemes, end + 1)[0], end)
        end += 2 if role else 0
    return end, Item("names", role, tuple(names))


def _nouns(lexemes: Sequence[Lexeme], i: int) -> tuple[str, int]:
    """Return the side that nouns name, and their end: output token, key."""
    role = ""
    while i < len(lexemes) and lexemes[i].kind in (*_NOUNS, "all"):
        role = lexemes[i].kind if lexemes[i].kind in ("out", "in") else role
        i += 1
    return role, i


def _listed(
    lexemes: Sequence[Lexeme], i: int, role: str
) -> tuple[str, list[str], list[tuple[int, int, str]], int]:
    """Return the tokens of a list, after how many of them a sign splits it, and where."""
    names: list[str] = []
    parted: list[tuple[int, int, str]] = []
    while (name := _name(lexemes, i)) and (name[1] or role) == (role or name[1]):
        names.append(name[0])
        role, i = role or name[1], i + 1
        k = i
        while k < len(lexemes) and lexemes[k].kind == "sep":
            k += 1
        other, m = _nouns(lexemes, k)
        following = _name(lexemes, m)
        if k == i or following is None or (other or following[1] or role) != role:
            break
        parted.append((len(names), i, lexemes[i].said))
        i = m
    return role, names, parted, i


def _name(lexemes: Sequence[Lexeme], i: int) -> tuple[str, str] | None:
    """Return the token that a word names, and its side if the word contains it: k3."""
    if i >= len(lexemes):
        return None
    kind, said = lexemes[i][:2]
    if kind == "number" or kind.startswith("symbol"):
        return said, kind.partition(" ")[2]
    return None


def _begins_clause(lexemes: Sequence[Lexeme], i: int) -> bool:
    """Return whether the text before a word is the subject of a clause: …, 2 to 3; 2 is next."""
    while i < len(lexemes) and lexemes[i].kind in (*_RANKS, "equal", ""):
        i += 1
    kinds = [each.kind for each in lexemes[i : i + 3]]
    return kinds[:1] != [] and (
        kinds[0] in _VERBS
        or kinds[:2] in (["to", "number"], ["unknown", "ordinal"])
        or kinds == ["to", "token", "number"]
    )


def _ordinals(lexemes: Sequence[Lexeme], i: int, has_verb: bool) -> tuple[int, Item | None]:
    """Return the tokens that ordinals count: the first and second outputs, the third."""
    names, j = [], i
    while j < len(lexemes) and lexemes[j].kind == "ordinal":
        names.append(lexemes[j].said)
        j += 1
        k = j
        while k < len(lexemes) and (lexemes[k].kind == "sep" or lexemes[k].said in _ARTICLES):
            k += 1
        j = k if k < len(lexemes) and lexemes[k].kind == "ordinal" else j
    if names == ["1"] and j < len(lexemes) and lexemes[j].said in ("2", "3", "4"):  # the first two
        names, j = [str(k) for k in range(1, int(lexemes[j].said) + 1)], j + 1
    role, end = _nouns(lexemes, j)
    if not names or (end > j and _name(lexemes, end)):
        return i, None
    is_bare = i > 0 and lexemes[i - 1].said in _ARTICLES and _ends(lexemes, end)
    if end > j or (is_bare and (has_verb or len(names) > 1 or int(names[0]) > 2)):
        return end, Item("names", role, tuple(names))
    return i, None


def _ends(lexemes: Sequence[Lexeme], i: int) -> bool:
    return i == len(lexemes) or lexemes[i].kind in ("end", "sep", "open", *_VERBS, "stop")


_ARTICLES = ("the", "der", "die", "das", "den", "dem", "la", "le", "el", "il", "o", "de", "het")


# -- sides --------------------------------------------------------------------------------------


def _with_sides(items: Sequence[Item]) -> list[Item]:
    """Return items in which every name is an output or an input.

    A name without a side is on the other side of the verb than a name with one; among names without
    sides, outputs attend, and inputs influence.
    """
    found = list(items)
    verb, subject = "", ""
    for i, item in enumerate(items):
        if item.kind in _VERBS:
            verb = item.kind
        if item.kind != "names":
            continue
        rest = [each for each in items[i + 1 :] if each.kind not in ("sep", "token")]
        behind = [each.kind for each in items[i + 1 : i + 4]]
        is_ranked = behind[::2] == ["sep", "colon"] and behind[1] in _RANKS  # 3, dashed: 2
        if (_is_subject(rest) and not is_ranked) or not subject:
            role = subject = item.role or _side_of_subject(rest, verb)
        else:
            opposite = "in" if subject == "out" else "out"
            before = next((x.kind for x in items[i - 1 :: -1] if x.kind not in _PASSED), "")
            is_object = before in ("attends", "takes") and item.role == subject == "out"
            role = opposite if is_object else item.role or opposite
            subject = role if not verb and role != opposite else subject
        found[i] = item._replace(role=role)
    return found


def _side_of_subject(rest: Sequence[Item], verb: str) -> str:
    """Return the side of the subject of a verb, if no word states it."""
    near = next((k for k, each in enumerate(rest) if each.kind == "names"), len(rest))
    kinds = [each.kind for each in rest[:near]]
    own = next((kind for kind in kinds if kind in _VERBS), verb)
    is_led = (own == "feeds") != ("by" in kinds and own in ("attends", "takes", "feeds"))
    other = rest[near].role if near < len(rest) and not _is_subject(rest[near + 1 :]) else ""
    return {"out": "in", "in": "out"}.get(other, "in" if is_led else "out")


def _is_subject(rest: Sequence[Item]) -> bool:
    """Return whether a verb, or its sign, comes before any other name."""
    for each in rest:
        if each.kind in (*_VERBS, "colon"):
            return True
        if each.kind in ("names", "end", "open", "close", "value", "then"):
            return False
    return False


# -- ranks --------------------------------------------------------------------------------------


class _Walk:
    """Goes through a sentence, and stores which output attends to which inputs."""

    def __init__(self, items: Sequence[Item], before: tuple[str, ...]) -> None:
        self.items = items
        self.before = before
        self.told: list[Told] = []
        self.outputs: tuple[str, ...] = ()
        self.shares: list[Share] = []
        self.rank = self.heading = ""
        self.is_equal = any(item.kind == "equal" for item in items)
        self.size = 0
        self.value: float | None = None
        self.is_led, self.is_like, self.is_good = False, False, True

    def run(self) -> bool:
        """Return whether the entire sentence is understood."""
        for i, item in enumerate(self.items):
            self._take(i, item)
        self._close()
        return self.is_good and bool(self.told)

    def _take(self, i: int, item: Item) -> None:
        if item.kind == "names":
            self._name(i, item)
        elif item.kind in (*_RANKS, "then"):
            self._ranked(i, item.kind)
        elif item.kind == "value":
            behind = [each.kind for each in self.items[i + 1 : i + 3]]
            if behind == ["to", "names"]:  # 0.9 to cat, and 0.1 to dog
                self.value = _number(item.role)
            elif self.shares:
                self.shares[-1] = self.shares[-1]._replace(value=_number(item.role))
        elif item.kind == "arrow" and item.role.startswith(_DASHED):
            self.rank = "second"
        self.is_like = self.is_like or item.kind == "likewise"

    def _name(self, i: int, item: Item) -> None:
        if item.role == "out":
            if self.shares and (self.outputs or self._goes_on(i)):
                self._close()
            is_more = self.outputs and not self.shares
            self.outputs = (*self.outputs, *item.names) if is_more else item.names
            self.rank = self.rank or self.heading  # second: 1 -> 3, 2 -> 1
            return
        if self.is_led and self.outputs and self.shares:
            self._close()
        behind = [(each.kind, each.role) for each in self.items[i + 1 : i + 3]]
        is_for = behind == [("to", ""), ("names", "out")]  # input 3 for output 1
        self.is_led = self.is_led or (not self.outputs and (is_for or not self.before))
        rank = self.rank or (self.heading if self.is_led else "")
        self.shares += [Share(name, rank, self.value) for name in item.names]
        self.value = None
        self.rank, self.size, self.is_like = "", len(item.names), False

    def _goes_on(self, i: int) -> bool:
        """Return whether an output begins a new clause, after one about the previous output."""
        return not self.is_led and bool(self.before) and _is_subject(self.items[i + 1 :])

    def _ranked(self, i: int, kind: str) -> None:
        """Store a rank for the input after it, or assign it to the inputs before it."""
        if kind == "then":
            self.rank = "second" if self.shares else self.rank
            return
        rest = self.items[i + 1 :]
        stops = {"sep", "close", "end", "equal", *_RANKS} if self.shares else {*_RANKS}
        end = next((k for k, each in enumerate(rest) if each.kind in stops), len(rest))
        before = next((x.kind for x in self.items[i - 1 :: -1] if x.kind not in _PASSED), "")
        is_aside = i > 0 and before == "sep"  # and, to a lesser degree, input 2
        named = rest if is_aside else rest[:end]
        if any(each.kind == "names" and each.role == "in" for each in named):
            self.rank = kind
            self.heading = kind if rest[0].kind == "colon" else ""  # second: 3 for output 1, …
        elif self.shares and not self._is_denied(i):
            # … and less, (dashed: ?)
            is_cut = rest[0].kind == "colon" if rest else self.items[i - 1].role == "and"
            self.is_good = self.is_good and not is_cut
            own = range(len(self.shares) - self.size, len(self.shares))
            for k in own if not self.shares[-1].rank else ():
                self.shares[k] = self.shares[k]._replace(rank=kind)

    def _is_denied(self, i: int) -> bool:
        near = [e.kind for e in self.items[max(i - 2, 0) : i + 4] if e.kind not in ("", "colon")]
        return "no" in near

    def _close(self) -> None:
        """Store the statements about one output, or about several."""
        is_again = bool(self.told) and not self.shares and self.is_like
        outputs = self.outputs or (self.before if self.shares else ())
        shares = self.told[-1].shares if is_again else tuple(self.shares)
        if outputs and shares:
            self.told.append(Told(outputs, shares, self.is_equal))
            self.before = outputs
        elif outputs or shares:
            self.is_good = False
        self.outputs, self.shares = (), []


def _number(text: str) -> float | None:
    share = text.strip(" %").replace(COMMA, ".").replace(",", ".").lstrip("+-−–")
    return None if "/" in share else float(share) / (100 if "%" in text else 1)
