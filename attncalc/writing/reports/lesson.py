"""The findings in lessons, as a document and as JSON."""

from collections.abc import Iterator, Sequence

from attncalc.base.text import in_json, on_a_line, shortened
from attncalc.grading.lesson import Finding, Read
from attncalc.languages.catalogue import ENGLISH, catalogue
from attncalc.writing.document import Bullets, Document, Facts, Part, Table

LONGEST = 80
"""Characters that are shown of a text that was not read."""
MOST_PLACES = 20
"""Places of other numbers that are listed."""
IN_JSON = ("kind", "where", "line", "last", "what", "found", "right", "under", "why")
HEADINGS = ("where", "what", "printed", "right", "why")


def lessons_document(read: Sequence[Read], language: str = ENGLISH) -> Document:
    """Return the document: for each lesson its wrong numbers, then the rest of its report."""
    parts = tuple(part for each in read for part in _parts(each, language))
    return Document("Lessons, checked by their own numbers", parts, language=language)


def _parts(read: Read, language: str) -> Iterator[Part]:
    say = catalogue(language).say
    told = tuple(each._replace(where=say(each.where)) for each in read.findings)
    read = read._replace(findings=told)
    yield Facts((on_a_line(read.place), _verdict(read)))
    if read.of("wrong"):
        rows = tuple(_row(each) for each in read.of("wrong"))
        yield Table("Wrong numbers", HEADINGS, rows, rows)
    sentences = [on_a_line(each) for each in _sentences(read)]
    if sentences:
        yield Bullets(tuple(sentences))


def _verdict(read: Read) -> str:
    if read.error:
        return on_a_line(read.error.removeprefix(f"{read.place}: "))
    if read.of("wrong"):
        count = len(read.of("wrong"))
        return f"{count:,} wrong number{'s' * (count > 1)}"
    count = len(read.of("right"))
    if not count:
        return "nothing could be checked"
    return f"no wrong number; {count:,} result{'s' * (count > 1)} checked"


def _row(each: Finding) -> tuple[str, ...]:
    why = [each.why, _under(each)]
    texts = (each.where, each.what, each.found, each.right, "; ".join(filter(None, why)))
    return tuple(map(on_a_line, texts))


def _under(each: Finding) -> str:
    """Return the convention under which a result is right; "" for the usual ones."""
    return f"under this convention: {' and '.join(each.under)}" if each.under else ""


def _sentences(read: Read) -> Iterator[str]:
    for each in read.of("right"):
        if each.under:
            yield f"{each.where}: {each.name} is right {_under(each)}."
    plain = [each for each in read.of("right") if not each.under]
    if plain:
        yield f"right: {', '.join(f'{each.name} ({each.where})' for each in plain)}."
    for each in read.of("unchecked"):
        (name,) = shortened([each.name], LONGEST)
        yield f"{each.where}: not checked: {name}: {each.why}."
    if others := read.of("other"):
        places = [each.where for each in others[:MOST_PLACES]]
        if more := others[MOST_PLACES:]:
            places.append(f"and {len(more):,} more places, listed with -o report.json")
        yield f"other numbers, not checked: {', '.join(places)}."


def lessons_as_json(read: Sequence[Read]) -> str:
    """Return the same as JSON."""
    lessons = [
        {"lesson": one.place, "error": one.error or None, "findings": [*map(_values, one.findings)]}
        for one in read
    ]
    return in_json({"lessons": lessons}, indent=2) + "\n"


def _values(each: Finding) -> dict[str, object]:
    values = {name: getattr(each, name) for name in IN_JSON}
    return values | {name: values[name] or None for name in ("found", "right", "why")}
