"""The message about a model of an unknown type: its tensors by layer, and the nearest families."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from attncalc.base.errors import InputError
from attncalc.base.text import harmless
from attncalc.base.typed import quoted
from attncalc.reading.models.families import FAMILIES
from attncalc.reading.models.family import Family
from attncalc.reading.models.folder import Config, Weights
from attncalc.reading.models.names import (
    EXPERT,
    NUMBER,
    OF_EACH,
    form_of,
    is_buffer,
    meaning_of,
    renamed,
    table,
    whole,
)

MOST_NEAR = 3
_REASONS = {left: right.partition("= ")[::2] for left, right in table("reasons.txt").items()}
"""Why some models are not opened: types, and a pattern of what others of that kind have."""
_PATTERNS = [(each, re.compile(by, re.MULTILINE)) for each, (_, by) in _REASONS.items() if by]
WHY = {kind: reason for reason, (kinds, _) in _REASONS.items() for kind in kinds.split()}
"""Why some known types are not opened."""
_ATTENDS = re.compile(r"att|quer|qkv|q_lin|q_proj|\bto_q|(?:\b|_)w?q(?:\b|_)", re.IGNORECASE)
_WITHOUT = "no name of its tensors is one of attention"
LONGEST_NAME = 200
"""How much of the name of a tensor is searched for reasons."""
BESIDE_TEXT = re.compile("vis|image|audio|speech")
"""What names of tensors contain that are not of the text."""


def _why(config: Config, weights: Iterable[str]) -> str:
    """Return why a model is not opened: by its type, or by its names and keys; "" if unknown."""
    kinds = (str(config.get(key, None)) for key in ("model_type", "text_config.model_type"))
    if found := next((WHY[each] for each in kinds if each in WHY), ""):
        return found
    is_of_text = config.says("text_config")
    begins = (each[:LONGEST_NAME] for each in weights)
    names = "\n".join(each for each in begins if not (is_of_text and BESIDE_TEXT.search(each)))
    if not _ATTENDS.search(names):
        return _WITHOUT
    said = "\n".join([*(f"{key}=" for key in config.values), names])
    return next((each for each, pattern in _PATTERNS if pattern.search(said)), "")


def unknown(config: Config, weights: Weights) -> InputError:
    """Return the error about a model whose type is none of those opened here."""
    kind = config.get("model_type")
    count = len({kind for each in FAMILIES for kind in each.types})
    why = f": {found}" if (found := _why(config, weights)) else ""
    folder = weights.folder
    lines = [
        f"{config.place}: model_type {quoted(str(kind))} is none of the {count} types opened here "
        f"(docs/models.md lists them){why}. Its tensors are below, each with the field of a "
        "problem that it seems to be (? if unknown): fill these fields, as JSON or .npz, with X, "
        "heads and the other settings. Or describe its family in a file without Python: "
        f"attncalc open {harmless(str(folder))} --draft -o family.json writes a draft, and "
        "--family family.json reads it."
    ]
    return InputError("\n".join([*lines, *_by_layer(alike(weights), weights), *_near(weights)]))


def alike(weights: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of tensors by form: those of one form differ in numbers alone."""
    found: dict[str, list[str]] = {}
    for name in weights:
        found.setdefault(form_of(name), []).append(name)
    return found


def unread(families: Sequence[Family], weights: Iterable[str]) -> list[list[str]]:
    """Return the tensors that no family of these reads, those of one form together."""
    sides = [each for row in families for each in (row, row.decoder) if each]
    ignored = tuple(end for side in sides for end in side.ignored)
    return [
        names
        for names in alike(weights).values()
        if not is_buffer(names[0])
        and not names[0].endswith(ignored)
        and not any(_reads(side, names[0]) for side in sides)
    ]


def left_out(families: Sequence[Family], weights: Iterable[str]) -> list[str]:
    """Return the stacks, and the other tensors outside the layers, that no family reads."""
    stacks = {
        f"{names[0][: form.index('#')]}…" if "#" in form else names[0]: None
        for names in unread(families, weights)
        for form in alike(names)
    }
    return [*map(whole, stacks)]


def _by_layer(forms: dict[str, list[str]], weights: Weights) -> Iterator[str]:
    """Yield the tensors by stacks of layers; of those that differ in numbers alone, the first."""
    stacks: dict[str, list[list[str]]] = {}
    for form, names in forms.items():
        stacks.setdefault(form.partition("#")[0] if "#" in form else "", []).append(names)
    for stack, listed in sorted(stacks.items()):
        places = {name[len(stack) :].partition(".")[0] for names in listed for name in names}
        count = f"{len(places)} layers" if len(places) > 1 else "1 layer"
        yield f'"{harmless(stack)}…", {count}:' if stack else "Outside the layers:"
        for names in listed:
            more = f" ({len(names)} such tensors)" if len(names) > 1 else ""
            yield f"  {_line(names[0], weights.shape(names[0]))}{more}"


