// Solves a problem: every shown digit is proven by a bound, or computed exactly.
//
// whole.js first (exact in doubles), else near.js (doubles with a bound), and exact.js for each entry
// whose digit the bound leaves open.

import { NoValue, Refusal, bits, halfAway, pointed, readNumber, tenTo, together } from "../numbers.js";
import { LARGEST, asRatio, exactArithmetic, isRational, magnitude, rational, roundedTo, toDouble } from "./exact.js";
import { Program } from "./interpret.js";
import { bound, nearArithmetic } from "./near.js";
import { parse, some } from "./parse.js";
import { source } from "./source.js";
import { GivenUp, MOST, wholeArithmetic } from "./whole.js";

const SLACK = 1 + 1e-9; // for the roundings of bounds
const FEWER = 160; // binary digits that decide most open entries
const DIGITS = { precision: 150, guard: 110 };

const parsed = new Map();
/** The equation of a text, parsed once; further lines are computed together with the first. */
export function equationOf(text) {
  if (!parsed.has(text)) {
    const [own, ...group] = text.split("\n").map((line) => parse(line));
    parsed.set(text, { ...own, group });
  }
  return parsed.get(text);
}

/** Where the k-th entry is, from 1. */
export function placeOf(shape, k) {
  const place = [];
  for (let axis = shape.length - 1, rest = k; axis >= 0; axis -= 1) {
    place.unshift((rest % shape[axis]) + 1);
    rest = Math.floor(rest / shape[axis]);
  }
  return place;
}

/** Heads (0 for none), rows and columns of a matrix. */
export const sidesOf = ({ shape }) => (shape.length < 3 ? [0, ...shape] : shape);

// ---------------------------------------------------------------- matrices

/** A matrix: its shape, `exactAt(k, w)`, and its values for each kind of number. */
class Matrix {
  constructor(shape, exactAt, more = {}) {
    Object.assign(this, { shape, exactAt, whole: null, ...more });
    this.count = shape.reduce((all, side) => all * side, 1);
  }
  get near() {
    this.bounded ??= this.whole ? this.fromWhole() : this.fromExact();
    return this.bounded;
  }
  fromWhole() {
    const { n, d } = this.whole;
    if (d === 1) return { v: n, e: null };
    return { v: n.map((each) => each / d), e: n.map((each) => (each === -Infinity || each === 0 ? 0 : (Math.abs(each) / d) * 2 ** -52)) };
  }
  fromExact() {
    const v = new Float64Array(this.count), e = new Float64Array(this.count);
    for (let k = 0; k < this.count; k += 1) [v[k], e[k]] = toDouble(this.exactAt(k));
    return { v, e };
  }
}

/** A matrix of exact numbers: whole numbers over one denominator where doubles hold them. */
function matrixOf(shape, exact) {
  const d = exact.reduce((all, each) => (each && all && isRational(each) ? together(all, each.d) : each && all ? null : all), 1n);
  const n = d !== null && bits(d) < 53 && Float64Array.from(exact, (each) => (each ? Number(each.n * (d / each.d)) : -Infinity));
  const isWhole = n && n.every((each) => Math.abs(each) < MOST || each === -Infinity);
  const isInteger = isWhole && d === 1n && !n.includes(-Infinity);
  return new Matrix(shape, (k) => exact[k], { whole: isWhole ? { n, d: Number(d) } : null, integers: isInteger ? n : null });
}

/** 2^-x, as slopes are; any other number as it was typed. */
function readEntry(typed) {
  const power = /^2\^(.+)$/.exec(typed);
  if (!power) return typed === "-inf" ? null : readNumber(typed);
  const { n, d } = readNumber(power[1]), A = exactArithmetic(600, null);
  return d === 1n ? rational(1n, 2n ** -n) : A.power(() => rational(2n), () => ({ n, d }))();
}

