// Gradients of what fewer problems ask: sinks, biases by distance, tables, patches, other kinds of scores.

import { fix, ratio, tanh, together } from "./numbers.js";
import { OPERATIONS, height, made as matrixOf, most, product, serving, stacked, sum } from "./operations.js";
import { ZERO, added, call, minus, negative, plus, power as raised, productOf, sumOf, whole } from "./expressions.js";
import { range } from "./operations.js";
import { bucketOf, distance, insideTanh, named, rowOfId, rowsOf, spread } from "./others.js";
import { gathered, meanOf, scaled, summed, times, totalOf, turned, valueAt } from "./gradients.js";

const headsIn = (shape) => (shape.length > 2 ? shape[0] : null);
const ONE = ratio(1n), NOTHING = ratio(0n);

// ---------------------------------------------------------------- of what stands as it is given, in either layout

const asGiven = ({ turns }, X) => (turns ? turned(X) : X);
const placeAsGiven = ({ turns }, i, j) => (turns ? [j, i] : [i, j]);

// ---------------------------------------------------------------- matrices

/** What each row of weights leaves of 1, times the mean of the gradient, for all rows. */
function sinkBack(_, [A, dA]) {
  const left = summed(A, "c"), means = summed(times(A, dA), "c");
  return scaled(summed(times(left.like(left.n.map((n) => left.d - n)), means), "r"), -1n, 1n);
}

const far = (step, i, j) => Math.abs(distance(step, i, j));
/** The sum of something of each score of a head. */
const ofAll = (X, h, entry) => range(X.r).reduce((total, i) =>
  range(X.c).reduce((row, j) => row + entry(X.at(h, i, j), i, j), total), 0n);

const bucketIn = ({ place, buckets: [buckets, longest, both_ways] }, i, j) =>
  bucketOf({ buckets, longest, both_ways }, distance({ place }, i, j));

/** The patch, and the number in it, that an entry of an image became. */
function ofPatch({ size: [p, q], to }, channel, row, column) {
  const [down, across] = [Math.floor(row / p), Math.floor(column / q)];
  return { down, across, at: [0, down * (to.at(-1) / q) + across, channel * p * q + (row % p) * q + (column % q)] };
}

/** Heads, rows and columns of the image; 0 heads for none. */
const imageOf = ({ to }) => [headsIn(to) ?? 0, ...to.slice(-2)];

/** The tokens whose id is that of a row of the table. */
const tokensOf = (step, ids, row) => range(ids.c).filter((i) => rowOfId(step, ids, { r: step.rows }, i) === row);

/** What a gradient of -‖q - k‖² / 2 is of, what that is scored with, and dS with its rows first. */
function distanceBack({ to, is_of_keys }, [Q, K, dS]) {
  const [own, other, slopes] = is_of_keys ? [K, Q, turned(dS)] : [Q, K, dS];
  const weighed = times(summed(slopes, "c"), spread(own, dS));
  return gathered(sum(product(slopes, other), scaled(weighed, -1n, 1n)), headsIn(to));
}

/** What a gradient of tanh scores reads, and to which of it it goes. */
export function partsOfTanh({ scores, to }, inputs) {
  const rest = [...inputs], names = scores.is_concat ? ["Q", "K", "W", "v", "b"] : ["Q", "K", "v", "b"];
  const [Q, K] = rest.splice(0, 2), W = scores.is_concat ? rest.shift() : null, dS = rest.pop();
  return { name: names[to], Q, K, W, v: rest[0], b: rest[1], dS };
}

/** Of each pair's share, for every hidden number: the sums over keys, over queries, or over both. */
const overPairs = {
  Q: (n, m, h, i, of) => range(m).map((j) => of(i, j)),
  K: (n, m, h, j, of) => range(n).map((i) => of(i, j)),
  both: (n, m, h, _, of) => range(n).flatMap((i) => range(m).map((j) => of(i, j))),
};

/** The same as a matrix: a row for each query, each key, or one. */
export function sharesOf(side, { r: n, c: m, h }, hidden, share, d) {
  return matrixOf(h, { Q: n, K: m }[side] ?? 1, hidden, (head, row, c) =>
    (overPairs[side] ?? overPairs.both)(n, m, head, row, (i, j) => share(head, i, j, c)).reduce((a, b) => a + b, 0n), d, false);
}

