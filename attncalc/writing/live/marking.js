// How an answer is marked: the mirror of grading/walk, known, slack, accepted and recipes/roundings.
//
// Values lie between two ends, whole numbers of 2^-200 each: beside a last place nothing is lost.
// What went wrong is not looked for: attncalc check says that.

import { Refusal, bits, exp, fix, greatest, halfAway, halfEven, ln, pointed, ratio, readNumber, root, size, tanh, tenTo } from "./numbers.js";
import { partsOfTanh, sharesOf } from "./backs.js";
import { gathered, sumTo, turned } from "./gradients.js";
import {
  Matrix, OPERATIONS, divisor, made as matrixOf, paired, parted, placeOf, serving, stacked, turnBy,
} from "./operations.js";
import { besideSink, turnOf } from "./others.js";
import { run } from "./plan.js";

const BITS = 200, W = 200n, UNIT = 1n << W, HUGE = UNIT << 1400n;
const decimal = (text) => {
  const { n, d } = readNumber(text);
  return fix(n, d, BITS);
};
const DUST = decimal("1e-6"), RELATIVE_DUST = decimal("1e-13"), POCKET = decimal("5e-11"), RELATIVE_TIE = decimal("1e-12");
const LARGEST_TIE = decimal("1e-4"), CALCULATOR = decimal("5e-4"), FAR = decimal("0.025");
const CUT_AT_MOST = UNIT - decimal("1e-9"), MOST_CUT = 50, MOST_COMPARED = 9, SMALLEST_CUT_SHORT = 10n;
const PAIRED = 6, MANY = 5, FINEST = 4, SURE = 3, PLAINEST = 2;
const E_WRITTEN = ["2.72", "2.718", "2.71", "2.7183"];

/** How a number may be cut to its decimals by somebody who makes no mistake. */
export const CUTS = { "half-away": halfAway, "half-even": halfEven, truncate };

/** What is left of n / d where digits are cut off; next to another digit a pocket calculator shows that. */
function truncate(n, d) {
  const near = least((5n * size(n)) / 10n ** 11n, d / 10000n), whole = (size(n) + near) / d;
  return n < 0n ? -whole : whole;
}
const RULES = Object.keys(CUTS);

// ---------------------------------------------------------------- matrices and ranges

const by = (a, b) => (a * b) >> W;
const over = (a, b) => (b < 0n ? halfAway(-a << W, -b) : halfAway(a << W, b));
const least = (...all) => all.reduce((a, b) => (b < a ? b : a));
const largest = (...all) => all.reduce((a, b) => (b > a ? b : a));
const unitOf = (decimals) => (decimals > MOST_CUT ? 0n : fix(1n, tenTo(decimals), BITS));
const range = (count) => Array.from({ length: count }, (_, k) => k);

const fixed = (X) => new Matrix(X.h, X.r, X.c, X.n.map((n) => (n === null ? n : fix(n, X.d, BITS))), UNIT, false);
/** A matrix of entries of others; -∞ where one of them is. */
const zip = (entry, ...all) => matrixOf(
  ...["h", "r", "c"].map((side) => Math.max(...all.map((X) => X[side]))), (...at) => {
    const n = all.map((X) => X.at(...at));
    return n.includes(null) ? null : entry(...n);
  }, UNIT, false);
const each = (X, entry) => X.like(X.n.map(entry), UNIT, false);
const both = (low, high) => ({ low, high });
const at = (X) => both(X, X);
const isPoint = ({ low, high }) => low === high;
const ends = ({ low, high }) => [low, high];
const mapped = (values, act) => (isPoint(values) ? at(act(values.low)) : both(act(values.low), act(values.high)));
const hull = (all) => both(zip(least, ...all), zip(largest, ...all));
const times = (a, b) => hull(ends(a).flatMap((one) => ends(b).map((other) => zip(by, one, other))));
const less = (a, b) => both(zip((x, y) => x - y, a.low, b.high), zip((x, y) => x - y, a.high, b.low));
const negated = ({ low, high }) => both(each(high, (n) => -n), each(low, (n) => -n));
const middle = ({ low, high }) => zip((a, b) => (a + b) >> 1n, low, high);
const spread = ({ low, high }) => matrixOf(low.h, low.r, low.c, (...place) => {
  const [a, b] = [low.at(...place), high.at(...place)];
  return a === null || b === null ? 0n : (b - a) >> 1n;
}, UNIT, false);
const replaced = (values, where, other) => {
  const put = (X, Y) => X.like(X.n.map((n, k) => (where[k] ? Y.n[k] : n)));
  const low = put(values.low, other.low);
  return both(low, isPoint(values) && isPoint(other) ? low : put(values.high, other.high));
};
function quotients(top, bottom) {
  const crosses = zip((l, h) => (l <= 0n && h >= 0n ? 1n : 0n), bottom.low, bottom.high);
  const divided = (x, y, c, none) => (c || !y ? none : over(x, y));
  const all = (none) => ends(top).flatMap((x) => ends(bottom).map((y) => zip((a, b, c) => divided(a, b, c, none), x, y, crosses)));
  return both(zip(least, ...all(-HUGE)), zip(largest, ...all(HUGE)));
}
const summed = (X, side) => matrixOf(X.h, side === "r" ? 1 : X.r, side === "c" ? 1 : X.c, (h, i, j) => {
  let total = 0n;
  for (let k = 0; k < X[side]; k += 1) total += (side === "r" ? X.at(h, k, j) : X.at(h, i, k)) ?? 0n;
  return total;
}, UNIT, false);
const total = (values, side) => mapped(values, (end) => summed(end, side));
const apply = (step, all) => fixed(OPERATIONS[step.op].apply(step, all, BITS));
/** Rows, each made into another one: with the entries that may be forbidden. */
const rowsOf = (X, act) => new Matrix(X.h, X.r, X.c, X.rows.flatMap(act), UNIT, false);

// ---------------------------------------------------------------- between which values results lie

/** Sums of products reach furthest where all terms have one sign; `taken` is the number of what is taken off. */
function ofSums(step, ranges, taken = null) {
  const adding = (all) => apply(step, all.map((X, k) => (k === taken ? each(X, (n) => -n) : X)));
  const sizes = ranges.map((values) => each(middle(values), (n) => n && size(n)));
  const grown = sizes.map((X, k) => zip((a, b) => a + b, X, spread(ranges[k])));
  const off = zip((a, b) => size(a - b), adding(grown), adding(sizes));
  const made = apply(step, ranges.map(middle));
  return both(zip((a, b) => a - b, made, off), zip((a, b) => a + b, made, off));
}
/** The ends, where a larger number gives a larger one; the other matrices are as they are given. */
const ofEnds = (step, [values, ...others]) =>
  both(...ends(values).map((end) => apply(step, [end, ...others.map(({ low }) => low)])));