/** A given matrix, as texts: [heads or 0, rows, columns]. */
export const readMatrix = ({ shape, entries }) =>
  Object.assign(matrixOf(shape.filter((side, k) => side || k || shape.length < 3), entries.map(readEntry)), { typed: entries });

/** A matrix of whole numbers of the last shown place, as the next step reads it. */
const roundedMatrix = (shape, digits, decimals) =>
  matrixOf(shape, digits.map((each) => (each === -Infinity ? null : rational(BigInt(each), tenTo(decimals)))));

const small = (n) => (n === null ? -Infinity : n < 9007199254740992n && n > -9007199254740992n ? Number(n) : n);

// ---------------------------------------------------------------- steps

/** One step: its shape, its digits in units of the last place, and its entries as exact numbers. */
class Worked {
  constructor(step, world, reads, rules, within = null) {
    Object.assign(this, { step, world, reads, rules, plans: new Map(), open: 0 });
    const lines = step.equation.split("\n");
    this.equation = equationOf(step.equation);
    this.group = within ?? Object.fromEntries(lines.slice(1).map((line) => {
      const text = [line, ...lines.filter((each) => each !== line)].join("\n"), { name } = equationOf(text);
      return [name, () => new Worked({ ...step, name: step.rows[name], equation: text }, world, reads, rules, this.group)];
    }));
    this.group[this.equation.name] = () => this;
    if (within) return; // entries are computed as others read them
    try {
      if (!rules.filter) throw new GivenUp();
      this.inWholes();
    } catch (error) {
      if (!(error instanceof GivenUp || error instanceof RangeError)) throw error;
      this.inBounds();
    }
    const place = this.digits.indexOf(-Infinity);
    if (place >= 0 && !this.readsMinusInfinity()) this.refuse(place, "none");
  }

  /** The inputs of the equation; its own earlier rows, and those of its group, as the next step reads them. */
  matrixAt(title) {
    if (!Object.hasOwn(this.group, title)) return this.reads(title);
    const { rounds, decimals } = this.rules, own = this.group[title]();
    this.group[title] = () => own;
    if (!rounds) return own;
    return { exactAt: (k, w) => { const n = own.rounded(own.exactAt(k, w), k); return n === -Infinity ? null : rational(BigInt(n), tenTo(decimals)); } };
  }

  /** The k-th entry with w binary digits, or with all where these are known. */
  exactAt(k, w = this.rules.w) {
    const full = this.plans.get(this.rules.w)?.known[k];
    if (full !== undefined) return full;
    if (!this.plans.has(w)) {
      this.plans.set(w, { program: this.programOf(w), known: [] });
    }
    const { program, known } = this.plans.get(w);
    if (known[k] === undefined) {
      const before = [...program.I]; // an equation may read its own earlier entries
      program.goTo(k);
      try {
        known[k] = program.entry();
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw this.refusal(program.shape, k, error);
      }
      program.I.splice(0, before.length, ...before);
    }
    return known[k];
  }

  programOf(w, strict = "") {
    const A = exactArithmetic(w, (title) => { const matrix = this.matrixAt(title); return (at) => matrix.exactAt(at, w); }, strict ? new Map() : this.rules.functions, strict);
    return new Program(this.equation, this.world, A);
  }

  refusal(shape, k, error) {
    const place = `${this.step.name}[${placeOf(shape, k)}]`;
    if (!(error instanceof NoValue)) return new Refusal(`${place}: ${error.message}`);
    return new Refusal(`${place} is not a finite number: ${error.at ? `${source(error.at)} ` : ""}${error.message}`);
  }

  /** Refuse the k-th entry, which is no finite number, with the innermost expression that is none. */
  refuse(k, strict) {
    const program = this.programOf(this.rules.w, strict);
    program.goTo(k);
    try { program.entry(); } catch (error) { if (error instanceof NoValue) throw this.refusal(program.shape, k, error); }
    throw this.refusal(program.shape, k, new NoValue(strict === "none" ? "it has no value" : "it is larger than the largest float64 (about 1.8e+308)"));
  }

