"""A feed-forward part: F_1 = N W_1 + b_1, G = act(F_1), F_2 = G W_2 + b_2.

Of experts, each has its own W_1 and W_2. A router gives each token shares of experts, 0 for those
that are not chosen: Shazeer et al., *Outrageously Large Neural Networks* (2017).
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError, ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operation import Operation, Stated, Statement
from attncalc.equations.operations.assembling import Add
from attncalc.equations.operations.entrywise import GATED, Activate, Gate, Multiply
from attncalc.equations.operations.normalising import DivideBySum, Softmax
from attncalc.equations.operations.products import Project
from attncalc.problem.attention.attention import size_of
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.step import Step

TITLES = {
    "F_1": "first projection",
    "F_3": "gate",
    "G": "activations",
    "E_logits": "router logits",
    "E_prob": "shares of experts",
    "E_choice": "shares for the choice of experts",
    "E_groups": "scores of groups of experts",
    "E_limited": "shares in the best groups",
    "E_top": "shares of the chosen experts",
    "E_share": "shares that sum to 1",
    "E_scaled": "scaled shares",
    "X_E": "scaled inputs of each expert",
    "F_E": "outputs of each expert",
    "F_mix": "outputs of the chosen experts",
    "F_s1": "first projection of the shared expert",
    "F_s3": "gate of the shared expert",
    "G_s": "activations of the shared expert",
    "F_s2": "outputs of the shared expert",
    "E_own": "logit of the shared expert",
    "F_s": "share of the shared expert's outputs",
    "F_2": "feed-forward outputs",
}
_OF_EXPERTS = ("W_router", "b_router", "b_choice", "W_s1", "W_s3", "W_s2", "W_sgate")
GIVEN = ("W_1", "b_1", "W_2", "b_2", "W_3", "b_3", *_OF_EXPERTS)
"""Where one of these is given, there is a feed-forward part."""


def _built(placed: Placed, streams: Streams) -> Built:
    (name,) = placed.reads
    tokens = streams[name]
    _check_presence(placed)
    (_check_experts if placed.fields.n_experts else _check)(placed, tokens)
    gives = placed.gives or placed.named("F_2")
    steps = tuple(_steps(placed, name, gives))
    out = tokens._replace(name=gives, width=placed.fields.width_of("W_2"))
    return Built(steps, out)


def _check(placed: Placed, tokens: Stream) -> None:
    fields = placed.fields
    for name in fields.those_given("W_1", "W_3"):
        placed.check_product(tokens, name)
    inner = fields.width_of("W_1")
    if fields.W_3 is not None and fields.width_of("W_3") != inner:
        sizes = [fields.size(name) for name in ("W_1", "W_3")]
        raise placed.fault(
            ShapeError,
            f"{placed.named('W_1')} is {sizes[0]} and {placed.named('W_3')} is {sizes[1]}: what is "
            "multiplied entry by entry must have one shape",
        )
    placed.check_product(Stream("G", tokens.tokens, inner), "W_2")
    for name in fields.those_given("b_1", "b_2", "b_3"):
        placed.check_bias(name, f"W{name[1:]}")


def _check_presence(placed: Placed) -> None:
    fields = placed.fields
    there = fields.those_given(*GIVEN)
    for name in ("W_1", "W_2"):
        placed.check_given(name, placed.named(there[0]))
    if fields.b_3 is not None:
        placed.check_given("W_3", placed.named("b_3"))
    for name in fields.those_given(*_OF_EXPERTS[1:]):
        placed.check_given("W_router", placed.named(name))
    for name in ("W_s1", "W_s2") if fields.those_given(*_OF_EXPERTS[3:]) else ():
        placed.check_given(name, "a shared expert")
    if fields.activation in GATED and fields.W_3 is None:
        raise placed.fault(InputError, f"activation {fields.activation} needs a gate, W_3")


def _check_choice(placed: Placed, count: int) -> None:
    fields = placed.fields
    if count < 2 or (fields.top_k or 0) > count:
        raise placed.fault(
            InputError,
            f"{count} experts, and top_k {fields.top_k or count}: at least 2 experts are "
            "required, and top_k must not exceed their number",
        )
    if count % fields.router_groups or fields.top_groups > fields.router_groups:
        raise placed.fault(
            InputError,
            f"{count} experts, router_groups {fields.router_groups}, top_groups "
            f"{fields.top_groups}: groups have one size, and top_groups is at most their number",
        )
    may = count // fields.router_groups * fields.top_groups
    if fields.router_groups > 1 and (fields.top_k or may) > may:
        raise placed.fault(
            InputError,
            f"top_k is {fields.top_k}, and {may} experts are in the chosen groups (top_groups: "
            f"{fields.top_groups} of {fields.router_groups})",
        )


def _check_experts(placed: Placed, tokens: Stream) -> None:
    """Refuse experts that are not as many as the router has, or do not fit their tokens."""
    fields, count = placed.fields, placed.fields.n_experts
    placed.check_product(tokens, "W_router")
    _check_choice(placed, count)
    inner = fields.width_of("W_1")
    for name in fields.those_given("W_1", "W_3", "W_2"):
        ins, outs = (tokens.width, inner) if name != "W_2" else (inner, tokens.width)
        given = getattr(fields, name)
        if given.ndim != 3 or fields.standing.upright(name, given).shape != (count, ins, outs):
            raise placed.fault(
                ShapeError,
                f"{placed.named(name)} is {size_of(given)}: {count} experts each need "
                f"{placed.size((ins, outs))} (tokens in, features out)",
            )
        bias = f"b{name[1:]}"
        if getattr(fields, bias) is not None and getattr(fields, bias).size != count * outs:
            raise placed.fault(ShapeError, f"{placed.named(bias)} needs {outs} for each expert")
    biases = fields.those_given("b_1", "b_2", "b_3")
    if biases and fields.router_scales == "inputs":
        raise placed.fault(
            InputError,
            f"{biases[0]} is given: with router_scales inputs, experts that are not chosen read 0, "
            "and with a bias they would give another number",
        )
    for name in fields.those_given("b_router", "b_choice"):
        placed.check_bias(name, "W_router")
    for name in fields.those_given("W_s1", "W_s3", "W_sgate"):
        placed.check_product(tokens, name)
    if fields.W_s2 is not None:
        placed.check_product(Stream("G_s", tokens.tokens, fields.width_of("W_s1")), "W_s2")


def _steps(placed: Placed, tokens: str, gives: str) -> Iterator[Step]:
    if not placed.fields.n_experts:
        yield from _fed(placed, tokens, gives)
        return
    has_own = placed.fields.W_s1 is not None
    routed = placed.named("F_mix") if has_own else gives
    steps = tuple(_routed(placed, tokens))
    yield from steps
    shares, of_experts, read = steps[-1].name, placed.named("F_E"), tokens
    mix, inputs = "MixExperts", [shares, of_experts]
    if placed.fields.router_scales == "inputs":
        read, mix, inputs = placed.named("X_E"), "SumExperts", [of_experts]
        scaled = Stated(Statement("ScaleForExperts"))
        yield Step(read, TITLES["X_E"], scaled, (shares, tokens), slices="expert")
    for step in _fed(placed, read, of_experts):
        yield step._replace(slices="expert")
    title = TITLES["F_mix" if has_own else "F_2"]
    yield Step(routed, title, Stated(Statement(mix)), tuple(inputs))
    if not has_own:
        return
    of_own = placed.named("F_s2")
    yield from _fed(placed, tokens, of_own, "s")
    if placed.fields.W_sgate is not None:
        logit, gated, gate = map(placed.named, ("E_own", "F_s", "W_sgate"))
        yield Step(logit, TITLES["E_own"], Project(), (tokens, gate), "queries", "values")
        yield Step(gated, TITLES["F_s"], Stated(Statement("GateRows")), (logit, of_own))
        of_own = gated
    yield Step(gives, TITLES["F_2"], Add(), (routed, of_own))


def _routed(placed: Placed, tokens: str) -> Iterator[Step]:
    """Yield the steps from tokens to the shares of experts."""
    fields = placed.fields
    own = fields.those_given("W_router", "b_router")
    last = "E_logits"

    def step(name: str, operation: Operation, *inputs: str) -> Step:
        named = tuple(map(placed.named, inputs))
        return Step(placed.named(name), TITLES[name], operation, named, "queries", "values")

    yield step(last, Project(), *own)._replace(inputs=(tokens, *map(placed.named, own)))
    shares = Softmax() if fields.router == "softmax" else Stated(Statement("Sigmoid"))
    yield step("E_prob", shares, last)
    last, by = "E_prob", []
    if fields.b_choice is not None:
        yield step("E_choice", Add(), last, "b_choice")
        by = ["E_choice"]
    if fields.top_groups < fields.router_groups:
        # by the sum of the two best experts of a group with b_choice, as DeepSeek-V3; else the best
        sizes = {"groups": fields.router_groups, "best": 2 if by else 1}
        read = (by or [last])[0]
        yield step("E_groups", Stated(Statement("GroupScores", settings=sizes)), read)
        limit = Statement("LimitGroups", settings={"kept": fields.top_groups})
        yield step("E_limited", Stated(limit), read, "E_groups")
        by = ["E_limited"]
    if not by and fields.router == "sigmoid":
        by = ["E_logits"]  # large shares are equal as floats
    if (fields.top_k or fields.n_experts) < fields.n_experts:
        top = Statement("TopK", frozenset({"by"} if by else ()), {"kept": fields.top_k})
        yield step("E_top", Stated(top), last, *by)
        last = "E_top"
    if fields.router_norm and not (last == "E_prob" and fields.router == "softmax"):
        yield step("E_share", DivideBySum(), last)
        last = "E_share"
    if fields.router_scale != 1:
        yield step("E_scaled", Multiply(Fraction(fields.router_scale)), last)


def _fed(placed: Placed, tokens: str, gives: str, of: str = "") -> Iterator[Step]:
    """Yield two projections with an activation between them, and a gate if it is there.

    of: "s" for the shared expert, which has no biases.
    """
    kind, title = placed.fields.activation, TITLES["G_s" if of else "G"]
    first, gate, inner = map(placed.named, (f"F_{of}1", f"F_{of}3", "G_s" if of else "G"))

    def projected(name: str, read: str, number: str) -> Step:
        own = placed.fields.those_given(f"W_{number}", *(() if of else (f"b_{number}",)))
        return Step(name, TITLES[f"F_{number}"], Project(), (read, *map(placed.named, own)))

    yield projected(first, tokens, f"{of}1")
    if getattr(placed.fields, f"W_{of}3") is None:
        yield Step(inner, title, Activate(kind), (first,))
    else:
        yield projected(gate, tokens, f"{of}3")
        yield Step(inner, title, Gate(kind), (first, gate))
    last = projected(gives, inner, f"{of}2")
    yield last._replace(title=TITLES.get(gives.removeprefix(placed.prefix), last.title))


IN_WORDS = {
    "relu": "ReLU",
    "relu2": "the square of ReLU",
    "gelu": "GELU, by the error function",
    "gelu-tanh": "GELU, approximated by tanh",
    "gelu-quick": "GELU, approximated by the logistic function",
    "silu": "SiLU",
    "swish-clamped": "the clamped Swish of gpt-oss",
}


def _said(fields: Any) -> Iterator[str]:
    gated = "" if fields.W_3 is None else ", gated"
    kind = fields.activation
    yield f"feed-forward with {IN_WORDS[kind]}{gated} (activation: {kind})"
    if fields.n_experts:
        kept = fields.top_k or fields.n_experts
        yield f"each token has {kept} of {fields.n_experts} experts (top_k: {kept})"
        ends = "divided by their sum" if fields.router_norm else "not divided by their sum"
        scaled = fields.router_scale != 1
        ends += f", times {as_written(Fraction(fields.router_scale))}" if scaled else ""
        if fields.router_scales == "inputs":
            yield "shares multiply the inputs of experts (router_scales: inputs)"
        yield f"shares by {fields.router} of the router's logits (router), {ends} (router_norm)"


def _settings(placed: Placed) -> Iterator[str]:
    yield "activation"
    if placed.fields.n_experts:
        yield from ("top_k", "router", "router_scales", "router_norm")
        yield from ("router_scale", "router_groups")
        if placed.fields.router_groups > 1:
            yield "top_groups"


FEED_FORWARD = Part("feed-forward", _built, TITLES, _said, _settings)
