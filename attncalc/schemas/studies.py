"""The output of studies with `--format json`, and the most probable tokens of a model."""

from attncalc.schemas.pieces import (
    COUNT,
    FLOAT,
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
    row = thing("The watched values at a point.", "at:text* values:text* exact:float*")
    inputs = either(PLACE, listed(PLACE))
    changeover = thing(
        "A point where the largest weight of an output moves to another input.",
        "at:float output:place from to",
        "weights:text head:place",
        **{"from": inputs, "to": inputs},
    )
    moved = thing(
        'How the outputs change in an order of the tokens: "alike", "same" or "otherwise".',
        "step:text how:text outputs:place*",
    )
    return thing(
        "A problem solved at many values.",
        "changes:text* watched:text* rows changeovers",
        "moved",
        rows=listed(row),
        changeovers=listed(changeover),
        moved=listed(moved),
    )


def simulation() -> Schema:
    """Return the schema of the output of `attncalc simulate`: for one problem, or for several."""
    says = "The variance of the first divided by the variance of each other."
    several = thing(
        "Several problems.",
        "problems variance_ratios",
        problems=listed(_drawn("problem:text ")),
        variance_ratios=listed(thing(says, "name:text ratios:float?*")),
    )
    return {
        "description": "A problem with random matrices, drawn many times.",
        **either(_drawn(""), several),
    }


def _drawn(more: str) -> Schema:
    watched, first = listed(shared("statistics")), listed(shared("first"))
    return thing(
        "A problem.",
        f"{more}draws:place seed:count watched first",
        "given:text* kept:place thrown_away:count watched_in_all",
        **{"watched": watched, "first": first, "watched_in_all": watched},
    )


def training() -> Schema:
    """Return the schema of the output of `attncalc train`."""
    step = thing(
        "The loss and the watched values after so many steps.",
        "step:count loss:float gradient_norm:float watched",
        "perplexity:float",
        watched=named(or_none(FLOAT)),
    )
    return thing(
        "A problem trained by gradient descent.",
        "optimizer:text rate:float examples:place trained:text* steps",
        steps=listed(step),
    )


def aim() -> Schema:
    """Return the schema of the output of `attncalc aim`."""
    each = {**either(NUMBERS, listed(NUMBERS)), "description": _EACH_HEAD}
    in_keys = {
        **either(named(FLOAT), listed(named(FLOAT))),
        "description": f"The coefficient of each key. {_EACH_HEAD}",
    }
    within = thing("The smallest β with an error within this bound.", "error:float beta:float?")
    return thing(
        "A designed query.",
        "q in_keys beta:float weights c:float* target:float* error:float",
        "impossible:text within",
        **{"q": each, "in_keys": in_keys, "weights": each, "within": within},
    )


def counts() -> Schema:
    """Return the schema of the output of `attncalc count`."""
    whole = {"type": "integer"}
    each = dict.fromkeys(("by_matrix", "by_part", "by_layer", "by_step"), named(COUNT))
    size = thing("Bytes, and their formula.", "bytes:count formula:text")
    words = "total:count formula:text by_matrix by_part by_layer"
    parameters = thing("By part; by_layer: one layer of each.", words, **each)
    words = "total:count formula:text by_step flops:count masked:count masked_formula:text"
    work = thing("Multiply-adds of a batch, masked ones included.", words, **each)
    words = "bytes:count formula:text entries:count masked:count"
    matrix = thing("Bytes and entries, masked ones included.", words)
    pair = thing("A count.", "count:count other:count difference:int ratio:float?")
    words = "layer:text formula:text multiply_adds:count sequential:place path:place"
    layer = thing("A kind of layer of this size.", words)
    compared = dict.fromkeys(("totals", "by_matrix", "by_step"), named(pair))
    growth = thing(
        "Counts at each value of a size.",
        "size:text values:place* curves powers",
        curves=named(listed(COUNT)),
        powers=named(whole),
    )
    return thing(
        "The counts of a problem or a model.",
        "tokens:place? batch:place dtype:text parameters multiply_adds kv_cache attention_matrix "
        "activations kinds_of_layers",
        "compared growth",
        **{"parameters": parameters, "multiply_adds": work, "kv_cache": size, "growth": growth},
        **{"attention_matrix": matrix, "activations": size, "kinds_of_layers": listed(layer)},
        compared=thing("Counts of both sources.", compared),
    )


def probable() -> Schema:
    """Return the schema of the output of `attncalc open` without a layer."""
    each = thing(
        "A token or a class; the score is a logit if there are no probabilities.",
        "id:count text:text",
        "probability:float score:float",
    )
    return thing("Tokens or classes, the most probable first.", "next", next=listed(each))


def layers() -> Schema:
    """Return the schema of the output of `attncalc open` for all layers of a model."""
    return thing(
        'Arrays by name: steps as "3.A", "3.rollout", "clean.3.A", "changed.logits", "shares".',
        "title:text ids:count* tokens:text* arrays",
        "at:place names",
        arrays=named({}),
        names=named(TEXT),
    )


def generation() -> Schema:
    """Return the schema of the output of `attncalc generate`."""
    before = "Index of its candidate in the previous step; -1: the prompt."
    candidate = thing(
        "A token that a step may choose.",
        "token:count text:text logit:float probability:float log_probability:float?",
        "drawn_with sum after total kept:yes",
        drawn_with={**FLOAT, "description": "Probability in the draw."},
        sum={**FLOAT, "description": "Sum of these probabilities up to this token."},
        after={"type": "integer", "description": before},
        total={**FLOAT, "description": "The sum of the log probabilities."},
    )
    step = thing(
        "A step; the chosen token is null where the best beam has ended.",
        "step:place chosen:count? candidates",
        "drawn:float",
        candidates=listed(candidate),
    )
    words = "tokens:count* log_probability:float score:float"
    return thing(
        "Generated tokens.",
        "method:text prompt:count* tokens:count* text:text steps beams",
        "cache",
        steps=listed(step),
        beams=listed(thing("A finished sequence.", words)),
        cache=named(listed(listed(NUMBERS))),
    )


def defined() -> dict[str, Schema]:
    """Return the definitions that the schemas of studies share."""
    return {
        "statistics": thing(
            "The distribution of a watched value.",
            "name:text mean:float std:float standard_error:float quantiles",
            quantiles=named(FLOAT),
        ),
        "first": thing(
            "Share of the draws in which each input has the largest weight.",
            "output:place shares",
            "weights:text head:place",
            shares=named(FLOAT),
        ),
    }
