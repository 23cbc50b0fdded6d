// Trees turned into functions of the current indices, for any kind of number.
//
// A kind (whole.js, near.js, exact.js, ranges.js) defines numbers, +, exp and sums. This file
// handles indices, places, conditions, rows of weights, and caching, but no numbers.

import { COMPARISONS, DEFINED, name, node, replaced, some, walk } from "./parse.js";
import { SIDES, extents, served } from "./extents.js";
import { NoValue } from "../numbers.js";
import { source } from "./source.js";

const COMPARE = {
  "<": (c) => c < 0, "<=": (c) => c <= 0, ">": (c) => c > 0, ">=": (c) => c >= 0, "==": (c) => c === 0, "!=": (c) => c !== 0,
};
const ARITHMETIC = {
  "+": (f, g) => () => f() + g(), "-": (f, g) => () => f() - g(), "*": (f, g) => () => f() * g(),
  "//": (f, g) => () => Math.floor(f() / divisor(g())), "%": (f, g) => () => { const b = divisor(g()); return ((f() % b) + b) % b; },
  neg: (f) => () => -f(),
};
function divisor(n) {
  if (n === 0) throw new NoValue("divides by 0");
  return n;
}
const FUNCTIONS = { abs: Math.abs, max: Math.max, min: Math.min };
const isMinusInfinity = ({ is, parts: [a] }) => is === "neg" && a.is === "inf";
const isWholeNumber = ({ n, d }) => d === 1n && n < 2n ** 53n && n > -(2n ** 53n);
// what rows are written in: messages name nodes of the equation only
const of = (op, ...parts) => node(op, parts, { isMade: true });
const callOf = (title, ...parts) => node("call", parts, { name: title, isMade: true });

export class Program {
  /**
   * An equation compiled for one kind of number.
   *
   * @param equation as parse.js gives it
   * @param world { shape(name), setting(name), settings, integers(name) }
   * @param A the kind of number
   * @param keeps whether values that depend on few indices are computed once
   */
  constructor(equation, world, A, keeps = true) {
    Object.assign(this, { equation, world, A, keeps, I: [], slots: new Map() });
    const shapes = this.shapes = {}, { group } = equation;
    let lead = [];
    this.computed = new Set([equation, ...group].map((each) => each.name));
    const note = (x) => {
      if (x.is === "entry" && !this.computed.has(x.name)) {
        shapes[x.name] = world.shape(x.name);
        const shape = served(x, shapes), more = shape.slice(0, shape.length - x.parts.length);
        const longer = more.length > lead.length ? more : lead, shorter = longer === more ? lead : more;
        const skip = longer.length - shorter.length;
        lead = longer.map((side, k) => (k >= skip && side === 1 ? shorter[k - skip] : side));
      } else if (x.is === "call" && SIDES[x.name] && !this.computed.has(x.parts[0].name)) shapes[x.parts[0].name] = world.shape(x.parts[0].name);
      x.parts.forEach(note);
    };
    for (const each of [equation, ...group]) [...each.taught, each.right, ...each.over.filter(Boolean)].forEach(note);
    for (let left = group; left.length; ) { // a size may be that of another of them
      const failed = left.filter((each) => {
        try {
          const sizes = extents(each, shapes, world.settings);
          shapes[each.name] = each.at.map((index) => sizes[index]);
        } catch { return true; }
        return false;
      });
      if (failed.length === left.length) throw new Error(`${equation.name}: its sizes are not known`);
      left = failed;
    }
    this.numbers = extents(equation, shapes, world.settings);
    this.lead = lead.map((_, k) => `axis ${k}`);
    lead.forEach((side, k) => { this.numbers[this.lead[k]] = side; });
    this.at = [...this.lead, ...equation.at];
    for (const index of this.at) this.slot(index);
    this.shape = this.at.map((index) => this.numbers[index]);
    shapes[equation.name] ??= this.shape; // it may read its own earlier entries
    this.count = this.shape.reduce((all, side) => all * side, 1);
  }

  get entry() {
    this.compiled ??= this.value(this.equation.right, this.at);
    return this.compiled;
  }

  slot(index) {
    if (!this.slots.has(index)) this.slots.set(index, this.I.push(0) - 1);
    return this.slots.get(index);
  }

  /** Set the indices to the k-th place. */
  goTo(k) {
    for (let axis = this.at.length - 1, rest = k; axis >= 0; axis -= 1) {
      this.I[axis] = rest % this.shape[axis];
      rest = Math.floor(rest / this.shape[axis]);
    }
  }

  /** Set the indices to each place in turn. */
  forEach(visit) {
    const { I, shape, count } = this;
    this.goTo(0);
    for (let k = 0; k < count; k += 1) {
      visit(k);
      for (let axis = shape.length - 1; axis >= 0 && (I[axis] += 1) === shape[axis]; axis -= 1) I[axis] = 0;
    }
  }