const power = (x, most) => (x === null ? 0n : exp(x - most, BITS));
const others = (row) => {
  const all = row.reduce((a, b) => a + b, 0n);
  return row.map((n) => all - n);
};

function ofSoftmax(step, [scores, sink]) {
  const longer = ends(scores).map((end, k) => (sink ? besideSink(end, ends(sink)[k]) : end));
  const [low, high] = longer.map((X) => X.rows);
  const made = low.map((_, i) => {
    const most = high[i].reduce((a, n) => (n !== null && (a === null || n > a) ? n : a), null) ?? 0n;
    const [a, b] = [low[i], high[i]].map((row) => row.map((n) => power(n, most)));
    const [restLow, restHigh] = [others(a), others(b)];
    const share = (x, rest) => (x + rest ? over(x, x + rest) : 0n);
    return [a.map((x, k) => share(x, restHigh[k])), b.map((x, k) => share(x, restLow[k]))].map((row) => row.slice(0, scores.low.c));
  });
  return both(...[0, 1].map((end) => scores.low.like(made.flatMap((row) => row[end]), UNIT, false)));
}

function ofHardmax(step, [{ low, high }]) {
  const rows = low.rows.map((row, i) => {
    const best = row.reduce((a, n) => (n !== null && (a === null || n > a) ? n : a), null);
    const may = high.rows[i].map((n) => n !== null && best !== null && n >= best);
    return { may, row: row.map((n, k) => (may[k] ? (n + high.rows[i][k]) >> 1n : null)) };
  });
  const weights = apply(step, [low.like(rows.flatMap(({ row }) => row))]).rows;
  const of = (entry) => low.like(rows.flatMap(({ may }, i) => {
    const isAlone = may.filter(Boolean).length <= 1;
    return may.map((wins, k) => (isAlone ? weights[i][k] : entry(wins)));
  }), UNIT, false);
  return both(of(() => 0n), of((wins) => (wins ? UNIT : 0n)));
}

function ofShares(step, [scores]) {
  const rows = scores.low.rows.map((low_, i) => {
    const high_ = scores.high.rows[i], allowed = low_.map((n) => n !== null);
    const [low, high] = [low_, high_].map((row) => row.map((n) => n ?? 0n));
    const rest = [others(low), others(high)], isOpen = low.some((n, k) => n !== high[k]);
    return low.map((_, k) => {
      const sums = [low[k], high[k]].map((own) => rest.map((row) => own + row[k]));
      if (least(...sums[0]) <= 0n && largest(...sums[1]) >= 0n && isOpen && allowed[k]) return [-HUGE, HUGE];
      const shares = [low[k], high[k]].flatMap((own, e) => sums[e].map((sum) => (sum ? over(own, sum) : own)));
      return [least(...shares), largest(...shares)];
    });
  });
  return both(...[0, 1].map((end) => scores.low.like(rows.flatMap((row) => row.map((pair) => pair[end])), UNIT, false)));
}

/** The largest Σ a v of weights a between their ends that sum to 1: what is left of 1 goes to the best first. */
function largestMean(low, high, values) {
  let left = UNIT - low.reduce((a, b) => a + b, 0n);
  const order = range(values.length).sort((a, b) => (values[a] > values[b] ? -1 : values[a] < values[b] ? 1 : 0));
  let mean = 0n;
  for (const k of order) {
    const more = largest(0n, least(left, high[k] - low[k]));
    mean += by(low[k] + more, values[k]);
    left -= high[k] - low[k];
  }
  return mean;
}

function ofMeans(step, [weights, values]) {
  const widest = ofSums(step, [weights, values]);
  if (!step.of_shares) return widest;
  const clipped = ends(weights).map((end) => each(end, (n) => largest(0n, least(UNIT, n))).rows);
  const { c: m } = weights.low, V = values.low;
  const made = (end) => matrixOf(widest.low.h, widest.low.r, widest.low.c, (h, i, j) => {
    const row = (weights.low.h > 1 ? h : 0) * weights.low.r + i, [low, high] = clipped.map((rows) => rows[row]);
    const sum = (all) => all.reduce((a, b) => a + b, 0n);
    if (sum(low) > UNIT || sum(high) < UNIT) return widest[end].at(h, i, j);
    const head = serving(weights.low, V, h), sign = end === "high" ? 1n : -1n;
    return sign * largestMean(low, high, range(m).map((k) => sign * values[end].at(head, k, j)));
  }, UNIT, false);
  return both(made("low"), made("high"));
}

const LOWEST = { gelu: "-0.7517915243", "gelu-tanh": "-0.7524614221", silu: "-1.2784645428" };
function ofActivation(step, [x]) {
  const { low, high } = hull(ends(x).map((end) => apply({ ...step, op: "Activate" }, [end])));
  const lowest = LOWEST[step.kind] && decimal(LOWEST[step.kind]);
  if (lowest === undefined) return both(low, high);
  const [deepest] = apply({ ...step, op: "Activate" }, [new Matrix(0, 1, 1, [lowest], UNIT, false)]).n;
  return both(zip((n, a, b) => (a < lowest && b > lowest ? deepest : n), low, x.low, x.high), high);
}

function squares(values) {
  const [a, b] = ends(values).map((end) => each(end, (n) => by(n, n)));
  return both(zip((x, y, l, h) => (l <= 0n && h >= 0n ? 0n : least(x, y)), a, b, values.low, values.high), zip(largest, a, b));
}
const averaged = (X, count) => each(summed(X, "c"), (n) => n / BigInt(count));
const positive = (end) => each(end, (n) => largest(0n, n));
const divisors = (normalise, variance) =>
  mapped(variance, (end) => end.like(divisor(normalise, positive(end), BITS), UNIT, false));

function ofNormalised(step, ranges) {
  const [X, mean, variance, gain, bias] = parted(step, ranges);
  let made = quotients(mean ? less(X, mean) : X, divisors(step, variance));
  if (gain) made = times(made, gain);
  return bias ? both(zip((a, b) => a + b, made.low, bias.low), zip((a, b) => a + b, made.high, bias.high)) : made;
}

