"""`attncalc open`: a layer of a model as a solved problem, or the most probable tokens."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attncalc.api.layers import Layers, read_change, read_patch
from attncalc.api.models import Opened
from attncalc.base.errors import InputError
from attncalc.base.text import on_a_line
from attncalc.cli.commands.calculate import show_page
from attncalc.cli.commands.models import (
    check_one_input,
    generate,
    ignored_from,
    opened_from,
    refuse_alone,
)
from attncalc.cli.commands.pages import form_from
from attncalc.cli.commands.refusals import as_flags, refuse
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.streams import reporting
from attncalc.cli.targets import check_targets, deliver, output, target_of
from attncalc.equations.operations.normalising import Softmax
from attncalc.problem.fields import read_setting
from attncalc.problem.problem import Problem
from attncalc.reading.models.described import drafted
from attncalc.reading.models.family import SPAN
from attncalc.solving.solution import solve
from attncalc.studies.layers import Walk
from attncalc.writing.studies.forms import forms_of

Flags = Mapping[str, Any]
Fields = dict[str, Any]
PICTURES = (".png", ".svg")
MOST_PROBABLE, MOST_LAYERS = 5, 9_999
ALL = "all"
PAGES = ("table", "markdown", "latex", "html", "pdf")
"""Forms that show a single head; the others contain the data of all heads."""


def open_model(flags: Flags) -> None:
    """Run a model up to a layer and show it, or run all of it and show the likeliest tokens."""
    if flags["draft"]:
        _draft(flags)
        return
    if flags["generate"] is not None:
        _generate(flags)
        return
    refuse_alone(flags)
    flags = {**flags, "layer": _layer(flags["layer"])}
    _check_flags(flags)
    unused = dict.fromkeys(("fractions", "mixed", "explain", "practice"), False)
    flags = {**flags, **unused, "entry": None}
    if flags["layer"] == ALL or _inside(flags):
        _show_all(flags)
        return
    if flags["layer"] is None:
        _show_next(flags)
        return
    is_drawn = flags["out"] is not None and Path(flags["out"]).suffix.lower() in PICTURES
    if is_drawn:
        check_targets(target_of("--out", flags["out"]))
    elif (form := form_from(flags).name) not in PAGES and flags["head"] is not None:
        raise InputError(
            f"{form} contains all heads: --head is for {', '.join(PAGES)} and pictures of the map"
        )
    problem = _problem(_opened(flags), flags)
    _check_head(problem, flags["head"])
    if is_drawn:
        _draw(problem, flags)
    else:
        show_page(problem, flags)


def _draft(flags: Flags) -> None:
    """Write a draft of the file that describes the family of a model."""
    unused = ("tokens", "text", "image", "spectrogram", "layer", "generate", "family", "format")
    refuse(flags, unused, "--draft reads only the folder: omit {}")
    target = target_of("--out", flags["out"])
    content, near = drafted(Path(flags["folder"]))
    check_targets(target)
    fits = f"its names are nearest to those of {near}" if near else "no known family has such names"
    deliver(output(target, content, f'{fits}: replace every "?", then open it with --family'))


def _generate(flags: Flags) -> None:
    """Generate tokens in place of showing a layer or the next token."""
    own = (
        *("layer", "at", "head", "only", "work", "blank", "image", "type_ids", "title", "ignore"),
        *("decoder_ignore", "standalone"),
    )
    refuse(flags, own, "{} and --generate together: give one of them")
    try:
        generate({**flags, "source": flags["folder"], "count": flags["generate"]})
    except InputError as error:  # its text may start with the flag of the other command
        raise InputError(str(error).replace("--count", "--generate", 1)) from None


def _check_flags(flags: Flags) -> None:
    check_one_input(flags)
    if flags["at"] is not None and flags["at"] < 1:
        raise InputError(f"--at {flags['at']}: tokens count from 1")
    if flags["layer"] == ALL or _inside(flags):
        _check_all(flags)
    elif flags["layer"] is None:
        why = "{} requires a layer: choose it, as --layer 0"
        refuse(flags, ("head", "only", "work", "blank"), why)
    elif flags["at"] is not None:
        raise InputError("--at is for probabilities, not for layers: omit --layer")
    if flags["decimals"] is not None:
        with as_flags():
            read_setting("decimals", flags["decimals"])


def _layer(given: str | None) -> int | str | None:
    if given is None or given == ALL:
        return given
    if not given.removeprefix("-").isdecimal() or len(given) > len(str(MOST_LAYERS)):
        raise InputError(f"--layer {given}: give the number of a layer, from 0, or all")
    return int(given)


def _inside(flags: Flags) -> list[str]:
    """Return the flags of studies of all layers that are given."""
    return [name for name in ("lens", "rollout", "ablate", "patch") if flags[name]]


def _check_all(flags: Flags) -> None:
    """Refuse flags that do not apply to all layers."""
    inside = [f"--{name}" for name in _inside(flags)]
    if inside and flags["layer"] is not None:
        raise InputError(f"{inside[0]} reads all layers: omit --layer")
    if inside[1:] and inside[0] in ("--lens", "--rollout"):
        raise InputError(f"{inside[0]} and {inside[1]} together: give one of them")
    why = "{} is for one layer: choose it, as --layer 0"
    refuse(flags, ("head", "work", "blank", "standalone"), why)
    if flags["at"] is not None and (not inside or flags["rollout"]):
        raise InputError("--at is for --lens, --ablate and --patch: omit it")
    if flags["only"] is not None and (flags["lens"] or flags["rollout"]):
        raise InputError("--only is for steps: omit it")


def _check_head(problem: Problem, head: int | None) -> None:
    if head is not None and not 1 <= head <= problem.n_heads:
        raise InputError(
            f"--head {head}: this layer has {problem.n_heads}, from 1 to {problem.n_heads}"
        )


def _opened(flags: Flags) -> Opened:
    opened = opened_from(flags["folder"], flags)
    if flags["after"] is not None:
        layer = flags["layer"]
        number = layer if isinstance(layer, int) else None
        opened.resume(Path(flags["after"]), number, _said(flags))
    return opened


def _problem(opened: Opened, flags: Flags) -> Problem:
    said = _said(flags)
    if flags["layer"] is None and flags["at"] is not None:
        said["read"] = "all"
    with reporting() as report:
        told = opened.telling(report, flags["layer"])
        return opened.problem(flags["layer"], said, told)


def _said(flags: Flags) -> Fields:
    said: Fields = {name: flags[name] for name in ("title", "decimals") if flags[name] is not None}
    return said | ignored_from(flags)


def _show_all(flags: Flags) -> None:
    """Run all layers once, and show their steps, or a study of them."""
    wanted = wanted_from(flags)
    opened = _opened(flags)
    with reporting() as report:
        model = Layers(opened, flags["only"], _said(flags), opened.telling(report, None))
        found: Any = model.walk
        if flags["lens"]:
            found = model.lens(flags["at"]).found
        elif flags["rollout"]:
            found = model.rollout().found
        elif _inside(flags):
            changes = [*map(read_change, flags["ablate"] or ())]
            changes += map(read_patch, flags["patch"] or ())
            found = model.comparison(changes, flags["at"])
        has_table = not isinstance(found, Walk)
        show(forms_of(found, full=flags["full"]), wanted, flags, with_table=has_table)


def _draw(problem: Problem, flags: Flags) -> None:
    """Draw the map of a layer, with the tokens' names."""
    from attncalc.solving.plan import plan
    from attncalc.writing.plotting.drawing import chosen_heads, needed_for_pictures, render

    target = target_of("--out", flags["out"])
    check_targets(target)  # again, since inputs are known now
    solution = solve(problem, keep=needed_for_pictures(problem, plan(problem)))
    assert target.place is not None
    form = target.place.suffix.lower()[1:]
    picture = render(solution, form, chosen_heads(solution, flags["head"]))
    deliver(output(target, picture.content, *picture.notes))


