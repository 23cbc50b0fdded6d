"""Tokens generated one after another: greedily, at random, or by a search with several beams.

Each step is a problem one token longer. Its self-attentions read the keys and values of earlier
tokens from a cache. Holtzman et al., *The Curious Case of Neural Text Degeneration* (2020), for
top-p; Wu et al., *Google's Neural Machine Translation System* (2016), for beams.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.equations.operations.normalising import Softmax
from attncalc.problem.head import is_there as has_head
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve

SHOWN = 5
"""The number of candidates of a step that are listed, in addition to the chosen one."""
USUAL, MOST_PASSES = 20, 10_000
"""The default number of tokens, and the largest number of passes (tokens times beams)."""
MOST_BEAMS, MOST_PENALTY = 100, 50
Ids = tuple[int, ...]
Cache = Mapping[str, Matrix]
"""Keys and values of earlier tokens, (heads, tokens, features), by the names of their steps."""


class Settings(NamedTuple):
    """The choice of tokens.

    steps: the largest number of tokens.
    temperature, top_k, top_p, seed, beams, length_penalty: as `attncalc.generate` takes them.
    end: the tokens that end a sequence.
    """

    steps: int = USUAL
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None
    beams: int = 1
    length_penalty: float = 1.0
    end: tuple[int, ...] = ()

    @property
    def is_drawn(self) -> bool:
        """Whether tokens are drawn at random."""
        return self[1:5] != (None,) * 4

    @property
    def method(self) -> str:
        """The name of the method."""
        if self.beams > 1:
            return "beam search"
        return "sampling" if self.is_drawn else "greedy"

    def check(self) -> None:
        """Refuse impossible values."""
        t, k, p = self.temperature, self.top_k, self.top_p
        e, passes = self.length_penalty, self.steps * self.beams
        faults = {
            f"count {self.steps}: generate at least 1 token": self.steps < 1,
            "temperature 0 divides by 0: omit it to take the most probable token": t == 0,
            f"temperature {t}: it must be above 0": t is not None and not 0 < t < np.inf,
            f"top_k {k}: keep at least 1 token": k is not None and k < 1,
            f"top_p {p}: it must be above 0, and at most 1": p is not None and not 0 < p <= 1,
            f"beams {self.beams}: from 1 to {MOST_BEAMS}": not 1 <= self.beams <= MOST_BEAMS,
            f"length_penalty {e}: from -{MOST_PENALTY} to {MOST_PENALTY}": not abs(e)
            <= MOST_PENALTY,
            "beams with temperature, top-k, top-p or a seed: beam search draws nothing; omit one "
            "of them": self.beams > 1 and self.is_drawn,
            f"count {self.steps:,} with beams {self.beams}: {passes:,} passes through all layers; "
            f"at most {MOST_PASSES:,}": passes > MOST_PASSES,
        }
        if found := [fault for fault, is_there in faults.items() if is_there]:
            raise InputError(found[0])


class Source(Protocol):
    """The source of the logits of the next token: a problem or a model.

    title, remarks, language: the title, the remarks and the language of pages.
    decimals: the decimals of probabilities.
    prompt: the tokens before the generated ones.
    places: the largest number of tokens that it can read; None for any.
    """

    title: str
    remarks: tuple[str, ...]
    language: str
    decimals: int
    prompt: Ids
    places: int | None

    def logits(self, ids: Ids, cache: Cache) -> tuple[Matrix, Cache]:
        """Return the logits after these tokens, and the cache with all of them."""

    def names(self, ids: Sequence[int]) -> list[str]:
        """Return the names of tokens."""

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of tokens."""


class Candidate(NamedTuple):
    """A token that a step may choose.

    token: its id.
    logit, probability: its logit, and the softmax of all logits.
    share, cumulative: the probability with which it is drawn, and the sum of it and those before
        it.
    parent: its candidate in the previous step; -1 for the prompt.
    total: the sum of ln p of all new tokens up to it.
    is_kept, is_chosen: whether a beam continues with it or ends there, and whether the result
        contains it.
    """

    token: int
    logit: float
    probability: float
    share: float
    cumulative: float
    parent: int
    total: float
    is_kept: bool = False
    is_chosen: bool = False


class Step(NamedTuple):
    """The candidates of a step, the most probable first, and the number that was drawn."""

    candidates: tuple[Candidate, ...]
    drawn: float | None = None


