// The way back: gradients, what they start with, and a step against them; as operations/back_*.py.

import { Refusal, exp, fix, halfAway, ln, pi, ratio, readNumber, root, size, tanh, together } from "./numbers.js";
import {
  FUNCTIONS, Matrix, OPERATIONS, both, divisor, forbidding, height, made as matrixOf, most, namedMasks, ofEachRow, product,
  quotients, sum, wider,
} from "./operations.js";
import {
  E, ZERO, added, by, call, minus, negative, ordered, over, ownNumber, plus, power as raised, productOf, quotient, rootOf, sumOf, whole,
} from "./expressions.js";
import { range } from "./operations.js";

const NOTHING = ratio(0n), LEFT_OF_ZERO = "the slope of ReLU is 0 up to 0";

// ---------------------------------------------------------------- matrices

const exactly = (all) => all.every((X) => X.isExact);
/** A matrix of entries of others, of which those of one row, column or head serve all alike. */
const entrywise = (all, d, entry) => matrixOf(
  ...["h", "r", "c"].map((side) => Math.max(...all.map((X) => X[side]))),
  (...at) => entry(...all.map((X) => X.at(...at))), d, exactly(all));
export const times = (...all) => entrywise(all, all.reduce((d, X) => d * X.d, 1n), (...n) => n.reduce((a, b) => a * b));
export const scaled = (X, n, d) => X.like(X.n.map((each) => each * n), X.d * d);
export const turned = (X) => matrixOf(X.h, X.c, X.r, (h, i, j) => X.at(h, j, i), X.d, X.isExact);
const less = (X, Y) => (Y ? sum(X, scaled(Y, -1n, 1n)) : X);

/** Sums over a side that stays, of one then; over the heads with `isKept` false it goes. */
export function summed(X, side, isKept = true) {
  const sizes = { h: X.h, r: X.r, c: X.c, [side]: 1 };
  if (side === "h" && !isKept) sizes.h = 0;
  return matrixOf(sizes.h, sizes.r, sizes.c, (h, i, j) => {
    let total = 0n;
    for (let k = 0; k < X[side]; k += 1)
      total += X.at(...(side === "h" ? [k, i, j] : side === "r" ? [h, k, j] : [h, i, k]));
    return total;
  }, X.d, X.isExact);
}

/** The products of heads that share one of the result, added. */
export function gathered(X, heads) {
  if (!X.h || X.h === heads) return X;
  if (heads === null) return summed(X, "h", false);
  const share = X.h / heads;
  return matrixOf(heads, X.r, X.c, (h, i, j) =>
    range(share).reduce((total, k) => total + X.at(h * share + k, i, j), 0n), X.d, X.isExact);
}

export function sumTo({ to }, [X]) {
  const rows = to.at(-2) === 1 ? summed(X, "r") : X;
  return X.h && (to.length === 2 || to[0] === 1) ? summed(rows, "h", to.length === 3) : rows;
}

/** The gradient of the weights before it: of sums to 1, or of quotients by a sum. */
function backFromWeights(A, dA) {
  const products = times(A, dA);
  return sum(scaled(dA, A.d, A.d), scaled(summed(products, "c"), -1n, 1n));
}

function sumBack([S, A, dA]) {
  const top = backFromWeights(A, dA);
  const sums = S.rows.map((all) => {
    const allowed = all.filter((n) => n !== null);
    return allowed.length ? allowed.reduce((a, b) => a + b) : S.d;
  });
  return (w) => {
    const made = quotients(top, sums, S.d, w);
    return made.like(made.n.map((n, k) => (S.n[k] === null ? 0n : n)));
  };
}

/** What stands before the gradient in the inputs of a way back through a normalisation. */
function partsOf({ normalise }, inputs, withTokens, withGain = normalise.has_gain) {
  const rest = [...inputs];
  const X = withTokens ? rest.shift() : null, mean = withTokens && normalise.is_centred ? rest.shift() : null;
  return { X, mean, variance: rest.shift(), gain: withGain ? rest.shift() : null, gradient: rest.shift() };
}

