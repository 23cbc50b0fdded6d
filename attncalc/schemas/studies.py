"""The output of studies with `--format json`, and the most probable tokens of a model."""

from attncalc.schemas.pieces import (
    COUNT,
    FLOAT,
    LIST_OF_TEXTS,
    PLACE,
    TEXT,
    Schema,
    either,
    listed,
    named,
    or_none,
    shared,
    thing,
)

NUMBERS = listed(FLOAT)
_EACH_HEAD = "With several heads, a list of one for each."


def variation() -> Schema:
    """Return the schema of the output of `attncalc vary`."""
    row = thing(
        "The watched values at a point.",
        {"at": LIST_OF_TEXTS, "values": LIST_OF_TEXTS, "exact": NUMBERS},
    )
    inputs = either(PLACE, listed(PLACE))
    changeover = thing(
        "A point where the largest weight of an output moves to another input.",
        {"at": FLOAT, "output": PLACE, "from": inputs, "to": inputs},
        {"weights": TEXT, "head": PLACE},
    )
    moved = thing(
        'How the outputs change in an order of the tokens: "alike", "same" or "otherwise".',
        {"step": TEXT, "how": TEXT, "outputs": listed(PLACE)},
    )
    return thing(
        "A problem solved at many values.",
        {
            "changes": LIST_OF_TEXTS,
            "watched": LIST_OF_TEXTS,
            "rows": listed(row),
            "changeovers": listed(changeover),
        },
        {"moved": listed(moved)},
    )


def simulation() -> Schema:
    """Return the schema of the output of `attncalc simulate`: for one problem, or for several."""
    ratio = thing(
        "The variance of the first divided by the variance of each other.",
        {"name": TEXT, "ratios": listed(or_none(FLOAT))},
    )
    several = thing(
        "Several problems.",
        {"problems": listed(_drawn({"problem": TEXT})), "variance_ratios": listed(ratio)},
    )
    return {
        "description": "A problem with random matrices, drawn many times.",
        **either(_drawn({}), several),
    }


def _drawn(more: dict[str, Schema]) -> Schema:
    return thing(
        "A problem.",
        {
            **more,
            "draws": PLACE,
            "seed": COUNT,
            "watched": listed(shared("statistics")),
            "first": listed(shared("first")),
        },
        {
            "given": LIST_OF_TEXTS,
            "kept": PLACE,
            "thrown_away": COUNT,
            "watched_in_all": listed(shared("statistics")),
        },
    )


def training() -> Schema:
    """Return the schema of the output of `attncalc train`."""
    step = thing(
        "The loss and the watched values after so many steps.",
        {
            "step": COUNT,
            "loss": FLOAT,
            "gradient_norm": FLOAT,
            "watched": named(or_none(FLOAT)),
        },
        {"perplexity": FLOAT},
    )
    return thing(
        "A problem trained by gradient descent.",
        {
            "optimizer": TEXT,
            "rate": FLOAT,
            "examples": PLACE,
            "trained": LIST_OF_TEXTS,
            "steps": listed(step),
        },
    )


def aim() -> Schema:
    """Return the schema of the output of `attncalc aim`."""
    each = either(NUMBERS, listed(NUMBERS))
    return thing(
        "A designed query.",
        {
            "q": {**each, "description": _EACH_HEAD},
            "in_keys": {
                **either(named(FLOAT), listed(named(FLOAT))),
                "description": f"The coefficient of each key. {_EACH_HEAD}",
            },
            "beta": FLOAT,
            "weights": {**each, "description": _EACH_HEAD},
            "c": NUMBERS,
            "target": NUMBERS,
            "error": FLOAT,
        },
        {
            "impossible": TEXT,
            "within": thing(
                "The smallest β with an error within this bound.",
                {"error": FLOAT, "beta": or_none(FLOAT)},
            ),
        },
    )