function ofTurn(step, [X, frequencies], cosAndSin) {
  const point = apply(step, [middle(X), ...(frequencies ? [frequencies.low] : [])]), before = spread(X), d = step.dims ?? before.c;
  const off = matrixOf(before.h, before.r, before.c, (h, t, j) => {
    if (j >= d) return before.at(h, t, j);
    const { pair, other } = paired(step.pairing, j, d);
    const [cos, sin] = cosAndSin(placeOf(step, t), pair, d, BITS).map(size);
    return by(before.at(h, t, j), cos) + by(before.at(h, t, other), sin);
  }, UNIT, false);
  return both(zip((a, b) => a - b, point, off), zip((a, b) => a + b, point, off));
}

/** Σ v tanh(left + right + b) at the ends. */
function ofTanh(left, right, v, b) {
  const h = Math.max(...[left, right, v, ...(b ? [b] : [])].map(({ low }) => low.h));
  const made = (end, pick) => matrixOf(h, left.low.r, right.low.r, (head, i, j) => {
    const key = serving({ h }, right.low, head);
    return range(left.low.c).reduce((sum, c) => {
      const tangents = ["low", "high"].map((side) => tanh(left[side].at(head, i, c) + right[side].at(key, j, c)
        + (b ? b[side].at(head, 0, c) : 0n), BITS));
      return sum + pick(...tangents.flatMap((t) => ends(v).map((each_) => by(t, each_.at(head, 0, c)))));
    }, 0n);
  }, UNIT, false);
  return both(made("low", least), made("high", largest));
}

const PRODUCT = { op: "Project", is_turned: false };
const someRows = (X, from, count) =>
  mapped(X, (end) => matrixOf(end.h, count, end.c, (h, i, j) => end.at(h, from + i, j), UNIT, false));
/** Keys of as many heads as others, which have more. */
const forHeadsOf = (others_, X) => (others_.low.h > X.low.h && X.low.h
  ? mapped(X, (end) => matrixOf(others_.low.h, end.r, end.c, (h, i, j) => end.at(serving(others_.low, end, h), i, j), UNIT, false)) : X);

function ofConcatenated(step, [Q, K, weights, v, b]) {
  const d = Q.low.c;
  return ofTanh(ofSums(PRODUCT, [Q, someRows(weights, 0, d)]),
    ofSums(PRODUCT, [forHeadsOf(weights, K), someRows(weights, d, K.low.c)]), v, b);
}

function ofDistances(step, [Q, K]) {
  const h = Math.max(Q.low.h, K.low.h);
  const made = (pick) => matrixOf(h, Q.low.r, K.low.r, (head, i, j) => {
    const key = serving({ h }, K.low, head);
    return range(Q.low.c).reduce((sum, c) => {
      const low = Q.low.at(head, i, c) - K.high.at(key, j, c), high = Q.high.at(head, i, c) - K.low.at(key, j, c);
      return sum - pick(low, high) / 2n;
    }, 0n);
  }, UNIT, false);
  const [most, few] = [(a, b) => largest(by(a, a), by(b, b)), (a, b) => (a <= 0n && b >= 0n ? 0n : least(by(a, a), by(b, b)))];
  return both(made(most), made(few));
}

// of the way back

const backFrom = (A, dA) => less(dA, total(times(A, dA), "c"));
const clip = (values, low, high) => mapped(values, (end) => each(end, (n) => largest(low, least(high, n))));
const SLOPE_BOUNDS = { gelu: ["-0.13", "1.13"], "gelu-tanh": ["-0.13", "1.13"], silu: ["-0.1", "1.1"], tanh: ["0", "1"] };
function slopes(step, x) {
  const one = new Matrix(0, 1, 1, [UNIT], UNIT, false);
  const [low, high] = ends(x).map((end) => apply({ op: "ActivateBack", kind: step.kind }, [end, one]));
  if (step.kind === "relu") return both(low, high);
  const bounds = SLOPE_BOUNDS[step.kind].map(decimal);
  const open = (bound) => (n, a, b) => (a === b ? n : bound);
  return both(zip(open(bounds[0]), low, x.low, x.high), zip(open(bounds[1]), high, x.low, x.high));
}
/** What a way back through a normalisation reads. */
function back(step, ranges, withTokens, withGain = step.normalise.has_gain) {
  const rest = [...ranges], X = withTokens ? rest.shift() : null;
  const mean = withTokens && step.normalise.is_centred ? rest.shift() : null, variance = rest.shift();
  const gain = withGain ? rest.shift() : null, gradient = rest.shift();
  return { above: X && (mean ? less(X, mean) : X), variance, weighed: gain ? times(gain, gradient) : gradient, gradient };
}
/** What reaches v tanh(…), or what that is of: 1 - t² lies between its ends, or ends at 1 where t may be 0. */
function ofTanhBack(step, ranges) {
  const { name, Q, K, W, v, b, dS } = partsOfTanh(step, ranges), keys = forHeadsOf(dS, K), d = Q.low.c;
  const [upper, lower] = W ? [someRows(W, 0, d), someRows(W, d, K.low.c)] : [];
  const left = W ? ofSums(PRODUCT, [Q, upper]) : Q, right = W ? ofSums(PRODUCT, [keys, lower]) : keys;
  const products = (one, other) => one.flatMap((x) => other.map((y) => by(x, y)));
  const share = (pick) => (h, i, j, c) => {
    const t = ["low", "high"].map((end) =>
      tanh(left[end].at(h, i, c) + right[end].at(h, j, c) + (b ? b[end].at(h, 0, c) : 0n), BITS));
    const slope = ends(dS).map((end) => end.at(h, i, j));
    if (name === "v") return pick(...products(slope, t));
    const [near, wide] = [least, largest].map((of) => of(...t.map((n) => by(n, n))));
    const rest = [UNIT - wide, UNIT - (t[0] <= 0n && t[1] >= 0n ? 0n : near)];
    return pick(...products(products(slope, ends(v).map((end) => end.at(h, 0, c))), rest));
  };
  const sums = (side) => both(...[least, largest].map((pick) => sharesOf(side, dS.low, left.low.c, share(pick), UNIT)));
  const flat = (X) => mapped(X, turned);
  const stack = (X, Y) => both(...["low", "high"].map((end) => stacked(X[end], Y[end])));
  const led = {
    W: () => stack(ofSums(PRODUCT, [flat(Q), sums("Q")]), ofSums(PRODUCT, [flat(keys), sums("K")])),
    Q: () => (W ? ofSums(PRODUCT, [sums("Q"), flat(upper)]) : sums("Q")),
    K: () => (W ? ofSums(PRODUCT, [sums("K"), flat(lower)]) : sums("K")),
  };
  const shape = step.shapes[step.to], heads = shape.length > 2 ? shape[0] : null;
  return mapped((led[name] ?? (() => sums("both")))(), (end) =>
    (step.turns ? turned(gathered(end, heads)) : gathered(end, heads)));
}

