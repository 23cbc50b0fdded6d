"""Compare what a worksheet that is practiced on says of entries with what attncalc check says.

python benchmarks/practice.py --answers 2000
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from live_answers import compared

AT_ONCE = 100
RIGHT = {"correct", "rounding", "follows"}


def main() -> None:
    """Compare, and say how often they say the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--planted", action="store_true", help="known mistakes and slips alone")
    flags = parser.parse_args()
    started, found = time.time(), Counter[tuple[str, str]]()
    for number in range(flags.answers // AT_ONCE):
        found += compared(flags.seed + number, AT_ONCE, planted=flags.planted)
    for (said, wanted), count in found.most_common():
        print(f"{count:8} {said:12} {'' if said == wanted else f'and check says {wanted}'}")
    same = sum(count for (said, wanted), count in found.items() if said == wanted)
    opposed = sum(
        count
        for (said, wanted), count in found.items()
        if (said in RIGHT and wanted == "wrong") or (said == "wrong" and wanted in RIGHT)
    )
    undecided = sum(count for (said, _), count in found.items() if said == "undecided")
    print(f"{same:,} of {found.total():,} entries alike, {undecided:,} undecided in the page,")
    print(f"{opposed} of the others right and wrong")
    print(f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