function tanhBack(step, inputs, w) {
  const { name, Q, K, W, v, b, dS } = partsOfTanh(step, inputs), keys = spread(K, dS);
  const wide = inputs.reduce((all, X) => all + height(X), w + 64), one = 1n << BigInt(wide);
  const [upper, lower] = W ? [rowsOf(W, 0, Q.c), rowsOf(W, Q.c, K.c)] : [];
  const left = W ? product(Q, upper) : Q, right = W ? product(keys, lower) : keys;
  const d = [left, right, ...(b ? [b] : [])].reduce((all, X) => together(all, X.d), 1n);
  const [l, r, shift] = [left, right, b].map((X) => X?.over(d));
  const share = (h, i, j, c) => {
    const t = tanh(fix(l.at(h, i, c) + r.at(h, j, c) + (shift ? shift.at(h, 0, c) : 0n), d, wide), wide);
    return dS.at(h, i, j) * (name === "v" ? t : v.at(h, 0, c) * (one - ((t * t) >> BigInt(wide))));
  };
  const sums = (side) => sharesOf(side, dS, l.c, share, dS.d * one * (name === "v" ? 1n : v.d));
  const led = {
    W: () => stacked(product(turned(Q), sums("Q")), product(turned(keys), sums("K"))),
    Q: () => (W ? product(sums("Q"), upper, true) : sums("Q")),
    K: () => (W ? product(sums("K"), lower, true) : sums("K")),
  };
  return asGiven(step, gathered((led[name] ?? (() => sums("both")))(), headsIn(step.shapes[step.to])));
}

Object.assign(OPERATIONS, {
  SinkBack: { apply: sinkBack, factors: ([own, slope]) => 2 * own + slope },
  SlopeBack: {
    apply: (step, [X]) => matrixOf(X.h, 1, 1, (h) => -ofAll(X, h, (n, i, j) => n * BigInt(far(step, i, j))), X.d, X.isExact),
    factors: most,
  },
  BucketBack: {
    apply: (step, [X]) => asGiven(step, matrixOf(0, step.buckets[0], X.h || 1, (_, bucket, h) =>
      ofAll(X, h, (n, i, j) => (bucketIn(step, i, j) === bucket ? n : 0n)), X.d, X.isExact)),
    factors: most,
  },
  GatherRows: {
    apply: (step, [ids, X]) => matrixOf(X.h, step.rows, X.c, (h, row, j) =>
      tokensOf(step, ids, row).reduce((total, i) => total + X.at(h, i, j), 0n), X.d, X.isExact),
    factors: ([, slope]) => slope,
  },
  PatchesBack: {
    apply: (step, [X]) =>
      asGiven(step, matrixOf(...imageOf(step), (...at) => X.at(...ofPatch(step, ...at).at), X.d, X.isExact)),
    factors: most,
  },
  DistanceBack: { apply: distanceBack, factors: ([q, k, slope]) => slope + Math.max(q, k) },
  TanhBack: { apply: tanhBack, factors: (factors) => factors.reduce((a, b) => a + b) + 2 },
});

// ---------------------------------------------------------------- how each entry comes about

/** The heads of scores that an entry of a matrix of this shape is read by. */
function sharing(shape, { h: count }, h) {
  const each = count / (headsIn(shape) ?? 1);
  return count ? range(each).map((k) => h * each + k) : [0];
}

const minusOne = (terms) => sumOf(whole(1), ...terms.map(negative));

function sinkEntry(step, [A, dA], w, h) {
  const found = range(A.matrix.r).map((i) => {
    const keys = range(A.matrix.c), weights = keys.map((k) => A.at(h, i, k)), left = minusOne(weights);
    const mean = added(...weights.map((each, k) => productOf([each, dA.at(h, i, k)])));
    const rest = plus(ONE, minus(totalOf(keys.map((k) => valueAt(A, h, i, k)))));
    return [[left, mean], [A.write(rest, left.exact), dA.write(meanOf(A, dA, h, i), mean.exact)]];
  });
  return made([0, 1].map((form) => added(...found.map((each) => negative(productOf(each[form]))))));
}

function tanhEntry(step, inputs, w, h, ...place) {
  const [row, column] = placeAsGiven(step, ...place);
  const { name, Q, K, W, v, b, dS } = partsOfTanh(step, inputs), width = Q.matrix.c, forms = [[], []];
  const leadsOn = W && "QK".includes(name);
  const rest = (head, i, j, c) => {
    if (name === "W") return [row < width ? Q.at(head, i, row) : K.at(serving(dS.matrix, K.matrix, head), j, row - width)];
    return leadsOn ? [W.at(head, column + (name === "K" ? width : 0), c)] : [];
  };
  const term = (t, ...at) => {
    const [head, i, j, c] = at, slope = dS.at(head, i, j);
    return productOf(name === "v" ? [slope, t]
      : [slope, v.at(head, 0, c), sumOf(whole(1), negative(raised(t, whole(2)))), ...rest(...at)]);
  };
  for (const head of sharing(step.shapes[step.to], dS.matrix, h))
    for (const i of name === "Q" ? [row] : range(dS.matrix.r))
      for (const j of name === "K" ? [row] : range(dS.matrix.c)) {
        const inside = insideTanh([Q, K, W, b], head, i, j);
        for (const c of leadsOn ? range(inside.length) : [column]) {
          const { terms, value } = inside[c], t = inBits(tanh(fix(value.n, value.d, w), w), w);
          forms[0].push(term(call("tanh", added(...terms)), head, i, j, c));
          forms[1].push(term(v.write(t, t.n ? null : NOTHING), head, i, j, c));
        }
      }
  return made(forms.map((terms) => added(...terms)));
}

