// Exact numbers: fractions while all is rational, then floats of w binary digits.
//
// A number is { n, d }, a fraction, or { n, e }, about n · 2^e; null is -∞.

import { NoValue, bits, cosine, erf, fix, halfAway, halfEven, ln, pi, power, ratio, root, sine, size, tanh, tenTo, together } from "../numbers.js";

export const rational = (n, d = 1n) => ({ n, d });
export const ZERO = rational(0n), ONE = rational(1n);
export const isRational = (x) => x.d !== undefined;
const isZero = (x) => x !== null && x.n === 0n;
/** The largest power of two of a float64. */
export const LARGEST = 1024;
const refuse = (why) => { throw new NoValue(why); };
const LEAST_EXPONENT = -23n * 10n ** 17n;
const shifted = (n, by) => (by < 0 ? n >> BigInt(-by) : n << BigInt(by));

/** A number as a fraction n / d; for a float, if its exponent is not huge. */
export const asRatio = (x) => (isRational(x) ? x : x.e < 0 ? { n: x.n, d: 1n << BigInt(-x.e) } : { n: x.n << BigInt(x.e), d: 1n });
/** The power of two just above a number. */
export const magnitude = (x) => (isZero(x) ? -Infinity : isRational(x) ? bits(x.n) - bits(x.d) + 1 : bits(x.n) + x.e);

/** A number as a double, and a bound of how far off that is. */
export function toDouble(x) {
  if (x === null) return [-Infinity, 0];
  if (isZero(x)) return [0, 0];
  const most = magnitude(x);
  if (most < -1060) return [0, 2 ** -1050];
  if (most > 1024) return [0, Infinity];
  const { n, d } = asRatio(x), up = 64 - most;
  const v = Number(up > 0 ? (n << BigInt(up)) / d : n / (d << BigInt(-up)));
  const value = up > 1000 ? v * 2 ** -1000 * 2 ** (1000 - up) : v * 2 ** -up;
  return [value, Math.abs(value) * 2 ** -52 + 2 ** -1060];
}

/**
 * The arithmetic with w binary digits.
 *
 * `entryOf(name)` returns the function that gives the k-th entry of a matrix; `functions` keeps
 * values of functions from one run to the next. `strict` refuses intermediate values: "large" ones, or also "none", -∞.
 */
