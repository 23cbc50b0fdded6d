"""Documents: problems and answers made by a grammar, corpus files, and what spoils them."""

import csv
import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.problem.fields import GIVEN, SETTINGS
from attncalc.problem.samples import sample
from attncalc.reading import read_stream
from attncalc.reading.answers import ENDINGS

ROOT = Path(__file__).parent.parent.parent
BUNDLED = sample("self").path.parent
LARGEST = 100_000
"""Bytes of a document: below, nothing may take long."""
NUMBERS = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "-2.5",
    "0.5",
    ".5",
    "5.",
    "1/2",
    "-1/3",
    "1/0",
    "0/0",
    "½",
    "⅓",
    "2½",
    "1e3",
    "1e308",
    "-1e308",
    "1e309",
    "1e-320",
    "5e-324",
    "1e-400",
    "1e400",
    "1e1000000000000000000",
    "1e-1000000000000000000",
    "nan",
    "inf",
    "-inf",
    "−∞",
    "∞",
    "1,5",
    "1.234,5",
    "1_000",
    "0x10",
    "١",
    "９",
    "−1",
    "–1",
    "+1",
    "++1",
    "1.",
    ".1.",
    "1e",
    "1e+",
    "e",
    "√2",
    "2√3",
    "π",
    "2π",
    "10^3",
    "e^2",
    "1·10^5",
    "50%",
    "1e17",
    "9007199254740993",
    "123456789012345678901",
    "0.30000000000000004",
    "2.675",
    "-1.005",
    "0.125",
    "1e9",
    "1e16",
    "-0.000000001",
    "true",
    "null",
]
NUMBERS += ["9" * 5000, "9" * 300, "9" * 401, "0." + "0" * 300 + "1", "1/" + "3" * 200, ""]
TEXTS = [
    *("", " ", "cat", "a b", "nan", "-0.00", "1", "None", "Q", "A", "O", "X", "W_Q", "head 1", "…"),
    *("\x1b[31mred\x1b[0m", "\x9b31m", "\u202eabc", "\u2066x\u2069", "\u200b", "\ufeff", "\x00"),
    *(
        "\u2028",
        "\u2029",
        "\x7f",
        "\r\n",
        "\n",
        "\t",
        "\ud800",
        "\udcff",
        "\U0001f469\u200d\U0001f52c",
    ),
    *("=1+1", "＝1+1", "\u200b=1+1", "\t=1", "+1", "-1", "@SUM(1)", "'=1", "a@b.example", "#12"),
    *("http://e.example", "www.e.example", "@me", "GH-1", "<b>x</b>", "<script>", "</td>", "&amp;"),
    *(
        "$x$",
        "\\input{x}",
        "\\",
        "{",
        "}",
        "%",
        "_",
        "^",
        "~",
        "`",
        "**b**",
        "a|b",
        "[x](y)",
        ":smile:",
    ),
    *(
        "[red]x[/red]",
        "[/]",
        "שלום",
        "مرحبا",
        "日本",
        "é",
        "e\u0301",
        "ﬃ",
        "x" * 300,
        "a" * 5000,
        "'",
        '"',
    ),
]
PIECES = [
    *(
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "|",
        "||",
        "\\\\",
        "&",
        "=",
        "≈",
        "→",
        ":",
    ),
    *(
        "\n",
        "\n\n",
        "\r",
        "\t",
        " ",
        "  ",
        "-",
        "---",
        "|---|",
        "'",
        '"',
        "`",
        "```",
        "$$",
        "\\frac{",
        "\\sqrt{",
    ),
    *(
        "\\begin{bmatrix}",
        "\\end{bmatrix}",
        "⎡",
        "⎤",
        "<table>",
        "<tr><td>",
        "</td>",
        "~~",
        "#",
        "%",
        "//",
    ),
    *(
        "head 2",
        "Head 1000",
        "Q head 1001 = [1 2]",
        "Q =",
        "S = Q K^T =",
        "A_{1,1} =",
        "row 1:",
        "Output 1:",
    ),
    *(
        "most input 2",
        "connections",
        "np.array(",
        "results",
        "\\\\[",
        "\\]",
        "e^",
        "sqrt(",
        "/",
        "·",
        "×",
        "^T",
    ),
]
PIECES += ["[1]  ", "[[1]  ", "a|b\n", "---|---\n", "A head 9 = [1 2]\n", "1 2\n", "x = 1\n", "1,"]
PROBLEM_ENDINGS = (".json", ".csv", ".tsv", ".npz", ".txt", "", ".md", ".tex")

