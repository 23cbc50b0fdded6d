"""Compare the digits, and the lines of work, of pages' script with attncalc's, on many problems.

python benchmarks/live_digits.py --problems 10000 --work
"""

import argparse
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from live_pages import drawn
from test_live_equations import digits_differing, lines_differing

AT_ONCE = 200


def main() -> None:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--work", action="store_true", help="compare lines of work, too")
    parser.add_argument("--fractions", action="store_const", const="plain", help="in fractions")
    parser.add_argument("--mixed", dest="fractions", action="store_const", const="mixed")
    flags = parser.parse_args()
    started, entries, differing, lines, otherwise = time.time(), 0, [], 0, []
    for number in range(flags.problems // AT_ONCE):
        seed, rng = flags.seed + number, Random(flags.seed + number)
        solutions = [drawn(rng) for _ in range(AT_ONCE)]
        more, found = digits_differing(solutions)
        entries, differing = entries + more, differing + [f"seed {seed}, {each}" for each in found]
        if flags.work or flags.fractions:
            written, others = lines_differing(solutions, flags.fractions)
            lines, otherwise = lines + written, otherwise + others
    for each in (*differing, *otherwise):
        print(each)
    print(
        f"{flags.problems:,} problems, {entries:,} shown numbers: {len(differing)} problems differ"
    )
    if flags.work or flags.fractions:
        print(f"{lines:,} lines of work: {len(otherwise)} differ")
    print(f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
