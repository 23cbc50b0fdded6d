// How every entry comes about, in the digits that are shown: as --work writes it.

import {
  E, MINUS_INFINITY, ZERO, added, call, given, indexed, minus, negative, number, ordered, ownNumber, plus, power as raised,
  productOf, quotient, rootOf, significant, sumOf, symbol, turnedRound, whole, written, by, over, placeOfFirst,
} from "./expressions.js";
import { fix, greatest, halfAway, halfEven, pointed, power, ratio, readNumber, size, tanh, tenTo } from "./numbers.js";
import {
  FUNCTIONS, Matrix, SINUSOIDS_BASE, activated, divisor, forbidding, namedMasks, paired, parted, placeOf, serving, settled,
  turnBy, winners,
} from "./operations.js";
import { shownText } from "./plan.js";

const MOST_MORE_DIGITS = 12, FOOTNOTE_DIGITS = 2, LARGEST_EXPONENT = 230n;
const LARGEST_WRITTEN = { n: 10n ** 7n, d: 1n }, DUST = { n: 1n, d: 10n ** 60n };
const HALF = ratio(1n, 2n), CUBE = ratio(44715n, 1000000n);
const isMore = (a, b) => size(a.n) * b.d > size(b.n) * a.d;
export const made = (forms, remark = "", exact = forms[0].exact) => ({ forms, remark, exact });
const NOTHING_LEFT = made([ZERO], "no key is left to attend to", ratio(0n));

// ---------------------------------------------------------------- each operation explains itself

export const range = (count) => Array.from({ length: count }, (_, k) => k);
const less = (entry, mean) => (mean ? sumOf(entry, negative(mean)) : entry);
export const row = (X, h, i) => range(X.matrix.c).map((k) => X.at(h, i, k));
export const same = (operand, h, i, j) => made([operand.entry(h, i, j)], "", operand.at(h, i, j).exact);
export const square = (it) => raised(it, whole(2));

export function angle(place, base, pair, d) {
  if (!pair) return given(place);
  return quotient(given(place), raised(given(base), quotient(whole(2 * pair), whole(d))));
}

function turned(x, y, cos, sin, isSecond) {
  if (isSecond) return sumOf(productOf([x, sin]), productOf([y, cos]));
  return sumOf(productOf([x, cos]), negative(productOf([y, sin])));
}

/** Write a value that was added up: what decimals leave where all cancels is nothing. */
export const writeSum = (X, value, rational) => X.write(isMore(DUST, value) ? ratio(0n) : value, rational);

/** One number of 2^-bits, from a function of an entry. */
export const inBits = (n, w) => ({ n, d: 1n << BigInt(w) });
/** The same with fewer: what is less than the last digit carried is nothing, as it is to attncalc. */
export const cut = (n, wide, w) => inBits(n >> BigInt(wide - w + 16), w - 16);
export const digitsOf = (X, w, h, i, j) => w + 64 + 4 * Math.max(0, placeOfFirst({ n: size(X.matrix.at(h, i, j)) + X.matrix.d, d: X.matrix.d }) * 4);

const ACTIVATED = {
  relu: (X, w, ...at) => [call("ReLU", X.at(...at))],
  gelu: (X, w, ...at) => {
    const entry = X.at(...at), wide = digitsOf(X, w, ...at);
    const share = writeSum(X, cut(FUNCTIONS.gelu(X.matrix.at(...at), X.matrix.d, wide), wide, w), null);
    return [productOf([entry, call("Φ", entry)]), productOf([entry, share])];
  },
  "gelu-tanh": (X, w, ...at) => {
    const entry = X.at(...at), half = ownNumber(HALF), wide = digitsOf(X, w, ...at);
    const inner = sumOf(entry, productOf([ownNumber(CUBE), raised(entry, whole(3))]));
    const share = sumOf(whole(1), call("tanh", productOf([rootOf(quotient(whole(2), symbol("π"))), inner])));
    const value = cut(FUNCTIONS["gelu-tanh"](X.matrix.at(...at), X.matrix.d, wide), wide, w);
    return [productOf([half, entry, share]), productOf([half, entry, writeSum(X, value, null)])];
  },
  silu: (X, w, ...at) => {
    const entry = X.at(...at);
    const below = sumOf(whole(1), raised(E, negative(entry)));
    const far = powerOf(minus({ n: X.matrix.at(...at), d: X.matrix.d }), w);
    const value = far.exponent && far.n ? far : plus(ratio(1n), far);
    return [quotient(entry, below), quotient(entry, X.write(value, null))];
  },
  tanh: (X, w, ...at) => [call("tanh", X.at(...at))],
};
const TITLES = { relu: "ReLU", gelu: "GELU", "gelu-tanh": "GELU", silu: "SiLU" };