class Beam(NamedTuple):
    """A sequence: its new tokens, the sum of their ln p, its score, its end and its cache.

    `end` is the number of its last step, from 0, and its place among the candidates there.
    """

    tokens: Ids = ()
    total: float = 0.0
    score: float = 0.0
    end: tuple[int, int] = (-1, -1)
    cache: Cache = {}


@dataclass(frozen=True, eq=False)
class Generation:
    """The result of generating tokens.

    source, settings: the source, and the choice of tokens.
    steps: the steps; in a beam search, each with the candidates of all beams.
    beams: the finished sequences, the best first: the result.
    names: the names of tokens, by id.
    text: the text of the new tokens.
    """

    source: Source
    settings: Settings
    steps: tuple[Step, ...]
    beams: tuple[Beam, ...]
    names: Mapping[int, str]
    text: str

    @property
    def tokens(self) -> Ids:
        """The ids of the new tokens."""
        return self.beams[0].tokens

    @property
    def cache(self) -> Cache:
        """The keys and values of all tokens of the result except the last, which is unread."""
        return self.beams[0].cache


def room(source: Source) -> int:
    """Return the largest number of tokens that a source has positions for; the last needs none."""
    return MOST_PASSES if source.places is None else source.places - len(source.prompt) + 1


def generate(source: Source, settings: Settings, report: Report | None = None) -> Generation:
    """Generate tokens, until one ends the sequence or the requested number is reached."""
    settings.check()
    most = room(source)
    if settings.steps > most:
        raise InputError(
            f"count {settings.steps}: the prompt has {len(source.prompt)} token"
            f"{'s' * (len(source.prompt) > 1)}, and there are positions for {source.places}: "
            f"generate at most {max(most, 0)}"
        )
    steps: list[Step] = []
    rng = np.random.default_rng(settings.seed or 0)
    running, finished = [Beam()], list[Beam]()
    for number in range(1, settings.steps + 1):
        read = [source.logits(source.prompt + each.tokens, each.cache) for each in running]
        logits = [each for each, _ in read]
        for token in settings.end:
            if not 0 <= token < len(logits[0]):
                raise InputError(
                    f"eos {token}: there is no such token: ids are from 0 to {len(logits[0]) - 1:,}"
                )
        if settings.beams > 1:
            step = _searched(running, logits, settings)
        else:
            step = _alone(running[0], logits[0], settings, rng)
        pairs = zip(running, read, strict=True)
        by_place = {of.end[1]: of._replace(cache=cache) for of, (_, cache) in pairs}
        running, ended = _continued(step, by_place, settings, number)
        finished = sorted([*finished, *ended], key=lambda each: -each.score)[: settings.beams]
        kept = {each.end[1] for each in (*running, *ended)}
        each_kept = [c._replace(is_kept=i in kept) for i, c in enumerate(step.candidates)]
        steps.append(step._replace(candidates=tuple(each_kept)))
        if report is not None:
            report(number, settings.steps)
        is_full = len(finished) == settings.beams
        if not running or (is_full and running[0].score <= finished[-1].score):
            break
    return _generation(source, settings, steps, finished)


def _alone(of: Beam, logits: Matrix, settings: Settings, rng: np.random.Generator) -> Step:
    """Return the most probable tokens, with the one that is chosen or drawn."""
    prob = shares_of(logits)
    order = np.argsort(-logits, kind="stable")
    kept, shares, place, drawn = order, prob[order], 0, None
    if settings.is_drawn:
        kept, shares = filtered(logits, settings)
        drawn = float(rng.random())
        place = min(int(np.searchsorted(np.cumsum(shares), drawn, side="right")), len(kept) - 1)
    sums = np.cumsum(shares)
    shown = sorted({*range(min(SHOWN, len(order))), place})
    rows = []
    for i in shown:
        token, is_in = int(order[i]), i < len(kept)
        share, total = (float(shares[i]), float(sums[i])) if is_in else (0.0, 1.0)
        found = float(logits[token]), float(prob[token])
        sum_of = of.total + float(_ln(prob[token]))
        rows.append(Candidate(token, *found, share, total, of.end[1], sum_of, is_chosen=i == place))
    return Step(tuple(rows), drawn)


def shares_of(logits: Matrix) -> Matrix:
    """Return the softmax of logits."""
    return np.asarray(Softmax().apply(logits[np.newaxis])[0])


