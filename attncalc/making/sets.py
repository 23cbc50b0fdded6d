"""Problems for a class: the version of each student, and its seed."""

import hmac
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from attncalc.base.errors import InputError, about
from attncalc.base.text import as_key, in_json
from attncalc.base.typed import NotANumber, quoted, read_number
from attncalc.making.asking import recipe, wishes_of
from attncalc.making.drawing import OF_LAYERS
from attncalc.making.maker import make, with_words
from attncalc.making.wishes import Wishes
from attncalc.problem.problem import Problem
from attncalc.reading.json_values import Typed
from attncalc.reading.roster import path_name

BYTES_OF_SEED = BYTES_OF_SECRET = 16
"""128 bits, too many to guess."""
CONSONANTS = "BCDFGHJKLMNPQRSTVWXZ"
LETTERS_OF_CODE = 8
_SECRET = re.compile(r"(?:[0-9a-f]{2}){16,64}")
OF_A_SPEC = ("problems", "formats", "seed", "secret")
OF_A_MANIFEST = ("attncalc", "students")
"""Keys of a manifest in addition to its specification: it makes the set again."""
MOST_PROBLEMS = 100
DEFAULT_FORMATS = ("markdown", "latex")
OF_A_PROBLEM = ("name", "asked", "words")
"""Keys of a problem in a specification that are not conditions."""
IF_POSSIBLE = "if possible"
"""The default of `same_digits` in a set: course systems then agree on every digit."""
MOST_SCORES = 16
"""Attention with more scores rarely shows the same digits under both rounding rules."""


@dataclass(frozen=True)
class Wanted:
    """A problem that each student gets a version of.

    name: its name, such as "1"; also its folder, if there are several.
    asked: the conditions, as typed.
    steps: the steps that answers are asked for; None for all.
    words: whether tokens have names, from a short list.
    prefers_same_digits: whether both rounding rules give the same digits in every version where
        this is possible.
    too_many: what it has too many of to try that: scores, or the steps of a layer.
    """

    name: str
    asked: Mapping[str, Any]
    steps: tuple[str, ...] | None = None
    words: bool = False
    prefers_same_digits: bool = False
    too_many: str = ""

    @property
    def wishes(self) -> Wishes:
        """The conditions, parsed."""
        return wishes_of(self.asked)

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return path_name(self.name, "problem")


class Spec(NamedTuple):
    """The specification of a set.

    formats: the forms that worksheets and keys are written in.
    secret: the key of all seeds, in hexadecimal digits: it is enough to make every problem.
    seed: distinguishes several sets with one secret; None by default.
    """

    problems: tuple[Wanted, ...]
    formats: tuple[str, ...]
    secret: str
    seed: int | None = None


def spec_of(
    given: Mapping[str, Any], place: str, forms: Sequence[str], titled: Callable[[str, str], str]
) -> Spec:
    """Return a specification; `place` names it in messages.

    given: the specification: its problems, formats, seed and secret, and what applies to each
        problem that does not state it; or the list of a set.
    titled: returns the title of a problem without one, from its name and its language.
    """
    is_new = "students" not in given  # a manifest makes the same set again
    own = (*OF_A_SPEC, *(() if is_new else OF_A_MANIFEST))
    of_each = {name: value for name, value in given.items() if name not in own}
    listed = given.get("problems")
    if not isinstance(listed, list) or not listed:
        raise InputError(f'{place}: problems is a list of them, as [{{"name": "1", "tokens": 3}}]')
    if len(listed) > MOST_PROBLEMS:
        raise InputError(f"{place}: {len(listed):,} problems: the maximum is {MOST_PROBLEMS}")
    listed = [{**of_each, **each} if isinstance(each, dict) else each for each in listed]
    problems = tuple(
        _wanted(each, n, place, titled, is_new=is_new) for n, each in enumerate(listed, start=1)
    )
    _refuse_alike([each.folder for each in problems], place)
    formats = _formats(given.get("formats"), place, forms)
    secret, seed = _secret(given.get("secret"), place), _seed(given.get("seed"), place)
    return Spec(problems, formats, secret, seed)


def _wanted(
    given: Any, number: int, place: str, titled: Callable[[str, str], str], *, is_new: bool
) -> Wanted:
    if not isinstance(given, dict):
        raise InputError(f'{place}: problem {number} is not an object such as {{"tokens": 3}}')
    name = str(given.get("name", number)).strip() or str(number)
    for key in OF_A_SPEC:
        if key in given:
            where = f'{{"problems": [...], {in_json(key)}: ...}}'
            raise InputError(
                f"{place}: problem {quoted(name)}: {key} is for the whole set: {where}"
            )
    asked = {wish: value for wish, value in given.items() if wish not in OF_A_PROBLEM}
    words = given.get("words", False)
    if not isinstance(words, bool):
        raise InputError(f"{place}: problem {quoted(name)}: words is either true or false")
    prefers = asked.get("same_digits") == IF_POSSIBLE
    if prefers:
        del asked["same_digits"]
    wanted = Wanted(name, asked, _steps(given.get("asked")), words, prefers)
    with about(f"{place}: problem {quoted(name)}"):
        wishes = wanted.wishes
    asked.setdefault("title", titled(name, str(asked.get("language", "en"))))
    if prefers or not is_new or "same_digits" in asked:
        return replace(wanted, prefers_same_digits=prefers)
    many_scores = "scores" if wishes.scores > MOST_SCORES else ""
    too_many = "steps" if wishes.kind in OF_LAYERS else many_scores
    return replace(wanted, prefers_same_digits=not too_many, too_many=too_many)


