"""The patterns of a solution as escaped sentences, each with its numbers and threshold."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from attncalc.base.rounding import fixed
from attncalc.base.text import LISTED, MOST_NAMED, capital, of_each, on_a_line
from attncalc.base.typed import exact
from attncalc.problem.attention.attention import Attention
from attncalc.problem.problem import Problem
from attncalc.studies.patterns.pattern import Amount, Pattern


def sentence(problem: Problem, pattern: Pattern) -> str:
    """Return the sentence of a pattern, without its full stop.

    >>> from attncalc import self_attention
    >>> solution = self_attention([[0], [0]], [[1]], [[1]], [[1]])
    >>> sentence(solution.problem, solution.patterns[0])
    'Every output attends equally to all 2 inputs (0.50 each, within 0.5 % of their mean)'
    """
    attention = problem.attention_of(pattern.weights)
    said: str = getattr(_Sentences(attention), pattern.code.replace("-", "_"))(pattern.values)
    head = f"head {pattern.head}" if pattern.head else ""
    where = ", ".join(part for part in (pattern.where, head) if part)
    return f"{capital(where)}: {said[0].lower()}{said[1:]}" if where else said


class _Sentences(NamedTuple):
    """The sentence of each pattern, by the method that is named like its code."""

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
        """Return which output attends to which input: 1 attends to 3 and 2 attends to 1."""
        both = zip(outputs, inputs, strict=True)
        return of_each([f"{self.output(i)} attends to {self.input(j)}" for i, j in both])

    @property
    def of_which(self) -> str:
        """Which matrix is read, where there are two."""
        problem = self.problem
        has_two = problem.kind == "cross" and problem.has_tokens and problem.key_source != "K"
        return f" of {problem.key_source}" if has_two else ""

    def identity(self, values: Mapping[str, Any]) -> str:
        is_own, share = values["is_own"], f"at least {values['threshold']} of its weight"
        which = "its own input" if is_own else f"the input{self.of_which} at its own position"
        like = ", like a 1 × 1 convolution" if is_own else ""
        return f"Each output attends almost only to {which} ({share}){like}"

    def permutation(self, values: Mapping[str, Any]) -> str:
        pairs = self.pairs(range(1, len(values["inputs"]) + 1), values["inputs"])
        share = f"at least {values['threshold']} of each output's weight"
        return f"The outputs permute the inputs{self.of_which}: {pairs} ({share})"

    def shift(self, values: Mapping[str, Any]) -> str:
        by = values["by"]
        token = {-1: " (the previous token)", 1: " (the next token)"}.get(by, "")
        share = f"at least {values['threshold']} of its weight"
        from_to = self._from_to(values["outputs"])
        return (
            f"Each output {from_to} attends almost only to the input{self.of_which} "
            f"{_place(by)} its own{token} ({share})"
        )

    def band(self, values: Mapping[str, Any]) -> str:
        kernel = ", ".join(weight.shown for weight in values["kernel"])
        low, high = _place(values["from"]), _place(values["to"])
        return (
            "Rows are shifted copies of each other: the outputs "
            f"{self._from_to(values['outputs'])} are a convolution of the values of the inputs"
            f"{self.of_which} with the kernel "
            f"({kernel}), from {low} to {high} (in total, each row differs from output "
            f"{self.output(values['outputs'][0])} by at most {values['threshold']})"
        )

    def blocks(self, values: Mapping[str, Any]) -> str:
        found = values["blocks"]
        each = [
            f"{self.outputs(block['outputs'])} with {self.inputs(block['inputs'], of=False)}"
            for block in found[:MOST_NAMED]
        ]
        more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
        return (
            f"Outputs and inputs{self.of_which} form {len(found)} blocks: "
            f"{'; '.join([*each, *more])} (no weight outside them reaches {_limit(values)})"
        )

    def uniform(self, values: Mapping[str, Any]) -> str:
        counts, outputs = sorted(set(values["inputs"])), values["outputs"]
        which = "Every output" if values["all"] else capital(self.outputs(outputs))
        attends = "attends" if values["all"] or len(outputs) == 1 else "attend"
        near = f"within {100 * values['threshold']:g} % of their mean"
        if counts == [self.problem.m] and values["all"] == (len(outputs) == self.problem.n):
            inputs = f"all {counts[0]} inputs{self.of_which}"
            each = values["weight"].shown
            return f"{which} {attends} equally to {inputs} ({each} each, {near})"
        return f"{which} {attends} equally to all unmasked inputs{self.of_which} ({near})"

    def one_hot(self, values: Mapping[str, Any]) -> str:
        outputs, inputs = values["outputs"], values["inputs"]
        is_one = len(outputs) == 1
        share = f"at least {values['threshold']} of {'its' if is_one else 'their'} weight"
        if len(set(inputs)) == 1:
            attends = f"{'attends' if is_one else 'attend'} almost only to"
            which = f"{self.inputs(inputs[:1])} ({share})"
            return f"{capital(self.outputs(outputs))} {attends} {which}"
        pairs = self.pairs(outputs, inputs)
        return (
            f"{len(outputs)} outputs each attend almost only to one input{self.of_which} "
            f"({share}): {pairs}"
        )

    def sink(self, values: Mapping[str, Any]) -> str:
        source = capital(self.inputs([values["input"]]))
        weights = _between(values["lowest"], values["highest"])
        return f"{source} has the largest weight in every output ({weights})"

    def induction(self, values: Mapping[str, Any]) -> str:
        return self._score(values, "the tokens after their earlier occurrences", "induction")

    def previous_token(self, values: Mapping[str, Any]) -> str:
        return self._score(values, "the token before their own", "previous-token")

    def duplicate_token(self, values: Mapping[str, Any]) -> str:
        return self._score(values, "their own earlier occurrences", "duplicate-token")

    def _score(self, values: Mapping[str, Any], what: str, name: str) -> str:
        count = len(values["outputs"])
        which = self.outputs(values["outputs"]) if count <= MOST_NAMED else f"{count} outputs"
        share = f"{name} score {values['score'].shown}, at least {values['threshold']}"
        return f"{capital(which)} attend mostly to {what} ({share})"

    def equal_rows(self, values: Mapping[str, Any]) -> str:
        groups = values["outputs"]
        so = ", so they show the same digits" if values["same_outputs"] else ""
        if len(groups) == 1:
            which = capital(self.outputs(groups[0]))
            return f"{which} have equal weights (within a billionth){so}"
        each = [of_each([*map(self.output, group)]) for group in groups[:MOST_NAMED]]
        more = [f"{len(groups) - MOST_NAMED} more groups"] if len(groups) > MOST_NAMED else []
        listed = "; ".join([*each, *more])
        return f"Groups of outputs have equal weights (within a billionth){so}: {listed}"

    def ties(self, values: Mapping[str, Any]) -> str:
        found = values["ties"]
        most = LISTED if len(found) <= LISTED else MOST_NAMED
        each = [
            f"in output {self.output(tie['output'])}, {self.inputs(tie['inputs'], tie['count'])} "
            f"tie for {'first' if tie['place'] == 1 else 'second'} place "
            f"({tie['weight'].shown} each)"
            for tie in found[:most]
        ]
        rest = len(found) - len(each)
        more = f"; and in {rest} more outputs" if rest else ""
        return f"{capital('; '.join(each))}{more}, equal within a billionth"

    def unattended(self, values: Mapping[str, Any]) -> str:
        below = f"no weight reaches {_limit(values)}"
        return f"No output attends to {self.inputs(values['inputs'])} ({below})"

    def none_own(self, values: Mapping[str, Any]) -> str:
        return f"No output attends to its own position (no such weight reaches {_limit(values)})"

    def all_own(self, values: Mapping[str, Any]) -> str:
        attends = "attends most" if values["leads"] else "attends"
        weights = _between(values["lowest"], values["highest"])
        limit = f"none below {_limit(values)}"
        return f"Every output {attends} to its own position ({weights}, {limit})"

    def heads_alike(self, values: Mapping[str, Any]) -> str:
        heads = of_each([*map(str, values["heads"])])
        return (
            f"Heads {heads} have the same weights "
            f"(in total, rows differ by at most {values['threshold']})"
        )

    def heads_differ(self, values: Mapping[str, Any]) -> str:
        one, other = values["heads"]
        output = self.output(values["output"])
        where = f"by {values['elsewhere'].shown} of the weight in output {output}"
        mean = f"by {values['mean'].shown} on average"
        said = "the same inputs have the largest weights"
        if leads := values["leads"]:
            said = f"the largest weight is on another input in {self.outputs(leads)}"
        of = " (only pairs with head 1 are compared)" if values["only_with_first"] else ""
        among = " most" if len(values["pairs"]) > 1 else ""
        return (
            f"Heads {one} and {other}{of} differ{among}: {where}, {mean}; {said} "
            f"(rows that differ by at most {values['threshold']} in total count as the same)"
        )

    def spread(self, values: Mapping[str, Any]) -> str:
        if "output" not in values:
            return self._spread_of_all(values)
        output, inputs = self.output(values["output"]), values["inputs"]
        zero = fixed(0.0, self.problem.decimals)
        if not inputs:
            return f"Output {output} mixes inputs that all show as {zero}{_over(values)}"
        verb = "attends to" if len(inputs) == 1 else "mixes"
        weights = of_each([weight.shown for weight in values["weights"]])
        hidden = f"; the rest shows as {zero}" if len(inputs) < values["of"] else ""
        return f"Output {output} {verb} {self.inputs(inputs)} ({weights}){_over(values)}{hidden}"

    def _spread_of_all(self, values: Mapping[str, Any]) -> str:
        low, high = values["lowest"], values["highest"]
        inputs = f"{values['of']} inputs{self.of_which}"
        if low["effective"].shown == high["effective"].shown:
            return f"Every output effectively mixes {low['effective'].shown} of {inputs} (e^H)"
        ends = (
            f"{end['effective'].shown} (output {self.output(end['output'])})" for end in (low, high)
        )
        mean = f"{values['mean'].shown} on average (e^H)"
        return f"Outputs effectively mix {' to '.join(ends)} of {inputs}, {mean}"

    def margin(self, values: Mapping[str, Any]) -> str:
        low, high = values["lowest"], values["highest"]
        by = f"{low['margin'].shown} (output {self.output(low['output'])})"
        by += f" to {high['margin'].shown} (output {self.output(high['output'])})"
        if low["margin"].shown == high["margin"].shown:
            where = "every output" if self.problem.n > 1 else f"output {self.output(1)}"
            by = f"{low['margin'].shown} in {where}"
        return f"The largest weight exceeds the second by {by}"

    def masked(self, values: Mapping[str, Any]) -> str:
        count, most = values["forbidden"], values["most"]
        adds = f"The mask's numbers shift up to {values['moved'].shown} of an output's weight"
        if not count:
            return adds
        which = f"output {self.output(most['output'])}"
        head = f"head {most['head']}, " if most["head"] else ""
        took = f"{values['mean'].shown} of an output's weight on average"
        taken = f"{most['taken'].shown} in {head}{which}"
        return (
            f"The mask forbids {count:,} of {values['of']:,} weights: without it they would have "
            f"{took} (at most {taken})"
        )

    def scaling(self, values: Mapping[str, Any]) -> str:
        scale, d_k = values["scale"], values["d_k"]
        root = f"divided by √d_k = √{d_k}"
        said = {"none": "not scaled", "sqrt_dk": root, 1.0: "not scaled"}
        here = said.get(scale) or f"multiplied by {scale:g}"
        other = said[values["other"]]
        effective, entropy = values["effective"], values["entropy"]
        return (
            f"With scores {here} an output effectively mixes {effective['here'].shown} inputs "
            f"on average (entropy {entropy['here'].shown} nats); {other}, "
            f"{effective['other'].shown} ({entropy['other'].shown} nats)"
        )

    def equivariant(self, values: Mapping[str, Any]) -> str:
        which, outputs = f"the tokens {of_each(values['of'])}", f"the outputs {values['step']}"
        if not values["moves"]:
            return f"Permuting {which} does not change {outputs}"
        return f"Permuting {which} permutes {outputs} alike: permutation equivariant"

    def order_matters(self, values: Mapping[str, Any]) -> str:
        which = f"the tokens {of_each(values['of'])}"
        why = f", because of {of_each(values['because'])}" if values["because"] else ""
        return f"Permuting {which} changes the outputs {values['step']} otherwise{why}"

    def convolution(self, values: Mapping[str, Any]) -> str:
        size, (rows, columns) = values["size"], values["grid"]
        channels, said = values["channels"], ""
        kind = {"all": "", None: "", "depthwise": "depthwise "}.get(channels, "grouped ")
        groups = f", in {channels}" if kind == "grouped " else ""
        if (kernel := values["kernel"]) is not None:
            lines = ("(" + ", ".join(each.shown for each in row) + ")" for row in kernel)
            said = f" with the kernel {'; '.join(lines)}"
        return (
            f"The {size * size} heads are a {kind}{size} × {size} convolution of the "
            f"{rows} × {columns} grid of tokens{groups}{said}, with zeros around it "
            f"(each takes at least {values['threshold']} of its weight from one place)"
        )

    def rounded_away(self, values: Mapping[str, Any]) -> str:
        count, step = values["count"], values["step"]
        places = [f"{step}[{','.join(map(str, place))}]" for place in values["weights"]]
        are, show, them = ("is", "shows", "it") if count == 1 else ("are", "show", "them")
        zero = fixed(0.0, values["decimals"])
        output = f"entry of {values['of']}" if "of" in values else "output"
        return (
            f"{of_each(places, count)} {are} not 0 but {show} as {zero}: setting {them} to 0 "
            f"changes no {output} by more than {values['change'].shown}"
        )

    def _from_to(self, outputs: list[int]) -> str:
        return f"from {self.output(outputs[0])} to {self.output(outputs[1])}"


def _limit(values: Mapping[str, Any]) -> str:
    """Return a threshold with all its digits, however small it is."""
    return f"{exact(values['threshold']):f}"


def _place(offset: int) -> str:
    if not offset:
        return "their own position"
    places = f"{abs(offset)} position{'s' if abs(offset) > 1 else ''}"
    return f"{places} {'before' if offset < 0 else 'after'}"


def _over(values: Mapping[str, Any]) -> str:
    # without a colon: marking would read it as a line of the map
    return f", effectively {values['effective'].shown} of {values['of']} inputs (e^H)"


def _counted(noun: str, names: list[str], count: int | None = None) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} {of_each(names, count)}"


def _between(low: Amount, high: Amount) -> str:
    return low.shown if low.shown == high.shown else f"{low.shown} to {high.shown}"
