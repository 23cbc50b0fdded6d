"""A family of models in a JSON file: names of tensors, settings and equations, without Python.

The keys are those of a row (`family.Family`); a value is constant, or comes from the config.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.fields import GIVEN, KNOWN, SETTINGS, read_setting
from attncalc.reading.cells import Faults, in_place
from attncalc.reading.models.families import FAMILIES
from attncalc.reading.models.family import (
    ACTIVATIONS,
    CLASSES,
    MASKED,
    NEXT,
    POOLED,
    Family,
    Head,
    Said,
    value_of,
)
from attncalc.reading.models.folder import Config, Weights, open_folder, parsed, said
from attncalc.reading.models.layer import FUSED, OF_EXPERTS
from attncalc.reading.models.names import IN_OUT, OUT_IN, whole
from attncalc.reading.models.rope import a_base, a_scaling, a_share
from attncalc.reading.models.unknown import ends_so, nearest, placed, stack_of, unread
from attncalc.reading.names import read_by_equations, tell_unknown, unknown

FILE = "family.json"
"""The file that describes the family of a model in its folder."""
BLANK = "?"
"""What a draft leaves open."""
DEEPEST = 30
"""How many objects and lists of a file can be inside one another."""
IN_LAYERS = "tensors"
"""The key of the tensors of a layer."""
Parse = Callable[[Any], Any]
_PARTS_OF_LATENT = ("W_UKV", "W_DKV_KR", "b_DKV_KR", "lambda_1", "lambda_2")
_FIELDS = (*GIVEN, *FUSED, *OF_EXPERTS, *_PARTS_OF_LATENT)
_SETTINGS = (*(each for each in SETTINGS if not each.endswith("layout")), "reach")
_USUAL: dict[str, Said] = {"rope_base": a_base, "rope_scaling": a_scaling, "rope_dims": a_share()}
"""Settings of rope, read from the usual keys unless the file states them."""
_NEEDED = ("layers", "count", "settings")


def read_family(source: str | Path | Mapping[str, Any]) -> Family:
    """Return the family that a file describes.

    Raises InputError if a key or a value is unknown or missing; all of them are listed.

    source: the file, or its content.
    """
    if not isinstance(source, Mapping) and not Path(source).exists():
        raise InputError(f"{source}: no such file: it would describe a family of models")
    given = source if isinstance(source, Mapping) else parsed(Path(source))
    faults = Faults("family" if isinstance(source, Mapping) else str(source))
    for place in _blanks(given, ""):
        faults.add(f'{place}: "{BLANK}" is where a draft is open: replace or delete it')
    faults.raise_if_any()
    family = _side(given, "", faults, None)
    faults.raise_if_any()
    decoder = family.decoder and replace(family.decoder, source=faults.place)
    return replace(family, source=faults.place, decoder=decoder)


def _blanks(given: Any, place: str, depth: int = 0) -> Iterator[str]:
    """Yield the places of what a draft leaves open; refuse a file nested too deeply."""
    if depth > DEEPEST:
        raise InputError(f"a family has at most {DEEPEST} objects inside one another")
    if isinstance(given, Mapping | list):
        pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
        for key, each in pairs:
            yield from _blanks(each, f"{place}.{key}" if place else str(key), depth + 1)
    if given == BLANK or BLANK in place.split(".")[-1:]:
        yield place


def _values(given: Mapping[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return what the keys of a row state, other than its decoder; report what is wrong."""
    read: dict[str, Any] = {}
    named = {IN_LAYERS: "own", "heads": "outputs", "positions": "places"}
    tell_unknown([key for key in given if key not in _ROW], tell, _ROW)
    for key, value in given.items():
        if key in _ROW and key != "decoder":
            try:
                read[named.get(key, key)] = _ROW[key](value)
            except InputError as error:
                tell(f"{key}{error}")
    return read