const FAR = 100000, LEAST_EXPONENT = -23n * 10n ** 17n;

/** e to the power n / d, with as many digits however small or large it is. */
export function powerOf({ n, d }, w) {
  if (n < LEAST_EXPONENT * d) return ratio(0n);
  const { m, k } = power(fix(n, d, w), w);
  if (Math.abs(k) > FAR) return { n: k < 0 ? 0n : 1n << BigInt(FAR), d: 1n, exponent: { n, d }, below: ratio(1n) };
  return k < 0 ? { n: m, d: 1n << BigInt(w - k) } : { n: m << BigInt(k), d: 1n << BigInt(w) };
}

function activatedEntry(kind, X, w, ...at) {
  const x = { n: X.matrix.at(...at), d: X.matrix.d };
  if (kind === "silu" && size(x.n) < 50000n * x.d) return over(x, plus(ratio(1n), powerOf(minus(x), w))); // however small
  if (kind === "silu" && x.n < 0n) return { n: 0n, d: 1n, exponent: x, below: over(ratio(1n), x) };
  const own = settled(activated(kind, new Matrix(0, 1, 1, [x.n], x.d, X.matrix.isExact), w), w);
  return { n: own.n[0], d: own.d };
}

function activation(kind, X, w, h, i, j) {
  const forms = ACTIVATED[kind](X, w, h, i, j);
  if (kind !== "relu") return made(forms);
  if (X.matrix.at(h, i, j) < 0n) return made(forms, "a negative number becomes 0", ratio(0n));
  return made(forms, "", X.at(h, i, j).exact);
}

/** The row of scores that a weight comes from. */
export function scoresOf(S, h, i) {
  const numbers = range(S.matrix.c).map((k) => S.matrix.at(h, i, k));
  return { numbers, d: S.matrix.d, allowed: numbers.map((n) => n !== null), won: winners(numbers, S.matrix.isExact), entries: row(S, h, i) };
}

/** A weight of a row of scores, behind the first `c` of which a sink may stand. */
export function weightOf(S, { numbers, d, allowed, won, entries }, w, j, c = numbers.length) {
  if (!allowed.slice(0, c).some(Boolean)) return NOTHING_LEFT;
  const shifts = greatest(numbers) > LARGEST_EXPONENT * d;
  const first = won.indexOf(true);
  const largest = numbers.reduce((most, n, k) => (n !== null && n > numbers[most] ? k : most), first);
  const powers = numbers.map((n) =>
    (n === null ? ratio(0n) : powerOf({ n: shifts ? n - numbers[largest] : n, d }, w)));
  const terms = entries.map((entry, k) =>
    raised(E, shifts && allowed[k] ? sumOf(entry, negative(entries[largest])) : entry));
  const deepest = powers.reduce((most, { d: own }) => (own > most ? own : most), 1n);
  const total = { n: powers.reduce((all, each) => all + each.n * (deepest / each.d), 0n), d: deepest };
  let exact = allowed[j] ? null : ratio(0n);
  if (allowed[j] && won.every((each, k) => each === allowed[k]))
    exact = ratio(1n, BigInt(allowed.filter(Boolean).length));
  return made([quotient(terms[j], added(...terms)), quotient(S.write(powers[j], null), S.write(total, null))],
    shifts ? "the largest score is taken off first" : "", exact);
}

/** A weight that the digits carried hold too few of: e^(s - largest) over the sum. */
export function preciseIn(S, value, w, h, i, j) {
  const own = S.at(h, i, j);
  if (own === null || isMore(value, { n: 1n, d: 10n ** 70n })) return value;
  const numbers = range(S.c).map((k) => S.at(h, i, k)).filter((n) => n !== null);
  const largest = numbers.reduce((most, n) => (n > most ? n : most), own);
  const total = numbers.reduce((all, n) => {
    const { m, k } = power(fix(n - largest, S.d, w), w);
    return all + (m >> BigInt(-k));
  }, 0n);
  const found = powerOf({ n: own - largest, d: S.d }, w);
  return found.exponent ? { ...found, below: inBits(total, w) } : over(found, inBits(total, w));
}