def _line(name: str, shape: Sequence[int]) -> str:
    """Return a tensor with its possible field."""
    meaning = meaning_of(name)
    field = meaning.field if meaning and meaning.field.rstrip("QKV") != "W_" else ""
    if meaning is not None and not field:
        field = ", ".join(f"W_{each}" for each in meaning.field.removeprefix("W_"))
    return f"{whole(name)}, {' × '.join(map(str, shape)) or 'one number'}: {field or '?'}"


def stack_of(weights: Iterable[str]) -> str:
    """Return the start of the names of most kinds of tensors with a number; "" if none has one."""
    starts = [form.partition("#")[0] for form in alike(weights) if "#" in form]
    return max(dict.fromkeys(starts), key=starts.count, default="")


def placed(family: Family, stack: str, weights: Iterable[str]) -> Family:
    """Return a row whose layers start as the stack, if no tensors start as its own do."""
    starts = [each.format(0, 0) for each in " ".join(family.layers).split()]
    is_there = any(f".{start}" in f".{name}" for start in starts for name in weights)
    return family if is_there or not stack else replace(family, layers=(f"{stack}{{}}.",))


def nearest(weights: Weights) -> list[tuple[Family, list[str], list[str]]]:
    """Return the families that read most of these tensors, the nearest first.

    Beside each, the tensors that it does not read, and those that it needs and that are missing.
    """
    firsts = sum(not is_buffer(names[0]) for names in alike(weights).values())
    stack = stack_of(weights)
    found = [
        (
            each,
            [names[0] for names in unread([placed(each, stack, weights)], weights)],
            _missing(each, weights),
        )
        for each in FAMILIES
    ]
    found = [each for each in found if 2 * len(each[1]) <= firsts]
    ranked = sorted(
        found, key=lambda each: (len(each[1]) + len(each[2]), _unused(each[0], weights))
    )
    named = {each[0].title: each for each in reversed(ranked)}  # a family may have two rows
    return [each for each in ranked if named[each[0].title] is each]


def _unused(family: Family, weights: Iterable[str]) -> int:
    """Return how many names that only this family uses are not here."""
    there = {f".{EXPERT.sub(OF_EACH, names[0])}" for names in alike(weights).values()}
    return sum(not any(name.endswith(f".{end}") for name in there) for end in family.own)


def _near(weights: Weights) -> Iterator[str]:
    """Yield the nearest families, with what each does not read or lacks."""
    alike_: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for family, rest, missing in nearest(weights):
        alike_.setdefault((tuple(rest), tuple(missing)), []).append(family.title)
    yield "Families whose names nearly fit:" if alike_ else "No family here has names like these."
    for pair, titles in [*alike_.items()][:MOST_NEAR]:
        said = [
            f"{what} {', '.join(map(whole, names))}"
            for what, names in zip(("not read:", "also needed:"), pair, strict=True)
            if names
        ]
        usual = "all are read; whether the numbers would be the same is unknown"
        yield f"  {', '.join(titles[:MOST_NEAR])}: {'; '.join(said) or usual}"


def _reads(side: Family, name: str) -> bool:
    """Return whether a side of a family reads a tensor, in, before or after its layers."""
    numbered = f".{NUMBER.sub('{}', name)}"
    starts = " ".join(side.layers).split(" ")
    if any(f".{NUMBER.sub('{}', start)}" in numbered for start in starts):
        return renamed(EXPERT.sub(OF_EACH, name), side.own) is not None
    heads = (names for head in side.all_heads.values() for names in head.tensors.values())
    tables = (side.begins, side.ends, side.shared, side.of_layers)
    ends = " ".join((side.tokens, *(each for table in tables for each in table.values()))).split()
    behind = (each for head in side.all_heads.values() for each in head.behind)
    listed = (*ends, *behind, *" ".join(heads).split())
    stated = tuple(f".{each.replace('{}', '')}" for each in listed if each)
    before = (each for each in (side.widens, *(each for each, _ in side.convolutions)) if each)
    return f".{name}".endswith(stated) or any(
        f".{each.rstrip('.')}." in f".{name}" for each in before
    )


def _missing(family: Family, weights: Weights) -> list[str]:
    """Return the tensors outside the layers that a family needs, and that are not here."""
    sides = [family, *([family.decoder] if family.decoder else [])]
    needed = [each for side in sides for each in (side.tokens, *side.begins.values()) if each]
    modules = [name for side in sides for name, _ in side.convolutions]
    ends = [
        each
        for each in dict.fromkeys(needed)
        if not any(map(partial(ends_so, weights), each.split()))
    ]
    return [each.split()[-1] for each in ends] + [
        each for each in modules if not any(f".{each}." in f".{name}" for name in weights)
    ]


def ends_so(names: Iterable[str], end: str) -> bool:
    """Return whether a name ends so, after a dot if it has more."""
    return any(f".{name}".endswith(f".{end}") for name in names)
