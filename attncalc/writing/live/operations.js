// What a step does to matrices: the mirror of operations/, once.
//
// A matrix is whole numbers n over one denominator d: exact where all is rational, and in 2^-bits
// from the first root or power of e on. Tokens are rows; `h` counts the heads, 0 where there are none.

import {
  NEGATIVE_INFINITY, Refusal, bits, common, cosine, erf, exp, fix, greatest, halfAway, ln, once, pi,
  power, ratio, readNumber, root, sine, size, tanh, together,
} from "./numbers.js";

export class Matrix {
  constructor(h, r, c, n, d = 1n, isExact = true) {
    Object.assign(this, { h, r, c, n, d, isExact });
  }
  /** Where an entry stands; a matrix without heads, or of a single row, serves all alike. */
  index(h, i, j) {
    return ((this.h > 1 ? h : 0) * this.r + (this.r > 1 ? i : 0)) * this.c + (this.c > 1 ? j : 0);
  }
  at(h, i, j) {
    return this.n[this.index(h, i, j)];
  }
  like(n, d = this.d, isExact = this.isExact) {
    return new Matrix(this.h, this.r, this.c, n, d, isExact);
  }
  /** The same numbers over another denominator, a multiple of this one. */
  over(d) {
    const by = d / this.d;
    return by === 1n ? this : this.like(this.n.map((n) => (n === null ? n : n * by)), d);
  }
  get rows() {
    return Array.from({ length: (this.h || 1) * this.r }, (_, i) => this.n.slice(i * this.c, (i + 1) * this.c));
  }
}

/** Make a matrix of heads, rows and columns, entry by entry. */
export function made(h, r, c, entry, d, isExact) {
  const n = new Array((h || 1) * r * c);
  let k = 0;
  for (let head = 0; head < (h || 1); head += 1)
    for (let i = 0; i < r; i += 1) for (let j = 0; j < c; j += 1) n[k++] = entry(head, i, j);
  return new Matrix(h, r, c, n, d, isExact);
}

export const ofEachRow = (X, c, d, isExact, row) =>
  new Matrix(X.h, X.r, c, X.rows.flatMap(row), d, isExact);

const inBits = (X, w, value) => X.like(X.n.map(value), 1n << BigInt(w), false);

/** The entries of a matrix in 2^-w. */
const fixed = (X, w) => inBits(X, w, (n) => (n === null ? n : fix(n, X.d, w)));

export const both = (X, Y) => X.isExact && Y.isExact;

/** Denominators stay as short as the digits that are asked for need them. */
export function settled(X, w) {
  const one = 1n << BigInt(w);
  if (X.isExact ? bits(X.d) <= 4 * w : X.d === one) return X;
  return fixed(X, w);
}

/** Binary digits before the point of the largest entry. */
export const height = (X) => Math.max(0, bits(greatest(X.n)) - bits(X.d) + 1);

// ---------------------------------------------------------------- products

/** Which head of fewer heads serves a head of more. */
export const serving = (asking, answering, head) =>
  answering.h > 1 && asking.h > answering.h ? Math.floor(head / (asking.h / answering.h)) : head;

export function product(X, Y, transposed) {
  const h = X.h || Y.h;
  const width = transposed ? Y.r : Y.c;
  const inner = X.c;
  // a column of the second is read for each row of the first: it is laid out once
  const columns = Array.from({ length: Y.h || 1 }, (_, head) =>
    Array.from({ length: width }, (_, j) =>
      Array.from({ length: inner }, (_, k) => (transposed ? Y.at(head, j, k) : Y.at(head, k, j)))));
  const rows = X.rows;
  return made(h, X.r, width, (head, i, j) => {
    const row = rows[(X.h > 1 ? head : 0) * X.r + i];
    const column = columns[Y.h > 1 ? serving({ h }, Y, head) : 0][j];
    let total = 0n;
    for (let k = 0; k < inner; k += 1) if (row[k] && column[k]) total += row[k] * column[k];
    return total;
  }, X.d * Y.d, both(X, Y));
}

export function sum(X, Y) {
  const d = together(X.d, Y.d);
  const [x, y] = [X.over(d), Y.over(d)];
  return made(X.h || Y.h, Math.max(X.r, Y.r), Math.max(X.c, Y.c), (h, i, j) => {
    const [a, b] = [x.at(h, i, j), y.at(h, i, j)];
    return a === null || b === null ? null : a + b;
  }, d, both(X, Y));
}