/** Weights by their operation, in as many digits as it takes. */
export const PRECISE = { Softmax: ([S], ...of) => preciseIn(S, ...of) };

function hardmax(S, h, i, j) {
  const { allowed, won } = scoresOf(S, h, i);
  if (!allowed.some(Boolean)) return NOTHING_LEFT;
  if (!won[j]) return made([ZERO], "a larger score stands beside it");
  const count = won.filter(Boolean).length;
  if (count === 1) return made([whole(1)], "the largest score");
  return made([quotient(whole(1), whole(count))], `${count} scores share the first place`);
}

function shareOfSum(S, h, i, j) {
  const { numbers, allowed, entries } = scoresOf(S, h, i);
  if (!allowed.some(Boolean)) return NOTHING_LEFT;
  if (!allowed[j]) return made([ZERO], "a forbidden score counts as 0");
  const total = added(...entries.filter((_, k) => allowed[k]));
  const value = { n: numbers.reduce((all, n) => all + (n ?? 0n), 0n), d: S.matrix.d };
  return made([quotient(S.at(h, i, j), total), quotient(S.at(h, i, j), S.write(value, total.exact))]);
}

/** What normalised entries are divided by: √(variance + eps), or √variance + eps. */
export function below(step, spread) {
  const eps = ownNumber(readNumber(step.eps));
  if (!eps.exact.n) return rootOf(spread);
  return step.is_inside ? rootOf(sumOf(spread, eps)) : sumOf(rootOf(spread), eps);
}

function normalise(step, inputs, w, h, i, j) {
  const [X, mean, variance, gain, bias] = parted(step, inputs);
  const entry = X.at(h, i, j), own = mean && mean.at(h, i, j), spread = variance.at(h, i, j);
  const under = below(step, spread);
  const value = { n: X.matrix.at(h, i, j), d: X.matrix.d };
  const above = mean ? plus(value, minus({ n: mean.matrix.at(h, i, j), d: mean.matrix.d })) : value;
  const [root] = divisor(step, new Matrix(0, 1, 1, [variance.matrix.at(h, i, j)], variance.matrix.d), 2 * w);
  const first = quotient(less(entry, own), under);
  const short = quotient(X.write(above, first.top.exact), X.write(inBits(root, 2 * w), under.exact));
  const whole = (form) => {
    const gained = gain ? productOf([gain.at(h, i, j), form]) : form;
    return bias ? sumOf(gained, bias.at(h, i, j)) : gained;
  };
  return made([whole(first), whole(short)]);
}

/** One of a pair that is turned: by an angle as it is said, and by what its cosine and sine come to. */
export function turnedEntry(step, X, w, [h, t, j], d, said, values, remark = "", isBack = false) {
  const { isSecond, other } = paired(step.pairing, j, d), [own, beside] = [X.at(h, t, j), X.at(h, t, other)];
  // x cos + y sin, and y cos - x sin, on the way back: the other one's turn, x and y changed
  const second = isSecond !== isBack, [x, y] = second ? [beside, own] : [own, beside];
  const written = values.map((n) => X.write(inBits(n, w), null));
  return made([turned(x, y, call("cos", said), call("sin", said), second), turned(x, y, ...written, second)], remark);
}

