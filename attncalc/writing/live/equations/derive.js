// Gradients: an equation determines the equation of each input's gradient, as equations/derive.py.
//
// One walk carries the adjoint, dL/d(this part), down to each entry of the input.

import { ONE, TWO, ZERO, allOf, apart, bare, has, joined, lowered, namesOf, negative, opposite, over, plain, plus, substituted, same, times, unique } from "./algebra.js";
import { SIDES } from "./extents.js";
import { DEFINED, name as nameNode, node, parseExpression, some, walk } from "./parse.js";
import { solved } from "./places.js";
import { Refusal } from "../numbers.js";

const INFINITY = node("inf");
const SLOPES = Object.fromEntries(Object.entries({
  exp: "exp(x)", log: "1 / x", sqrt: "1 / (2 * sqrt(x))", abs: "1 if x > 0 else (-1 if x < 0 else 0)", tanh: "1 - tanh(x) ** 2",
  sin: "cos(x)", cos: "-sin(x)", erf: "2 * exp(-x ** 2) / sqrt(pi)", relu: "1 if x > 0 else 0", sigmoid: "sigmoid(x) * (1 - sigmoid(x))",
  silu: "sigmoid(x) * (1 + x * (1 - sigmoid(x)))", gelu: "Phi(x) + x * phi(x)", Phi: "phi(x)", phi: "-x * phi(x)",
}).map(([title, text]) => [title, parseExpression(text)]));
const call = (title, ...parts) => node("call", parts, { name: title });
const entry = (title, at) => node("entry", at, { name: title });

/** The matrices that an equation reads, or whose sides it asks for. */
export function readsOf({ over: sizes, right }) {
  const trees = [right, ...sizes.filter(Boolean)].flatMap((x) => [...walk(x)]);
  return [...new Set(trees.flatMap((x) => (x.is === "entry" ? [x.name] : x.is === "call" && x.name in SIDES ? [x.parts[0].name] : [])))];
}

/** The name of dL/d(result), or of dL/d(an input): a d before its name. */
export function gradientName(equation, title = equation.name) {
  const reads = readsOf(equation);
  let name = `d${title}`;
  while (reads.includes(name) || name === equation.name) name = `d${name}`;
  return name;
}
export const totalName = (equation) => `total_${gradientName(equation)}`;
export const recurs = (equation) => some(equation.right, (x) => x.is === "entry" && x.name === equation.name);

/** The equation of dL/d(result) of a recurrence, from those of `count` readers, including later rows. */
export function total(equation, count) {
  const walker = new Walker(equation, equation.name);
  const reached = [...walker.entries(equation.right, entry(totalName(equation), equation.at.map(nameNode)), walker.loops(), [])];
  const [at, sizes] = walker.targets(reached), target = at.map((index, k) => [index, sizes[k]]), own = gradientName(equation);
  const names = Array.from({ length: count }, (_, k) => entry(`${own}_${k + 1}`, at.map(nameNode)));
  return finished(totalName(equation), target, [...names, ...reached.map((each) => solved(each, target, () => walker.fresh()))]);
}

/** The equation of dL/d(input) from dL/d(result); null if the result does not depend on the input. */
export function gradient(equation, title) {
  const walker = new Walker(equation, title), arriving = recurs(equation) ? totalName(equation) : gradientName(equation);
  const reached = [...walker.entries(equation.right, entry(arriving, equation.at.map(nameNode)), walker.loops(), [])];
  if (!reached.length) return null;
  const [at, sizes] = walker.targets(reached), target = at.map((index, k) => [index, sizes[k]]);
  return finished(gradientName(equation, title), target, reached.map((each) => solved(each, target, () => walker.fresh())));
}

function finished(name, target, terms) {
  const right = unique(apart(terms.reduce(plus), new Set(target.map(([index]) => index))), new Map(target));
  return { name, at: target.map(([index]) => index), over: target.map(([, size]) => size), right, taught: [], group: [] };
}

/** rows(X), columns(X) or heads(X), whichever an axis is. */
function sideOf(title, axis, count) {
  const [side] = Object.entries(SIDES).find(([, behind]) => behind === count - axis) ?? [];
  return side ? call(side, nameNode(title)) : null;
}

/** Finds the entries of an input, with the adjoint of each. */
class Walker {
  constructor(equation, title) {
    Object.assign(this, { equation, title });
    const trees = [equation.right, ...equation.over.filter(Boolean)];
    this.taken = new Set([...namesOf(...trees), ...equation.at, ...trees.flatMap((x) => [...walk(x)]).map((x) => x.index).filter(Boolean), ...readsOf(equation), equation.name]);
  }

  loops() { return this.equation.at.map((index, axis) => [index, this.sizeOf(axis)]); }

  sizeOf(axis) {
    const { over: sizes, at, name } = this.equation, size = sizes[axis] ?? sideOf(gradientName(this.equation), axis, at.length);
    if (!size) throw new Refusal(`${name}: write how far ${at[axis]} runs, as ${at[axis]} in n`);
    return size;
  }

  fresh() {
    const letters = [..."tuvwxyz"], free = letters.find((each) => !this.taken.has(each)) ?? Array.from({ length: 1000 }, (_, k) => `t${k}`).find((each) => !this.taken.has(each));
    this.taken.add(free);
    return free;
  }