function times(X, Y) {
  return made(X.h || Y.h, X.r, Math.max(X.c, Y.c), (h, i, j) => X.at(h, i, j) * Y.at(h, i, j),
    X.d * Y.d, both(X, Y));
}

const less = (X, Y) => sum(X, Y.like(Y.n.map((n) => -n)));
const timesNumber = (X, { n, d }) => X.like(X.n.map((x) => (x === null ? x : x * n)), X.d * d);
const dividedBy = (X, n) => X.like(X.n, X.d * n);

// ---------------------------------------------------------------- weights

const largest = (row) => row.reduce((most, n) => (n !== null && (most === null || n > most) ? n : most), null);

const known = new Map();

/** A power of e that may have been asked for before: an edit changes few of many scores. */
function powerOnce(x, w) {
  if (known.w !== w || known.size > 20000) {
    known.clear();
    known.w = w;
  }
  let found = known.get(x);
  if (found === undefined) known.set(x, (found = exp(x, w)));
  return found;
}

/** Powers of e of the scores of a row, less the largest, in 2^-w. */
const powersOf = (row, d, w) => {
  const most = largest(row);
  return row.map((n) => (n === null ? 0n : powerOnce(fix(n - most, d, w), w)));
};

/** Weights of the first columns; what stands behind them is summed with them, as sinks are. */
export function softmax(X, w, c = X.c) {
  const wide = w + 32;
  return ofEachRow(X, c, 1n << BigInt(w), false, (row) => {
    const powers = powersOf(row, X.d, wide);
    const total = powers.reduce((a, b) => a + b, 0n);
    const share = total && (1n << BigInt(w + wide)) / total;
    return powers.slice(0, c).map((each) => (each * share) >> BigInt(wide));
  });
}

const TOLERANCE = 10n ** 30n, LAST_BITS = 2n ** 100n;

/** Which scores share the first place in their row. */
export function winners(row, isExact) {
  const most = largest(row);
  return row.map((n) => n !== null && ((most - n) * TOLERANCE <= size(most) || (!isExact && most - n <= LAST_BITS)));
}

function hardmax(X) {
  const shares = X.rows.map((row) => winners(row, X.isExact));
  const counts = shares.map((row) => row.filter(Boolean).length);
  const d = counts.reduce((all, count) => (count ? together(all, BigInt(count)) : all), 1n);
  return X.like(shares.flatMap((row, i) => row.map((won) => (won ? d / BigInt(counts[i]) : 0n))), d, true);
}

function shareOfSum(X, w) {
  const totals = X.rows.map((row, i) => {
    const total = row.reduce((all, n) => all + (n ?? 0n), 0n);
    const sizes = row.reduce((all, n) => all + size(n ?? 0n), 0n);
    const isEmpty = row.every((n) => n === null);
    if (!isEmpty && size(total) * TOLERANCE <= sizes)
      throw new Refusal(`the scores of row ${(i % X.r) + 1} sum to 0: the normalizer sum cannot divide by that`);
    return isEmpty ? 1n : total;
  });
  return quotients(X.like(X.n.map((n) => n ?? 0n)), totals, X.d, w);
}

/** Each row over a number of its own, n / d: exact where denominators stay short. */
export function quotients(X, numbers, d, w) {
  let below = 1n;
  for (const n of numbers) if (bits((below = together(below, size(n)))) > 4 * w) break;
  if (!X.isExact || bits(below) > 4 * w)
    return ofEachRow(X, X.c, 1n << BigInt(w), false, (row, i) =>
      row.map((n) => halfAway((n * d << BigInt(w)) * (numbers[i] < 0n ? -1n : 1n), X.d * size(numbers[i]))));
  return X.like(X.rows.flatMap((row, i) => row.map((n) => n * d * (below / numbers[i]))), below * X.d);
}

// ---------------------------------------------------------------- masks

export function forbidding(step, X, masks, h, i, j) {
  const { causal_from: from, window } = step;
  if (from !== null && j >= i + from) return step.is_causal ? "causal" : "window";
  if (from !== null && window !== null && j < i + from - window) return "window";
  if (masks.keep && !masks.keep.at(h, i, j)) return "keep";
  if (masks.ignore && masks.ignore.at(h, i, j)) return "ignore";
  if (masks.bias && masks.bias.at(h, i, j) === null) return "bias";
  return "";
}