export const EXPLAIN = {
  Project: (step, [X, W, b], w, h, i, j) => made([added(
    ...range(X.matrix.c).map((k) => ordered(X.at(h, i, k), W.at(h, k, j))), ...(b ? [b.at(h, 0, j)] : []))]),
  Scores: (step, [Q, K], w, h, i, j) => made([added(...range(Q.matrix.c).map((k) =>
    ordered(Q.at(h, i, k), K.at(serving(Q.matrix, K.matrix, h), j, k))))]),
  Weigh: (step, [A, V], w, h, i, j) => made([added(...range(A.matrix.c).map((k) =>
    ordered(A.at(h, i, k), V.at(serving(A.matrix, V.matrix, h), k, j))))]),
  DivideBySqrt: (step, [S], w, ...at) => made([quotient(S.at(...at), rootOf(whole(step.d_k)))]),
  Multiply: (step, [S], w, ...at) => made([productOf([S.at(...at), ownNumber(readNumber(step.factor))])]),
  SoftCap: (step, [S], w, ...at) => {
    const cap = readNumber(step.cap), limit = ownNumber(cap);
    const value = over({ n: S.matrix.at(...at), d: S.matrix.d }, cap);
    const tangent = inBits(tanh(fix(value.n, value.d, w), w), w);
    return made([productOf([limit, call("tanh", quotient(S.at(...at), limit))]),
      productOf([limit, writeSum(S, tangent, null)])]);
  },
  Mask: (step, [S, ...masks], w, h, i, j) => {
    const named = namedMasks(step, masks.map((each) => each.matrix));
    const name = forbidding(step, S.matrix, named, h, i, j);
    if (name) return made([MINUS_INFINITY], `forbidden by ${name}`);
    const bias = masks[step.masks.indexOf("bias")];
    return made([bias ? sumOf(S.at(h, i, j), bias.at(h, i, j)) : S.at(h, i, j)]);
  },
  Softmax: (step, [S], w, h, i, j) => weightOf(S, scoresOf(S, h, i), w, j),
  HardMax: (step, [S], w, ...at) => hardmax(S, ...at),
  DivideBySum: (step, [S], w, ...at) => shareOfSum(S, ...at),
  Add: (step, inputs, w, ...at) => made([sumOf(...inputs.map((each) => each.at(...at)))]),
  Concat: (step, [H], w, h, i, j) => same(H, Math.floor(j / H.matrix.c), i, j % H.matrix.c),
  Mean: (step, [H], w, h, i, j) =>
    made([quotient(sumOf(...range(H.matrix.h).map((head) => H.at(head, i, j))), whole(H.matrix.h))]),
  Stack: (step, [X, Y], w, h, i, j) => (i < X.matrix.r ? same(X, h, i, j) : same(Y, h, i - X.matrix.r, j)),
  Same: (step, [X], w, ...at) => same(X, ...at),
  Given: (step, [X], w, ...at) => made([X.at(...at)], "given"),
  TakeRow: (step, [X], w, h, i, j) => same(X, h, step.which === "first" ? 0 : X.matrix.r - 1, j),
  TokenMean: (step, [X], w, h, i, j) =>
    made([quotient(added(...range(X.matrix.r).map((k) => X.at(h, k, j))), whole(X.matrix.r))]),
  FeatureMean: (step, [X], w, h, i) => made([quotient(added(...row(X, h, i)), whole(X.matrix.c))]),
  FeatureVariance: (step, [X, mean], w, h, i) => made([quotient(
    added(...row(X, h, i).map((entry) => square(less(entry, mean.at(h, i, 0))))), whole(X.matrix.c - step.ddof))]),
  FeatureSquares: (step, [X], w, h, i) =>
    made([quotient(added(...row(X, h, i).map(square)), whole(X.matrix.c))]),
  Normalise: normalise,
  Activate: (step, [X], w, ...at) => activation(step.kind, X, w, ...at),
  Gate: (step, [X, gate], w, ...at) => {
    const found = activation(step.kind, X, w, ...at);
    const write = step.kind === "silu" ? X.write : (...all) => writeSum(X, ...all);
    const value = write(activatedEntry(step.kind, X, w, ...at), found.exact), other = gate.at(...at);
    const short = productOf([value, other]);
    const exact = [found.exact, other.exact].some((each) => each?.n === 0n)
      ? ratio(0n) : found.exact && other.exact && by(found.exact, other.exact);
    return made([productOf([call(TITLES[step.kind], X.at(...at)), other]), short], found.remark, exact);
  },
  Sinusoids: (step, [X], w, h, t, j) => {
    const place = readNumber(String(step.offset + t));
    return made([call(j % 2 ? "cos" : "sin", angle(place, SINUSOIDS_BASE, j >> 1, X.matrix.c))]);
  },
  Rotate: (step, [X], w, h, t, j) => {
    const base = readNumber(step.base), place = placeOf(step, t), { pair } = paired(step.pairing, j, X.matrix.c);
    return turnedEntry(step, X, w, [h, t, j], X.matrix.c, angle(place, base, pair, X.matrix.c), turnBy(place, base, pair, X.matrix.c, w));
  },
};

