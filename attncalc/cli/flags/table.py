"""The commands and their own flags, in one table; `fields.py` adds those of a problem's fields."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.cli.flags.fields import completed, flags_for, settings_of_new
from attncalc.cli.flags.flag import OUTPUT, Flag
from attncalc.problem.field import FIRST

MARKING, TOLERANCE, CLASS, STUDY = "Marking", "Tolerance", "For a class", "Study"
KERNEL = "Kernel"
MODEL, LAYER, GENERATION = "Model input", "Layer and head", "Generating tokens"
INSIDE = "All layers"
SIZES, WISHES = "Sizes and entries", "Properties of the solution"


def _switch(typed: str, text: str, panel: str = OUTPUT, **more: Any) -> Flag:
    return Flag(typed, text, panel, bool, False, **more)


def _several(typed: str, text: str, panel: str = OUTPUT, **more: Any) -> Flag:
    return Flag(typed, text, panel, list, **more)


def _one_of(typed: str, values: tuple[str, ...], panel: str = OUTPUT, **more: Any) -> Flag:
    return Flag(typed, f"{', '.join(values[:-1])} or {values[-1]}.", panel, values, **more)


def _things(typed: str, text: str, default: Any = ...) -> Flag:
    """Return the arguments that are files, and what to do with them."""
    return Flag(typed, text, OUTPUT, list, default, name="things")


def _names_of_samples() -> list[str]:
    from attncalc.problem.samples import ANSWERS, SAMPLES

    return [each.name for each in (*SAMPLES, *ANSWERS)]


def _names_of_schemas() -> list[str]:
    from attncalc.schemas import NAMES

    return list(NAMES)


def _texts_of(file: str) -> dict[str, str]:
    """Return the texts of a file of help, by the names in their headings."""
    text = (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
    parts = re.split(r"^# (.*)\n\n", text, flags=re.MULTILINE)[1:]
    both = zip(parts[::2], parts[1::2], strict=True)
    return {name: about for names, about in both for name in names.split()}


def topics() -> dict[str, str]:
    """Return the text of each topic by its name; the first line is its title."""
    return _texts_of("topics.md")


def _topics() -> list[str]:
    return [*topics(), *COMMANDS]


FILE = Flag("[FILE]", "JSON, CSV, .npz, a folder, or - for stdin.", unsaid="a sample")
PROBLEM = Flag("PROBLEM", "Problem, or a set for a class.", name="file", default=...)
FORMS = ("table", "markdown", "latex", "html", "csv", "json", "npz")
BACKENDS = ("numpy", "torch", "jax")
TYPES = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
SYSTEMS = ("gradescope", "moodle", "prairielearn", "numbas", "stack")
FORMAT = _one_of("--format FORM", FORMS)
OUT = Flag("--out -o FILE", "Write to this file (CSV: also a folder).")
TO_FILE = Flag("--out -o FILE", "Write to this file.")
FULL = _switch("--full", "Show large matrices in full.")
EXPLAIN = _switch("--explain", "Describe the patterns in the weights.")
STANDALONE = _switch("--standalone", "LaTeX: a complete document, with the map.")
SET = _several(
    "--set FIELD=VALUE", "Set any field, e.g. --set softcap=50; repeatable.", complete=completed
)
JOBS = Flag(
    "--jobs NUMBER",
    "CPU cores for a class or a folder of answers.",
    CLASS,
    int,
    unsaid="all",
    low=1,
)
ONLY = Flag("--only STEPS", "Show only these steps, e.g. Q,A.")
WORK = _switch("--work", "Write out the arithmetic of every entry.")
BLANK = _switch("--blank", "Worksheet: the same page without answers.")
PAGES = (
    *(FILE, ONLY, WORK),
    _several("--entry ENTRY", "Write out one entry, e.g. A[3,1] or A[3,:]; repeatable."),
    _switch("--fractions", "Show exact values as fractions."),
    _switch("--mixed", "Show exact values as mixed numbers: 2 1/2."),
    BLANK,
    _switch("--practice", "Interactive HTML worksheet."),
    _switch("--no-marking", "Practice worksheet without marking."),
    *(EXPLAIN, FULL, FORMAT, STANDALONE, OUT),
)
WORDS = (
    Flag("--vectors SOURCE", "A text file of word vectors (word2vec, GloVe), for --text.", FIRST),
    Flag("--text TEXT", "Words whose vectors are the tokens X.", FIRST),
)
STEPS = Flag("--steps STEPS", "Steps to mark, e.g. Q,S,A,O,connections.", MARKING, unsaid="all")
WEIGHT = _several(
    "--weight STEP=NUMBER", "Weight of a step, e.g. A=2; repeatable.", MARKING, unsaid="1"
)
POINTS = Flag("--points NUMBER", "Points of a perfect answer.", MARKING)
PENALTIES = tuple(
    Flag(
        f"--{name}-penalty SHARE",
        f"Share of an entry's points deducted if it {what}, 0 to 1.",
        MARKING,
        unsaid=default,
    )
    for name, what, default in (
        ("follow", "follows from an earlier error", "0"),
        ("rounding", "differs only by rounding", "0"),
        ("precision", "has too few decimals", "1/2"),
    )
)
OF_MARKING = (
    PROBLEM,
    Flag("ANSWER...", "Answers: files, folders or -.", OUTPUT, list, name="answers"),
    _switch("--lesson", "Check the numbers of lessons; all files are documents."),
    _switch("--dump", "The answer is a dump of tensors, named as by hooks."),
    *(STEPS, WEIGHT, POINTS),
    Flag("--require STEPS", "Steps that must be shown: Q,K,S.", MARKING, unsaid="asked"),
    Flag("--rubric JSON", "Rubric: points, weights and deductions, as JSON.", MARKING),
    *PENALTIES,
    Flag("--atol NUMBER", "Absolute tolerance for floating-point dumps.", TOLERANCE, float, low=0),
    Flag("--rtol NUMBER", "Relative tolerance for floating-point dumps.", TOLERANCE, float, low=0),
    _one_of("--format FORM", ("table", "json", "markdown", "latex", "html", "csv")),
    Flag("--csv FILE", "Also write one row per answer to this file.", name="sheet"),
    Flag(
        "--gradebook SYSTEM",
        "CSV for moodle, canvas or gradescope, or an export of it to fill.",
        CLASS,
    ),
    Flag("--overview FILE", "Overview of a class, as .html or .md: steps, causes, marks.", CLASS),
    Flag("--due DATE", "Answers of a class after this date are listed as late.", CLASS),
    Flag("--anonymous", "Replace names in a class by codes.", CLASS, bool, default=False),
    _switch("--fractions", "Show points as fractions."),
    Flag(
        "--marks-decimals NUMBER",
        "Maximum number of decimals of points.",
        OUTPUT,
        int,
        unsaid="2; 4 in CSV",
        low=0,
        high=12,
    ),
    Flag(
        "--hint LEVEL",
        "Only a hint: 1 where to look, 2 the rule, 3 the work.",
        MARKING,
        int,
        low=1,
        high=3,
    ),
    _switch("--reading", "Show how the answer was read; do not mark."),
    _switch("--brief", "Show only the score and the verdict."),
    _switch("--full", "Also show the matrices, in full."),
    JOBS,
    OUT,
)
DARK = _switch("--dark", "Draw on a dark background.")
SIZE = Flag("--size INCHES", "Picture size, e.g. 12x8, or its width.", unsaid="automatic")
OF_STUDIES = (
    *(FULL, FORMAT, DARK, SIZE),
    Flag("--out -o FILE", "Write to this file; .png, .svg and .pdf draw a picture."),
)
WATCH = _several(
    "--watch WHAT",
    "Quantity to record, e.g. A[1,2], entropy(A), norm(O); repeatable.",
    STUDY,
    unsaid="the weights",
)
YES = Flag("--yes", "Run even if it takes long.", STUDY, bool, default=False)
FAMILY = Flag("--family ROW", "JSON file that describes the family.", MODEL)
OF_MODELS = (
    Flag("--tokens IDS", 'Token ids, e.g. "3, 7".', MODEL),
    Flag("--text TEXT", "Text; needs attncalc[models].", MODEL),
    Flag("--spectrogram MATRIX", "Audio (.npy): bands or features, frames.", MODEL),
    Flag("--decoder-tokens IDS", "Decoder token ids; shows decoder layers.", MODEL),
    Flag("--decoder-ignore MATRIX", "Padding mask of the decoder.", MODEL),
    FAMILY,
)
"""What a model reads, other than fields of a problem: image, type_ids and ignore."""
GENERATING = (
    Flag("--temperature NUMBER", "Draw tokens; divide logits by this.", GENERATION, float),
    Flag("--top-k NUMBER", "Draw from the k most probable tokens.", GENERATION, int),
    Flag("--top-p NUMBER", "Draw from the fewest tokens that sum to p.", GENERATION, float),
    Flag("--seed NUMBER", "Draw tokens, with this seed.", GENERATION, int, low=0),
    Flag("--beams NUMBER", "Beam search with this many sequences.", GENERATION, int, 1),
    Flag("--length-penalty NUMBER", "Exponent of the length in scores.", GENERATION, float, 1.0),
    Flag("--eos IDS", "Tokens that end a sequence, or none.", GENERATION, unsaid="the model's"),
    _switch("--cache", "Show the cached keys and values.", GENERATION),
)
"""How tokens are generated."""
WISHED = (
    Flag("--kind KIND", "self, cross, encoder or decoder.", SIZES, unsaid="self"),
    Flag("--tokens NUMBER", "Number of tokens (queries).", SIZES, unsaid="3"),
    Flag("--keys NUMBER", "Number of keys in cross-attention.", SIZES, unsaid="same"),
    Flag("--d NUMBER", "Features per token.", SIZES, unsaid="4"),
    Flag("--d-keys NUMBER", "Features per key token.", SIZES, unsaid="same"),
    Flag("--d-k NUMBER", "Features of each head's queries and keys.", SIZES, unsaid="2"),
    Flag("--d-v NUMBER", "Features of each head's values.", SIZES, unsaid="d-k"),
    Flag("--d-ff NUMBER", "Hidden feed-forward features.", SIZES, unsaid="d"),
    Flag("--also NAMES", "Additional matrices, e.g. W_O,b_Q,P.", SIZES),
    Flag("--entries NUMBERS", "from:to, from:to:step or a list.", SIZES, unsaid="-2:2"),
    Flag("--labels NAMES", "Token names, separated by commas.", SIZES),
    Flag("--title TEXT", "Title of the page.", SIZES),
    Flag("--margin NUMBER", "Minimum distance from a rounding boundary.", WISHES, unsaid="0.01"),
    Flag("--ties NUMBER", "Outputs with tied largest weights, or any.", WISHES, unsaid="0"),
    Flag("--second-lines NUMBER", "Outputs with a dashed line.", WISHES),
    Flag("--spread FROM:TO", "exp(entropy) / n of each row: 0.3:0.8.", WISHES),
    Flag("--largest-score NUMBER", "Largest absolute score.", WISHES, unsaid="15"),
    Flag("--negatives NUMBER", "Number of negative entries.", WISHES),
    Flag("--words", "Name the tokens after words from a list.", SIZES, bool),
    Flag("--same-digits", "Both rounding rules show the same digits.", WISHES, bool),
    Flag("--sharp", "Allow weights that are all 0 or 1.", WISHES, bool),
    Flag("--tell-apart/--no-tell-apart", "Every common mistake changes a digit.", WISHES, bool),
)
"""Conditions of a new problem."""


class Command(NamedTuple):
    """A command.

    fields: the problems whose fields are flags too: those of a block, "attention" or "" (all);
        "new" for only settings, None for no fields.
    module: its module in `cli/commands/`, if it is not named like the command.
    function: its function, if it is not named like the command.
    rare: its flags that only `--help-all` shows.
    text: from commands.md: its summary in a line; details; its examples, which are indented.
    """

    own: tuple[Flag, ...]
    fields: str | None = None
    module: str = ""
    function: str = ""
    rare: str = ""
    text: str = ""


def _command(*own: Flag, **more: Any) -> Command:
    return Command(own, **more)


_page = partial(_command, module="calculate", function="calculate")
_study = partial(_command, module="studies", fields="")
_ANY = "rounding decimals scale heads causal window ignore positions layout title"
COMMON = {
    "self": "X W_Q W_K W_V rounding decimals scale heads causal ignore",
    "cross": "X1 X2 W_Q W_K W_V rounding decimals scale heads ignore",
    "encoder": "X rounding decimals scale heads norm activation eps positions ignore",
    "decoder": "X1 X2 rounding decimals scale heads norm activation positions ids",
    "vit": "image patch E class_token rounding decimals heads norm activation read",
    "new": "rounding decimals scale heads causal combine score positions layout norm",
    "attention": _ANY,
    "": _ANY,
}
"""The fields that the short help of a command shows, by the kind of problem."""

_COMMANDS = {
    "self": _page(*PAGES, *WORDS, fields="self"),
    "cross": _page(*PAGES, fields="cross"),
    "encoder": _page(*PAGES, *WORDS, fields="encoder", rare="no_marking"),
    "decoder": _page(*PAGES, *WORDS, fields="decoder", rare="no_marking"),
    "vit": _page(*PAGES, fields="vit"),
    "plot": _command(
        FILE,
        _one_of("--kind KIND", ("map", "heatmap", "both"), default="map"),
        _switch("--all", "Draw a line for every nonzero weight.", name="every_line"),
        Flag("--values/--no-values", "Print the weights in the picture.", OUTPUT, bool, True),
        Flag("--head HEAD", "Draw this head (from 1), or mean.", unsaid="all"),
        Flag("--of GRADIENT", "Draw a heatmap of this gradient, e.g. dS."),
        *(DARK, SIZE, EXPLAIN, OUT),
        fields="",
    ),
    "explain": _command(
        FILE,
        Flag("--head HEAD", "This head (from 1), or an attention: cross.A.", unsaid="all"),
        _switch("--all", "Show all patterns, not only the three strongest."),
        _switch("--equations", "Print the calculation as equations.", name="as_equations"),
        *(FULL, FORMAT, STANDALONE, OUT),
        fields="",
        module="calculate",
    ),
    "why": _command(
        Flag("PROBLEM", "Problem, or the folder of a model.", name="file", default=...),
        Flag("ENTRY", "Entry or row, e.g. S[2,3] or O[2,:]; or a logit.", default=...),
        *OF_MODELS,
        Flag("--of PART", 'Split a part of a logit, e.g. "layer 0, O, head 2".'),
        *(DARK, SIZE, FULL, FORMAT, TO_FILE),
        fields="",
        rare="dark size",
    ),
    "check": _command(
        *OF_MARKING,
        fields="",
        rare="require atol rtol fractions marks_decimals jobs gradebook overview due anonymous "
        "follow_penalty rounding_penalty precision_penalty",
    ),
    "vary": _study(
        _things("[FILE] CHANGE...", "Problem, and one or two changes."), *(WATCH, YES, *OF_STUDIES)
    ),
    "simulate": _study(
        _things("[FILE...] DRAW...", "Problems, and what to draw."),
        Flag("--draws NUMBER", "Number of draws.", STUDY, int, 1000),
        Flag("--seed NUMBER", "Seed of the random generator.", STUDY, int, 0, low=0),
        Flag("--until ERROR", "Draw until the standard error is this small.", STUDY, float),
        _several("--given COMPARISON", 'Keep only draws with e.g. "q·k_a > 0"; repeatable.', STUDY),
        *(WATCH, YES, *OF_STUDIES),
    ),
    "train": _study(
        _things("[FILE...]", "Problems with a target.", None),
        Flag("--steps NUMBER", "Number of steps.", STUDY, int, 20),
        Flag("--rate NUMBER", "Learning rate.", STUDY, unsaid="0.1"),
        Flag("--optimizer NAME", "sgd, momentum, adam or adamw.", STUDY, str, "sgd"),
        Flag("--momentum NUMBER", "Beta of momentum.", STUDY, unsaid="0.9"),
        Flag("--weight-decay NUMBER", "Weight decay.", STUDY, unsaid="0"),
        Flag("--clip NORM", "Largest norm of the gradient.", STUDY, unsaid="none"),
        Flag("--warmup STEPS", "Steps of linear warmup of the rate.", STUDY, int, 0, low=0),
        Flag("--save FILE", "Write the problem with its new matrices, as JSON."),
        *(WATCH, WORK, YES, *OF_STUDIES),
        rare="dark size yes momentum warmup clip",
    ),
    "conform": _command(
        Flag("[KERNEL]", "Kernel: file.py, file.py:function or a library.", name="file"),
        Flag("--backend NAME", "Type of arrays: numpy, torch or jax.", KERNEL, BACKENDS, "numpy"),
        Flag("--device NAME", "Device of torch arrays.", KERNEL, str, "cpu"),
        Flag(
            "--dtype NAME",
            "Type of numbers, except in cases about types.",
            KERNEL,
            TYPES,
            "float32",
        ),
        Flag(
            "--causal-alignment NAME",
            "Convention of is_causal: top-left or bottom-right.",
            KERNEL,
            ("top-left", "bottom-right"),
            "top-left",
            name="alignment",
        ),
        Flag(
            "--command PROGRAM",
            "Test a program that reads and writes .npz files.",
            KERNEL,
            name="program",
        ),
        Flag("--offers NAMES", "Keyword arguments that the program takes.", KERNEL),
        Flag("--timeout SECONDS", "Time limit of a call.", KERNEL, float, 60.0),
        Flag("--only FEATURES", "Test only these features, e.g. causal,window."),
        Flag("--seed NUMBER", "Seed of all numbers.", STUDY, int, 0, low=0),
        _switch("--quick", "Leave out large shapes."),
        _switch("--list", "List the cases."),
        Flag("--write FOLDER", "Write the cases with their results, as .npz files."),
        Flag("--badge FILE", "Also write a badge, as SVG."),
        _switch("--full", "List all failures."),
        _one_of("--format FORM", ("table", "markdown", "latex", "html", "json", "junit")),
        OUT,
    ),
    "aim": _study(
        _things("[FILE] TARGET", "Keys and values, and the target."),
        Flag("--beta NUMBER", "Margin of the target's scaled scores.", STUDY, str, "10"),
        Flag("--within ERROR", "Find the smallest beta with this error.", STUDY, float),
        Flag("--save FILE", "Write the problem with its query, as JSON."),
        *OF_STUDIES,
        fields="attention",
    ),
    "count": _command(
        Flag("SOURCE", "Problem, model's folder or config.json.", default=...),
        Flag("--tokens NUMBER", "Tokens of a sequence.", STUDY, int, unsaid="its own, or 1024"),
        Flag("--batch NUMBER", "Sequences computed together.", STUDY, int, 1),
        Flag("--dtype TYPE", "fp64, fp32, bf16, fp16 or int8.", STUDY, str, "fp32"),
        Flag("--compare SOURCE", "Compare with the counts of another source.", STUDY),
        FAMILY,
        Flag("--vary SIZE=RANGE", "Vary tokens, batch or a config key.", STUDY),
        *OF_STUDIES,
        module="studies",
    ),
    "open": _command(
        Flag("FOLDER", "Folder of the model.", OUTPUT, default=...),
        *OF_MODELS,
        Flag("--image MATRIX", "Image (.npy): channels, rows, columns.", MODEL),
        Flag("--type-ids IDS", 'Token type ids of BERT, e.g. "0 0 1".', MODEL),
        Flag("--ignore MATRIX", "Padding mask: 1 for padding.", MODEL),
        _switch("--draft", "Print a draft of a --family file.", MODEL),
        Flag("--layer NUMBER", "Layer to show, from 0, or all.", LAYER),
        Flag("--head NUMBER", "Head to show, from 1.", LAYER, int, unsaid="all"),
        Flag("--at NUMBER", "Position to predict at, from 1.", LAYER, int, unsaid="the last"),
        _switch("--lens", "Logit lens: the head after each layer.", INSIDE),
        _switch("--rollout", "Attention rollout over all layers.", INSIDE),
        _several("--ablate CHANGE", "Set a head or step to 0: 3.2, 3.F_2; repeatable.", INSIDE),
        _several("--patch CHANGE", "Replace a step from a file: x.npz:4.H; repeatable.", INSIDE),
        Flag("--from ARRAYS", "Continue after stored outputs Y (.npz).", INSIDE, name="after"),
        Flag("--generate NUMBER", "Generate at most this many tokens.", GENERATION, int),
        *GENERATING,
        *(DARK, SIZE, ONLY, WORK, BLANK, FULL),
        Flag("--decimals -d VALUE", "Decimals shown, 0 to 12.", OUTPUT, int),
        Flag("--title TEXT", "Title of the page."),
        *(FORMAT, STANDALONE, OUT),
        function="open_model",
        rare="temperature top_k top_p seed beams length_penalty eos cache dark size patch after "
        "family draft",
    ),
    "generate": _command(
        Flag("SOURCE", "Folder of a model, or a problem.", OUTPUT, default=...),
        Flag("--count NUMBER", "Generate up to this many tokens.", GENERATION, int, unsaid="20"),
        Flag("--tokens IDS", 'Token ids of the prompt, e.g. "3, 7".', MODEL),
        Flag("--text TEXT", "Text of the prompt; needs attncalc[models].", MODEL),
        Flag("--spectrogram MATRIX", "Audio (.npy): bands or features, frames.", MODEL),
        Flag("--decoder-tokens IDS", "First tokens of the decoder.", MODEL, unsaid="start"),
        FAMILY,
        *GENERATING,
        Flag("--decimals -d VALUE", "Decimals shown, 0 to 12.", OUTPUT, int),
        Flag("--language CODE", "Language of pages: de, es, fr, ja, pt or zh.", OUTPUT),
        *OF_STUDIES,
        module="models",
    ),
    "new": _command(
        Flag("--again PROBLEM", "Make a similar problem of equal difficulty."),
        Flag("--seed NUMBER", "Seed of the random generator.", OUTPUT, int, unsaid="random", low=0),
        Flag(
            "--class ROSTER",
            "One problem per student: CSV with name, id, email.",
            CLASS,
            name="class_",
        ),
        Flag("--problems SPEC", "Problems of a class, as JSON.", CLASS),
        JOBS,
        Flag("--out -o FILE", "Write to this .json or .csv file, or folder."),
        *WISHED,
        fields="new",
        rare="jobs d_keys d_v d_ff labels title margin second_lines spread largest_score negatives "
        "words sharp tell_apart",
    ),
    "export": _command(
        PROBLEM,
        Flag("--to SYSTEM", f"{', '.join(SYSTEMS)}.", OUTPUT, SYSTEMS, ...),
        *(STEPS, WEIGHT, *PENALTIES, POINTS),
        Flag("--out -o PLACE", "Write to this file (PrairieLearn: folder)."),
        fields="",
        rare="follow_penalty rounding_penalty precision_penalty",
    ),
    "samples": _command(
        Flag("[NAME]", "Sample to write out.", unsaid="list all", complete=_names_of_samples),
        Flag("--out -o PLACE", "Write to this file or folder."),
    ),
    "playground": _command(
        Flag("[FILE]", "Problem to open with.", unsaid="self-attention"),
        Flag("--out -o FILE", "Write to this file."),
        fields="",
    ),
    "slides": _command(
        FILE,
        _several("--entry ENTRY", "Show the work of this entry, e.g. A[3,1]; repeatable."),
        Flag("--out -o PLACE", "Write to this file or folder."),
        fields="",
    ),
    "equations": _command(
        _several("[WORD]...", "Words to search for in names.", name="words", unsaid="all"), TO_FILE
    ),
    "schema": _command(
        Flag("[NAME]", "Schema to write out.", unsaid="list all", complete=_names_of_schemas),
        TO_FILE,
        module="samples",
    ),
    "doctor": _command(
        Flag("[FILE]", "Problem with labels to check.", unsaid="none"),
        _one_of("--format FORM", ("table", "json")),
        TO_FILE,
    ),
    "help": _command(Flag("[TOPIC]", "Topic or command.", unsaid="list all", complete=_topics)),
}
_TEXTS = _texts_of("commands.md")
COMMANDS = {
    name: each._replace(
        module=each.module or name,
        function=each.function or name,
        text=_TEXTS[name].rstrip("\n") + "\n",
    )
    for name, each in _COMMANDS.items()
}


def fields_of(command: Command) -> Iterator[Flag]:
    """Yield the flags of the fields of a command."""
    if command.fields is not None:
        yield from settings_of_new() if command.fields == "new" else flags_for(command.fields)


def flags_of(command: Command) -> Iterator[Flag]:
    """Yield all flags of a command, its arguments first."""
    own = sorted(command.own, key=lambda each: not each.is_argument)
    count = sum(each.is_argument for each in own)
    yield from own[:count]
    yield from fields_of(command)
    yield from [SET] if command.fields is not None else []
    yield from own[count:]


def summary(name: str) -> str:
    """Return the summary of a command, in a sentence."""
    return COMMANDS[name].text.partition("\n")[0]


def usage_of(name: str) -> str:
    """Return the options and arguments of a command, as its usage shows them."""
    return " ".join(["[OPTIONS]", *(e.metavar for e in COMMANDS[name].own if e.is_argument)])
