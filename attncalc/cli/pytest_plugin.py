"""A plugin of pytest: `python -m pytest --attncalc kernel.py` runs each case as a test."""

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: Any) -> None:
    """Add `--attncalc`."""
    group = parser.getgroup("attncalc")
    group.addoption("--attncalc", metavar="KERNEL", help="test this kernel: file.py[:function]")
    group.addoption("--attncalc-backend", default="numpy", help="numpy, torch or jax")


def pytest_collection_modifyitems(session: Any, config: Any, items: list[Any]) -> None:
    """Add the cases of the kernel to the tests."""
    if config.getoption("--attncalc"):
        items.extend(_items(session, config))


def _items(session: Any, config: Any) -> Iterator[Any]:
    from attncalc.conforming.case import suite
    from attncalc.conforming.running import Kernel

    place = config.getoption("--attncalc")
    kernel = Kernel(place, config.getoption("--attncalc-backend"))
    config.add_cleanup(kernel.close)
    for case in suite():
        name = f"{case.feature}: {case.name}"
        yield ConformItem.from_parent(session, name=name, kernel=kernel, case=case)


class ConformItem(pytest.Item):
    """A case of the suite as a test."""

    def __init__(self, *, kernel: Any, case: Any, **named: Any) -> None:
        super().__init__(**named)
        self.kernel, self.case = kernel, case

    def runtest(self) -> None:
        """Run the case."""
        from attncalc.conforming.suite import conform
        from attncalc.writing.reports.conform import failure_text

        (result,) = conform(self.kernel, [self.case]).results
        if result.failure:
            pytest.fail(failure_text(result), pytrace=False)
        if result.status == "not tested":
            pytest.skip(result.why)

    def reportinfo(self) -> tuple[Any, None, str]:
        """Return the reported place of the test."""
        return self.path, None, f"attncalc {self.name}"