def filtered(logits: Matrix, settings: Settings) -> tuple[Matrix, Matrix]:
    """Return the tokens that may be drawn, the most probable first, and their probabilities.

    >>> kept, shares = filtered(np.log([0.5, 0.3, 0.2]), Settings(top_p=0.6))
    >>> kept.tolist(), shares.round(3).tolist()
    ([0, 1], [0.625, 0.375])
    """
    scaled = logits / (settings.temperature or 1.0)
    kept = np.argsort(-logits, kind="stable")[: settings.top_k]
    shares = shares_of(scaled[kept])
    if settings.top_p is not None:
        kept = kept[np.cumsum(shares) - shares < settings.top_p]
        shares = shares_of(scaled[kept])
    return kept, shares


@np.errstate(divide="ignore")
def _ln(prob: Matrix) -> Matrix:
    return np.log(prob)


def _searched(running: Sequence[Beam], logits: Sequence[Matrix], settings: Settings) -> Step:
    """Return the best continuations of all beams: twice as many as beams, or one more per end.

    So at least as many as there are beams do not end.
    """
    probs = [shares_of(each) for each in logits]
    totals = np.array([of.total + _ln(prob) for of, prob in zip(running, probs, strict=True)])
    most = max(2, 1 + len(settings.end)) * settings.beams
    best = np.argsort(-totals, axis=None, kind="stable")[:most]
    rows = []
    for row, token in (divmod(int(each), totals.shape[1]) for each in best):
        found = float(logits[row][token]), float(probs[row][token])
        total = float(totals[row, token])
        if np.isfinite(total):
            rows.append(Candidate(token, *found, found[1], 0.0, running[row].end[1], total))
    return Step(tuple(rows))


def _continued(
    step: Step, read: Mapping[int, Beam], settings: Settings, number: int
) -> tuple[list[Beam], list[Beam]]:
    """Return the sequences to continue, and those that end; `read` has them by their last place."""
    going, ended = list[Beam](), list[Beam]()
    for place, each in enumerate(step.candidates):
        of = read[each.parent]
        score = each.total / number**settings.length_penalty
        beam = Beam((*of.tokens, each.token), each.total, score, (number - 1, place), of.cache)
        if settings.beams == 1 and not each.is_chosen:
            continue
        if number < settings.steps and each.token not in settings.end:
            going.append(beam)
        elif place < settings.beams or settings.beams == 1:  # a later one is only a reserve
            ended.append(beam)
    return going[: settings.beams], ended


def _generation(
    source: Source, settings: Settings, steps: Sequence[Step], finished: Sequence[Beam]
) -> Generation:
    number, place = finished[0].end
    found = list(steps)
    while number >= 0:
        rows = list(found[number].candidates)
        rows[place] = rows[place]._replace(is_chosen=True)
        found[number] = found[number]._replace(candidates=tuple(rows))
        number, place = number - 1, rows[place].parent
    ids = [*source.prompt, *(each.token for step in found for each in step.candidates)]
    ids = list(dict.fromkeys([*ids, *(token for beam in finished for token in beam.tokens)]))
    names = dict(zip(ids, source.names(ids), strict=True))
    text = source.text(finished[0].tokens)
    return Generation(source, settings, tuple(found), tuple(finished), names, text)


def grown(cache: Cache, made: Mapping[str, Matrix], names: Iterable[str], of: str = "") -> Cache:
    """Return a cache with the new keys and values, for names with a prefix, appended."""
    new = {}
    for name in names:
        rows = made[name] if made[name].ndim == 3 else made[name][np.newaxis]
        past = [cache[of + name]] if of + name in cache else []
        new[of + name] = np.concatenate([*past, rows], axis=1)
    return new


def as_past(cache: Cache) -> dict[str, Any]:
    """Return a cache as the fields past_K and past_V of each attention.

    >>> list(as_past({"1.self.K": np.zeros((2, 1, 3))}))
    ['1.self.past_K']
    """
    pairs = {}
    for name, each in cache.items():
        prefix, own = name[:-1], name[-1]
        pairs[f"{prefix}past_{own}"] = each if len(each) > 1 else each[0]
    return pairs


