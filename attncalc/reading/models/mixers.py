"""The equations of layers that mix tokens without a softmax: convolutions and linear attention.

A recurrence over tokens is stated in closed form, as an attention without a softmax: of scores, and
of decays between tokens. Its weights A are a map as that of any attention.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from attncalc.reading.models.family import Said, a_count
from attncalc.reading.models.folder import Config
from attncalc.reading.models.rope import head_width

Sizes = Mapping[str, int]
"""The sizes of what mixes tokens, as in shapes.txt.

h, c, rows: the heads of the state that a recurrence keeps, their columns and rows; without rows
    there is none.
mixed, taps: the features that are convolved, and the number of tokens for each.
passes: how often each token multiplies the state: to read it, and to change it.
"""


class Mixer(NamedTuple):
    """What mixes tokens without an attention: its equations, and its sizes."""

    equations: Said
    sizes: Callable[[Config, int], Sizes]


def projected(name: str, weights: str, bias: str = "") -> str:
    """Return the equation of a projection of the normalized tokens, by rows of stored weights."""
    more = f" + {bias}[c]" if bias else ""
    return f"{name}[i,c] = sum(N_1[i,a] * {weights}[c,a] for a in d){more}"


def convolved(read: str, taps: int, bias: str = "", weights: str = "W_conv") -> str:
    """Return a convolution of each feature over a token and those before it, as an expression.

    read: the matrix that is convolved, as U, or with the place of a column c in it, as U[,8 + c].
    """
    reach = taps - 1
    more = f" + {bias}[c]" if bias else ""
    name, _, at = read.rstrip("]").partition("[,")
    one = f"{weights}[c,0,k] * {name}[i + k - {reach},{at or 'c'}]"
    return f"sum({one} for k in {taps} if i + k >= {reach}){more}"


def gated_convolution(config: Config, layer: int) -> list[str]:
    """Return the short convolution of LFM2, between two gates."""
    bias = ("b_in", "b_conv", " + b_O[a]") if config.is_so("conv_bias", False) else ("", "", "")
    return [
        f"{projected('U', 'W_in', bias[0])}  # gate of inputs, gate of outputs, and inputs",
        "BU[i,c in d] = U[i,0 + c] * U[i,2 * d + c]  # gated inputs",
        f"U_conv[i,c] = {convolved('BU', config.count('conv_L_cache', 3), bias[1])}"
        "  # convolved over tokens",
        "Z[i,c] = U_conv[i,c] * U[i,d + c]  # gated outputs",
        f"O[i,a] = sum(Z[i,c] * W_O[c,a] for c in d){bias[2]}",
    ]


def _sizes_of_convolution(config: Config, layer: int) -> Sizes:
    """Return what the short convolution of LFM2 counts."""
    d, taps = config.count("hidden_size"), config.count("conv_L_cache", 3)
    return {"h": 1, "c": d, "ins": 3 * d, "mixed": d, "taps": taps}


def with_routed(attends: Said) -> Said:
    """Return a reader of the equations of LFM2-MoE, which adds to the sum that divides shares."""

    def says(config: Config, layer: int) -> list[str]:
        made = [] if attends(config, layer) else gated_convolution(config, layer)
        is_routed = layer >= config.whole("num_dense_layers", 2)
        if is_routed and config.is_so("norm_topk_prob", True):
            total = "sum(E_top[i,f] for f in columns(E_top)) + 1e-06"
            made.append(f"E_share[i,e] = E_top[i,e] / ({total})")
        return made

    return says


_SOFTPLUS = "(max({0}, 0) + log(1 + exp(-abs({0}))))"
_OUTPUTS = "H[h,i,c] = sum(A[h,i,j] * V[h,j,c] for j in n)  # each head's outputs"
_STEPS = "t[i,{0}] = {1} + b_dt[{0}]  # step sizes before their softplus"
_LOG_DECAYS = (
    "log_decay[i,{0}] = (log_decay[i-1,{0}] if i > 0 else 0) - exp(A_log[{1}]) * {2}"
    "  # running sums of log decays"
)


class Delta(NamedTuple):
    """The sizes of a delta rule, and whether each feature of a key has its own decay."""

    keys: int
    heads: int
    d_k: int
    d_v: int
    taps: int
    has_features: bool


def delta_of(config: Config) -> Delta:
    """Return the sizes of a delta rule; Kimi Linear has two places for them."""
    taps = a_count("linear_conv_kernel_dim", "linear_attn_config.short_conv_kernel_size")(config, 0)
    heads = a_count("linear_num_value_heads", "linear_num_heads", "linear_attn_config.num_heads")
    heads = heads(config, 0)
    if not config.says("linear_num_value_heads"):
        width = a_count("linear_head_dim", "linear_attn_config.head_dim")(config, 0)
        return Delta(heads, heads, width, width, taps, has_features=True)
    d_k, d_v = (config.count(f"linear_{each}_head_dim") for each in ("key", "value"))
    keys = config.count("linear_num_key_heads")
    return Delta(keys, heads, d_k, d_v, taps, has_features=False)


def _sizes_of_delta(config: Config, layer: int) -> Sizes:
    """Return what a delta rule counts."""
    keys, heads, d_k, d_v, taps, has_features = delta_of(config)
    wide, decays = 2 * keys * d_k + heads * d_v, heads * (d_k if has_features else 1)
    sizes = {"h": heads, "c": d_v, "rows": d_k, "k": d_k, "ins": wide, "mixed": wide, "taps": taps}
    more = {"low": config.count("hidden_size"), "decays": decays, "logs": heads, "gained": d_v}
    return {**sizes, **more, "passes": 3}


def delta(eps: float | None = None, gate: str = "silu") -> Mixer:
    """Return the gated delta rule: a value replaces what its key has been given.

    Yang et al., *Gated Delta Networks* (2025); Kimi Team, *Kimi Linear* (2025). T solves its
    recurrence over tokens: a row of it has what the values of earlier tokens contribute to what a
    token writes.

    eps: that of the normalized outputs, if it is not that of the config.
    gate: the activation of the gates of outputs.
    """

    def says(config: Config, layer: int) -> list[str]:
        keys, heads, d_k, d_v, taps, has_features = delta_of(config)
        beta = "2 * " * config.is_so("linear_allow_neg_eigval", False)
        at, of_head = ("c", f"c // {d_k}") if has_features else ("h", "h")
        decay = f"h * {d_k} + c" if has_features else "h"
        pair = f"{{0}}[h // {heads // keys},i,c] * K[h // {heads // keys},j,c]"
        decay = f"exp(log_decay[i,{decay}] - log_decay[j,{decay}])"
        dot = f"sum({pair} * {decay} for c in {d_k})"
        if not has_features:
            dot = f"{decay} * sum({pair} for c in {d_k})"
        normed = f"H[c // {d_v},i,c % {d_v}] / sqrt(ms_H[c // {d_v},i] + "
        normed += f"{eps or config.number('rms_norm_eps')!r})"
        return [
            f"{projected('U', 'W_in')}  # queries, keys and values before their convolution",
            f"U_conv[i,c] = silu({convolved('U', taps)})  # convolved over tokens",
            f"Q[h in {keys},i,c in {d_k}] = {_unit(f'h * {d_k}', d_k)} / sqrt({d_k})"
            "  # queries of length 1, scaled",
            f"K[h in {keys},i,c in {d_k}] = {_unit(f'{keys * d_k} + h * {d_k}', d_k)}"
            "  # keys of length 1",
            f"V[h in {heads},j,c in {d_v}] = U_conv[j,{2 * keys * d_k} + h * {d_v} + c]  # values",
            f"beta[i,h] = {beta}sigmoid(sum(N_1[i,a] * W_beta[h,a] for a in d))"
            "  # how much each token writes",
            _STEPS.format(at, f"sum(N_1[i,a] * W_dt[{at},a] for a in d)"),
            _LOG_DECAYS.format(at, of_head, _SOFTPLUS.format(f"t[i,{at}]")),
            f"S[h in {heads},i in n,j in n] = {dot.format('Q')} if j <= i else 0  # decayed scores",
            f"M[h in {heads},i in n,j in n] = beta[i,h] * {dot.format('K')} if j < i else 0"
            "  # decayed likeness of keys",
            "T[h,i,j] = (beta[i,h] if i == j else 0) - sum(M[h,i,i-l] * T[h,i-l,j] for l in n "
            "if 1 <= l <= i)  # shares of earlier values in what a token writes",
            "A[h,i,j] = sum(S[h,i,l] * T[h,l,j] for l in n)  # weights of values",
            _OUTPUTS,
            f"{projected('Z', 'W_Z')}  # gates",
            f"ms_H[h,i] = sum(H[h,i,c] ** 2 for c in {d_v}) / {d_v}"
            "  # mean square of each head's outputs",
            f"C[i,c in {heads * d_v}] = gain_H[c % {d_v}] * {normed} * {gate}(Z[i,c])"
            "  # heads side by side, normalized and gated",
            "O[i,a] = sum(C[i,c] * W_O[c,a] for c in columns(C))",
        ]

    return Mixer(says, _sizes_of_delta)


_HEADS = ("mamba_n_heads", "mamba_num_heads", "num_heads")


_STATE, _TAPS = ("mamba_d_state", "ssm_state_size", "state_size"), ("mamba_d_conv", "conv_kernel")


def _key(config: Config, *keys: str) -> str:
    """Return the first key that a config has, or else the last."""
    return next(filter(config.says, keys), keys[-1])


class Space(NamedTuple):
    """The sizes of a state space, where it is normalized, and which projections have a bias.

    norm: "gated" if its gated outputs are normalized, "before" if its outputs are before the gate;
        "" for neither.
    """

    heads: int
    width: int
    groups: int
    state: int
    taps: int
    limits: tuple[float, float]
    eps: float
    norm: str
    bias: bool
    conv_bias: bool
    out_bias: bool

    @property
    def inner(self) -> int:
        """The width of all heads together."""
        return self.heads * self.width


def space_of(config: Config) -> Space:
    """Return the sizes of a state space, by any of the keys that configs have for them."""
    counts = (_HEADS, ("mamba_n_groups", "n_groups"), _STATE, _TAPS)
    heads, groups, state, taps = (config.count(_key(config, *each)) for each in counts)
    of_head = _key(config, "mamba_d_head", "mamba_head_dim", "head_dim")
    inner = config.count_or_none("mamba_d_ssm") or 0
    inner = inner or config.count("mamba_expand", 2) * config.count("hidden_size")
    width = inner // heads if config.get(of_head, "auto") == "auto" else config.count(of_head)
    eps = float(config.number(_key(config, "layer_norm_epsilon", "rms_norm_eps")))
    bias, conv_bias = _biases(config)
    norm = "before" if config.is_so("mamba_norm_before_gate", False) else "gated"
    norm = norm if config.is_so("mamba_rms_norm", True) else ""
    out_bias = config.is_so("projectors_bias", bias)
    limits = _limits(config)
    return Space(heads, width, groups, state, taps, limits, eps, norm, bias, conv_bias, out_bias)


def _biases(config: Config) -> tuple[bool, bool]:
    """Return whether the projections of a state space have biases, and whether its convolution."""
    is_own = config.says("mamba_d_state")  # keys of the state space alone start with mamba
    ways, conv = ("mamba_proj_bias", "mamba_conv_bias") if is_own else ("use_bias", "use_conv_bias")
    return config.is_so(ways, False), config.is_so(conv, True)


def _limits(config: Config) -> tuple[float, float]:
    """Return the least and the largest step size; Nemotron-H has no largest one."""
    if config.says("mamba_num_heads"):
        return float(config.number("time_step_min", 0.001)), math.inf
    found = config.get("time_step_limit", None) or (0.0, math.inf)
    try:  # the package writes infinity as {"__float__": "Infinity"}
        low, high = (float(e["__float__"] if isinstance(e, dict) else e) for e in found)
    except (KeyError, TypeError, ValueError):
        raise config.wrong("time_step_limit", found, "a list of two numbers") from None
    return low, high


def state_space(config: Config, layer: int) -> list[str]:
    """Return a state space of Mamba-2 in its closed form: C is read as queries, B as keys.

    Dao and Gu, *Transformers are SSMs* (2024).
    """
    of = space_of(config)
    inner, keys, per = of.inner, of.groups * of.state, of.heads // of.groups
    delta, (low, high) = _SOFTPLUS.format("t[i,h]"), of.limits
    delta = f"max({delta}, {low!r})" if low > 0 else delta
    delta = f"min({delta}, {high!r})" if high < math.inf else delta
    dot = f"sum(Q[h // {per},i,c] * K[h // {per},j,c] for c in {of.state})"
    convolution = convolved(f"U[,{inner} + c]", of.taps, "b_conv" * of.conv_bias)
    return [
        f"{projected('U', 'W_in', 'b_in' * of.bias)}  # gates, values, keys, queries, step sizes",
        f"U_conv[i,c in {inner + 2 * keys}] = silu({convolution})  # convolved over tokens",
        *(
            f"{name}[h in {count},{row},c in {width}] = U_conv[{row},{start} + h * {width} + c]"
            f"  # {title}"
            for name, row, count, width, start, title in (
                ("Q", "i", of.groups, of.state, inner + keys, "queries: C of the state space"),
                ("K", "j", of.groups, of.state, inner, "keys: B of the state space"),
                ("V", "j", of.heads, of.width, 0, "values"),
            )
        ),
        _STEPS.format("h", f"U[i,{2 * inner + 2 * keys} + h]"),
        f"delta[i,h] = {delta}  # step sizes",
        _LOG_DECAYS.format("h", "h", "delta[i,h]"),
        f"S[h in {of.heads},i in n,j in n] = exp(log_decay[i,h] - log_decay[j,h]) * {dot} "
        "if j <= i else 0  # decayed scores",
        "A[h,i,j] = S[h,i,j] * delta[j,h] + (skip[h] if i == j else 0)  # weights of values",
        _OUTPUTS,
        *_gated_outputs(of),
        f"O[i,a] = sum(C[i,c] * W_O[c,a] for c in columns(C)){' + b_O[a]' * of.out_bias}",
    ]


def _sizes_of_space(config: Config, layer: int) -> Sizes:
    """Return what a state space of Mamba-2 counts."""
    of = space_of(config)
    mixed = of.inner + 2 * of.groups * of.state
    sizes = {"h": of.heads, "c": of.width, "rows": of.state, "mixed": mixed, "taps": of.taps}
    return {**sizes, "ins": of.inner + mixed + of.heads, "decays": of.heads, "logs": of.heads}


def _gated_outputs(of: Space) -> list[str]:
    """Return the gated outputs of all heads of a state space, normalized in groups."""
    plain = f"H[c // {of.width},i,c % {of.width}]"
    gate, each = "silu(U[i,0 + c])", of.inner // of.groups
    first = plain if of.norm == "before" else f"{plain} * {gate}"
    name, title = ("G_C", ", gated" * (of.norm == "gated")) if of.norm else ("C", ", gated")
    lines = [f"{name}[i,c in {of.inner}] = {first}  # heads side by side{title}"]
    if of.norm:
        last = f"gain_space[c] * G_C[i,c] / sqrt(ms_C[i,c // {each}] + {of.eps!r})"
        last += f" * {gate}  # normalized and gated" if of.norm == "before" else "  # normalized"
        mean = f"sum(G_C[i,g * {each} + c] ** 2 for c in {each}) / {each}"
        lines.append(f"ms_C[i,g in {of.groups}] = {mean}  # mean square of each group")
        lines.append(f"C[i,c] = {last}")
    return lines


def _of_selective(config: Config) -> tuple[int, int, int, int]:
    """Return the features, those of a state, the convolved tokens, and the rank of step sizes."""
    d, of_rank = config.count("hidden_size"), _key(config, "mamba_dt_rank", "time_step_rank")
    rank = math.ceil(d / 16) if config.get(of_rank) == "auto" else config.count(of_rank)
    inner = config.count(_key(config, "mamba_expand", "expand")) * d
    return inner, config.count(_key(config, *_STATE)), config.count(_key(config, *_TAPS)), rank


def selective(eps: str = "", *, has_gains: bool = False) -> Mixer:
    """Return a state space of the first Mamba, each feature of which decays by itself.

    Gu and Dao, *Mamba* (2023). Its state is computed token by token.

    eps: the key of the epsilon of normalized step sizes, B and C; "" if these are not.
    has_gains: whether they have gains then.
    """

    def says(config: Config, layer: int) -> list[str]:
        inner, state, taps, rank = _of_selective(config)
        bias, conv_bias = _biases(config)
        convolution = convolved("U[,0 + c]", taps, "b_conv" * conv_bias)
        starts = {"dt": (0, rank), "B": (rank, state), "C": (rank + state, state)}
        read = {name: f"U_x[i,{start} + {{0}}]".format for name, (start, _) in starts.items()}
        lines = [
            f"{projected('U', 'W_in', 'b_in' * bias)}  # inputs and gates",
            f"U_conv[i,c in {inner}] = silu({convolution})  # convolved over tokens",
            f"U_x[i,c] = sum(U_conv[i,e] * W_x[c,e] for e in {inner})"
            "  # narrow step sizes, B and C of the state space",
        ]
        for name, (_, width) in starts.items() if eps else ():
            plain, squares = read[name]("c"), f"{read[name]('e')} ** 2"
            norm = f"sqrt(sum({squares} for e in {width}) / {width} + {config.number(eps)!r})"
            own = f"gain_x_{name.lower()}[c] * " * has_gains
            lines.append(f"{name}_norm[i,c in {width}] = {own}{plain} / {norm}  # normalized")
            read[name] = f"{name}_norm[i,{{0}}]".format
        decay = "exp(-exp(A_log[e,s]) * delta[i,e])"
        out = f"sum({read['C']('s')} * state[i,e,s] for s in {state})"
        return [
            *lines,
            f"t[i,e] = sum({read['dt']('c')} * W_dt[e,c] for c in {rank}) + b_dt[e]"
            "  # step sizes before their softplus",
            f"delta[i,e] = {_SOFTPLUS.format('t[i,e]')}  # step sizes",
            f"state[i,e,s] = {decay} * (state[i-1,e,s] if i > 0 else 0) + "
            f"delta[i,e] * {read['B']('s')} * U_conv[i,e]  # state",
            f"Z[i,e] = ({out} + skip[e] * U_conv[i,e]) * silu(U[i,{inner} + e])  # outputs, gated",
            f"O[i,a] = sum(Z[i,c] * W_O[c,a] for c in columns(Z)){' + b_O[a]' * bias}",
        ]

    def sizes(config: Config, layer: int) -> Sizes:
        inner, state, taps, rank = _of_selective(config)
        sizes = {"h": 1, "c": inner, "rows": state, "mixed": inner, "taps": taps, "low": rank}
        return {**sizes, "ins": 2 * inner, "decays": inner, "logs": inner * state}

    return Mixer(says, sizes)


def beside_attention(config: Config, layer: int) -> list[str]:
    """Return a state space beside an attention, whose outputs are added (Falcon-H1).

    Its own steps have the names of those of an attention, with m.
    """
    bias = " + b_O[a]" * config.is_so("attention_bias", False)
    lines = (
        re.sub(r"\b([QKVSAHCO]|ms_C)(?=\[|\))", r"\1_m", e) for e in state_space(config, layer)
    )
    return [
        *(re.sub(r"\b([Wb])_O\b", r"\1_mO", line) for line in lines),
        f"O[i,a] = sum(C[i,c] * W_O[c,a] for c in columns(C)){bias} + O_m[i,a]"
        "  # outputs of attention and state space",
    ]


def _unit(start: str, width: int) -> str:
    """Return the entry of a vector of length 1, from columns of the convolved projection."""
    one = f"U_conv[i,{start} + {{0}}]"
    squares = f"sum({one.format('e')} ** 2 for e in {width})"
    return f"{one.format('c')} / sqrt({squares} + 1e-06)"


def weighed(kind: str) -> Said:
    """Return a reader of the sums of MiniMax, which add parts to their normalized inputs.

    kind: the start of the keys of the factors of what mixes tokens.
    """

    def says(config: Config, layer: int) -> list[str]:
        (x, o), (n, f) = (
            [float(config.number(f"{part}_{each}_factor", 1.0)) for each in ("alpha", "beta")]
            for part in (kind, "mlp")
        )
        return [
            f"R_1[i,a] = {x!r} * N_1[i,a] + {o!r} * O[i,a]  # weighed sum",
            f"Y[i,a] = {n!r} * N_2[i,a] + {f!r} * F_2[i,a]  # weighed sum",
        ]

    return says


def lightning(config: Config, layer: int) -> list[str]:
    """Return the lightning attention of MiniMax, whose weights decay by distance.

    MiniMax, *MiniMax-01* (2025). Each head decays by a rate of its own, less in later layers.
    """
    heads, width = config.count("num_attention_heads"), head_width(config)
    rate = 1 - layer / (config.count("num_hidden_layers") - 1 + 1e-5) + 1e-5
    made = f"[h in {heads},{{0}},c in {width}] = U[{{0}},h * {3 * width} + {{1}}c]"
    dot = f"sum(Q[h,i,c] * K[h,j,c] for c in {width})"
    decay = f"exp(-{rate!r} * 2 ** (-8 * (h + 1) / {heads}) * (i - j))"
    return [
        "U[i,c] = silu(sum(N_1[i,a] * W_in[c,a] for a in d))  # queries, keys and values",
        f"Q{made.format('i', '')}  # queries",
        f"K{made.format('j', f'{width} + ')}  # keys",
        f"V{made.format('j', f'{2 * width} + ')}  # values",
        f"S[h in {heads},i in n,j in n] = {dot}  # scores",
        f"A[h,i,j] = S[h,i,j] * {decay} if j <= i else 0  # decayed weights of values",
        _OUTPUTS,
        f"{projected('Z', 'W_Z')}  # gates",
        f"ms_C[i] = sum(sum(H[h,i,c] ** 2 for c in {width}) for h in {heads}) / {heads * width}",
        f"C[i,c in {heads * width}] = gain_H[c] * H[c // {width},i,c % {width}] / "
        "sqrt(ms_C[i] + 1e-06) * sigmoid(Z[i,c])  # heads side by side, normalized and gated",
        "O[i,a] = sum(C[i,c] * W_O[c,a] for c in columns(C))",
        *weighed("linear_attn")(config, layer),
    ]


def _sizes_of_lightning(config: Config, layer: int) -> Sizes:
    """Return what the lightning attention of MiniMax counts."""
    heads, width = config.count("num_attention_heads"), head_width(config)
    wide = heads * width
    return {"h": heads, "c": width, "rows": width, "ins": 3 * wide, "gained": wide}


LIGHTNING = Mixer(lightning, _sizes_of_lightning)
CONVOLUTION = Mixer(gated_convolution, _sizes_of_convolution)
SPACE = Mixer(state_space, _sizes_of_space)
