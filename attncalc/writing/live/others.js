// What fewer problems ask: patches and tables of embeddings, biases by distance, other kinds of scores.

import { Refusal, asWritten, exp, fix, ln, once, pi, ratio, readNumber, size, tanh, together } from "./numbers.js";
import {
  Matrix, OPERATIONS, alone, both, frequencyOf, height, made as matrixOf, most, ofEachRow, paired, placeOf, product, rotated, serving,
  softmax, sum, turn,
} from "./operations.js";
import {
  added, by, call, fraction, given, negative, ordered, plus, power as raised, productOf, quotient, sumOf, symbol, whole,
} from "./expressions.js";
import { range } from "./operations.js";

const NOTHING = ratio(0n);
const valueAt = (X, ...at) => ratio(X.matrix.at(...at), X.matrix.d);
/** An entry that is another one: its name, for the number alone would not say where it comes from. */
export const named = (X, remark, ...at) => made([X.entry(...at)], remark, X.at(...at).exact);

// ---------------------------------------------------------------- sinks, and other turns

/** Scores, and the sink of their head behind each row, over one denominator. */
export function besideSink(S, sink) {
  const d = together(S.d, sink.d), [s, own] = [S.over(d), sink.over(d)];
  const n = s.rows.flatMap((row, i) => [...row, own.at(Math.floor(i / S.r), 0, 0)]);
  return new Matrix(S.h, S.r, S.c + 1, n, d, both(S, sink));
}

/** How much of a pair's own frequency is kept where rope is scaled, in 2^-w: 1 all of it, 0 none. */
function kept([kind, , ...numbers], frequency, w) {
  if (kind === "linear") return 0n;
  const W = BigInt(w), [low, high, original] = numbers.map((each) => readNumber(each));
  const turns = (original.n * frequency << W) / (2n * pi(w) * original.d);
  const span = { n: high.n * low.d - low.n * high.d, d: high.d * low.d };
  const share = ((turns - fix(low.n, low.d, w)) * span.d) / span.n;
  return share < 0n ? 0n : share > 1n << W ? 1n << W : share;
}

const baseOf = ({ base }, pair, d, w) => frequencyOf(readNumber(base), pair, d, w);

/** How fast a pair turns, in 2^-w: slowed down, or by a frequency of its own. */
function speedOf(step, frequencies, pair, d, w) {
  if (frequencies) return fix(frequencies.at(0, 0, pair), frequencies.d, w);
  const own = baseOf(step, pair, d, w);
  if (!step.scaling) return own;
  const share = kept(step.scaling, own, w), factor = readNumber(step.scaling[1]), W = BigInt(w);
  return (own * ((((1n << W) - share) * factor.d) / factor.n + share)) >> W;
}

/** The cosine and the sine that turn a pair. */
export const turnOf = (step, frequencies) => (place, pair, d, w) =>
  turn(place, (wide) => speedOf(step, frequencies, pair, d, wide), w,
    `${step.base} ${step.scaling} ${pair} ${d} ${frequencies?.at(0, 0, pair)}/${frequencies?.d}`);

/** The angle where rope is scaled, and what is said of its frequency. */
function slowed(step, plain, pair, d, w, X) {
  if (!step.scaling) return [plain, ""];
  const share = kept(step.scaling, baseOf(step, pair, d, w), w), factor = given(readNumber(step.scaling[1]));
  if (share === 1n << BigInt(w)) return [plain, ""];
  if (!share) return [quotient(plain, factor), `its frequency is divided by ${asWritten(factor.exact)}`];
  const [low, high, original] = step.scaling.slice(2).map((each) => given(readNumber(each)));
  const slowness = raised(given(readNumber(step.base)), quotient(whole(2 * pair), whole(d)));
  const turns = quotient(original, productOf([whole(2), symbol("π"), ...(slowness.exact ? [] : [slowness])]));
  const part = quotient(sumOf(turns, negative(low)), sumOf(high, negative(low)));
  const least = ratio(factor.exact.d, factor.exact.n), rest = ratio(least.d - least.n, least.d);
  return [productOf([plain, sumOf(given(least), productOf([given(rest), part]))]), "its frequency is divided in part (llama3)"];
}

// ---------------------------------------------------------------- images and tables

/** Where in an image a number of a patch stands. */
function pixel({ size: [p, q] }, { c: width }, patch, k) {
  const across = width / q;
  const [down, right] = [Math.floor(patch / across), patch % across];
  const [row, column] = [Math.floor((k % (p * q)) / q), k % q];
  return { channel: Math.floor(k / (p * q)), down, right, row, column, at: [down * p + row, right * q + column] };
}

function patches(step, [image]) {
  const [p, q] = step.size;
  return matrixOf(0, (image.r / p) * (image.c / q), (image.h || 1) * p * q, (_, i, j) => {
    const { channel, at } = pixel(step, image, i, j);
    return image.at(channel, ...at);
  }, image.d, image.isExact);
}