def _side(given: Mapping[str, Any], path: str, faults: Faults, decoded: Family | None) -> Family:
    """Return the row of a model, or of its decoder."""

    def tell(text: str) -> None:
        faults.add(f"{path}{text}")

    read = _values(given, tell)
    base = read.pop("like", None) or decoded or _EMPTY
    for key in _NEEDED if base is _EMPTY and "like" not in given else ():
        if key not in given:
            tell(f"there is no {key}, which a family needs, unless it is like another")
    names = {*_FIELDS, *read_by_equations(read.get("settings", {}).get("equations"))}
    for name in dict.fromkeys(read.get("own", {}).values()):
        if name is not None and name not in names:
            tell(f"{IN_LAYERS}: {unknown(name, names)}")
    decoder = base.decoder
    if isinstance(given.get("decoder"), Mapping):
        decoder = _side(given["decoder"], f"{path}decoder.", faults, decoder)
    return _merged(base, read, replace(base, decoder=decoder, stated=_stated(read)))


def _merged(base: Family, read: dict[str, Any], family: Family) -> Family:
    """Return a row with what the file states; of tables, its entries."""
    own = read.get("own", {})  # before those of the other row: the first that fits counts
    kept = {end: each for end, each in base.own.items() if end not in own}
    read["own"] = {**{end: each for end, each in own.items() if each is not None}, **kept}
    for name in ("settings", "begins", "ends", "outputs", "sides", "shared", "asks"):
        both = {**getattr(base, name), **read.get(name, {})}
        read[name] = {key: each for key, each in both.items() if each is not None}
    return replace(family, **read)


