"""Generated tokens: candidates of each step, beams and their tree, the cache; and likely tokens."""

from collections.abc import Iterator, Sequence
from math import isfinite, log
from typing import IO, Any

import numpy as np

from attncalc.base.text import numbered, on_a_line
from attncalc.languages.catalogue import catalogue
from attncalc.studies.draws import GENERATOR
from attncalc.studies.generate import Candidate, Generation
from attncalc.writing.document import Bullets, Document, Facts, Part, Sheet, Table
from attncalc.writing.studies.common import filled, in_json, in_rows, shown

OF_TREE = "Each branch of the tree ends with the sum of ln p up to there."
NOT_READ = "the cache has no row of the last new token: no layer has read it"
Row = tuple[int, str, float]
"""An id, its name, and its probability or score."""


def document(made: Generation, *, full: bool = False, cache: bool = False) -> Document:
    """Return the document of generated tokens; `cache` adds the keys and values that are kept."""
    parts: list[Part] = [Facts(said_of(made)), Bullets(tuple(_told(made)))]
    parts += [_step(made, number, full=full) for number in range(len(made.steps))]
    if made.settings.beams > 1:
        rows = tuple(tree_lines(made))
        tree = Table("Tree of the beams", ("tokens", "sum of ln p"), rows, rows)
        parts += [_finished(made, full=full), Bullets((OF_TREE,)), tree]
    if cache:
        parts += _cached(made, full=full)
    notes = (NOT_READ,) if cache and made.cache else ()
    return Document(made.source.title, tuple(parts), notes, language=made.source.language)


def said_of(made: Generation) -> tuple[str, ...]:
    """Return how the tokens were chosen."""
    use = made.settings
    said = [use.method]
    if use.beams > 1:
        penalty = f"score = sum of ln p / tokens^{use.length_penalty:g}"
        said += [f"{use.beams} beams", penalty]
    kept = (("temperature", use.temperature), ("top-k", use.top_k), ("top-p", use.top_p))
    said += [f"{name} {value:g}" for name, value in kept if value is not None]
    if use.is_drawn:
        said += [f"{GENERATOR}({use.seed or 0})", "drawn: the first sum above the drawn number"]
    if use.end:
        ends = " or ".join(str(each) for each in use.end)
        said.append(f"token {ends} ends a sequence")
    return (*said, f"shown to {made.source.decimals} decimals", *made.source.remarks)


def _told(made: Generation) -> Iterator[str]:
    prompt = [made.names[each] for each in made.source.prompt]
    yield f"Prompt: {on_a_line(' '.join(prompt))}"
    yield f"Generated: {on_a_line(made.text)}"
    count = len(made.tokens)
    end = "" if made.tokens[-1] not in made.settings.end else ", the last ends the sequence"
    yield f"{count} new token{'s' * (count > 1)}{end}"


def _step(made: Generation, number: int, *, full: bool) -> Sheet:
    step, use, decimals = made.steps[number], made.settings, made.source.decimals
    columns = ["id", "logit", "p", "ln p"]
    columns += ["drawn with", "sum"] if use.is_drawn else ["sum of ln p"] if use.beams > 1 else []
    columns.append("")

    def cells(each: Candidate) -> list[str]:
        numbers = [each.logit, each.probability, ln(each)]
        if use.is_drawn and each.share:
            numbers += [each.share, each.cumulative]
        elif use.beams > 1:
            numbers.append(each.total)
        state = "chosen" if each.is_chosen else "kept" if each.is_kept else "-"
        texts = [shown(value, decimals) if isfinite(value) else "-∞" for value in numbers]
        texts += ["-"] * (len(columns) - 2 - len(texts))  # of a token that cannot be drawn
        return [str(each.token), *texts, state]

    rows = [cells(each) for each in step.candidates]
    names = [_name(made, number, each) for each in step.candidates]
    title = f"Step {number + 1}"
    if step.drawn is not None:
        title += f": drawn number {shown(step.drawn, max(decimals, 4))}"
    return filled(title, names, columns, rows, full=full, is_of_names=True)


def ln(each: Candidate) -> float:
    """Return the natural logarithm of a candidate's probability."""
    return log(each.probability) if each.probability else -np.inf


def _name(made: Generation, number: int, each: Candidate) -> str:
    """Return the name of a candidate; in a beam search after that of the previous token."""
    name = made.names[each.token]
    if made.settings.beams == 1 or each.parent < 0:
        return name
    return f"{made.names[made.steps[number - 1].candidates[each.parent].token]} → {name}"


def _finished(made: Generation, *, full: bool) -> Sheet:
    decimals = made.source.decimals
    names = [" ".join(made.names[each] for each in beam.tokens) for beam in made.beams]
    rows = [
        [str(len(each.tokens)), shown(each.total, decimals), shown(each.score, decimals)]
        for each in made.beams
    ]
    columns = "tokens", "sum of ln p", "score"
    return filled("Finished beams", names, columns, rows, full=full, is_of_names=True)


