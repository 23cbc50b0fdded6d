"""Writes answers as people write them: any mixture of forms, names and languages, from a seed.

Plain Python without a line of attncalc's reading: what is written is known, entry by entry.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

Texts = list[list[str]]

WORDS = {
    "en": {
        "Q": ["Queries", "Query matrix", "query vectors", "The queries", "Query"],
        "K": ["Keys", "Key matrix", "key vectors", "The keys"],
        "V": ["Values", "Value matrix", "value vectors", "The values", "Value"],
        "S": ["Scores", "attention scores", "Raw scores", "Dot products", "similarity scores"],
        "S_scaled": ["Scaled scores", "Scores divided by √d_k", "scaled attention scores"],
        "A": ["Attention weights", "Softmax", "Attention map", "attention matrix", "Weights",
              "Attention pattern", "Attention", "probabilities"],
        "O": ["Outputs", "Output", "Output tokens", "context vectors", "Final output", "output matrix"],
    },
    "de": {
        "Q": ["Anfragen", "Query-Matrix", "Anfragevektoren", "Abfragen"],
        "K": ["Schlüssel", "Schlüsselmatrix", "Schluessel", "Schlüsselvektoren"],
        "V": ["Werte", "Wertematrix", "Value-Matrix", "Wertevektoren"],
        "S": ["Scores", "Skalarprodukte", "Ähnlichkeiten", "Score-Matrix"],
        "S_scaled": ["Skalierte Scores", "skalierte Skalarprodukte", "Scores geteilt durch √d_k"],
        "A": ["Aufmerksamkeitsgewichte", "Gewichte", "Aufmerksamkeitsmatrix", "Softmax"],
        "O": ["Ausgabe", "Ausgaben", "Ausgabevektoren", "Kontextvektoren"],
    },
    "fr": {
        "Q": ["Requêtes", "Matrice des requêtes"],
        "K": ["Clés", "Matrice des clés", "cles"],
        "V": ["Valeurs", "Matrice des valeurs"],
        "S": ["Scores", "Produits scalaires", "scores d'attention"],
        "S_scaled": ["Scores mis à l'échelle", "scores divisés par √d_k"],
        "A": ["Poids d'attention", "Poids", "Softmax", "Matrice d'attention"],
        "O": ["Sorties", "Sortie", "Vecteurs de contexte"],
    },
    "es": {
        "Q": ["Consultas", "Matriz de consultas"],
        "K": ["Claves", "Matriz de claves"],
        "V": ["Valores", "Matriz de valores"],
        "S": ["Puntuaciones", "Productos escalares"],
        "S_scaled": ["Puntuaciones escaladas", "puntuaciones divididas por √d_k"],
        "A": ["Pesos de atención", "Pesos", "Matriz de atención"],
        "O": ["Salidas", "Salida", "Vectores de contexto"],
    },
}  # fmt: skip
SYMBOLS = {
    "Q": ["Q", "X W_Q", "Q = X W_Q", "XW_Q"],
    "K": ["K", "K = XW_K", "X W_K"],
    "V": ["V", "V = X W_V"],
    "S": ["S", "QK^T", "Q K^T", "Q @ K.T", "QKᵀ", "S = QK^T", "QK'"],
    "S_scaled": ["S_scaled", "QK^T/√d_k", "S/√d_k", "S = QK^T/√d_k", "QKᵀ / √d_k", "S'"],
    "A": ["A", "softmax(S)", "A = softmax(S)", "softmax(QK^T/√d_k)", "alpha", "α"],
    "O": ["O", "AV", "A V", "O = AV", "Z", "softmax(S) V", "Attention(Q, K, V)", "A·V"],
}  # fmt: skip
TEX_SYMBOLS = {
    "Q": ["Q", "Q = XW_Q", "\\mathbf{Q}"],
    "K": ["K", "K = X W_K"],
    "V": ["V", "V = XW_V"],
    "S": ["S", "QK^\\top", "S = QK^{\\top}", "Q K^{T}"],
    "S_scaled": ["S_{\\text{scaled}}", "\\frac{QK^T}{\\sqrt{d_k}}", "\\frac{S}{\\sqrt{d_k}}"],
    "A": ["A", "\\operatorname{softmax}(S)", "A = \\text{softmax}\\left(\\frac{QK^\\top}{\\sqrt{d_k}}\\right)"],
    "O": ["O", "AV", "O = A V", "\\operatorname{softmax}(S)V"],
}  # fmt: skip
LETTERS = {"Q": "q", "K": "k", "V": "v", "A": "a", "O": "o", "S": "s"}
PROSE = {
    "en": ["I rounded everything to 2 decimals.", "First I computed the projections.",
           "The third token attends mostly to the first one (0.62).", "See problem 2 on sheet 4."],
    "de": ["Ich habe auf 2 Nachkommastellen gerundet.", "Hier ist meine Lösung.", "Aufgabe 3b"],
    "fr": ["J'ai arrondi à 2 décimales.", "Voici ma solution."],
    "es": ["He redondeado a 2 decimales.", "Aquí está mi solución."],
}  # fmt: skip


@dataclass
class Written:
    """A document, and its content."""

    text: str
    truth: dict[str, Texts]
    forms: list[str] = field(default_factory=list)


@dataclass
class Writer:
    """Writes one document."""

    rng: random.Random
    steps: dict[str, Texts]
    given: dict[str, Texts]
    language: str = "en"
    tex: bool = False
    comma: bool = False

    def pick(self, items: list[str]) -> str:
        return self.rng.choice(items)

    def word(self, step: str) -> str:
        return self.pick(WORDS[self.language][step])

    def name(self, step: str) -> str:
        """Return a name before an equals sign."""
        if self.tex:
            return self.pick(TEX_SYMBOLS[step])
        return self.pick(SYMBOLS[step])

    def heading(self, step: str, number: int) -> str:
        """Return a line that names the content below it."""
        word = self.word(step) if self.rng.random() < 0.7 else self.name(step)
        if self.tex:
            return self.pick([f"\\section*{{{self.word(step)}}}", f"\\textbf{{{self.word(step)}}}:",
                              f"${self.name(step)} =$"])  # fmt: skip
        return self.pick(
            [f"{word}:", f"## {word}", f"**{word}**", f"{number}) {word}", f"{word} =", word,
             f"## Step {number}: {word}", f"Schritt {number}: {word}", f"- {word}:", f"({number}) {word}:",
             f"{word.upper()}:" if "√" not in word and "_" not in word and "α" not in word else f"{word}:"]
        )  # fmt: skip


Form = Callable[[Writer, str, Texts, int], str]


def joined(rows: Texts, cell: str, row: str) -> str:
    return row.join(cell.join(each) for each in rows)


def aligned(rows: Texts) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]


def plain_rows(w: Writer, step: str, rows: Texts, number: int) -> str:
    gap = w.pick([" ", "  ", "\t", ", "]) if not w.comma else w.pick(["  ", "\t", " "])
    return w.heading(step, number) + "\n" + w.pick(["", "\n"]) + joined(rows, gap, "\n")


def columns(w: Writer, step: str, rows: Texts, number: int) -> str:
    return w.heading(step, number) + "\n" + "\n".join(aligned(rows))


def beside(w: Writer, step: str, rows: Texts, number: int) -> str:
    lines = aligned(rows)
    name = w.name(step)
    return f"{name} = {lines[0]}\n" + "\n".join(" " * (len(name) + 3) + line for line in lines[1:])


def matlab(w: Writer, step: str, rows: Texts, number: int) -> str:
    cell = w.pick([" ", ", "]) if not w.comma else "  "
    row = w.pick(["; ", ";\n  ", "\n  "]) if cell == " " or cell == "  " else "; "
    return f"{w.name(step)} = [{joined(rows, cell, row)}]{w.pick(['', ';'])}"


def python(w: Writer, step: str, rows: Texts, number: int) -> str:
    inner = ",\n     ".join("[" + ", ".join(row) + "]" for row in rows)
    name = w.pick([step, w.name(step)]) if step != "S_scaled" else "S_scaled"
    form = w.pick(
        ["[{}]", "np.array([{}])", "torch.tensor([{}])", "tensor([{}], grad_fn=<MmBackward0>)"]
    )
    return f"{name} = {form.format(inner)}"


def printed(w: Writer, step: str, rows: Texts, number: int) -> str:
    body = "\n ".join("[" + line + "]" for line in aligned(rows))
    return w.pick([f"{step} =\n[{body}]", f"{step} = [{body}]", f"print({step})\n[{body}]",
                   f">>> {step}\narray([{body}])"])  # fmt: skip


def bmatrix(w: Writer, step: str, rows: Texts, number: int) -> str:
    kind = w.pick(["bmatrix", "pmatrix", "matrix"])
    body = joined(rows, " & ", w.pick([" \\\\ ", " \\\\\n"]))
    name = w.pick(TEX_SYMBOLS[step])
    block = f"\\begin{{{kind}}} {body} \\end{{{kind}}}"
    if w.rng.random() < 0.2:
        block = f"\\left[\\begin{{array}}{{{'c' * len(rows[0])}}} {body} \\end{{array}}\\right]"
    if w.rng.random() < 0.1:
        block = f"\\boxed{{{block}}}"
    return w.pick([f"$${name} = {block}$$", f"\\[ {name} = {block} \\]", f"${name} \\approx {block}$",
                   f"\\begin{{align}}\n{name} &= {block}\n\\end{{align}}",
                   f"\\begin{{equation}}\n{name} = {block}.\n\\end{{equation}}"])  # fmt: skip


def table(w: Writer, step: str, rows: Texts, number: int) -> str:
    labels = w.rng.random() < 0.5
    head = ["", *(f"d{j + 1}" for j in range(len(rows[0])))] if labels else rows[0]
    body = [[f"x{i + 1}", *row] for i, row in enumerate(rows)] if labels else rows[1:]
    if not labels and len(rows) == 1:
        return columns(w, step, rows, number)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return w.heading(step, number) + "\n\n" + "\n".join(lines)


def tabs(w: Writer, step: str, rows: Texts, number: int) -> str:
    if w.rng.random() < 0.5:
        rows = [
            [w.pick(["Token {}", "x{}", "{}."]).format(i + 1), *row] for i, row in enumerate(rows)
        ]
        rows = [[f"Token {i + 1}", *row[1:]] for i, row in enumerate(rows)]
    return w.heading(step, number) + "\n" + joined(rows, "\t", "\n")


def tall(w: Writer, step: str, rows: Texts, number: int) -> str:
    lines = aligned(rows)
    if len(lines) == 1:
        return f"{w.name(step)} = [ {lines[0]} ]"
    marks = ["⎡⎤", *["⎢⎥"] * (len(lines) - 2), "⎣⎦"]
    where = w.pick([0, len(lines) // 2])
    name = f"{w.name(step)} = "
    return "\n".join(
        (name if i == where else " " * len(name)) + f"{m[0]} {line} {m[1]}"
        for i, (m, line) in enumerate(zip(marks, lines, strict=True))
    )


def fenced(w: Writer, step: str, rows: Texts, number: int) -> str:
    left, right = w.pick(["||", "()", "[]"])
    lines = [f"{left} {line} {right}" for line in aligned(rows)]
    if w.rng.random() < 0.5 and left != "|":
        name = f"{w.name(step)} = "
        return "\n".join(
            (name if i == 0 else " " * len(name)) + line for i, line in enumerate(lines)
        )
    return w.heading(step, number) + "\n" + "\n".join(lines)


def labelled(w: Writer, step: str, rows: Texts, number: int) -> str:
    label = w.pick(["x{}: ", "row {}: ", "Token {}: ", "x{} | ", "Row {}:  "])
    gap = w.pick([" ", ", ", "  "]) if not w.comma else "  "
    lines = [label.format(i + 1) + gap.join(row) for i, row in enumerate(rows)]
    return w.heading(step, number) + "\n" + "\n".join(lines)


def vectors(w: Writer, step: str, rows: Texts, number: int) -> str:
    if step not in LETTERS:
        return matlab(w, step, rows, number)
    letter = LETTERS[step]
    if w.tex:
        lines = [f"\\mathbf{{{letter}}}_{{{i + 1}}} = ({', '.join(row)})" if not w.comma else
                 f"{letter}_{i + 1} = \\begin{{pmatrix}} {' & '.join(row)} \\end{{pmatrix}}"
                 for i, row in enumerate(rows)]  # fmt: skip
        return "\n".join(f"${line}$" for line in lines)
    style = w.pick(["{}{}", "{}_{}", "{}_{{{}}}"])
    if w.comma:
        return "\n".join(
            f"{style.format(letter, i + 1)} = ({'; '.join(row)})" for i, row in enumerate(rows)
        )
    form = w.pick(["({})", "[{}]"])
    lines = [
        f"{style.format(letter, i + 1)} = {form.format(', '.join(row))}"
        for i, row in enumerate(rows)
    ]
    return w.pick(["\n", ", ", "; "]).join(lines)


def entries(w: Writer, step: str, rows: Texts, number: int) -> str:
    symbol = step if step != "S_scaled" else "S_scaled"
    style = w.pick(["{}[{},{}]", "{}_{{{}{}}}", "{}{}{}", "{}_{},{}", "{}_{{{},{}}}", "{}({},{})"])
    if step == "S_scaled":
        style = "{}[{},{}]"
    lines = []
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            name = style.format(symbol, i + 1, j + 1)
            if step == "S" and style == "{}{}{}":
                name = f"q{i + 1}·k{j + 1}"
            work = w.pick(["", "1*0 + 2*1 = ", "(1·0) + (-1·1) = ", "2 - 1/2 = "])
            lines.append(f"{name} = {work}{cell}")
    gap = w.pick(["\n", "\n", ", " if not w.comma else "; "])
    return gap.join(lines)


def chain(w: Writer, step: str, rows: Texts, number: int) -> str:
    def literal(texts: Texts) -> str:
        return f"[{joined(texts, ' ', '; ')}]"

    if step in ("Q", "K", "V") and "X" in w.given:
        factors = f"{literal(w.given['X'])} {literal(w.given[f'W_{step}'])}"
        return f"{step} = XW_{step} = {factors} = {literal(rows)}"
    if w.rng.random() < 0.5:
        return f"{literal(rows)} = {step}"
    return f"{w.name(step)} = {w.pick(['', '... = '])}{literal(rows)}"


def struck(w: Writer, step: str, rows: Texts, number: int) -> str:
    wrong = [["9" for _ in row] for row in rows]
    old, new = (f"[{joined(each, ' ', '; ')}]" for each in (wrong, rows))
    name = w.name(step)
    if w.tex:
        return f"${name} = \\sout{{{old}}} {new}$"
    return w.pick([f"{name} = ~~{old}~~ {new}", f"~~{name} = {old}~~\n{name} = {new}",
                   f"{name} = {old}\n\nCorrection: {name} = {new}", f"<s>{name} = {old}</s>\n{name} = {new}"])  # fmt: skip


def vector_table(w: Writer, step: str, rows: Texts, number: int) -> str:
    if step not in ("Q", "K", "V", "O") or w.comma:
        return plain_rows(w, step, rows, number)
    lines = [f"| x{i + 1} | ({', '.join(row)}) |" for i, row in enumerate(rows)]
    return f"| token | {w.word(step)} |\n|---|---|\n" + "\n".join(lines)


def dots(w: Writer, step: str, rows: Texts, number: int) -> str:
    if step != "S":
        return entries(w, step, rows, number)
    style = w.pick(["q{}·k{}", "q_{} · k_{}", "q{}.k{}", "q_{}^T k_{}", "q{} * k{}"])
    lines = [f"{style.format(i + 1, j + 1)} = {w.pick(['', '3 - 1/2 = '])}{cell}"
             for i, row in enumerate(rows) for j, cell in enumerate(row)]  # fmt: skip
    return "\n".join(lines)


def greek(w: Writer, step: str, rows: Texts, number: int) -> str:
    if step != "A":
        return vectors(w, step, rows, number)
    style = w.pick(["α{}", "α_{}", "alpha_{}", "softmax(s{})", "Softmax row {}"])
    gap = "; " if w.comma else ", "
    return "\n".join(f"{style.format(i + 1)} = ({gap.join(row)})" for i, row in enumerate(rows))


def percent(w: Writer, step: str, rows: Texts, number: int) -> str:
    if step != "A" or w.comma or w.tex or any(len(c) > 4 for row in rows for c in row):
        return columns(w, step, rows, number)
    shares = [[f"{Fraction(c) * 100}%" for c in row] for row in rows]
    return w.heading(step, number) + "\n" + joined(shares, "  ", "\n")


def mixed(w: Writer, step: str, rows: Texts, number: int) -> str:
    def as_mixed(cell: str) -> str:
        value = Fraction(cell.replace(",", ".").replace("−", "-"))
        if value.denominator not in (2, 4) or abs(value) < 1:
            return cell
        whole, part = divmod(abs(value), 1)
        return f"{'-' if value < 0 else ''}{whole} {part}"

    if w.tex:
        return bmatrix(w, step, rows, number)
    if not any(
        " " not in as_mixed(row[0]) and all(" " not in as_mixed(c) for c in row) for row in rows
    ):
        return (
            f"{w.name(step)} = [{'; '.join(', '.join(map(as_mixed, row)) for row in rows)}]"
            if not w.comma
            else columns(w, step, rows, number)
        )
    gap = w.pick([" ", "  ", "   "])
    return w.heading(step, number) + "\n" + "\n".join(gap.join(map(as_mixed, row)) for row in rows)


def html_table(w: Writer, step: str, rows: Texts, number: int) -> str:
    body = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>\n" for row in rows)
    return f"<h3>{w.word(step)}</h3>\n<table>\n{body}</table>"


def worked(w: Writer, step: str, rows: Texts, number: int) -> str:
    """Write lines of work, and then the matrix."""
    lines = [
        "1·0 + (-1)·1 + 0·(-1/2) + 2·1 = 1",
        "e^1.5 = 4.48, e^-2.5 = 0.08, e^8 = 2980.96",
        "d_k = 2",
    ]
    kept = w.rng.sample(lines, 2) if not w.comma else ["d_k = 2"]
    return "\n".join(kept) + "\n\n" + (bmatrix if w.tex else matlab)(w, step, rows, number)


FORMS: list[Form] = [plain_rows, columns, beside, matlab, python, printed, bmatrix, table, tabs, tall,
                     fenced, labelled, vectors, entries, chain, struck, vector_table, dots, greek, percent, mixed, html_table, worked]  # fmt: skip
NO_COMMA = (python, printed, vector_table)
NO_TEX = (
    tall,
    printed,
    chain,
    table,
    tabs,
    beside,
    labelled,
    fenced,
    plain_rows,
    columns,
    vector_table,
    dots,
    greek,
    html_table,
)
NO_WORK = (entries,)


def spelled(value: Fraction, text: str, rng: random.Random, comma: bool, tex: bool) -> str:
    """Return another spelling of a number, now and then."""
    roll = rng.random()
    if comma:
        return text.replace(".", "{,}" if tex else ",")
    if roll < 0.05 and value.denominator in (2, 4) and value.denominator != 1:
        return (
            str(value)
            if not tex
            else (
                f"{'-' if value < 0 else ''}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
            )
        )
    if roll < 0.08:
        return text.replace("-", "−")
    if roll < 0.10 and text.startswith("0."):
        return text[1:]
    return text


def matlab_given(name: str, rows: Texts) -> str:
    return f"{name} = [{joined(rows, ' ', '; ')}]"


def written(steps: dict[str, Texts], given: dict[str, Texts], rng: random.Random) -> Written:
    """Return a document with these steps, in forms and under names drawn at random."""
    tex = rng.random() < 0.2
    comma = rng.random() < 0.15
    language = (
        rng.choice(["en", "en", "en", "de", "fr", "es"])
        if not comma
        else rng.choice(["de", "fr", "es"])
    )
    writer = Writer(rng, steps, given, language, tex, comma)
    allowed = [
        form for form in FORMS if not (comma and form in NO_COMMA) and not (tex and form in NO_TEX)
    ]
    favourite = rng.choice(allowed)
    pieces, truth, forms = [], {}, []
    if rng.random() < 0.4:
        pieces.append(rng.choice(PROSE[language]))
    if rng.random() < 0.15 and not comma:
        pieces += [matlab_given(each, rows) for each, rows in given.items()]
    for number, (step, rows) in enumerate(steps.items(), start=1):
        form = favourite if rng.random() < 0.6 else rng.choice(allowed)
        texts = [
            [spelled(Fraction(c), c, rng, comma, tex) if c[:1] not in "?_" else c for c in row]
            for row in rows
        ]
        pieces.append(form(writer, step, texts, number))
        truth[step] = rows
        forms.append(form.__name__)
        if rng.random() < 0.1:
            pieces.append(rng.choice(PROSE[language]))
    if rng.random() < 0.15:
        pieces.append(
            "Output 1: solid line to 3, no dashed line\nOutput 2: solid line to 1, dashed line to 2"
        )
    text = "\n\n".join(pieces)
    if rng.random() < 0.1:
        text = "\n".join("> " + line for line in text.split("\n"))
    return Written(text, truth, forms)
