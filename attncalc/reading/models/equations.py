"""What some families compute by equations of their own, from the keys of a config."""

from collections.abc import Callable
from math import exp
from typing import NamedTuple

from attncalc.reading.models.family import Said, a_number_or_none, an_activation, if_given
from attncalc.reading.models.folder import Config

_NORMED = "({0}[{1},a] - mu_{2}[{1}]) / sqrt(var_{2}[{1}] + {3!r}) * gain_{2}[a] + bias_{2}[a]"


def _normed(read: str, row: str, name: str, eps: float) -> list[str]:
    """Return the equations of a normalization, without its title."""
    return [
        f"mu_{name}[{row}] = sum({read}[{row},a] for a in d) / d",
        f"var_{name}[{row}] = sum(({read}[{row},a] - mu_{name}[{row}]) ** 2 for a in d) / d",
        f"N_{name}[{row},a] = {_NORMED.format(read, row, name, eps)}",
    ]


def clipped(key: str, *normed: str) -> Said:
    """Return a reader of the equations of clipped queries, keys and values, if a key says so.

    normed: those that are normalized before, by the mean square over all heads.
    """

    def says(config: Config, layer: int) -> list[str]:
        most = float(a_number_or_none(key)(config, layer))
        plain = "sum(N_1[i,a] * W_{0}[h,a,c] for a in d)"
        plain += " + b_{0}[h,0,c]" * config.is_so("attention_bias", False)
        after = "gamma_{0}[h,0,c] * {0}[h,i,c] / sqrt(ms_{0}[h,i,0] + {1})"
        lines = []
        for x, title in (("Q", "queries"), ("K", "keys"), ("V", "values")):
            step, right = (f"{x}_norm", after) if x in normed else (x, plain)
            right = right.format(x, float(config.number("rms_norm_eps", 0)))
            lines.append(f"{step}[h,i,c] = min(max({right}, -{most}), {most})  # {title}, clipped")
        return lines

    return if_given(key, says)


def normed_after_rope(gain: str = "") -> Said:
    """Return a reader of scores whose queries and keys are normalized after rope.

    gain: the start of the names of their gains; "" for none.
    """

    def says(config: Config, layer: int) -> list[str]:
        heads, eps = config.count("num_attention_heads"), config.number("rms_norm_eps")
        group = heads // (config.count_or_none("num_key_value_heads") or heads)
        one = gain and f"{gain}{{0}}[c] * "
        one += "{0}_rot[h,i,c] / sqrt(sum({0}_rot[h,i,e] ** 2 for e in d_k) / d_k + {1!r})"
        return [
            f"Q_normed[h,i,c] = {one.format('Q', eps)}  # queries, normalized",
            f"K_normed[h,i,c] = {one.format('K', eps)}  # keys, normalized",
            f"S[h,i,j] = sum(Q_normed[h,i,c] * K_normed[h // {group},j,c] for c in d_k)",
        ]

    return says


def _is_biased(config: Config) -> bool:
    return config.is_so("attention_bias", False)


def _projected(read: str, config: Config) -> str:
    """Return the outputs of an attention, from what its heads give after some change."""
    bias = " + b_O[a]" * _is_biased(config)
    return f"O[i,a] = sum({read}[i,c] * W_O[c,a] for c in columns({read})){bias}"


def gated(config: Config, layer: int) -> list[str]:
    """Return the outputs of AFMoE and Qwen3-Next, whose heads are gated by their inputs."""
    bias = " + b_gate[c]" * (config.says("linear_num_key_heads") and _is_biased(config))
    gate = f"sigmoid(sum(N_1[i,a] * W_gate[c,a] for a in d){bias})"
    return [f"C_gated[i,c] = C[i,c] * {gate}  # heads, gated", _projected("C_gated", config)]


def gated_by_head(config: Config, layer: int) -> list[str] | None:
    """Return the outputs of LFM3, whose heads have one gate each."""
    if not config.is_so("use_attention_gate", True):
        return None
    gate = "sigmoid(sum(N_1[i,a] * W_hgate[c // d_v,a] for a in d))"
    return [f"C_gated[i,c] = C[i,c] * {gate}  # heads, gated", _projected("C_gated", config)]