/** Rows of a matrix over a fixed number of 2^-wide each. */
const overFixed = (X, belows, wide, w) => ofEachRow(X, X.c, 1n << BigInt(w), false, (all, i) =>
  all.map((n) => halfAway(n << BigInt(w + wide), X.d * belows[i % belows.length])));

const weighedOf = ({ gain, gradient }) => (gain ? times(gain, gradient) : gradient);

/** 2 (var + ε)^(3/2), or with ε beside the root 2 √var (√var + ε)², in 2^-wide. */
function cubed(normalise, variance, wide) {
  const W = BigInt(wide);
  return divisor(normalise, variance, wide).map((below, i) => {
    const own = normalise.is_inside ? below : root((variance.n[i] << (2n * W)) / variance.d);
    return (2n * own * below * below) >> (2n * W);
  });
}

function spreadBack(step, inputs, w) {
  const parts = partsOf(step, inputs, true), wide = 2 * w;
  const belows = cubed(step.normalise, parts.variance, wide), zero = belows.indexOf(0n);
  if (zero >= 0)
    throw new Refusal(`all features of row ${(zero % parts.variance.r) + 1} are alike: a root has no slope at 0 (give eps inside the root, above 0)`);
  return overFixed(scaled(summed(times(weighedOf(parts), less(parts.X, parts.mean)), "c"), -1n, 1n), belows, wide, w);
}

/** Slopes of activations at n / d, in 2^-w. */
const SLOPES = {
  gelu: (n, d, w) => {
    const W = BigInt(w), x = fix(n, d, w);
    const density = (exp(-(x * x) >> (W + 1n), w) << W) / root((2n * pi(w)) << W);
    return FUNCTIONS.gelu(n, d, w) + ((x * density) >> W);
  },
  "gelu-tanh": (n, d, w) => {
    const W = BigInt(w), x = fix(n, d, w), one = 1n << W;
    const t = FUNCTIONS["gelu-tanh"](n, d, w) - one;
    const constant = root((2n << (3n * W)) / pi(w));
    const inner = (constant * (one + (3n * 44715n * ((x * x) >> W)) / 1000000n)) >> W;
    return (one + t + ((((x * (one - ((t * t) >> W))) >> W) * inner) >> W)) >> 1n;
  },
  silu: (n, d, w) => {
    const W = BigInt(w), x = fix(n, d, w), one = 1n << W, small = exp(-size(x), w);
    const share = ((x < 0n ? small : one) << W) / (one + small);
    return share + ((((x * share) >> W) * (one - share)) >> W);
  },
  tanh: (n, d, w) => {
    const t = tanh(fix(n, d, w), w);
    return (1n << BigInt(w)) - ((t * t) >> BigInt(w));
  },
};

function slopes(kind, X, w) {
  if (kind === "relu") return X.like(X.n.map((n) => (n > 0n ? 1n : 0n)), 1n);
  return X.like(X.n.map((n) => SLOPES[kind](n, X.d, w)), 1n << BigInt(w), false);
}
const slopesFor = (kind, X, w, ...others) => slopes(kind, X, wider(X, w) + others.reduce((all, each) => all + height(each), 0));

const one = (X, n, d = X.d, isExact = X.isExact) => new Matrix(0, 1, 1, [n], d, isExact);
const all = (X) => X.n.reduce((a, b) => a + b, 0n);

function crossEntropy({ ids }, [prob], w) {
  const total = ids.reduce((sum_, id, i) => {
    const n = prob.at(0, i, id);
    if (!n)
      throw new Refusal(`L: the probability of target ${id} in row ${i + 1} is 0 (as it is carried), and 0 has no logarithm: give smaller weights, or more decimals`);
    return sum_ - ln(n, prob.d, w + 32);
  }, 0n);
  return one(prob, total, 1n << BigInt(w + 32), false);
}

const OF = (apply, factors = most) => ({ apply, factors });
const together_ = (factors) => factors.reduce((a, b) => a + b);
const last = (factors) => factors.at(-1);
const isCurved = ({ kind }) => (kind === "relu" ? 0 : 1);