const cubed = ({ normalise }, variance) => mapped(variance, (end) => {
  const clean = positive(end), below = divisor(normalise, clean, BITS);
  return end.like(below.map((n, k) => by(by(2n * n, n), normalise.is_inside ? n : root(clean.n[k] << W))), UNIT, false);
});

const REACH = {
  SoftCap: ofEnds, Mask: ofEnds, MaskBack: ofEnds, FeatureMean: ofEnds,
  Softmax: ofSoftmax, HardMax: ofHardmax, DivideBySum: ofShares, Weigh: ofMeans, Normalise: ofNormalised,
  Activate: ofActivation, ConcatScores: ofConcatenated, DistanceScores: ofDistances,
  AdditiveScores: (step, [Q, K, v, b]) => ofTanh(Q, K, v, b),
  SoftmaxBesideSink: ofSoftmax,
  Alibi: (step, [S, ...own]) =>
    both(apply(step, [S.low, ...own.map(({ high }) => high)]), apply(step, [S.high, ...own.map(({ low }) => low)])),
  RelativeBias: (step, all) => both(...["low", "high"].map((end) => apply(step, all.map((each) => each[end])))),
  Rotate: (step, ranges) => ofTurn(step, ranges, (place, pair, d, w) => turnBy(place, readNumber(step.base), pair, d, w)),
  RotateOtherwise: (step, ranges) => ofTurn(step, ranges, turnOf(step, ranges[1]?.low)),
  Gate: (step, [x, gate]) => times(ofActivation(step, [x]), gate),
  Sinusoids: (step, [X]) => both(apply(step, [X.low]), apply(step, [X.low])),
  FeatureVariance: (step, [X, mean]) => mapped(squares(less(X, mean)), (end) => averaged(end, end.c - step.ddof)),
  FeatureSquares: (step, [X]) => mapped(squares(X), (end) => averaged(end, end.c)),
  SoftmaxBack: (step, [A, dA]) => {
    const weights = clip(A, 0n, UNIT);
    return times(weights, backFrom(weights, dA));
  },
  DivideBySumBack: (step, [S, A, dA]) => {
    const made = quotients(backFrom(A, dA), total(S, "c"));
    return mapped(made, (end) => end.like(end.n.map((n, k) => (S.low.n[k] === null ? 0n : n))));
  },
  SoftCapBack: (step, [S, gradient]) => {
    const cap = decimal(step.cap), shares = clip(mapped(S, (end) => each(end, (n) => over(n, cap))), -UNIT, UNIT);
    return times(mapped(squares(shares), (end) => each(end, (n) => UNIT - n)), gradient);
  },
  VarianceBack: (step, [X, mean, gradient]) => mapped(times(gradient, less(X, mean)), (end) =>
    each(end, (n) => (2n * n) / BigInt(end.c - step.ddof))),
  QuotientBack: (step, ranges) => {
    const { weighed, variance } = back(step, ranges, false);
    return quotients(weighed, divisors(step.normalise, variance));
  },
  CentreBack: (step, ranges) => {
    const { weighed, variance } = back(step, ranges, false);
    return negated(quotients(total(weighed, "c"), divisors(step.normalise, variance)));
  },
  SpreadBack: (step, ranges) => {
    const { weighed, variance, above } = back(step, ranges, true);
    return negated(quotients(total(times(weighed, above), "c"), cubed(step, variance)));
  },
  GainBack: (step, ranges) => {
    const { gradient, variance, above } = back(step, ranges, true, false);
    return mapped(times(gradient, quotients(above, divisors(step.normalise, variance))), (end) => sumTo(step.to, [end]));
  },
  ActivateBack: (step, [x, gradient]) => times(slopes(step, x), gradient),
  GatedBack: (step, [x, gate, gradient]) => times(slopes(step, x), times(gate, gradient)),
  SinkBack: (step, [A, dA]) => {
    const weights = clip(A, 0n, UNIT), left = clip(less(at(new Matrix(0, 1, 1, [UNIT], UNIT, false)), total(weights, "c")), 0n, UNIT);
    return negated(total(times(left, total(times(weights, dA), "c")), "r"));
  },
  DistanceBack: (step, ranges) => ofSums(step, ranges, step.is_of_keys ? 1 : 0),
  GatherRows: (step, [ids, X]) => mapped(X, (end) => apply(step, [ids.low, end])),
  TanhBack: ofTanhBack,
  HalfSquares: (step, [X, T]) => mapped(squares(less(X, T)), (end) =>
    new Matrix(0, 1, 1, [end.n.reduce((a, b) => a + b, 0n) / 2n], UNIT, false)),
  CrossEntropy: (step, [prob]) => {
    const [low, high] = ends(clip(prob, 1n << 20n, UNIT << 20n)).map((end) => apply(step, [end]));
    return both(high, low);
  },
  Difference: (step, [X, T]) => less(X, T),
  Descend: (step, [own, dW]) => both(apply(step, [own.low, dW.high]), apply(step, [own.high, dW.low])),
};

/** What a step comes to on ranges: one value each, where all that it reads is known; null where nothing follows. */
function overRanges(step, ranges) {
  if (ranges.includes(null)) return null;
  try {
    if (ranges.every(isPoint)) return at(apply(step, ranges.map(({ low }) => low)));
    return (REACH[step.op] ?? ofSums)(step, ranges);
  } catch (error) {
    if (error instanceof Refusal || error.name === "RangeError") return null; // own scores that sum to 0, say
    if (ranges.some(({ low }) => low.n.includes(null))) return null; // -∞ where a number is needed
    throw error;
  }
}

// ---------------------------------------------------------------- numbers as people cut them

/** Cut to a last place: what is this near to a tie is one. */
function cutTo(X, decimals, rule) {
  const unit = tenTo(decimals);
  return each(X, (n) => {
    if (n === null) return n;
    const scaled = size(n) * unit, whole = scaled >> W, rest = scaled - (whole << W);
    const tie = least(by(rule === "truncate" ? POCKET : RELATIVE_TIE, scaled), LARGEST_TIE), half = UNIT >> 1n;
    const isUp = rule === "truncate" ? rest >= UNIT - tie
      : rule === "half-even" ? rest > half + tie || (rest >= half - tie && whole % 2n === 1n) : rest >= half - tie;
    const made = fix(whole + (isUp ? 1n : 0n), unit, BITS);
    return n < 0n ? -made : made;
  });
}