// ---------------------------------------------------------------- the work of a solution

/** Whether a form is a quotient, or one times a gain, plus a bias; or, of gradients, a product by a rest. */
function hasQuotient(form) {
  if (form.is === "sum") return hasQuotient(form.terms[0]);
  if (form.is === "product") return hasQuotient(form.factors.at(-1)) || EXPLAIN.less?.(form.factors.at(-1));
  return form.is === "quotient";
}

class DividedByZero extends Error {}

/** What numbers come to as they are written; null where others stand among them. */
function valueOfDigits(form) {
  if (form.is === "number") {
    if (!/^-*[0-9.]+$/.test(form.text)) return null;
    const { n, d } = readNumber(form.text);
    const tens = Math.max(-5000, Math.min(5000, Number(form.tens))); // beyond, it is as good as 0, or as ∞
    return tens < 0 ? ratio(n, d * tenTo(-tens)) : ratio(n * tenTo(tens), d);
  }
  if (form.is === "negative") {
    const value = valueOfDigits(form.term);
    return value && minus(value);
  }
  const parts = form.is === "quotient" ? [form.top, form.bottom] : form.terms ?? form.factors ?? [];
  if (parts.length !== 2) return null;
  const [left, right] = parts.map(valueOfDigits);
  if (!left || !right) return null;
  if (form.is !== "quotient") return form.is === "sum" ? plus(left, right) : by(left, right);
  if (!right.n) {
    if (!left.n) return null; // 0 / 0: no more digits help
    throw new DividedByZero();
  }
  return over(left, right);
}

/** Whether entries are shown in digits alone, which are the same where those are. */
export const areInDigits = true;

export const areSame = (one, other) => one && one.n === other.n && one.d === other.d;

/** The written-out work of a solution; `line` tells of one entry by its place in the plan, from 0. */
export class Work {
  constructor(solution) {
    this.solution = solution;
    this.steps = Object.fromEntries(solution.steps.map((step) => [step.name, step]));
    this.decimals = solution.data.settings.decimals;
    this.isEachStep = solution.data.settings.rounding === "each-step";
    this.byColumns = solution.data.settings.layout === "columns";
    this.found = new Map();
  }

  /** The work of one entry: what it equals, what is shown of it, and what is read for it. */
  line(name, h, i, j) {
    const { forms: all, remark, exact } = this.explanation(name, h, i, j);
    const result = this.shown(name, h, i, j);
    const value = result === MINUS_INFINITY ? null : result.exact ?? readNumber(result.text);
    const isExact = value === null || areSame(exact, value);
    const last = all.at(-1);
    const isSaid = ["number", "ratio"].includes(last.is) && ((last.text === result.text && !last.tens)
      || (isExact && areSame(last.exact, value)));
    return {
      entry: this.entry(name, h, i, j), forms: isSaid ? all.slice(0, -1) : all, result, isExact, remark,
      hidden: this.hidden(name, h, i, j),
    };
  }

  /** The line as --work writes it. */
  text(name, h, i, j) {
    const line = this.line(name, h, i, j);
    const parts = [written(line.entry), ...line.forms.map((form) => `= ${written(form)}`)];
    parts.push(`${line.isExact ? "=" : "≈"} ${written(line.result)}${line.hidden ? "†" : ""}`);
    return parts.join(" ") + (line.remark ? `   (${line.remark})` : "");
  }

  matrix(name) {
    return this.solution.known[name];
  }

  entry(name, h, i, j) {
    const isTurned = this.byColumns && this.solution.data.given[name]?.role !== "image";
    const place = isTurned ? [j + 1, i + 1] : [i + 1, j + 1];
    return indexed(name, this.matrix(name).h ? [h + 1, ...place] : place);
  }

  shown(name, h, i, j) {
    const whole = this.solution.results[name].digits.at(h, i, j);
    return whole === null ? MINUS_INFINITY : number(shownText(whole, this.decimals));
  }

