// Doubles with a proven bound of their error.
//
// A function returns the value and leaves its bound in E[0]. IEEE 754 rounds +, -, *, / and √ to the
// nearest double in every engine; other functions are computed only from these, since engines differ in
// Math.exp and others. A bound of Infinity means undecided.
// Running error analysis: N. Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.3.

import { cosine, ln, sine } from "../numbers.js";

const U = 2 ** -52; // twice the bound of one rounding: bounds are rounded, too
const LEAST = 1e-300; // more than underflow loses
const E = new Float64Array(1);
export const bound = () => E[0];

const LN2_HIGH = 6.93147180369123816490e-1, LN2_LOW = 1.90821492927058770002e-10;
const FACTORIALS = [];
for (let k = 0, all = 1; k <= 14; k += 1, all *= k) FACTORIALS.push(1 / all);

/** e^x with a relative error below 4 · 2^-52, for -700 < x < 700. */
export function powerOf(x) {
  const k = Math.round(x * 1.4426950408889634);
  // k ln 2 is subtracted in two parts, the first of 33 bits, so that k times it is exact
  const r = x - k * LN2_HIGH - k * LN2_LOW; // |r| < 0.35
  let all = FACTORIALS[13];
  for (let i = 12; i >= 0; i -= 1) all = all * r + FACTORIALS[i];
  return all * 2 ** (k >> 1) * 2 ** (k - (k >> 1));
}

/** tanh x with an error below 8 · 2^-52. */
export function tanhOf(x) {
  const small = Math.abs(x) > 350 ? 0 : powerOf(-2 * Math.abs(x)), v = (1 - small) / (1 + small);
  return x < 0 ? -v : v;
}

/** erf x with an error below 2^-44: 2/√π e^-x² (x + 2x³/3 + 4x⁵/15 + …), whose terms have one sign. */
export function erfOf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x); // erfc 6 < 2^-55
  let term = size, all = size;
  for (let n = 1; term > all * 2 ** -55; n += 1) all += term *= (2 * size * size) / (2 * n + 1);
  const v = 1.1283791670955126 * all * powerOf(-size * size); // about 130 terms at most, and 36 · 2^-52 of the exponent
  return x < 0 ? -v : v;
}

const W = 96; // binary digits of BigInt results
const inBits = (x) => BigInt(Math.round(x * 2 ** 60)) << BigInt(W - 60); // of |x| < 2^30, to 2^-61
const outOfBits = (n) => Number(n) / 2 ** W;
const byBits = (act) => {
  const known = new Map();
  return (x) => {
    if (known.size > 20000) known.clear();
    if (!known.has(x)) known.set(x, outOfBits(act(inBits(x), W)));
    return known.get(x);
  };
};
export const sinOf = byBits(sine), cosOf = byBits(cosine);
export function logOf(x) {
  const scale = 52 - Math.floor(Math.log2(x)), n = BigInt(Math.round(x * 2 ** Math.min(scale, 1000)));
  return outOfBits(scale < 0 ? ln(n << BigInt(-scale), 1n << BigInt(-2 * scale), W) : ln(n, 1n << BigInt(Math.min(scale, 1000)), W));
}

/** Functions with a slope of at most 1.13: implementations, and their errors. */
const SMOOTH = { tanh: [tanhOf, 8 * U], erf: [erfOf, 2 ** -44], sin: [sinOf, 2 ** -59], cos: [cosOf, 2 ** -59] };
const STEEPEST = 1.13;

const rounded = (v, e) => { E[0] = (v === 0 && e === 0) || v === -Infinity ? 0 : e + Math.abs(v) * U + LEAST; return v; };
const constant = (v, e) => () => { E[0] = e; return v; };
const unknown = (v) => { E[0] = Infinity; return v; };

const add = (f, g) => () => { const a = f(), e = E[0], b = g(); return rounded(a + b, e + E[0]); };
const sub = (f, g) => () => {
  const a = f(), e = E[0], b = g();
  return b === -Infinity ? rounded(a, e) : rounded(a - b, e + E[0]); // in a row with only -∞
};
const mul = (f, g) => () => {
  const a = f(), ea = E[0], b = g(), eb = E[0];
  if ((a === 0 && ea === 0) || (b === 0 && eb === 0)) { E[0] = 0; return 0; }
  return rounded(a * b, Math.abs(a) * eb + Math.abs(b) * ea + ea * eb);
};
const div = (f, g) => () => {
  const a = f(), ea = E[0], b = g(), eb = E[0], least = Math.abs(b) - eb;
  if (!(least > 0)) return unknown(0);
  const v = a / b;
  return rounded(v, (ea + Math.abs(v) * eb) / least);
};
function raised(f, k) {
  if (k < 0) return div(constant(1, 0), raised(f, -k));
  let all = k === 0 ? constant(1, 0) : f;
  for (let i = 1; i < k; i += 1) all = mul(all, f);
  return all;
}
const CALLS = {
  exp: (f) => () => {
    const x = f(), e = E[0];
    if (x < -700) { E[0] = x === -Infinity ? 0 : x + e < -690 ? 1e-299 : Infinity; return 0; }
    if (!(x < 700 && e < 1)) return unknown(0);
    const v = powerOf(x); // e^(x ± e) is v e^±e, and e^e - 1 < e (1 + e) for e < 1
    E[0] = x === 0 && e === 0 ? 0 : v * (e * (1 + e) + 4 * U);
    return v;
  },
  sqrt: (f) => () => {
    const x = f(), e = E[0], v = Math.sqrt(x);
    if (!(x > 0)) return x === 0 && e === 0 ? 0 : unknown(0);
    return rounded(v, e / v); // |√x - √y| <= |x - y| / √x
  },
  log: (f) => () => {
    const x = f(), e = E[0];
    return x > 2 * e && x < 2 ** 900 && x > 2 ** -900 ? rounded(logOf(x), (2 * e) / x + 2 ** -51) : unknown(0);
  },
};
for (const [title, [act, own]] of Object.entries(SMOOTH))
  CALLS[title] = (f) => () => {
    const x = f(), e = E[0];
    if (!(Math.abs(x) < 2 ** 30)) return title === "tanh" || title === "erf" ? rounded(Math.sign(x), 2 ** -52) : unknown(0);
    if (x === 0 && e === 0) return title === "cos" ? 1 : 0;
    return rounded(act(x), STEEPEST * e + own);
  };