const standsForInfinity = (n, right, all) => right === null && n !== null
  && n <= least(-10000n * UNIT, -10n * greatest(all));

/** How near is near enough, where digits are rounded, or cut off. */
function slackOf(asked, cuts) {
  return {
    cuts,
    asWritten: () => slackOf(MOST_COMPARED, cuts),
    near(written, decimals, right) {
      if (!right) return written.map(() => false);
      return written.map((answer, k) => {
        const [low, high] = [right.low.n[k], right.high.n[k]];
        if (answer.kind === "-inf") return low === null && high === null;
        if (answer.kind !== "number") return false;
        if (low === null || high === null) return high === null && standsForInfinity(answer.n, null, right.high.n);
        const unit = unitOf(Math.min(decimals[k], asked));
        const half = unit / 2n + by(DUST, unit) + by(RELATIVE_DUST, size(answer.n));
        const inwards = cuts ? by(unit, CUT_AT_MOST) + (size(answer.n) >> 51n) : half; // as near as floats tell
        return answer.n >= low - (low > 0n ? inwards : half) && answer.n <= high + (high < 0n ? inwards : half);
      });
    },
    behind(X, decimals) {
      const ended = (isHigh) => X.like(X.n.map((n, k) => {
        if (n === null) return n;
        const unit = unitOf(decimals[k]), step = cuts ? unit : unit / 2n;
        if (isHigh) return !cuts || n >= 0n ? n + step : n;
        return !cuts || n <= 0n ? n - step : n;
      }), UNIT, false);
      return both(ended(false), ended(true));
    },
  };
}

// ---------------------------------------------------------------- the key

function keyOf(data) {
  const { decimals, rounding } = data.settings;
  const solution = run(data, data.steps), other = rounding === "display" ? "each-step" : "display";
  const scripts = [];
  for (const style of [rounding, other])
    for (const rule of RULES) {
      try {
        scripts.push({ rule, results: run({ ...data, settings: { ...data.settings, rounding: style } }, data.steps, CUTS[rule]).results });
      } catch (error) {
        if (!(error instanceof Refusal) || !scripts.length) throw error;
      }
    }
  const carried = rounding === "display" ? solution.results : scripts.find((each_, k) => k >= RULES.length)?.results ?? solution.results;
  const key = { steps: {}, given: {}, shown: {}, exact: {}, isExact: {}, ranges: {}, scripts, decimals, order: [] };
  const rounds = slackOf(decimals, false);
  for (const name of Object.keys(data.given)) key.given[name] = at(fixed(solution.known[name]));
  for (const step of data.steps) {
    const { name } = step;
    if (Object.hasOwn(data.given, name)) continue;
    key.order.push(step);
    key.steps[name] = step;
    const shown = (key.shown[name] = fixed(solution.results[name].digits));
    key.exact[name] = fixed(solution.results[name].made);
    const full = fixed(carried[name].made);
    key.isExact[name] = shown.n.map((n, k) => n === null || size(n - full.n[k]) <= by(RELATIVE_DUST, size(n)));
    key.ranges[name] = replaced(rounds.behind(shown, shown.n.map(() => decimals)), key.isExact[name], at(shown));
  }
  return key;
}

const rangeOf = (key, name) => key.ranges[name] ?? key.given[name];

// ---------------------------------------------------------------- what a person had to go on

class Known {
  constructor(key, slack, parts = {}) {
    Object.assign(this, { key, slack, points: {}, behind: {}, doubtful: new Set(), ...parts, kept: new Map(), leftOut: new Map() });
  }
  keep(name, points, behind) {
    [this.points[name], this.behind[name]] = [points, behind];
    this.kept.clear();
  }
  /** The steps before this one that are left out, back to what is written. */
  missing(step, seen = new Set()) {
    return step.inputs.flatMap((name) => {
      if (seen.has(name) || !Object.hasOwn(this.key.steps, name) || Object.hasOwn(this.points, name)) return [];
      seen.add(name);
      return [...this.missing(this.key.steps[name], seen), this.key.steps[name]];
    });
  }
  rules(step) {
    return this.missing(step).length ? [null, ...RULES] : [null, RULES[0]];
  }
  result(step, rule, instead = []) {
    const place = `${step.name} ${rule}`;
    if (instead.length) return this.made(step, rule, instead);
    if (!this.kept.has(place)) this.kept.set(place, this.made(step, rule, []));
    return this.kept.get(place);
  }
  made(step, rule, instead) {
    const own = instead.find((each_) => each_.step === step.name);
    const rest = instead.filter((each_) => each_ !== own);
    if (own) return own.make((name) => this.read(name, rule, rest));
    const isOpen = step.op === "Weigh" && (instead.length || this.doubtful.has(step.inputs[0]));
    return overRanges(isOpen ? { ...step, of_shares: false } : step, step.inputs.map((name) => this.read(name, rule, instead)));
  }
  read(name, rule, instead = []) {
    if (Object.hasOwn(this.points, name)) return rule === null ? this.behind[name] : at(this.points[name]);
    if (!Object.hasOwn(this.key.steps, name)) return rangeOf(this.key, name);
    const own = instead.filter((each_) => this.goesBack(name, each_.step)), place = `${name} ${rule}`;
    if (!own.length && this.leftOut.has(place)) return this.leftOut.get(place);
    let made = this.result(this.key.steps[name], rule, own);
    if (rule !== null && made) made = mapped(made, (end) => cutTo(end, this.key.decimals, rule));
    if (!own.length) this.leftOut.set(place, made);
    return made;
  }
  goesBack(name, step) {
    return name === step || (this.key.steps[name]?.inputs ?? []).some((each_) => this.goesBack(each_, step));
  }
  /** The same script with the key's values where its own are wrong. */
  mended(wrong) {
    const points = { ...this.points }, behind = { ...this.behind };
    for (const [name, where] of Object.entries(wrong)) {
      if (!where.some(Boolean)) continue;
      points[name] = replaced(at(points[name]), where, at(this.key.shown[name])).low;
      behind[name] = replaced(behind[name], where, this.key.ranges[name]);
    }
    return new Known(this.key, this.slack, { points, behind, doubtful: this.doubtful });
  }
}