  /** Whether -∞ is a number here: in the equation, or in a matrix that it reads. */
  readsMinusInfinity() {
    const { equation, step, reads } = this, isIn = (x) => some(x, ({ is }) => is === "inf");
    return [equation, ...equation.group].some(({ right }) => isIn(right)) || Object.keys(step.inputs).some((title) => reads(title).near.v.includes(-Infinity));
  }

  inWholes() {
    const { decimals, scale } = this.rules;
    if (this.isRecurrent()) throw new GivenUp();
    const program = new Program(this.equation, this.world, wholeArithmetic((title) => this.reads(title).whole));
    const { entry, count } = program, d = entry.d, D = BigInt(d), n = new Float64Array(count);
    program.forEach((k) => { n[k] = entry() + 0; });
    this.digits = Array.from(n, (each) => {
      if (each === -Infinity) return each;
      const up = 2 * Math.abs(each) * scale + d;
      if (up < MOST / 2) { const q = Math.floor(up / (2 * d)); return each < 0 && q ? -q : q; }
      return small(halfAway(BigInt(each) * tenTo(decimals), D));
    });
    const exactAt = (k) => (n[k] === -Infinity ? null : rational(BigInt(n[k]), D));
    this.exactAt = exactAt;
    this.matrix = new Matrix(program.shape, exactAt, { whole: { n, d } });
  }

  isRecurrent() {
    if (this.equation.group.length) return true;
    const visit = (x) => (x.is === "entry" && x.name === this.equation.name) || x.parts.some(visit);
    return visit(this.equation.right);
  }

  inBounds() {
    const exactAt = (k, w) => this.exactAt(k, w);
    if (this.isRecurrent() || !this.rules.filter) return this.allExactly(exactAt);
    const program = new Program(this.equation, this.world, nearArithmetic((title) => this.reads(title).near)), { count } = program;
    const v = new Float64Array(count), e = new Float64Array(count), { scale } = this.rules, open = [];
    this.digits = new Array(count);
    this.matrix = new Matrix(program.shape, exactAt, { bounded: { v, e } });
    const entryAt = (k) => {
      try {
        v[k] = program.entry();
        e[k] = bound() * SLACK;
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        e[k] = Infinity; // exact numbers meet it again, and refuse it
      }
    };
    program.forEach((k) => {
      entryAt(k);
      if (v[k] === -Infinity && e[k] === 0) { this.digits[k] = -Infinity; return; }
      const t = Math.abs(v[k]) * scale, doubt = e[k] * scale * SLACK + t * 2 ** -51, q = Math.floor(t + 0.5);
      if (t < 2 ** 50 && q + 0.5 - t > doubt && (q === 0 || t - q + 0.5 > doubt)) this.digits[k] = v[k] < 0 && q ? -q : q;
      else open.push(k);
    });
    this.open = open.length;
    for (const k of open) {
      const far = this.roundedFar(k, e[k]);
      this.digits[k] = far ?? this.rounded(this.exactAt(k), k);
      if (!Number.isFinite(e[k])) [v[k], e[k]] = toDouble(this.exactAt(k));
    }
    return undefined;
  }

  /** Every entry exactly: for an equation that reads its own entries, and for tests. */
  allExactly(exactAt) {
    const { shape, count } = new Program(this.equation, this.world, exactArithmetic(FEWER, () => () => null));
    this.matrix = new Matrix(shape, exactAt);
    this.digits = Array.from({ length: count }, (_, k) => this.rounded(this.exactAt(k), k));
  }

