"""Runs a model of PyTorch once, and records the tensors of one of its layers.

Hooks give the inputs and outputs of modules. The operations within them, such as a softmax, are
seen by a mode of PyTorch below its functions. PyTorch is imported here, when a model of it arrives.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError

if TYPE_CHECKING:
    from attncalc.base.types import Matrix

PRODUCTS = ("bmm", "mm", "baddbmm")
_LAYOUT = (
    *("view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand", "unsqueeze"),
    *("squeeze", "slice", "select", "split", "clone", "detach", "alias", "copy_", "_to_copy"),
)
"""Operations that change no number."""


class Recorded:
    """The tensors of a layer, in the order in which they are made.

    tensors: the arrays, by the path of a module in the model, or of the operation in it.
    known: the same names with the root as the path of the layer, which says what it is.
    given: the arguments of the layer, by name.
    kinds: the types of its floating-point tensors.
    """

    def __init__(self, model: Any, layer: Any, root: str) -> None:
        self.tensors: dict[str, Matrix] = {}
        self.known: dict[str, str] = {}
        self.given: dict[str, Any] = {}
        self.kinds: set[str] = set()
        self._layer, self._where = layer, list[str]()
        self._is_done = False
        self._product: dict[str, Any] = {}
        self._weights: tuple[int, ...] = ()
        paths = {module: name for name, module in model.named_modules()}
        self._names = {each: paths[each] or type(each).__name__ for each in layer.modules()}
        self._known = {
            self._names[each]: f"{root}.{name}" if name else root
            for name, each in layer.named_modules()
        }

    def enter(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record the inputs of a module before it runs."""
        if self._is_done:
            return
        if module is self._layer:
            bound = inspect.signature(module.forward).bind(*args, **kwargs)
            self.given = {n: each for n, each in bound.arguments.items() if each is not None}
        self._where.append(self._names[module])
        tensors = [each for each in (*args, *kwargs.values()) if _is_tensor(each)]
        if tensors:
            self._keep(self._where[-1], ".input", tensors[0])

    def leave(self, module: Any, args: tuple[Any, ...], output: Any) -> None:
        """Record the outputs of a module."""
        if self._is_done or not self._where:
            return
        where = self._where.pop()
        outputs = output if isinstance(output, tuple) else (output,)
        for number, each in enumerate(outputs[:2]):
            if _is_tensor(each):
                self._keep(where, ".output.1" if number else "", each)
        self._is_done = module is self._layer

    def operation(self, kind: str, args: tuple[Any, ...], output: Any) -> None:
        """Record an operation within the layer, with the operands that tell what it is."""
        if self._is_done or not self._where or kind in _LAYOUT:
            return
        made = output[0] if isinstance(output, tuple | list) and output else output
        if not _is_tensor(made):
            return
        where, name = self._where[-1], f".aten::{kind}"
        if "softmax" in kind:
            name = ".softmax"
            self._scores(args[0])
            self._weights = tuple(made.shape[-2:])
        elif "scaled_dot_product" in kind:
            name = ".sdpa"
            for each, tensor in zip(("query", "key", "value"), args, strict=False):
                self._keep(where, f"{name}.{each}()", tensor)
        elif kind in PRODUCTS:
            factors = args[-2:]
            # a later operation may change the product in place, and baddbmm may scale it
            products = {} if kind == "baddbmm" else {"qk": made.clone()}
            self._product = {"qk.query": factors[0], "qk.key": factors[1], **products}
            if tuple(factors[0].shape[-2:]) == self._weights:
                name = ".av"
                self._keep(where, f"{name}.value()", factors[1])
                self._weights = ()
        self._keep(where, f"{name}()", made)

    def _scores(self, scores: Any) -> None:
        """Record what a softmax reads, and the product that the scores are."""
        where = self._where[-1]
        self._keep(where, ".softmax.input()", scores)
        query, key, *_ = self._product.values() or (scores, scores)
        if (query.shape[-2], key.shape[-1]) == tuple(scores.shape[-2:]):
            for name, each in self._product.items():
                self._keep(where, f".{name}()", each)

    def _keep(self, where: str, end: str, tensor: Any) -> None:
        """Keep the numbers of a tensor now: a later operation may change them in place."""
        if tensor.ndim < 2 or not tensor.is_floating_point():
            return
        self.kinds.add(str(tensor.dtype).removeprefix("torch."))
        name, own, number = f"{where}{end}", end, 2
        while name in self.tensors:
            own, number = f"{end.removesuffix('()')}#{number}()", number + 1
            name = f"{where}{own}"
        self.tensors[name] = np.array(as_array(tensor))
        self.known[name] = f"{self._known[where]}{own}"


