"""Kernels: found in a file, and called in a separate process with a time limit."""

import importlib.util
import inspect
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.conforming.adapters import BACKENDS as ADAPTERS
from attncalc.conforming.adapters import adapter
from attncalc.conforming.case import EXTRA, USUAL_TYPES, Case
from attncalc.conforming.reference import GRADIENTS

NAME = "attention"
BACKENDS = ("numpy", "torch", "jax")
PLAIN = ("attn_mask", "is_causal", "scale", "enable_gqa", *EXTRA)
"""Keyword arguments that the suite uses."""
STARTING = 120.0
"""The time limit for importing a kernel, in seconds."""


class Called(NamedTuple):
    """The result of a call: results by name, or the reason why there are none.

    results: the outputs, and gradients if requested.
    error: the message of an exception; for a crash, how the process ended.
    refused: whether the kernel raised NotImplementedError: it does not offer this.
    changed: whether the kernel wrote to its inputs.
    repeats: whether a second call gave the same bits.
    """

    results: Mapping[str, Matrix]
    error: str = ""
    refused: bool = False
    changed: bool = False
    repeats: bool = True


class Kernel:
    """A kernel in a separate process.

    place: a Python file, or file.py:function; without a function, `attention`. Or an adapter. With
        `command`, a program and its arguments that reads a .npz file and writes one.
    backend, device: the type of its arrays: numpy, torch or jax; and the device of torch.
    seconds: the time limit of a call.
    """

    def __init__(
        self, place: str, backend: str = "numpy", device: str = "cpu", seconds: float = 60.0
    ) -> None:
        self.place, self.backend, self.device, self.seconds = place, backend, device, seconds
        self._process: Any = None
        self._pipe: Connection | None = None
        self.takes = self._start()

    def _start(self) -> frozenset[str]:
        """Start the process, and return the keyword arguments that the kernel takes."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self.place, self.backend, self.device), daemon=True
        )
        self._process.start()
        theirs.close()
        answer = self._receive(STARTING)
        if isinstance(answer, str):
            self.close()
            raise InputError(answer)
        return frozenset(answer)

    def _receive(self, seconds: float) -> Any:
        assert self._pipe is not None
        try:
            if self._pipe.poll(seconds):
                return self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            how = f"signal {-code}" if code and code < 0 else f"exit code {code}"
            return f"the process ended with {how}"
        return f"no result after {seconds:g} s"

    def call(self, case: Case) -> Called:
        """Call the kernel on a case; a crash or a time limit is an error of the case."""
        if self._process is None:
            self._start()
        assert self._pipe is not None
        self._pipe.send(case)
        answer = self._receive(self.seconds)
        if isinstance(answer, Called):
            return answer
        self.close()
        return Called({}, str(answer))

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join(5)
        self._process = None


class Inside:
    """A function called in this process with the arguments it takes: crashes are not caught."""

    def __init__(
        self,
        function: Callable[..., Any],
        backend: str = "numpy",
        takes: frozenset[str] | None = None,
    ) -> None:
        self.function, self.backend = function, backend
        self.takes = _takes(function) if takes is None else takes

    def call(self, case: Case) -> Called:
        """Call the function on a case."""
        return _called(self.function, self.backend, "cpu", case)

    def close(self) -> None:
        """Do nothing."""


def command(arguments: list[str], seconds: float = 60.0) -> Callable[..., Matrix]:
    """Return a kernel that runs a program with the names of an input and an output .npz file."""

    def attention(query: Matrix, key: Matrix, value: Matrix, **named: Any) -> Matrix:
        with tempfile.TemporaryDirectory() as folder:
            given, result = Path(folder) / "in.npz", Path(folder) / "out.npz"
            np.savez(given, query=query, key=key, value=value, **named)
            done = subprocess.run(
                [*arguments, str(given), str(result)],
                timeout=seconds, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
            with np.load(result, allow_pickle=False) as found:
                output: Matrix = found["output"]
            return output

    return attention


# -- in the process of the kernel -----------------------------------------------------------------


def _serve(pipe: Connection, place: str, backend: str, device: str) -> None:
    os.dup2(2, 1)  # output that a kernel prints is not a result
    sys.dont_write_bytecode = True  # nothing is written next to the kernel
    try:
        function = _found(place)
        if backend != "numpy":
            importlib.import_module(backend)
    except Exception as error:
        pipe.send(f"{place}: {type(error).__name__}: {error}")
        return
    pipe.send(_takes(function))
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(_called(function, backend, device, case))


def _found(place: str) -> Callable[..., Any]:
    if place in ADAPTERS:
        return adapter(place)
    path, _, name = place.rpartition(":")
    if not path.endswith(".py"):
        path, name = place, NAME
    spec = importlib.util.spec_from_file_location("attncalc_kernel", path)
    if spec is None or spec.loader is None:
        raise InputError("no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["attncalc_kernel"] = module
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec.loader.exec_module(module)
    if not callable(function := getattr(module, name or NAME, None)):
        raise InputError(f"it has no function {name or NAME}")
    found: Callable[..., Any] = function
    return found


def _takes(function: Callable[..., Any]) -> frozenset[str]:
    """Return the keyword arguments of the suite that a function takes; **kwargs: of PyTorch's."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of builtins, as PyTorch's
        return frozenset(PLAIN[:4])
    takes_more = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return frozenset(parameters) & {*PLAIN} | {*PLAIN[: 4 * takes_more]}