  // -------------------------------------------------------------- places and conditions

  /** Whether a node is a whole number that indices, sizes and tables of integers decide. */
  isOfPlaces(x) {
    if (x.is === "num") return isWholeNumber(x.value);
    if (x.is === "name") return this.slots.has(x.name) || x.name in this.numbers || (x.name in this.world.settings && isWholeNumber(this.world.setting(x.name)));
    if (x.is === "entry") return this.world.integers(x.name) !== null && x.parts.every((part) => this.isOfPlaces(part));
    if (x.is === "call") return x.name in SIDES || (x.name in FUNCTIONS && x.parts.every((part) => this.isOfPlaces(part)));
    if (x.is === "sum") return this.slot(x.index) >= 0 && x.parts.every((part, k) => k === 1 || this.isOfPlaces(part));
    return (x.is in ARITHMETIC || ["if", "and", "or", "not", "mark", "why"].includes(x.is) || COMPARISONS.includes(x.is))
      && x.parts.every((part) => this.isOfPlaces(part));
  }

  /** A whole number: the place of an entry, or an operand of a condition. */
  index(x) {
    const { I, world, numbers } = this;
    if (x.is === "num") { const n = Number(x.value.n); return () => n; }
    if (x.is === "name") {
      if (this.slots.has(x.name)) { const slot = this.slots.get(x.name); return () => I[slot]; }
      const n = numbers[x.name] ?? Number(world.setting(x.name).n);
      return () => n;
    }
    if (x.is === "entry") {
      const place = this.place(x), held = world.integers(x.name) ?? world.refuse(`${x.name} are places: whole numbers are needed`);
      return () => held[place()];
    }
    if (x.is === "call" && x.name in SIDES) { const n = numbers[`${x.name}(${x.parts[0].name})`]; return () => n; }
    if (x.is === "sum") {
      const slot = this.slot(x.index), body = this.index(x.parts[0]), where = x.parts[2] && this.test(x.parts[2]), count = numbers[x.index];
      return () => {
        const before = I[slot];
        let all = 0;
        for (let k = 0; k < count; k += 1) { I[slot] = k; if (!where || where()) all += body(); }
        I[slot] = before;
        return all;
      };
    }
    if (x.is === "if") {
      const test = this.test(x.parts[0]), [f, g] = x.parts.slice(1).map((part) => this.index(part));
      return () => (test() ? f() : g());
    }
    if (x.is === "mark" || x.is === "why") return this.index(x.parts[0]);
    const parts = x.parts.map((part) => this.index(part));
    if (x.is === "call" && x.name in FUNCTIONS) { const act = FUNCTIONS[x.name]; return () => act(...parts.map((f) => f())); }
    if (x.is in ARITHMETIC) {
      const act = ARITHMETIC[x.is](...parts);
      if (x.is !== "//" && x.is !== "%") return act;
      return () => { try { return act(); } catch (error) { error.at ??= x; throw error; } };
    }
    throw new SyntaxError(`${x.is} ${x.name ?? ""} is not a whole number in ${this.equation.text}`);
  }

  /** A condition: true, false, or null where this kind of number cannot decide it. */
  test(x, scope = this.at) {
    const [a, b] = x.parts, both = () => [a, b].map((part) => this.test(part, scope));
    if (x.is === "and") { const [f, g] = both(); return () => { const one = f(); return one === false ? one : one ? g() : g() === false ? false : null; }; }
    if (x.is === "or") { const [f, g] = both(); return () => { const one = f(); return one ? one : one === false ? g() : g() ? true : null; }; }
    if (x.is === "not") { const f = this.test(a, scope); return () => { const one = f(); return one === null ? null : !one; }; }
    if (COMPARISONS.includes(x.is)) {
      const holds = COMPARE[x.is];
      if (this.isOfPlaces(x)) { const [f, g] = [this.index(a), this.index(b)]; return () => holds(f() - g()); }
      return this.A.compare(this.value(a, scope), this.value(b, scope), x.is, holds);
    }
    if (this.isOfPlaces(x)) { const f = this.index(x); return () => f() !== 0; }
    return this.A.compare(this.value(x, scope), this.A.number({ n: 0n, d: 1n }), "!=", COMPARE["!="]);
  }

  // -------------------------------------------------------------- entries