TRIES = 8
"""Problems that are drawn until one can be read."""
ODD = 0.02
"""How often an array is of a kind, a shape or a header that it should not be of."""
KINDS = ["i8", "i1", "u8", "U", "S", "?", "c16", "M8[D]", "V4", "O"]
SHAPES: list[tuple[int, ...]] = [(), (1,), (0, 2), (1, 1, 2, 2), (-1,)]
DTYPES = ["'<f8'", "[]", "1", "'|O'", "('<f8',)"]
"""What a header may say its numbers are."""

Document = tuple[str, bytes]
"""The name of a file, and what it holds."""


@cache
def corpus() -> tuple[Document, ...]:
    """Return the files of the samples and of the tests that are read, by their endings."""
    folders = [BUNDLED, ROOT / "tests" / "answers", ROOT / "tests" / "hostile"]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return tuple((path.name, path.read_bytes()) for path in paths if path.stat().st_size < LARGEST)


@cache
def problems() -> tuple[Document, ...]:
    """Return the samples that are problems."""
    found = sorted(BUNDLED.glob("*.*"))
    return tuple((path.name, path.read_bytes()) for path in found)


def number(some: Random) -> str:
    """Return a number as people type it: mostly a plain one."""
    if some.random() < 0.95:
        return some.choice(
            [str(some.randint(-3, 9)), f"{some.uniform(-9, 9):.{some.randint(0, 4)}f}"]
        )
    return some.choice(NUMBERS)


def text(some: Random) -> str:
    """Return a name of something: mostly a hostile one."""
    return "".join(some.choice(TEXTS) for _ in range(some.choice([1, 1, 1, 2, 3])))


def rows(some: Random, height: int, width: int) -> list[list[str]]:
    """Return a matrix as it is typed."""
    plain = some.random() < 0.85
    each = (lambda: str(some.randint(-3, 5))) if plain else (lambda: number(some))
    return [[each() for _ in range(width)] for _ in range(height)]


def setting(some: Random, name: str) -> Any:
    """Return a value for a setting: one it takes, or something it may not."""
    words = re.findall(r'"([\w-]+)"', SETTINGS[name].takes)
    if some.random() < 0.07:
        return some.choice([number(some), text(some), "Q,A,O", 2, True])
    if words and ("number" not in SETTINGS[name].takes or some.random() < 0.5):
        return some.choice(words)
    if SETTINGS[name].is_switch:
        return some.choice([True, True, False])
    if "names" in SETTINGS[name].takes:
        return some.choice(["Q,A,O", "S, A", "connections", "A"])
    return some.choice([str(some.randint(1, 3)), str(some.randint(1, 12)), number(some)])


def fields(some: Random, kind: str = "") -> dict[str, Any]:
    """Return the fields of a problem that mostly is one, of a kind or of any."""
    n, m, d, k, v = (some.choice([1, 2, 2, 3, 3, 4, 5]) for _ in range(5))
    heads = some.choice([1, 1, 1, 2, 3])
    is_self = (kind or some.choice(["self", "cross"])) == "self"
    m = n if is_self else m
    tokens = {"X": n} if is_self else {"X1": n, "X2": m}
    made: dict[str, Any] = {name: rows(some, height, d) for name, height in tokens.items()}
    for name, width in (("W_Q", k), ("W_K", k), ("W_V", v)):
        made[name] = rows(some, d, width * heads)
    made |= {"heads": heads} if heads > 1 else {}
    sizes = {"weights": (v * heads, d), "bias": (1, k * heads), "scores": (n, m), "tokens": (n, d)}
    for name in some.sample(list(GIVEN), some.choice([0, 0, 0, 1, 1, 2])):
        made.setdefault(name, _matrix(some, name, sizes, (n, m)))
    for name in some.sample(list(SETTINGS), some.choice([0, 0, 1, 2])):
        made.setdefault(name, setting(some, name))
    if some.random() < 0.4:
        labels = {name: [text(some) for _ in range(height)] for name, height in tokens.items()}
        made["labels"] = labels if len(labels) > 1 else labels["X"]
    if some.random() < 0.3:
        made["title"] = text(some)
    return {name: value for name, value in made.items() if value is not None}


