// Whole numbers over one denominator, in doubles: exact up to 2^53.
//
// A function knows its denominator, `d`, before anything is computed. Irrational numbers, and those
// beyond 2^53, throw GivenUp: near.js takes over.

export const MOST = 2 ** 53;
export class GivenUp extends Error {}

const giveUp = () => { throw new GivenUp(); };
const whole = (d, f) => { if (!(d < MOST)) giveUp(); f.d = d; return f; };
const held = (n) => (n < MOST && (n > -MOST || n === -Infinity) ? n : giveUp());
const constant = (n, d) => Object.assign(whole(d, () => n), { is: n });

function together(a, b) {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return (a / x) * b;
}
const by = (f, k) => (k === 1 ? f : () => held(f() * k));
/** Two functions over one denominator. */
function both(f, g, act) {
  const d = together(f.d, g.d);
  if (!(d < MOST)) giveUp();
  return whole(d, act(by(f, d / f.d), by(g, d / g.d)));
}
/** The root of a known square number; also of a fraction of these. */
function rootOf(f) {
  const [n, d] = [Math.sqrt(f.is ?? NaN), Math.sqrt(f.d)];
  return Number.isInteger(n) && Number.isInteger(d) ? constant(n, d) : giveUp();
}

/** The arithmetic; `matrix(name)` is { n, d }, a Float64Array over a number, or null where there is none. */
export function wholeArithmetic(matrix) {
  const of = (title) => matrix(title) ?? giveUp();
  const mul = (f, g) => whole(f.d * g.d, () => { const a = f(), b = g(); return a === 0 || b === 0 ? 0 : held(a * b); });
  const extreme = (act) => (f, g, at, where) => {
    if (typeof g === "function") return both(f, g, (a, b) => () => act(a(), b()));
    return whole(f.d, () => {
      let all = -Infinity;
      for (let k = 0; k < g; k += 1) { at(k); if (!where || where()) all = act(all, f()); }
      return all;
    });
  };
  return {
    number: ({ n, d }) => { held(Number(n)); return constant(Number(n), Number(d)); },
    nothing: () => constant(-Infinity, 1),
    counted: (f) => whole(1, f),
    pi: giveUp, share: giveUp, hardmax: giveUp, power: giveUp,
    entry: (title, place) => { const { n, d } = of(title); return whole(d, () => n[place()]); },
    neg: (f) => whole(f.d, () => 0 - f()),
    add: (f, g) => both(f, g, (a, b) => () => held(a() + b())),
    sub: (f, g) => both(f, g, (a, b) => () => held(a() - b())),
    mul,
    div: (f, g) => (g.is && Number.isFinite(g.is) ? mul(f, constant(Math.sign(g.is) * g.d, Math.abs(g.is))) : giveUp()),
    raised: (f, k) => (k < 1 ? giveUp() : whole(f.d ** k, () => held(f() ** k))),
    call: (title, f) => (title === "sqrt" ? rootOf(f) : giveUp()),
    abs: (f) => whole(f.d, () => Math.abs(f())),
    max: extreme(Math.max), min: extreme(Math.min),
    fixed: (f) => f,
    choose: (test, f, g) => both(f, g, (a, b) => () => (test() ? a() : b())),
    compare: (f, g, op, holds) => {
      const d = together(f.d, g.d), [a, b] = [by(f, d / f.d), by(g, d / g.d)];
      return () => { const x = a(), y = b(); return holds(x === y ? 0 : x - y); };
    },
    sum: (f, count, at, where) => whole(f.d, () => {
      let all = 0;
      for (let k = 0; k < count; k += 1) { at(k); if (!where || where()) all = held(all + f()); }
      return all;
    }),
    dot: (x, i, stepI, y, j, stepJ, count) => {
      const X = of(x), Y = of(y), xn = X.n, yn = Y.n;
      return whole(X.d * Y.d, () => {
        let all = 0, sizes = 0;
        for (let k = 0, a = i(), b = j(); k < count; k += 1, a += stepI, b += stepJ) {
          const term = xn[a] * yn[b];
          all += term;
          sizes += Math.abs(term);
        }
        if (!(sizes < MOST)) giveUp(); // also where an entry is -∞
        return all;
      });
    },
    keep: (f, place, count) => {
      if (f.is !== undefined) return f; // computed already, and read by others
      const known = new Float64Array(count).fill(NaN);
      return whole(f.d, () => { const k = place(); return known[k] === known[k] ? known[k] : (known[k] = f()); });
    },
  };
}