Object.assign(OPERATIONS, {
  TransposedTimes: OF(({ heads, is_turned }, inputs) => {
    const [left, right] = is_turned ? [...inputs].reverse() : inputs;
    return gathered(product(turned(left), right), heads);
  }, together_),
  TimesTransposed: OF(({ heads }, [left, right]) => gathered(product(left, right, true), heads), together_),
  SumTo: OF(sumTo),
  SplitHeads: OF(({ heads }, [X]) => {
    const c = X.c / heads;
    return matrixOf(heads, X.r, c, (h, i, j) => X.at(0, i, h * c + j), X.d, X.isExact);
  }),
  ShareAmongHeads: OF(({ heads }, [X]) => matrixOf(heads, X.r, X.c, (_, i, j) => X.at(0, i, j), X.d * BigInt(heads), X.isExact)),
  TakeRows: OF(({ start, stop }, [X]) => matrixOf(X.h, stop - start, X.c, (h, i, j) =>
    X.n[((X.h > 1 ? h : 0) * X.r + i + start) * X.c + j], X.d, X.isExact)),
  PlaceRow: OF(({ which, rows }, [X]) => matrixOf(X.h, rows, X.c, (h, i, j) =>
    (i === (which === "first" ? 0 : rows - 1) ? X.at(h, 0, j) : 0n), X.d, X.isExact)),
  ShareAmongRows: OF(({ rows }, [X]) => matrixOf(X.h, rows, X.c, (h, _, j) => X.at(h, 0, j), X.d * BigInt(rows), X.isExact)),
  SoftmaxBack: OF((_, [A, dA]) => times(A, backFromWeights(A, dA)), ([own, slope]) => 2 * own + slope),
  DivideBySumBack: OF((_, inputs, w) => sumBack(inputs)(w), ([, own, slope]) => own + slope),
  SoftCapBack: OF(({ cap }, [S, gradient]) => {
    const { n, d } = readNumber(cap), unit = S.d * n;
    return entrywise([S, gradient], gradient.d * unit * unit, (s, g) => g * (unit * unit - (s * d) ** 2n));
  }, ([own, slope]) => 2 * own + slope + 2),
  MaskBack: OF(({ mask }, [X, ...given_]) => {
    const masks = namedMasks(mask, given_);
    return matrixOf(X.h, X.r, X.c, (...at) => (forbidding(mask, X, masks, ...at) ? 0n : X.at(...at)), X.d, X.isExact);
  }),
  MeanBack: OF(({ features }, [X]) => matrixOf(X.h, X.r, features, (h, i) => X.at(h, i, 0), X.d * BigInt(features), X.isExact)),
  VarianceBack: OF(({ ddof }, [X, mean, gradient]) => scaled(times(gradient, less(X, mean)), 2n, BigInt(X.c - ddof)),
    ([x, mean, slope]) => Math.max(x, mean) + slope),
  SquaresBack: OF((_, [X, gradient]) => scaled(times(gradient, X), 2n, BigInt(X.c)), together_),
  QuotientBack: OF((step, inputs, w) => {
    const parts = partsOf(step, inputs, false);
    return overFixed(weighedOf(parts), divisor(step.normalise, parts.variance, 2 * w), 2 * w, w);
  }, (factors, { normalise }) => last(factors) + 1 + normalise.has_gain),
  CentreBack: OF((step, inputs, w) => {
    const parts = partsOf(step, inputs, false);
    return overFixed(scaled(summed(weighedOf(parts), "c"), -1n, 1n), divisor(step.normalise, parts.variance, 2 * w), 2 * w, w);
  }, (factors, { normalise }) => last(factors) + 1 + normalise.has_gain),
  SpreadBack: OF(spreadBack, (factors, { normalise }) => last(factors) + 1 + normalise.has_gain),
  GainBack: OF((step, inputs, w) => {
    const { X, mean, variance, gradient } = partsOf(step, inputs, true, false);
    const normal = overFixed(less(X, mean), divisor(step.normalise, variance, 2 * w), 2 * w, w + 32 + height(gradient));
    return sumTo(step.to, [times(gradient, normal)]);
  }, (factors) => last(factors) + 1),
  ActivateBack: OF(({ kind }, [X, gradient], w) => times(gradient, slopesFor(kind, X, w, gradient)),
    ([, slope], step) => slope + isCurved(step)),
  GatedBack: OF(({ kind }, [X, gate, gradient], w) => times(gradient, gate, slopesFor(kind, X, w, gate, gradient)),
    ([, gate, slope], step) => gate + slope + isCurved(step)),
  Total: OF((_, [X]) => one(X, all(X))),
  TotalProduct: OF((_, [X, dO]) => {
    const products = times(X, dO);
    return one(products, all(products));
  }, together_),
  HalfSquares: OF((_, [X, T]) => {
    const missed = less(X, T);
    return one(missed, missed.n.reduce((total, n) => total + n * n, 0n), 2n * missed.d ** 2n);
  }, (factors) => 2 * most(factors) + 1),
  CrossEntropy: OF(crossEntropy, () => 1),
  Ones: OF((_, [X]) => X.like(X.n.map(() => 1n), 1n, true), () => 1),
  Difference: OF((_, [X, T]) => less(X, T)),
  LessOneHot: OF(({ ids }, [X]) => matrixOf(X.h, X.r, X.c, (h, i, j) => X.at(h, i, j) - (ids[i] === j ? X.d : 0n), X.d, X.isExact)),
  Descend: OF(({ rate, is_turned, of_heads }, [W, dW]) => {
    const { n, d } = readNumber(rate);
    const own = of_heads ? matrixOf(0, W.h || 1, W.c, (_, h, j) => W.at(h, 0, j), W.d, W.isExact) : W;
    return sum(is_turned ? turned(own) : own, scaled(dW, -n, d));
  }, ([own, slope]) => Math.max(own, slope + 1)),
});