export function exactArithmetic(w, entryOf, functions = new Map(), strict = "") {
  const float = (n, e) => {
    const over = bits(n) - w;
    return over > 8 ? { n: n >> BigInt(over), e: e + over } : { n, e };
  };
  const toFloat = (x) => {
    if (!isRational(x)) return x;
    if (x.d === 1n || isZero(x)) return { n: x.n, e: 0 };
    const up = Math.max(0, w + bits(x.d) - bits(x.n));
    return float((x.n << BigInt(up)) / x.d, -up);
  };
  const short = (x) => (bits(x.d) <= 4 * w ? x : toFloat(x));
  const lowest = (x) => (isRational(x) ? ratio(x.n, x.d) : x);
  /** A number as a whole number of 2^-places. */
  const fixed = (x, places = w) => (isRational(x) ? fix(x.n, x.d, places) : shifted(x.n, x.e + places));

  const minus = (a) => a && { ...a, n: -a.n };
  function plus(a, b) {
    if (a === null || b === null) return null;
    if (isRational(a) && isRational(b)) {
      if (a.d === b.d) return rational(a.n + b.n, a.d);
      const d = together(a.d, b.d);
      return short(rational(a.n * (d / a.d) + b.n * (d / b.d), d));
    }
    if (isZero(a)) return b;
    if (isZero(b)) return a;
    const apart = magnitude(a) - magnitude(b);
    if (apart > 2 * w) return a;
    if (apart < -2 * w) return b;
    const [x, y] = [toFloat(a), toFloat(b)], e = Math.min(x.e, y.e);
    const made = float((x.n << BigInt(x.e - e)) + (y.n << BigInt(y.e - e)), e);
    // canceled to the last quarter of the digits is 0: equal scores have equal weights
    const isDust = x.n < 0n !== y.n < 0n && magnitude(made) < magnitude(x) - w + (w >> 2);
    return isDust ? ZERO : made;
  }
  /** -∞ minus -∞, in a row with only -∞, is -∞. */
  const less = (a, b) => (b !== null ? plus(a, minus(b)) : a === null ? a : refuse("has no value"));
  function times(a, b) {
    if (a === null || b === null) return (a ?? b ?? ZERO).n > 0n ? null : refuse("has no value");
    if (isZero(a) || isZero(b)) return ZERO;
    if (isRational(a) && isRational(b)) return short(rational(a.n * b.n, a.d * b.d));
    const [x, y] = [toFloat(a), toFloat(b)];
    return float(x.n * y.n, x.e + y.e);
  }
  function over(a, b) {
    if (isZero(b)) refuse("divides by 0");
    if (isZero(a) || (b === null && a !== null)) return ZERO;
    if (a === null) return b?.n > 0n ? a : refuse("has no value");
    if (isRational(a) && isRational(b)) return times(a, b.n < 0n ? rational(-b.d, -b.n) : rational(b.d, b.n));
    const [x, y] = [toFloat(a), toFloat(b)], up = Math.max(0, w + 8 + bits(y.n) - bits(x.n));
    return float((x.n << BigInt(up)) / y.n, x.e - y.e - up);
  }
  function raisedTo(a, k) {
    let all = ONE;
    for (let i = 0; i < Math.abs(k); i += 1) all = times(all, a);
    return k < 0 ? over(ONE, all) : all;
  }
  const compare = (a, b) => {
    if (a === null || b === null) return (b === null) - (a === null);
    if (isRational(a) && isRational(b)) { const left = a.n * b.d - b.n * a.d; return left < 0n ? -1 : Number(left > 0n); }
    const { n } = less(a, b);
    return n < 0n ? -1 : Number(n > 0n);
  };

  /** More places where a function is as small as its argument. */
  const places = (x) => w + Math.max(0, Math.min(4 * w, -magnitude(x)));
  const bySeries = (act) => (x) => { const at = places(x); return float(act(fixed(x, at), at), -at); };
  const CALLS = {
    exp: (x) => {
      if (x.n < LEAST_EXPONENT * (x.d ?? 1n) && magnitude(x) > 60) return ZERO;
      if (isZero(x)) return ONE;
      if (magnitude(x) < -2 * w) return float((1n << BigInt(w)) + fixed(x), -w);
      if (magnitude(x) > 21 && x.n > 0n) return { n: 1n, e: 1 << 20 }; // too large for any page
      const { m, k } = power(fixed(x), w);
      return { n: m, e: k - w };
    },
    sqrt: (x) => {
      if (x.n < 0n) refuse("is the root of a negative number");
      if (isZero(x)) return ZERO;
      if (isRational(x)) {
        const { n, d } = lowest(x), [top, bottom] = [root(n), root(d)];
        if (top * top === n && bottom * bottom === d) return rational(top, bottom);
      }
      const y = toFloat(x), up = 2 * w + (y.e & 1);
      return float(root(y.n << BigInt(up)), (y.e - up) / 2);
    },
    log: (x) => {
      const { n, d } = asRatio(x);
      if (n <= 0n) refuse("is the logarithm of a number that is not positive");
      return float(ln(n, d, w + 64), -w - 64);
    },
    tanh: (x) => (isZero(x) ? ZERO : bySeries(tanh)(x)),
    sin: (x) => (isZero(x) ? ZERO : bySeries(sine)(x)),
    cos: (x) => (isZero(x) ? ONE : float(cosine(fixed(x), w), -w)),
    erf: (x) => (isZero(x) ? ZERO : bySeries(erf)(x)),
  };
  function called(title, x) {
    if (x === null) return title === "exp" ? ZERO : refuse("has no value");
    const key = `${title} ${w} ${x.n}/${x.d ?? x.e}`; // an edit changes few of many arguments
    let found = functions.get(key);
    if (found === undefined) {
      if (functions.size > 20000) functions.clear();
      functions.set(key, (found = CALLS[title](x)));
    }
    return found;
  }

  /** Which numbers share the first place. */
  function winners(row) {
    const most = row.reduce((all, x) => (compare(x, all) > 0 ? x : all), null);
    if (most === null) return row.map(() => false);
    const apart = plus({ n: size(most.n), d: most.d && most.d * tenTo(30), e: most.e - 100 }, { n: 1n, e: 100 - w });
    return row.map((x) => x !== null && compare(x, plus(most, minus(apart))) >= 0);
  }

  const largest = (f, g) => () => { const a = f(), b = g(); return compare(a, b) < 0 ? b : a; };
  return {
    checked: (f, x) => () => {
      try {
        const value = f();
        if (strict && value !== null && magnitude(value) > LARGEST) refuse("is larger than the largest float64 (about 1.8e+308)");
        return value !== null || strict !== "none" ? value : refuse("has no value");
      } catch (error) {
        if (error instanceof NoValue) error.at ??= x;
        throw error;
      }
    },
    number: (own) => () => own,
    nothing: () => () => null,
    counted: (f) => () => rational(BigInt(f())),
    pi: () => { const own = { n: pi(w), e: -w }; return () => own; },
    entry: (title, place) => { const of = entryOf(title); return () => of(place()); },
    neg: (f) => () => minus(f() ?? refuse("has no value")),
    add: (f, g) => () => plus(f(), g()),
    sub: (f, g) => () => less(f(), g()),
    mul: (f, g) => () => times(f(), g()),
    div: (f, g) => () => over(f(), g()),
    share: (f, g, refuse) => () => {
      const a = f(), b = g();
      if (refuse && (isZero(b) || magnitude(b) < magnitude(a) - 100)) refuse(); // 10^-30 of the terms is 0
      return isZero(b) ? ZERO : over(a, b);
    },
    raised: (f, k) => () => raisedTo(f(), k),
    power: (f, g) => () => {
      const a = f() ?? refuse("has no value"), b = lowest(g() ?? refuse("has no value"));
      if (isRational(b) && b.d === 1n && size(b.n) < 1000n) return raisedTo(a, Number(b.n));
      if (a.n < 0n) refuse("raises a negative number to a fraction");
      return isZero(a) ? (b.n > 0n ? ZERO : refuse("divides by 0")) : called("exp", times(called("log", a), b));
    },
    call: (title, f) => () => called(title, f()),
    abs: (f) => () => { const x = f() ?? refuse("has no value"); return { ...x, n: size(x.n) }; },
    max: (f, g, at, where) => (typeof g === "function" ? largest(f, g) : () => {
      let all = null;
      for (let k = 0; k < g; k += 1) { at(k); if (where && !where()) continue; const x = f(); if (compare(x, all) > 0) all = x; }
      return all;
    }),
    min: (f, g) => () => { const a = f(), b = g(); return compare(a, b) > 0 ? b : a; },
    fixed: (f) => f,
    choose: (test, f, g) => () => (test() ? f() : g()),
    compare: (f, g, op, holds) => () => holds(compare(f(), g())),
    sum: (f, count, at, where) => () => {
      let all = ZERO;
      for (let k = 0; k < count; k += 1) { at(k); if (!where || where()) all = plus(all, f()); }
      return all;
    },
    dot: (x, i, stepI, y, j, stepJ, count) => {
      const [X, Y] = [entryOf(x), entryOf(y)];
      return () => {
        let all = ZERO;
        for (let k = 0, a = i(), b = j(); k < count; k += 1, a += stepI, b += stepJ) all = plus(all, times(X(a), Y(b)));
        return all;
      };
    },
    hardmax: (f, count, at, place) => () => {
      const row = [];
      for (let k = 0; k < count; k += 1) { at(k); row.push(f()); }
      const won = winners(row);
      return won[place()] ? rational(1n, BigInt(won.filter(Boolean).length)) : ZERO;
    },
    keep: (f, place, count) => {
      const known = new Array(count);
      return () => { const k = place(); return known[k] === undefined ? (known[k] = f()) : known[k]; };
    },
    of: { plus, less, times, over, compare, winners, exp: (x) => called("exp", x) },
  };
}

/** A number in units of the last shown place: beyond the guard digits it is cleared, then half away from zero. */
export function roundedTo(x, decimals, guard) {
  if (x === null || isZero(x)) return x && 0n;
  if (isRational(x) && bits(x.d) < 3 * (guard - decimals) - 8) return halfAway(x.n * tenTo(decimals), x.d);
  if (magnitude(x) < -4 * (guard + 4)) return 0n;
  const { n, d } = asRatio(x);
  return halfAway(halfEven(n * tenTo(guard), d), tenTo(guard - decimals));
}
