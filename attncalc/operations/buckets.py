"""The buckets of distances that share a bias: near ones have one each, far ones share.

Raffel et al., *T5* (2020), section 2.1, and its code.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from attncalc.equations.operation import Statement
from attncalc.numbers.types import Matrix


class Buckets(NamedTuple):
    """The buckets of a table of biases.

    Parameters
    ----------
    number
        How many there are.
    longest
        From which distance on all are in the last one.
    both_ways
        Whether keys behind the query have buckets of their own, the second half of all; else they
        are in the first one.
    """

    number: int
    longest: int
    both_ways: bool

    def of(self, before: Matrix) -> Matrix:
        """Return the bucket, from 0, of keys that stand so many places before their query."""
        sizes = np.abs(before) if self.both_ways else np.maximum(before, 0)
        own = self.number // 2 if self.both_ways else self.number
        bucket: Matrix = np.searchsorted(starts_of(own, self.longest), sizes, side="right")
        return bucket + (before < 0) * own if self.both_ways else bucket

    def stated(self, name: str, place: int) -> Statement:
        """Return the equation of a name, for queries that start at a place."""
        starts = starts_of(self.number // 2 if self.both_ways else self.number, self.longest)
        settings = {"buckets": self.number, "place": place}
        tables = {"starts": starts[np.newaxis]}
        return Statement(name, settings=settings, tables=tables).with_flags(both=self.both_ways)


@lru_cache(maxsize=64)
def starts_of(buckets: int, longest: int) -> Matrix:
    """Return the distance from which on each bucket after the first one counts.

    Parameters
    ----------
    buckets
        How many there are, for one direction.
    longest
        From which distance on all are in the last one.

    Examples
    --------
    >>> starts_of(16, 128).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    """
    near = buckets // 2
    far = buckets - near
    starts = list(range(1, near + 1))
    for k in range(1, far):
        start = max(near, int(near * (longest / near) ** (k / far)) - 2)
        # log(d/near) / log(longest/near) · far ≥ k, in whole numbers: no logarithm is rounded
        while start**far * near**k < near**far * longest**k:
            start += 1
        starts.append(start)
    found = np.array(starts)
    found.flags.writeable = False
    return found
