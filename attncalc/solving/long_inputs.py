"""Runs a plan on long inputs: block by block over the rows of the queries, on all cores.

From scores to each head's outputs, every step works row by row over the queries. A block of rows
runs through all of these steps at once, so steps that are not kept need only the memory of a block.
If no n × m matrix is kept, keys are split into tiles too.
"""

import math
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from attncalc.base.rounding import round_floats
from attncalc.base.types import Matrix
from attncalc.base.workers import cores
from attncalc.equations.operations.entrywise import DivideBySqrt, Mask, Multiply
from attncalc.equations.operations.normalising import Softmax
from attncalc.equations.operations.products import Scores, Scoring, Weigh
from attncalc.equations.rows import exponentials
from attncalc.problem.step import Plan, Report, Seen, Step, run
from attncalc.solving.limits import refuse_overflow_of, refuse_what_cannot_fit
from attncalc.solving.remade import Blocks, Remade, height_of

ROWS = 256
TILE_ROWS, TILE_KEYS = 512, 256
"""A tile of 1 MiB in float64, which fits into the L2 cache of one core."""
FEWEST_ROWS = 64
"""The fewest rows of a block, for any number of cores."""
AREA = 2**18
"""Entries that a block reads and writes if keys are few: smaller blocks cost more in calls."""
LARGEST_BLOCK = 2**21
"""The largest number of entries of a block of full rows: 16 MiB of float64."""
FEW = 64
"""The queries or keys up to which subtracting the largest score is cheaper than a bound."""
LOG2_E = math.log2(math.e)
EXPONENTS = {"float64": 708.0, "float32": 87.0}
"""Exponents for which exp neither overflows nor loses digits.

They are below the logarithms of the largest number and, without its sign, of the smallest normal
one.
"""


def run_in_blocks(
    steps: Plan,
    given: Mapping[str, Matrix],
    wanted: set[str],
    decimals: int | None,
    report: Report | None = None,
    seen: Seen | None = None,
) -> dict[str, Matrix]:
    """Compute the steps of a plan on long inputs, in floats.

    wanted: the names of the steps whose matrices are kept.
    decimals: the decimals to which each step is rounded; None for full precision.
    report: called after each block with the number of finished blocks, and of all.
    seen: called, on several threads, with each block of the requested steps from the scores to the
        weights, which are then not kept.
    """
    after = None if decimals is None else partial(round_floats, decimals=decimals)
    known = dict(given)
    for part in _by_attention(steps):
        before, core, rest = _parts(part)
        known |= run(before, known, after)
        # the outputs of heads are always kept: later steps read them
        kept = {core[-1].name} if seen else wanted | {core[-1].name}
        shown = wanted & {step.name for step in core[:-1]} if seen else set()
        job = _Job(core, known, kept, decimals, shown, seen)
        if seen is None:  # otherwise memory was checked when the first ones were kept
            refuse_what_cannot_fit(job.sizes, wanted)
        known |= job.run(report)
        known |= run(rest, known, after)
    passed = {each.name for each in steps if seen and each.columns == "keys"}
    return {step.name: known[step.name] for step in steps if step.name in wanted - passed}


def _by_attention(steps: Plan) -> Iterator[Plan]:
    """Yield the parts of a plan with one attention each, the last with the remaining steps."""
    ends = [place for place, step in enumerate(steps) if isinstance(step.operation, Weigh)]
    stops = [end + 1 for end in ends[:-1]] + [len(steps)]
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        yield steps[start:stop]


def run_remaking(
    steps: Plan,
    given: Mapping[str, Matrix],
    wanted: set[str],
    decimals: int | None,
    report: Report | None = None,
) -> dict[str, Matrix | Remade]:
    """Compute the steps of a plan on long inputs, without keeping any n × m matrix.

    Returns the requested steps by name; those from the scores to the weights are recomputed when
    read.
    """
    cores = [_parts(part)[1] for part in _by_attention(steps)]
    wide = {step.name for core in cores for step in core[:-1]}
    narrow = {step.name for step in steps} - wide
    known = dict(given) | run_in_blocks(steps, given, narrow, decimals, report)
    made: dict[str, Any] = dict(known)
    for core in cores:
        job = _Job(core, known, set(), decimals)
        blocks, head = Blocks(job.block, job.shape), 0 if job.is_alone else None
        made |= {step.name: Remade(step.name, blocks, job.dtype, head) for step in core[:-1]}
    return {step.name: made[step.name] for step in steps if step.name in wanted}


def _parts(steps: Plan) -> tuple[Plan, Plan, Plan]:
    """Split a plan into the steps before the scores, from scores to head outputs, and after."""
    start = next(i for i, step in enumerate(steps) if isinstance(step.operation, Scoring))
    stop = next(i for i, step in enumerate(steps) if isinstance(step.operation, Weigh)) + 1
    return steps[:start], steps[start:stop], steps[stop:]


