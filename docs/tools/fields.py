"""The tables of the pages of fields: a row for each field, with the text of its declaration.

A comment above a table says whose fields it lists: `<!-- matrices: PatchFields -->`. The last
column (of matrices the last two) is the page's own, and is kept.
"""

import re
from collections.abc import Callable, Iterable

from attncalc.problem.field import MatrixField, Setting, declared
from attncalc.problem.fields import OWNERS

TABLE = re.compile(
    r"^<!-- (?P<kind>matrices|settings): (?P<owners>[\w, ]+) -->\n\n(?:\|.*\n)*", re.MULTILINE
)
BY_NAME = {owner.__name__: owner for owner in OWNERS}
Cells = list[str]


def with_tables(page: str) -> str:
    """Return a page with its tables generated from the declarations."""
    return TABLE.sub(_table, page)


def _table(found: re.Match[str]) -> str:
    owners = [BY_NAME[name] for name in re.split(r", *", found["owners"])]
    heads, kind, cells = KINDS[found["kind"]]
    own = OWN[found["kind"]]
    kept = _kept(found.group(), own)
    rows = [
        [f"`{name}`", *cells(each), *kept.get(name, [""] * own)]
        for owner in owners
        for name, each in declared(owner, kind).items()
    ]
    lines = [_line(heads), "|" + "---|" * len(heads), *map(_line, rows)]
    comment = found.group().partition("\n")[0]
    return f"{comment}\n\n" + "\n".join(lines) + "\n"


def _kept(table: str, count: int) -> dict[str, Cells]:
    """Return the page's own cells of each row, by the name of its field."""
    rows = [_cells(line) for line in table.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[-count:] for row in rows}


def _cells(line: str) -> Cells:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _line(cells: Iterable[str]) -> str:
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def _of_matrix(given: MatrixField) -> Cells:
    return [_plain(given.says)]


def _of_setting(setting: Setting) -> Cells:
    return [_values(setting), _plain(setting.says)]


def _plain(says: str) -> str:
    """Return the words of a declaration, safe in a table."""
    return says.replace("|", "\\|").replace("*", "\\*")


def _values(setting: Setting) -> str:
    """Return what a setting takes, its default first."""
    takes = re.sub(r'"([\w-]+)"', r"`\1`", setting.takes)
    first = "" if setting.default is None else str(setting.default).lower()
    if setting.is_switch:
        both = ("true", "false") if setting.default else ("false", "true")
        takes = takes.replace("true or false", "`{}` or `{}`".format(*both))
    elif first and not takes.startswith(f"`{first}`"):
        takes = f"`{first}`; {takes}"
    return takes + _elsewhere(setting)


def _elsewhere(setting: Setting) -> str:
    """Return the default in other blocks."""
    others = {"a decoder": setting.in_decoder, "a Vision Transformer": setting.in_vit}
    said = [f"in {where} `{str(value).lower()}`" for where, value in others.items() if value]
    return "".join(f"; {each}" for each in said)


KINDS: dict[str, tuple[Cells, type, Callable[..., Cells]]] = {
    "matrices": (["field", "what it is", "shape", "more"], MatrixField, _of_matrix),
    "settings": (
        ["field", "values, the default first", "what it does", "more"],
        Setting,
        _of_setting,
    ),
}
OWN = {"matrices": 2, "settings": 1}
"""How many columns, the last ones, are the page's own."""