// ---------------------------------------------------------------- how each entry comes about

export const valueAt = (X, ...at) => ratio(X.matrix.at(...at), X.matrix.d);
const named = (X, ...at) => made([X.entry(...at)], "", X.at(...at).exact);
export const totalOf = (values) => values.reduce(plus, NOTHING);
const isWithHeads = (...operands) => Math.max(...operands.map(({ matrix }) => matrix.h));

/** Products of a column or a row with another, for each head that shares the entry. */
function productOfHeads(step, operands, h, of) {
  const count = isWithHeads(...operands);
  const share = count ? count / (step.heads || 1) : 1, first = count ? h * share : 0;
  return made([added(...range(share).flatMap((k) => of(first + k)))]);
}

/** Every entry of a matrix, in its order. */
const places = ({ matrix: X }) =>
  range(X.h || 1).flatMap((h) => range(X.r).flatMap((i) => range(X.c).map((j) => [h, i, j])));
const square = (it) => raised(it, whole(2));
const lessMean = (entry, mean) => (mean ? sumOf(entry, negative(mean)) : entry);

export const meanOf = (A, dA, h, i) => totalOf(range(A.matrix.c).map((k) => by(valueAt(A, h, i, k), valueAt(dA, h, i, k))));

function softmaxBack(step, [A, dA], w, h, i, j) {
  const weights = row(A, h, i), gradient = range(A.matrix.c).map((k) => dA.at(h, i, k));
  const own = productOf([weights[j], sumOf(whole(1), negative(weights[j])), gradient[j]]);
  const others = range(weights.length).filter((k) => k !== j).map((k) => negative(productOf([weights[j], weights[k], gradient[k]])));
  const mean = added(...weights.map((each, k) => productOf([each, gradient[k]])));
  const short = productOf([weights[j], sumOf(gradient[j], negative(writeSum(dA, meanOf(A, dA, h, i), mean.exact)))]);
  const [a, g, m] = [weights[j].exact, gradient[j].exact, mean.exact];
  const exact = a && !a.n ? NOTHING : a && g && m ? by(a, plus(g, minus(m))) : null;
  return made([added(own, ...others), short], "", exact);
}