/** Which row of the table an id names. */
export function rowOfId(step, ids, table, i) {
  const row = Number(ids.at(0, 0, i) / ids.d) - step.first;
  if (ids.at(0, 0, i) % ids.d || row < 0 || row >= table.r)
    throw new Refusal(`id ${i + 1} names no row of the table: ids are whole, from ${step.first} to ${step.first + table.r - 1}`);
  return row;
}

// ---------------------------------------------------------------- by distance

/** x of each head, of which the slope is 2^-x. */
function exponents(heads) {
  const below = 2 ** (heads.toString(2).length - 1);
  const own = range(below).map((k) => ratio(BigInt(8 * (k + 1)), BigInt(below)));
  const more = range(below).map((k) => ratio(BigInt(8 * (2 * k + 1)), BigInt(2 * below)));
  return [...own, ...more.slice(0, heads - below)];
}

function slopes(step, w) {
  const all = exponents(step.heads), isExact = all.every(({ d }) => d === 1n);
  const h = step.heads > 1 ? step.heads : 0;
  if (isExact) {
    const d = 2n ** all.reduce((deepest, { n }) => (n > deepest ? n : deepest), 0n);
    return new Matrix(h, 1, 1, all.map(({ n }) => d >> n), d);
  }
  const wide = w + 32, two = ln(2n, 1n, wide + 32);
  return new Matrix(h, 1, 1, all.map(({ n, d }) => exp((-two * n) / d, wide + 32) >> 32n), 1n << BigInt(wide), false);
}

export const distance = ({ place }, i, j) => i + place - j;
/** Something of the distance, taken off or added to each score. */
const byDistance = (S, own, entry) => sum(S, matrixOf(S.h, S.r, S.c, entry, own.d, own.isExact));

function alibi(step, [S, given_], w) {
  const own = given_ ?? slopes(step, w);
  return byDistance(S, own, (h, i, j) => -own.at(h, 0, 0) * BigInt(Math.abs(distance(step, i, j))));
}

/** From which distance on each bucket after the first one counts. */
const starts = (buckets, longest) => once(`starts ${buckets} ${longest}`, () => {
  const near = Math.floor(buckets / 2), far = buckets - near;
  const found = range(near).map((k) => k + 1);
  for (let k = 1; k < far; k += 1) {
    let start = Math.max(near, Math.floor(near * (longest / near) ** (k / far)) - 2);
    const [n, f, K] = [BigInt(near), BigInt(far), BigInt(k)];
    // log(d/near) / log(longest/near) · far ≥ k, in whole numbers: no logarithm is rounded
    while (BigInt(start) ** f * n ** K < n ** f * BigInt(longest) ** K) start += 1;
    found.push(start);
  }
  return found;
});

export function bucketOf({ buckets, longest, both_ways: both }, before) {
  const half = Math.floor(buckets / 2);
  const away = both ? Math.abs(before) : Math.max(before, 0);
  return starts(both ? half : buckets, longest).filter((start) => start <= away).length + (both && before < 0 ? half : 0);
}

// ---------------------------------------------------------------- scores

/** Σ v tanh(left + right + b) for each row of one and of the other. */
function ofTanh(left, right, v, b, w) {
  const wide = w + 64 + height(v), h = Math.max(left.h, right.h, v.h, b?.h ?? 0);
  const d = [left, right, ...(b ? [b] : [])].reduce((all, each) => together(all, each.d), 1n);
  const [l, r, s] = [left, right, b].map((each) => each?.over(d));
  return matrixOf(h, left.r, right.r, (head, i, j) => {
    const key = serving({ h }, r, head);
    let total = 0n;
    for (let c = 0; c < l.c; c += 1) {
      const inner = l.at(head, i, c) + r.at(key, j, c) + (s ? s.at(head, 0, c) : 0n);
      total += v.at(head, 0, c) * tanh(fix(inner, d, wide), wide);
    }
    return total;
  }, v.d << BigInt(wide), false);
}

/** Rows of a matrix, from one on. */
export const rowsOf = (X, from, count) =>
  matrixOf(X.h, count, X.c, (h, i, j) => X.n[((X.h > 1 ? h : 0) * X.r + from + i) * X.c + j], X.d, X.isExact);

/** Keys of as many heads as weights have, where these have their own. */
export const spread = (K, W) => (W.h > K.h && K.h
  ? matrixOf(W.h, K.r, K.c, (h, i, j) => K.at(serving(W, K, h), i, j), K.d, K.isExact) : K);

function concatenated([Q, K, W, v, b], w) {
  return ofTanh(product(Q, rowsOf(W, 0, Q.c)), product(spread(K, W), rowsOf(W, Q.c, K.c)), v, b, w);
}