def _show_next(flags: Flags) -> None:
    """Run all layers and the head, and show the most probable tokens or classes."""
    wanted = wanted_from(flags)
    if wanted.form in ("picture", "npz"):
        raise InputError(f"{wanted.form} requires a layer: choose it, as --layer 0")
    opened = _opened(flags)
    _check_head_of(opened, flags)
    problem = _problem(opened, flags)
    if opened.model.is_pooled:
        show_page(problem, {**flags, "only": problem.calculation.steps[-1].name})
        return
    if opened.model.is_of_spans and flags["at"] is None:
        scores = solve(problem, keep=("logits",))["logits"]
        words, rows = opened.named(opened.asks), []
        for name, shares in zip(SPAN, Softmax().apply(scores.T), strict=True):
            best = np.argsort(-shares, kind="stable")[:MOST_PROBABLE]
            rows += [(int(i) + 1, f"{name}: {words[i]}", float(shares[i])) for i in best]
        remarks = ("ids are positions of tokens, from 1", *opened.remarks)
        _write_rows(opened, rows, "Start and end of the answer", remarks, flags, has_shares=True)
        return
    solution = solve(problem, keep=("logits", "prob"))
    has_shares = opened.model.has_shares(solution["logits"].shape[-1])
    found = solution["prob" if has_shares else "logits"]
    place = _place(opened, len(found), flags)
    at = f"{place + 1} of {len(found)}" if len(found) > 1 else ""
    _write_next(opened, found[place], flags, at, has_shares=has_shares)