export const namedMasks = (step, given) => Object.fromEntries(step.masks.map((name, k) => [name, given[k]]));

function mask(step, X, given) {
  const masks = namedMasks(step, given);
  const d = masks.bias ? together(X.d, masks.bias.d) : X.d;
  const x = X.over(d), bias = masks.bias && masks.bias.over(d);
  const heads = [X, ...given].reduce((most, each) => Math.max(most, each.h), 0);
  return made(heads, X.r, X.c, (h, i, j) => {
    if (forbidding(step, X, masks, h, i, j)) return NEGATIVE_INFINITY;
    return x.at(h, i, j) + (bias ? bias.at(h, i, j) : 0n);
  }, d, X.isExact && (!bias || bias.isExact));
}

// ---------------------------------------------------------------- of tokens

const featureMean = (X) =>
  ofEachRow(X, 1, X.d * BigInt(X.c), X.isExact, (row) => [row.reduce((a, b) => a + b, 0n)]);

const meanSquare = (X, count) =>
  ofEachRow(X, 1, X.d * X.d * BigInt(count), X.isExact, (row) => [row.reduce((a, b) => a + b * b, 0n)]);

/** √(variance + eps), or √variance + eps, in 2^-w. */
export function divisor(step, variance, w) {
  const eps = readNumber(step.eps);
  const W = BigInt(w);
  return variance.n.map((n) => {
    const d = together(variance.d, eps.d);
    const above = n * (d / variance.d), added = eps.n * (d / eps.d);
    if (step.is_inside) return root(((above + added) << (2n * W)) / d);
    return root((above << (2n * W)) / d) + fix(eps.n, eps.d, w);
  });
}

export function parted(step, inputs) {
  const rest = [...inputs];
  return [true, step.is_centred, true, step.has_gain, step.has_bias].map((has) => (has ? rest.shift() : null));
}

function normalise(step, inputs, w) {
  const [X, mean, variance, gain, bias] = parted(step, inputs);
  let above = mean ? less(X, mean) : X;
  if (gain) above = times(above, gain);
  const wide = 2 * w;
  const below = divisor(step, variance, wide);
  const zero = below.indexOf(0n);
  if (zero >= 0)
    throw new Refusal(`all features of row ${(zero % X.r) + 1} are alike: there is nothing to divide by (give an eps above 0)`);
  const one = BigInt(w + wide);
  const normal = ofEachRow(above, above.c, 1n << BigInt(w), false, (row, i) =>
    row.map((n) => halfAway(n << one, above.d * below[i])));
  return bias ? sum(normal, bias) : normal;
}

/** What an activation multiplies by, Φ(x) and 1 + tanh(…), or it itself; of x = n / d, in 2^-w. */
export const FUNCTIONS = {
  gelu: (n, d, w) => {
    const W = BigInt(w);
    return ((1n << W) + erf((fix(n, d, w) << W) / root(2n << (2n * W)), w)) >> 1n;
  },
  "gelu-tanh": (n, d, w) => {
    const W = BigInt(w);
    const x = fix(n, d, w);
    const inner = x + (44715n * ((((x * x) >> W) * x) >> W)) / 1000000n;
    const constant = root((2n << (3n * W)) / pi(w));
    return (1n << W) + tanh((constant * inner) >> W, w);
  },
  silu: (n, d, w) => {
    const x = fix(n, d, w);
    const W = BigInt(w);
    if (x >= 0n) return (x << W) / ((1n << W) + exp(-x, w));
    const small = exp(x, w); // x e^x / (1 + e^x), so that nothing grows
    return (x * small) / ((1n << W) + small);
  },
};

const ACTIVATIONS = {
  gelu: (n, d, w) => (fix(n, d, w) * FUNCTIONS.gelu(n, d, w)) >> BigInt(w),
  "gelu-tanh": (n, d, w) => (fix(n, d, w) * FUNCTIONS["gelu-tanh"](n, d, w)) >> BigInt(w + 1),
  silu: FUNCTIONS.silu,
  tanh: (n, d, w) => tanh(fix(n, d, w), w),
};