def _matrix(
    some: Random, name: str, sizes: dict[str, tuple[int, int]], of_marks: tuple[int, int]
) -> Any:
    """Return a further matrix, or mostly none where it would be tokens of the other kind."""
    role = GIVEN[name].role
    if role in ("tokens", "projected") and some.random() < 0.9:
        return None
    if role == "marks":
        return [[some.choice("01") for _ in range(of_marks[1])] for _ in range(of_marks[0])]
    return rows(some, *sizes.get(role, sizes["tokens"]))


def _as_json(made: dict[str, Any], some: Random) -> bytes:
    bare = some.random() < 0.7

    def typed(value: Any) -> Any:
        return [typed(each) for each in value] if isinstance(value, list) else _bare(value)

    def _bare(value: Any) -> Any:
        return float(value) if bare and re.fullmatch(r"-?\d+(\.\d+)?", str(value)) else value

    held = {name: typed(value) if name in GIVEN else value for name, value in made.items()}
    return json.dumps(held, indent=some.choice([None, 2]), ensure_ascii=some.random() < 0.3).encode(
        errors="replace"
    )


def _as_csv(made: dict[str, Any], some: Random) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=some.choice(",,;\t"))
    for name, value in made.items():
        if isinstance(value, list) and name in GIVEN:
            writer.writerows([[name], *value, []])
        elif name != "labels":
            writer.writerow([name, value])
    return buffer.getvalue().encode(errors="replace")


TEXT_FORMS = (
    ("[%s]", " ", "; "),
    ("[%s]", ", ", "; "),
    ("[[%s]]", ", ", "], ["),
    ("\n%s\n", " ", "\n"),
    ("\\begin{bmatrix}%s\\end{bmatrix}", " & ", " \\\\ "),
    ("np.array([[%s]])", ", ", "], ["),
    ("\n| %s |", " | ", " |\n| "),
)
"""How a matrix is written in a text, what parts its entries, and what its rows."""


def _as_text(made: dict[str, Any], some: Random) -> bytes:
    form, between, apart = some.choice(TEXT_FORMS)
    lines = []
    for name, value in made.items():
        if isinstance(value, list) and name in GIVEN:
            inner = apart.join(between.join(map(str, row)) for row in value)
            lines.append(f"{name} = {form % inner}")
        elif name not in ("labels", "title"):
            lines.append(f"{name}: {value}")
    return "\n".join(lines).encode(errors="replace")


def _array(some: Random, value: Any) -> bytes:
    """Return an array as numpy saves it, or something like it."""
    buffer = io.BytesIO()
    kind = some.choice(KINDS if some.random() < ODD else ["f8", "f8", "f4"])
    try:
        array = np.array(value, dtype=float) if kind != "U" else np.array(value, dtype=str)
        array = array.astype(kind) if kind not in ("U", "f8") else array
    except (ValueError, TypeError, OverflowError):
        array = np.array(value, dtype=str)
    shape = some.choice(SHAPES) if some.random() < ODD else None
    if shape is not None and array.dtype.kind != "O":
        array = np.zeros(shape, array.dtype) if -1 not in shape else array.reshape(-1)
    try:
        np.save(buffer, array, allow_pickle=True)
    except Exception:
        np.save(buffer, np.eye(2))
    data = buffer.getvalue()
    if some.random() < ODD:
        shapes = [
            "(100000000000000000000,)",
            "(True,)",
            "((",
            "(2,2,)",
            "(-1,)",
            "(1e5,)",
            "'a'",
            "{}",
        ]
        header = f"{{'descr': {some.choice(DTYPES)}, 'fortran_order': "
        header += f"{some.choice(['False', 'True', '3'])}, 'shape': {some.choice(shapes)}}}\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data[-32:]
    return data