// ---------------------------------------------------------------- ways to round on the way that teachers accept

const scaledBy = (values, factor) => (factor >= 0n
  ? mapped(values, (end) => each(end, (n) => n && by(n, factor))) : scaledBy(both(values.high, values.low), -factor * -1n));

function* shortOf(number) {
  const seen = new Set();
  for (let decimals = 2; decimals <= FINEST; decimals += 1)
    for (const rule of ["half-away", "truncate"]) {
      const [value] = cutTo(new Matrix(0, 1, 1, [number], UNIT, false), decimals, rule).n;
      if (value && size(value - number) > decimal("1e-12") && !seen.has(value)) {
        seen.add(value);
        yield value;
      }
    }
}

const places = (decimals) => [...new Set([decimals, 2, 3, 4])];
const rounding = (digits, rule = "half-away") => (X) => cutTo(X, digits, rule);

function significant(digits) {
  return (X) => each(X, (n) => {
    if (!n) return n;
    const place = pointed(size(n), 0).length - pointed(UNIT, 0).length; // near the power of ten of the first digit
    let at_ = place;
    while (fix(10n ** BigInt(Math.max(0, at_ + 1)), tenTo(Math.max(0, -at_ - 1)), BITS) <= size(n)) at_ += 1;
    while (fix(10n ** BigInt(Math.max(0, at_)), tenTo(Math.max(0, -at_)), BITS) > size(n)) at_ -= 1;
    const shift = digits - 1 - at_, scale = tenTo(Math.abs(shift));
    const whole = shift >= 0 ? (size(n) * scale + (UNIT >> 1n)) >> W : halfAway(size(n), scale << W);
    const made = shift >= 0 ? fix(whole, scale, BITS) : fix(whole * scale, 1n, BITS);
    return n < 0n ? -made : made;
  });
}

/** Scores less the largest of their row, which itself is 0. */
function lessLargest(scores) {
  const most = mapped(scores, (end) => new Matrix(end.h, end.r, 1, end.rows.map((row) =>
    row.reduce((a, n) => (n !== null && (a === null || n > a) ? n : a), null) ?? 0n), UNIT, false));
  if (isPoint(scores)) return at(zip((a, b) => a - b, scores.low, most.low));
  const high = zip((a, b) => least(0n, a - b), scores.high, most.low);
  const low = zip(least, zip((a, b) => a - b, scores.low, most.high), high);
  const alone = scores.high.rows.flatMap((row, i) => {
    const may = row.map((n) => n !== null && n >= most.low.n[i]);
    return may.map((each_) => each_ && may.filter(Boolean).length === 1);
  });
  return replaced(both(low, high), alone, at(each(high, () => 0n)));
}

const divided = (cut, isShifted, factor = UNIT) => (scores) => {
  let exponents = scaledBy(scores, factor);
  if (isShifted) exponents = lessLargest(exponents);
  const powers = mapped(exponents, (end) => {
    const made = cut(each(end, (n) => (n === null ? 0n : exp(n, BITS))));
    return made.like(made.n.map((n, k) => (end.n[k] === null ? null : n)));
  });
  return overRanges({ op: "DivideBySum" }, [powers]);
};

function inFourDigits(scores) {
  const room = each(middle(scores), (n) => by(CALCULATOR, UNIT + size(n ?? 0n)));
  const weights = ofSoftmax({}, [both(zip((a, b) => a - b, scores.low, room), zip((a, b) => a + b, scores.high, room))]);
  return both(each(weights.low, (n) => by(n, UNIT - CALCULATOR)), each(weights.high, (n) => by(n, UNIT + CALCULATOR)));
}

function* ofSoftmaxes(decimals) {
  for (const digits of places(decimals)) for (const isShifted of [false, true]) yield divided(rounding(digits), isShifted);
  for (const e of E_WRITTEN) {
    const { n, d } = readNumber(e), factor = ln(n, d, BITS);
    yield (scores) => overRanges({ op: "Softmax" }, [scaledBy(scores, factor)]);
    for (const isShifted of [false, true]) yield divided(rounding(decimals), isShifted, factor);
  }
  for (const digits of [FINEST, FINEST - 1]) for (const isShifted of [false, true]) yield divided(significant(digits), isShifted);
  for (const digits of places(decimals)) yield divided(rounding(digits, "truncate"), false);
  yield inFourDigits;
}

/** The same for scores with their sinks behind them, which is no score of a key. */
const besideSinks = (step, make) => (read) => {
  const [name, sink] = step.inputs, scores = read(name);
  if (!scores) return null;
  if (!sink) return make(scores);
  const beside = read(sink);
  const weights = make(isPoint(scores) ? at(besideSink(scores.low, beside.low)) : both(...ends(scores).map((end, k) => besideSink(end, ends(beside)[k]))));
  return weights && mapped(weights, (end) => matrixOf(end.h, end.r, end.c - 1, (h, i, j) => end.at(h, i, j), UNIT, false));
};

function summingTo1(step, cut) {
  return (read) => {
    const right = overRanges(step, step.inputs.map(read));
    if (!right) return null;
    const weights = cut(middle(right));
    return at(rowsOf(weights, (row) => {
      const rest = UNIT - row.reduce((a, b) => a + b, 0n), most = row.indexOf(largest(...row));
      return rest === UNIT ? row : row.map((n, k) => (k === most ? n + rest : n));
    }));
  };
}

function* waysOf(step, decimals) {
  const scaled = (factor) => (read) => {
    const scores = read(step.inputs[0]);
    return scores && scaledBy(scores, factor);
  };
  if (step.op === "DivideBySqrt") {
    const own = root(BigInt(step.d_k) << (2n * W));
    for (const value of shortOf(own)) yield scaled(over(UNIT, value));
    for (const value of shortOf(over(UNIT, own))) yield scaled(value);
  }
  if (step.op === "Multiply") for (const value of shortOf(decimal(step.factor))) yield scaled(value);
  if (step.op.startsWith("Softmax") && step.op !== "SoftmaxBack") for (const make of ofSoftmaxes(decimals)) yield besideSinks(step, make);
  if (step.op === "SoftmaxBack")
    for (const digits of places(decimals))
      for (const cutsRest of [false, true])
        yield (read) => {
          const [A, dA] = step.inputs.map(read);
          if (!A || !dA) return null;
          const rest = less(dA, mapped(total(times(A, dA), "c"), rounding(digits)));
          return times(A, cutsRest ? mapped(rest, rounding(digits)) : rest);
        };
  if (step.role === "weights" && step.inputs.length === 1)
    for (const rule of ["half-away", "truncate"]) yield summingTo1(step, rounding(decimals, rule));
}

