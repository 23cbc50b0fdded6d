"""Which steps of a plan patterns are worked out of."""

from attncalc.operations.step import Plan


def needed_for_patterns(plan: Plan) -> dict[str, None]:
    """Return the names of the steps that patterns are worked out of."""
    place = next(i for i, step in enumerate(plan) if step.role == "weights")
    after = plan[place + 1 :]
    read = {name for step in after for name in step.inputs}
    return {
        step.name: None
        for step in plan
        if step.role in ("masked", "weights") or step.name in read or step in after
    }
