"""What the patterns of a solution say in sentences: each with its numbers and its threshold.

Names in them are made harmless: a sentence can be shown as it is.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from attncalc.numbers.rounding import fixed
from attncalc.numbers.typed import exact
from attncalc.problem.attention.attention import Attention
from attncalc.problem.problem import Problem
from attncalc.studies.patterns.pattern import Amount, Pattern
from attncalc.text import LISTED, MOST_NAMED, of_each, on_a_line


class _Names(NamedTuple):
    """What outputs and inputs are called in sentences, by their number from 1."""

    problem: Attention

    def output(self, number: int) -> str:
        return on_a_line(self.problem.queries[number - 1])

    def input(self, number: int) -> str:
        return on_a_line(self.problem.keys[number - 1])

    def outputs(self, numbers: Iterable[int]) -> str:
        return _counted("output", [*map(self.output, numbers)])

    def inputs(self, numbers: Iterable[int], count: int | None = None, *, of: bool = True) -> str:
        which = self.of_which if of else ""
        return _counted("input", [*map(self.input, numbers)], count) + which

    def pairs(self, outputs: Iterable[int], inputs: Iterable[int]) -> str:
        """Return which output takes which input: 1 takes 3 and 2 takes 1."""
        both = zip(outputs, inputs, strict=True)
        return of_each([f"{self.output(one)} takes {self.input(other)}" for one, other in both])

    @property
    def of_which(self) -> str:
        """Which matrix is read, where there are two."""
        problem = self.problem
        has_two = problem.kind == "cross" and problem.has_tokens and problem.key_source != "K"
        return f" of {problem.key_source}" if has_two else ""


def sentence(problem: Problem, pattern: Pattern) -> str:
    """Say what a pattern is: a sentence without its full stop.

    Examples
    --------
    >>> from attncalc import self_attention
    >>> solution = self_attention([[0], [0]], [[1]], [[1]], [[1]])
    >>> sentence(solution.problem, solution.patterns[0])
    'Every output weighs all 2 inputs alike (0.50 each, within 0.5 % of their mean)'
    """
    attention = problem.attention_of(pattern.weights)
    said = _SAID[pattern.code](_Names(attention), pattern.values)
    head = f"head {pattern.head}" if pattern.head else ""
    where = ", ".join(part for part in (pattern.where, head) if part)
    return f"{_capital(where)}: {said[0].lower()}{said[1:]}" if where else said


def _identity(names: _Names, values: Mapping[str, Any]) -> str:
    share = f"at least {values['threshold']} of its weight"
    if values["is_own"]:
        return f"Each output takes its own input alone ({share}), as a 1 × 1 convolution does"
    return f"Each output takes the input{names.of_which} at its own place alone ({share})"


def _permutation(names: _Names, values: Mapping[str, Any]) -> str:
    pairs = names.pairs(range(1, len(values["inputs"]) + 1), values["inputs"])
    share = f"at least {values['threshold']} of each output's weight"
    return f"The outputs are the inputs{names.of_which} in another order: {pairs} ({share})"


def _shift(names: _Names, values: Mapping[str, Any]) -> str:
    by = values["by"]
    places = (
        f"{abs(by)} place{'s' if abs(by) > 1 else ''} {'before' if by < 0 else 'after'} its own"
    )
    token = {-1: " (the previous token)", 1: " (the next token)"}.get(by, "")
    share = f"at least {values['threshold']} of its weight"
    from_to = _from_to(names, values["outputs"])
    return f"Each output {from_to} takes the input{names.of_which} {places}{token} alone ({share})"


def _band(names: _Names, values: Mapping[str, Any]) -> str:
    kernel = ", ".join(weight.shown for weight in values["kernel"])
    low, high = _place(values["from"]), _place(values["to"])
    return (
        f"Rows are translates of one another: the outputs {_from_to(names, values['outputs'])} are "
        f"a convolution of the values of the inputs{names.of_which} with the kernel ({kernel}), "
        f"from {low} to {high} (each row within {values['threshold']}, added up, of output "
        f"{names.output(values['outputs'][0])})"
    )


def _limit(values: Mapping[str, Any]) -> str:
    """Return a threshold with all its digits, however small it is."""
    return f"{exact(values['threshold']):f}"


def _place(offset: int) -> str:
    if not offset:
        return "their own place"
    places = f"{abs(offset)} place{'s' if abs(offset) > 1 else ''}"
    return f"{places} {'before' if offset < 0 else 'after'}"


def _blocks(names: _Names, values: Mapping[str, Any]) -> str:
    found = values["blocks"]
    each = [
        f"{names.outputs(block['outputs'])} with {names.inputs(block['inputs'], of=False)}"
        for block in found[:MOST_NAMED]
    ]
    more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    return (
        f"Outputs and inputs{names.of_which} fall into {len(found)} blocks: "
        f"{'; '.join([*each, *more])} (no weight outside them reaches {_limit(values)})"
    )


def _uniform(names: _Names, values: Mapping[str, Any]) -> str:
    counts, outputs = sorted(set(values["inputs"])), values["outputs"]
    which = "Every output" if values["all"] else _capital(names.outputs(outputs))
    weighs = "weighs" if values["all"] or len(outputs) == 1 else "weigh"
    near = f"within {100 * values['threshold']:g} % of their mean"
    if counts == [names.problem.m] and values["all"] == (len(outputs) == names.problem.n):
        inputs = f"all {counts[0]} inputs{names.of_which}"
        return f"{which} {weighs} {inputs} alike ({values['weight'].shown} each, {near})"
    return f"{which} {weighs} alike all inputs{names.of_which} that the mask leaves ({near})"


def _one_hot(names: _Names, values: Mapping[str, Any]) -> str:
    outputs, inputs = values["outputs"], values["inputs"]
    is_one = len(outputs) == 1
    share = f"at least {values['threshold']} of {'its' if is_one else 'their'} weight"
    if len(set(inputs)) == 1:
        which = f"{names.inputs(inputs[:1])} alone ({share})"
        return f"{_capital(names.outputs(outputs))} {'takes' if is_one else 'take'} {which}"
    pairs = names.pairs(outputs, inputs)
    return f"{len(outputs)} outputs take one input{names.of_which} alone ({share}): {pairs}"


def _sink(names: _Names, values: Mapping[str, Any]) -> str:
    source = _capital(names.inputs([values["input"]]))
    return f"{source} leads in every output ({_between(values['lowest'], values['highest'])})"


def _equal_rows(names: _Names, values: Mapping[str, Any]) -> str:
    groups = values["outputs"]
    so = ", so they show the same digits" if values["same_outputs"] else ""
    if len(groups) == 1:
        which = _capital(names.outputs(groups[0]))
        return f"{which} have equal weights (within a billionth){so}"
    each = [of_each([*map(names.output, group)]) for group in groups[:MOST_NAMED]]
    more = [f"{len(groups) - MOST_NAMED} groups more"] if len(groups) > MOST_NAMED else []
    listed = "; ".join([*each, *more])
    return f"Groups of outputs have equal weights (within a billionth){so}: {listed}"


def _ties(names: _Names, values: Mapping[str, Any]) -> str:
    found = values["ties"]
    most = LISTED if len(found) <= LISTED else MOST_NAMED
    each = [_tie(names, tie) for tie in found[:most]]
    rest = len(found) - len(each)
    more = f"; and in {rest} more outputs" if rest else ""
    return f"{_capital('; '.join(each))}{more}, equal within a billionth"


def _tie(names: _Names, tie: Mapping[str, Any]) -> str:
    inputs = names.inputs(tie["inputs"], tie["count"])
    place = "first" if tie["place"] == 1 else "second"
    which = f"in output {names.output(tie['output'])} {inputs}"
    return f"{which} share the {place} place ({tie['weight'].shown} each)"


def _unattended(names: _Names, values: Mapping[str, Any]) -> str:
    below = f"no weight reaches {_limit(values)}"
    return f"No output attends to {names.inputs(values['inputs'])} ({below})"


def _none_own(names: _Names, values: Mapping[str, Any]) -> str:
    return f"No output attends to its own place (no such weight reaches {_limit(values)})"


def _all_own(names: _Names, values: Mapping[str, Any]) -> str:
    most = ", and most to it" if values["leads"] else ""
    weights = _between(values["lowest"], values["highest"])
    limit = f"none below {_limit(values)}"
    return f"Every output attends to its own place{most} ({weights}, {limit})"


def _heads_alike(names: _Names, values: Mapping[str, Any]) -> str:
    heads = of_each([*map(str, values["heads"])])
    return f"Heads {heads} have the same weights (each row within {values['threshold']}, added up)"


def _heads_differ(names: _Names, values: Mapping[str, Any]) -> str:
    one, other = values["heads"]
    where = f"in output {names.output(values['output'])} {values['elsewhere'].shown} of the weight"
    mean = f"{values['mean'].shown} on average"
    leads = values["leads"]
    said = f"another input leads in {names.outputs(leads)}" if leads else "the same inputs lead"
    of = ", of those compared with head 1," if values["only_with_first"] else ""
    among = " most" if len(values["pairs"]) > 1 else ""
    return (
        f"Heads {one} and {other}{of} differ{among}: {where} lies elsewhere, {mean}; {said} "
        f"(alike would be rows within {values['threshold']}, added up)"
    )


def _spread(names: _Names, values: Mapping[str, Any]) -> str:
    if "output" not in values:
        return _spread_of_all(names, values)
    output, inputs = names.output(values["output"]), values["inputs"]
    zero = fixed(0.0, names.problem.decimals)
    if not inputs:
        return f"Output {output} mixes inputs that all show as {zero}{_over(values)}"
    verb = "takes" if len(inputs) == 1 else "mixes"
    weights = of_each([weight.shown for weight in values["weights"]])
    hidden = f"; the rest shows as {zero}" if len(inputs) < values["of"] else ""
    return f"Output {output} {verb} {names.inputs(inputs)} ({weights}){_over(values)}{hidden}"


def _over(values: Mapping[str, Any]) -> str:
    # without a colon: marking would take it for a line of the map
    return f", as spread as {values['effective'].shown} of {values['of']} inputs (e^H)"


def _spread_of_all(names: _Names, values: Mapping[str, Any]) -> str:
    low, high = values["lowest"], values["highest"]
    if low["effective"].shown == high["effective"].shown:
        inputs = f"{values['of']} inputs{names.of_which}"
        return f"Every output is as spread as {low['effective'].shown} of {inputs} (e^H)"
    return (
        f"Outputs are as spread as {low['effective'].shown} (output {names.output(low['output'])}) "
        f"to {high['effective'].shown} (output {names.output(high['output'])}) of {values['of']} "
        f"inputs{names.of_which}, {values['mean'].shown} on average (e^H)"
    )


def _margin(names: _Names, values: Mapping[str, Any]) -> str:
    low, high = values["lowest"], values["highest"]
    least = f"{low['margin'].shown} (output {names.output(low['output'])})"
    if low["margin"].shown == high["margin"].shown:
        where = "every output" if names.problem.n > 1 else f"output {names.output(1)}"
        return f"The first input beats the second by {low['margin'].shown} in {where}"
    most = f"{high['margin'].shown} (output {names.output(high['output'])})"
    return f"The first input beats the second by {least} to {most}"


def _masked(names: _Names, values: Mapping[str, Any]) -> str:
    count, most = values["forbidden"], values["most"]
    adds = f"The mask's numbers move up to {values['moved'].shown} of an output's weight"
    if not count:
        return adds
    which = f"output {names.output(most['output'])}"
    head = f"head {most['head']}, " if most["head"] else ""
    took = f"{values['mean'].shown} of an output's weight on average"
    taken = f"{most['taken'].shown} in {head}{which}"
    return (
        f"The mask forbids {count:,} of {values['of']:,} weights: without it they would hold "
        f"{took}, and most, {taken}"
    )


def _scaling(names: _Names, values: Mapping[str, Any]) -> str:
    scale, d_k = values["scale"], values["d_k"]
    root = f"divided by √d_k = √{d_k}"
    said = {"none": "not scaled", "sqrt_dk": root, 1.0: "not scaled"}
    here = said.get(scale) or f"multiplied by {scale:g}"
    other = said[values["other"]]
    effective, entropy = values["effective"], values["entropy"]
    return (
        f"With scores {here} an output is on average as spread as {effective['here'].shown} inputs "
        f"(entropy {entropy['here'].shown} nats); {other}, as {effective['other'].shown} "
        f"({entropy['other'].shown} nats)"
    )


def _rounded_away(names: _Names, values: Mapping[str, Any]) -> str:
    count, zero = values["count"], fixed(0.0, values["decimals"])
    step = values["step"]
    places = [f"{step}[{','.join(map(str, place))}]" for place in values["weights"]]
    is_one = count == 1
    shows = f"{of_each(places, count)} {'is' if is_one else 'are'} not 0 and "
    shows += f"{'shows' if is_one else 'show'} as {zero}"
    change = values["change"].shown
    were = f"were {'it' if is_one else 'they'} 0"
    output = f"entry of {values['of']}" if "of" in values else "output"
    return f"{shows}: {were}, no {output} would change by more than {change}"


def _counted(noun: str, names: list[str], count: int | None = None) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {of_each(names, count)}"


def _from_to(names: _Names, outputs: list[int]) -> str:
    return f"from {names.output(outputs[0])} to {names.output(outputs[1])}"


def _between(low: Amount, high: Amount) -> str:
    return low.shown if low.shown == high.shown else f"{low.shown} to {high.shown}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_SAID: dict[str, Callable[[_Names, Mapping[str, Any]], str]] = {
    "identity": _identity,
    "permutation": _permutation,
    "shift": _shift,
    "band": _band,
    "blocks": _blocks,
    "uniform": _uniform,
    "one-hot": _one_hot,
    "sink": _sink,
    "equal-rows": _equal_rows,
    "ties": _ties,
    "unattended": _unattended,
    "none-own": _none_own,
    "all-own": _all_own,
    "heads-alike": _heads_alike,
    "heads-differ": _heads_differ,
    "spread": _spread,
    "margin": _margin,
    "masked": _masked,
    "scaling": _scaling,
    "rounded-away": _rounded_away,
}
"""What says each code; a test asks that none is missing."""
