// The range of an entry for the ranges of its inputs: for marking.
//
// A function returns the low end and leaves the high one in H[0]. Ends are rounded outwards.

import { name, node, num } from "./parse.js";
import { Program } from "./interpret.js";
import { cosOf, erfOf, logOf, powerOf, sinOf, tanhOf } from "./near.js";

const U = 2 ** -51, LEAST = 1e-300, OWN = 2 ** -44; // errors of one rounding, of underflow, of functions
const H = new Float64Array(1);
const TURN = 2 * Math.PI, FUZZ = 1e-9, MOST_HALVINGS = 200, TIGHT = 1e-11;

const between = (low, high) => { H[0] = high; return low; };
const down = (v, by = U) => (Number.isFinite(v) && v !== 0 ? v - Math.abs(v) * by - LEAST : v);
const up = (v, by = U) => -down(-v, by);
const times = (a, b) => (a === 0 || b === 0 ? 0 : a * b);
const over = (a, b) => (a === 0 ? 0 : b === 0 ? Infinity * a : Math.abs(b) === Infinity ? 0 : a / b);
const hullOf = (...all) => between(down(Math.min(...all)), up(Math.max(...all)));

/** A function that never falls. */
const rising = (act) => (f) => () => { const low = f(), high = H[0]; return between(down(act(low), OWN), up(act(high), OWN)); };
/** A sine or cosine, which is 1 at `at` of a turn, and -1 half a turn later. */
const wave = (act, at) => (f) => () => {
  const low = f(), high = H[0], a = low / TURN - at, b = high / TURN - at;
  if (!(Math.max(Math.abs(low), Math.abs(high)) < 2 ** 30)) return between(-1, 1);
  const ends = [act(low), act(high)], holds = (half) => Math.floor(b - half + FUZZ) >= Math.ceil(a - half - FUZZ);
  return between(holds(0.5) ? -1 : down(Math.min(...ends), OWN), holds(0) ? 1 : up(Math.max(...ends), OWN));
};
const CALLS = {
  exp: rising((x) => (x < -700 ? 0 : x > 700 ? Infinity : powerOf(x))),
  sqrt: rising((x) => Math.sqrt(Math.max(0, x))),
  log: rising((x) => (x <= 0 ? -Infinity : x === Infinity ? x : logOf(x))),
  tanh: rising(tanhOf), erf: rising(erfOf),
  sin: wave(sinOf, 0.25), cos: wave(cosOf, 0),
};
const add = (f, g) => () => { const a = f(), b = H[0], c = g(); return between(down(a + c), up(b + H[0])); };
const sub = (f, g) => () => {
  const a = f(), b = H[0], c = g(), d = H[0];
  return between(a === -Infinity ? a : down(a - d), b === -Infinity ? b : up(b - c));
};
const mul = (f, g) => () => { const a = f(), b = H[0], c = g(), d = H[0]; return hullOf(times(a, c), times(a, d), times(b, c), times(b, d)); };
const div = (f, g) => () => {
  const a = f(), b = H[0], c = g(), d = H[0];
  return c <= 0 && d >= 0 ? between(-Infinity, Infinity) : hullOf(over(a, c), over(a, d), over(b, c), over(b, d));
};
const even = (act) => (low, high) => {
  const ends = [act(low), act(high)];
  return between(low <= 0 && high >= 0 ? 0 : down(Math.min(...ends)), up(Math.max(...ends)));
};
function raised(f, k) {
  if (k < 0) return div(() => between(1, 1), raised(f, -k));
  const act = (x) => x ** k, both = even(act);
  return () => { const low = f(), high = H[0]; return k % 2 ? between(down(act(low), OWN), up(act(high), OWN)) : both(low, high); };
}

/** The largest mean of values by weights between ends that sum to 1: the rest goes to the largest first. */
function largestMean(low, high, values) {
  const order = values.map((_, k) => k).sort((a, b) => values[b] - values[a]);
  let left = 1, all = 0;
  for (const each of low) left -= each;
  for (const k of order) {
    const more = Math.max(0, Math.min(left, high[k] - low[k]));
    all += (low[k] + more) * values[k];
    left -= more;
  }
  return all;
}

