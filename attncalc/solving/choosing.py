"""Which attention, and which of its heads, is meant: "2", "mean", "cross.A", "cross.A,2"."""

from attncalc.errors import InputError
from attncalc.numbers.typed import quoted
from attncalc.operations.step import Step
from attncalc.solving.solution import Solution


def attention_and_head(
    solution: Solution, wanted: str | int | None, *, mean: bool = True
) -> tuple[Step, str]:
    """Return the weights that are meant, and the number of their head, "mean", or "" for all.

    Parameters
    ----------
    solution
        Whose weights they are; those of one attention at least are kept.
    wanted
        What is asked for. Without a name it is of the first attention.
    mean
        Whether the mean of all heads can be meant.

    Raises
    ------
    InputError
        When there is no such head.
    """
    step, asked = _named("" if wanted is None else str(wanted).strip(), solution)
    count = max(1, len(solution.heads_of(step)))
    if asked == "" or (mean and asked.lower() == "mean"):
        return step, asked.lower()
    if asked not in [str(number) for number in range(1, count + 1)]:
        several = [each.name for each in solution.all_weights]
        named = f" (behind {' or '.join(several)}, as {several[-1]},1)" if several[1:] else ""
        or_mean = ", or mean" if mean else ""
        raise InputError(f"head takes 1 to {count}{or_mean}{named}, not {quoted(str(wanted))}")
    return step, asked


def _named(wanted: str, solution: Solution) -> tuple[Step, str]:
    """Return the weights that are named, and what is said behind their name."""
    name, _, rest = wanted.partition(",")
    steps = {each.name.lower(): each for each in solution.all_weights}
    if name.strip().lower() in steps:
        return steps[name.strip().lower()], rest.strip()
    return next(iter(steps.values())), wanted
