"""Time `attncalc self` on the first sample beside a bare script with the same libraries.

    python benchmarks/startup.py [pairs]

Each pair runs both once, in turn; what counts is the ratio of the medians (at most 1.10), of the
processors' time, which a busy machine changes little.
"""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
SAMPLE = str(HERE.parent / "samples" / "self.json")
COMMANDS = {
    "attncalc self": [str(Path(sys.executable).parent / "attncalc"), "self", SAMPLE],
    "bare script": [sys.executable, str(HERE / "bare_script.py"), SAMPLE],
    "attncalc --help": [str(Path(sys.executable).parent / "attncalc"), "--help"],
}


def seconds(command: list[str]) -> float:
    """Return how long one run keeps the processors busy; compiled files may be kept, as ever."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def main(pairs: int) -> None:
    """Print the medians, their spread and the ratio."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(pairs + 1):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    for name, found in times.items():
        counted = sorted(found[1:])  # the first run warms the caches
        low, middle, high = (1000 * value for value in (counted[0], median(counted), counted[-1]))
        print(f"{name:16} median {middle:6.1f} ms   (from {low:.1f} to {high:.1f})")
    ratio = median(times["attncalc self"][1:]) / median(times["bare script"][1:])
    print(f"attncalc self / bare script: {ratio:.2f} (at most 1.10)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