/** The arithmetic; `matrix(name)` is { low, high, shares }: arrays, and whether its rows are weights that sum to 1. */
export function rangeArithmetic(matrix) {
  const number = ({ n, d }) => { const v = Number(n) / Number(d), e = d === 1n ? 0 : U; return () => between(down(v, e), up(v, e)); };
  const larger = (act) => (f, g, at, where) => {
    if (typeof g === "function") return () => { const a = f(), b = H[0], c = g(); return between(act(a, c), act(b, H[0])); };
    return () => {
      let [low, high] = [-Infinity, -Infinity];
      for (let k = 0; k < g; k += 1) {
        at(k);
        const holds = !where || where();
        if (holds === false) continue;
        const own = f();
        if (holds) low = Math.max(low, own);
        high = Math.max(high, H[0]);
      }
      return between(low, high);
    };
  };
  const sum = (f, count, at, where) => () => {
    let [low, high] = [0, 0];
    for (let k = 0; k < count; k += 1) {
      at(k);
      const holds = !where || where();
      if (holds === false) continue;
      const own = f(), most = H[0];
      low = down(low + (holds ? own : Math.min(0, own)));
      high = up(high + (holds ? most : Math.max(0, most)));
    }
    return between(low, high);
  };
  const self = {
    number, add, sub, mul, div, raised, sum,
    nothing: () => () => between(-Infinity, -Infinity),
    counted: (f) => () => { const v = f(); return between(v, v); },
    pi: () => () => between(down(Math.PI), up(Math.PI)),
    entry: (title, place) => {
      const { low, high, shares, at } = matrix(title);
      if (at) return () => { const ends = at(place()); return between(...ends); };
      if (shares) return () => { const k = place(); return between(Math.min(1, Math.max(0, low[k])), Math.min(1, Math.max(0, high[k]))); };
      return () => { const k = place(); return between(low[k], high[k]); };
    },
    neg: (f) => () => { const low = f(); return between(-H[0], -low); },
    share: div,
    /** x / (x + y): at the corners of both ranges. */
    portion: (f, g) => () => {
      const a = f(), b = H[0], c = g(), d = H[0];
      if (a + c <= 0 && b + d >= 0) return between(-Infinity, Infinity);
      return hullOf(over(a, a + c), over(a, a + d), over(b, b + c), over(b, b + d));
    },
    power: (f, g) => () => { const a = Math.max(0, f()), b = Math.max(0, H[0]), c = g(), d = H[0], all = [a ** c, a ** d, b ** c, b ** d]; return between(down(Math.min(...all), OWN), up(Math.max(...all), OWN)); },
    call: (title, f) => CALLS[title](f),
    abs: (f) => { const both = even(Math.abs); return () => { const low = f(); return both(low, H[0]); }; },
    max: larger(Math.max), min: larger(Math.min),
    fixed: (f) => f,
    choose: (test, f, g) => () => {
      const holds = test();
      if (holds !== null) return holds ? f() : g();
      const a = f(), b = H[0], c = g();
      return between(Math.min(a, c), Math.max(b, H[0]));
    },
    compare: (f, g, op, holds) => () => {
      const a = f(), b = H[0], c = g(), d = H[0];
      if (a === b && c === d) return holds(a === c ? 0 : a - c);
      const sides = [a > d ? 1 : b < c ? -1 : null, a === d ? 0 : null].filter((each) => each !== null);
      if (sides.length && sides[0]) return holds(sides[0]);
      if (op === "<=" && b <= c) return true;
      if (op === ">=" && a >= d) return true;
      if (op === ">" && b <= c) return false;
      return op === "<" && a >= d ? false : null;
    },
    dot: (x, i, stepI, y, j, stepJ, count) => {
      const X = matrix(x), Y = matrix(y), all = Array.from({ length: count }, (_, k) => k);
      let a = 0, b = 0;
      const total = sum(mul(() => between(X.low[a], X.high[a]), self.entry(y, () => b)), count, (k) => { a = i() + k * stepI; b = j() + k * stepJ; });
      if (!X.shares || stepI !== 1 || count !== X.shape.at(-1)) return total;
      return () => {
        const from = i(), to = j(), clip = (v) => Math.min(1, Math.max(0, v));
        const low = all.map((k) => clip(X.low[from + k])), high = all.map((k) => clip(X.high[from + k]));
        const add_ = (row) => row.reduce((one, other) => one + other, 0);
        if (add_(low) > 1 || add_(high) < 1) return total();
        const [least, most] = [Y.low, Y.high].map((end) => all.map((k) => end[to + k * stepJ]));
        return between(down(-largestMean(low, high, least.map((v) => -v)), OWN), up(largestMean(low, high, most), OWN));
      };
    },
    hardmax: (f, count, at, place) => () => {
      const j = place(), low = [], high = [];
      for (let k = 0; k < count; k += 1) { at(k); low.push(f()); high.push(H[0]); }
      const best = Math.max(...low), mayWin = high.map((end) => end >= best && end !== -Infinity), many = mayWin.filter(Boolean).length;
      if (many <= 1) return between(mayWin[j] ? 1 : 0, mayWin[j] ? 1 : 0);
      const isTie = low.every((end, k) => !mayWin[k] || end === high[k]); // all known and equal
      return isTie ? between(mayWin[j] ? down(1 / many) : 0, mayWin[j] ? up(1 / many) : 0) : between(0, mayWin[j] ? 1 : 0);
    },
    /** Rows so that each score is read once: 1 / (1 + Σ e^(s_k - s_j)), and x / (x + others). */
    row: (x, own) => {
      const [body, size, at, ...beside] = x.parts, of = (op, ...parts) => node(op, parts), none = of("neg", node("inf"));
      const power = (score) => node("call", [of("-", score, own)], { name: "exp" }), isOther = of("!=", name(x.index), at);
      if (x.name === "hardmax") return undefined;
      const others = (each, ...tests) => node("sum", [each, size, [isOther, ...tests].reduce((a, b) => of("and", a, b))], { index: x.index });
      if (x.name === "share") return of("if", of("==", own, none), num(0), of("portion", own, others(body, of("!=", body, none))));
      const total = beside.reduce((all, each) => of("+", all, power(each)), of("+", num(1), others(power(body))));
      return of("if", of("==", own, none), num(0), of("/", num(1), total));
    },
    /** A function that reads one entry several times: its range is halved until the bounds are tight. */
    curve: (f, make) => {
      const part = { low: 0, high: 0 }, act = make(() => between(part.low, part.high));
      const at = (low, high) => { Object.assign(part, { low, high }); const least = act(); return { low, high, least, most: H[0] }; };
      return () => {
        const low = f(), high = H[0];
        if (low === high || !Number.isFinite(high - low)) { const { least, most } = at(low, high); return between(least, most); }
        const tips = [at(low, low), at(high, high)], seen = { least: Math.max(...tips.map((tip) => tip.least)), most: 0 };
        seen.least = Math.min(tips[0].most, tips[1].most);
        seen.most = Math.max(tips[0].least, tips[1].least);
        const ends = {};
        for (const [side, turn] of [["least", 1], ["most", -1]]) {
          let pieces = [at(low, high)];
          for (let halving = 0; halving < MOST_HALVINGS; halving += 1) {
            pieces.sort((a, b) => turn * (a[side] - b[side])); // the one that reaches furthest first
            const { low: l, high: h, [side]: end } = pieces[0], m = (l + h) / 2;
            if (turn * (seen[side] - end) <= TIGHT * (1 + Math.abs(end)) || !(l < m && m < h)) break;
            const tip = at(m, m);
            seen[side] = turn > 0 ? Math.min(seen[side], tip.most) : Math.max(seen[side], tip.least);
            pieces = [at(l, m), at(m, h), ...pieces.slice(1)].filter((piece) => turn * (piece[side] - seen[side]) < 0);
            if (!pieces.length) pieces = [{ low: m, high: m, [side]: seen[side] }];
          }
          ends[side] = turn > 0 ? Math.min(...pieces.map((piece) => piece.least ?? Infinity), seen.least) : Math.max(...pieces.map((piece) => piece.most ?? -Infinity), seen.most);
        }
        return between(down(ends.least), up(ends.most));
      };
    },
    keep: (f, place, count) => {
      const low = new Float64Array(count), high = new Float64Array(count).fill(NaN);
      return () => {
        const k = place();
        if (high[k] !== high[k]) { low[k] = f(); high[k] = H[0]; }
        return between(low[k], high[k]);
      };
    },
  };
  return self;
}

/**
 * The ranges of the entries of an equation: { shape, low, high }.
 *
 * Of a recurrence `matrix` gives nothing for rows that are to be computed, entry by entry; others read
 * what `carried` makes of them.
 */
export function reach(equation, world, matrix, carried = (ends) => ends) {
  const group = [equation, ...equation.group], rows = {}, found = (title) => matrix(title) ?? rowsOf(title);
  const rowsOf = (title) => (rows[title] ??= computed(group.find((each) => each.name === title)));
  const { program, endsAt } = computed(equation), { shape, count } = program;
  const low = new Float64Array(count), high = new Float64Array(count);
  for (let k = 0; k < count; k += 1) [low[k], high[k]] = endsAt(k);
  return { shape, low, high };

  function computed(own) {
    const program = new Program({ ...own, group: group.filter((each) => each !== own) }, world, rangeArithmetic(found)), ends = [];
    const endsAt = (k) => {
      if (!ends[k]) {
        const before = [...program.I];
        program.goTo(k);
        ends[k] = [program.entry(), H[0]];
        program.I.splice(0, before.length, ...before);
      }
      return ends[k];
    };
    return { program, endsAt, at: (k) => carried(endsAt(k)) };
  }
}