/** The arithmetic; `matrix(name)` is { v, e }, two Float64Arrays; e is null where all entries are exact. */
export function nearArithmetic(matrix) {
  /** The larger of two, or their negatives' for the smaller: the bound is that of the winner where it surely wins. */
  const extreme = (turn) => (f, g, at, where) => {
    if (typeof g === "function") return () => {
      const a = f(), ea = E[0], b = g(), eb = E[0], apart = turn * (a - b);
      if (apart > ea + eb) E[0] = ea;
      else if (apart > -ea - eb) E[0] = Math.max(ea, eb);
      return apart > 0 ? a : b;
    };
    return () => {
      let most = -Infinity, e = 0;
      for (let k = 0; k < g; k += 1) {
        at(k);
        const holds = !where || where();
        if (holds === false) continue;
        const v = f();
        if (v > most) most = v;
        if (E[0] > e || holds === null) e = holds === null ? Infinity : E[0];
      }
      E[0] = e;
      return most;
    };
  };
  return {
    add, sub, mul, div, raised,
    number: ({ n, d }) => {
      const v = Number(n) / Number(d);
      return constant(v, Number.isInteger(v) && BigInt(v) * d === n ? 0 : Math.abs(v) * 2 * U);
    },
    nothing: () => constant(-Infinity, 0),
    counted: (f) => () => { E[0] = 0; return f(); },
    pi: () => constant(Math.PI, 4 * U),
    entry: (title, place) => {
      const { v, e } = matrix(title);
      if (!e) return () => { E[0] = 0; return v[place()]; };
      return () => { const k = place(); E[0] = e[k]; return v[k]; };
    },
    neg: (f) => () => 0 - f(),
    share: (f, g) => { const both = div(f, g); return () => (g() === 0 && E[0] === 0 ? 0 : both()); },
    power: (f, g) => CALLS.exp(mul(CALLS.log(f), g)),
    call: (title, f) => CALLS[title](f),
    abs: (f) => () => Math.abs(f()),
    max: extreme(1), min: extreme(-1),
    fixed: (f) => () => { const v = f(); E[0] = E[0] === Infinity ? Infinity : 0; return v; }, // any number may be subtracted from a row
    choose: (test, f, g) => () => { const holds = test(); return holds === null ? unknown(0) : holds ? f() : g(); },
    compare: (f, g, op, holds) => () => {
      const a = f(), e = E[0], b = g(), all = e + E[0], apart = a === b ? 0 : a - b;
      return all === 0 || Math.abs(apart) > all * (1 + U) ? holds(apart) : null;
    },
    sum: (f, count, at, where) => () => {
      let all = 0, e = 0, sizes = 0;
      for (let k = 0; k < count; k += 1) {
        at(k);
        const holds = !where || where();
        if (holds === false) continue;
        const v = f();
        all += v;
        sizes += Math.abs(v);
        e += holds === null ? Infinity : E[0];
      }
      E[0] = sizes === 0 && e === 0 ? 0 : e + count * sizes * U;
      return all;
    },
    dot: (x, i, stepI, y, j, stepJ, count) => {
      const X = matrix(x), Y = matrix(y), xv = X.v, yv = Y.v;
      const xe = X.e ?? new Float64Array(xv.length), ye = Y.e ?? new Float64Array(yv.length);
      return () => {
        let all = 0, e = 0, sizes = 0;
        for (let k = 0, a = i(), b = j(); k < count; k += 1, a += stepI, b += stepJ) {
          const p = xv[a], q = yv[b], term = p * q;
          all += term;
          sizes += Math.abs(term);
          e += Math.abs(p) * ye[b] + Math.abs(q) * xe[a] + xe[a] * ye[b];
        }
        E[0] = sizes === 0 && e === 0 ? 0 : e + count * (sizes * U + LEAST);
        return all;
      };
    },
    hardmax: (f, count, at, place) => () => {
      const j = place(), row = [], off = [];
      for (let k = 0; k < count; k += 1) { at(k); row.push(f()); off.push(E[0]); }
      const most = row.indexOf(Math.max(...row));
      if (row[most] === -Infinity) { E[0] = 0; return 0; }
      let tied = 0;
      for (let k = 0; k < count; k += 1)
        // scores that differ by 10^-30 of their size are equal: doubles cannot distinguish these from ties
        if (k !== most && row[most] - row[k] <= off[most] + off[k] + Math.abs(row[most]) * U) tied += 1;
      if (tied) return unknown(0);
      E[0] = 0;
      return j === most ? 1 : 0;
    },
    keep: (f, place, count) => {
      const v = new Float64Array(count), e = new Float64Array(count).fill(NaN);
      return () => {
        const k = place();
        if (e[k] !== e[k]) { v[k] = f(); e[k] = E[0]; }
        E[0] = e[k];
        return v[k];
      };
    },
  };
}