  /** The indices of the gradient, and what each runs over. */
  targets(reached) {
    const { equation, title } = this;
    if (title === equation.name) {
      const own = equation.at.map(() => this.fresh());
      return [own, own.map((_, axis) => this.sizeOf(axis))];
    }
    const at = [], sizes = [], { parts } = reached[0].entry;
    parts.forEach((place, axis) => {
      let size = sideOf(title, axis, parts.length);
      const isOwn = ({ entry: { parts: all }, loops }) => same(all[axis], place) && loops.some(([index]) => index === place.name) && !namesOf(...all.filter((_, k) => k !== axis)).has(place.name);
      if (place.is === "name" && reached.every(isOwn)) {
        at.push(place.name);
        const [, forward] = reached[0].loops.findLast(([index]) => index === place.name);
        if (forward.is === "name") size = forward;
      } else at.push(this.fresh());
      sizes.push(size);
    });
    return [at, sizes];
  }

  /** The entries of the input in a part of the equation: { entry, adjoint, loops, tests }. */
  * entries(x, adjoint, loops, tests) {
    if (!some(x, (y) => y.is === "entry" && y.name === this.title)) return;
    const [a, b, c] = x.parts, go = (part, by, ...where) => this.entries(part, by, loops, [...tests, ...where]);
    if (x.is === "entry" && x.name === this.title) yield { entry: x, adjoint: plain(adjoint, ["why"]), loops, tests };
    else if (x.is === "mark" || x.is === "why") yield* go(a, adjoint);
    else if (x.is === "neg") yield* go(a, negative(adjoint));
    else if (x.is === "+" || x.is === "-") {
      yield* go(a, adjoint);
      yield* go(b, x.is === "+" ? adjoint : negative(adjoint));
    } else if (x.is === "*") {
      yield* go(a, times(adjoint, b));
      yield* go(b, times(a, adjoint));
    } else if (x.is === "/") {
      if (same(plain(x), substituted(DEFINED.silu, { x: plain(a) }))) return void (yield* go(call("silu", a), adjoint));
      yield* go(a, over(adjoint, b));
      yield* go(b, negative(over(times(adjoint, a), node("**", [b, TWO]))));
    } else if (x.is === "**") {
      yield* go(a, times(adjoint, times(b, lowered(a, b))));
      yield* go(b, times(adjoint, times(x, call("log", a))));
    } else if (x.is === "call" && ["max", "min"].includes(x.name)) {
      const wins = node(x.name === "max" ? ">" : "<", [a, b]); // a tie selects the second
      yield* go(a, adjoint, wins);
      yield* go(b, adjoint, opposite(wins));
    } else if (x.is === "call") yield* go(a, times(adjoint, substituted(SLOPES[x.name], { x: a })));
    else if (x.is === "if" && same(plain(b), plain(c))) yield* go(c, adjoint);
    else if (x.is === "if") {
      yield* go(b, adjoint, a);
      yield* go(c, adjoint, opposite(a));
    } else if (x.is === "sum" || x.is === "max") {
      let by = adjoint, where = c ? [...tests, c] : tests;
      if (x.is === "max") { // ties share the gradient equally
        const isFirst = node("==", [a, x]);
        [by, where] = [over(adjoint, node("sum", [ONE, b, c ? allOf(c, isFirst) : isFirst], { index: x.index })), [...where, isFirst]];
      }
      yield* this.entries(a, by, [...loops, [x.index, b]], where);
    } else if (x.is === "row") yield* this.row(x, adjoint, loops, tests);
  }

  /** The entries in a row of weights A: softmax gives A * (dA - sum(A * dA)). */
  * row(x, adjoint, loops, tests) {
    if (x.name === "hardmax") throw new Refusal("hardmax jumps where two scores change places and is flat everywhere else, so it has no gradient to go back by (the normalizers softmax and sum have)");
    const [body, size, at, ...beside] = x.parts, key = nameNode(this.fresh()), own = entry(this.equation.name, this.equation.at.map(nameNode));
    const isResult = same(x, bare(this.equation.right)) && has(own.parts, at), isIndex = at.is === "name";
    let weight = isResult ? own : x, keyed = { ...x, parts: [body, size, key, ...beside] }, by = adjoint, where = tests, place, inner, outer, mean;
    if (isIndex && isResult) keyed = substituted(own, { [at.name]: key });
    const reads = isIndex && at.name !== x.index && namesOf(body, ...beside).has(at.name);
    if (isIndex && loops.some(([index]) => index === at.name) && !reads) { // one row of gradients for one row of weights
      if (where.length) [by, where] = [node("if", [allOf(...where), by, ZERO]), []];
      mean = node("sum", [times(keyed, substituted(by, { [at.name]: key })), size], { index: key.name });
      [place, inner, outer] = [at, loops, loops.filter(([index]) => index !== at.name)];
    } else {
      mean = times(by, weight);
      [place, weight, outer, inner] = [key, keyed, loops, [...loops, [key.name, size]]];
      by = node("if", [node("==", [key, at]), by, ZERO]);
    }
    const left = node("-", [by, mean]), part = substituted(body, { [x.index]: place });
    if (x.name === "share") {
      const counts = node(">", [body, negative(INFINITY)]), sum = node("sum", [body, size, counts], { index: x.index });
      return void (yield* this.entries(part, over(left, sum), inner, [...where, substituted(counts, { [x.index]: place })]));
    }
    yield* this.entries(part, times(weight, left), inner, where);
    const rest = node("-", [ONE, node("sum", [keyed, size], { index: key.name })]);
    for (const each of beside) { // their weights go to no key, so they have no gradient
      const others = beside.filter((y) => y !== each).map((y) => call("exp", node("-", [y, each])));
      yield* this.entries(each, negative(times(others.length ? over(rest, joined("+", [ONE, ...others])) : rest, mean)), outer, where);
    }
  }
}