function distances([Q, K]) {
  const d = together(Q.d, K.d), [q, k] = [Q.over(d), K.over(d)], h = Math.max(Q.h, K.h);
  return matrixOf(h, Q.r, K.r, (head, i, j) => {
    const key = serving({ h }, K, head);
    let total = 0n;
    for (let c = 0; c < Q.c; c += 1) total -= (q.at(head, i, c) - k.at(key, j, c)) ** 2n;
    return total;
  }, 2n * d * d, Q.isExact && K.isExact);
}

const TOLERANCE = 10n ** 30n;

/** Scores; a row of them is 0 where all of it is as small as what decimals leave of 0. */
function cleared([Q, K]) {
  const S = product(Q, K, true), sizes = [Q, K].map((X) => X.like(X.n.map(size)));
  const dust = product(...sizes, true).rows;
  return ofEachRow(S, S.c, S.d, S.isExact, (row, i) =>
    (row.every((n, j) => size(n) * TOLERANCE <= dust[i][j]) ? row.map(() => 0n) : row));
}

/** Rows times rows of a table, or of weights that stand (out, in). */
const ofRows = {
  apply: (_, [X, W, b]) => (b ? sum(product(X, W, true), b) : product(X, W, true)),
  factors: (factors) => factors[0] + factors[1],
};

/** Where the bias of a bucket stands: what a step makes stands as it is shown, not in its head. */
const inTable = ({ stands }, h, bucket) => ({ rows: [0, bucket, h], columns: [0, h, bucket] }[stands] ?? [h, 0, bucket]);

Object.assign(OPERATIONS, {
  SoftmaxBesideSink: { apply: (_, [S, sink], w) => softmax(besideSink(S, sink), w, S.c), factors: alone },
  RotateOtherwise: {
    apply: (step, [X, frequencies], w) => rotated(step, X, w, turnOf(step, frequencies), step.dims ?? X.c, step.is_back),
    factors: ([own]) => own,
  },
  ProjectBack: ofRows,
  ProjectTurned: ofRows,
  ScoresCleared: { apply: (_, inputs) => cleared(inputs), factors: ([q, k]) => q + k },
  Lookup: {
    apply: (step, [ids, table]) =>
      matrixOf(0, ids.c, table.c, (_, i, j) => table.at(0, rowOfId(step, ids, table, i), j), table.d, table.isExact),
    factors: most,
  },
  Patches: { apply: patches, factors: most },
  Alibi: { apply: alibi, factors: most },
  RelativeBias: {
    apply: (step, [S, table]) =>
      byDistance(S, table, (h, i, j) => table.at(...inTable(step, h, bucketOf(step, distance(step, i, j))))),
    factors: most,
  },
  AdditiveScores: { apply: (_, [Q, K, v, b], w) => ofTanh(Q, K, v, b, w), factors: (factors) => factors[2] + 1 },
  ConcatScores: {
    apply: (_, inputs, w) => concatenated(inputs, w),
    factors: ([q, k, weights, v]) => Math.max(q + weights, k + weights, v + 1),
  },
  DistanceScores: { apply: (_, inputs) => distances(inputs), factors: ([q, k]) => 2 * Math.max(q, k) + 1 },
});

// ---------------------------------------------------------------- how each entry comes about

const total = (numbers) => numbers.reduce(plus, NOTHING);

/** What a tanh is taken of, for each hidden number of a query and a key: how it is written, and its value. */
export function insideTanh([Q, K, W, b], h, i, j) {
  const key = serving(Q.matrix, K.matrix, h), of = (X, head, row) => range(X.matrix.c).map((a) => [X, head, row, a]);
  const [query, other] = [of(Q, h, i), of(K, key, j)], pairs = [...query, ...other];
  const read = (at, times) => (c) => [
    ...(W ? pairs.map(([X, ...place], a) => times(at(X, ...place), at(W, h, a, c)))
      : [query[c], other[c]].map(([X, ...place]) => at(X, ...place))),
    ...(b ? [at(b, h, 0, c)] : [])];
  const write = read((X, ...at) => X.at(...at), ordered), value = read(valueAt, by);
  return range((W ?? Q).matrix.c).map((c) => ({ terms: write(c), value: total(value(c)) }));
}

/** Each tanh, weighed: what it is of, what that comes to where it is long, and its value. */
function weighed(v, w, h, inside, isLong) {
  const factors = inside.map((_, c) => v.at(h, 0, c));
  const each = (entry) => added(...inside.map((one, c) => productOf([factors[c], entry(one)])));
  const inner = ({ terms }) => added(...terms);
  return made([each((one) => call("tanh", inner(one))),
    ...(isLong ? [each((one) => call("tanh", v.write(one.value, inner(one).exact)))] : []),
    each(({ value: { n, d } }) => {
      const value = inBits(tanh(fix(n, d, w), w), w);
      return v.write(value, value.n ? null : NOTHING);
    })]);
}

const byRows = (step, [X, W, b], w, h, i, j) => made([added(
  ...range(X.matrix.c).map((k) => ordered(X.at(h, i, k), W.at(h, j, k))), ...(b ? [b.at(h, 0, j)] : []))]);