  /**
   * The digits with fewer binary digits, where no tie is near.
   *
   * The bound of the doubles bounds these, too: 2^-107 of it, and 2^-60 where sums that cancel become 0.
   */
  roundedFar(k, e) {
    if (!Number.isFinite(e) || e > 2 ** 40) return undefined;
    const x = this.exactAt(k, FEWER);
    if (x === null || isRational(x) || magnitude(x) > 60) return undefined;
    const { n, d } = asRatio(x), t = n * 2n * tenTo(this.rules.decimals), part = ((t < 0n ? -t : t) + d) % (2n * d);
    const spare = (d * tenTo(this.rules.decimals) * BigInt(Math.ceil(e * 2 ** 60) + 1)) >> 120n;
    return part <= spare || 2n * d - part <= spare ? undefined : small(halfAway(n * tenTo(this.rules.decimals), d));
  }

  rounded(x, k) {
    if (x !== null && magnitude(x) > LARGEST) this.refuse(k, "large");
    return small(roundedTo(x, this.rules.decimals, this.rules.guard));
  }
}

/**
 * Compute all steps.
 *
 * @param data { given, steps, settings: { decimals, rounding }, digits }, as stated.py has it
 * @param before an earlier solution, whose steps are kept where nothing they read has changed
 * @param filter false to compute each entry exactly
 */
export function solve(data, before = null, { filter = true } = {}) {
  const { decimals, rounding } = data.settings, { precision, guard } = data.digits ?? DIGITS;
  const rules = { decimals, guard, w: Math.ceil(precision * 3.3219281) + 16, scale: 10 ** decimals, filter, rounds: rounding === "each-step", functions: before?.rules.functions ?? new Map() };
  const isSame = before && ["decimals", "guard", "w", "filter"].every((each) => rules[each] === before.rules[each]) && before.rounding === rounding;
  const old = isSame ? before : { data: { given: {} }, steps: {}, known: {} }, known = {}, steps = {};
  for (const [title, matrix] of Object.entries(data.given))
    known[title] = old.data.given[title]?.entries === matrix.entries ? old.known[title] : readMatrix(matrix);
  const carried = { ...known };
  for (const step of data.steps) {
    const read = Object.values(step.inputs).map((each) => carried[each]), text = JSON.stringify(step), kept = old.steps[step.name];
    const own = kept?.text === text && read.every((matrix, k) => matrix === kept.read[k]) ? kept.worked : workedStep(step, read, rules);
    const isRead = Object.values(step.inputs).includes(step.name); // given, and only shown as a step
    const matrix = rounding === "each-step" && !isRead ? (kept?.worked === own ? kept.matrix : roundedMatrix(own.matrix.shape, own.digits, decimals)) : own.matrix;
    steps[step.name] = { worked: own, text, read, matrix };
    carried[step.name] = matrix;
  }
  return { data, rules, rounding, known, carried, steps };
}

function workedStep(step, read, rules) {
  const held = Object.fromEntries(Object.keys(step.inputs).map((title, k) => [title, read[k]]));
  for (const [title, table] of Object.entries(step.tables ?? {})) held[title] = readMatrix(table);
  const numbers = Object.fromEntries(Object.entries(step.settings).map(([title, typed]) => [title, readNumber(typed)]));
  const reads = (title) => held[title];
  return new Worked(step, {
    shape: (title) => held[title].shape,
    setting: (title) => numbers[title] ?? (() => { throw new Error(`${title} is not given in ${step.equation}`); })(),
    settings: Object.fromEntries(Object.entries(numbers).map(([title, { n, d }]) => [title, Number(n) / Number(d)])),
    integers: (title) => held[title]?.integers ?? null,
    matrix: reads,
    refuse: (problem) => { throw new Refusal(problem); },
  }, reads, rules);
}

export const shownText = (whole, decimals) => (whole === -Infinity ? "-inf" : pointed(BigInt(whole), decimals));

/** All entries of all steps as they are shown, by name. */
export const shown = ({ steps, rules }) => Object.fromEntries(Object.entries(steps).map(([title, { worked }]) =>
  [title, worked.digits.map((each) => shownText(each, rules.decimals))]));