def counts() -> Schema:
    """Return the schema of the output of `attncalc count`."""
    each = named(COUNT)
    size = thing("Bytes, and their formula.", {"bytes": COUNT, "formula": TEXT})
    total = {"total": COUNT, "formula": TEXT}
    by = {"by_matrix": each, "by_part": each, "by_layer": each}
    whole = {"type": "integer"}
    work = {**total, "by_step": each, "flops": COUNT, "masked": COUNT, "masked_formula": TEXT}
    matrix = {"bytes": COUNT, "formula": TEXT, "entries": COUNT, "masked": COUNT}
    pair = {"count": COUNT, "other": COUNT, "difference": whole, "ratio": or_none(FLOAT)}
    layer = {
        "layer": TEXT,
        "formula": TEXT,
        "multiply_adds": COUNT,
        "sequential": PLACE,
        "path": PLACE,
    }
    growth = {
        "size": TEXT,
        "values": listed(PLACE),
        "curves": named(listed(COUNT)),
        "powers": named(whole),
    }
    return thing(
        "The counts of a problem or a model.",
        {
            "tokens": or_none(PLACE),
            "batch": PLACE,
            "dtype": TEXT,
            "parameters": thing("By part; by_layer: one layer of each.", {**total, **by}),
            "multiply_adds": thing("Multiply-adds of a batch, masked ones included.", work),
            "kv_cache": size,
            "attention_matrix": thing("Bytes and entries, masked ones included.", matrix),
            "activations": size,
            "kinds_of_layers": listed(thing("A kind of layer of this size.", layer)),
        },
        {
            "compared": thing(
                "Counts of both sources.",
                dict.fromkeys(("totals", "by_matrix", "by_step"), named(thing("A count.", pair))),
            ),
            "growth": thing("Counts at each value of a size.", growth),
        },
    )


def probable() -> Schema:
    """Return the schema of the output of `attncalc open` without a layer."""
    each = thing(
        "A token or a class; the score is a logit if there are no probabilities.",
        {"id": COUNT, "text": TEXT},
        {"probability": FLOAT, "score": FLOAT},
    )
    return thing("Tokens or classes, the most probable first.", {"next": listed(each)})


def layers() -> Schema:
    """Return the schema of the output of `attncalc open` for all layers of a model."""
    return thing(
        'Arrays by name: steps as "3.A", "3.rollout", "clean.3.A", "changed.logits", "shares".',
        {"title": TEXT, "ids": listed(COUNT), "tokens": LIST_OF_TEXTS, "arrays": named({})},
        {"at": PLACE, "names": named(TEXT)},
    )


def generation() -> Schema:
    """Return the schema of the output of `attncalc generate`."""
    candidate = thing(
        "A token that a step may choose.",
        {
            "token": COUNT,
            "text": TEXT,
            "logit": FLOAT,
            "probability": FLOAT,
            "log_probability": or_none(FLOAT),
        },
        {
            "drawn_with": {**FLOAT, "description": "Probability in the draw."},
            "sum": {**FLOAT, "description": "Sum of these probabilities up to this token."},
            "after": {
                "type": "integer",
                "description": "Index of its candidate in the previous step; -1: the prompt.",
            },
            "total": {**FLOAT, "description": "The sum of the log probabilities."},
            "kept": {"type": "boolean"},
        },
    )
    step = thing(
        "A step; the chosen token is null where the best beam has ended.",
        {"step": PLACE, "chosen": or_none(COUNT), "candidates": listed(candidate)},
        {"drawn": FLOAT},
    )
    beam = thing(
        "A finished sequence.",
        {"tokens": listed(COUNT), "log_probability": FLOAT, "score": FLOAT},
    )
    return thing(
        "Generated tokens.",
        {
            "method": TEXT,
            "prompt": listed(COUNT),
            "tokens": listed(COUNT),
            "text": TEXT,
            "steps": listed(step),
            "beams": listed(beam),
        },
        {"cache": named(listed(listed(NUMBERS)))},
    )


def defined() -> dict[str, Schema]:
    """Return the definitions that the schemas of studies share."""
    return {
        "statistics": thing(
            "The distribution of a watched value.",
            {
                "name": TEXT,
                "mean": FLOAT,
                "std": FLOAT,
                "standard_error": FLOAT,
                "quantiles": named(FLOAT),
            },
        ),
        "first": thing(
            "Share of the draws in which each input has the largest weight.",
            {"output": PLACE, "shares": named(FLOAT)},
            {"weights": TEXT, "head": PLACE},
        ),
    }