def _keep(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file to a zip, without a time: the same seed gives the same bytes."""
    file.writestr(zipfile.ZipInfo(name), data, file.compression)


def _as_npz(made: dict[str, Any], some: Random) -> bytes:
    buffer = io.BytesIO()
    way = some.choice(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    )
    extra = [
        "query",
        "key",
        "in_proj_weight",
        "in_proj_bias",
        "num_heads",
        "attncalc",
        "steps",
        "X typed",
    ]
    with zipfile.ZipFile(buffer, "w", way) as file:
        for name, value in made.items():
            _keep(file, f"{name}.npy", _array(some, value))
        if some.random() < 0.3:
            name = some.choice([*extra, "labels X", "data.pkl", "bias_k", "Q", "A", "title"])
            _keep(
                file, name + some.choice([".npy", ""]), _array(some, some.choice(["x", "1", [[1]]]))
            )
    return buffer.getvalue()


WRITERS: dict[str, Callable[[dict[str, Any], Random], bytes]] = {
    ".json": _as_json,
    ".csv": _as_csv,
    ".npz": _as_npz,
    ".txt": _as_text,
}


def problem(some: Random, stem: str = "in", kind: str = "") -> Document:
    """Return a problem in some form, mostly of a kind: whole, or spoilt."""
    if some.random() < 0.3:
        name, data = some.choice(problems())
        ending = Path(name).suffix
    else:
        ending = some.choice(list(WRITERS))
        make = whole_fields if some.random() < 0.7 else fields
        data = WRITERS[ending](make(some, kind or some.choice(["self", "cross"])), some)
    if some.random() < 0.25:
        data = spoilt(some, data)
    if some.random() < 0.03:
        ending = some.choice(PROBLEM_ENDINGS)
    return stem + ending, data


def answer(some: Random, stem: str = "mine") -> Document:
    """Return an answer in some form: of the corpus, or made; whole, or spoilt."""
    if some.random() < 0.6:
        name, data = some.choice(corpus())
        ending = Path(name).suffix
    else:
        steps = ("Q", "K", "V", "S", "S_scaled", "A", "O", "H", "Q head 2", "X", "S_masked")
        made = {name: rows(some, 3, 2) for name in some.sample(steps, some.randint(1, 5))}
        ending = some.choice([".json", ".csv", ".npz", ".txt", ".md", ".tex"])
        data = WRITERS.get(ending, _as_answer_text)(made, some)
    if some.random() < 0.7:
        data = spoilt(some, data)
    if some.random() < 0.05:
        ending = some.choice([*ENDINGS, "", ".pdf", ".docx"])
    return stem + ending, data


def _as_answer_text(made: dict[str, Any], some: Random) -> bytes:
    grids = {name: "; ".join(" ".join(row) for row in value) for name, value in made.items()}
    between = some.choice([" = ", ": ", "\n", " is "])
    return "\n".join(f"{name}{between}[{grid}]" for name, grid in grids.items()).encode()


def spoilt(some: Random, data: bytes) -> bytes:
    """Return a document with something wrong in it, once or some times."""
    for _ in range(some.choice([1, 1, 2, 3, 6])):
        data = some.choice(SPOILERS)(some, data)[:LARGEST]
    return data


def _other_number(some: Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:20_000]))
    if not found:
        return data
    each = some.choice(found)
    return data[: each.start()] + some.choice(NUMBERS).encode() + data[each.end() :]


def _other_word(some: Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"[A-Za-z_]\w*", data[:20_000]))
    if not found:
        return data
    each = some.choice(found)
    word = some.choice([text(some), *GIVEN, *SETTINGS, "S", "A", "O", "labels", "results"])
    return data[: each.start()] + word.encode(errors="replace") + data[each.end() :]


def _inserted(some: Random, data: bytes) -> bytes:
    place = some.randrange(len(data) + 1)
    piece = some.choice([some.choice(PIECES), some.choice(PIECES), text(some), number(some)])
    return data[:place] + piece.encode(errors="surrogatepass") + data[place:]


def _repeated(some: Random, data: bytes) -> bytes:
    place = some.randrange(len(data) + 1)
    piece = (
        some.choice(PIECES).encode()
        if some.random() < 0.6
        else data[place : place + some.randint(1, 9)]
    )
    return data[:place] + piece * some.choice([2, 3, 30, 300, 3000, 30_000]) + data[place:]


def _of_lines(change: Callable[[Random, list[bytes]], Sequence[bytes]]) -> Any:
    def spoil(some: Random, data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        return b"".join(change(some, lines)) if lines else data

    return spoil


def _without_line(some: Random, lines: list[bytes]) -> list[bytes]:
    place = some.randrange(len(lines))
    return lines[:place] + lines[place + 1 :]


def _line_twice(some: Random, lines: list[bytes]) -> list[bytes]:
    place = some.randrange(len(lines))
    return lines[:place] + [lines[place]] * some.choice([2, 2, 20]) + lines[place + 1 :]


def _shuffled(some: Random, lines: list[bytes]) -> list[bytes]:
    return some.sample(lines, len(lines))


def _with_another(some: Random, data: bytes) -> bytes:
    _, other = some.choice(corpus())
    return data[: some.randrange(len(data) + 1)] + other[some.randrange(len(other) + 1) :]


def _cut(some: Random, data: bytes) -> bytes:
    return data[: some.randrange(len(data) + 1)]


def _flipped(some: Random, data: bytes) -> bytes:
    if not data:
        return data
    place = some.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << some.randrange(8))]) + data[place + 1 :]


def _without_piece(some: Random, data: bytes) -> bytes:
    place = some.randrange(len(data) + 1)
    return data[:place] + data[place + some.randint(1, 12) :]


def _other_bytes(some: Random, data: bytes) -> bytes:
    return some.choice(
        [b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.replace(b".", b","), b"\xff\xfe" + data,
         ("\ufeff" + data.decode(errors="replace")).encode("utf-16-le"), data.replace(b"\n", b"\r")]
    )  # fmt: skip


SPOILERS = (
    *(_other_number, _other_number, _other_word, _inserted, _inserted, _repeated, _cut, _flipped),
    *(_with_another, _without_piece, _other_bytes, _of_lines(_without_line)),
    *(_of_lines(_line_twice), _of_lines(_shuffled)),
)


def whole_fields(some: Random, kind: str) -> dict[str, Any]:
    """Return the fields of a problem that can be read: others are drawn until one can."""
    for _ in range(TRIES):
        made = fields(some, kind)
        try:
            read_stream(_as_json(made, some), "in.json")
        except AttncalcError:
            continue
        return made
    tokens = ("X",) if kind == "self" else ("X1", "X2")
    return {name: rows(some, 2, 2) for name in (*tokens, "W_Q", "W_K", "W_V")}


def with_other_numbers(some: Random, data: bytes) -> bytes:
    """Return a document with some of its numbers between brackets changed."""
    found = list(re.finditer(rb"(?<=[\[, ])-?\d+(\.\d+)?(?=[\],])", data))
    for each in sorted(some.sample(found, min(len(found), some.choice([0, 1, 2]))), reverse=True,
                       key=lambda match: match.start()):  # fmt: skip
        plain = str(some.choice([some.randint(-9, 9), some.uniform(-9, 9), 1e9, 1e-300]))
        data = data[: each.start()] + plain.encode() + data[each.end() :]
    return data


_DOUBLING = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
_STRANGE: list[tuple[str, Any]] = [
    ("normalizer", {"type": "Sequence", "normalizers": [_DOUBLING] * 40}),
    ("normalizer", {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}),
    ("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": "b"}),
    ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
    ("padding", {"strategy": {"Fixed": 10**9}, "direction": "Right", "pad_to_multiple_of": None,
                 "pad_id": 0, "pad_type_id": 0, "pad_token": "."}),
    ("padding", {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": 2**62,
                 "pad_id": 0, "pad_type_id": 0, "pad_token": "."}),
    ("truncation", {"direction": "Right", "max_length": 0, "strategy": "LongestFirst",
                    "stride": 10**9}),
    ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated",
                       "invert": False}),
    ("post_processor", {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B",
                        "type_id": 0}}], "pair": [], "special_tokens": {}}),
    ("added_tokens", [{"id": 2**31, "content": "", "single_word": False, "lstrip": False,
                       "rstrip": False, "normalized": True, "special": True}]),
    ("model", {"type": "BPE", "vocab": {"a": 0, "b": 2**32 - 1}, "merges": [["a", "b"]]}),
    ("model", {"type": "Unigram", "unk_id": 9, "vocab": [["a", -1.0]]}),
    ("model", {"type": "WordPiece", "vocab": {}, "unk_token": "?", "max_input_chars_per_word": 0,
               "continuing_subword_prefix": ""}),
    ("decoder", {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "a"},
                 "content": "a" * 1000}] * 9}),
]  # fmt: skip
"""Hostile tokenizer.json files: some panic, some never end."""


def tokenizer(some: Random) -> bytes:
    """Return a tokenizer.json: that of the samples, with something strange in it."""
    made = json.loads((BUNDLED / "model" / "tokenizer.json").read_bytes())
    key, value = some.choice(_STRANGE)
    chance = some.random()
    if chance < 0.6:
        made[key] = value
    elif chance < 0.8:
        made[some.choice(list(made))] = some.choice([None, True, [], {}, "x", -1, 1e400, [[]] * 99])
    data = json.dumps(made).encode()
    return spoilt(some, data) if chance > 0.9 else data