def _called(function: Callable[..., Any], backend: str, device: str, case: Case) -> Called:
    try:
        arrays, named = _as_arrays(backend, device, case)
        before = [_as_numpy(each).copy() for each in arrays]
        output = function(*arrays, **named)
        results = {"O": _as_numpy(output)}
        if case.upstream is not None:
            found = _gradients(partial(function, **named), output, arrays, backend, case.upstream)
            if found is None:
                return Called(results, "the outputs have no gradients", refused=True)
            results |= found
        changed = any(
            not np.array_equal(_as_numpy(each), old, equal_nan=True)
            for each, old in zip(arrays, before, strict=True)
        )
        again = _as_numpy(function(*arrays, **named))
        return Called(
            {name: np.asarray(each, dtype=float) for name, each in results.items()},
            changed=changed,
            repeats=np.array_equal(again, results["O"], equal_nan=True),
        )
    except NotImplementedError as error:
        return Called({}, str(error) or "NotImplementedError", refused=True)
    except Exception as error:
        return Called({}, f"{type(error).__name__}: {error}"[:500])


def _as_arrays(backend: str, device: str, case: Case) -> tuple[list[Any], dict[str, Any]]:
    array = _maker(backend, device)
    arrays = [_laid_out(array, each, case) for each in (case.q, case.k, case.v)]
    if case.upstream is not None and backend == "torch":
        for each in arrays:
            each.requires_grad_(True)
    named = {
        name: array(value, "bool" if value.dtype == bool else case.dtype)
        if isinstance(value, np.ndarray)
        else value
        for name, value in case.call.items()
        if value is not None
    }
    return arrays, named


Make = Callable[[Matrix, str], Any]


def _maker(backend: str, device: str) -> Make:
    if backend == "torch":
        torch = importlib.import_module("torch")
        return lambda values, dtype: torch.tensor(np.ascontiguousarray(values), device=device).to(
            getattr(torch, dtype)
        )
    if backend == "jax":
        jax = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)  # otherwise float64 becomes float32
        return lambda values, dtype: jax.numpy.asarray(values, dtype=dtype)
    return _in_numpy


def _in_numpy(values: Matrix, dtype: str) -> Matrix:
    if dtype not in ("bool", *USUAL_TYPES[:3]):
        raise NotImplementedError(f"numpy has no {dtype}")
    with np.errstate(over="ignore"):
        return np.array(values, dtype=dtype)


def _laid_out(array: Make, values: Matrix, case: Case) -> Any:
    if case.layout == "tokens first":
        return array(np.ascontiguousarray(values.swapaxes(1, 2)), case.dtype).swapaxes(1, 2)
    if case.layout == "strided":
        return array(np.repeat(values, 2, axis=-1), case.dtype)[..., ::2]
    return array(values, case.dtype)


def _as_numpy(array: Any) -> Matrix:
    if hasattr(array, "detach"):
        array = array.detach().to("cpu")
        if str(array.dtype) not in ("torch.float64", "torch.float32", "torch.float16"):
            array = array.float()
        found: Matrix = array.numpy()
        return found
    found = np.asarray(array)
    return found if found.dtype.kind in "fiub" else found.astype(float)


def _gradients(
    function: Callable[..., Any], output: Any, arrays: list[Any], backend: str, upstream: Matrix
) -> dict[str, Matrix] | None:
    """Return the gradients of the inputs; None if the backend has none."""
    if backend == "jax":
        jax = importlib.import_module("jax")
        back = jax.vjp(function, *arrays)[1]
        made = back(jax.numpy.asarray(upstream, dtype=output.dtype))
        return dict(zip(GRADIENTS, map(_as_numpy, made), strict=True))
    if backend != "torch" or not output.requires_grad:
        return None
    torch = importlib.import_module("torch")
    arriving = torch.tensor(upstream, dtype=output.dtype, device=output.device)
    found = torch.autograd.grad(output, arrays, arriving, allow_unused=True)
    return {
        name: np.zeros(array.shape) if each is None else _as_numpy(each)
        for name, each, array in zip(GRADIENTS, found, arrays, strict=True)
    }