def differential(config: Config, layer: int) -> list[str]:
    """Return the outputs of DiffLlama: differences of pairs of heads, normalized.

    Ye et al., *Differential Transformer* (2024). Each head weighs two halves of the values.
    """
    heads, width = config.count("num_attention_heads"), "2 * d_k"
    keys, start = config.count("num_key_value_heads"), 0.8 - 0.6 * exp(-0.3 * layer)
    half, group = keys // 2, heads // keys
    value = f"V[h // {group} % {half} + c // d_k * {half},j,c % d_k]"
    learned = "exp(sum(lambda_q{0}[e] * lambda_k{0}[e] for e in d_k))"
    share = f"({learned.format(1)} - {learned.format(2)} + {start!r})"
    entry = "H_diff[c // ({0}),i,{1}]".format
    norm = f"sqrt(sum({entry(width, 'e')} ** 2 for e in {width}) / ({width}) + "
    norm += f"{config.number('rms_norm_eps')!r})"
    return [
        f"H_both[h in {heads},i in n,c in {width}] = sum(A[h,i,j] * {value} for j in m)"
        "  # weighed values, both halves",
        f"H_diff[h in {heads // 2},i in n,c in {width}] = H_both[h,i,c] - {share} * "
        f"H_both[h + {heads // 2},i,c]  # differences of heads",
        f"C[i in n,c in {heads} * d_k] = {1 - start!r} * {entry(width, f'c % ({width})')} / {norm}"
        "  # normalized, side by side",
    ]


def sparsely_mixed(config: Config, layer: int) -> list[str]:
    """Return the shares of two experts of PhiMoE, each of those that are not much worse.

    Liu et al., *GRIN* (2024).
    """
    most = 2 * config.number("router_jitter_noise")

    def share(best: str, among: str) -> str:
        of_each = f"abs(max(abs(E_logits[i,f]), {best}))"
        near = f"({best} - E_logits[i,f]) / {of_each} <= {most!r}"
        return f"1 / sum(exp(E_logits[i,f] - {best}) for f in columns(E_logits) if {near}{among})"

    other = "E_logits[i,f] < E_first[i]"
    return [
        "E_first[i] = max(E_logits[i,f] for f in columns(E_logits))  # best expert",
        f"E_second[i] = max(E_logits[i,f] for f in columns(E_logits) if {other})  # second expert",
        f"E_top[i,e] = {share('E_first[i]', '')} if E_logits[i,e] == E_first[i] else "
        f"({share('E_second[i]', f' and {other}')} if E_logits[i,e] == E_second[i] else 0)"
        "  # shares",
    ]


def by_xielu(config: Config, layer: int) -> list[str]:
    """Return the activation of Apertus, with learned curvature on both sides of 0.

    Huang and Schlag, *Deriving Activation Functions Using Integration* (2024).
    """
    x, beta = "F_1[i,u]", "xielu_beta"
    right, left = (f"log(1 + exp(xielu_alpha_{side}))" for side in "pn")
    below = f"(exp(min({x}, xielu_eps)) - 1 - {x}) * ({beta} + {left}) + {beta} * {x}"
    return [f"G[i,u] = {right} * {x} ** 2 + {beta} * {x} if {x} > 0 else {below}  # xIELU"]


def normed_within(config: Config, layer: int) -> list[str]:
    """Return what BitNet normalizes within its parts: heads side by side, and hidden features."""
    eps = config.number("rms_norm_eps")
    mean = "sum({0}[i,e] ** 2 for e in columns({0})) / columns({0})"
    one = f"gain_{{0}}[c] * {{0}}[i,c] / sqrt({mean} + {{1!r}})"
    return [
        f"C_norm[i,c] = {one.format('C', eps)}  # heads side by side, normalized",
        _projected("C_norm", config),
        f"G_norm[i,c] = {one.format('G', eps)}  # hidden features, normalized",
        "F_2[i,a] = sum(G_norm[i,c] * W_2[c,a] for c in columns(G_norm))",
    ]