def record(model: Any, layer: Any, call: Callable[[], Any], root: str) -> Recorded:
    """Run a model once, in evaluation mode, and return the tensors of a layer.

    Raises InputError if the model cannot be run, or never runs the layer.

    model, layer: the model, and the module in it.
    root: a path that says what the layer is, whatever the model calls it.
    """
    torch = import_module("torch")
    modes = import_module("torch.utils._python_dispatch")
    recorded = Recorded(model, layer, root)

    def watch(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = function(*args, **(kwargs or {}))
        recorded.operation(str(function.overloadpacket).rpartition(".")[2], args, output)
        return output

    mode = type("Watch", (modes.TorchDispatchMode,), {"__torch_dispatch__": watch})
    with ExitStack() as stack:
        for module in layer.modules():
            before = module.register_forward_pre_hook(recorded.enter, with_kwargs=True)
            after = module.register_forward_hook(recorded.leave)
            stack.callback(before.remove)
            stack.callback(after.remove)
        stack.enter_context(_evaluating(model, torch))
        stack.enter_context(torch.no_grad())
        stack.enter_context(mode())
        try:
            call()
        except Exception as error:  # whatever the code of a user raises
            said = str(error).partition("\n")[0]
            raise InputError(
                f"{type(model).__name__} cannot be run on these inputs: "
                f"{type(error).__name__}: {said}"
            ) from error
    if not recorded.tensors:
        raise InputError(f"{type(model).__name__} never runs this layer on these inputs")
    return recorded


@contextmanager
def _evaluating(model: Any, torch: Any) -> Iterator[None]:
    """Run a model without dropout, and in its own code instead of one fused kernel."""
    trained = [module for module in model.modules() if module.training]
    is_fast = torch.backends.mha.get_fastpath_enabled()
    model.eval()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        for module in trained:
            module.training = True
        torch.backends.mha.set_fastpath_enabled(is_fast)


def _is_tensor(given: object) -> bool:
    return hasattr(given, "is_floating_point") and hasattr(given, "detach")


def first_of_batch(model: Any, inputs: Any) -> tuple[Any, int]:
    """Return the inputs of a model with the first sequence of a batch only, and the batch's size.

    A batch is the first axis, or the second one of layers of PyTorch without `batch_first`.
    """
    if isinstance(inputs, Mapping):
        inputs = {name: _array_of_list(each) for name, each in inputs.items()}
    inputs = (
        (*map(_array_of_list, inputs),) if isinstance(inputs, tuple) else _array_of_list(inputs)
    )
    owners = [model, getattr(model, "self_attn", None)]
    by_tokens = any(getattr(each, "batch_first", True) is False for each in owners)
    listed = list(inputs.values() if isinstance(inputs, Mapping) else inputs)
    tensors = listed if isinstance(inputs, Mapping | tuple) else [inputs]
    first = next((each for each in tensors if getattr(each, "ndim", 0) > 1), None)
    if first is None or (first.ndim == 2 and str(first.dtype).count("float")):
        return inputs, 1
    size = first.shape[1 if by_tokens and first.ndim > 2 else 0]

    def one(given: Any, name: str = "") -> Any:
        is_mask = "mask" in name and "padding" not in name and name != "attention_mask"
        if getattr(given, "ndim", 0) < min(first.ndim, 2) or is_mask:
            return given
        return given[:, :1] if by_tokens and given.ndim > 2 else given[:1]

    if isinstance(inputs, Mapping):
        return {name: one(each, name) for name, each in inputs.items()}, size
    return tuple(map(one, inputs)) if isinstance(inputs, tuple) else one(inputs), size


def _array_of_list(given: Any) -> Any:
    try:
        return as_array(given) if isinstance(given, list) else given
    except (TypeError, ValueError):
        raise InputError(
            "the sequences of a batch differ in length: pad them, or pass one"
        ) from None


def called(model: Any, inputs: Any) -> Callable[[], Any]:
    """Return a function that calls a model on its inputs.

    inputs: a tensor, an array or token ids; several in a tuple; or arguments by name.
    """
    torch = import_module("torch")
    weights = next(model.parameters(), None)

    def tensor(given: Any) -> Any:
        is_plain = _is_tensor(given) or isinstance(given, bool | str) or given is None
        array = None if is_plain else np.asarray(as_array(given))
        is_plain = array is None or array.dtype.kind == "O"  # an object with a meaning of its own
        made = given if is_plain else torch.as_tensor(array)
        if _is_tensor(made) and weights is not None:
            made = made.to(weights.device)
            made = made.to(weights.dtype) if made.is_floating_point() and not is_plain else made
        return made

    if isinstance(inputs, Mapping):
        named = {name: tensor(each) for name, each in inputs.items()}
        return lambda: model(**named)
    if isinstance(inputs, tuple):
        listed = [tensor(each) for each in inputs]
        return lambda: model(*listed)
    only = tensor(inputs)
    return lambda: model(only)