  /** What an entry is where it is shown as 0.00 and is not 0. */
  hidden(name, h, i, j) {
    const { digits, made: own } = this.solution.results[name];
    if (digits.at(h, i, j) !== 0n) return null;
    const value = { n: own.at(h, i, j), d: own.d };
    const step = this.steps[name];
    if (step.op in PRECISE) {
      const precise = PRECISE[step.op](step.inputs.map((each) => this.matrix(each)), value, this.solution.bits, h, i, j);
      return precise.n || precise.exponent ? significant(precise, FOOTNOTE_DIGITS) : null;
    }
    return isMore(value, DUST) ? significant(value, FOOTNOTE_DIGITS) : null;
  }

  /** What was found out once: each entry is read by many others. */
  held(key, find) {
    if (!this.found.has(key)) this.found.set(key, find());
    return this.found.get(key);
  }

  explanation(name, ...at) {
    return this.held(`${name} ${at}`, () => this.explain(name, ...at));
  }

  /** Which entries an entry is worked out from, in the order of its line, each once. */
  readFor(name, h, i, j) {
    const found = [], step = this.steps[name];
    const operands = step.inputs.map((each) => this.operand(each, 0, found));
    EXPLAIN[step.op](step, operands, this.solution.bits, h, i, j);
    const seen = new Set();
    return found.filter((read) => {
      const key = `${read.name} ${read.h} ${read.i} ${read.j}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  explain(name, h, i, j) {
    const step = this.steps[name];
    const inDigits = (more) => {
      const operands = step.inputs.map((each) => this.operand(each, more));
      return EXPLAIN[step.op](step, operands, this.solution.bits, h, i, j);
    };
    // a quotient of rounded numbers may come to another result: more digits of them, then
    const first = inDigits(0);
    let found = first;
    for (let more = 1; !this.comesOut(found.forms.at(-1), name, h, i, j); more += 1) {
      if (more === MOST_MORE_DIGITS) {
        found = first; // what it reads was rounded, too
        break;
      }
      found = inDigits(more);
    }
    return this.byColumns ? { ...found, forms: found.forms.map(turnedRound) } : found;
  }

  comesOut(form, name, h, i, j) {
    if (!hasQuotient(form)) return true;
    try {
      const value = valueOfDigits(form);
      if (!value) return true;
      return halfAway(value.n * tenTo(this.decimals), value.d) === this.solution.results[name].digits.at(h, i, j);
    } catch (error) {
      if (error instanceof DividedByZero) return false; // a root that shows as 0.00
      throw error;
    }
  }

  operand(name, more, reads = null) {
    const matrix = this.matrix(name), isMade = this.isMade(name);
    return {
      matrix,
      at: (h, i, j) => {
        const [own, r, c] = [matrix.h > 1 ? h : 0, matrix.r > 1 ? i : 0, matrix.c > 1 ? j : 0];
        reads?.push({ name, h: own, i: r, j: c });
        return isMade ? this.readStep(name, own, r, c) : this.readGiven(matrix, own, r, c);
      },
      entry: (h, i, j) => {
        reads?.push({ name, h, i, j });
        return this.entry(name, h, i, j);
      },
      write: (value, rational) => this.written(rational ?? value, more, rational),
    };
  }

  /** Whether a matrix is that of a step, and none that is given, as weights may be. */
  isMade(name) {
    return name in this.steps && !Object.hasOwn(this.solution.data.given, name);
  }

  readGiven(matrix, h, i, j) {
    const n = matrix.at(h, i, j);
    return n === null ? MINUS_INFINITY : ownNumber(ratio(n, matrix.d));
  }

  /** An entry of a step as the next one reads it. */
  readStep(name, h, i, j) {
    const shown = this.shown(name, h, i, j);
    if (shown === MINUS_INFINITY) return shown;
    if (this.isEachStep) return number(shown.text, readNumber(shown.text));
    return number(shown.text, this.explanation(name, h, i, j).exact);
  }

  /** A number that was computed on the way, at the shown decimals or some more. */
  written(value, more) {
    const decimals = this.decimals + more;
    const isTiny = value.exponent || value.n !== 0n && 2n * size(value.n) * tenTo(decimals) < value.d;
    if (isTiny || !isMore(LARGEST_WRITTEN, value)) return significant(value, Math.max(decimals + 1, 3));
    // dust is cleared first: in bits a tie may stand a last place below itself
    const { guard } = this.solution;
    return number(pointed(halfAway(halfEven(value.n * tenTo(guard), value.d), tenTo(guard - decimals)), decimals));
  }
}