/** More binary digits for what is large, for its functions multiply by it. */
export const wider = (X, w) => w + 64 + 4 * height(X);

export function activated(kind, X, w) {
  if (kind === "relu") return X.like(X.n.map((n) => (n < 0n ? 0n : n)));
  const wide = wider(X, w);
  return inBits(X, wide, (n) => ACTIVATIONS[kind](n, X.d, wide));
}

// ---------------------------------------------------------------- positions

/** 1 / base^(2 pair / d), in 2^-w. */
export function frequencyOf(base, pair, d, w) {
  return once(`frequency ${base.n}/${base.d} ${pair} ${d} ${w}`, () =>
    exp((-ln(base.n, base.d, w + 32) * BigInt(2 * pair)) / BigInt(d), w + 32) >> 32n);
}

/** Cosine and sine of t times a frequency, which is 1 where there is none, in 2^-w. */
export function turn(t, frequency, w, key) {
  return once(`turn ${t.n}/${t.d} ${w} ${key}`, () => {
    const wide = w + 64 + Math.max(0, bits(t.n) - bits(t.d));
    let angle = fix(t.n, t.d, wide);
    if (frequency) angle = (angle * frequency(wide)) >> BigInt(wide);
    const less = BigInt(wide - w);
    return [cosine(angle, wide) >> less, sine(angle, wide) >> less];
  });
}

/** The same of t / base^(2 pair / d). */
export const turnBy = (t, base, pair, d, w) =>
  turn(t, pair && ((wide) => frequencyOf(base, pair, d, wide)), w, `${base.n}/${base.d} ${pair} ${d}`);

const moved = (offset, t) => ratio(offset.n + BigInt(t) * offset.d, offset.d);
export const SINUSOIDS_BASE = { n: 10000n, d: 1n };

function sinusoids(step, X, w) {
  const offset = readNumber(String(step.offset));
  return made(X.h, X.r, X.c, (_, t, j) => turnBy(moved(offset, t), SINUSOIDS_BASE, j >> 1, X.c, w)[j % 2 ? 0 : 1],
    1n << BigInt(w), false);
}

/** Which column a column is paired with, whether it is the second, and which pair they are. */
export function paired(pairing, column, d) {
  if (pairing === "halves") {
    const isSecond = column >= d / 2;
    return { isSecond, pair: isSecond ? column - d / 2 : column, other: isSecond ? column - d / 2 : column + d / 2 };
  }
  return { isSecond: column % 2 === 1, pair: column >> 1, other: column % 2 ? column - 1 : column + 1 };
}

export const placeOf = (step, t) => moved(readNumber(step.offset), t);

/** Each pair of the first columns turned, by what says the cosine and the sine of one. */
export function rotated(step, X, w, cosAndSin, d = X.c, isBack = false) {
  const wide = w + 32 + height(X), W = BigInt(wide);
  return made(X.h, X.r, X.c, (h, t, j) => {
    const own = X.at(h, t, j);
    if (j >= d) return own << W;
    const { isSecond, pair, other } = paired(step.pairing, j, d);
    const [cos, sin] = cosAndSin(placeOf(step, t), pair, d, wide);
    const beside = X.at(h, t, other) * sin;
    return isSecond === isBack ? own * cos - beside : own * cos + beside;
  }, X.d << W, false);
}

// ---------------------------------------------------------------- all of them

function dividedBySqrt(X, d_k, w) {
  const exact = root(BigInt(d_k));
  if (exact * exact === BigInt(d_k)) return dividedBy(X, exact);
  const wide = w + 64 + height(X);
  const W = BigInt(wide);
  const inverse = once(`1/root ${d_k} ${wide}`, () => (1n << (3n * W)) / root(BigInt(d_k) << (4n * W)));
  return X.like(X.n.map((n) => n * inverse), X.d << W, false);
}

function capped(X, cap, w) {
  const wide = wider(X, w) + bits(cap.n);
  return inBits(X, wide, (n) => (tanh(fix(n * cap.d, X.d * cap.n, wide), wide) * cap.n) / cap.d);
}

function joined(H) {
  return made(0, H.r, H.c * (H.h || 1), (_, i, j) => H.at(Math.floor(j / H.c), i, j % H.c), H.d, H.isExact);
}