def _steps(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    listed = given if isinstance(given, list) else str(given).split(",")
    return tuple(str(each).strip() for each in listed)


def _refuse_alike(folders: Sequence[str], place: str) -> None:
    keys = [as_key(folder) for folder in folders]
    for folder, key in zip(folders, keys, strict=True):
        if keys.count(key) > 1:
            raise InputError(
                f"{place}: two problems are named {quoted(folder)}: use different names"
            )


def _formats(given: Any, place: str, forms: Sequence[str]) -> tuple[str, ...]:
    if given is None:
        return DEFAULT_FORMATS
    listed = given if isinstance(given, list) else [given]
    for each in listed:
        if each not in forms:
            known = ", ".join(forms)
            raise InputError(f"{place}: formats are some of {known}, not {quoted(str(each))}")
    return tuple(dict.fromkeys(listed))


def _secret(given: Any, place: str) -> str:
    if given is None:
        return secrets.token_hex(BYTES_OF_SECRET)
    if not isinstance(given, str) or not _SECRET.fullmatch(given):
        raise InputError(
            f"{place}: secret takes 32 hexadecimal digits or more, as manifest.json of a set has "
            "them: omit it for a new one"
        )
    return given


def _seed(given: Any, place: str) -> int | None:
    if given is None:
        return None
    try:
        number = read_number(given) if isinstance(given, Typed) else None
    except NotANumber:
        number = None
    if number is None or number < 0 or number != int(number):
        raise InputError(f"{place}: seed takes a whole number from 0, not {quoted(str(given))}")
    return int(number)


def as_given(spec: Spec) -> dict[str, Any]:
    """Return the specification that makes the same set again, as `spec_of` reads it."""
    problems = [
        {
            "name": wanted.name,
            **wanted.asked,
            **({} if wanted.steps is None else {"asked": list(wanted.steps)}),
            **({"words": True} if wanted.words else {}),
            **({"same_digits": IF_POSSIBLE} if wanted.prefers_same_digits else {}),
        }
        for wanted in spec.problems
    ]
    given = {"problems": problems, "formats": list(spec.formats), "secret": spec.secret}
    return given if spec.seed is None else {**given, "seed": spec.seed}


def seed_of(spec: Spec, student: Sequence[str], problem: str) -> int:
    """Return the seed of one student's version of a problem: it is the same on every machine.

    It is an HMAC (RFC 2104) under the set's secret. No student can compute a seed, of their own
    or of another version, even if they know the set's seed, the list and the specification.

    student: what identifies the student, wherever on the list they are: their id, email or name.

    >>> spec = Spec((), (), "00" * 16, 7)
    >>> seed_of(spec, ("id", "17"), "1") == seed_of(spec, ("id", "17"), "1")
    True
    >>> seed_of(spec, ("id", "17"), "1") == seed_of(spec, ("name", "17"), "1")
    False
    """
    text = json.dumps([spec.seed, list(student), problem]).encode()
    return int.from_bytes(hmac.digest(bytes.fromhex(spec.secret), text, "sha256")[:BYTES_OF_SEED])


def code_of(spec: Spec, student: Sequence[str], problem: str) -> str:
    """Return the code of one student's problem, such as "BKWR-TZNM": it reveals nothing.

    It consists of consonants, so that no reader takes it for a number or a word.
    """
    text = json.dumps(["code", spec.seed, list(student), problem]).encode()
    digest = hmac.digest(bytes.fromhex(spec.secret), text, "sha256")
    letters = "".join(CONSONANTS[byte % len(CONSONANTS)] for byte in digest[:LETTERS_OF_CODE])
    return f"{letters[:4]}-{letters[4:]}"


class Version(NamedTuple):
    """A student's version of a problem.

    It has its number of candidates, the mistakes it cannot show, and whether `same_digits`, if
    possible, was not.
    """

    problem: Problem
    tried: int
    waived: tuple[str, ...] = ()
    may_differ: bool = False


def version(wanted: Wanted, seed: int) -> Version:
    """Return the version of a problem that a seed determines.

    Raises InputError if no candidate satisfies the conditions, or a requested step does not exist.
    """
    if wanted.prefers_same_digits:
        asked = {**wanted.asked, "same_digits": True}
        try:
            return version(replace(wanted, asked=asked, prefers_same_digits=False), seed)
        except InputError:
            made_without = version(replace(wanted, prefers_same_digits=False), seed)
            return made_without._replace(may_differ=True)
    wishes, asked = wanted.wishes, dict(wanted.asked)
    if wanted.words:
        wishes = with_words(wishes, seed)
        asked["labels"] = ",".join(wishes.labels or ())
    made = make(wishes, seed, recipe(asked))  # a student reads it: without the seed
    problem = made.problem
    if wanted.steps is not None:
        problem = replace(problem, asked=wanted.steps)
    return Version(problem, made.tried, made.waived)