/** Which rows hold weights that were moved by a last place, so that they sum to 1. */
function adjusted(known, step, written) {
  const unit = unitOf(known.key.decimals), all = known.rules(step).map((rule) => known.result(step, rule)).filter(Boolean);
  if (!all.length) return written.answers.map(() => false);
  const right = both(zip(least, ...all.map(({ low }) => low)), zip(largest, ...all.map(({ high }) => high)));
  const fits = known.slack.asWritten().near(written.answers, written.decimals, right), { c } = right.low;
  const beyond = (k, room) => {
    const { n } = written.answers[k];
    return !(n !== undefined && n > right.low.n[k] - room && n < right.high.n[k] + room);
  };
  return written.answers.map((answer, k) => {
    if (fits[k]) return true;
    const row = range(c).map((j) => Math.floor(k / c) * c + j);
    if (row.some((each_) => written.answers[each_].kind !== "number")) return false;
    const sum = row.reduce((a, each_) => a + written.answers[each_].n, 0n);
    if (size(sum - UNIT) >= unit / 10n) return false;
    const near = unit + unit / 1000n, isFar = row.filter((each_) => beyond(each_, near)).length;
    return !beyond(k, near) || (isFar <= 1 && !beyond(k, (unit * BigInt(c)) / 2n + unit));
  });
}

/** Which entries come out of the first way to round on the way that gives every entry of a step. */
function accepted(known, step, written, wrong) {
  const right = known.result(step, null), { decimals } = known.key;
  if (!right) return null;
  let room = FAR + unitOf(decimals);
  if (step.role !== "weights") room = by(2n * room, largest(UNIT, ...right.low.n.filter((n) => n !== null).map(size)));
  const count = wrong.filter(Boolean).length;
  const far = written.answers.filter((answer, k) => wrong[k] && answer.kind === "number" && right.low.n[k] !== null
    && (answer.n < right.low.n[k] - room || answer.n > right.high.n[k] + room)).length;
  if (far > (count > 2 ? 1 : 0)) return null;
  const fine = written.decimals.map((own) => Math.max(own, decimals));
  let nearly = null;
  for (const near of nearOfWays(known, step, written, fine)) {
    const misses = written.answers.filter((answer, k) => ["number", "-inf"].includes(answer.kind) && !near[k]).length;
    if (!misses) return near;
    const explained = near.filter((each_, k) => each_ && wrong[k]).length;
    if (!nearly && misses === 1 && explained > 1 && near.length >= MANY) nearly = near;
  }
  return nearly;
}

function* nearOfWays(known, step, written, fine) {
  const slack = known.slack.asWritten();
  let number = 0;
  for (const recipes of recipesFor(known, step)) {
    if (number === PLAINEST && step.role === "weights") yield adjusted(known, step, written);
    number += 1;
    const near = written.answers.map(() => false);
    for (const rule of known.rules(step)) {
      const made = known.result(step, rule, recipes);
      if (!made || made.low.n.length !== near.length) continue;
      slack.near(written.answers, fine, made).forEach((fits, k) => (near[k] ||= fits));
    }
    yield near;
  }
}

function* recipesFor(known, step) {
  const all = [...known.missing(step), step].map((own) =>
    [...waysOf(own, known.key.decimals)].map((make) => ({ step: own.name, make }))).filter((ways) => ways.length);
  for (const ways of all) for (const way of ways) yield [way];
  for (const [k, first] of all.entries())
    for (const second of all.slice(k + 1))
      for (const one of first.slice(0, PAIRED)) for (const other of second.slice(0, PAIRED)) yield [one, other];
}

// ---------------------------------------------------------------- the walk over a script

/** A number with a point, where somebody wrote a comma: what attncalc check reads. */
export const withPoint = (text) => text.trim().replace(/^([^.,]*),([^.,]*)$/, "$1.$2");

/** What stands for an entry that is left out, as attncalc check reads it. */
const BLANK = /^([_\s.…?]*|-{1,3}|[–—]|[□▢☐]+)$/;

/** A number as somebody wrote it: its value, and how many decimals it has. */
export function readAnswer(text) {
  if (BLANK.test(text)) return { kind: "blank", decimals: 0 };
  if (/^[-−]\s*(inf|∞|infinity)$/i.test(text.trim())) return { kind: "-inf", decimals: 0 };
  const clean = withPoint(text);
  try {
    const { n, d } = readNumber(clean), point = /\.([0-9]*)$/.exec(clean);
    const isPlain = /^[-+−]?[0-9]*\.?[0-9]*$/.test(clean);
    return { kind: "number", n: fix(n, d, BITS), decimals: isPlain ? (point ? point[1].length : 0) : 99 };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "unreadable", decimals: 0 };
    throw error;
  }
}

/** Whole numbers are meant as they stand: 8 is 8.00; but large ones in a matrix without any decimals. */
function written(texts, asked) {
  const answers = texts.map(readAnswer);
  const hasDecimals = answers.some(({ kind, decimals }) => kind === "number" && decimals > 0);
  const decimals = answers.map(({ kind, n, decimals: own }) =>
    (!own && (hasDecimals || (kind === "number" && size(n) < SMALLEST_CUT_SHORT * UNIT)) ? asked : own));
  return { answers, decimals };
}

const isAnswered = ({ kind }) => kind === "number" || kind === "-inf";
const isIn = (answer, n) => (answer.kind === "number" ? answer.n === n : answer.kind === "-inf" && n === null);

/** Judge entries by the key's digits, and by those of every other way to round. */
function besideKey(key, scripts, name, { answers, decimals }) {
  const shown = key.shown[name];
  return answers.map((answer, k) => {
    if (isIn(answer, shown.n[k]) || (answer.kind === "number" && standsForInfinity(answer.n, shown.n[k], shown.n)))
      return ["correct", false];
    if (answer.kind !== "number" || key.exact[name].n[k] === null) return ["wrong", false];
    const exact = key.exact[name].n[k], unit = unitOf(decimals[k]);
    const isRounded = size(answer.n - exact) <= unit / 2n + by(DUST, unit) + by(RELATIVE_DUST, size(exact));
    if (decimals[k] > key.decimals && isRounded) return ["correct", false];
    const isOther = scripts.some((script) => script[name].n[k] === answer.n);
    return [isOther ? "rounding" : "wrong", decimals[k] < key.decimals && isRounded];
  });
}