def tuned_or_chunked(is_turned: Said) -> Said:
    """Return a reader of the scores of Llama 4: in chunks with rope, else larger for later queries.

    is_turned: reads whether a layer has rope.
    """

    def says(config: Config, layer: int) -> list[str] | None:
        if is_turned(config, layer):
            if (size := config.count_or_none("attention_chunk_size")) is None:
                return None
            one = f"S[h,i,j] / sqrt(d_k) if i // {size} == j // {size} else -inf"
            return [f"S_scaled[h,i,j] = {one}  # within a chunk"]
        if not config.is_so("attn_temperature_tuning", True):
            return None
        floor, scale = config.count("floor_scale", 8192), config.number("attn_scale", 0.1)
        return _tuned(f"(i + 1) // {floor}", scale)

    return says


def _tuned(far: str, scale: float) -> list[str]:
    tuned = f"log(1 + {far}) * {scale!r} + 1"
    return [f"S_scaled[h,i,j] = S[h,i,j] / sqrt(d_k) * ({tuned})  # tuned by position"]


def tuned_if_long(config: Config, layer: int) -> list[str] | None:
    """Return the scores of Ministral 3, larger for queries beyond the original length."""
    scale = config.number("rope_parameters.llama_4_scaling_beta", 0)
    if not scale:
        return None
    return _tuned(f"i // {config.count('rope_parameters.original_max_position_embeddings')}", scale)


class Distances(NamedTuple):
    """How DeBERTa scores distances.

    kinds: "K" if queries score keys of distances (c2p), "Q" if keys score their queries (p2c).
    span, most: half of the rows of the table of distances, and the largest distance.
    has_buckets, is_normed, is_shared: whether far distances share rows, by logarithms; whether the
        table is normalized; and whether its projections are those of tokens.
    is_first: whether it is the first version, whose keys of distances have no bias.
    """

    kinds: str
    span: int
    most: int
    has_buckets: bool
    is_normed: bool
    is_shared: bool
    is_first: bool


def distances(config: Config) -> Distances | None:
    """Return how a DeBERTa of any version scores distances; None if it does not."""
    kinds = config.get("pos_att_type", None) or []
    kinds = [each.strip() for each in kinds.lower().split("|")] if isinstance(kinds, str) else kinds
    is_relative = config.is_so("relative_attention", False)
    if not is_relative and not kinds:
        return None
    if not is_relative or sorted(kinds) not in (["c2p"], ["p2c"], ["c2p", "p2c"]):
        raise config.wrong("pos_att_type", kinds, "c2p, p2c or both, with relative_attention true,")
    most = config.get("max_relative_positions", -1)
    most = most if type(most) is int and most > 0 else config.count("max_position_embeddings")
    is_first = config.get("model_type") == "deberta"
    buckets = -1 if is_first else config.number("position_buckets", -1)
    return Distances(
        "".join(x for x, kind in (("K", "c2p"), ("Q", "p2c")) if kind in kinds),
        int(buckets) if buckets > 0 else most,
        most,
        buckets > 0,
        not is_first and "layer_norm" in str(config.get("norm_rel_ebd", "none")),
        not is_first and config.is_so("share_att_key", False),
        is_first,
    )


def disentangled(config: Config, layer: int) -> list[str] | None:
    """Return the scores of DeBERTa: of tokens, and of tokens with distances.

    He et al., *DeBERTa* (2021). Distances beyond half of the buckets are counted by logarithms.
    """
    if (found := distances(config)) is None:
        return None
    span, half = found.span, found.span // 2
    gap = "far[i,j]" if found.has_buckets else "abs(i - j)"
    slot = f"min(max(({gap} if i > j else -{gap}) + {span}, 0), {2 * span - 1})"
    log = f"log(abs(i - j) / {half}) / log({found.most - 1} / {half}) * {half - 1}"
    far = f"abs(i - j) if abs(i - j) <= {half} else {half} + sum(1 for k in {half} if k < {log})"
    made = _normed("E_rel", "p", "rel", float(config.number("layer_norm_eps")))
    tokens = {"K": "Q[h,i,c]", "Q": "K[h,j,c]"}
    products = [f"{tokens[x]} * {x}_rel[h,{slot},c]" for x in found.kinds]
    return [
        *((*made[:2], f"{made[2]}  # distances, normalized") if found.is_normed else ()),
        *([f"far[i in n,j in n] = {far}  # distances in buckets"] if found.has_buckets else ()),
        *map(_projected_distances(config, found), found.kinds),
        f"S_scaled[h,i,j] = (S[h,i,j] + sum({' + '.join(products)} for c in d_k)) "
        f"/ sqrt({1 + len(found.kinds)} * d_k)  # disentangled",
    ]