def _stated(read: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the names of tensors that a file states, by their place in it."""
    found: dict[str, tuple[str, ...]] = {}
    for key in ("tokens", "widens"):
        if key in read:
            found[key] = (f"{read[key]}.weight",) if key == "widens" else (*read[key].split(),)
    for key in ("begins", "ends", "shared"):
        found |= {f"{key}.{n}": (each,) for n, each in read.get(key, {}).items() if each}
    found |= {f"{IN_LAYERS}.{end}": (end,) for end in read.get("own", {})}
    for end, head in read.get("outputs", {}).items():
        if head is None:
            continue
        tied = {"W_out"} if head.is_tied else {*()}
        stated = {n: (*each.split(),) for n, each in head.tensors.items() if n not in tied}
        found |= {f"heads.{end}.{name}": each for name, each in stated.items()}
    return found


def check_stated(
    family: Family, weights: Weights, root: str, starts: tuple[str, ...], head: str
) -> None:
    """Refuse a family in a file that names a tensor which is not there.

    family: the row of the model, or of its decoder.
    root, starts: the prefix of all names, and the starts of those of layers, as `model.layers.`.
    head: the name of the architecture, whose head is checked.
    """
    if faults := list(_missing(family, weights, root, starts, head)):
        raise InputError(in_place(family.source, faults))


def _missing(
    family: Family, weights: Weights, root: str, starts: tuple[str, ...], head: str
) -> Iterator[str]:
    of_layers = [(start, name) for start in starts for name in weights if name.startswith(start)]
    inner = [name.removeprefix(start).partition(".")[2] for start, name in of_layers]
    for place, names in family.stated.items():
        key, *more = place.split(".", 1)
        if key == "heads" and not head.endswith(more[0].rpartition(".")[0]):
            continue
        if key in (IN_LAYERS, "shared"):
            found = any(f".{each}".endswith(f".{name}") for each in inner for name in names)
            is_before = key == "shared" and root + names[0] in weights
            if not found and not is_before:
                yield _no_tensor(place, names[0], inner, "in a layer")
        elif not any(name.replace("{}", root) in weights or root + name in weights
                     for name in names):  # fmt: skip
            outside = [name.removeprefix(root) for name in weights if not name.startswith(starts)]
            yield _no_tensor(place, names[0], outside, "outside the layers")


def _no_tensor(place: str, name: str, there: Sequence[str], where: str) -> str:
    near = get_close_matches(name[:200], [*dict.fromkeys(there)], n=1, cutoff=0.0)
    meant = f": did you mean {whole(near[0])}?" if near else ""
    return f"{place.partition('.')[0]}: there is no tensor {whole(name)} {where}{meant}"


def check_read(family: Family, weights: Weights) -> None:
    """Refuse a family in a file if a tensor has no field."""
    faults = []
    for names in unread([family], weights):
        more = f" ({len(names)} such tensors)" if len(names) > 1 else ""
        keys = f"{IN_LAYERS} or ignored" if more else "tokens, begins, ends, heads or ignored"
        faults.append(f"{whole(names[0])}{more} has no field: name it in {keys}")
    if faults:
        raise InputError(in_place(family.source, faults))


def drafted(folder: Path) -> tuple[str, str]:
    """Return the draft of a file for the model of a folder, and the title of the nearest family."""
    config, weights = open_folder(folder)
    found = nearest(weights)
    near = found[0][0] if found else None
    made = draft(config, weights, near)
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n", near.title if near else ""


def draft(config: Config, weights: Weights, near: Family | None) -> dict[str, Any]:
    """Return the draft of a file: what the nearest family does not read or lacks is open.

    near: the family whose names fit best; None if none fit.
    """
    made: dict[str, Any] = {"title": str(config.get("model_type", "") or "my model")}
    if near is not None:
        made["like"] = near.types[0]
    stack = stack_of(weights) or BLANK
    base = placed(near or _EMPTY, stack, weights)
    if near is None or base is not near:
        made["layers"] = f"{stack}{{}}."
    if near and not any(ends_so(weights, each) for each in near.tokens.split()):
        made["tokens"] = BLANK
    if near is None:
        made |= {"count": {"key": BLANK}, "tokens": BLANK, "ends": {"gamma_out": BLANK}}
        made["settings"] = {"block": BLANK, "heads": {"key": BLANK}}
        made["heads"] = {str(config.get("architectures", [BLANK])[0]): {"W_out": BLANK}}
    else:
        made |= _missing_keys(near, near.own_config(config))
    open_ends = [names[0] for names in unread([base], weights)]
    of_layer = [name for name in open_ends if stack in name]
    if of_layer:
        ends = (name.partition(stack)[2].partition(".")[2] for name in of_layer)
        made[IN_LAYERS] = dict.fromkeys(ends, BLANK)
    if outside := [name for name in open_ends if name not in of_layer]:
        made[BLANK] = outside
    return made


def _missing_keys(near: Family, config: Config) -> dict[str, Any]:
    """Return the values that a config does not have by the names of a family."""

    def is_there(given: Any) -> bool:
        try:
            value_of(given, config)
        except InputError:
            return False
        return True

    lacking = {n: {"key": BLANK} for n, says in near.settings.items() if not is_there(says)}
    made: dict[str, Any] = {} if is_there(near.count) else {"count": {"key": BLANK}}
    return made | ({"settings": lacking} if lacking else {})


@dataclass(frozen=True)
class _OfConfig:
    """A value of a config, for a layer: by its keys, as one of a table, or in a product."""

    read: Parse
    keys: tuple[str, ...]
    default: Any = ...
    values: Mapping[str, Any] | None = None
    times: Any = None
    power: float = 1

    def __call__(self, config: Config, layer: int) -> Any:
        key = next((each for each in self.keys if config.says(each)), self.keys[0])
        found = config.get(key) if self.default is ... else config.get(key, self.default)
        if isinstance(found, list):
            if layer >= len(found):
                raise config.wrong(key, found, "one for each layer")
            found = found[layer]
        if self.values is not None:
            text = found if isinstance(found, str) else json.dumps(found)
            if text not in self.values:
                raise config.wrong(key, found, f"one of {', '.join(self.values)}")
            return value_of(self.values[text], config, layer)
        if found is None:
            return None
        if self.times is not None or self.power != 1:
            found = self._product(config, key, layer)
        try:
            return self.read(found)
        except InputError as error:
            raise InputError(f"{config.place}: {quoted(key)} is {said(found)}: {error}") from None

    def _product(self, config: Config, key: str, layer: int) -> Any:
        number = config.number(key, self.default if self.default is not ... else None)
        if number is None or (number <= 0 and self.power != 1):
            raise config.wrong(key, number, "a number above 0")
        by = 1 if self.times is None else value_of(self.times, config, layer)
        if by is None:
            raise config.wrong(key, number, "a number for its factor")
        if self.power in (1, -1):
            exact = Fraction(str(number)) ** int(self.power) * Fraction(str(by))
            return int(exact) if exact.denominator == 1 else float(exact)
        try:
            return float(number) ** self.power * float(by)
        except OverflowError:
            raise config.wrong(key, number, "a smaller number") from None


def _value(read: Parse, given: Any) -> Any:
    """Return a constant, or a reader of the config: an object, or a list that layers repeat."""
    if isinstance(given, list):
        if not given:
            raise InputError(" takes a value for each layer: the list is empty")
        each = [_value(read, one) for one in given]
        return lambda config, layer: value_of(each[layer % len(each)], config, layer)
    if not isinstance(given, Mapping):
        return None if given is None else read(given)
    keys = ("key", "default", "values", "times", "power")
    for name in given:
        if name not in keys:
            raise InputError(f": {unknown(name, keys)}")
    names = given.get("key")
    names = (names,) if isinstance(names, str) else tuple(_texts(names))
    values = given.get("values")
    if values is not None and not isinstance(values, Mapping):
        raise InputError(": values takes an object: the value for each text of the config")
    if values is not None:
        values = {text: _value(read, each) for text, each in values.items()}
    times = None if given.get("times") is None else _value(_number, given["times"])
    power = _number(given.get("power", 1))
    return _OfConfig(read, names, given.get("default", ...), values, times, power)


def _setting(name: str, given: Any) -> Any:
    """Return a setting; that of an activation may have the names of configs."""
    if name == "reach":
        return _value(_count, given)
    read = partial(read_setting, name)
    if name.startswith("activation"):
        read = partial(_activation, name)
    if SETTINGS[name].is_list:
        return read(given)
    return _value(read, given)


def _activation(name: str, given: Any) -> Any:
    is_known = isinstance(given, str) and given in ACTIVATIONS
    return read_setting(name, ACTIVATIONS[given] if is_known else given)


def _taking(what: str, is_one: Callable[[Any], bool], made: Parse = lambda given: given) -> Parse:
    """Return what reads the values for which a condition holds, and refuses others."""

    def read(given: Any) -> Any:
        if not is_one(given):
            raise InputError(f" takes {what}, not {said(given)}")
        return made(given)

    return read


def _is_number(given: Any) -> bool:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return is_number and abs(given) < float("inf")


def _is_count(given: Any) -> bool:
    return _is_number(given) and 1 <= given < 2**53 and int(given) == given


_number = _taking("a number", _is_number, float)
_count = _taking("a whole number from 1", _is_count, int)
_switch = _taking("true or false", lambda given: isinstance(given, bool))
_text = _taking("a text", lambda given: isinstance(given, str) and bool(given))
_listed = _taking(
    "a text, or a list of texts", lambda given: isinstance(given, list) and bool(given)
)


def _whole(given: Any) -> int:
    return 0 if given == 0 and not isinstance(given, bool) else int(_count(given))


def _texts(given: Any) -> tuple[str, ...]:
    return tuple(map(_text, [given] if isinstance(given, str) else _listed(given)))


def _one_of(*kinds: str) -> Parse:
    return _taking(" or ".join(kinds), lambda given: given in kinds)


def _layers(given: Any) -> tuple[str, ...]:
    for each in (found := _texts(given)):
        start = each.removesuffix("{}.")
        if start[-1:] not in (".", "_") or {"{", "}"} & {*start}:
            raise InputError(f' takes the start of names, as "layers.{{}}.", not {said(each)}')
    return found


def _table(read: Parse | Mapping[str, Parse], known: Iterable[str] | None = None) -> Parse:
    """Return what reads an object of values, or of one for each name; null takes an entry away."""
    names = read if isinstance(read, Mapping) else known

    def parse(given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise InputError(f" takes an object, not {said(given)}")
        found: dict[str, Any] = {}
        for name, each in given.items():
            if names is not None and name not in names:
                raise InputError(f": {unknown(name, names)}")
            own = read[name] if isinstance(read, Mapping) else read
            try:
                found[name] = None if each is None else own(each)
            except InputError as error:
                raise InputError(f".{name}{error}") from None
        return found

    return parse


def _settings(given: Any) -> dict[str, Any]:
    """Return settings, and numbers that equations read by names of their own."""
    if not isinstance(given, Mapping):
        raise InputError(f" takes an object, not {said(given)}")
    found: dict[str, Any] = {}
    own = read_by_equations(given.get("equations")) - {*KNOWN}
    for name, each in given.items():
        if name not in _SETTINGS and name not in own:
            raise InputError(f": {unknown(name, _SETTINGS)}")
        try:
            found[name] = _value(_number, each) if name in own else _setting(name, each)
        except InputError as error:
            raise InputError(
                f": {name if name in own else ''}{str(error).removeprefix(': ')}"
            ) from None
    return found


def _fused(given: Any) -> Said:
    found = _table(lambda each: each, ("blocks", "order"))(given)
    blocks, order = _value(_count, found.get("blocks", 1)), found.get("order", "QKV")
    if not isinstance(order, str) or sorted(order) != ["K", "Q", "V"]:
        raise InputError(f': order takes the letters Q, K and V, as "QKV", not {said(order)}')
    return lambda config, layer: (value_of(blocks, config, layer), order)


def _head(given: Any) -> Head:
    read = {name: each for name, each in _table(_HEAD)(given).items() if each is not None}
    read["tensors"] = {
        n: " ".join(names) for n, names in (read.get("tensors") or {}).items() if names
    }
    if not {"W_out", "W_pre"} & {*read["tensors"]}:
        raise InputError(".tensors needs W_out, or W_pre of a pooled output")
    return Head(**read)


def _like(kind: Any) -> Family:
    kinds = {each: family for family in reversed(FAMILIES) for each in family.types}
    if _text(kind) not in kinds:
        raise InputError(f": {unknown(kind, kinds)}")
    return kinds[kind]


_OF_HEAD = tuple(
    f"{kind}_{part}" for part in ("pre", "out") for kind in ("W", "b", "gamma", "beta")
)
_HEAD: dict[str, Parse] = {
    "tensors": _table(_texts, _OF_HEAD),
    "gives": _one_of(NEXT, MASKED, CLASSES, POOLED),
    "reads": _one_of("last", "first", "mean", "all"),
    "settings": _settings,
    "is_tied": _switch,
    "shrinks": partial(_value, _number),
    "labels": _texts,
}
_ROW: dict[str, Parse] = {
    "title": _text,
    "like": _like,
    "layers": _layers,
    "count": partial(_value, _count),
    "settings": _settings,
    IN_LAYERS: _table(_text),
    "ignored": _texts,
    "weights_layout": _one_of(OUT_IN, IN_OUT),
    "tokens": _text,
    "begins": _table(_text, tuple(GIVEN)),
    "ends": _table(_text, ("gamma_out", "beta_out")),
    "heads": _table(_head),
    "positions": _text,
    "offset": _whole,
    "factor": partial(_value, _number),
    "gain_above": _whole,
    "key_heads": partial(_value, _count),
    "fused": _fused,
    "shared": _table(_text),
    "sides": _table(_text, ("self", "cross")),
    "pads": _text,
    "widens": _text,
    "asks": _table(lambda each: tuple(each) if isinstance(each, list) and each else (each,)),
    "decoder": _table(lambda each: each),
}
"""The keys of a file, and what reads each."""
_EMPTY = Family("model", (), ("",), 0, _USUAL)