function meanOfHeads(H) {
  return made(0, H.r, H.c, (_, i, j) => {
    let total = 0n;
    for (let h = 0; h < H.h; h += 1) total += H.at(h, i, j);
    return total;
  }, H.d * BigInt(H.h), H.isExact);
}

export function stacked(X, Y) {
  const d = together(X.d, Y.d);
  const [x, y] = [X.over(d), Y.over(d)];
  return made(Math.max(X.h, Y.h), X.r + Y.r, X.c, (h, i, j) => (i < X.r ? x.n[(((x.h > 1 ? h : 0) * x.r) + i) * x.c + j]
    : y.n[(((y.h > 1 ? h : 0) * y.r) + i - X.r) * y.c + j]), d, both(X, Y));
}

const rowOf = (X, row) => made(X.h, 1, X.c, (h, _, j) => X.at(h, row, j), X.d, X.isExact);

function tokenMean(X) {
  return made(X.h, 1, X.c, (h, _, j) => {
    let total = 0n;
    for (let i = 0; i < X.r; i += 1) total += X.at(h, i, j);
    return total;
  }, X.d * BigInt(X.r), X.isExact);
}

export const most = (factors) => Math.max(...factors);
export const alone = () => 1;
const ofBoth = (factors) => factors[0] + factors[1];

/** What each operation does, and how many numbers are multiplied into one entry of it. */
export const OPERATIONS = {
  Project: { apply: (_, [X, W, b]) => (b ? sum(product(X, W), b) : product(X, W)), factors: ofBoth },
  Scores: { apply: (_, [Q, K]) => product(Q, K, true), factors: ofBoth },
  Weigh: { apply: (_, [A, V]) => product(A, V), factors: ofBoth },
  DivideBySqrt: { apply: (step, [S], w) => dividedBySqrt(S, step.d_k, w), factors: most },
  Multiply: { apply: (step, [S]) => timesNumber(S, readNumber(step.factor)), factors: ([own]) => own + 1 },
  SoftCap: { apply: (step, [S], w) => capped(S, readNumber(step.cap), w), factors: most },
  Mask: { apply: (step, [S, ...masks]) => mask(step, S, masks), factors: most },
  Softmax: { apply: (_, [S], w) => softmax(S, w), factors: alone },
  HardMax: { apply: (_, [S]) => hardmax(S), factors: alone },
  DivideBySum: { apply: (_, [S], w) => shareOfSum(S, w), factors: alone },
  Add: { apply: (_, all) => all.reduce(sum), factors: most },
  Concat: { apply: (_, [H]) => joined(H), factors: most },
  Mean: { apply: (_, [H]) => meanOfHeads(H), factors: most },
  Stack: { apply: (_, [X, Y]) => stacked(X, Y), factors: most },
  Same: { apply: (_, [X]) => X, factors: most },
  Given: { apply: (_, [X]) => X, factors: most },
  TakeRow: { apply: (step, [X]) => rowOf(X, step.which === "first" ? 0 : X.r - 1), factors: most },
  TokenMean: { apply: (_, [X]) => tokenMean(X), factors: most },
  FeatureMean: { apply: (_, [X]) => featureMean(X), factors: most },
  FeatureVariance: {
    apply: (step, [X, mean]) => meanSquare(less(X, mean), X.c - step.ddof),
    factors: (factors) => 2 * most(factors),
  },
  FeatureSquares: { apply: (_, [X]) => meanSquare(X, X.c), factors: ([own]) => 2 * own },
  Normalise: { apply: normalise, factors: (_, step) => (step.has_gain ? 2 : 1) },
  Activate: {
    apply: (step, [X], w) => activated(step.kind, X, w),
    factors: ([own], step) => (step.kind === "relu" ? own : 1),
  },
  Gate: {
    apply: (step, [X, gate], w) => times(activated(step.kind, X, w + height(gate)), gate),
    factors: ([own, gate], step) => (step.kind === "relu" ? own : 1) + gate,
  },
  Sinusoids: { apply: (step, [X], w) => sinusoids(step, X, w), factors: most },
  Rotate: {
    apply: (step, [X], w) => rotated(step, X, w, (place, pair, d, wide) => turnBy(place, readNumber(step.base), pair, d, wide)),
    factors: most,
  },
};

export const range = (count) => Array.from({ length: count }, (_, k) => k);