def _check_head_of(opened: Opened, flags: Flags) -> None:
    """Refuse a model that has no head, before its layers are run."""
    model = opened.model
    if model.head is None:
        name = model.architecture or f"this {model.family.title}"
        what, more = f"{name} has no known head", ""
        if model.decoder is not None:
            what, more = f"the encoder of {name} has no head", "give --decoder-tokens, or "
        raise InputError(
            f"{flags['folder']}: {what}: {more}choose a layer, as --layer 0 (of {model.count})"
        )
    has_one = (model.has_classes and model.head.reads != "all") or model.is_pooled
    if flags["at"] is not None and has_one:
        raise InputError(
            "--at is for probabilities at each token: this head is for the whole input"
        )


def _place(opened: Opened, count: int, flags: Flags) -> int:
    """Return the row of probabilities that is shown."""
    if flags["at"] is not None:
        if flags["at"] > count:
            raise InputError(f"--at {flags['at']}: there are {count} tokens, from 1 to {count}")
        return int(flags["at"]) - 1
    if count == 1:
        return 0
    if opened.model.head is not None and opened.model.head.reads != "all":
        return opened.last
    if not opened.is_masked:
        raise InputError(
            f"{flags['folder']}: its head classifies each token: choose one, as --at 2 (from "
            f"1 to {count})"
        )
    place = opened.place_of_mask()
    if place is None:
        raise InputError(
            f"{flags['folder']}: this {opened.model.family.title} predicts masked tokens, and "
            f"the masked token is unknown: give its position, as --at 2 (from 1 to {count})"
        )
    return place


def _write_next(opened: Opened, shares: Any, flags: Flags, place: str, *, has_shares: bool) -> None:
    model = opened.model
    best = np.argsort(-shares, kind="stable")[:MOST_PROBABLE]
    words = (model.classes if model.has_classes else opened.named)(best.tolist())
    rows = [(int(i), word, float(shares[i])) for i, word in zip(best, words, strict=True)]
    remarks = opened.remarks
    if place:
        what = "probable tokens after"
        if opened.is_masked:
            what = "probable tokens in place of"
        elif model.has_classes:
            what = "classes of"
        remarks = (f"{what} token {place}", *remarks)
    if not has_shares:
        remarks = ("scores are logits: they are not shares of one", *remarks)
    what = "Classes" if model.has_classes else "Next tokens"
    _write_rows(opened, rows, what, remarks, flags, has_shares=has_shares)


def _write_rows(
    opened: Opened,
    rows: list[tuple[int, str, float]],
    what: str,
    remarks: tuple[str, ...],
    flags: Flags,
    *,
    has_shares: bool,
) -> None:
    from attncalc.writing.studies.forms import Forms
    from attncalc.writing.studies.generation import (
        probable_as_csv,
        probable_as_json,
        probable_document,
    )

    model = opened.model
    decimals = 4 if flags["decimals"] is None else flags["decimals"]
    title = on_a_line(flags["title"] or f"{model.family.title} ({model.folder.name})")
    measure = "probability" if has_shares else "score"

    show(
        Forms(
            lambda: probable_document(rows, title, decimals, remarks, of=what, measure=measure),
            lambda: probable_as_json(rows, measure),
            lambda: probable_as_csv(rows, measure),
        ),
        wanted_from(flags),
        flags,
    )