@dataclass(frozen=True)
class _Job:
    """The steps from scores to head outputs, on long inputs.

    core: those steps.
    wanted: the steps whose matrices are kept, the last one among them.
    decimals: to how many each step is rounded; None for no rounding: steps may then also run on
        tiles of keys.
    shown, seen: the steps whose blocks are passed on, and the function that receives them.
    """

    core: Plan
    known: Mapping[str, Matrix]
    wanted: set[str]
    decimals: int | None
    shown: Collection[str] = ()
    seen: Seen | None = None

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """The number of heads, of queries and of keys."""
        Q, K = (self.known[name] for name in self.core[0].inputs[:2])
        return (len(Q) if Q.ndim == 3 else 1), Q.shape[-2], K.shape[-2]

    def _rounded(self, matrix: Matrix) -> Matrix:
        return matrix if self.decimals is None else round_floats(matrix, self.decimals)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the results: float32 if all inputs are."""
        read = {name for step in self.core for name in step.inputs if name in self.known}
        dtypes = {self.known[name].dtype for name in read}
        return np.result_type(*(dtypes - {np.dtype(bool)}))

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes of each matrix that is kept, and of the workspace."""
        heads, n, m = self.shape
        wide = {step.name: m for step in self.core[:-1]} | {self.core[-1].name: self._d_v}
        size = np.dtype(self.dtype).itemsize
        kept = {
            name: heads * n * width * size for name, width in wide.items() if name in self.wanted
        }
        # later steps round block by block
        arrays = 2 if self.decimals is None and len(kept) == 1 else 6
        return kept | {
            "workspace": arrays * cores() * min(n, self._height(self._rows_at_once)) * m * size
        }

    def run(self, report: Report | None) -> dict[str, Matrix]:
        """Run all blocks on all cores, and return the matrices that are kept."""
        heads, n, m = self.shape
        results = {
            step.name: np.empty((heads, n, m), self.dtype)
            for step in self.core[:-1]
            if step.name in self.wanted
        }
        outputs = np.empty((n, heads, self._d_v), self.dtype)  # so that joining heads moves nothing
        results[self.core[-1].name] = outputs.swapaxes(0, 1)
        safe = self._is_safe
        # a tile never contains a full row: its maximum cannot be subtracted first
        is_rounded = self.decimals is not None
        in_tiles = safe and not is_rounded and len(results) == 1 and not self.shown
        height = self._height(self._rows_of_tiles if in_tiles else self._rows_at_once)
        blocks = [
            (head, slice(start, min(start + height, n)))
            for start in range(0, n, height)
            for head in range(heads)  # side by side in memory
        ]
        job = replace(self, core=_without_shift(self.core)) if safe else self
        work = job._tiles if in_tiles else job._rows
        _on_all_cores(lambda block: work(*block, results), blocks, report)
        return {name: matrix[0] if self.is_alone else matrix for name, matrix in results.items()}

    @property
    def is_alone(self) -> bool:
        """Whether there is one head, without an axis of heads."""
        return self.known[self.core[0].inputs[0]].ndim == 2

    def block(self, head: int, rows: slice) -> dict[str, Matrix]:
        """Return some rows of a head, from the scores to the weights, in separate arrays."""
        job = replace(self, core=_without_shift(self.core)) if self._is_safe else self
        values: dict[str, Matrix] = {}
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for step in job.core[:-1]:
                inputs = self._inputs(step, values, head, rows)
                made = step.operation.in_head(head).at(rows).apply(*inputs)
                values[step.name] = self._rounded(made)
        return values

    @property
    def _rows_at_once(self) -> int:
        """The number of rows of a block of full rows, limited for very long ones."""
        return min(ROWS, max(1, LARGEST_BLOCK // self.shape[2]))

    @property
    def _rows_of_tiles(self) -> int:
        """The number of rows of a tile: fewer at a causal edge, where scores are wasted."""
        sees_all = self._in_sight(slice(0, 1)) == slice(0, self.shape[2])
        return TILE_ROWS if sees_all else min(TILE_ROWS, TILE_KEYS)

    def _height(self, usual: int) -> int:
        """Return the number of rows of a block: more than usual if keys are few.

        There are fewer if some cores would otherwise get none.
        """
        heads, n, m = self.shape
        d_k = int(self.known[self.core[0].inputs[0]].shape[-1])
        share = max(FEWEST_ROWS, heads * n // cores())
        height = min(share, max(usual, AREA // (m + d_k + self._d_v)))
        # a caller that receives blocks may compare them with rows that are computed again
        return min(height, height_of(self.shape[2])) if self.seen else height

    @property
    def _d_v(self) -> int:
        return int(self.known[self.core[-1].inputs[1]].shape[-1])

    def _rows(self, head: int, rows: slice, results: dict[str, Matrix]) -> None:
        values: dict[str, Matrix] = {}
        keys = self._read_by(rows, results)
        places = self._places(head, rows, results, keys.stop - keys.start)
        for step, out in zip(self.core, places, strict=True):
            inputs = self._inputs(step, values, head, rows, keys)
            operation = step.operation.in_head(head).at(rows, keys)
            made = self._rounded(operation.apply(*inputs, out=out))
            if made is not out and step.name in results:
                out[...] = made
            if self.seen and step.name in self.shown:
                self.seen(step.name, (rows,) if self.is_alone else (head, rows), made)
            values[step.name] = made
        refuse_overflow_of(values[self.core[-1].name], rows.start)

    def _read_by(self, rows: slice, results: dict[str, Matrix]) -> slice:
        """Return the keys that a block of rows reads: all, if it is kept or shown completely."""
        sight = self._in_sight(rows)
        if len(results) > 1 or self.shown or sight.start == sight.stop:
            return slice(0, self.shape[2])
        return sight

    def _places(
        self, head: int, rows: slice, results: dict[str, Matrix], keys: int
    ) -> list[Matrix]:
        """Return where each step writes its block: the memory of the next kept matrix.

        A step that is not kept needs no memory, and the kept one works in place.
        """
        *scores, outputs = self.core
        place: Matrix | None = None
        places = [results[outputs.name][head, rows]]
        for step in reversed(scores):
            if step.name in results:
                place = results[step.name][head, rows]
            elif place is None:
                place = np.empty((rows.stop - rows.start, keys), self.dtype)
            places.append(place)
        return places[::-1]

    def _inputs(
        self,
        step: Step,
        values: dict[str, Matrix],
        head: int,
        rows: slice,
        keys: slice = slice(None),
    ) -> Iterator[Matrix]:
        """Yield the inputs of a step for some rows of a head, and some of the keys."""
        for place, name in enumerate(step.inputs):
            if name in values:
                yield values[name]
                continue
            matrix = self.known[name]
            if matrix.ndim == 3:
                # fewer key and value heads serve consecutive query heads
                matrix = matrix[head * len(matrix) // self.shape[0]]
            # masks are n × m, the values m × d_v, the scores' queries n × d_k: each is cut along
            # its axes
            if isinstance(step.operation, Mask):
                yield (matrix[rows] if len(matrix) > 1 else matrix)[:, keys]
            elif place == 0:
                yield matrix[rows]
            elif place == 1 and isinstance(step.operation, Scoring | Weigh):
                yield matrix[keys]
            else:  # numbers of a head
                yield matrix

    @cached_property
    def _is_safe(self) -> bool:
        """Whether exp needs no row maximum to be subtracted first."""
        return (
            min(self.shape[1:]) >= FEW
            and isinstance(self.core[-2].operation, Softmax)
            and self._largest_score() + self._room_to_weigh() <= EXPONENTS[str(self.dtype)]
        )

    def _room_to_weigh(self) -> float:
        """Return the margin of an exponent when m powers, each times a value, are summed."""
        largest = np.abs(self.known[self.core[-1].inputs[1]]).max(axis=-2)  # of each column
        sizes = np.abs(np.log(largest[largest > 0]))
        return math.log(self.shape[2]) + float(sizes.max(initial=0.0))

    def _largest_score(self) -> float:
        scoring = self.core[0].operation
        assert isinstance(scoring, Scoring)
        bound = scoring.largest(*(self.known[name] for name in self.core[0].inputs))
        for step in self.core[1:-2]:
            bound = step.operation.bound(bound, *(self.known[name] for name in step.inputs[1:]))
        for name in self.core[-2].inputs[1:]:  # sinks, whose powers are added to those of scores
            bound = max(bound, float(np.abs(self.known[name]).max()))
        return bound if np.isfinite(bound) else np.inf

    def _tiles(self, head: int, rows: slice, results: dict[str, Matrix]) -> None:
        """Compute all steps for one block of rows, one tile of keys at a time.

        Softmax and the weighing of values are combined, Σ exp(s_j) v_j / Σ exp(s_j), while a tile
        is still in the cache.
        """
        *scoring, normalizing, weighing = self.core
        height, sight = rows.stop - rows.start, self._in_sight(rows)
        outputs = results[weighing.name][head, rows]
        tile = self._tile[:height]
        weighed, share = np.zeros_like(outputs), np.empty_like(outputs)
        total, ones = np.zeros((height, 1), self.dtype), np.ones((TILE_KEYS, 1), self.dtype)
        scores = normalizing.inputs[0]
        for sink in list(self._inputs(normalizing, {scores: tile}, head, rows))[1:]:
            total += exponentials(sink)
        scaled: dict[str, Matrix] = {}
        power: Any = exponentials
        if self._scales_queries:  # d_k products per query instead of one per key
            first, scale, *others = scoring
            queries = scale.operation.apply(next(self._inputs(first, {}, head, rows)))
            if not others and _is_exp2_fast():  # masked scores, -∞, would make it slow
                queries *= LOG2_E
                power = np.exp2
            scaled["scaled queries"] = queries
            inputs = ("scaled queries", *first.inputs[1:])
            scoring = [first._replace(name=scale.name, inputs=inputs), *others]
        for start in range(sight.start, sight.stop, TILE_KEYS):
            keys = slice(start, min(start + TILE_KEYS, sight.stop))
            values = dict(scaled)
            out = tile[:, : keys.stop - start]
            for step in scoring:
                operation = step.operation.in_head(head).at(rows, keys)
                read = self._inputs(step, values, head, rows, keys)
                values[step.name] = operation.apply(*read, out=out)
            powers = power(values[scores], out=out)
            values[normalizing.name] = powers
            total += powers @ ones[: keys.stop - start]  # faster than `sum`
            powers, V = self._inputs(weighing, values, head, rows, keys)
            weighed += np.matmul(powers, V, out=share)
        np.divide(weighed, np.where(total == 0, 1, total), out=outputs)  # 0: no key is left
        refuse_overflow_of(outputs, rows.start)

    @cached_property
    def _scales_queries(self) -> bool:
        """Whether queries are scaled instead of the scores.

        This is safe if the factor is at most 1, so that nothing overflows. Underflow is too small
        to matter: tiles are used only if the squares of all keys are finite.
        """
        first, scale = self.core[:2]
        return (
            isinstance(first.operation, Scores)
            and isinstance(scale.operation, DivideBySqrt | Multiply)
            and scale.operation.bound(1) <= 1
        )

    @property
    def _tile(self) -> Matrix:
        """The memory of a tile's scores: one array per thread, because new memory is slow."""
        if not hasattr(self._of_thread, "tile"):
            rows = min(self.shape[1], self._height(self._rows_of_tiles))
            self._of_thread.tile = np.empty((rows, TILE_KEYS), self.dtype)
        tile: Matrix = self._of_thread.tile
        return tile

    @cached_property
    def _of_thread(self) -> threading.local:
        return threading.local()

    def _in_sight(self, rows: slice) -> slice:
        """Return the keys that a causal mask, or a window, keeps for any of these rows."""
        masks = (step.operation for step in self.core if isinstance(step.operation, Mask))
        mask = next(masks, Mask())
        return mask.in_sight(rows, self.shape[2])


def _without_shift(core: Plan) -> Plan:
    """Return the steps with a softmax that subtracts no maximum, which takes two passes less."""
    *scoring, normalizing, weighing = core
    assert isinstance(normalizing.operation, Softmax)
    unshifted = normalizing._replace(operation=replace(normalizing.operation, shifted=False))
    return (*scoring, unshifted, weighing)


def _on_all_cores(
    work: Callable[[tuple[int, slice]], None],
    blocks: list[tuple[int, slice]],
    report: Report | None,
) -> None:
    """Do the work for each block on a thread for each core, the calling one included."""
    done = 0
    lock = threading.Lock()
    waiting = iter(range(len(blocks)))
    failed: dict[int, BaseException] = {}

    def work_through() -> None:
        nonlocal done
        place = 0
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                for place in waiting:
                    work(blocks[place])
                    with lock:
                        done += 1
                        if report is not None:
                            report(done, len(blocks))
        except BaseException as error:
            failed[place] = error
            list(waiting)  # so that the other threads start no more blocks

    # BLAS would start as many threads for each of ours, and they wait for one another
    with _blas().limit(limits=1, user_api="blas"):
        others = [threading.Thread(target=work_through) for _ in blocks[1 : cores()]]
        for each in others:
            each.start()
        work_through()
        for each in others:
            each.join()
    if failed:
        raise failed[min(failed)]  # the first block in order, whichever thread failed first


@cache
def _blas() -> Any:
    """Return the controller of BLAS threads; finding it takes longer than a small solve."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def _is_exp2_fast() -> bool:
    """Return whether numpy's exp2 is vectorized (AVX-512): only then is it faster than exp."""
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:  # numpy 2.0
        return False
    loops = opt_func_info(func_name="^exp2$", signature="float").get("exp2", {})
    return bool(loops) and not any("baseline" in each["current"] for each in loops.values())