const unequal = (own, right) => {
  if (!own || !right) return (k) => own !== right && k >= 0;
  return (k) => own.low.n[k] !== right.low.n[k] || own.high.n[k] !== right.high.n[k];
};

/** Mark a script step by step; what later steps can be based on is kept. */
function walk(key, answer, cuts) {
  const slack = slackOf(key.decimals, cuts), own = new Known({ ...key }, slack), tainted = {}, found = {};
  for (const step of key.order) {
    const script = answer[step.name];
    if (script) found[step.name] = marksOf(key, own, tainted, step, script);
  }
  return found;
}

function marksOf(key, known, tainted, step, script) {
  const { slack } = known, { answers, decimals } = script, { name } = step;
  const isMistaken = Object.values(tainted).some((where) => where.some(Boolean));
  const clean = isMistaken ? known.mended(tainted) : known;
  const differs = answers.map(() => false);
  if (isMistaken) {
    const isOther = unequal(known.result(step, null), clean.result(step, null));
    answers.forEach((_, k) => (differs[k] = isOther(k)));
  }
  const fine = decimals.map((each_) => Math.max(each_, key.decimals));
  const fitsOf = (from, at_) => from.rules(step).map((rule) => slack.near(answers, at_, from.result(step, rule)))
    .reduce((a, b) => a.map((fits, k) => fits || b[k]));
  const judged = besideKey(key, key.texts, name, script);
  const codes = judged.map(([code]) => code), coarse = judged.map(([, is]) => is);
  const open = codes.map((code) => code === "wrong");
  if (open.some(Boolean) || isMistaken) {
    const fitsClean = fitsOf(clean, fine), fits = isMistaken ? fitsOf(known, fine) : fitsClean;
    const fitsCoarsely = decimals.some((each_, k) => each_ < fine[k]) ? fitsOf(known, decimals) : fits;
    codes.forEach((_, k) => {
      if (open[k] && fitsClean[k]) codes[k] = "rounding";
      if (open[k] && fits[k] && (differs[k] || !fitsClean[k])) codes[k] = "follows";
      if (isMistaken && !open[k] && !fitsCoarsely[k]) codes[k] = "matches-key";
      coarse[k] ||= fitsCoarsely[k];
    });
  }
  if (codes.includes("wrong")) {
    const near = slack.near(answers, fine, key.reached(name));
    codes.forEach((code, k) => {
      if (code !== "wrong") return;
      if (near[k]) codes[k] = differs[k] ? "matches-key" : "rounding";
      else if (coarse[k]) codes[k] = "precision";
    });
  }
  answers.forEach(({ kind }, k) => {
    if (!isAnswered({ kind })) codes[k] = kind;
  });
  const wrong = codes.map((code) => code === "wrong");
  const way = wrong.some(Boolean) ? accepted(known, step, script, wrong) : null;
  way?.forEach((near, k) => {
    if (near && ["wrong", "precision"].includes(codes[k])) codes[k] = differs[k] ? "follows" : "rounding";
  });
  keep(key, known, tainted, step, script, codes, differs);
  return codes;
}

function keep(key, known, tainted, { name }, { answers, decimals }, codes, differs) {
  const shown = key.shown[name];
  const fine = decimals.map((each_, k) => (codes[k] === "precision" ? each_ : Math.max(each_, key.decimals)));
  const points = shown.like(answers.map((answer, k) => {
    if (!isAnswered(answer)) return shown.n[k];
    return answer.kind === "-inf" || standsForInfinity(answer.n, shown.n[k], shown.n) ? null : answer.n;
  }));
  let behind = replaced(known.slack.behind(points, fine), answers.map((answer) => !isAnswered(answer)), key.ranges[name]);
  const exactly = points.n.map((n, k) => n === null || (key.isExact[name][k] && n === shown.n[k] && !differs[k]));
  behind = replaced(behind, exactly, at(points));
  known.keep(name, points, behind);
  if (codes.some((code) => ["wrong", "precision", "matches-key"].includes(code))) known.doubtful.add(name);
  tainted[name] = codes.map((code, k) => code === "wrong" || code === "follows" || differs[k]);
}

/** How many more entries only a flawless script has that cuts, than only one that rounds. */
function cutEntries(key, answer) {
  let count = 0;
  for (const [name, { answers }] of Object.entries(answer))
    answers.forEach(({ kind, n }, k) => {
      if (kind !== "number" || n % UNIT === 0n) return;
      const alike = (isCut) => key.scripts.some(({ rule }, at_) => (rule === "truncate") === isCut && key.texts[at_][name].n[k] === n);
      count += Number(alike(true)) - Number(alike(false));
    });
  return count;
}

const countOf = (codes, which) => Object.values(codes).reduce((all, row) => all + row.filter((code) => code === which).length, 0);
const wrongIn = (codes) => countOf(codes, "wrong");

/** What each entry is: of steps, by name, the texts that were written; as one that rounds, or that cuts. */
export function marked(data, texts) {
  const key = data.key ?? keyOf(data);
  key.texts ??= key.scripts.map(({ results }) =>
    Object.fromEntries(key.order.map(({ name }) => [name, fixed(results[name].digits)])));
  const answer = {};
  for (const { name } of key.order)
    if (texts[name]?.some((text) => text.trim())) answer[name] = written(texts[name], key.decimals);
  const found = marksOfDigits(key, answer);
  for (const { name } of key.order) found[name] ??= (texts[name] ?? []).map(() => "blank");
  return found;
}

function marksOfDigits(key, answer) {
  const reads = (cuts) => {
    const reached = {};
    const own = { ...key, reached: (name) => (reached[name] ??=
      overRanges(key.steps[name], key.steps[name].inputs.map((each_) => rangeOf(key, each_)))) };
    return walk(own, answer, cuts);
  };
  const shown = cutEntries(key, answer), likely = reads(shown > 0);
  if (!wrongIn(likely)) return likely;
  const first = Object.keys(likely).find((name) => likely[name].includes("wrong"));
  const isSure = Math.abs(shown) >= SURE;
  if (isSure && ![...waysOf(key.steps[first], key.decimals)].length) return likely;
  const other = reads(shown <= 0);
  if (isSure) return wrongIn(other) ? likely : other;
  const worse = (codes) => [countOf(codes, "wrong"), countOf(codes, "matches-key")];
  const [[wrong, odd], [less_, fewer]] = [likely, other].map(worse);
  return less_ < wrong || (less_ === wrong && fewer < odd) ? other : likely;
}