function sumBackEntry(step, [S, A, dA], w, h, i, j) {
  const allowed = range(S.matrix.c).filter((k) => S.matrix.at(h, i, k) !== null);
  if (!allowed.includes(j)) return made([ZERO], "a forbidden score counts as 0");
  const top = sumOf(dA.at(h, i, j), ...allowed.map((k) => negative(productOf([A.at(h, i, k), dA.at(h, i, k)]))));
  const bottom = added(...allowed.map((k) => S.at(h, i, k)));
  const above = plus(valueAt(dA, h, i, j), minus(meanOf(A, dA, h, i)));
  return made([quotient(top, bottom),
    quotient(writeSum(dA, above, top.exact), writeSum(S, totalOf(allowed.map((k) => valueAt(S, h, i, k))), bottom.exact))]);
}

/** What a way back through a normalisation reads of an entry. */
function normalised(step, inputs, w, withTokens, withGain) {
  const { normalise } = step, parts = partsOf(step, inputs, withTokens, withGain);
  const { X, mean, variance, gain, gradient } = parts;
  const alone = (...at) => new Matrix(0, 1, 1, [variance.matrix.at(...at)], variance.matrix.d);
  return {
    ...parts,
    factors: (...at) => [...(gain ? [gain.at(...at)] : []), gradient.at(...at)],
    weighed: (...at) => (gain ? by(valueAt(gain, ...at), valueAt(gradient, ...at)) : valueAt(gradient, ...at)),
    entry: (...at) => lessMean(X.at(...at), mean?.at(...at)),
    value: (...at) => (mean ? plus(valueAt(X, ...at), minus(valueAt(mean, ...at))) : valueAt(X, ...at)),
    below: (...at) => belowIn(normalise, variance.at(...at)),
    divisor: (...at) => inBits(divisor(normalise, alone(...at), 2 * w)[0], 2 * w),
    cubed: (...at) => inBits(cubed(normalise, alone(...at), 2 * w)[0], 2 * w),
    quotient: (above, value, below, under) => made([quotient(above, below),
      quotient(writeSum(gradient, value, above.exact), writeSum(gradient, under, below.exact))]),
  };
}

const multiplied = (factors) => (factors.length === 1 ? factors[0] : productOf(factors));

const SLOPE = {
  gelu: (X, w, ...at) => sumOf(call("Φ", X.at(...at)), productOf([X.at(...at), call("φ", X.at(...at))])),
  "gelu-tanh": (X, w, ...at) => call("GELU'", X.at(...at)),
  silu: (X, w, ...at) => {
    const entry = X.at(...at), x = valueAt(X, ...at), far = powerOf(minus(x), w);
    const share = !far.exponent ? over(ratio(1n), plus(ratio(1n), far))
      : far.n ? { n: 0n, d: 1n, exponent: x, below: ratio(1n) } : ratio(1n);
    const below = quotient(whole(1), sumOf(whole(1), raised(E, negative(entry))));
    return productOf([below, sumOf(whole(1), productOf([entry, sumOf(whole(1), negative(writeSum(X, share, null)))]))]);
  },
  tanh: (X, w, ...at) => sumOf(whole(1), negative(square(call("tanh", X.at(...at))))),
};

function slopeEntry({ kind }, [X, ...others], w, ...at) {
  const factors = [...others].reverse().map((each) => each.at(...at)), n = X.matrix.at(...at);
  if (kind === "relu") return made([productOf([...factors, n > 0n ? whole(1) : ZERO])], n > 0n ? "" : LEFT_OF_ZERO);
  const wide = digitsOf(X, w, ...at), value = cut(SLOPES[kind](n, X.matrix.d, wide), wide, w);
  return made([productOf([...factors, SLOPE[kind](X, w, ...at)]), productOf([...factors, writeSum(X, value, null)])]);
}

/** One number less another. */