class OfProblem:
    """The logits of a problem with token ids and a head, as a Source.

    Raises InputError if it has no probabilities of the next token, or these depend on its length.

    problem: the problem: `ids`, a table `W_E`, layers, and a head over the tokens of the table.
    prompt: token ids that replace those of the problem.
    """

    places: int | None = None

    def __init__(self, problem: Problem, prompt: Sequence[int] | None = None) -> None:
        _check_generates(problem)
        self._problem, self._first = problem, problem.first_id
        own = [int(each) - self._first for each in problem.ids.ravel()]
        size = problem.turned("W_E", problem.W_E).shape[-2]
        given = own if prompt is None else [each - self._first for each in prompt]
        for each in given:
            if not 0 <= each < size:
                raise InputError(
                    f"tokens: there is no token {each + self._first}: W_E has ids from "
                    f"{self._first} to {size - 1 + self._first}"
                )
        self.prompt: Ids = tuple(given)
        self.title, self.decimals = problem.title or "Generated tokens", problem.decimals
        self.language = problem.language
        labels = problem.labels or ()
        if isinstance(labels, Mapping):
            labels = labels.get("X1", labels.get("X", ()))
        self._names = dict(zip(own, map(str, labels), strict=False))
        self._positions = "P" if problem.X2 is None else "P1"
        P = getattr(problem, self._positions)
        self._P = None if P is None else problem.turned(self._positions, P)
        self.places = None if self._P is None else self._P.shape[-2]
        self._cached = _cached(problem)
        self.remarks: tuple[str, ...] = () if self._cached else (NO_CACHE,)

    def logits(self, ids: Ids, cache: Cache) -> tuple[Matrix, Cache]:
        """Return the logits after these tokens, and the cache with all of them."""
        past = next(iter(cache.values())).shape[1] if cache else 0
        new = np.array([ids[past:]]) + self._first
        typed = {name: each for name, each in self._problem.typed.items() if name != "ids"}
        fields: dict[str, Any] = {"ids": new, "labels": None, "read": "last", "typed": typed}
        if self._P is not None:
            rows = self._P.reshape(-1, self._P.shape[-1])[past : len(ids)]
            fields[self._positions] = self._stood(rows)
        fields |= {name: self._stood(each) for name, each in as_past(cache).items()}
        problem = self._problem.with_fields(fields)
        solution = solve(problem, keep=("logits", *self._cached))
        return solution.floats["logits"].reshape(-1), grown(cache, solution.floats, self._cached)

    def _stood(self, rows: Matrix) -> Matrix:
        return rows.swapaxes(-1, -2) if self._problem.layout == "columns" else rows

    def names(self, ids: Sequence[int]) -> list[str]:
        """Return the labels of tokens in the problem, otherwise their ids."""
        return [self._names.get(each, str(each + self._first)) for each in ids]

    def text(self, ids: Sequence[int]) -> str:
        """Return the names of tokens with spaces between them."""
        return " ".join(self.names(ids))


NO_CACHE = "without a cache: each step computes all tokens again"


def _check_generates(problem: Problem) -> None:
    if not has_head(problem):
        raise InputError(
            "nothing gives probabilities of the next token: a head is needed: W_out, or tied"
        )
    if problem.ids is None or problem.W_E is None:
        raise InputError(
            "generating needs the vector of each token: give ids and their table W_E in place of X"
        )
    size = problem.turned("W_E", problem.W_E).shape[-2]
    width = size if problem.tied else problem.width_of("W_out")
    if width != size:
        raise InputError(
            f"the head gives {width} probabilities, and W_E has {size} tokens: it needs one for "
            "each token"
        )
    for name in (*("ignore", "keep", "bias"), "class_token", "type_ids", "past_K"):
        if any(each.rpartition(".")[2] == name for each in problem.names):
            raise InputError(f"{name} is about the given tokens alone: omit it to generate more")
    if problem.read not in ("all", "last"):
        raise InputError(f"read {problem.read}: the next token follows from the last: read last")
    if problem.backward:
        raise InputError("a problem with gradients: omit what asks for them to generate tokens")


def _cached(problem: Problem) -> tuple[str, ...]:
    """Return the steps of keys and values that can be cached; none if one must be recomputed."""
    names = {step.name for step in plan(problem)}
    found: list[str] = []
    for placed in problem.calculation.parts:
        if placed.attention is None or placed.prefix.endswith("cross."):
            continue
        own = [f"{placed.prefix}{each}" for each in "KV"]
        if not placed.attention.causal or not {*own} <= names or problem.equations:
            return ()
        found += own
    return tuple(found)