def _projected_distances(config: Config, found: Distances) -> Callable[[str], str]:
    """Return what makes the equation of the queries or the keys of distances."""
    heads = config.count("num_attention_heads")
    width = config.count("hidden_size") // heads
    table, place = "N_rel" if found.is_normed else "E_rel", f"h * {width} + c"

    def projected(x: str) -> str:
        if found.is_shared:
            return f"{x}_rel[h,p,c] = sum({table}[p,a] * W_{x}[h,a,c] for a in d) + b_{x}[h,0,c]"
        bias = "" if found.is_first and x == "K" else f" + b_pos{x}[{place}]"
        row = f"sum({table}[p,a] * W_pos{x}[{place},a] for a in d)"
        return f"{x}_rel[h in {heads},p,c in {width}] = {row}{bias}"

    return projected


_ACTIVATED = {
    "gelu": "gelu({0})",
    "gelu-tanh": "0.5 * {0} * (1 + tanh(sqrt(2 / pi) * ({0} + 0.044715 * {0} ** 3)))",
    "relu": "relu({0})",
    "silu": "silu({0})",
}
_POOLING = (
    "S_pool[h,z,i] = sum(Q_pool[h,z,c] * K_pool[h,i,c] for c in {width}) / sqrt({width})"
    "  # scaled scores of the pooling",
    "A_pool[h,z,i] = softmax(S_pool[h,z,j] for j in n)[i]  # weights of the pooling",
    "V_all[z in 1,c in d] = sum(A_pool[c // {width},z,i] * V_pool[c // {width},i,c % {width}] "
    "for i in n)  # outputs of its heads",
    "O_pool[z,c] = sum(V_all[z,a] * W_poolO[c,a] for a in d) + b_poolO[c]  # projected",
)
_AFTER_POOLING = (
    "F_pool[z,u] = sum(N_pool[z,a] * W_pool1[u,a] for a in d) + b_pool1[u]  # first projection",
    "G_pool[z,u] = {activated}",
    "F_pre[z,c] = O_pool[z,c] + sum(G_pool[z,u] * W_pool2[c,u] for u in columns(G_pool)) "
    "+ b_pool2[c]  # pooled output",
)


def attention_pooled(config: Config, layer: int) -> list[str]:
    """Return the pooling of SigLIP: a learned query attends to all outputs of the layers.

    Zhai et al., *Scaling Vision Transformers* (2022). One array holds Q, K and V.
    """
    d, heads = config.count("hidden_size"), config.count("num_attention_heads")
    width = d // heads
    activation = an_activation("hidden_act")(config, 0)
    if activation not in _ACTIVATED:
        raise config.wrong("hidden_act", config.get("hidden_act"), " or ".join(_ACTIVATED))
    query, token = ("z in 1", "W_probe[0,a]"), ("i", "Y[i,a]")
    parts = ("Q", *query, "learned query"), ("K", *token, "keys"), ("V", *token, "values")
    projected = []
    for number, (name, rows, read, title) in enumerate(parts):
        place = f"h * {width} + c" + f" + {number * d}" * (number > 0)
        right = f"sum({read} * W_pool[{place},a] for a in d) + b_pool[{place}]"
        left = f"{name}_pool[h in {heads},{rows},c in {width}]"
        projected.append(f"{left} = {right}  # {title} of the pooling")
    *moments, normed = _normed("O_pool", "z", "pool", float(config.number("layer_norm_eps")))
    lines = (*projected, *_POOLING, *moments, f"{normed}  # normalized", *_AFTER_POOLING)
    activated = _ACTIVATED[activation].format("F_pool[z,u]")
    return [each.format(width=width, activated=activated) for each in lines]