def tree_lines(made: Generation) -> Iterator[tuple[str, str]]:
    """Yield the lines of the tree of kept candidates; a chain without branches is one line."""
    kept = {
        (number, place): each
        for number, step in enumerate(made.steps)
        for place, each in enumerate(step.candidates)
        if each.is_kept
    }
    below: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (number, place), each in kept.items():
        below.setdefault((number - 1, each.parent), []).append((number, place))
    roots = below.get((-1, -1), [])
    waiting = [("", each, i == 0) for i, each in enumerate(reversed(roots))]
    while waiting:
        stem, at, is_last = waiting.pop()
        chain = [at]
        while len(below.get(chain[-1], ())) == 1:
            chain += below[chain[-1]]
        names = " ".join(on_a_line(made.names[kept[each].token]) for each in chain)
        is_end = kept[chain[-1]].is_chosen and chain[-1] not in below
        end = f"  {catalogue(made.source.language).say('(chosen)')}" if is_end else ""
        total = shown(kept[chain[-1]].total, made.source.decimals)
        yield f"{stem}{'└─' if is_last else '├─'} {names}{end}", total
        inner = stem + ("\u00a0\u00a0\u00a0" if is_last else "│\u00a0\u00a0")
        branches = reversed(below.get(chain[-1], []))
        waiting += [(inner, each, i == 0) for i, each in enumerate(branches)]


def _cached(made: Generation, *, full: bool) -> Iterator[Sheet]:
    """Return the keys and values of each attention and head, a row for each token."""
    tokens = [made.names[each] for each in (*made.source.prompt, *made.tokens)]
    for name, heads in made.cache.items():
        what = "keys" if name.endswith("K") else "values"
        for head, rows in enumerate(heads, start=1):
            of = f", head {head}" if len(heads) > 1 else ""
            title = f"Cached {what} {name}{of}"
            cells = [[shown(each, made.source.decimals) for each in row] for row in rows.tolist()]
            columns, named = numbered(rows.shape[1]), tokens[: len(rows)]
            yield filled(title, named, columns, cells, full=full, is_of_names=True)


def as_json(made: Generation, *, cache: bool = False) -> str:
    """Return generated tokens as JSON; `cache` adds the keys and values."""
    content: dict[str, Any] = {
        "method": made.settings.method,
        "prompt": list(made.source.prompt),
        "tokens": list(made.tokens),
        "text": made.text,
        "steps": [
            {
                "step": number,
                "chosen": next((each.token for each in step.candidates if each.is_chosen), None),
                **({} if step.drawn is None else {"drawn": step.drawn}),
                "candidates": [_candidate(made, each) for each in step.candidates],
            }
            for number, step in enumerate(made.steps, start=1)
        ],
        "beams": [
            {"tokens": list(each.tokens), "log_probability": each.total, "score": each.score}
            for each in made.beams
        ],
    }
    if cache:
        content["cache"] = {name: each.tolist() for name, each in made.cache.items()}
    return in_json(content)


def _candidate(made: Generation, each: Candidate) -> dict[str, Any]:
    found: dict[str, Any] = {"token": each.token, "text": made.names[each.token]}
    found |= {"logit": each.logit, "probability": each.probability}
    found["log_probability"] = ln(each) if each.probability else None
    if made.settings.is_drawn:
        return {**found, "drawn_with": each.share, "sum": each.cumulative}
    if made.settings.beams > 1:
        return {**found, "after": each.parent, "total": each.total, "kept": each.is_kept}
    return found


def as_csv(made: Generation) -> str:
    """Return a row for each candidate of each step."""
    rows = [
        (
            *(str(number), str(each.token), made.names[each.token], repr(each.probability)),
            *(str(int(each.is_kept)), str(int(each.is_chosen))),
        )
        for number, step in enumerate(made.steps, start=1)
        for each in step.candidates
    ]
    return in_rows([("step", "id", "text", "probability", "kept", "chosen"), *rows])


def write_npz(made: Generation, file: IO[bytes]) -> None:
    """Write the tokens, the scores of the beams, and the cache as arrays."""
    arrays = {"prompt": np.array(made.source.prompt), "tokens": np.array(made.tokens)}
    scores = np.array([each.score for each in made.beams])
    np.savez(file, **arrays, scores=scores, **dict(made.cache))  # type: ignore[arg-type]


def probable_document(
    rows: Sequence[Row], title: str, decimals: int, remarks: Sequence[str], *, of: str, measure: str
) -> Document:
    """Return a table of tokens or classes, the most probable first."""
    what = "class" if of == "Classes" else "token"
    named = any(str(number) != word for number, word, _ in rows)
    headings = ("id", what, measure) if named else ("id", measure)
    cells = tuple(
        (str(number), *([on_a_line(word)] if named else []), shown(share, decimals))
        for number, word, share in rows
    )
    told = tuple((f"{what} {number}", *rest) for number, *rest in cells)
    order = "the most probable first" if measure == "probability" else "the highest first"
    facts = Facts((f"shown to {decimals} decimals, halves away from zero", *remarks))
    return Document(title, (facts, Table(f"{of}, {order}", headings, cells, told)))


def probable_as_json(rows: Sequence[Row], measure: str) -> str:
    """Return the most probable tokens or classes as JSON."""
    listed = [{"id": i, "text": word, measure: share} for i, word, share in rows]
    return in_json({"next": listed})


def probable_as_csv(rows: Sequence[Row], measure: str) -> str:
    """Return the most probable tokens or classes as CSV."""
    lines = [(str(i), word, repr(share)) for i, word, share in rows]
    return in_rows([("id", "text", measure), *lines])