  sides(x) {
    const shape = served(x, this.shapes), behind = shape.length - x.parts.length;
    let stride = 1;
    const strides = shape.map(() => 0);
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      strides[axis] = shape[axis] === 1 ? 0 : stride; // one row or column serves all places
      stride *= shape[axis];
    }
    const lead = this.lead.slice(this.lead.length - behind).map((index, k) => [name(index), strides[k], shape[k]]);
    return [...lead, ...x.parts.map((part, k) => [part, strides[behind + k], shape[behind + k]])].filter(([, step]) => step);
  }

  /** Where an entry is, in its matrix row by row. */
  place(x) {
    const { I } = this, sides = this.sides(x);
    const plain = sides.every(([part]) => part.is === "name" && this.slots.has(part.name)) && sides.map(([part, step]) => [this.slots.get(part.name), step]);
    if (plain && plain.length < 3) {
      const [[a, r], [b, s]] = [...plain, [0, 0], [0, 0]];
      return plain.length ? () => I[a] * r + I[b] * s : () => 0;
    }
    const terms = sides.map(([part, step, side]) => [this.index(part), step, side]);
    return () => {
      let all = 0;
      for (const [f, step, side] of terms) {
        const k = f();
        if (k < 0 || k >= side) throw new RangeError(`${x.name} has no place ${k + 1}: its places are 1 to ${side}`);
        all += k * step;
      }
      return all;
    };
  }

  /** By how much the place of an entry grows with an index; null where that is not the same everywhere. */
  stepOf(x, index) {
    let all = 0;
    for (const [part, step] of this.sides(x))
      if (part.is === "name" && part.name === index) all += step;
      else if (some(part, (y) => y.name === index)) return null;
    return all;
  }

  // -------------------------------------------------------------- values

  /** The indices in scope that a node depends on. */
  uses(x, scope) {
    const found = new Set();
    const visit = (y, bound) => {
      if (y.is === "name" && !bound.includes(y.name)) found.add(y.name);
      if (y.is === "entry") for (const index of this.lead.slice(this.lead.length - served(y, this.shapes).length + y.parts.length)) found.add(index);
      y.parts.forEach((part, k) => visit(part, y.index && k !== 1 ? [...bound, y.index] : bound));
    };
    visit(x, []);
    return scope.filter((index) => found.has(index));
  }

  /** A value that depends on few of the indices in scope is computed once for these. */
  kept(f, x, scope) {
    const { I, numbers } = this, used = this.uses(x, scope);
    if (!this.keeps || this.isCurve || used.length === scope.length || some(x, (y) => this.computed.has(y.name))) return f;
    const slots = used.map((index) => [this.slots.get(index), numbers[index]]);
    const count = slots.reduce((all, [, side]) => all * side, 1);
    const place = slots.length === 1 ? () => I[slots[0][0]] : () => { let k = 0; for (const [slot, side] of slots) k = k * side + I[slot]; return k; };
    return this.A.keep(f, place, count);
  }

  value(x, scope) {
    const { A } = this, isOwn = x.parts.length && !x.isMade && !["mark", "why", "entry", "if"].includes(x.is) && !isMinusInfinity(x);
    return isOwn && A.checked ? A.checked(this.valueOf(x, scope), x) : this.valueOf(x, scope);
  }

  valueOf(x, scope) {
    const { A, I } = this, [a, b] = x.parts, f = (part) => this.value(part, scope);
    if (x.is === "num") return A.number(x.value);
    if (x.is === "mark" || x.is === "why") return f(a);
    if (isMinusInfinity(x)) return A.nothing();
    if (x.is === "inf") return this.world.refuse(`${this.equation.name}: inf is no number: only -inf is one`);
    if (x.is === "name") {
      if (this.slots.has(x.name)) { const slot = this.slots.get(x.name); return A.counted(() => I[slot]); }
      if (x.name === "pi") return A.pi();
      return A.number(x.name in this.numbers ? { n: BigInt(this.numbers[x.name]), d: 1n } : this.world.setting(x.name));
    }
    if (x.is === "entry") return A.entry(x.name, this.place(x));
    if ((x.is === "//" || x.is === "%") && !this.isOfPlaces(x)) this.world.refuse(`${this.equation.name}: ${source(x)}: ${x.is} takes indices, sizes and given whole numbers`);
    if (x.is === "//" || x.is === "%" || (x.is === "call" && x.name in SIDES)) return A.counted(this.index(x));
    if (x.is === "sum" || x.is === "max") return this.kept(this.aggregate(x, scope), x, scope);
    if (x.is === "row") return this.row(x, scope);
    if (x.is === "neg") return A.neg(f(a));
    if (x.is === "fixed") return this.kept(A.fixed(f(a)), x, scope);
    if (x.is === "if") return A.choose(this.test(a, scope), f(b), f(x.parts[2]));
    if (x.is === "call" && DEFINED[x.name]) return f(replaced(DEFINED[x.name], { x: a }));
    if (x.is === "call") return this.kept(A[x.name] ? A[x.name](...x.parts.map(f)) : A.call(x.name, f(a)), x, scope);
    if (x.is === "**") {
      const power = b.is === "num" && isWholeNumber(b.value) ? Number(b.value.n) : null;
      return this.kept(power === null ? A.power(f(a), f(b)) : A.raised(f(a), power), x, scope);
    }
    const only = A.curve && this.onlyEntry(x);
    if (only) return A.curve(this.value(only, scope), (read) => this.reading(only, read, () => this.act(x, scope)));
    return this.act(x, scope);
  }

  /** The one entry that a node reads several times; null for other nodes. */
  onlyEntry(x) {
    const found = [...walk(x)], entries = found.filter((y) => y.is === "entry");
    const isPlain = found.every((y) => !y.index && y.is !== "if" && !["//", "%"].includes(y.is));
    const text = ({ name: title, parts }) => JSON.stringify([title, parts], (_, each) => (typeof each === "bigint" ? String(each) : each));
    return entries.length > 1 && isPlain && !this.isCurve && entries.every((y) => text(y) === text(entries[0])) ? entries[0] : null;
  }

  /** What `make` compiles where all entries are read by `read`. */
  reading(entry, read, make) {
    const { entry: before } = this.A;
    this.A.entry = () => read;
    this.isCurve = true;
    const made = make();
    this.isCurve = false;
    this.A.entry = before;
    return made;
  }

  act(x, scope) {
    const { A } = this, [a, b] = x.parts, f = (part) => this.value(part, scope);
    const act = { "+": A.add, "-": A.sub, "*": A.mul, "/": A.div, share: A.share, portion: A.portion }[x.is];
    if (!act) return A.choose(this.test(x, scope), A.number({ n: 1n, d: 1n }), A.number({ n: 0n, d: 1n }));
    return act(f(a), f(b));
  }

  /** How an index is counted through. */
  loop(index) {
    const { I } = this, slot = this.slot(index), count = this.numbers[index];
    return { count, at: (k) => { I[slot] = k; }, slot };
  }

  aggregate(x, scope) {
    const { A, I } = this, [body, , where] = x.parts, { count, at, slot } = this.loop(x.index), inner = [...scope, x.index];
    if (x.is === "sum" && !where && body.is === "*" && body.parts.every((part) => part.is === "entry")) {
      const steps = body.parts.map((part) => this.stepOf(part, x.index));
      if (!steps.includes(null) && !body.parts.some((part) => this.computed.has(part.name))) {
        const [f, g] = body.parts.map((part) => { const place = this.place(part); return () => { I[slot] = 0; return place(); }; });
        return this.restoring(slot, A.dot(body.parts[0].name, f, steps[0], body.parts[1].name, g, steps[1], count));
      }
    }
    const each = this.value(body, inner), test = where && this.test(where, inner);
    const made = A[x.is](each, count, at, test);
    return this.restoring(slot, made);
  }

  /** The same, with an index put back to what it was before. */
  restoring(slot, made) {
    const { I } = this;
    return Object.assign(() => { const before = I[slot], value = made(); I[slot] = before; return value; }, made);
  }

  /** One weight of a row, written in simpler nodes. */
  row(x, scope) {
    const [body, size, at, ...beside] = x.parts, own = replaced(body, { [x.index]: at });
    const rewritten = this.A.row?.(x, own); // as a kind has it of its own
    if (rewritten) return this.value(rewritten, scope);
    if (x.name === "hardmax") {
      const { count, at: go, slot } = this.loop(x.index), place = this.index(at);
      return this.restoring(slot, this.A.hardmax(this.value(body, [...scope, x.index]), count, go, place));
    }
    const allowed = of("!=", body, of("neg", node("inf")));
    if (x.name === "share") {
      const total = node("sum", [body, size, allowed], { index: x.index, isMade: true }), isOwn = of("!=", own, of("neg", node("inf")));
      const share = this.A.share(this.value(own, scope), this.value(total, scope), () => this.refuse());
      return this.A.choose(this.test(isOwn, scope), share, this.A.number({ n: 0n, d: 1n }));
    }
    // the largest score is subtracted first: it changes no value, and no power of e overflows
    const largest = beside.reduce((all, other) => callOf("max", all, other), node("max", [body, size], { index: x.index, isMade: true }));
    const power = (score) => callOf("exp", of("-", score, of("fixed", largest)));
    const total = beside.reduce((all, other) => of("+", all, power(other)), node("sum", [power(body), size], { index: x.index, isMade: true }));
    return this.value(of("share", power(own), total), scope);
  }

  refuse() {
    const { I, at, world } = this;
    world.refuse(`the scores of row ${I[Math.max(0, at.length - 2)] + 1} sum to 0: the normalizer sum cannot divide by that`);
  }
}
